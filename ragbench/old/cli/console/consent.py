"""Whether a folder may run its own code, open what lies elsewhere, or send: the one question, and `ragbench trust`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench.old.core import terminal

if TYPE_CHECKING:
    from ragbench.old.core.trust import Item


Trust = Annotated[bool, typer.Option("--trust", help="Trust this folder, as `ragbench trust` does.")]
NOTHING = "This project runs no code of its own, opens nothing elsewhere and sends nothing."


def required(needed: Iterable[Item], given: bool = False) -> None:
    """Go on if the folder is trusted, or becomes so: by `--trust`, or by an answer on a terminal.

    given: whether `--trust` was. Raises UntrustedError where nobody can be asked; ends with its code where the answer
    is no.
    """
    from ragbench.old.core import trust

    needed = tuple(needed)
    try:
        trust.require(*needed)
    except trust.UntrustedError as error:
        if not given:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            terminal.say(f"{error.asked}:", err=True)
            for action in error.items:
                terminal.say(f"  {action}", err=True)
            if not terminal.agreed("Is it trusted, as it is and as it will be changed?"):
                terminal.say(trust.NOTHING_DONE, err=True)
                raise typer.Exit(error.exit_code) from None
        allow(*needed)


def allow(*needed: Item) -> None:
    """Trust it from now on; where that cannot be kept, for this command, and say so."""
    from ragbench.old.core import trust

    try:
        trust.grant(*needed)
    except OSError as error:
        where = error.filename or "the state folder"
        terminal.say(f"trusted for this command only: {where}: {error.strerror}", err=True)


def tell(items: Iterable[Item]) -> None:
    """What a command would run, open and send, on the screen."""
    for action in (items := tuple(items)):
        terminal.say(f"  {action}")
    if not items:
        terminal.say(NOTHING)


def trust(
    listed: Annotated[bool, typer.Option("--list", help="Only name the folders that you trust.")] = False,
    revoked: Annotated[bool, typer.Option("--revoke", help="Trust this project no more.")] = False,
) -> None:
    """Trust this project's folder: what it would run, open and send is shown, and nobody asks again, whatever you or
    others change in it, but before it sends to a host that is not shown here.

    The answer is kept in your state folder, by the folder's path, never in the project. `ragbench init` gives it for
    the folder that it writes into; in a pipeline the option --trust or RAGBENCH_TRUST=FOLDER does.

    Examples: `ragbench trust`, `ragbench trust --list`, `ragbench trust --revoke`
    """
    from ragbench.old.core import settings, trust

    if listed and revoked:
        raise typer.BadParameter("--list and --revoke: give one of them")
    if listed:
        grants = trust.grants()
        for project, hosts in grants.items():
            terminal.say(f"{project}: sends to {', '.join(sorted(hosts)) or 'nobody'}")
        if not grants:
            terminal.say("you trust no project yet")
        return
    if revoked:
        terminal.say(f"{settings.project_folder()} {'is trusted no more' if trust.revoke() else 'was not trusted'}")
        return
    tell((*trust.named(), *trust.notebooks()))
    trust.grant()
    terminal.say(f"Trusted: {settings.project_folder()}")
