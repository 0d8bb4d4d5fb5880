"""What the table of a page's items is asked for by links from other views: its rows, its columns, what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.metrics.cache import Serving
from ragbench.metrics.decisions import Cell
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean

PASSAGE, PAGE = "passage", "page"
SERVINGS = (Serving.WRONG, Serving.DOUBTFUL, Serving.UNKNOWN, Serving.RIGHT)
"""What a served answer can be, the worst first; what is not served comes after all of them."""
OUTCOMES = (
    Cell.FALSE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE, Cell.TRUE_NEGATIVE,
    Cell.TRUE_POSITIVE,
)  # fmt: skip
"""How a decision can fall, the worst first."""
SHARES = ("decision_cost", "balanced_accuracy", "accuracy", "decision_precision", "decision_recall", "f1_score")
CACHE = ("cache_hit_rate", "wrong_hit_rate")
DIALOGUE = ("context_preservation", "multi_turn_consistency", "answer_consistency")
MEASURES: Mapping[str, tuple[str, ...]] = {
    "decisions": (*SHARES, "avg_latency_ms"),
    "dialogues": (*CACHE, *DIALOGUE),
    "judges": ("consistency_score", "error_rate"),
    "sources": ("utilization_rate", "total_chunks", "used_chunks", "unused_chunks"),
}
"""By what a page describes: its measures whose numbers are made of its items."""


def kind_of(material: Material) -> str:
    """What the page's items are: decisions, dialogues, judges' answers, sources; questions of any other."""
    return "decisions" if material.facts.get("describes_decisions") else str(material.facts.get("describes") or "")


def has_items(material: Material, metric: str) -> bool:
    """Whether a measure's number is made of values of single items, or questions, that a table of them shows."""
    return metric in MEASURES.get(kind_of(material), material.scored)


def served_link(serving: Serving) -> str:
    """What the column of servings is narrowed to for one of them."""
    return f"={SERVINGS.index(serving)}"


def cell_link(place: Cell) -> str:
    """What the column of outcomes is narrowed to for one cell of the matrix."""
    return f"={OUTCOMES.index(place)}"


def page_id(url: Any) -> str:
    """The id of a page's row."""
    return f"{PAGE}.{clean(url)}"
