"""`ragbench trust`: which folders may run their code, open what lies elsewhere, and send."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.cli.console import consent
from ragbench.core import terminal


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
    from ragbench.core import settings, trust

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
    consent.tell((*trust.named(), *trust.notebooks()))
    trust.grant()
    terminal.say(f"Trusted: {settings.project_folder()}")
