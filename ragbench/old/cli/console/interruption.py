"""Ctrl-C and SIGTERM at any moment of a command: how to go on is said, and the exit code tells which it was."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

PROGRAM = "ragbench.old.__main__:main"
CODES = {signal.SIGINT: Ending.INTERRUPTED, signal.SIGTERM: Ending.TERMINATED}
AGAIN_SECONDS = 0.05  # an import has ended by then, in whose lock a signal was let go
IMPORTS = "<frozen importlib"
PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Where pydantic has no plugins to find, it does not read what each installed package says of itself."""
_received: list[int] = []
"""Exit codes of the signals that have come."""
YOUNG = 200_000  # objects after which garbage is looked for: imports make more than half, and next to no garbage


def program() -> NoReturn:
    """The command line from its first moment to its last: signals are dealt with before anything heavy is imported."""
    atexit.register(_ignore)  # the first to be registered is the last to be called
    atexit.register(gc.freeze)  # at its end the interpreter looks through all objects, which are the system's to clear
    gc.set_threshold(YOUNG)
    os.environ.setdefault(PLUGINS, "__all__")
    for number in CODES:
        signal.signal(number, _leave)
    terminal.guard()
    main = pkgutil.resolve_name(PROGRAM)  # by its name, as an installed script does: the house stands above its door
    with resumable():
        try:
            main()
        except Exception:
            if not _received:
                sys.excepthook(*sys.exc_info())
                sys.exit(Ending.UNMEASURED)
            raise
    sys.exit(Ending.HELD)


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Around work that goes on where it stopped when it is called again: answered questions are in the journal.

    Meanwhile both signals raise SystemExit, so that what was begun is ended in order. A library may make another
    exception of it, as pydantic does while it writes JSON: the end is the signal's all the same.
    """
    _received.clear()
    before = {number: signal.signal(number, _raise) for number in CODES}
    hook, sys.unraisablehook = sys.unraisablehook, _raise_again(sys.unraisablehook)
    try:
        yield
    except BaseException as end:
        is_ours = isinstance(end, SystemExit) and end.code in CODES.values()
        if not is_ours and not _received:
            raise
        _say()
        if is_ours:
            raise
        raise SystemExit(_received[0]) from None
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def tell_of_killed(reports: Path | None = None) -> None:
    """Record earlier runs in a folder of reports (by default the settings') that were killed, and name them."""

    from ragbench.old.core import settings
    from ragbench.old.report.execution import orchestration

    for name, why in orchestration.notice(
        reports or settings.project_folder() / settings.load().reports_folder
    ).items():
        end = f"could not be recorded: {why}" if why else "is kept as interrupted, with what it had measured"
        terminal.say(f"the run {name} was killed; it {end}", err=True, colour="yellow")


def tell_of_kept(reports: Path | None = None) -> None:
    """Say how many replies the last run in a folder of reports has left in the journal, if it was interrupted."""
    import json

    from ragbench.old.core import folders, settings
    from ragbench.old.llm import journal
    from ragbench.old.report.keeping import results

    place = reports or settings.project_folder() / settings.load().reports_folder
    runs = [path.parent for path in place.glob(f"*/{results.MANIFEST}") if not path.parent.is_symlink()]
    last = max(runs, key=lambda folder: folder.name, default=None)
    if last is None or not last.name.endswith(results.PARTIAL):
        return
    with contextlib.suppress(OSError, ValueError):
        state = json.loads(folders.text(last / results.MANIFEST))
        if state["status"] == "interrupted" and (keys := journal.of_run(last)):
            name = last.name.removesuffix(results.PARTIAL)
            said = f"the journal has the {len(keys):,} replies of models that the interrupted run {name} used"
            terminal.say(said, err=True)


def _leave(number: int, frame: Any) -> NoReturn:
    """While nothing is under way: in the midst of imports, or of the interpreter's own end."""
    _say()
    os._exit(128 + number)


def _ignore() -> None:
    """All is done and said; the interpreter would set both signals back to killing it, with a code that says else."""
    for number in CODES:
        signal.signal(number, signal.SIG_IGN)


def _raise(number: int, frame: Any) -> None:
    if frame is not None and frame.f_code.co_filename.startswith(IMPORTS):
        _send_again(number)  # raised there, it could leave the lock of all imports taken, for which threads would wait
        return
    _received.append(128 + number)
    raise SystemExit(128 + number)


def _raise_again(otherwise: Callable[[Any], object]) -> Callable[[Any], None]:
    """The interpreter drops what is raised while it tidies up an object: the signal is sent once more."""

    def hook(what: Any) -> None:
        error = what.exc_value
        if isinstance(error, SystemExit) and isinstance(error.code, int) and error.code in CODES.values():
            _send_again(error.code - 128)
        else:
            otherwise(what)

    return hook


def _send_again(number: int) -> None:
    again = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _say() -> None:
    import shlex

    command = shlex.join(["ragbench", *sys.argv[1:]])
    line = terminal.escaped(f"interrupted; what models have answered is kept. To go on: {command}")
    with contextlib.suppress(OSError):
        os.write(2, f"\n{line}\n".encode(errors="backslashreplace"))
