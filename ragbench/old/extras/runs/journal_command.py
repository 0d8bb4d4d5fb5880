"""`ragbench journal`: what was paid for, and how it travels."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ragbench.old.cli.console import options
from ragbench.old.core import terminal
from ragbench.old.core.language import DASH

application = typer.Typer(
    help="The journal of models' replies: its size, cost and hit rate; export and import; pruning.",
    invoke_without_command=True,
)


@application.callback()
def show(context: typer.Context, as_json: options.AsJson = False) -> None:
    """Say how many replies are kept of each model, their size and cost, and how often the journal had the answer."""
    if context.invoked_subcommand is not None:
        return
    from ragbench.old.cli.console.options import counted, told
    from ragbench.old.core import settings
    from ragbench.old.store import Store

    with Store.open(settings.load()) as store:
        journal = store.journal
        sizes, sized, used = journal.sizes(), journal.bytes(), journal.use()
    models: list[dict[str, Any]] = []
    for size in sizes:
        who = (size.judge, size.model)
        lookups, hits = used.get(who, (0, 0))
        models.append({**asdict(size), "bytes": sized.get(who, 0), "lookups": lookups, "hits": hits})
    lookups, hits = (sum(pair[place] for pair in used.values()) for place in (0, 1))
    if as_json:
        terminal.dump({"models": models, "lookups": lookups, "hits": hits})
        return
    if not models:
        terminal.say("the journal is empty: no model was asked yet")
        return
    titles = ("judge", "model", "replies", "size", "cost", "hit rate", "tokens read", "tokens written", "mean seconds")
    rows = [
        (
            *(model["judge"], model["model"], f"{model['replies']:,}", told(model["bytes"])),
            f"{model['cost']:,.4f}" if _is_priced(model) else DASH,
            *(_rate(model["lookups"], model["hits"]), f"{model['input_tokens']:,}", f"{model['output_tokens']:,}"),
            f"{model['seconds'] / model['replies']:.2f}",
        )
        for model in models
    ]
    terminal.table(titles, rows, left=titles[:2])
    replies, cost = sum(model["replies"] for model in models), math.fsum(model["cost"] for model in models)
    unpriced = [str(model["judge"]) for model in models if not _is_priced(model)]
    paid = f", paid for with {cost:,.4f}" if len(unpriced) < len(models) else ""
    terminal.say(f"{counted(replies, 'reply', 'replies')}, {told(sum(sized.values()))}{paid}")
    if unpriced:
        terminal.say(f"no cost is recorded for {', '.join(dict.fromkeys(unpriced))}: no price was set, or it was 0")
    terminal.say(f"hit rate: {_rate(lookups, hits) if lookups else 'none yet'} ({hits:,} of {lookups:,} lookups)")


def _is_priced(model: dict[str, Any]) -> bool:
    """Whether the cost of a model is known; of one that read and wrote nothing it is 0."""
    return bool(model["cost"] or not model["input_tokens"] + model["output_tokens"])


def _rate(lookups: int, hits: int) -> str:
    return f"{hits / lookups:.1%}" if lookups else DASH


@application.command("export")
def export(
    file: Annotated[
        Path, typer.Argument(help="Where to write; a name that ends in .gz is compressed.", callback=options.file)
    ],
    judge: options.Judge = "",
) -> None:
    """Write the journal as JSON lines: requests and replies, no keys. The texts that were judged are in it."""
    from ragbench.old.core import settings
    from ragbench.old.llm import journal
    from ragbench.old.store import Store

    with Store.open(settings.load()) as store:
        count = journal.write(file, store.journal.rows(judge or None))
    if judge and not count:
        terminal.say(f"the journal has no reply of a judge {judge!r}; `ragbench journal` lists the judges", err=True)
    terminal.say(f"{count} replies written to {file}")


@application.command("import")
def bring_in(file: Annotated[Path, typer.Argument(help="JSON lines that `ragbench journal export` wrote.")]) -> None:
    """Read an exported journal, so that its report can be made again without a key. Replies that are there stay."""
    from ragbench.old.extras.runs import packs
    from ragbench.old.llm import journal

    read, new = packs.take(journal.read(file))
    terminal.say(f"{read} replies read from {file.name}, {new} of them new")


@application.command("prune")
def prune(
    older_than: Annotated[str, typer.Option("--older-than", help="Recorded so long ago: 12h, 90d, 8w, 1y.")] = "",
    judge: options.Judge = "",
    model: Annotated[str, typer.Option("--model", "-m", help="Only replies of this model.")] = "",
    larger_than: Annotated[str, typer.Option("--larger-than", help="Only replies of more bytes: 200kB.")] = "",
    unused: Annotated[
        bool, typer.Option("--unused", help="Only replies that no kept run is made of; those of the last day stay.")
    ] = False,
    down_to: Annotated[
        str, typer.Option("--down-to", help="The oldest of these, until the journal is this large: 5GB.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")] = False,
    yes: options.Yes = False,
) -> None:
    """Delete replies for which everything holds that is named, and give their room back to the disk.

    A run that needs a deleted reply again asks its model again, and pays. `ragbench journal export` keeps a copy.

    Example: `ragbench journal prune --unused --older-than 90d --dry-run`
    """
    from ragbench.old.core import settings
    from ragbench.old.store import Store
    from ragbench.old.store.reply_journal import Choice, Pruning, shrink

    older, larger = options.duration(older_than, "--older-than"), options.size(larger_than, "--larger-than")
    choice = Choice(older, judge or None, model or None, larger, unused, options.size(down_to, "--down-to"))
    if choice.is_empty:
        legal = "--older-than, --judge, --model, --larger-than, --unused, --down-to"
        raise typer.BadParameter(f"nothing says which replies shall go: name at least one of {legal}")
    with Store.open(settings.load()) as store:
        pruning = Pruning(store.engine, choice)
        shares = pruning.shares()
        if unused and (unknown := pruning.unknown()):
            said = "run does not" if unknown == 1 else "runs do not"
            terminal.say(
                f"{unknown} kept {said} say which replies they used: replies from before them all stay", err=True
            )
        replies, size = sum(share.replies for share in shares), options.told(sum(share.bytes for share in shares))
        for portion in shares:
            terminal.say(
                f"{portion.judge} ({portion.model}): {portion.replies:,} replies, {options.told(portion.bytes)}, "
                f"paid for with {portion.cost:,.4f}"
            )
        if dry_run or not replies:
            terminal.say(f"{replies:,} replies of {size} would go; nothing was changed" if replies else "no such reply")
            return
        if not yes:
            terminal.sure(f"delete {replies:,} replies of {size}?")
        gone = pruning.delete()
        room = shrink(store.engine)
    terminal.say(f"{gone:,} replies deleted; the journal took {options.told(room.before)}, "
               f"now {options.told(room.after)}")  # fmt: skip
    if room.why:
        terminal.say(f"its room was not given back to the disk: {room.why}. When they have ended: ragbench db vacuum")
