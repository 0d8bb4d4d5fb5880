"""A signal before anything is under way: the command line says so and ends, in the midst of whatever it imports.

Imported before all else of the package, so it takes what the interpreter has loaded by itself. `_signal` is the part of
`signal` that is built in: the rest of it imports for as long as a small command takes.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import sys

ENDS = {_signal.SIGINT: _signal.default_int_handler, _signal.SIGTERM: _signal.SIG_DFL}
"""Signals, and what Python does with them where nobody has asked for something else."""
SAID = b"\ninterrupted before anything was begun\n"


def is_command() -> bool:
    """Whether this is `python -m ragbench`: its script deals with signals itself, and others import the package."""
    began = sys.orig_argv
    return sys.argv[:1] == ["-m"] and began[began.index("-m") + 1 :][:1] == ["ragbench"]


def _leave(number: int, frame: object) -> None:
    try:
        os.write(2, SAID)
    finally:
        os._exit(128 + number)


for _number, _usual in ENDS.items() if is_command() else ():
    if _signal.getsignal(_number) is _usual:
        _signal.signal(_number, _leave)
