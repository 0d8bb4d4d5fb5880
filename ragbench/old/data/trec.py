"""TREC files: judgements (qrels) and runs, read strictly, and the order that each convention makes of a run.

Lines are split at blanks and tabs. Plain or packed (by content, whatever the name), in any encoding that can be told;
blank lines are skipped, those that begin with `#` and are none of the others' form, and words behind a run's tag
(NIST's own files have some).
Other forms are known by their beginning: judgements `QUERY DOCUMENT GRADE`, runs without Q0, tag, rank or score, with
tabs, commas or semicolons, under a header of names; and what `read_rows` reads, as JSON of any shape and Parquet. What
does not fit is an error that names the file, the line and what was expected.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.names import is_torn
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.data import nested
from ragbench.old.data.cells import TABLE, printed, verdict, whole
from ragbench.old.data.encodings import is_utf_8
from ragbench.old.data.files import DAMAGED, PACKINGS, DatasetError, cut_list, read_text, unpacked
from ragbench.old.data.folder import MODELS
from ragbench.old.data.rows import BEGINS, TABLES, endings_of, read_rows
from ragbench.old.data.vocabulary import JUDGED

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.old.core.types import Array

LONGEST_LINE = 1 << 16  # a binary file has no end of line, and is refused after so much
MOST_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""Of one file, unpacked: half of this machine's memory, so that a small file that unpacks to no end is refused."""
BLOCK = 1 << 19  # bytes of lines that are split at once: words take more memory than the columns made of them
LOOKED_AT = 50  # rows that tell what a file is
_SUFFIXES = {*PACKINGS[1:], *TABLES, ".run", ".qrels", ".qrel", ".trec", ".txt", ".res"}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ROLES: dict[str, list[str]] = TABLE["beir"]
"""Words of the names of files and folders that say what these hold: corpus, queries, qrels."""
NUMBERS = ("GRADE", "SCORE", "RANK", "PLACE")
READ = ("QUERY", "DOCUMENT", *NUMBERS, "TAG")
"""Words of a line that are read, and those among them that are numbers."""

