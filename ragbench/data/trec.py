"""TREC files: judgements (qrels) and runs, read strictly, and the order that each convention makes of a run.

Lines are split at blanks and tabs. Plain or packed (by content, whatever the name), UTF-8 with or without a byte-order
mark; blank lines and lines that begin with `#` are skipped, and words behind a run's tag (NIST's own files have some).
Other forms are known by their beginning: judgements `QUERY DOCUMENT GRADE`, runs without Q0, tag, rank or score, with
tabs or commas, under a header of names, as JSON and as Parquet. What does not fit is an error that names the file, the
line and what was expected.
"""

from __future__ import annotations

import csv
import difflib
import itertools
import json
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragbench.core.names import is_torn
from ragbench.data.cells import TABLE, printed
from ragbench.data.files import DAMAGED, PACKINGS, DatasetError, parquet_rows, unpacked
from ragbench.data.vocabulary import JUDGED, key

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.core.types import Array


__all__ = [
    "Qrels", "Retrieved", "Run", "distinct_names", "label", "listed_order", "nothing", "read_qrels", "read_run",
    "told", "trec_eval_order", "trec_eval_queries",
]  # fmt: skip

LONGEST_LINE = 1 << 16  # a binary file has no end of line, and is refused after so much
MOST_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Of one file, unpacked: half of this machine's memory, so that a small file that unpacks to no end is refused."""
BLOCK = 1 << 19  # bytes of lines that are split at once: words take more memory than the columns made of them
LOOKED_AT, MOST_LOOKED_AT = 50, 2**26  # rows that tell what a file is; JSON is read whole for them, and so up to 64 MB
PARQUET = b"PAR1"
_SUFFIXES = {
    *PACKINGS[1:], ".run", ".qrels", ".qrel", ".trec", ".txt", ".tsv", ".res", ".csv", ".json", ".jsonl", ".parquet",
}  # fmt: skip
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NUMBERS = ("GRADE", "SCORE", "RANK")
READ = {"QUERY", "DOCUMENT", "TAG", *NUMBERS}
"""Words of a line that are read, and those among them that are numbers."""

Qrels = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Form:
    """What a line holds, by its words: QUERY, DOCUMENT, RANK, SCORE or GRADE, TAG; any other word is read by nobody.

    more: whether words behind the expected ones may stand; such a line needs a number as its rank, because a blank in a
    document's name moves the columns. header: whether the first line names the columns. separator: what parts words;
    None: blanks and tabs.
    """

    line: str
    more: bool = False
    header: bool = False
    separator: str | None = None

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Word → its place."""
        return {word: place for place, word in enumerate(self.line.split())}

    @property
    def words(self) -> int:
        """How many words a line has."""
        return len(self.line.split())

    @property
    def number(self) -> str:
        """The word that is the number of a line; RANK where ranks stand for scores, of which the smallest is best."""
        return next(word for word in NUMBERS if word in self.places)

    @property
    def rank(self) -> int | None:
        """The place of a rank beside a score."""
        return self.places.get("RANK") if self.number == "SCORE" else None


QRELS = Form("QUERY ITERATION DOCUMENT GRADE")
RUN = Form("QUERY Q0 DOCUMENT RANK SCORE TAG", more=True)
SHORT = tuple(map(Form, (
    "QUERY DOCUMENT GRADE", "QUERY Q0 DOCUMENT RANK SCORE", "QUERY DOCUMENT RANK SCORE TAG",
    "QUERY DOCUMENT RANK SCORE", "QUERY DOCUMENT SCORE RANK", "QUERY DOCUMENT SCORE",
)))  # fmt: skip
"""Lines with fewer words than TREC's, known by their number and by which of them are numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """What a run retrieved for one query, in the order of its lines or in one that a convention makes of it.

    documents: a column of Arrow, of strings. scores, ranks: (documents,).
    """

    documents: pa.LargeStringArray
    scores: Array
    ranks: Array

    def at(self, order: NDArray[np.int64]) -> Retrieved:
        """The rows of these positions, in their order."""
        return Retrieved(self.documents.take(order), self.scores[order], self.ranks[order])


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands in its file.

    name: the file's name without its endings. tag: that of its first line, empty where there is none. form: how its
    lines were read where they are not TREC's own, such as "QUERY DOCUMENT RANK"; else empty.
    """

    name: str
    tag: str
    path: Path
    queries: dict[str, Retrieved]
    form: str = ""


