"""`ragbench db`: the database server, seen and steered by hand. A run starts it by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal

application = typer.Typer(
    help="The PostgreSQL server with pgvector that ragbench keeps its chunks, vectors and scores in.",
    no_args_is_help=True,
)


@contextlib.contextmanager
def _as_it_is() -> Iterator[Any]:
    """The database of the server that runs, whether it has tables or not."""
    from ragbench.old.core import settings
    from ragbench.old.store import server

    server.start(settings.load())
    with server.connected(settings.load()) as engine:
        yield engine


@application.command("start")
def start() -> None:
    """Start the embedded server, or find the one that runs; RAGBENCH_DATABASE_URL names another server instead."""
    from ragbench.old.core import settings
    from ragbench.old.store import server

    terminal.say(server.start(settings.load()))


@application.command("stop")
def stop() -> None:
    """Stop the embedded server. What it keeps stays where it is."""
    from ragbench.old.core import settings
    from ragbench.old.store import server

    terminal.say(f"Stopped: {server.stop(settings.load())}")


@application.command("status")
def status() -> None:
    """Say whether the server runs, where its data lie, and which versions it has."""
    from ragbench.old.core import settings
    from ragbench.old.store import server

    terminal.say(server.status(settings.load()))


@application.command("size")
def size() -> None:
    """Say what takes how much room: every table, what it is for, its rows and its bytes."""
    from ragbench.old.cli.console.options import told
    from ragbench.old.core import settings
    from ragbench.old.store import Store, copying

    with Store.open(settings.load()) as store:
        tables = copying.sizes(store.engine)
    rows = [(table.name, table.meant_for, f"{table.rows:,}", told(table.bytes)) for table in tables]
    terminal.table(("table", "what it is for", "rows, about", "with indexes"), rows, left=("table", "what it is for"))
    terminal.say(f"{told(sum(table.bytes for table in tables))} in all")


@application.command("dump")
def dump(file: options.Target) -> None:
    """Write all that the database keeps into one file: to keep it, or to move it.

    Runs, replies, vectors and texts are in it; no key and no password is. It is an archive of pg_dump's, which
    `ragbench db restore FILE` brings back.
    """
    from ragbench.old.cli.console.options import told
    from ragbench.old.store import copying

    with _as_it_is() as engine:
        copying.dump(engine, file)
    terminal.say(f"All that the database keeps is in {file}, {told(file.stat().st_size)}")


@application.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `ragbench db dump` wrote. It can run SQL: only your own.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in place of what the database keeps, which is lost.")
    ] = False,
) -> None:
    """Bring back all that a file of `ragbench db dump` holds: all of it, or nothing."""
    from ragbench.old.store import copying

    with _as_it_is() as engine:
        kept = copying.restore(engine, file, replace=replace)
    terminal.say(f"Restored from {file}: {kept or 'an empty database'}")


@application.command("vacuum")
def vacuum() -> None:
    """Give the room of deleted replies back to the disk. Best while no run is under way."""
    from ragbench.old.cli.console.options import told
    from ragbench.old.core import settings
    from ragbench.old.store import Store
    from ragbench.old.store.reply_journal import shrink

    with Store.open(settings.load()) as store:
        room = shrink(store.engine)
    terminal.say(
        f"the journal took {told(room.before)}, now {told(room.after)}" + (f": {room.why}" if room.why else "")
    )