Qrels = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Form:
    """What a line holds, by its words: QUERY, DOCUMENT, RANK, SCORE or GRADE, TAG; any other word is read by nobody.

    more: whether words behind the expected ones may stand; such a line needs a number as its rank, because a blank in a
    document's name moves the columns. header: whether the first line names the columns. separator: what parts words;
    None: blanks and tabs; empty: nothing does, of values.
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
        """The word that is the number of a line; of RANK, and of PLACE in a list, the smallest is best."""
        return next(word for word in NUMBERS if word in self.places)

    @property
    def rank(self) -> int | None:
        """The place of a rank beside a score."""
        return self.places.get("RANK") if self.number == "SCORE" else None


QRELS = Form("QUERY ITERATION DOCUMENT GRADE")
RUN = Form("QUERY Q0 DOCUMENT RANK SCORE TAG", more=True)
SHORT = tuple(map(Form, JUDGED["short"]))
"""Lines with fewer words than TREC's, known by their number and by which of them are numbers."""
UNTOLD = "QUERY DOCUMENT RANK SCORE"
"""The line among them whose last two words may stand the other way round: that which counts is the rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Retrieved:
    """What a run retrieved for one query, in the order of its lines or in one that a convention makes of it.

    documents: a column of Arrow, of strings. scores, ranks: (documents,).
    """

    documents: pa.LargeStringArray
    scores: Array
    ranks: Array

    def by(self, **columns: tuple[Any, str]) -> Retrieved:
        """The rows in the order of these columns, the first that tells two apart: ascending, or descending."""
        import pyarrow as pa
        from pyarrow import compute

        table = pa.table({name: column for name, (column, _) in columns.items()})
        order = compute.sort_indices(table, [(name, way) for name, (_, way) in columns.items()]).to_numpy()
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
                    f"and {grade:g} here; keep one grade a pair, of several subtopics or people one of theirs"
                )
    if not qrels:
        raise DatasetError(f"{path} holds no judgements; expected lines like {QRELS.line}")
    return qrels


def read_run(path: Path | str) -> Run:
    """The documents, scores and ranks of each query; an empty file is a run that answered nothing.

    What stands behind the tag is ignored, as trec_eval ignores it; such a line needs a number as its rank, because a
    blank in a document's name moves the columns. Without scores the ranks are the order, and without ranks equal
    scores go by the document's name. Raises DatasetError for a line that does not have the form of the first one, for
    numbers that nothing tells to be ranks or scores, or no file.
    """
    return _run(path := Path(path), _blocks(path, RUN))


def _run(path: Path, blocks: Iterable[_Rows], *, begins: bool = False) -> Run:
    """begins: these rows are what it begins with, which need not tell ranks from scores."""
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
    if form.number in ("RANK", "PLACE"):
        scores = -scores
    elif form.rank is None and (counted := _counted(scores, own)):
        if counted == "any" and not (begins or form.header or form.separator == ""):
            raise DatasetError(
                f"{path}: the numbers count the documents of each query, and the lines have another order: if they are "
                "ranks, write the line query_id doc_id rank above them, if they are scores, query_id doc_id score"
            )
        if counted == "up":
            scores, ranks, line = -scores, scores, line.replace("SCORE", "RANK")
    elif form.line == UNTOLD and not (form.header or _counted(ranks, own)) and _counted(scores, own):
        scores, ranks, line = ranks, scores, "QUERY DOCUMENT SCORE RANK"
    elif form.rank is not None and _are_against(ranks, scores, own[:LOOKED_AT]):
        line = f"{form.line}, the highest score first, where the ranks say the lowest (of distances write the negative)"
    found = {query: Retrieved(documents[at], scores[at], ranks[at]) for query, at in zip(asked, own, strict=True)}
    return Run(_name(path), tags[0], path, found, line)


def _counted(numbers: Array, queries: Sequence[slice]) -> Literal["", "up", "any"]:
    """Whether numbers count the documents of every query, from 0 or 1: up, line by line, as ranks of MS MARCO's runs
    do, or in any order; empty where they do not, and where they count down, as scores may."""
    first = numbers.min() if len(queries) < len(numbers) else np.nan
    if first not in (0, 1):
        return ""
    wanted = [np.arange(own.stop - own.start) + first for own in queries]
    given = [numbers[own] for own in queries]
    is_up, is_down = (all(map(np.array_equal, given, each)) for each in (wanted, (row[::-1] for row in wanted)))
    return "up" if is_up else "any" if not is_down and all(map(np.array_equal, map(np.sort, given), wanted)) else ""


def _are_against(ranks: Array, scores: Array, queries: Sequence[slice]) -> bool:
    """Whether the scores of all these queries rise with their ranks, as distances do."""
    steps = np.concatenate([np.diff(scores[own][np.argsort(ranks[own], kind="stable")]) for own in queries])
    return bool(np.isfinite(ranks).all() and (steps >= 0).all() and steps.any())


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
    return retrieved.by(
        scores=(scores, "descending"), ranks=(ranks, "ascending"), names=(retrieved.documents, "ascending")
    )


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
    return retrieved.by(scores=(scores, "descending"), names=(retrieved.documents, "descending"))


def _name(path: Path) -> str:
    name = path
    while name.suffix.lower() in _SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.name


def told(path: Path, *, numbered: bool = False) -> Literal["", "run", "qrels"]:
    """What a file is by how it begins; empty for neither. Where nothing but numbers tells, whole ones are grades.

    numbered: one that holds no number is neither. Raises DatasetError for a fault of one whose columns are named so.
    """
    fault, name = None, path.name.casefold()
    is_called = "run" in name
    is_judged = not is_called and any(word in name for word in ROLES["qrels"])
    for usual in (QRELS, RUN) if is_judged else (RUN, QRELS):
        first = None
        try:
            first = next(_blocks(path, usual, begins=True))
            run = _run(path, [first], begins=True)
            if "PLACE" in first.form.places and (numbered or not (first.form.header or is_called or is_judged)):
                continue
            given = [first.given(first.form.number, row) for row in range(len(first.longer))]
            is_whole = all(
                n.lstrip("+-").isdigit() or verdict(n) is not None if isinstance(n, str) else float(n).is_integer()
                for n in given
            )
            if usual is QRELS and (is_whole or fault is None):
                return "qrels"
            if (usual is RUN and not is_whole) or is_called or {"RANK", "TAG"} & {*(run.form or RUN.line).split()}:
                return "run"
        except StopIteration:
            pass
        except DatasetError as error:
            fault = error if first is not None and first.form.header else fault
    if fault is not None:
        raise fault
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
    from pyarrow import compute

    content, form = _content(path, usual, begins), None
    if why := printed(content[:LONGEST_LINE].decode("utf-8", "replace") + "\n"):
        raise DatasetError(f"{path}: {why}")
    ending = _ending(content)
    is_table = bool(ending)
    for numbers, lines in () if is_table else _lines(path, content.removeprefix(BOM_UTF8), usual):
        if form is None:
            for first in dict.fromkeys((0, int(compute.starts_with(lines, "#").to_numpy(False).argmin()))):
                if (form := _form(path, lines[first].as_py(), usual)) is not None and form.header:
                    break
            if is_table := form is None:
                break
            start = (first + 1) * form.header
            numbers, lines = numbers[start:], lines[start:]
        if len(lines) and (rows := _of_lines(path, numbers, lines, form)) is not None:
            yield rows
    if is_table:
        yield from _of_table(path, ending, usual, LOOKED_AT if begins else None)


def _ending(start: bytes) -> str:
    """Of a table that is told by how it begins; empty for lines."""
    is_json = start.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")
    return ".json" if is_json else BEGINS.get(start[:4], "")


def _content(path: Path, usual: Form, begins: bool) -> bytes:
    """What a file holds, or its first lines, unpacked, in UTF-8; how it begins, of what is no lines."""
    if why := TABLE["unread"].get(path.suffix.lower()):
        raise DatasetError(f"{path}: {why[0]}")
    try:
        with unpacked(path) as file:
            start = file.read(LONGEST_LINE)
            if _ending(start):
                return start
            if b"\0" in start or not is_utf_8(start):
                return read_text(path).encode()
            if begins:
                return b"\n".join(start.splitlines()[:LOOKED_AT])
            content = start + file.read(max(0, MOST_BYTES + 1 - len(start)))
    except DAMAGED as error:
        raise DatasetError(f"{path}: cannot be read: {error}; expected lines like {usual.line}") from None
    if len(content) > MOST_BYTES:
        what = f"more than {MOST_BYTES / 1e9:.3g} GB of text, half of this machine's memory"
        raise DatasetError(f"{path} holds {what}; split it by query")
    return content


def _of_lines(path: Path, numbers: NDArray[np.int64], lines: pa.LargeStringArray, form: Form) -> _Rows | None:
    """The rows of lines; None where all of them are comments. Raises DatasetError for a line with too few or too many
    words; one that begins with # may be a comment then."""
    import pyarrow as pa
    from pyarrow import compute

    if form.separator == "\t" and not form.header and compute.any(compute.match_substring(lines, "\t\t")).as_py():
        lines = compute.replace_substring_regex(lines, r"\t+", "\t")  # every word of such a line is there
    words = _split(lines, form.separator)
    counts = compute.list_value_length(words).to_numpy()
    wrong = counts < form.words if form.more else counts != form.words
    is_hashed = compute.starts_with(lines, "#").to_numpy(False)
    if (is_comment := is_hashed & wrong).any():
        kept = [each[~is_comment] for each in (numbers, counts, wrong, is_hashed)]
        (numbers, counts, wrong, is_hashed), words = kept, words.filter(pa.array(~is_comment))
    if not len(words):
        return None
    if is_hashed.any() and not is_hashed.all():
        raise DatasetError(
            f"{path}, line {numbers[is_hashed][0]}: begins with #, and has as many words as the others; of a comment "
            "write a blank behind its #, of an id give it another beginning in all files"
        )
    if wrong.any():
        place = f"{path}, line {numbers[wrong][0]}"
        raise DatasetError(f"{place}: {counts[wrong][0]} columns instead of {form.words}; expected {form.line}")
    values = {word: compute.list_element(words, form.places[word]) for word in {*READ} & form.places.keys()}
    if form.header and form.number == "GRADE":  # an empty cell is no judgement
        is_judged = compute.not_equal(values["GRADE"], "")
        values = {word: own.filter(is_judged) for word, own in values.items()}
        numbers, counts = (each[is_judged.to_numpy(False)] for each in (numbers, counts))
    given, place_of = (lambda word, row: values[word][row].as_py()), (lambda row: f"line {numbers[row]}")
    return _Rows(form, values, given, place_of, counts > form.words)


