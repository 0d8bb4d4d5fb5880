"""Options that several commands share: one word, one meaning, everywhere."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ragbench.core.errors import BenchError

MORE = "More options"

Metrics = Annotated[
    list[str],
    typer.Option("--metrics", "--metric", "-m", help="Metrics, repeated or comma-separated."),
]
Systems = Annotated[
    list[str],
    typer.Option("--systems", "--system", "-s", help="Systems, repeated or comma-separated."),
]
Judges = Annotated[
    list[str],
    typer.Option("--judges", "--judge", "-j", help="Judges of ragbench.toml, or lexical."),
]
DatasetName = Annotated[
    str, typer.Option("--dataset", "-d", help="Data set: a name, NAME:ru, a folder, db:NAME.")
]
LanguageCode = Annotated[
    str,
    typer.Option("--language", "-l", help="Of pages and texts: en, ru.", rich_help_panel=MORE),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for the page and its data.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write all numbers to a file; - prints.")]
Latex = Annotated[Path | None, typer.Option("--latex", help="Write the table for a paper.")]
Columns = Annotated[
    list[str], typer.Option("--column", "-c", help="FIELD=COLUMN: answer=bot_answer. Repeat it.")
]
Baseline = Annotated[str, typer.Option("--baseline", help="What the others are compared with.")]
Primary = Annotated[str, typer.Option("--primary", help="The metric that answers.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="A sample of so many questions.")]
Plan = Annotated[bool, typer.Option("--plan", help="Say what models would cost; ask nobody.")]
Embedder = Annotated[
    str, typer.Option("--embedder", help="Embedder of ragbench.toml.", rich_help_panel=MORE)
]
Confidence = Annotated[
    float,
    typer.Option(
        "--confidence", min=0.51, max=0.999, help="Level of the intervals.", rich_help_panel=MORE
    ),
]
Draws = Annotated[
    int, typer.Option("--draws", min=1_000, help="Of every resampling.", rich_help_panel=MORE)
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Of every random draw.", rich_help_panel=MORE)
]


def split_list(values: Sequence[str] | str) -> list[str]:
    """Return the entries of a list that is repeated, comma-separated, or both.

    Commas within brackets belong to an entry: `ndcg(gain=exponential,level=2)@10`.
    """
    import re

    texts = [values] if isinstance(values, str) else values
    entries = [part.strip() for text in texts for part in re.split(r",(?![^(]*\))", text)]
    return [entry for entry in entries if entry]


def read_columns(entries: Sequence[str]) -> dict[str, str]:
    """Return field → column of `--column answer=bot_answer`."""
    columns = {}
    for entry in split_list(entries):
        field, sign, column = entry.partition("=")
        if not sign or not field.strip() or not column.strip():
            raise BenchError(f"--column {entry}: write FIELD=COLUMN, such as answer=bot_answer")
        columns[field.strip()] = column.strip()
    return columns


def load_annex(name: str) -> Any:
    """Import a module of `ragbench.extras`. Raises BenchError where that annex was taken off."""
    try:
        return importlib.import_module(f"ragbench.extras.{name}")
    except ModuleNotFoundError:
        raise BenchError(f"this needs the annex extras/{name}, which is not installed") from None
