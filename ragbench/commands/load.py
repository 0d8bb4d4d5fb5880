"""`ragbench load`: bring data that others wrote into data/, checked as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

application = typer.Typer(help="Bring a data set in from a file of another format.", no_args_is_help=True)

Name = Annotated[str, typer.Option("--name", "-n", help="Its name from now on: small letters, digits, dashes.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a data set of that name.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was understood and left out; write nothing.")]
Lang = Annotated[str, typer.Option("--language", "-l", help="Language of the texts, en or ru; else found out.")]


@application.command("squad")
def squad(
    file: Annotated[Path, typer.Argument(help="SQuAD 1.1 or 2.0 JSON, plain or gzipped.")],
    name: Name,
    language: Lang = "",
    title: Annotated[str, typer.Option(help="What pages call it; the name where not given.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the texts, shown on every page.")] = "not stated",
    replace: Replace = False,
    dry_run: DryRun = False,
) -> None:
    """Paragraphs become chunks, articles pages, and each question keeps the paragraph it was written for.

    Example: ragbench load squad xquad.ru.json.gz --name xquad-ru && ragbench run --dataset xquad-ru
    """
    from ragbench import datasets, settings

    chunks, questions, left_out = datasets.squad.read(file)
    spoken = language or datasets.language_of(chunk.text for chunk in chunks)
    typer.echo(
        f"{file.name}: {len(chunks)} chunks on {len({chunk.url for chunk in chunks})} pages, "
        f"{len(questions)} questions ({sum(not q.relevant for q in questions)} without an answer), language {spoken}"
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
        source=file.name,
        language=spoken,
        chunks=chunks,
        questions=questions,
        replace=replace,
    )
    typer.echo(f"data set {name} is there (content hash {made.content_hash[:12]}). Next: ragbench run --dataset {name}")
