"""What commands print and write: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.secrets import visible

if TYPE_CHECKING:
    from ragbench.llm.types import Plan


def write_json(target: Path, content: Any) -> None:
    """Write JSON to a file, or to the screen for "-"; a missing number is null."""
    text = json.dumps(plain(content), ensure_ascii=False, indent=1, allow_nan=False)
    if str(target) == "-":
        print(text)
    else:
        write_text(target, f"{text}\n")


def write_text(target: Path, text: str) -> None:
    """Write a file, whole or not at all. Raises BenchError where it cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f"{target.name}.new")
        beside.write_text(text, encoding="utf-8")
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
    print(visible(text), file=sys.stderr)


def print_frame(frame: pd.DataFrame) -> None:
    """Print a frame of ready texts as a table, which fits the terminal if there is one."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in frame.columns:
        table.add_column(str(name), justify="left" if name == frame.columns[0] else "right")
    for row in frame.itertuples(index=False):
        table.add_row(*[Text(visible(cell)) for cell in row])
    # A pipe and a file have no width that a table could have to fit.
    Console(width=None if sys.stdout.isatty() else sys.maxsize).print(table)


def print_plans(plans: Sequence[Plan]) -> None:
    """Print what each model would be asked, and what that costs."""
    rows = []
    for plan in plans:
        cost = "unknown" if math.isnan(plan.cost) else f"{plan.cost:,.4f}"
        tokens = [f"{plan.tokens_in:,.0f}", f"{plan.tokens_out:,.0f}"]
        rows.append((plan.name, f"{plan.calls:,}", f"{plan.journaled:,}", *tokens, cost))
    if not rows:
        print("no model would be asked")
        return
    columns = ["model", "calls", "kept replies", "tokens in", "tokens out", "cost"]
    print_frame(pd.DataFrame(rows, columns=columns))
    if any(math.isnan(plan.cost) for plan in plans):
        say("input_price and output_price of a model (money per million tokens) tell its cost")
    say("nobody was asked; kept replies are paid for already")


def deliver(result: Any, *, out: Path | None, json_file: Path | None, latex: Path | None) -> None:
    """Print a result; write its page, its numbers and its table where they are wanted."""
    from ragbench.views import comparison

    for note in result.about.notes:
        say(note)
    print(visible(result))
    warning = comparison.stand_ins(result)
    if warning is not None:
        print(f"\n{warning}")
    if json_file is not None:
        names = ("estimates", "comparisons", "scores")
        write_json(json_file, {name: getattr(result, name) for name in names})
    if latex is not None:
        write_text(latex, result.to_latex())
    if out is not None:
        print(result.save(out))
