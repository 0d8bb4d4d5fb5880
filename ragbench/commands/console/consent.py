"""The one question about a folder before it runs its own code, opens what lies elsewhere, or sends: may it?"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench import terminal

if TYPE_CHECKING:
    from ragbench.trust import Item, Reach

Trust = Annotated[bool, typer.Option("--trust", help="Trust this folder, as `ragbench trust` does.")]
NOTHING = "This project runs no code of its own, opens nothing elsewhere and sends nothing."


def required(needed: Reach, given: bool = False) -> None:
    """Go on if the folder is trusted, or becomes so: by `--trust`, or by an answer on a terminal.

    given: whether `--trust` was. Ends with the exit code of the trust room where nobody can be asked or the answer is
    no.
    """
    from ragbench import settings, trust

    if not (found := trust.doubts(needed)):
        return
    everything = trust.of_project(settings.load()) | needed
    if given:
        allow(everything)
        return
    known = trust.is_trusted(everything.project)
    why = "now names other addresses than you agreed to:" if known else "is a folder that you have not answered for:"
    terminal.say(f"{everything.project} {why}", err=True)
    show(found if known else (item for item in everything.items if item.own), err=True)
    if sys.stdin.isatty() and sys.stderr.isatty():
        if terminal.agreed("May it send there?" if known else "Do you trust it, as it is and as it will be changed?"):
            allow(everything)
            return
        terminal.say("Nothing of it was run, opened or sent.", err=True)
        raise typer.Exit(trust.EXIT)
    terminal.say(
        "Nothing of it was run, opened or sent. If you trust it: `ragbench trust`, or the same command with --trust; "
        f"in a pipeline {settings.TRUST}={everything.project}",
        err=True,
    )
    raise typer.Exit(trust.EXIT)


def allow(reach: Reach) -> None:
    """Trust it from now on; where that cannot be kept, for this command, and say so."""
    from ragbench import trust

    try:
        trust.grant(reach)
    except OSError as error:
        terminal.say(
            f"trusted for this command only: {error.filename or 'the state folder'}: {error.strerror}", err=True
        )


def tell(reach: Reach) -> None:
    """What a command would run, open and send, on the screen."""
    show(reach.items, err=False)
    if not reach.items:
        terminal.say(NOTHING)


def show(items: Iterable[Item], *, err: bool) -> None:
    """A line for each."""
    for one in items:
        terminal.say(f"  {one}", err=err)
