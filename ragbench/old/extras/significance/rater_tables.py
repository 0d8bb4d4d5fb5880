"""Tables that people bring, read by column, every fault with its cell's place; and who rated what, out of them."""

from __future__ import annotations

import decimal as decimals
import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core.names import meant
from ragbench.old.data.cells import decimal, missing, plain, verdict
from ragbench.old.data.columns import Columns as Fields
from ragbench.old.data.files import PACKINGS, DatasetError, LeftOut, cut, cut_list
from ragbench.old.data.rows import TABLES, read_rows, without_totals
from ragbench.old.data.vocabulary import field_of, format_of, is_content, raters_of

if TYPE_CHECKING:
    from ragbench.old.core.types import Array


LABELS = {"id", "metric", "annotator", "value"}
"""Columns of the files of labels that ragbench writes; an item is what a `system` answered to a question, if named."""
Item = tuple[str, str]
OPTIONS = "--item COLUMN --rater COLUMN --value COLUMN"
MOST_CLASSES, LONGEST_LABEL = 12, 40  # of a column that is taken for a rater's unasked


@dataclass(frozen=True)
class Columns:
    """Where a rating stands; None for a column that the file's form tells.

    item, rater, value: "item", "rater" and "value", or what else the vocabulary of fields calls them; of labels "id"
    with "system", and "annotator"; without a column for raters each of several files is one rater's. metric: of labels
    on several metrics, the one that is meant. raters: of a table with a column a rater, their columns; where none are
    named, two columns of the same classes are taken for them.
    """

    value: str = "value"
    item: str | None = None
    rater: str | None = None
    metric: str | None = None
    cluster: str | None = None
    raters: Sequence[str] = ()


