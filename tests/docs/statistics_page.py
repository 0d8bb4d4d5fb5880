"""`python -m tests.docs.statistics_page`: the table at the end of docs/statistics.md, of what was simulated."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "statistics.md"
SIMULATED = ROOT / "benchmarks" / "calibration" / "table.csv"

Row = Mapping[str, str]


def rows() -> list[Row]:
    """The rows of the simulation, as texts."""
    with SIMULATED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table() -> str:
    """The table in Markdown, a row a situation."""
    lines = [
        "| situation | n | clusters | samples | covers | level | power | without a sentence |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows():
        level = _both(row, "level") or _both(row, "family")
        cells = (row["cell"], row["n"], row["clusters"], row["simulations"])
        lines.append(f"| {' | '.join((*cells, _both(row, 'coverage'), level, _both(row, 'power'), _alone(row)))} |")
    return "\n".join(lines) + "\n"


def _alone(row: Row) -> str:
    return f"{float(row['unwarned']):.3f}" if row["unwarned"] else ""


def _both(row: Row, quantity: str) -> str:
    own, textbook = row[quantity], row[f"textbook_{quantity}"]
    if not own:
        return ""
    return f"{float(own):.3f} ({float(textbook):.3f})" if textbook else f"{float(own):.3f}"


def statements() -> str:
    """The page without its table."""
    text = PAGE.read_text(encoding="utf-8")
    return text[: text.index("| situation |")] if "| situation |" in text else text


if __name__ == "__main__":
    PAGE.write_text(statements() + table(), encoding="utf-8")
