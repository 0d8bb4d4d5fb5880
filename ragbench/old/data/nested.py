"""Judgements and runs as objects hold them: which words of a line the columns of a table are, and the lines of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ragbench.old.data.cells import by_row, opened, verdict
from ragbench.old.data.files import DatasetError, cut, cut_list
from ragbench.old.data.payloads import number as number_of
from ragbench.old.data.payloads import passage_of
from ragbench.old.data.shapes import WRAPPERS, rows_in
from ragbench.old.data.vocabulary import JUDGED, PARTS, field_of, key

Line = tuple[str, dict[str, Any]]
"""A place, and words of a line with their values."""
NUMBERS = {"GRADE": {"GRADE"}, "SCORE": {"SCORE", "RANK"}}
"""What is looked for: words any of which says how good a document is."""
LISTS = {"GRADE": {*map(key, JUDGED["right"])}, "SCORE": {*map(key, (*JUDGED["found"], *PARTS.lists))}}
"""Names of lists of the documents of a query, by what is looked for."""
GRADED = {*map(key, JUDGED["graded"])}
"""Names of objects, or lists of them, of documents with their grades."""
ENVELOPES = {*map(key, WRAPPERS), *GRADED, *LISTS["GRADE"], *LISTS["SCORE"], "run"}
"""Names of objects that hold the queries."""


class UnnamedError(DatasetError):
    """What may be the number of documents is called so that nobody knows it."""


@lru_cache(maxsize=1024)
def words(names: tuple[str, ...], number: str) -> tuple[str, ...]:
    """The words that columns of these names are; "—" for what is read by nobody. Of two columns that could be one, as
    docid and docno of PyTerrier, it is the likelier one. number: GRADE or SCORE, what is looked for."""
    told, listed = ["—"] * len(names), "reference_context_ids" if number == "GRADE" else "context_ids"
    keys = [*map(key, names)]
    for role in ("query", "iteration", "document", number.lower(), "rank", "tag"):
        known = [*map(key, JUDGED[role])]
        called = [name if name in known else name.removesuffix("s") for name in keys]
        own = [(known.index(name), place) for place, name in enumerate(called) if told[place] == "—" and name in known]
        lists = [place for place, name in enumerate(names) if role == "document" and field_of(name) == listed]
        for place in [min(own)[1]] if own else lists[:1]:
            told[place] = role.upper()
    return tuple(told)


@lru_cache(maxsize=1024)
def columns(names: tuple[Any, ...], number: str) -> Mapping[str, Any]:
    """The words that columns of these names are, each with the name of its column."""
    told = zip(words(tuple(map(str, names)), number), names, strict=True)
    return {word: name for word, name in told if word != "—"}


def lines(value: Any, number: str, place: str, query: Any, rank: int = 0) -> Iterator[Line]:
    """The lines that a value stands for: one, or many, as it holds lists, or names documents below the names of
    queries. Without numbers what comes first is best, and all that is judged is relevant.

    number: GRADE or SCORE, what is looked for. query: whose documents the value is or holds; empty: its members may
    have the names of queries; None: it is one of many rows, whose only member may. rank: its place in the list of the
    documents of a query, from 1; 0: in none. Raises UnnamedError.
    """
    if isinstance(value, list):
        for rank, own in enumerate(value, 1):
            own = dict(zip(("document", number.lower()), own, strict=False)) if isinstance(own, list) else own
            own = own if isinstance(own, Mapping) else {"document": own}
            yield from lines(own, number, place, query or None, rank)
        return
    if query is None and not rank and len(value) == 1 and isinstance(own := next(iter(value.values())), Mapping | list):
        query = None if field_of(name := next(iter(value))) or key(name) in ENVELOPES else ""
    named, is_below = columns(tuple(value), number), query not in (None, "")
    if not is_below and (table := _table(value, named, number)) is not None:
        for own in table:
            yield from lines(own, number, place, None)
        return
    row = {word: opened(value[name]) for word, name in named.items()}
    listed, held = _held(value, named.get("DOCUMENT"), number)
    if listed in named.values() and listed != named.get("DOCUMENT"):  # not the numbers of documents, but these
        others = {name: own for name, own in value.items() if name != listed}
        yield from lines({**others, "documents": held}, number, place, query, rank)
        return
    if rank and isinstance(held, Mapping) and (passage := passage_of(held)) is not None and passage.id:
        row["DOCUMENT"], held = passage.id, None  # an object beside its number
    asked = row.get("QUERY")
    if held is not None and field_of(named.get("QUERY", "query")) == "user_input":  # a text, beside its name
        name = query if is_below and not rank else value.get("id", value.get("_id"))
        asked = asked if name is None else name
    if isinstance(asked, Mapping):
        asked = asked.get(columns(tuple(asked), number).get("QUERY"))
    is_own = asked is not None and asked != query
    row["QUERY"] = asked = query if asked is None else asked
    usual = {"PLACE": rank, "GRADE": 1} if number == "GRADE" else {"PLACE": rank}
    usual = usual if NUMBERS[number].isdisjoint(row) else {}
    if asked in (None, ""):
        yield from _below(value, number, place) if query == "" else ()
    elif isinstance(held, list) and not any(isinstance(own, Mapping | list) for own in held):
        if usual:
            _require_named(value, named, place, number, lambda own: _is_beside(own, held))
        for rank, own in enumerate(held, 1):
            beside = {word: cell[rank - 1] if isinstance(cell, list) else cell for word, cell in row.items()}
            yield place, {**beside, "DOCUMENT": own, **({**usual, "PLACE": rank} if usual else {})}
    elif isinstance(held, Mapping) and _is_of_numbers([*held.values()], number):
        there = {
            name: own for name, own in held.items() if own is not None
        } or held  # Parquet has all names in each row
        yield from ((place, {"QUERY": asked, "DOCUMENT": name, number: own}) for name, own in there.items())
    elif held is not None:
        yield from lines(held, number, place, asked)
    elif "DOCUMENT" in row and (not usual or (is_below and (rank or not is_own)) or _is_pair(value, named)):
        if usual and number == "GRADE":
            _require_named(value, named, place, number, lambda own: own in (0, "0"))
        yield place, {**row, **usual}
    elif is_below and "DOCUMENT" not in row and (passage := passage_of(value)) is not None and passage.id:
        scored = {} if number == "GRADE" or passage.score is None else {"SCORE": passage.score}
        yield place, {**row, "DOCUMENT": passage.id, **(scored or usual)}
    elif is_below and _is_of_numbers([*value.values()], number):
        yield from ((place, {"QUERY": asked, "DOCUMENT": name, number: own}) for name, own in value.items())


def _table(value: Mapping[str, Any], named: Mapping[str, str], number: str) -> list[Any] | None:
    """The rows of an object that holds a table, its columns as lists, or as pandas writes it; None for any other, such
    as queries with their documents."""
    if "columns" in value and "data" in value:
        return rows_in(value)
    cells = [*value.values()]
    if not all(isinstance(own, list | dict) for own in cells):
        return None
    if [*value] == [*map(str, range(len(cells)))] and all(isinstance(own, Mapping) for own in cells):
        is_of_rows = bool(cells) and not {"QUERY", "DOCUMENT"}.isdisjoint(columns(tuple(cells[0]), number))
        return cells if is_of_rows and not any(isinstance(own, list | Mapping) for own in cells[0].values()) else None
    is_named = any(len(name) > 1 and word not in ("ITERATION", "TAG") for word, name in named.items())
    if len(cells) < 2 or not is_named or len({(type(own), len(own)) for own in cells}) > 1:
        return None
    if isinstance(cells[0], list):
        return by_row(value)
    is_numbered = all(map(str.isdigit, cells[0])) and all(own.keys() == cells[0].keys() for own in cells)
    return [{name: own[row] for name, own in value.items()} for row in cells[0]] if is_numbered else None


def _held(value: Mapping[str, Any], documents: str | None, number: str) -> tuple[str, Any]:
    """The list, or the object, of the documents of a query that a row holds, and its name; None for a row of one
    document, or where several may be meant. documents: the column of documents."""
    if documents is not None:
        own = opened(value[documents])
        if isinstance(own, str) and documents.lower().endswith("s"):
            has_blanks = " " in re.sub(r"[;|,\n]\s", "", own)  # then a comma may stand in a title
            several = [part.strip() for part in re.split(r"[;|\n]" if has_blanks else r"[;|,\n]", own)]
            own = [part for part in several if part] if len(several) > 1 else own
        return documents, own if isinstance(own, list | Mapping) else None
    found = {}
    for name, cell in value.items():
        own, is_known = opened(cell), key(name) in LISTS[number]
        is_graded = number == "GRADE" and key(name) in GRADED
        if isinstance(own, Mapping) and (is_known or (is_graded and _is_of_numbers([*own.values()], number))):
            inner = [part for part in own.values() if _is_of_objects(part)]
            found[name] = inner[0] if len(inner) == 1 else own
        elif _is_of_objects(own) or (is_known and isinstance(own, list)):
            found[name] = own
    return next(iter(found.items())) if len(found) == 1 else ("", None)


def _below(value: Mapping[str, Any], number: str, place: str) -> Iterator[Line]:
    """The lines of the members of an object: of all under the names of their queries, where they are of one kind and
    can be read so, else of the only one that has some, or that is called as what holds them all."""
    if _are_columns(value):
        raise UnnamedError(
            f"{place}: {cut_list(value)}: lists of texts; are they columns? Call them question and answer"
        )
    name = next(iter(value), "")
    has_lines, lost = False, ""
    if {*map(type, value.values())} in ({dict}, {list}) and not (len(value) == 1 and key(name) in ENVELOPES):
        for name, own in value.items():
            where, is_read = f"query {name}".encode("utf-8", "backslashreplace").decode(), False
            for line in lines(own, number, where, name):
                is_read = True
                yield line
            has_lines = has_lines or is_read
            lost = lost or ("" if is_read or is_empty(own, number) else where)
    if has_lines and lost:
        raise UnnamedError(f"{lost}: names no documents with their {number.lower()}s, as others do")
    if not has_lines:
        inner = {name: own for name, own in value.items() if isinstance(own, Mapping) or _is_of_objects(own)}
        known = {name: own for name, own in inner.items() if own and key(name) in ENVELOPES} or inner
        read = [found for own in known.values() if (found := [*lines(own, number, place, "")])]
        yield from read[0] if len(read) == 1 else ()


def is_empty(value: Any, number: str) -> bool:
    """Whether a query has no documents, which is no fault."""
    if not value or not isinstance(value, Mapping):
        return not value
    _, held = _held(value, columns(tuple(value), number).get("DOCUMENT"), number)
    return held is not None and not held


def _require_named(
    value: Mapping[str, Any], named: Mapping[str, str], place: str, number: str, is_one: Callable[[Any], bool]
) -> None:
    """Raises UnnamedError where a member that nobody knows may be the number of documents."""
    for name, own in value.items():
        if name not in named.values() and is_one(opened(own)):
            called = number.lower()
            raise UnnamedError(f"{place}: is {name} = {cut(own)} the {called}? Call it {called}, or leave it out")


def _are_columns(value: Mapping[str, Any]) -> bool:
    """Whether lists of texts, as many in each, stand under words, and not under the names of queries."""
    own = [*value.values()]
    if not all(isinstance(texts, list) and len(texts) == len(own[0]) and {*map(type, texts)} == {str} for texts in own):
        return False
    return (
        len(own) > 1
        and not re.search(r"[\d\s]", "".join(value))
        and any(" " in text for texts in own for text in texts)
    )


def _is_beside(own: Any, documents: list[Any]) -> bool:
    """Whether a value holds a number for each document."""
    return isinstance(own, list) and own != documents and len(own) == len(documents) and _is_of_numbers(own, "")


def _is_pair(value: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """Whether a row has a query and a document, each with a name that says so, and nothing else."""
    return {*value} - {""} == {named.get("QUERY"), named.get("DOCUMENT")}


def _is_of_numbers(values: list[Any], number: str) -> bool:
    """Whether values stand beside documents; a fault among them, as None is, changes nothing. Grades may be words for
    yes and no."""
    is_plain = not any(isinstance(own, Mapping | list) for own in values)
    is_first = not isinstance(values[0], str) or number_of(values[0]) is not None if values else False
    is_said = number == "GRADE" and all(own is None or verdict(own) is not None for own in values)
    return is_plain and (
        is_first or is_said or any(number_of(own) is not None for own in values if not isinstance(own, str))
    )


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(member, Mapping) for member in value)