@dataclass(frozen=True)
class Ratings:
    """Who gave which rating to what.

    items, raters: sorted, so that no number depends on the order of rows; raters of an earlier file, and of columns the
    one that is named first, come first.
    given: the rating of each pair, None where the cell is empty. groups: one label an item, None without a column.
    folded: by class the spellings that are one, where there are several: case and white space make no class, and where
    all of them say yes or no, neither do language and figures. wide: the columns that were taken for raters unasked.
    left_out: rows that hold no ratings.
    """

    items: Sequence[Item]
    raters: Sequence[str]
    given: Mapping[tuple[Item, str], Any]
    groups: Sequence[str | None] | None
    folded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wide: Sequence[str] = ()
    left_out: LeftOut = field(default_factory=LeftOut)

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
        written most often; so are yes, да, 1 and true where all ratings say yes or no. Raises DatasetError naming file,
        row, column and cell: for another rating, one without item or rater, one of a pair that has one, an item in two
        groups, labels on several metrics of which none was named, and a table whose raters nothing tells.
        """
        tables, left_out = [Table.read(path) for path in paths], LeftOut()
        for table in tables:
            left_out.join(table.left_out)
        if columns == Columns(cluster=columns.cluster):
            tables = [table.of_people() for table in tables]
        wide = {} if columns.rater else {table.path: _wide(table, columns) for table in tables}
        files = [
            list(_of_columns(table, wide[table.path], columns, numeric, categories))
            if wide.get(table.path)
            else _file(table, columns, numeric, categories, alone=len(paths) == 1)
            for table in tables
        ]
        given: dict[tuple[Item, str], Any] = {}
        places: dict[tuple[Item, str], str] = {}
        groups: dict[Item, str] = {}
        raters: dict[str, tuple[int, int, str]] = {}
        for number, file in enumerate(files):
            for place, item, rater, cell, group in file:
                key = item, rater
                if key in given:
                    raise DatasetError(
                        f"{place}: {rater!r} rates {_shown(item)!r} a second time, after {places[key]}; keep one row"
                    )
                given[key], places[key] = cell, place
                named = wide.get(paths[number]) or [rater]
                raters.setdefault(rater, (number, named.index(rater), rater))
                if group is not None and groups.setdefault(item, group) != group:
                    raise DatasetError(
                        f"{place}, {columns.cluster} = {cut(group)}: {_shown(item)!r} is in {groups[item]!r} "
                        "elsewhere; an item belongs to one group"
                    )
        items = sorted({item for item, _ in given})
        spelled = {} if numeric else _spelled(given, categories)
        folded: dict[str, list[str]] = {}
        _require_common(paths[0], given, spelled)
        for spelling, chosen in spelled.items():
            folded.setdefault(chosen, []).append(spelling)
        return cls(
            items,
            sorted(raters, key=lambda name: raters[name]),
            {key: spelled.get(cell, cell) for key, cell in given.items()},
            [groups.get(item) for item in items] if columns.cluster else None,
            {chosen: sorted(own) for chosen, own in sorted(folded.items()) if len(own) > 1},
            () if columns.raters else tuple(dict.fromkeys(name for own in wide.values() for name in own)),
            left_out,
        )


def plain_label(label: str) -> str:
    """What two spellings of one class have in common: neither case, white space nor a way of writing a letter."""
    return " ".join(unicodedata.normalize("NFKC", label).split()).casefold()


def _spelled(given: Mapping[tuple[Item, str], Any], categories: Sequence[str] | None) -> dict[str, str]:
    """By spelling how its class is written: as the category, else as most often, and of those the first by alphabet."""
    counts = Counter(cell for cell in given.values() if cell is not None)
    by_rater: dict[str, set[str]] = {}
    for (_, rater), cell in given.items():
        by_rater.setdefault(rater, set()).update([] if cell is None else [cell])
    of = _classes(categories or (), *by_rater.values())
    known = {of[category]: category for category in reversed(categories or ())}
    for cell in sorted(counts, key=lambda spelling: (-counts[spelling], spelling)):
        known.setdefault(of[cell], cell)
    return {cell: known[of[cell]] for cell in sorted(counts)}


_SIGNS = "01.,+-–−✓✔✅☑✗✘❌👍👎"
_PLAIN = {"yes", "no", "y", "n", "true", "false", "t", "f", "да", "нет"}


def _classes(*by_rater: Collection[str]) -> dict[str, str]:
    """By label its class: yes or no where both are said and no number from 2 stands beside, and nobody has two other
    words of one language for one of them, as incorrect and irrelevant are; else its plain form."""
    folded = {label: _plain_number(label) or plain_label(label) for labels in by_rater for label in labels}
    said = {label: "yes" if is_yes else "no" for label in folded if (is_yes := verdict(label)) is not None}
    own = ({folded[label]: said[label] for label in labels if label in said} for labels in by_rater)
    words = (
        Counter((is_yes, word.isascii()) for word, is_yes in each.items() if word not in _PLAIN and word.strip(_SIGNS))
        for each in own
    )
    is_apart = any(count > 1 for each in words for count in each.values())
    is_of_both = len({*said.values()}) == 2 and not any(map(_is_number, folded.keys() - said.keys()))
    return {**folded, **said} if is_of_both and not is_apart else folded


def _plain_number(label: str) -> str:
    """A number however it is written, 0,5 and 1.0 too; empty for anything else."""
    with suppress(ValueError):
        decimal(label)  # whether it is one
        digits = decimals.Context(prec=len(label))  # all of them: two long codes are two classes
        return str(decimals.Decimal(label.strip().replace(",", ".")).normalize(digits))
    return ""


def _require_common(path: Path, given: Mapping[tuple[Item, str], Any], spelled: Mapping[str, str]) -> None:
    """Raises DatasetError for a rater of several classes who shares none with anybody: they are spelled otherwise."""
    said: dict[str, set[str]] = {}
    for (_, rater), cell in given.items():
        if cell in spelled:
            said.setdefault(rater, set()).add(spelled[cell])
    for rater, own in said.items():
        others = {other: classes for other, classes in said.items() if other != rater and len(classes) > 1}
        if len(own) > 1 and others and not any(own & classes for classes in others.values()):
            other, classes = next(iter(others.items()))
            raise DatasetError(
                f"{path}: {rater} gives {cut_list(sorted(own))}, and {other} {cut_list(sorted(classes))}: no class is "
                "common; spell both as one, such as yes and no, or 1 and 0"
            )


def _wide(table: Table, columns: Columns) -> Sequence[str]:
    """The columns of a table with a column a rater: those named, else two that hold the same few classes; none where
    the table has one row a rating."""
    if columns.raters:
        table.require(columns.raters)
        return columns.raters
    if columns.value != Columns.value:
        table.require([columns.value])
    is_long = {table.called("rater"), table.called("value")} <= {*table.columns}
    if columns.value == Columns.value in table.columns or is_long or columns.metric:
        return ()
    if columns.value == Columns.value and len(people := raters_of(table.columns)) > 1:
        return people
    own = {columns.item or _item(table), columns.cluster}
    may_be = [name for name in table.columns if field_of(name) in ("", "value", "rater", "system")]
    others = [name for name in may_be if name not in own and not is_content(name)]
    held = {name: classes for name in others if (classes := _few(table, name))}
    named = columns.value if columns.value in held else None
    against = {name: [named] if named not in (None, name) else [*held] for name in held}
    alike = [name for name in held if any(held[name] & held[other] for other in against[name] if other != name)]
    if len(alike) == 2:
        return sorted(alike, key=lambda name: name != named)
    value = columns.value if columns.value in table.columns else table.called("value")
    if not set(table.columns) >= {_item(table), value}:
        named_so = ",".join(alike) or "COLUMN,COLUMN"
        raise DatasetError(
            f"{table.path}: has no column rater; it has {cut_list(table.columns)}. One row a rating has item, rater "
            f"and value, {OPTIONS}; of a table with a column a rater name these, --raters {named_so}"
        )
    return ()


def _few(table: Table, column: str) -> set[str]:
    """The classes of a column that may be a rater's; none where it holds many values, or texts."""
    cells = {plain_label(str(row[column])) for row in table.rows if not missing(row.get(column))} - {""}
    if len(cells) > MOST_CLASSES or any(len(cell) > LONGEST_LABEL for cell in cells):
        return set()
    return set(_classes(cells).values())


