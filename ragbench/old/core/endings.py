"""How a command ends, as a number that pipelines read; one of them means the same of every command."""

from __future__ import annotations

from enum import IntEnum


class Ending(IntEnum):
    """Exit codes. Where several are true, the command ends with that which stands first in WORST."""

    HELD = 0
    FAILED = 1
    UNDECIDED = 2
    REFUSED = 3
    UNMEASURED = 4
    UNTRUSTED = 5
    INTERRUPTED = 130  # 128 and the signal, as a shell tells it: SIGINT is 2
    TERMINATED = 143  # SIGTERM is 15


MEANINGS = {
    Ending.HELD: "done; every gate holds, or none was asked for",
    Ending.FAILED: "a gate fails, or `fail_on_raised` is set and a system raised",
    Ending.UNDECIDED: "there is not enough evidence for a gate, and none fails",
    Ending.REFUSED: "usage or configuration: what was asked for cannot be done, or what it needs is not there",
    Ending.UNMEASURED: "nothing was measured, or not all: a page failed, a metric asked for or a gate has no value",
    Ending.UNTRUSTED: "nobody has answered for the folder (`ragbench trust`)",
    Ending.INTERRUPTED: "interrupted by Ctrl+C; the same command goes on from there",
    Ending.TERMINATED: "ended by SIGTERM; the same command goes on from there",
}
WORST = (Ending.UNMEASURED, Ending.FAILED, Ending.UNDECIDED, Ending.REFUSED, Ending.HELD)


def worst(*endings: Ending) -> Ending:
    """The first of them in the order of WORST; HELD of none."""
    return min(endings, key=WORST.index, default=Ending.HELD)


def table() -> str:
    """The exit codes in Markdown, a row each."""
    rows = (f"| {code.value} | {said} |" for code, said in MEANINGS.items())
    return "\n".join(("| exit code | meaning |", "|---|---|", *rows, ""))
