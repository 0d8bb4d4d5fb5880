"""`ragbench gate`: does a report hold what it is held to?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ragbench.cli.console import options
from ragbench.core import terminal

if TYPE_CHECKING:
    from ragbench.core.endings import Ending
    from ragbench.tiers.run.gates import Decision

JSON = "gate.json"


def gate(name: options.Run) -> None:
    """Hold a finished run to the gates of ragbench.toml, as `ragbench run --gate` does after measuring.

    Exit code 0 when every gate holds, 1 when one fails, 2 when there is not enough evidence, 4 when one has no value.
    """
    from ragbench.core import settings
    from ragbench.report.keeping import kept
    from ragbench.tiers.run import gates as room

    room.check_gates(settings.load())
    code = hold(kept.pages_of(name))
    if code:
        raise typer.Exit(code)


def hold(folder: Path) -> Ending:
    """Decide every gate on a run's numbers, say so, keep it beside them as gate.json."""
    from ragbench.cli.console import outputs
    from ragbench.core import settings, stand_ins
    from ragbench.report.keeping import results
    from ragbench.report.pages import notebook_pages
    from ragbench.tiers.run import gates as room

    kept = notebook_pages.Measurements(folder)
    measured = {name: kept[name] for name in kept.names()}
    decision = room.decide(measured, settings.load())
    results.write_json(folder / JSON, {**decision.as_json(), **results.stood_in(measured)})
    code = tell(decision)
    outputs.caveat(
        stand_in
        for check in decision.checks
        if check.notebook in measured
        for stand_in in stand_ins.of(measured[check.notebook].facts, check.system, check.metric)
    )
    terminal.say(f"gate: {decision.outcome}", err=True, bold=True)
    return code


def tell(decision: Decision) -> Ending:
    """Say every check on the error channel."""
    from ragbench.tiers.run.gates import ALONE, line

    for check in decision.checks:
        colour = {"holds": "green", "fails": "red"}.get(str(check.outcome), "yellow")
        terminal.say(line(check), err=True, colour=colour)
    if any(check.is_difference for check in decision.checks):
        terminal.say(ALONE, err=True)
    return decision.exit_code
