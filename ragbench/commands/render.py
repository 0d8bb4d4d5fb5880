"""`ragbench render`: a run's pages once more, from what it has stored."""

from __future__ import annotations

from ragbench import terminal
from ragbench.commands.console import options


def render(name: options.Run, language: options.Language = "") -> None:
    """Draw a run's pages again from its stored scores, with no database, no model and no notebook executed.

    With the same version of ragbench the same bytes come out.

    Example: `ragbench render latest -l ru`
    """
    from ragbench import report
    from ragbench.report.keeping import kept

    terminal.say(report.render(kept.pages_of(name), language=language or None))
