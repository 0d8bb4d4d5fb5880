"""`ragbench plan-study`: how many questions does the next study need?"""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal


def plan_study(
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat it. The primary of each page if none.")
    ] = None,
    difference: Annotated[
        list[float] | None,
        typer.Option(
            "--difference",
            "-d",
            help="A true difference that must not be missed, in the metric's unit; repeat it. The smallest difference "
            "of interest of ragbench.toml if none.",
        ),
    ] = None,
    power: Annotated[float, typer.Option(help="The chance with which it is to be shown.")] = 0.8,
    run: Annotated[
        str, typer.Option(help="The run to plan from: its name, the beginning of it, latest, or a folder.")
    ] = "latest",
    notebook: Annotated[
        str, typer.Option("--notebook", "-n", help="Only this one; needed where a metric stands in several.")
    ] = "",
    baseline: Annotated[str, typer.Option(help="The system to compare with; the run's if not given.")] = "",
    system: Annotated[
        str, typer.Option("--system", "-s", help="The system that may be better; every other one if not given.")
    ] = "",
    level: Annotated[
        float | None, typer.Option(help="Nominal coverage of the next study's intervals; the run's if not given.")
    ] = None,
    comparisons: Annotated[
        int | None,
        typer.Option(
            help="How many comparisons the next study corrects together; as the run does if not given.", min=1
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan the next study: how many questions would show a difference that matters, if they vary as those of a run.

    A difference that is not shown may be there. How large a study has to be follows from the smallest difference that
    matters to you, never from the one that was seen: that one is noise in part. Few questions of many pages are worth
    more than many questions of few: where a run has groups, groups are counted.

    Examples:

    - `ragbench plan-study` plans for the primary metric of each page of the newest run
    - `ragbench plan-study --metric mrr --difference 0.03 --power 0.8`
    - `ragbench plan-study -m mrr -m ndcg@10 -d 0.02 -d 0.05 --comparisons 6 --json`

    Exit code 0 when something was planned; 3 when nothing can be, with what would help.
    """
    from ragbench.old.core import settings
    from ragbench.old.core.language import translator
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.extras.planning import next_study as room
    from ragbench.old.report.keeping import kept
    from ragbench.old.report.pages.notebook_pages import Measurements
    from ragbench.old.tiers.basics import bands

    matters = settings.load().smallest_difference
    bands.check(matters)
    ask = room.Ask(metric or (), difference or (), power, notebook, baseline, system, level, comparisons)
    folder = kept.pages_of(run)
    measured = Measurements(folder)
    terminal.say(f"planning from the run {folder.name}", err=True)
    study = room.plan({name: measured[name] for name in measured.names()}, ask, matters)
    if as_json:
        planned = [proposal.as_json() for proposal in study.planned]
        terminal.dump(without_nan({"run": folder.name, "planned": planned, "left_out": list(study.left_out)}), indent=2)
        return
    english = translator("en")
    for outlook in study.planned:
        for made in outlook.plans:
            if made.difference in outlook.asked:
                terminal.say(room.sentence(outlook, made, english), bold=True)
        room.table(outlook, english).say()
        terminal.say("This assumes:")
        for text in room.assumptions(outlook, english):
            terminal.say(f"- {text}")
        terminal.say()
    for why in study.left_out:
        terminal.say(f"left out: {why}")
    terminal.say(
        "Then: get the questions (`ragbench load --help`), measure them (`ragbench run`), compare on those alone."
    )
