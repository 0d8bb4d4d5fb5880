"""`ragbench compare`: which of these runs are better than that one?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench.cli.console import options
from ragbench.core import terminal

if TYPE_CHECKING:
    from ragbench.extras.runs.compared import RunComparison

SAID = 8
"""Settings that differ and are said; the page has all."""
LONGEST = 120
"""Signs of a folder's name."""


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Two or more: names or ids, beginnings of ids, latest, folders; the first is run A."
        ),
    ],
    baseline: Annotated[
        str, typer.Option("--baseline", help="The run that the others are compared with; it becomes run A.")
    ] = "",
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="A=NAME, B=NAME …: a system of that run; all shared if none."),
    ] = None,
    out: options.Out = None,
    json_file: options.JsonFile = None,
    language: options.Language = "",
    on_common_questions: Annotated[
        bool,
        typer.Option("--on-common-questions", help="With other data: pair the questions that are the same in both."),
    ] = False,
) -> None:
    """Compare runs with a baseline question by question: intervals, corrected p, verdicts, and what changed.

    p is corrected over all comparisons of a page, of all runs and systems. Runs on other data or in another unit are
    refused, with what would make them comparable. Where a run has only summaries, two-sample intervals take the place
    of paired ones, and say so.

    Examples:

    - `ragbench compare 20261122T0712 latest`
    - `ragbench compare "bigger chunks" 20261122T0712 latest --baseline latest`
    - `ragbench compare old new --system A=exact --system B=hnsw --json difference.json`

    Exit code 0 when something was compared, whatever came out; 3 when nothing can be.
    """
    from ragbench.cli.console import outputs
    from ragbench.core import settings, trust
    from ragbench.extras.runs import comparison_pages as report
    from ragbench.extras.runs.compared import compare_runs
    from ragbench.report.keeping import kept

    known = settings.load()
    if len(runs) < 2 and not (baseline and runs):
        raise typer.BadParameter("two runs or more are expected", param_hint="RUN")
    chosen, records = _systems(system or []), [kept.find(name) for name in runs]
    if baseline:
        first = kept.find(baseline)
        records = [first, *(record for record in records if record.id != first.id)]
    comparison = compare_runs(*records, systems=chosen, on_common_questions=on_common_questions)
    shelf = trust.folder_of("reports_folder") / "comparisons"
    folder = out or shelf / _folder([record.id for record in records])
    index = report.write(comparison, folder, language or known.language)
    to_screen = outputs.is_screen(json_file)
    if json_file is not None:
        outputs.write(json_file, report.as_json(comparison))
    if not to_screen:
        _say(comparison)
    outputs.caveat(report.stood_in(comparison), err=to_screen)
    terminal.say(f"for an article: ragbench publish {out or folder.name} --to article", err=to_screen)
    terminal.say(index, err=to_screen)


def _folder(ids: Sequence[str]) -> str:
    """A name for these runs in this order, which a folder can have."""
    name = "--".join(ids)
    if len(name) <= LONGEST:
        return name
    return f"{ids[0]}--{len(ids) - 1}-runs-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _systems(given: list[str]) -> dict[str, str]:
    by_letter: dict[str, str] = {}
    for text in given:
        letter, equals, name = text.partition("=")
        if len(letter.strip()) != 1 or not letter.strip().isalpha() or not equals or not name.strip():
            raise typer.BadParameter(f"{text!r}: write it as A=NAME or B=NAME", param_hint="--system")
        by_letter[letter.strip().upper()] = name.strip()
    return by_letter


def _say(comparison: RunComparison) -> None:

    from ragbench.core.language import translator
    from ragbench.core.settings.secrets import excerpt
    from ragbench.extras.runs import bare_numbers
    from ragbench.extras.runs import comparison_pages as report
    from ragbench.extras.runs.changes import said
    from ragbench.extras.runs.summarized import LETTERS
    from ragbench.tiers.basics import verdicts

    english = translator("en")
    for letter, run in zip(LETTERS, comparison.runs, strict=False):
        terminal.say(f"{letter}  {run.id}  {run.name}".rstrip())
    several = len(comparison.runs) > 2
    for change in comparison.changes[:SAID]:
        values = " | ".join("—" if value is None else excerpt(value, 60) or "none" for value in change.values)
        terminal.say(f"{change.kind} {change.title}: {values}")
    if len(comparison.changes) > SAID:
        terminal.say(f"{len(comparison.changes) - SAID} more things changed between the runs")
    letters = {run.id: letter for letter, run in zip(LETTERS, comparison.runs, strict=False)}
    for refusal in comparison.refused:
        what = " of ".join(filter(None, [refusal.notebook, letters[refusal.run] if several else ""])) or "the runs"
        terminal.say(f"{what} is not compared: {said(refusal, english)}", err=True, colour="yellow")
    for pairing in comparison.pairings:
        fell = pairing.only_first + pairing.only_second + pairing.altered
        name = pairing.systems[0] if pairing.systems[0] == pairing.systems[1] else " / ".join(pairing.systems)
        name += f", {LETTERS[pairing.run]} against {LETTERS[0]}" if several else ""
        same = verdicts.equal((finding.comparison for finding in pairing.comparisons), english)
        count = f"{len(pairing.samples)} common questions, {fell} fell out"
        terminal.say(f"{pairing.notebook}, {name}: {count}{f'; {same}' if same else ''}")
        if not same:
            verdicts.comparisons(
                [(finding.metric, finding.comparison) for finding in pairing.comparisons], english, 4
            ).say()
    compared = sum(summary.comparison is not None for summary in comparison.summarized)
    bare_numbers.table_of_summaries(report.summaries(comparison), english, apart=True).say()
    if comparison.summarized:
        terminal.say(f"without pairs: {compared} compared as two samples, {len(comparison.summarized) - compared} not")