def _lines(path: Path, content: bytes, usual: Form) -> Iterator[tuple[NDArray[np.int64], pa.LargeStringArray]]:
    """Lines with their numbers, many at once, without blank ones and those of a # alone, or before a blank. Raises
    DatasetError for one that is too long, or no text."""
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
        is_row = compute.invert(compute.or_(is_blank, compute.match_substring_regex(lines, r"^#([#\s]|$)")))
        if len(rows := lines.filter(is_row)):
            yield np.flatnonzero(is_row) + before, rows
        start, before = end, before + text.count(b"\n")


def _split(lines: pa.LargeStringArray, separator: str | None) -> Any:
    """The words of each line, as lists."""
    import pyarrow as pa
    from pyarrow import compute

    if separator is None:
        return compute.ascii_split_whitespace(compute.ascii_trim_whitespace(lines))
    if separator in (",", ";"):
        cells = (next(csv.reader([line], delimiter=separator)) for line in lines.to_pylist())
        words = pa.array(list(cells), pa.large_list(pa.large_string()))
    else:
        words = compute.split_pattern(lines, separator)
    return type(words).from_arrays(words.offsets, compute.utf8_trim_whitespace(words.values))


def _form(path: Path, line: str, usual: Form) -> Form | None:
    """The form of a text by its first line, the usual one where that fits none; None for a table whose columns are
    named, but not by what a line is to hold."""
    import pyarrow as pa

    if line.startswith(("{", "[")):  # behind a comment
        return None
    split = {separator: _split(pa.array([line], pa.large_string()), separator) for separator in ("\t", ",", ";", None)}
    by_separator = {separator: words[0].as_py() for separator, words in split.items()}
    is_table = bool({*endings_of(path)} & {*TABLES})
    for separator, names in by_separator.items():
        form = Form(" ".join(nested.words(tuple(names), usual.number)), header=True, separator=separator)
        if {"QUERY", "DOCUMENT"} <= form.places.keys() and not nested.NUMBERS[usual.number].isdisjoint(form.places):
            is_of_lists = is_table and names[form.places["DOCUMENT"]].lower().endswith("s")  # in its cells
            return None if is_of_lists else form
    for separator, words in by_separator.items():
        for form in (usual, *SHORT):
            if form.number == usual.number and _fits(words, form, is_usual=form is usual):
                return replace(form, separator=separator)
    return None if is_table else usual