def read_qrels(path: Path | str) -> Qrels:
    """Grades by document by query. A pair may be repeated with the same grade, not with another.

    Raises DatasetError for a line that does not have the form of the first one, or no file.
    """
    path, qrels = Path(path), Qrels()
    for rows in _blocks(path, QRELS):
        _, queries, documents, grades, _ = _checked(path, rows)
        judged = zip(queries.to_pylist(), documents.to_pylist(), grades.tolist(), strict=True)
        for row, (query, document, grade) in enumerate(judged):
            known = qrels.setdefault(query, {}).setdefault(document, grade)
            if known != grade:
                raise DatasetError(
                    f"{path}, {rows.place(row)}: query {query} and document {document} were judged {known:g} before "
                    f"and {grade:g} here; keep one grade a pair"
                )
    if not qrels:
        raise DatasetError(f"{path} holds no judgements; expected lines like {QRELS.line}")
    return qrels


def read_run(path: Path | str) -> Run:
    """The documents, scores and ranks of each query; an empty file is a run that answered nothing.

    What stands behind the tag is ignored, as trec_eval ignores it; such a line needs a number as its rank, because a
    blank in a document's name moves the columns. Without scores the ranks are the order, and without ranks equal
    scores go by the document's name. Raises DatasetError for a line that does not have the form of the first one, or no
    file.
    """
    return _run(path := Path(path), _blocks(path, RUN))


def _run(path: Path, blocks: Iterable[_Rows]) -> Run:
    import pyarrow as pa

    checked = [(rows.form, *_checked(path, rows)) for rows in blocks]
    if not checked:
        return Run(_name(path), "", path, {})
    (form, *_), tags, queries, texts, *numbered = zip(*checked, strict=True)
    documents, (scores, ranks) = pa.concat_arrays(texts), map(np.concatenate, numbered)
    coded = pa.chunked_array(queries).unify_dictionaries().combine_chunks()
    codes, asked = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes, documents, scores, ranks = codes[order], documents.take(order), scores[order], ranks[order]
    ends = np.searchsorted(codes, np.arange(len(asked)), side="right").tolist()
    own = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    line = "" if form.line == RUN.line else form.line
    if form.number == "RANK":
        scores = -scores
    elif form.rank is None and _are_ranks(scores, own):
        scores, ranks, line = -scores, scores, line.replace("SCORE", "RANK")
    found = {query: Retrieved(documents[at], scores[at], ranks[at]) for query, at in zip(asked, own, strict=True)}
    return Run(_name(path), tags[0], path, found, line)


def _are_ranks(scores: Array, queries: Sequence[slice]) -> bool:
    """Whether scores are ranks, as MS MARCO's runs have them: 1, 2, 3 … of every query, line by line."""
    counted = (np.array_equal(scores[own], np.arange(1, own.stop - own.start + 1)) for own in queries)
    return len(queries) < len(scores) and all(counted)


def nothing() -> Retrieved:
    """What a run retrieved for a query that it lacks."""
    import pyarrow as pa

    return Retrieved(pa.array([], pa.large_string()), np.empty(0), np.empty(0))


def listed_order(retrieved: Retrieved) -> Retrieved:
    """Highest score first; equal scores by their rank, and equal ranks by the document's name.

    So no shuffling of a file's lines changes a number.
    """
    scores, ranks = retrieved.scores, retrieved.ranks
    if ((scores[1:] < scores[:-1]) | ((scores[1:] == scores[:-1]) & (ranks[1:] > ranks[:-1]))).all():
        return retrieved
    order = np.lexsort((ranks, -scores))
    if ((scores[order][1:] == scores[order][:-1]) & (ranks[order][1:] == ranks[order][:-1])).any():
        names = retrieved.documents.to_pylist()
        order = np.array(sorted(order.tolist(), key=lambda place: (-scores[place], ranks[place], names[place])))
    return retrieved.at(order)