def _item(table: Table) -> str | None:
    """The column that names what was rated, by its name; None: the rows are numbered."""
    return "item" if "item" in table.columns else name if (name := table.called("id")) in table.columns else None


def _of_columns(
    table: Table, raters: Sequence[str], columns: Columns, numeric: bool, categories: Sequence[Any] | None
) -> Iterator[tuple[str, Item, str, Any, str | None]]:
    """The same as `_file` of a table with a column a rater."""
    named = columns.item or _item(table)
    table.require([*filter(None, [columns.item, columns.cluster])])
    items = table.labels(named) if named else [str(row) for row in range(1, len(table.rows) + 1)]
    groups = table.labels(columns.cluster) if columns.cluster else [None] * len(items)
    systems = _systems(table, columns, raters)
    for rater in raters:
        cells = _cells(table, rater, numeric, categories)
        for place, item, system, cell, group in zip(table.places, items, systems, cells, groups, strict=True):
            if item is None:
                raise DatasetError(f"{place}, {named}: is empty; every rating has an item")
            yield f"{place}, {rater}", (item, system or ""), rater, cell, group


def _systems(table: Table, columns: Columns, raters: Sequence[str] = ()) -> list[str | None]:
    """Whose answer each row rates, where a column that is no rater's says so and nobody named that with the items."""
    name = table.called("system")
    is_told = columns.item is None and name in table.columns and name not in raters
    return table.labels(name) if is_told else [None] * len(table.rows)


