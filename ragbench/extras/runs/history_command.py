"""`ragbench history`: how the numbers went, run by run."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.cli.console import options
from ragbench.core import terminal


def history(
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat it. The primary of each page if none.")
    ] = None,
    notebook: Annotated[
        list[str] | None, typer.Option("--notebook", "-n", help="Only this notebook; repeat it.")
    ] = None,
    system: Annotated[list[str] | None, typer.Option("--system", "-s", help="Only this system; repeat it.")] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", help="Runs of the project in a folder of this name; repeat it. This one's if none."),
    ] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="Runs of every project.")] = False,
    limit: Annotated[int, typer.Option("--limit", help="How many runs, the newest.", min=1)] = 200,
    out: options.Out = None,
    json_file: options.JsonFile = None,
    language: options.Language = "",
) -> None:
    """Draw values with intervals over the kept runs of this project, with marks where code, data, model or prompt
    changed.

    Each data set has a section of its own, and in it each metric a panel over the same runs.
    Values on other data are not joined by a line; values that cannot be compared are shown as such, with the reason.

    Example: `ragbench history -m mrr -m ndcg@10`
    """
    from ragbench.cli.console import outputs
    from ragbench.core import settings, stand_ins, trust
    from ragbench.core.language import translator
    from ragbench.core.settings import project_folder
    from ragbench.extras.runs import history as room
    from ragbench.extras.runs import history_page as report
    from ragbench.extras.runs.run_facts import run_facts
    from ragbench.store import Store

    known = settings.load()
    with Store.open(known) as store:
        everywhere = bool(project) or all_projects
        records = store.runs.records(None if project else limit, None if everywhere else project_folder().resolve())
    if project:
        records = room.of_projects(records, project)[:limit]
    made = room.history(records, metrics=metric or (), notebooks=notebook or (), systems=system or ())
    index = report.write(made, out or trust.folder_of("reports_folder") / "history", language or known.language)
    if json_file is not None:
        tables = {"points": room.rows(made), "changes": made.extra["changes"].to_dict("records")}
        about = {
            "runs": run_facts(made.facts)["runs"],
            "caveat": stand_ins.caveat(stand_ins.of(made.facts), translator("en")),
        }
        outputs.write(json_file, {**tables, **about})
    outputs.caveat(stand_ins.of(made.facts))
    terminal.say(index, err=outputs.is_screen(json_file))
