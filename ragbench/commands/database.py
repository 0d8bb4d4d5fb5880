"""`ragbench db`: the database server, seen and steered by hand. A run starts it by itself."""

from __future__ import annotations

import typer

application = typer.Typer(
    help="The PostgreSQL server with pgvector that ragbench keeps its chunks, vectors and scores in.",
    no_args_is_help=True,
)


@application.command("start")
def start() -> None:
    """Start the embedded server, or find the one that runs; RAGBENCH_DATABASE_URL names another server instead."""
    from ragbench import settings
    from ragbench.store import server

    typer.echo(str(server.start(settings.load())))


@application.command("stop")
def stop() -> None:
    """Stop the embedded server. What it keeps stays where it is."""
    from ragbench import settings
    from ragbench.store import server

    typer.echo(f"Stopped: {server.stop(settings.load())}")


@application.command("status")
def status() -> None:
    """Say whether the server runs, where its data lie, and which versions it has."""
    from ragbench import settings
    from ragbench.store import server

    typer.echo(str(server.status(settings.load())))