def trec_eval_order(retrieved: Retrieved, *, where: str = "") -> Retrieved:
    """Documents as trec_eval orders them: scores as 32-bit numbers, highest first, equal ones by document, last first.

    where: how to name the query and its file in the DatasetError for a document that is there twice, which trec_eval
    refuses too.
    """
    if len(retrieved.documents.unique()) < len(retrieved.documents):
        names = retrieved.documents.to_pylist()
        twice = next(each for each in names if names.count(each) > 1)
        raise DatasetError(
            f"{where or 'the query'}: document {twice} is there twice, which trec_eval refuses; "
            "without --compatible the first place counts"
        )
    with np.errstate(over="ignore"):  # what is too large is infinite there
        scores = retrieved.scores.astype(np.float32)
    if (scores[1:] < scores[:-1]).all():
        return retrieved
    names = retrieved.documents.to_pylist()
    by_name = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    return retrieved.at(np.array(sorted(by_name, key=scores.tolist().__getitem__, reverse=True), dtype=np.int64))


def trec_eval_queries(qrels: Qrels, run: Run, *, complete: bool = False) -> list[str]:
    """The queries that trec_eval averages over: those of both files, or with `complete` all that were judged."""
    return [query for query in qrels if complete or query in run.queries]


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """One name a run: the file's, or its path where two files share a name."""
    names = [run.name for run in runs]
    named = [run.name if names.count(run.name) == 1 else str(run.path) for run in runs]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise DatasetError(f"the run {twice} is given twice; name each file once")
    return named


def _name(path: Path) -> str:
    name = path
    while name.suffix.lower() in _SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.name


def told(path: Path) -> Literal["", "run", "qrels"]:
    """What a file is by how it begins; empty for neither. Where nothing but numbers tells, whole ones are grades."""
    for usual in (RUN, QRELS):
        with suppress(DatasetError, StopIteration):
            first = next(_blocks(path, usual, begins=True))
            if usual is QRELS:
                _checked(path, first)
                return "qrels"
            words = (_run(path, [first]).form or RUN.line).split()
            given = [first.given(first.form.number, row) for row in range(len(first.longer))]
            is_whole = all(n.lstrip("+-").isdigit() if isinstance(n, str) else float(n).is_integer() for n in given)
            if not is_whole or "run" in path.name.casefold() or {"RANK", "TAG"} & {*words}:
                return "run"
    return ""


class _Rows(NamedTuple):
    """Rows of a file in its order, before they are held to be right: all of them, or a block.

    values: word of the form → that of all rows; null for what is neither a name nor a number. given: such a word of one
    row, as it stands in the file, and place: where. longer: rows with more words than the form has.
    """

    form: Form
    values: Mapping[str, pa.LargeStringArray]
    given: Callable[[str, int], Any]
    place: Callable[[int], str]
    longer: NDArray[np.bool_]


def _blocks(path: Path, usual: Form, *, begins: bool = False) -> Iterator[_Rows]:
    """The rows of a file, whatever its form, or those that it begins with; no block without one. Raises DatasetError
    for a row that does not fit."""
    content = _content(path, usual, begins)
    if _is_structured(content):
        yield from _of_items(path, content, usual, LOOKED_AT if begins else None)
        return
    form = None
    for numbers, lines in _lines(path, content.removeprefix(BOM_UTF8), usual):
        if form is None:
            form = _form(path, lines[0].as_py(), usual)
            numbers, lines = numbers[form.header :], lines[form.header :]
        if len(lines):
            yield _of_lines(path, numbers, lines, form)


def _content(path: Path, usual: Form, begins: bool) -> bytes:
    """What a file holds, or its first lines, unpacked; of Parquet its mark alone."""
    most = MOST_LOOKED_AT if begins else MOST_BYTES
    try:
        with unpacked(path) as file:
            start = file.read(LONGEST_LINE)
            if start.startswith(PARQUET):
                return PARQUET
            if begins and not _is_structured(start):
                return b"\n".join(start.splitlines()[:LOOKED_AT])
            content = start + file.read(max(0, most + 1 - len(start)))
    except DAMAGED as error:
        raise DatasetError(f"{path}: cannot be read: {error}; expected lines like {usual.line}") from None
    if len(content) > most:
        what = f"more than {most / 1e9:.3g} GB of text, half of this machine's memory"
        raise DatasetError(f"{path} holds {what}; split it by query")
    return content


def _is_structured(content: bytes) -> bool:
    """Whether a file is Parquet or JSON."""
    return content.startswith(PARQUET) or content[:1024].removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")


