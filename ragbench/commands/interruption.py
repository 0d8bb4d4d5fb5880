"""Ctrl-C and SIGTERM in the middle of a paid run: how to go on is said, and the exit code tells which it was."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import typer

INTERRUPTED, TERMINATED = 130, 143


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Around work that goes on where it stopped when it is called again: answered questions are in the journal."""
    from ragbench.report.termination import terminable

    with terminable():
        try:
            yield
        except KeyboardInterrupt:
            _say()
            raise typer.Exit(INTERRUPTED) from None
        except SystemExit as end:
            if end.code == TERMINATED:
                _say()
            raise


def tell_of_killed(reports: Path | None = None) -> None:
    """Record earlier runs in a folder of reports (by default the settings') that were killed, and name them."""
    from ragbench import settings
    from ragbench.report import unfinished

    for name, why in unfinished.notice(reports or settings.project_folder() / settings.load().reports_folder).items():
        end = f"could not be recorded: {why}" if why else "is kept as interrupted, with what it had measured"
        typer.secho(f"the run {name} was killed; it {end}", err=True, fg=typer.colors.YELLOW)


def _say() -> None:
    command = shlex.join(["ragbench", *sys.argv[1:]])
    typer.echo(f"\ninterrupted; what models have answered is kept. To go on: {command}", err=True)
