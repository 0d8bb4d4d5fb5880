"""A sample of a data set: of its questions so many, chosen by a hash of their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ragbench.old.data.folder import Dataset

Row = TypeVar("Row")
PARTS: dict[str, Callable[[Any], Hashable]] = {
    "questions": lambda question: (question.kind, question.language, question.source, question.answerable),
    "decisions": lambda decision: decision.show,
}
"""What lines of a table are drawn by in proportion: questions by their slices, decisions by their label."""


def _alike(_: Any) -> None:
    """All lines are one part."""


def drawn(
    rows: Sequence[Row], limit: int, identifier: Callable[[Row], str], part: Callable[[Row], Hashable] = _alike
) -> list[Row]:
    """So many ids of the rows with all rows of each, in their order; all where there are no more.

    The choice hangs on ids alone: it is the same for every system and every run, and a larger one holds a smaller one.
    part: from each part ids are drawn in proportion (systematic sampling in the order of the hash; Cochran 1977,
    Sampling Techniques, chapter 8); an id is in the part of its first row.
    """
    parts: dict[Hashable, dict[str, bytes]] = {}
    seen: set[str] = set()
    for row in rows:
        if (name := identifier(row)) not in seen:
            seen.add(name)
            parts.setdefault(part(row), {})[name] = hashlib.sha256(name.encode()).digest()
    if limit >= len(seen):
        return list(rows)
    ranked: list[tuple[float, bytes, str]] = []
    for own in parts.values():
        ordered = sorted(own, key=own.__getitem__)
        ranked += [((rank + 0.5) / len(own), own[name], name) for rank, name in enumerate(ordered)]
    kept = {name for _, _, name in sorted(ranked)[:limit]}
    return [row for row in rows if identifier(row) in kept]


def sample(data: Dataset, limit: int, tables: Sequence[str] = ("questions",)) -> Dataset:
    """The data set with so many lines of these tables at most; `Dataset.whole` says how many there are. Ratings are
    left of questions that are, and the knowledge base stays as it is."""
    rows: dict[str, Any] = {
        table: tuple(drawn(getattr(data, table), limit, lambda row: str(row.id), PARTS.get(table, _alike)))
        for table in tables
    }
    if "questions" in rows:
        left = {question.id for question in rows["questions"]}
        rows["ratings"] = tuple(rating for rating in data.ratings if rating.question_id in left)
    return replace(data, **rows, whole={table: len(getattr(data, table)) for table in tables})
