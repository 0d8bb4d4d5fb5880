"""Ctrl-C and SIGTERM in the middle of a paid run: how to go on is said, and the exit code tells which it was."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import typer

INTERRUPTED, TERMINATED = 130, 143


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Around work that goes on where it stopped when it is called again: answered questions are in the journal."""

    def terminate(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if here else None
    try:
        yield
    except KeyboardInterrupt:
        _say()
        raise typer.Exit(INTERRUPTED) from None
    except SystemExit as end:
        if end.code == TERMINATED:
            _say()
        raise
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)


def _say() -> None:
    command = shlex.join(["ragbench", *sys.argv[1:]])
    typer.echo(f"\ninterrupted; what models have answered is kept. To go on: {command}", err=True)
