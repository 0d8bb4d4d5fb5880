"""A small process beside each kernel that ends the kernel's group when the runner is gone, however it went.

The runner holds the writing end of the guard's input. A runner that is killed can end nothing any more, but its end of
the pipe closes, and that wakes the guard. (A signal at the parent's death would come when the parent's thread ends, and
reach the kernel alone.)
"""

from __future__ import annotations

import os
import subprocess
import sys

_WORK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.buffer.read()
try:
    os.killpg(int(sys.argv[1]), signal.SIGKILL)
except OSError:
    pass
"""


def watch(group: int) -> subprocess.Popen[bytes] | None:
    """Begin to watch over a process group; None where there are no process groups."""
    if os.name != "posix":
        return None
    command = [sys.executable, "-I", "-S", "-c", _WORK, str(group)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603


def release(guard: subprocess.Popen[bytes] | None) -> None:
    """End the guard; the group is no longer its business."""
    if guard is None:
        return
    guard.kill()
    guard.wait()
    if guard.stdin is not None:
        guard.stdin.close()
