"""The one question before a project's own code runs and keys are sent: may it?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench import terminal

if TYPE_CHECKING:
    from ragbench.trust import Item, Reach

Trust = Annotated[bool, typer.Option("--trust", help="Trust this project, as `ragbench trust` does.")]
NOTHING = "This project runs no code of its own and sends no key: there is nothing to trust."
HEADS = {
    "callable": "It runs these functions:",
    "file": "They are made of these files:",
    "notebook": "It runs these notebooks, which are not ragbench's own:",
    "server": "It runs a database server of its own:",
    "key": "It sends these variables as keys:",
    "database": "It opens databases with your access:",
    "storage": "It reads and writes shared storage:",
    "texts": "Without a key:",
}


def required(needed: Reach, given: bool = False) -> None:
    """Go on if everything of it is trusted, or becomes so: by `--trust`, or by an answer on a terminal.

    given: whether `--trust` was. Ends with exit code 2 where nobody can be asked or the answer is no.
    """
    from ragbench import settings, trust

    def whole() -> Reach:
        return trust.of_project(settings.load())

    found = trust.doubts(needed, whole)
    if not found:
        return
    everything = whole() | needed
    if given:
        allow(everything)
        return
    known = any(one.before is not None for one in found)
    why = "has changed since you trusted it" if known else "is not trusted yet"
    terminal.say(f"{everything.project} {why}.", err=True)
    show(everything.items, {one.item.title: str(one) for one in found if one.before is not None})
    if sys.stdin.isatty() and sys.stderr.isatty():
        if terminal.agreed("Trust it, until one of these changes?"):
            allow(everything)
            return
        terminal.say("Nothing was run or sent.", err=True)
        raise typer.Exit(2)
    terminal.say(
        "Nothing was run or sent. If you trust it: `ragbench trust`, or the same command with --trust; in a pipeline "
        f"the variable RAGBENCH_TRUST={trust.pin(everything)} trusts exactly this, RAGBENCH_TRUST={trust.ALL} "
        "anything.",
        err=True,
    )
    raise typer.Exit(2)


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
    """What a command would run and send, trusted by now, on the screen."""
    show(reach.items, err=False)
    if not reach.asked:
        terminal.say(NOTHING)


def show(items: Sequence[Item], changed: dict[str, str] | None = None, *, err: bool = True) -> None:
    """What a project would run and send, kind by kind; a line for each. changed: other lines, by an item's title."""
    for kind, head in HEADS.items():
        lines = [(changed or {}).get(one.title, f"{one.name}: {one.says}") for one in items if one.kind == kind]
        if lines:
            terminal.say(head, err=err)
        for line in lines:
            terminal.say(f"  {line}", err=err)
