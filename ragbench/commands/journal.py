"""`ragbench journal`: what was paid for, and how it travels."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

application = typer.Typer(
    help="The journal of models' replies: its size, cost and hit rate; export and import.",
    invoke_without_command=True,
)
BATCH = 500


@application.callback()
def show(context: typer.Context) -> None:
    """Say how many replies are kept for each judge, what they cost, and how often the journal had the answer."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    from ragbench import settings
    from ragbench.store import Store
    from ragbench.store.journal import DatabaseJournal

    with Store.open(settings.load()) as store:
        journal = DatabaseJournal(store.engine)
        sizes, (lookups, hits) = journal.sizes(), journal.use()
        journal.close()
    if not sizes:
        typer.echo("the journal is empty: no model was asked yet")
        return
    table = Table("judge", "model", *("replies", "tokens read", "tokens written", "cost", "mean seconds"))
    for size in sizes:
        numbers = (f"{size.replies:,}", f"{size.input_tokens:,}", f"{size.output_tokens:,}", f"{size.cost:,.4f}")
        table.add_row(size.judge, size.model, *numbers, f"{size.seconds / size.replies:.2f}")
    Console().print(table)
    rate = f"{hits / lookups:.1%}" if lookups else "none yet"
    typer.echo(f"hit rate: {rate} ({hits:,} of {lookups:,} lookups)")


@application.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="Where to write; a name that ends in .gz is compressed.")],
    judge: Annotated[str, typer.Option("--judge", "-j", help="Only this judge's replies.")] = "",
) -> None:
    """Write the journal as JSON lines: requests and replies, no keys. The texts that were judged are in it."""
    from ragbench import settings
    from ragbench.commands import outputs
    from ragbench.llm import lines
    from ragbench.store import Store
    from ragbench.store.journal import DatabaseJournal

    outputs.file(file, "FILE")
    with Store.open(settings.load()) as store:
        count = lines.write(file, DatabaseJournal(store.engine).rows(judge or None))
    if judge and not count:
        typer.echo(f"the journal has no reply of a judge {judge!r}; `ragbench journal` lists the judges", err=True)
    typer.echo(f"{count} replies written to {file}")


@application.command("import")
def bring_in(file: Annotated[Path, typer.Argument(help="JSON lines that `ragbench journal export` wrote.")]) -> None:
    """Read an exported journal, so that its report can be made again without a key. Replies that are there stay."""
    from ragbench import settings
    from ragbench.llm import lines
    from ragbench.store import Store
    from ragbench.store.journal import DatabaseJournal

    read = new = 0
    with Store.open(settings.load()) as store:
        journal = DatabaseJournal(store.engine)
        rows = lines.read(file)
        while batch := list(islice(rows, BATCH)):
            new += len(batch) - journal.known(row["key"] for row in batch)
            journal.record(batch)
            read += len(batch)
        journal.close()
    typer.echo(f"{read} replies read from {file.name}, {new} of them new")
