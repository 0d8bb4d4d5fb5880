"""What commands print and write: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from ragbench.core.errors import BenchError


def write_json(target: Path, content: Any) -> None:
    """Write JSON to a file, or to the screen for "-"; a missing number is null."""
    text = json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False)
    if str(target) == "-":
        print(text)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f"{target.name}.new")
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        raise BenchError(f"{target} cannot be written: {error}") from None


def plain(value: Any) -> Any:
    """Return what JSON knows: lists of rows for a frame, null for NaN."""
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def say(text: str) -> None:
    """Print a remark to standard error, where it disturbs no pipe."""
    print(text, file=sys.stderr)


def print_frame(frame: pd.DataFrame) -> None:
    """Print a frame of ready texts as a table that fits the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in frame.columns:
        table.add_column(str(name), justify="left" if name == frame.columns[0] else "right")
    for row in frame.itertuples(index=False):
        table.add_row(*[Text(str(cell)) for cell in row])
    Console().print(table)


def deliver(result: Any, *, out: Path | None, json_file: Path | None, latex: Path | None) -> None:
    """Print a result; write its page, its numbers and its table where they are wanted."""
    for note in result.about.notes:
        say(note)
    print(result)
    if json_file is not None:
        content = {"estimates": result.estimates, "comparisons": result.comparisons}
        write_json(json_file, content)
    if latex is not None:
        latex.parent.mkdir(parents=True, exist_ok=True)
        latex.write_text(result.to_latex(), encoding="utf-8")
    if out is not None:
        print(result.save(out))
