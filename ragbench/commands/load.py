"""`ragbench load`: bring data that others wrote into data/, checked as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragbench.datasets import ChunkRecord, QuestionRecord

application = typer.Typer(help="Bring a data set in from a file of another format.", no_args_is_help=True)

Name = Annotated[str, typer.Option("--name", "-n", help="Its name from now on: small letters, digits, dashes.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a data set of that name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was understood and left out; write nothing.")]
Lang = Annotated[str, typer.Option("--language", "-l", help="Language of the texts, en or ru; else found out.")]
Title = Annotated[str, typer.Option(help="What pages call it; the name where not given.")]
Licence = Annotated[str, typer.Option(help="Licence of the texts, shown on every page.")]


@application.command("squad")
def squad(
    file: Annotated[Path, typer.Argument(help="SQuAD 1.1 or 2.0 JSON, plain or gzipped.")],
    name: Name,
    language: Lang = "",
    title: Title = "",
    licence: Licence = "not stated",
    replace: Replace = False,
    dry_run: DryRun = False,
) -> None:
    """Paragraphs become chunks, articles pages, and each question keeps the paragraph it was written for.

    Example: ragbench load squad xquad.ru.json.gz --name xquad-ru && ragbench run --dataset xquad-ru
    """
    from ragbench import datasets

    _bring(file.name, name, datasets.squad.read(file), language, title, licence, replace, dry_run)


@application.command("beir")
def beir(
    folder: Annotated[Path, typer.Argument(help="A folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.")],
    name: Name,
    split: Annotated[str, typer.Option(help="Which judgements: the name of a file below qrels/.")] = "test",
    queries: Annotated[Path | None, typer.Option(help="Another file of queries, with the same ids.")] = None,
    clusters: Annotated[
        str, typer.Option(help="Pattern whose group, found in a question's id, names its cluster: '^(.+)<::>'.")
    ] = "",
    language: Lang = "",
    title: Title = "",
    licence: Licence = "not stated",
    replace: Replace = False,
    dry_run: DryRun = False,
) -> None:
    """Passages become chunks, queries questions, and judgements graded relevance. Files may be gzipped.

    Example: ragbench load beir scifact --name scifact --split test && ragbench run --dataset scifact
    """
    import re

    from ragbench import datasets

    corpus, asked, qrels = datasets.beir.files(folder, split)
    try:
        pattern = re.compile(clusters) if clusters else None
    except re.error as error:
        raise typer.BadParameter(
            f"{clusters!r} is not a regular expression: {error}", param_hint="--clusters"
        ) from None
    found = datasets.beir.read(corpus, queries or asked, qrels, clusters=pattern)
    _bring(folder.name, name, found, language, title, licence, replace, dry_run)


def _bring(
    source: str,
    name: str,
    found: tuple[list[ChunkRecord], list[QuestionRecord], dict[str, int]],
    language: str,
    title: str,
    licence: str,
    replace: bool,
    dry_run: bool,
) -> None:
    """Say what was understood and left out, and write it unless this is a dry run."""
    from ragbench import datasets, settings

    chunks, questions, left_out = found
    spoken = language or datasets.language_of(chunk.text for chunk in chunks)
    pages = {chunk.url for chunk in chunks if chunk.url}
    typer.echo(
        f"{source}: {len(chunks)} chunks{f' on {len(pages)} pages' if pages else ''}, {len(questions)} questions "
        f"({sum(not q.relevant for q in questions)} without a relevant chunk), language {spoken}"
    )
    for reason, count in left_out.items():
        typer.echo(f"left out: {count} × {reason}")
    if dry_run:
        typer.echo("nothing was written (--dry-run)")
        return
    folder = settings.project_folder() / settings.load().data_folder
    made = datasets.write(
        name,
        folder,
        title=title or name,
        licence=licence,
        source=source,
        language=spoken,
        chunks=chunks,
        questions=questions,
        replace=replace,
    )
    typer.echo(f"data set {name} is there (content hash {made.content_hash[:12]}). Next: ragbench run --dataset {name}")
