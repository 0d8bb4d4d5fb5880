"""`ragbench load documents`: a folder of documents becomes a knowledge base."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench.cli.console import options
from ragbench.cli.console.preview import tell
from ragbench.core import segmentation, terminal

if TYPE_CHECKING:
    from ragbench.data import Brought, Records

NAMED = 5


def documents(
    folder: Annotated[
        Path,
        typer.Argument(
            parser=options.source_folder, metavar="FOLDER", help="A folder of documents: .md, .txt, .html, .pdf, .docx."
        ),
    ],
    name: Annotated[str, typer.Option("--name", "-n", help="Its name from now on: small letters, digits, dashes.")],
    size: Annotated[int, typer.Option(help="Of a passage at most, in --unit.")] = 1000,
    overlap: Annotated[int, typer.Option(help="That neighbouring passages share at most, in --unit.")] = 0,
    unit: Annotated[str, typer.Option(help="characters or words.")] = "characters",
    url: Annotated[
        str, typer.Option(help="The page of a document: https://kb.example/{path}; front matter's url wins.")
    ] = "{path}",
    language: Annotated[
        str,
        typer.Option(
            "--language", "-l", help="Language of the texts, en or ru; else found out.", callback=options.spoken
        ),
    ] = "",
    title: Annotated[str, typer.Option(help="What pages call it; the name where not given.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the texts, shown on every page.")] = "not stated",
    add: Annotated[
        bool, typer.Option("--add", help="Read what is new or has changed since, and keep all the rest.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a data set of that name.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what was understood and left out; write nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Say what the page `dataset` would find: leaks, copies, people, noise, and more."),
    ] = False,
) -> None:
    """Documents are read as Markdown and cut where a text parts by itself: sections first, then paragraphs, sentences.

    Each passage keeps its document, the headings it stands under, and where it begins and ends. A base without
    questions can be measured by tier0_embeddings; `ragbench draft` makes first questions to it.

    Example: ragbench load documents handbook --name kb --url https://kb.example/{path}
    """
    from typing import cast

    from ragbench import data
    from ragbench.core import trust
    from ragbench.core.progress import Progress
    from ragbench.data import documents as reading

    if unit not in ("characters", "words"):
        raise typer.BadParameter(f"{unit!r}: characters or words is expected", param_hint="--unit")
    cutting = reading.Cutting(size, overlap, cast(reading.Unit, unit))
    place = trust.folder_of("data_folder")
    known, spoken = None, language
    if add and name in data.available(place):
        spoken = data.language_in(data.place_of(name, place), language)
        known = data.Records.read(data.place_of(name, place), spoken)
    elif not add:
        data.require_free(name, place, replace=replace)
    with Progress("documents", len(reading.paths(folder))) as progress:
        brought = reading.read(folder, cutting, url, known, progress)
    spoken = spoken or segmentation.language_of(brought.texts)
    if not check:
        _tell_copies(brought)
    tell(brought, folder.name, spoken, check=check)
    _require_labels(known, brought)
    tables = {field.name: getattr(known, field.name) for field in fields(known)} if known is not None else {}
    made = data.write(
        name,
        place,
        title=title or name,
        licence=licence,
        source=folder.name,
        language=spoken,
        left_out=+brought.left_out,
        replace=replace or add,
        dry_run=dry_run,
        **{**tables, **{table: getattr(brought, table) for table in brought.tables}},
    )
    if dry_run:
        terminal.say("all of it can be loaded; nothing was written (--dry-run)")
        return
    asked = made.counts["questions"]
    following = f"ragbench run --dataset {name}" if asked else f"ragbench draft {name} --questions 120"
    terminal.say(f"data set {name} is there (content hash {made.content_hash[:12]}). Next: {following}")


def _tell_copies(brought: Brought) -> None:
    from ragbench.tiers.data.copies import near_copies

    pairs = near_copies([chunk.text for chunk in brought.chunks])
    if pairs:
        named = "; ".join(
            f"{brought.chunks[place].id} and {brought.chunks[other].id}" for place, other, _ in pairs[:NAMED]
        )
        more = f"; {len(pairs) - NAMED} more" if len(pairs) > NAMED else ""
        brought.notes.append(f"{len(pairs)} pairs of passages are nearly the same: {named}{more}")


def _require_labels(known: Records | None, brought: Brought) -> None:
    """Raises DatasetError where questions are labelled with passages that are there no more."""
    from ragbench.data import DatasetError

    there = {chunk.id for chunk in brought.chunks}
    asked = known.questions if known is not None else ()
    lost = [question.id for question in asked if not {*question.relevant, *question.irrelevant} <= there]
    if lost:
        raise DatasetError(
            f"{len(lost)} questions are labelled with passages that have changed: {', '.join(lost[:NAMED])} …; nothing "
            "was written. Label them anew, or load the folder under another --name"
        )
