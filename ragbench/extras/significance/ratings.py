"""Who rated what, out of tables with one row a rating, and out of the files of labels that ragbench writes."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragbench.data.files import DatasetError
from ragbench.data.rows import cut
from ragbench.extras.significance.columns import Table

LABELS = {"id", "metric", "annotator", "value"}
"""Columns of the files of labels that ragbench writes; an item is what a `system` answered to a question, if named."""
Item = tuple[str, str]


@dataclass(frozen=True)
class Columns:
    """Where a rating stands; None for a column that the file's form tells.

    item, rater, value: "item", "rater" and "value", or what else the vocabulary of fields calls them; of labels "id"
    with "system", and "annotator"; without a column for raters each of
    several files is one rater's. metric: of labels on several metrics, the one that is meant.
    """

    value: str = "value"
    item: str | None = None
    rater: str | None = None
    metric: str | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Ratings:
    """Who gave which rating to what.

    items, raters: sorted, so that no number depends on the order of rows; raters of an earlier file come first.
    given: the rating of each pair, None where the cell is empty. groups: one label an item, None without a column.
    folded: by class the spellings that are one, where there are several: case and white space make no class.
    """

    items: Sequence[Item]
    raters: Sequence[str]
    given: Mapping[tuple[Item, str], Any]
    groups: Sequence[str | None] | None
    folded: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def rows(self, raters: Sequence[str]) -> list[list[Any]]:
        """(items, raters), None for a rating that was not made."""
        return [[self.given.get((item, rater)) for rater in raters] for item in self.items]

    @classmethod
    def read(
        cls, paths: Sequence[Path], columns: Columns, *, numeric: bool, categories: Sequence[Any] | None
    ) -> Ratings:
        """The ratings of all files together.

        numeric: ratings are finite numbers, else texts; categories: the only legal ones. Texts that differ in case,
        white space or Unicode's ways of writing a letter are one class, written as its category is, else as it is
        written most often. Raises DatasetError naming
        file, row, column and cell: for another rating, one without item or rater, one of a pair that has one, an item
        in two groups, and labels on several metrics of which none was named.
        """
        found = [_file(Table.read(path), columns, numeric, categories, alone=len(paths) == 1) for path in paths]
        given: dict[tuple[Item, str], Any] = {}
        places: dict[tuple[Item, str], str] = {}
        groups: dict[Item, str] = {}
        raters: dict[str, tuple[int, str]] = {}
        for number, file in enumerate(found):
            for place, item, rater, cell, group in file:
                key = item, rater
                if key in given:
                    raise DatasetError(
                        f"{place}: {rater!r} rates {_shown(item)!r} a second time, after {places[key]}; keep one row"
                    )
                given[key], places[key] = cell, place
                raters.setdefault(rater, (number, rater))
                if group is not None and groups.setdefault(item, group) != group:
                    raise DatasetError(
                        f"{place}, {columns.cluster} = {cut(group)}: {_shown(item)!r} is in {groups[item]!r} "
                        "elsewhere; an item belongs to one group"
                    )
        items = sorted({item for item, _ in given})
        spelled = {} if numeric else _spelled([cell for cell in given.values() if cell is not None], categories)
        folded: dict[str, list[str]] = {}
        for spelling, chosen in spelled.items():
            folded.setdefault(chosen, []).append(spelling)
        return cls(
            items,
            sorted(raters, key=lambda name: raters[name]),
            {key: spelled.get(cell, cell) for key, cell in given.items()},
            [groups.get(item) for item in items] if columns.cluster else None,
            {chosen: sorted(own) for chosen, own in sorted(folded.items()) if len(own) > 1},
        )


def plain(label: str) -> str:
    """What two spellings of one class have in common: neither case, white space nor a way of writing a letter."""
    return " ".join(unicodedata.normalize("NFKC", label).split()).casefold()


def _spelled(cells: Sequence[str], categories: Sequence[str] | None) -> dict[str, str]:
    """By spelling how its class is written: as the category, else as most often, and of those the first by alphabet."""
    counts = Counter(cells)
    known = {plain(one): one for one in reversed(categories or ())}
    for cell in sorted(counts, key=lambda one: (-counts[one], one)):
        known.setdefault(plain(cell), cell)
    return {cell: known[plain(cell)] for cell in sorted(counts)}


def _file(
    table: Table, columns: Columns, numeric: bool, categories: Sequence[Any] | None, *, alone: bool
) -> list[tuple[str, Item, str, Any, str | None]]:
    """Place, item, rater, rating and group of each row."""
    is_labels = "item" not in table.columns and set(table.columns) >= LABELS
    item = columns.item or ("id" if is_labels else "item" if "item" in table.columns else table.called("id"))
    rater = columns.rater or ("annotator" if is_labels else table.called("rater"))
    value = columns.value if columns.value in table.columns or columns.value != "value" else table.called("value")
    is_file = columns.rater is None and not alone and rater not in table.columns
    wanted = [item, value, *([] if is_file else [rater]), *filter(None, [columns.metric and "metric"])]
    table.require([*wanted, *([columns.cluster] if columns.cluster else [])])
    nothing = [None] * len(table.rows)
    items, systems = table.labels(item), table.labels("system") if is_labels and columns.item is None else nothing
    people = [table.name] * len(table.rows) if is_file else table.labels(rater)
    groups = table.labels(columns.cluster) if columns.cluster else nothing
    cells = _cells(table, value, numeric, categories)
    found = []
    for row in _of_metric(table, columns.metric) if is_labels or columns.metric else range(len(table.rows)):
        one, who = items[row], people[row]
        if one is None or who is None:
            raise DatasetError(
                f"{table.places[row]}, {item if one is None else rater}: is empty; every rating has an item and a rater"
            )
        found.append((table.places[row], (one, systems[row] or ""), who, cells[row], groups[row]))
    return found


def _of_metric(table: Table, metric: str | None) -> list[int]:
    """The rows of labels on one metric, the only one where none is named."""
    named = table.labels("metric")
    legal = sorted(set(filter(None, named)))
    if metric is None and len(legal) > 1:
        raise DatasetError(f"{table.path}: holds labels on {', '.join(legal)}; name one with --metric")
    if metric is not None and metric not in legal:
        raise DatasetError(f"{table.path}: --metric {metric}: its labels are on {', '.join(legal)}")
    return [row for row, name in enumerate(named) if metric is None or name == metric]


def _cells(table: Table, column: str, numeric: bool, categories: Sequence[Any] | None) -> list[Any]:
    """The ratings; None where none was made."""
    cells: list[Any] = list(table.labels(column))
    if numeric:
        cells = [None if math.isnan(number) else number for number in table.numbers(column).tolist()]
    if categories is None:
        return cells
    legal = set(categories) if numeric else {plain(one) for one in categories}
    for place, cell in zip(table.places, cells, strict=True):
        if cell is not None and (cell if numeric else plain(cell)) not in legal:
            said = cut(cell if isinstance(cell, str) else f"{cell:g}")
            expected = ", ".join(one if isinstance(one, str) else f"{one:g}" for one in categories)
            raise DatasetError(f"{place}, {column} = {said}: one of {expected} is expected")
    return cells


def _shown(item: Item) -> str:
    return " ".join(filter(None, item))