def _fits(words: Sequence[str], form: Form, *, is_usual: bool) -> bool:
    """Whether the words of a line are those of a form; the word behind a query that is written as Q0 or 0 stands for
    nothing, where it is not one of three."""
    if len(words) != form.words or not all(words) or words[0] == "Q0":
        return False
    is_placed = "Q0" in form.places
    is_number = NUMBER.fullmatch(words[form.places[form.number]].replace(",", ".")) is not None
    is_ranked = is_placed or form.rank is None or words[form.rank].isdecimal()
    second = words[1].casefold() if len(words) > 1 else ""
    of_documents = "Q0" if form.words == 4 else "Q0 0"  # of four words the second may be a document called 0
    is_told = second.upper() in of_documents.split() if is_placed else second not in ("q0", "0")
    is_usual = is_usual or form.words == 3 or is_told
    return is_number and is_ranked and is_usual


def _of_table(path: Path, ending: str, usual: Form, most: int | None) -> Iterator[_Rows]:
    """The rows of what holds values under names. Raises DatasetError where these do not name what is needed."""
    import pyarrow as pa

    given = read_rows(path, held=False, spread=False, ending=ending)
    begun = list(itertools.islice(given, 2))
    for table in ("ratings", "dialogues"):
        if begun and begun[0][1].keys() >= {
            name for name, own in MODELS[table].model_fields.items() if own.is_required()
        }:
            raise DatasetError(f"{path}: {table} of a data set, which name no documents of a query")
    lost: list[tuple[str, dict[str, Any]]] = []
    names: dict[str, None] = {}
    file = f"{path.name}, "

    def lines() -> Iterator[nested.Line]:
        for place, value in itertools.chain(begun, given):
            where, is_read = place.removeprefix(file), False
            for row in nested.lines(value, usual.number, where, "" if len(begun) == 1 else None):
                is_read = True
                yield row
            if is_read:
                names.update(dict.fromkeys(value))
            elif not nested.is_empty(value, usual.number):
                lost.append((where, value))

    def is_named(row: Mapping[str, Any]) -> bool:
        return {"QUERY", "DOCUMENT"} <= nested.columns(tuple(row), usual.number).keys()

    try:
        rows = list(itertools.islice(lines(), most))
    except nested.UnnamedError as error:
        raise DatasetError(f"{path}, {error}") from None
    if usual is QRELS and any("PLACE" not in row for _, row in rows):  # an empty cell is no judgement
        rows = [(place, row) for place, row in rows if row.get("PLACE", 1) and row["GRADE"] is not None]
        lost = [(place, row) for place, row in lost if not (is_named(row) and row.keys() <= names.keys())]
    if rows and lost:
        raise DatasetError(
            f"{path}, {lost[0][0]}: names no document with its {usual.number.lower()}, as other rows do; leave it out, "
            "or call its columns as theirs"
        )
    if not rows:
        value = usual.number.lower()
        raise DatasetError(
            f"{path} has the columns {cut_list(begun[0][1]) if begun else 'of no row'}; expected columns like "
            f"query_id, doc_id, {value}, or an object like {{query: {{document: {value}}}}}"
        )

    def texts(word: str) -> Iterator[str | None]:
        legal = {str, int, *([float] if word in NUMBERS else []), *([bool] if word == "GRADE" else [])}
        for _, row in rows:
            said = str(value) if type(value := row.get(word)) in legal else None
            yield None if said is None or is_torn(said) else said

    header = is_named(begun[0][1]) or all(isinstance(own, list) for own in begun[0][1].values())
    form = Form(" ".join(word for word in READ if word in rows[0][1]), header=header, separator="")
    values = {word: pa.array(texts(word), pa.large_string()) for word in form.places}
    longer = np.zeros(len(rows), bool)
    yield _Rows(form, values, lambda word, row: rows[row][1].get(word), lambda row: rows[row][0], longer)


