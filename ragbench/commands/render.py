"""`ragbench render`: a run's pages once more, from what it has stored."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench import terminal


def render(
    name: Annotated[str, typer.Argument(metavar="RUN", help="A run: its name, the beginning of it, latest, a folder.")],
    language: Annotated[
        str, typer.Option("--language", "-l", help="Language of the pages: en or ru; the run's own if not given.")
    ] = "",
) -> None:
    """Draw a run's pages again from its stored scores, with no database, no model and no notebook executed.

    With the same version of ragbench the same bytes come out.

    Example: `ragbench render latest -l ru`
    """
    from ragbench import report
    from ragbench.commands.console import outputs
    from ragbench.report.keeping import kept

    outputs.language(language)
    terminal.say(report.render(kept.pages_of(name), language=language or None))
