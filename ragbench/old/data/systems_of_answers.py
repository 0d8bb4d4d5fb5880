"""Answers of several systems: in a table each, called as its file or as its user says, and paired by their question."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.old.core.types import Sample
from ragbench.old.data.cells import blank, is_frame, is_text, missing, opened
from ragbench.old.data.files import MAX_COLUMNS, DatasetError, cut_list
from ragbench.old.data.shapes import WRAPPERS
from ragbench.old.data.shelf import Shelf
from ragbench.old.data.vocabulary import (
    NO_TEXT,
    PARTS,
    field_of,
    fields_in,
    format_of,
    key,
    of_member,
    of_one_system,
    of_side,
    rarely,
)

_CODE = re.compile(r"\d+|[a-zA-Zа-яА-Я]|[a-z]{2}(-[A-Za-z]+)?")
"""What names a choice or a language, and no system."""
OF_PROVIDER = re.compile(r"\[([^\s\[\]]+)\] .+", re.DOTALL)
"""A column of promptfoo's CSV: the provider, and the prompt that it answered."""
_BESIDE = ("system", "messages")
"""Fields that an answer without a name of its own may stand beside."""


def by_system(given: Any, place: str) -> list[tuple[str, str, Any]] | None:
    """(system, place, table) of each table of {system: table}, or of several paths; None for anything else.

    Raises DatasetError for a system without a name."""
    if isinstance(given, list | tuple) and all(isinstance(p, str | Path) for p in given) and any(map(is_table, given)):
        return [(system, place, path) for system, path in named_by_files(given)]
    if not isinstance(given, Mapping) or not any(map(is_table, given.values())):
        return None
    if any(field_of(name) or str(name) in WRAPPERS for name in given) or not all(
        is_table(table) or (isinstance(table, list) and not table) for table in given.values()
    ):
        return None
    if any(name is None or not str(name).strip() for name in given):
        raise DatasetError(f"{place}: a system has no name; there are {cut_list(map(str, given))}")
    return [(str(name), f"{place}, system {str(name)!r}", table) for name, table in given.items()]


class Systems:
    """Whose answers the rows of a table hold: of several systems in a column or an object each, or all in one cell."""

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, str]] = {}
        self._objects: set[Any] = set()

    def meet(self, rows: Iterable[Mapping[Any, Any]]) -> None:
        """Learn from the first rows of a table: one of them may lack what a system answered."""
        whole: dict[str, Any] = {}
        for row in (row for row in rows if len(row) <= MAX_COLUMNS):  # a wider one is refused when its turn comes
            for name, cell in row.items():
                if missing(known := whole.setdefault(str(name), cell)) or blank(known):
                    whole[str(name)] = cell
            self._objects.update(own if len(own := _objects(row)) > 1 else ())
        self.in_columns(whole)

    def in_objects(self, row: Mapping[Any, Any]) -> list[Mapping[Any, Any]]:
        """A row for each system of which a row holds what it answered, in objects with its name in or before them, in a
        list, an object or columns: `"answers": {"gpt": "8", "llama": "9"}`; of any other row that alone."""
        fields = dict(zip(row, fields_in(tuple(row)), strict=True))
        if "system" in fields.values() or format_of(row):
            return [row]
        for name, value in row.items():
            value = opened(value) if fields[name] in ("response", "reference") else value
            if isinstance(value, list) and value and all(_names_its_system(own, fields[name]) for own in value):
                rest = {other: cell for other, cell in row.items() if other != name}
                return [{**rest, **_of_one(own)} for own in value]
            if isinstance(value, Mapping) and _are_systems(value, name):
                return _by_name(row, value, {name})
        objects = {} if "response" in fields.values() else _objects(row)
        is_wide = len(objects) > 1 or not self._objects.isdisjoint(objects)
        return _by_name(row, objects, {*objects, *self._objects}) if is_wide else [row]

    def in_columns(self, row: Mapping[str, Any]) -> Mapping[str, Mapping[str, str]]:
        """System → field → column, of a row with a column of answers for each; empty for any other. A column called as
        those of numbers, cost or rank, is what a system says only where it holds a text."""
        there = {**self._columns, **_columns(tuple(row))}
        wide = {
            system: {
                own: name
                for own, name in columns.items()
                if name in row and not (own == "response" and isinstance(row[name], list))
                and (own == "value" or name.startswith(system) or not NO_TEXT.search(key(name)) or is_text(row[name]))
            }
            for system, columns in there.items()
        }  # fmt: skip
        answered = {system: columns for system, columns in wide.items() if "response" in columns}
        if len(answered) > 1 or "" in there:
            self._columns |= answered
        return answered if answered.keys() & self._columns.keys() else {}

    @property
    def rare(self) -> set[str]:
        """The columns of answers called as `answer_rag`, beside one of a system whose name says no more than that."""
        own = [each["response"] for system, each in self._columns.items() if not each["response"].startswith(system)]
        return set() if all(map(rarely, own)) else {*own}


