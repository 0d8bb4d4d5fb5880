"""`ragbench history`: how the numbers went, run by run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench import terminal


def history(
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric; repeat it. The primary of each page if none.")
    ] = None,
    notebook: Annotated[
        list[str] | None, typer.Option("--notebook", "-n", help="Only this notebook; repeat it.")
    ] = None,
    system: Annotated[list[str] | None, typer.Option("--system", "-s", help="Only this system; repeat it.")] = None,
    limit: Annotated[int, typer.Option("--limit", help="How many runs, the newest.", min=1)] = 200,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the page.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Also write the values; - for the screen.")] = None,
    language: Annotated[str, typer.Option("--language", "-l", help="Language of the page: en or ru.")] = "",
) -> None:
    """Draw values with intervals over all kept runs, with marks where code, data, model or prompt changed.

    Values on other data are not joined by a line; values that cannot be compared are shown as such, with the reason.

    Example: `ragbench history -m mrr -m ndcg@10`
    """
    from ragbench import settings, stand_ins
    from ragbench.bench.runs import history as room
    from ragbench.commands.console import outputs
    from ragbench.language import translator
    from ragbench.report.pages import history as report
    from ragbench.settings import project_folder
    from ragbench.store import Store
    from ragbench.store.runs import Runs

    outputs.file(json_file, "--json")
    outputs.folder(out, "--out")
    outputs.language(language)
    known = settings.load()
    with Store.open(known) as store:
        records = Runs(store.engine).records(limit)
    made = room.history(records, metrics=metric or (), notebooks=notebook or (), systems=system or ())
    index = report.write(made, out or project_folder() / known.reports_folder / "history", language or known.language)
    if json_file is not None:
        tables = {name: table.to_dict("records") for name, table in made.extra.items()}
        about = {"runs": made.facts["runs"], "caveat": stand_ins.caveat(stand_ins.of(made.facts), translator("en"))}
        outputs.write(json_file, {**tables, **about})
    outputs.caveat(stand_ins.of(made.facts))
    terminal.say(index, err=json_file is not None and str(json_file) == "-")