def _of_lines(path: Path, numbers: NDArray[np.int64], lines: pa.LargeStringArray, form: Form) -> _Rows:
    """Raises DatasetError for a line with too few or too many words."""
    from pyarrow import compute

    words = _split(lines, form.separator)
    counts = compute.list_value_length(words).to_numpy()
    wrong = counts < form.words if form.more else counts != form.words
    if wrong.any():
        place = f"{path}, line {numbers[wrong][0]}"
        raise DatasetError(f"{place}: {counts[wrong][0]} columns instead of {form.words}; expected {form.line}")
    values = {word: compute.list_element(words, form.places[word]) for word in READ & form.places.keys()}
    given, place_of = (lambda word, row: values[word][row].as_py()), (lambda row: f"line {numbers[row]}")
    return _Rows(form, values, given, place_of, counts > form.words)


def _lines(path: Path, content: bytes, usual: Form) -> Iterator[tuple[NDArray[np.int64], pa.LargeStringArray]]:
    """Lines with their numbers, many at once, without blank ones and comments. Raises DatasetError for one that is too
    long, or no text."""
    import pyarrow as pa
    from pyarrow import compute

    start, before = 0, 1
    while start < len(content):
        end = content.find(b"\n", start + BLOCK) + 1 or len(content)
        text = content[start:end]
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
        try:
            text.decode()
        except UnicodeDecodeError as error:
            number = before + text.count(b"\n", 0, error.start)
            raise DatasetError(f"{path}, line {number}: not UTF-8; expected {usual.line}") from None
        whole = pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([0, len(text)])), pa.py_buffer(text))
        lines = compute.split_pattern(whole, "\n").flatten()
        lengths = compute.binary_length(lines).to_numpy()
        if lengths.max() >= LONGEST_LINE:
            place = f"{path}, line {before + lengths.argmax()}"
            raise DatasetError(f"{place}: longer than {LONGEST_LINE} bytes; expected {usual.line}")
        is_blank = compute.equal(compute.utf8_trim_whitespace(lines), "")
        is_row = compute.invert(compute.or_(is_blank, compute.starts_with(lines, "#")))
        if len(rows := lines.filter(is_row)):
            yield np.flatnonzero(is_row) + before, rows
        start, before = end, before + text.count(b"\n")


def _split(lines: pa.LargeStringArray, separator: str | None) -> Any:
    """The words of each line, as lists."""
    import pyarrow as pa
    from pyarrow import compute

    if separator is None:
        return compute.ascii_split_whitespace(compute.ascii_trim_whitespace(lines))
    if separator == ",":
        words = pa.array([next(csv.reader([line])) for line in lines.to_pylist()], pa.large_list(pa.large_string()))
    else:
        words = compute.split_pattern(lines, separator)
    return type(words).from_arrays(words.offsets, compute.utf8_trim_whitespace(words.values))


def _form(path: Path, line: str, usual: Form) -> Form:
    """The form of a text by its first line; the usual one where that has another number of words than any."""
    import pyarrow as pa

    if why := printed(f"{line}\n"):
        raise DatasetError(f"{path}: {why}")
    first = pa.array([line], pa.large_string())
    by_separator = {separator: _split(first, separator)[0].as_py() for separator in ("\t", ",", None)}
    for separator, words in by_separator.items():
        if (headed := _headed(words, usual)) is not None:
            return replace(headed, separator=separator)
    for separator, words in reversed(by_separator.items()):
        for form in (usual, *SHORT):
            if form.number == usual.number and _fits(words, form, is_usual=form is usual):
                return replace(form, separator=separator)
    return usual


def _headed(names: Sequence[str], usual: Form) -> Form | None:
    """The form of lines below the names of their columns; None where these do not name what is needed."""
    words = ["—"] * len(names)
    for role in ("query", "iteration", "document", usual.number.lower(), "rank", "tag"):
        known = list(map(key, JUDGED[role]))
        own = [place for place, name in enumerate(names) if words[place] == "—" and key(name) in known]
        if own:  # of two columns, as qid and query, or docid and docno of PyTerrier, the likelier one
            words[min(own, key=lambda place: known.index(key(names[place])))] = role.upper()
    form, numbers = Form(" ".join(words), header=True), {"GRADE"} if usual is QRELS else {"SCORE", "RANK"}
    return form if {"QUERY", "DOCUMENT"} <= form.places.keys() and numbers & form.places.keys() else None