@lru_cache(maxsize=1024)
def _columns(names: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """System → field → column, by names that tell both; nobody is "", beside whom one system may stand alone."""
    if providers := {told[1]: {"response": name} for name in names if (told := OF_PROVIDER.fullmatch(name))}:
        return {**providers, "": {}}
    wide: dict[str, dict[str, str]] = {}
    has_right = "reference" in fields_in(names)
    for name, (system, own) in zip(names, map(of_one_system, names), strict=True):
        is_right = rarely(name) == "reference" and not has_right  # a human's is no system's
        if own and not (of_member(name) or field_of(name) or is_right):
            wide.setdefault(system, {}).setdefault(own, name)
    return wide


def _objects(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """The columns of objects with an answer each, whose names may be systems."""
    return {name: value for name, value in row.items() if _answers(value) and not _is_part(name)}


def _by_name(row: Mapping[Any, Any], answers: Mapping[Any, Any], spent: Set[Any]) -> list[Mapping[Any, Any]]:
    """The row for each of the answers, whose names are systems, with what other objects hold under the same names."""
    rest = {name: cell for name, cell in row.items() if name not in spent}
    shared = [name for name, cell in rest.items() if isinstance(cell, Mapping) and cell.keys() == answers.keys()]
    return [
        {**rest, **{name: rest[name][system] for name in shared}, **_of_one(own), "system": system}
        for system, own in answers.items()
    ]


def _answers(own: Any) -> bool:
    """Whether a value is an object with an answer and no question."""
    if not isinstance(own, Mapping) or "user_input" in map(field_of, own):
        return False
    return any("response" in (field_of(name), rarely(name)) for name in own)


def _names_its_system(own: Any, field: str) -> bool:
    """Whether an element of a list is what a system answered that it names; field: of the list."""
    if not isinstance(own, Mapping) or not (_answers(own) or field == "response"):
        return False
    return any("system" in (field_of(name), rarely(name)) and not missing(value) for name, value in own.items())


def _of_one(own: Any) -> dict[Any, Any]:
    """The columns of what one system said; the whole of what is no object with an answer that is called so."""
    if _answers(own):
        return {**own}
    beside = own if isinstance(own, Mapping) else {}
    return {"response": own, **{told: beside[name] for name in beside if (told := field_of(name)) in _BESIDE}}


def _is_part(name: Any) -> bool:
    """Whether an object's member of this name is a part of what it says, and nobody's name."""
    return bool(field_of(name) or rarely(name) or of_side(name) or name in PARTS.answered or name in PARTS.texts)


def _are_systems(answers: Mapping[Any, Any], column: Any) -> bool:
    """Whether the names of an object's members are systems: of objects with answers, or, in a column of answers, of
    texts, and then neither letters of choices nor codes of languages."""
    if len(answers) < 2 or any(map(_is_part, answers)):
        return False
    if all(map(_answers, answers.values())):
        return field_of(column) in ("", "response", "reference")
    is_of_texts = all(isinstance(own, str) or missing(own) for own in answers.values())
    is_column = field_of(column) == "response" or key(column) == "answers"
    return is_column and is_of_texts and not any(_CODE.fullmatch(str(name)) for name in answers)


def is_table(value: Any) -> bool:
    """Whether a value is a table of answers by itself: rows, a data frame, a file."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, Mapping | Sample) for row in value)
    is_file = isinstance(value, Path) or (isinstance(value, str) and os.path.isfile(value))  # noqa: PTH113 - of any length
    return is_file or is_frame(value)


def named_by_files(paths: Sequence[str | Path]) -> list[tuple[str, Path]]:
    """(system, table) of each of several tables, called as its file, with its folders where two would be one; of one
    table nobody is named. Raises DatasetError for a table that stands there twice."""
    places = [Path(path).absolute() for path in paths]
    if twice := [path for number, path in enumerate(places) if path in places[:number]]:
        raise DatasetError(f"{twice[0].name}: it is named twice; name the table of each system once")
    folder, names = os.path.commonpath([path.parent for path in places]), [path.name.split(".")[0] for path in places]
    if len(set(names)) < len(names):
        names = [(path.parent / name).relative_to(folder).as_posix() for path, name in zip(places, names, strict=True)]
    return [(name if len(paths) > 1 else "", Path(path)) for name, path in zip(names, paths, strict=True)]


class Ids:
    """The id of each row: its own, else a number from 1. Rows of several systems to the same question have the same, so
    that they are compared question by question, in whatever order they stand: the second to it the id of the second;
    also where each has one of its own, which no row of another system to that question and reference has.

    name: what a row without an id is called instead of a number. paired: how many rows have another's id than theirs.
    """

    def __init__(self, name: str = "") -> None:
        self._times, self._ids, self._seen, self._asked = Shelf[int](), Shelf[Any](), Shelf[None](), Shelf[str]()
        self._name, self._count, self.paired = name, 0, 0

    def of(self, item: Mapping[str, Any], asked: Any) -> Any:
        """The id of the next row. asked: its question, or those of its turns; None where nothing was asked. Raises
        DatasetError for one that is another question's."""
        name = item.get("id")
        rated = item.get("response") if "rater" in item else None  # what several people rate row by row is one
        to_all = _digest(" ".join(f"{asked}".split()).casefold())
        question = to_all if rated is None else _digest(" ".join(f"{asked} {rated}".split()).casefold())
        is_own = name is not None
        if name is None:
            name = self._next() if asked is None else self._shared(question, name, item)
        known, system = (_digest(str(own)) for own in (name, item.get("system")))
        if asked is not None and item.keys() & {"response", "contexts"} and "repeat" not in item:
            self._asked.put(known, f"{to_all} {system}")
            before, _, other = (self._asked.get(known) or "").partition(" ")
            if before != to_all and other != system:
                raise DatasetError(
                    "an id that names another question before; answers are compared by it, and without ids by their "
                    "questions"
                )
        is_one_of_several = asked is not None and item.keys() & {"system", "rater"} and "repeat" not in item
        return self._shared(question, name, item) if is_own and is_one_of_several else name

    def _next(self) -> Any:
        self._count += 1
        return self._name or self._count

    def _shared(self, question: str, name: Any, item: Mapping[str, Any]) -> Any:
        """The id of a row to a question: its own if that stood there, else that of as many rows to it."""
        if name is not None:
            question = _digest(f"{question} {item.get('reference')}")
        own = _digest(f"{question} {item.get('system')} {item.get('rater')}")
        if not self._times.put(own, 1):
            self._times.change(own, (self._times.get(own) or 0) + 1)
        if name is not None and not self._seen.put(f"{question} {name}", None):
            return name
        same = f"{question} {self._times.get(own)}"
        if not self._ids.has(same):
            self._ids.put(same, self._next() if name is None else name)
        shared = self._ids.get(same)
        self.paired += name is not None and str(shared) != str(name)
        return shared


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
