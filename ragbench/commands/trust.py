"""`ragbench trust`: which projects may run their own code and send your keys."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench import terminal
from ragbench.commands.console import consent


def trust(
    listed: Annotated[bool, typer.Option("--list", help="Only name the projects that you trust.")] = False,
    revoked: Annotated[bool, typer.Option("--revoke", help="Trust this project no more.")] = False,
) -> None:
    """Trust this project: what it would run and send is shown, and nobody asks again until one of these changes.

    What is kept, in your state folder and never in the project, is a digest of the functions, files, notebooks,
    addresses and key variables that are shown.

    Examples: `ragbench trust`, `ragbench trust --list`, `ragbench trust --revoke`
    """
    from ragbench import settings, trust

    if listed and revoked:
        raise typer.BadParameter("--list and --revoke: give one of them")
    if listed:
        found = trust.grants()
        for one in found:
            terminal.say(f"{one.project}: {len(one.items)} things")
        if not found:
            terminal.say("you trust no project yet")
        return
    if revoked:
        project = settings.project_folder()
        terminal.say(f"{project} {'is trusted no more' if trust.revoke(project) else 'was not trusted'}")
        return
    reach = trust.of_project(settings.load())
    consent.tell(reach)
    if not reach.asked:
        return
    trust.grant(reach)
    terminal.say(f"Trusted: {reach.project}")
    terminal.say(f"In a pipeline RAGBENCH_TRUST={trust.pin(reach)} trusts exactly this.")