def _file(
    table: Table, columns: Columns, numeric: bool, categories: Sequence[Any] | None, *, alone: bool
) -> list[tuple[str, Item, str, Any, str | None]]:
    """Place, item, rater, rating and group of each row."""
    is_labels = "item" not in table.columns and set(table.columns) >= LABELS
    item = columns.item or ("id" if is_labels else _item(table) or "item")
    rater = columns.rater or ("annotator" if is_labels else table.called("rater"))
    value = columns.value if columns.value in table.columns or columns.value != "value" else table.called("value")
    is_file = columns.rater is None and not alone and rater not in table.columns
    wanted = [item, value, *([] if is_file else [rater]), *filter(None, [columns.metric and "metric"])]
    table.require([*wanted, *([columns.cluster] if columns.cluster else [])], f"; which are they? {OPTIONS}")
    nothing = [None] * len(table.rows)
    items, systems = table.labels(item), _systems(table, columns) if item != "item" else nothing
    people = [table.name] * len(table.rows) if is_file else table.labels(rater)
    groups = table.labels(columns.cluster) if columns.cluster else nothing
    cells = _cells(table, value, numeric, categories)
    ratings = []
    for row in _of_metric(table, columns.metric) if is_labels or columns.metric else range(len(table.rows)):
        rated, who = items[row], people[row]
        if rated is None or who is None:
            raise DatasetError(
                f"{table.places[row]}, {item if rated is None else rater}: is empty; "
                "every rating has an item and a rater"
            )
        ratings.append((table.places[row], (rated, systems[row] or ""), who, cells[row], groups[row]))
    return ratings


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
    known = {} if numeric else _classes({*categories, *filter(None, cells)})
    legal = set(categories) if numeric else {known[category] for category in categories}
    for place, cell in zip(table.places, cells, strict=True):
        if cell is not None and (cell if numeric else known[cell]) not in legal:
            said = cut(cell if isinstance(cell, str) else f"{cell:g}")
            expected = ", ".join(category if isinstance(category, str) else f"{category:g}" for category in categories)
            raise DatasetError(f"{place}, {column} = {said}: one of {expected} is expected")
    return cells


def _shown(item: Item) -> str:
    return " ".join(filter(None, item))


LARGEST = 1e30
"""Of a value: a number that nobody can mean overflows in sums of powers."""
NOT_MEASURED = {"nan", "na", "n/a", "null", "none"}
ENDINGS = {*PACKINGS, *TABLES} - {""}


@dataclass(frozen=True)
class Table:
    """The rows of a file that hold anything, each with its place.

    columns: by their first place in any row, so that they do not depend on the order of the rows. left_out: rows that
    hold no ratings.
    """

    path: Path
    places: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]
    left_out: LeftOut = field(default_factory=LeftOut)

    @classmethod
    def read(cls, path: Path) -> Table:
        """A table as `ragbench.old.data.rows` reads it, without rows of totals. Raises DatasetError for what cannot be
        read, or no rows."""
        left_out = LeftOut()
        placed_rows = [
            (
                place,
                {**row, **{name: cell for own in row.values() if isinstance(own, dict) for name, cell in own.items()}},
            )
            for place, row in without_totals(read_rows(path, keep_empty=True), left_out)
            if not all(map(_blank, row.values()))
        ]
        if not placed_rows:
            raise DatasetError(f"{path}: holds no rows; a header and at least one row are expected")
        first: dict[str, int] = {}
        for _, row in placed_rows:
            for number, name in enumerate(row):
                first[name] = min(number, first.get(name, number))
        columns = sorted(first, key=lambda name: (first[name], name))
        return cls(path, [place for place, _ in placed_rows], [row for _, row in placed_rows], columns, left_out)

    def of_people(self) -> Table:
        """The ratings in it, a row each, where its known format says who gave what; else the table as it is."""
        layout = format_of(self.rows[0])
        if layout is None or not {"verdict", "rater"} & layout.holds.keys() | {"value"} & {*layout.takes.values()}:
            return self
        known, placed = Fields(only=("id", "user_input", "response", "rater", "value")), []
        for place, row in zip(self.places, self.rows, strict=True):
            own = known.of(row, place)
            item = own.get("id", f"{own.get('user_input')} {own.get('response')}")
            given = own["value"] if isinstance(own.get("value"), Mapping) else {own.get("rater"): own.get("value")}
            placed += [(place, {"item": item, "rater": who, "value": said}) for who, said in given.items() if who]
        columns = ("item", "rater", "value")
        return Table(self.path, [place for place, _ in placed], [row for _, row in placed], columns) if placed else self

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        name = self.path
        while name.suffix.lower() in ENDINGS:
            name = name.with_suffix("")
        return name.name

    def require(self, names: Sequence[str], how: str = "") -> None:
        """Raises DatasetError for a column that there is not, with those there are. how: else, what says which is."""
        if missing := [name for name in names if name not in self.columns]:
            near = meant(missing[0], list(self.columns)) if len(missing) == 1 else ""
            raise DatasetError(
                f"{self.path}: has no column {', '.join(missing)}; it has {cut_list(self.columns)}{near or how}"
            )

    def called(self, field: str) -> str:
        """The column that is this field of the vocabulary, one with the field's own name first; its name if none is."""
        there = [name for name in self.columns if field_of(name) == field]
        return min(there, key=lambda name: name != field, default=field)

    def labels(self, column: str) -> list[str | None]:
        """Texts, whole numbers as their digits (7.0 too); None for an empty cell."""
        return [
            _label(row.get(column), f"{place}, {column}") for place, row in zip(self.places, self.rows, strict=True)
        ]

    def numbers(self, column: str) -> Array:
        """Finite numbers, words for yes and no as 1 and 0; NaN for nothing measured. DatasetError for other cells."""
        import numpy as np

        cells = zip(self.places, self.rows, strict=True)
        return np.array([_number(row.get(column), f"{place}, {column}") for place, row in cells])

    def keys(self, column: str) -> dict[str, int]:
        """The row of each name in a column. Raises DatasetError for an empty name and for one that stands twice."""
        row_by_name: dict[str, int] = {}
        for row, name in enumerate(self.labels(column)):
            if name is None:
                raise DatasetError(f"{self.places[row]}, {column}: is empty; every row needs its name")
            if name in row_by_name:
                raise DatasetError(
                    f"{self.places[row]}, {column} = {cut(name)}: stands in "
                    f"{self.places[row_by_name[name]]} too; keep one"
                )
            row_by_name[name] = row
        return row_by_name