def _checked(path: Path, rows: _Rows) -> tuple[str, pa.DictionaryArray, pa.LargeStringArray, Array, Array]:
    """Tag of the first row, queries, documents, numbers and ranks; a rank that is no number is behind all others,
    because only the order of equal scores hangs on it. Raises DatasetError for a name or a number that is none."""
    from pyarrow import compute

    form, number = rows.form, rows.form.number
    queries, documents = whole(rows.values["QUERY"]), whole(rows.values["DOCUMENT"])
    numbers = _numbers(rows.values[number], marks=number == "GRADE")
    ranks = np.full(len(queries), np.inf)
    is_query, is_document = (compute.fill_null(compute.not_equal(names, ""), False) for names in (queries, documents))
    words = " (0 for not relevant, 1, 2 … for more; of words yes and no alone are grades)" if number == "GRADE" else ""
    faults = [
        ("QUERY", is_query.to_numpy(False), "the query {} is no name; expected a text"),
        ("DOCUMENT", is_document.to_numpy(False), "the document {} is no name; expected a text"),
        (number, ~np.isnan(numbers), f"{{}} is not a {number.lower()}, a finite number{words}; expected {form.line}"),
    ]
    if form.rank is not None:
        ranks = _numbers(rows.values["RANK"])
        is_moved = np.isnan(ranks)
        if is_moved.any():
            tags = _numbers(rows.values["TAG"]) if "TAG" in rows.values else np.nan
            is_moved &= rows.longer | ~np.isnan(tags)
        said = f"more than {form.words} columns, or a number behind the score, and {{}} is not a rank"
        faults.append(("RANK", ~is_moved, f"{said}; is there a blank in a name? expected {form.line}"))
        ranks = np.where(np.isnan(ranks), np.inf, ranks)
    for word, right, said in faults:
        if not right.all():
            row = int(right.argmin())
            raise DatasetError(f"{path}, {rows.place(row)}: {said.format(excerpt(repr(rows.given(word, row)), 100))}")
    tag = str(rows.values["TAG"][0]) if "TAG" in rows.values else ""
    return tag, queries.dictionary_encode(), documents, numbers, ranks


def _numbers(words: Any, *, marks: bool = False) -> Array:
    """The finite numbers that words are, whose commas are decimal; NaN for any other. marks: yes is 1, and no is 0."""
    import pyarrow as pa

    def one(word: str | None) -> float | None:
        text = (word or "").replace(",", ".")
        said = verdict(word) if marks and word else None
        return float(text) if NUMBER.fullmatch(text) else None if said is None else float(said)

    try:
        found = words.cast(pa.float64())
    except pa.ArrowInvalid:
        found = pa.array(map(one, words.to_pylist()), pa.float64())
    numbers = found.to_numpy(zero_copy_only=False)
    return numbers if np.isfinite(numbers).all() else np.where(np.isfinite(numbers), numbers, np.nan)