def _fits(words: Sequence[str], form: Form, *, is_usual: bool) -> bool:
    """Whether the words of a line are those of a form; the word behind a query that is written as Q0 or 0 stands for
    nothing, where it is not one of three."""
    if len(words) != form.words or not all(words) or words[0] == "Q0":
        return False
    is_placed = "Q0" in form.places
    is_number = re.fullmatch(NUMBER, words[form.places[form.number]]) is not None
    is_ranked = is_placed or form.rank is None or words[form.rank].isdecimal()
    is_usual = is_usual or form.words == 3 or is_placed == (words[1].casefold() in ("q0", "0"))
    return is_number and is_ranked and is_usual


def _of_items(path: Path, content: bytes, usual: Form, most: int | None) -> Iterator[_Rows]:
    """The rows of Parquet and of JSON. Raises DatasetError where these do not name what is needed."""
    import pyarrow as pa

    value = usual.number.lower()
    if content.startswith(PARQUET):
        placed: Iterator[Any] = ((f"row {n}", row) for n, row in enumerate(parquet_rows(path, held=False), 1))
    else:
        placed = _unfolded(path, _json(path, content), usual)
    if not (rows := list(itertools.islice(placed, most))):
        return
    names = list(rows[0][1]) if isinstance(rows[0][1], Mapping) else []
    if (form := _headed(names, usual)) is None:
        raise DatasetError(
            f"{path} has the columns {', '.join(names) or 'of no row'}; expected columns like query_id, doc_id, "
            f"{value}, or an object like {{query: {{document: {value}}}}}"
        )

    def given(word: str, row: int) -> Any:
        there = rows[row][1]
        return there.get(names[form.places[word]]) if isinstance(there, Mapping) else None

    def text(word: str, row: int) -> str | None:
        value, legal = given(word, row), str | int | float if word in NUMBERS else str | int
        is_legal = isinstance(value, legal) and not isinstance(value, bool)
        return str(value) if is_legal and not is_torn(str(value)) else None

    values = {
        word: pa.array([text(word, row) for row in range(len(rows))], pa.large_string())
        for word in READ & form.places.keys()
    }
    yield _Rows(form, values, given, lambda row: rows[row][0], np.zeros(len(rows), bool))


def _json(path: Path, content: bytes) -> Any:
    """A JSON text, or the rows of JSON Lines."""
    text = content.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except ValueError as error:
        try:
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise DatasetError(f"{path} is no JSON that can be read: {error}") from None


def _unfolded(path: Path, given: Any, usual: Form) -> Iterator[tuple[str, Any]]:
    """The rows of a list; of an object from query to its documents; of a list that an object holds under its name; and
    of rows that each hold a list, as `{"query": {"qid": …}, "candidates": […]}`."""
    rows = given if isinstance(given, list) else [given]
    first = rows[0] if rows and isinstance(rows[0], Mapping) else {}
    lists = [name for name, own in first.items() if _is_of_objects(own)]
    by_query: Iterable[tuple[Any, Any]] | None = (
        given.items() if isinstance(given, dict) and _headed(list(given), usual) is None else None
    )
    if len(lists) == 1 and isinstance(given, dict) and _headed(list(first[lists[0]][0]), usual) is not None:
        rows, by_query = first[lists[0]], None
    elif len(lists) == 1 and None not in (asked := [_asked(row, lists[0]) for row in rows]):
        by_query = zip(asked, [row[lists[0]] for row in rows], strict=True)
    if by_query is None:
        yield from ((f"item {number}", row) for number, row in enumerate(rows, 1))
        return
    for query, own in by_query:
        place = f"query {query}".encode("utf-8", "backslashreplace").decode()
        members = _members(own, usual.number.lower())
        if members is None:
            raise DatasetError(f"{path}, {place}: expected {{document: {usual.number.lower()}}}")
        yield from ((place, {"query_id": query, **member}) for member in members)


def _asked(row: Any, held: str) -> str | None:
    """The id of the query that a row with a list of its documents is about; None where it names none."""
    if not isinstance(row, Mapping) or not isinstance(row.get(held), list):
        return None
    query = row.get("query")
    asked = query if isinstance(query, Mapping) else row
    return next((str(asked[own]) for own in asked if key(own) in map(key, JUDGED["query"][:5])), None)