def numbers_of_both(first: Table, second: Table, taken: Collection[str | None]) -> tuple[list[str], dict[str, str]]:
    """The columns of numbers of two tables, and every other column with the reason. Raises DatasetError for no column.

    taken: columns that hold something else.
    """
    numeric, left_out = [], {}
    for name in [*first.columns, *(name for name in second.columns if name not in first.columns)]:
        if name not in taken:
            faults = [fault for table in (first, second) if (fault := _no_numbers(table, name))]
            faults += ["what was asked or said is no score"] if is_content(name) else []
            if faults:
                left_out[name] = "; ".join(faults)
            else:
                numeric.append(name)
    if not numeric:
        shared = [name for name in first.columns if name in second.columns and name not in taken]
        raise DatasetError(
            f"{first.path} and {second.path} share no column of numbers; shared: {', '.join(shared) or 'none'}"
        )
    return numeric, left_out


def _no_numbers(table: Table, column: str) -> str:
    """Why a column is none of numbers, whatever the order of the rows; empty if it is one."""
    if column not in table.columns:
        return f"{table.path} has no such column"
    others = sorted(cut(row[column]) for row in table.rows if column in row and not _is_number(row[column]))
    return (
        f"{table.path} has no number in {len(others)} of {len(table.rows)} rows, such as {others[0]}" if others else ""
    )


def _is_number(cell: Any) -> bool:
    try:
        _number(cell, "")
    except DatasetError:
        return False
    return True


def _blank(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _label(cell: Any, place: str) -> str | None:
    if _blank(cell) or missing(cell):
        return None
    if isinstance(cell, list | dict):
        raise DatasetError(f"{place} = {cut(cell)}: a text or a number is expected")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return plain(str(cell).strip())


def _number(cell: Any, place: str) -> float:
    if _blank(cell):
        return math.nan
    value = math.inf
    try:
        if not isinstance(cell, str):
            value = float(cell)
        elif (text := cell.strip().casefold()) in NOT_MEASURED:
            return math.nan
        elif "_" not in text:
            said = verdict(text) if text.isalpha() else None  # a dash may stand for what was not measured
            value = decimal(text) if said is None else float(said)
    except (TypeError, ValueError, OverflowError):
        pass
    if not abs(value) <= LARGEST:
        raise DatasetError(
            f"{place} = {cut(cell)}: a finite number is expected, {LARGEST:g} at most; "
            "leave the cell empty where nothing was measured"
        )
    return value
