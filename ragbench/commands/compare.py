"""`ragbench compare`: is this run better than that one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragbench import terminal
from ragbench.commands.console import options

if TYPE_CHECKING:
    from ragbench.bench.runs.compared import RunComparison


def compare(
    first: Annotated[
        str,
        typer.Argument(metavar="RUN_A", help="The run to compare with: a name, its beginning, latest, or a folder."),
    ],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="The run that may be better.")],
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="A=NAME and B=NAME: a system of either run; all shared if none."),
    ] = None,
    out: options.Out = None,
    json_file: options.JsonFile = None,
    language: options.Language = "",
    on_common_questions: Annotated[
        bool,
        typer.Option("--on-common-questions", help="With other data: pair the questions that are the same in both."),
    ] = False,
) -> None:
    """Compare two runs question by question: differences with intervals, corrected p, verdicts, and what changed.

    Runs on other data or in another unit are refused, with what would make them comparable. Where a run has only
    summaries, two-sample intervals take the place of paired ones, and say so.

    Examples:

    - `ragbench compare 20261122T0712 latest`
    - `ragbench compare old new --system A=exact --system B=hnsw --json difference.json`

    Exit code 0 when something was compared, whatever came out; 2 when nothing can be.
    """
    from ragbench import settings
    from ragbench.bench.runs.compared import compare_runs
    from ragbench.commands.console import outputs
    from ragbench.report.keeping import kept
    from ragbench.report.pages import comparison as report
    from ragbench.settings import project_folder

    known = settings.load()
    chosen = _systems(system or [])
    a, b = kept.find(first), kept.find(second)
    found = compare_runs(a, b, systems=chosen, on_common_questions=on_common_questions)
    folder = out or project_folder() / known.reports_folder / "comparisons" / f"{a.id}--{b.id}"
    index = report.write(found, folder, language or known.language)
    to_screen = outputs.is_screen(json_file)
    if json_file is not None:
        outputs.write(json_file, report.as_json(found))
    if not to_screen:
        _say(found)
    outputs.caveat(report.stood_in(found), err=to_screen)
    terminal.say(f"for an article: ragbench publish {out or folder.name} --to article", err=to_screen)
    terminal.say(index, err=to_screen)


def _systems(given: list[str]) -> tuple[str | None, str | None]:
    found: dict[str, str | None] = {"A": None, "B": None}
    for text in given:
        side, equals, name = text.partition("=")
        if side.strip().upper() not in found or not equals or not name.strip():
            raise typer.BadParameter(f"{text!r}: write it as A=NAME or B=NAME", param_hint="--system")
        found[side.strip().upper()] = name.strip()
    return found["A"], found["B"]


def _say(found: RunComparison) -> None:
    from ragbench.bench.basics import tabulation
    from ragbench.bench.runs.changes import said
    from ragbench.language import translator
    from ragbench.report.exports import bare_numbers
    from ragbench.report.pages import comparison as report

    english = translator("en")
    for refusal in found.refused:
        terminal.say(f"{refusal.notebook} is not compared: {said(refusal, english)}", err=True, colour="yellow")
    for pairing in found.pairings:
        fell = pairing.only_first + pairing.only_second + pairing.altered
        name = pairing.systems[0] if pairing.systems[0] == pairing.systems[1] else " / ".join(pairing.systems)
        terminal.say(f"{pairing.notebook}, {name}: {len(pairing.samples)} common questions, {fell} fell out")
        tabulation.comparisons([(one.metric, one.comparison) for one in pairing.comparisons], english, 4).say()
    compared = sum(one.comparison is not None for one in found.summarized)
    bare_numbers.table_of_summaries(report.summaries(found), english, apart=True).say()
    if found.summarized:
        terminal.say(f"without pairs: {compared} compared as two samples, {len(found.summarized) - compared} not")
    terminal.say(f"{len(found.changes)} things changed between the runs")