def _members(documents: Any, value: str) -> Iterable[Mapping[str, Any]] | None:
    """What one query holds, as rows: {document: number}, [[document, number], …], objects, or [document, …], the best
    first, or all of them relevant; None for anything else."""
    if _is_of_objects(documents):
        return documents
    if isinstance(documents, list) and all(isinstance(name, str | int) for name in documents):
        documents = [(name, 1 if value == "grade" else -rank) for rank, name in enumerate(documents, 1)]
    elif isinstance(documents, Mapping):
        documents = documents.items()
    elif not isinstance(documents, list) or not all(isinstance(name, list) and len(name) == 2 for name in documents):
        return None
    return ({"document": document, value: number} for document, number in documents)


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(member, Mapping) for member in value)


def _checked(path: Path, rows: _Rows) -> tuple[str, pa.DictionaryArray, pa.LargeStringArray, Array, Array]:
    """Tag of the first row, queries, documents, numbers and ranks; a rank that is no number is behind all others,
    because only the order of equal scores hangs on it. Raises DatasetError for a name or a number that is none."""
    from pyarrow import compute

    form, number = rows.form, rows.form.number
    queries, documents = rows.values["QUERY"], rows.values["DOCUMENT"]
    numbers, ranks = _numbers(rows.values[number]), np.full(len(queries), np.inf)
    is_query, is_document = (compute.fill_null(compute.not_equal(names, ""), False) for names in (queries, documents))
    faults = [
        ("QUERY", is_query.to_numpy(False), "the query {} is no name; expected a text"),
        ("DOCUMENT", is_document.to_numpy(False), "the document {} is no name; expected a text"),
        (number, ~np.isnan(numbers), f"{{}} is not a {number.lower()}, a finite number; expected {form.line}"),
    ]
    if form.rank is not None:
        ranks = _numbers(rows.values["RANK"])
        said = f"more than {form.words} columns, and {{}} is not a rank; is there a blank in a name?"
        faults.append(("RANK", ~(np.isnan(ranks) & rows.longer), f"{said} expected {form.line}"))
        ranks = np.where(np.isnan(ranks), np.inf, ranks)
    for word, right, said in faults:
        if not right.all():
            row = int(right.argmin())
            raise DatasetError(f"{path}, {rows.place(row)}: {said.format(repr(rows.given(word, row)))}")
    tag = str(rows.values["TAG"][0]) if "TAG" in rows.values else ""
    return tag, queries.dictionary_encode(), documents, numbers, ranks


def _numbers(words: Any) -> Array:
    """The finite numbers that words are; NaN for any other."""
    import pyarrow as pa
    from pyarrow import compute

    try:
        found = words.cast(pa.float64())
    except pa.ArrowInvalid:
        found = compute.if_else(compute.match_substring_regex(words, NUMBER), words, None).cast(pa.float64())
    numbers = found.to_numpy(zero_copy_only=False)
    return numbers if np.isfinite(numbers).all() else np.where(np.isfinite(numbers), numbers, np.nan)


NAMES: dict[str, str] = {name: metric for metric, names in TABLE["measures"].items() for name in names}
"""Name, without case and without what parts its words → the metric: those of trec_eval, ir_measures, BEIR and ranx."""
_WRITTEN = re.compile(r"(?P<name>[A-Za-z][\w-]*?)(?P<options>\(.*\))?(?:[@_.]?(?P<cut>\d+))?")
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


def label(name: str, *, nearly: bool = False) -> str:
    """The catalogue's label of a measure: `nDCG(dcg='exp-log2')@10` is `ndcg(gain=exponential)@10`.

    A name that no tool has, and one that is a label already, stays as it is; nearly: the next one is taken for it.
    """
    written = _WRITTEN.fullmatch(name.strip())
    key = "" if written is None else re.sub("[_-]", "", written["name"]).casefold()
    key = next(iter(difflib.get_close_matches(key, NAMES, 1)), key) if nearly else key
    if written is None or key not in NAMES:
        return name
    cut, options = written["cut"], []
    for option in (written["options"] or "()")[1:-1].split(","):
        given, sign, value = (part.strip() for part in option.partition("="))
        value = value.strip("'\"")
        if given == "cutoff":
            cut = value
        elif given == "dcg":
            options.append(f"gain={_GAINS.get(value, value)}")
        elif given:
            options.append(f"{'level' if given == 'rel' else given}{sign}{value}")
    return NAMES[key] + (f"({', '.join(options)})" if options else "") + (f"@{cut}" if cut else "")
