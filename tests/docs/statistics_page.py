"""`python -m tests.docs.statistics_page`: the tables of docs/statistics/counted/, of what was simulated."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "statistics"
SOURCES = FOLDER / "sources.md"
COUNTED = {
    "means": ("Simulated means", ("Mean of one system",)),
    "differences": ("Simulated differences", ("Two systems, paired",)),
    "families": ("Simulated sets and families", ("Measures of a set", "Families")),
    "judges": ("Simulated judges and people", ("Judges and people",)),
}
"""The title of each page of simulations, and the topics of its rows."""
SIMULATED = ROOT / "benchmarks" / "calibration" / "table.csv"

Row = Mapping[str, str]


def rows() -> list[Row]:
    """The rows of the simulation, as texts."""
    with SIMULATED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pages() -> dict[Path, str]:
    """Every page of simulations."""
    said = "[What the columns say.](../counted.md)"
    return {
        FOLDER / "counted" / f"{name}.md": f"# {title}\n\n{said}\n\n{table(topics)}"
        for name, (title, topics) in COUNTED.items()
    }


def table(topics: tuple[str, ...]) -> str:
    """The table of some topics in Markdown, a row a situation."""
    lines = [
        "| situation | n | clusters | samples | covers | level | power | without a sentence |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in (row for row in rows() if row["topic"] in topics):
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
    """The pages that state something, one after another."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.md")) if path != SOURCES)


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
