"""TREC files: judgements (qrels) and runs, read strictly, and the order that each convention makes of a run.

Lines are split at blanks and tabs. Plain or packed (by content, whatever the name), UTF-8 with or without a byte-order
mark; blank lines and lines that begin with `#` are skipped, and words behind a run's tag (NIST's own files have some).
Other forms are known by their beginning: judgements `QUERY DOCUMENT GRADE`, runs without Q0, tag, rank or score, with
tabs or commas, under a header of names, as JSON and as Parquet. What does not fit is an error that names the file, the
line and what was expected.
"""

from __future__ import annotations

import difflib
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.data.cells import TABLE
from ragbench.data.files import PACKINGS, DatasetError, parquet_rows, unpacked
from ragbench.data.trec.lines import (
    LONGEST_LINE,
    Columns,
    Form,
    Placed,
    checked,
    data_lines,
    finite,
    of_rows,
    read_bounded,
    read_lines,
    rows,
    understood,
)
from ragbench.data.vocabulary import JUDGED, key, printed

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.core.types import Array


__all__ = [
    "Qrels", "Retrieved", "Run", "distinct_names", "listed_order", "nothing", "read_qrels", "read_run",
    "told", "trec_eval_order", "trec_eval_queries",
]  # fmt: skip

QRELS = Form("QUERY ITERATION DOCUMENT GRADE")
RUN = Form("QUERY Q0 DOCUMENT RANK SCORE TAG", more=True)
SHORT = (
    "QUERY DOCUMENT GRADE", "QUERY Q0 DOCUMENT RANK SCORE", "QUERY DOCUMENT RANK SCORE TAG",
    "QUERY DOCUMENT RANK SCORE", "QUERY DOCUMENT SCORE RANK", "QUERY DOCUMENT SCORE",
)  # fmt: skip
"""Lines with fewer words than TREC's, known by their number and by which of them are numbers."""
_SUFFIXES = {
    *PACKINGS[1:], ".run", ".qrels", ".qrel", ".trec", ".txt", ".tsv", ".res", ".csv", ".json", ".jsonl", ".parquet",
}  # fmt: skip

Qrels = dict[str, dict[str, float]]


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
    path = Path(path)
    columns, _ = read(path, QRELS)
    if not columns.queries:
        raise DatasetError(f"{path} holds no judgements; expected lines like {QRELS.line}")
    documents, grades = columns.documents, columns.numbers.tolist()
    qrels = {
        query: dict(zip(documents[own].to_pylist(), grades[own], strict=True)) for query, own in columns.queries.items()
    }
    if sum(map(len, qrels.values())) < len(grades):
        _once(path)
    return qrels


def _once(path: Path) -> None:
    """Raises DatasetError for the first pair that is judged in two ways."""
    before: Qrels = {}
    for place, query, document, grade, *_ in checked(path, *_rows(path, _content(path), QRELS)):
        known = before.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            raise DatasetError(
                f"{path}, {place}: query {query} and document {document} were judged {known:g} before and "
                f"{grade:g} here; keep one grade a pair"
            )


def read_run(path: Path | str) -> Run:
    """The documents, scores and ranks of each query; an empty file is a run that answered nothing.

    What stands behind the tag is ignored, as trec_eval ignores it; such a line needs a number as its rank, because a
    blank in a document's name moves the columns. Without scores the ranks are the order, and without ranks equal
    scores go by the document's name. Raises DatasetError for a line that does not have the form of the first one, or no
    file.
    """
    path = Path(path)
    columns, form = read(path, RUN)
    documents, scores = columns.documents, columns.numbers
    ranks = np.full(len(scores), np.inf) if columns.ranks is None else columns.ranks
    queries = {query: Retrieved(documents[own], scores[own], ranks[own]) for query, own in columns.queries.items()}
    line = "" if form is None or form.line == RUN.line else form.line
    return Run(_name(path), columns.tag, path, queries, line.replace("SCORE", "RANK") if columns.ranked else line)


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


PARQUET = b"PAR1"


def read(path: Path, usual: Form) -> tuple[Columns, Form | None]:
    """The columns of a file, and the form of its lines; None for one that has none. Raises DatasetError."""
    with understood(path, usual):
        content = _content(path)
        if (items := _items(path, content, usual)) is not None:
            return of_rows(path, *items), None
        form = _form(path, content, usual)
        columns = read_lines(path, content, form)
    return (_by_rank(columns) if form.value == "score" and columns.ranks is None else columns), form


def _content(path: Path) -> bytes:
    """What a file holds, unpacked; of Parquet its mark alone."""
    with unpacked(path) as file:
        is_parquet = file.read(len(PARQUET)) == PARQUET
    return PARQUET if is_parquet else read_bounded(path)


def _rows(path: Path, content: bytes, usual: Form) -> tuple[Iterable[Placed], Form]:
    """The rows of a file, whatever its form, and what they hold."""
    if (items := _items(path, content, usual)) is not None:
        return items
    form = _form(path, content, usual)
    return rows(path, content, form), form


LOOKED_AT, MOST_LOOKED_AT = 50, 2**26  # lines tell a form of lines; JSON is read whole to tell it, and so up to 64 MB


def told(path: Path) -> Literal["", "run", "qrels"]:
    """What a file is by how it begins; empty for neither. Where nothing but numbers tells, whole ones are grades."""
    for usual in (RUN, QRELS):
        with suppress(DatasetError, OSError), understood(path, usual):
            with unpacked(path) as file:
                content = file.read(LONGEST_LINE)
            if _is_structured(content) and path.stat().st_size <= MOST_LOOKED_AT:
                content = _content(path)
            elif len(content) == LONGEST_LINE:
                content = content[: content.rfind(b"\n") + 1]
            made, form = _rows(path, content, usual)
            first = list(itertools.islice(made, LOOKED_AT))
            columns = of_rows(path, first, form)
            if usual is QRELS or not first:
                return "qrels" if first else ""
            is_ranked = len(columns.queries) < len(first) and _by_rank(columns).ranked
            numbers = [words[form.number] for _, words in first]
            is_whole = all(n.lstrip("+-").isdigit() if isinstance(n, str) else float(n).is_integer() for n in numbers)
            if is_ranked or not is_whole or "run" in path.name.casefold() or {"RANK", "TAG"} & form.places.keys():
                return "run"
    return ""


def _form(path: Path, content: bytes, usual: Form) -> Form:
    """The form of a text by its first line; the usual one where that has another number of words than any."""
    line = next((line for _, line in data_lines(path, content, usual)), "")
    if why := printed(f"{line}\n"):
        raise DatasetError(f"{path}: {why}")
    by_separator = {separator: replace(usual, separator=separator).split(line) for separator in ("\t", ",", None)}
    for separator, words in by_separator.items():
        if (headed := _headed(words, usual)) is not None:
            return replace(headed, separator=separator)
    for separator, words in reversed(by_separator.items()):
        for form in (usual, *map(Form, SHORT)):
            if form.value == usual.value and _fits(words, form, is_usual=form is usual):
                return replace(form, separator=separator)
    return usual


def _headed(names: Sequence[str], usual: Form) -> Form | None:
    """The form of lines below the names of their columns; None where these do not name what is needed."""
    words = ["—"] * len(names)
    for role in ("query", "iteration", "document", usual.value, "rank", "tag"):
        spelled = list(map(key, JUDGED[role]))
        own = [place for place, name in enumerate(names) if words[place] == "—" and key(name) in spelled]
        if own:  # of two columns, as qid and query, or docid and docno of PyTerrier, the likelier one
            words[min(own, key=lambda place: spelled.index(key(names[place])))] = role.upper()
    form, numbers = Form(" ".join(words), header=True), {"GRADE"} if usual.value == "grade" else {"SCORE", "RANK"}
    return form if {"QUERY", "DOCUMENT"} <= form.places.keys() and numbers & form.places.keys() else None


def _fits(words: Sequence[str], form: Form, *, is_usual: bool) -> bool:
    """Whether the words of a line are those of a form; the word behind a query that is written as Q0 or 0 stands for
    nothing, where it is not one of three."""
    if len(words) != form.words or not all(words) or words[0] == "Q0":
        return False
    is_placed = "Q0" in form.places
    rank = "0" if is_placed or form.rank is None else words[form.rank]
    return (
        finite(words[form.number]) is not None
        and rank.isdecimal()
        and (is_usual or form.words == 3 or is_placed == (words[1].casefold() in ("q0", "0")))
    )


def _by_rank(columns: Columns) -> Columns:
    """The same where the numbers are ranks, as MS MARCO's runs have them: 1, 2, 3 … of every query, line by line."""
    scores = columns.numbers
    counted = all(
        np.array_equal(scores[own], np.arange(1, own.stop - own.start + 1)) for own in columns.queries.values()
    )
    return replace(columns, numbers=-scores, ranks=scores, ranked=True) if counted else columns


def _is_structured(content: bytes) -> bool:
    """Whether a file is Parquet or JSON."""
    return content.startswith(PARQUET) or content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


def _items(path: Path, content: bytes, usual: Form) -> tuple[Iterator[Placed], Form] | None:
    """The rows of Parquet, and of JSON: an object from query to documents, a list of rows, or rows as JSON Lines; None
    for a text of lines."""
    if not _is_structured(content):
        return None
    if content.startswith(PARQUET):
        return _of_mappings(path, parquet_rows(path, held=False), "row", usual)
    text = content.decode("utf-8-sig", "replace")
    try:
        given = json.loads(text)
    except ValueError as error:
        try:
            given = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise DatasetError(f"{path} is no JSON that can be read: {error}") from None
    given = _named(given, usual)
    if isinstance(given, dict) and _headed(list(given), usual) is None:
        return _of_queries(path, given, usual.value), Form(f"QUERY DOCUMENT {usual.value.upper()}")
    return _of_mappings(path, iter(given if isinstance(given, list) else [given]), "item", usual)


def _named(given: Any, usual: Form) -> Any:
    """{query: [document, …]} of rows that hold their lists, as `{"query": {"qid": …}, "candidates": […]}`; a list that
    an object holds under its name; anything else as it is."""
    rows = given if isinstance(given, list) else [given]
    lists = {name for row in rows[:1] if isinstance(row, Mapping) for name, own in row.items() if _is_of_objects(own)}
    if len(lists) != 1:
        return given
    (held,) = lists
    if isinstance(given, dict) and _headed(list(given[held][0]), usual) is not None:
        return given[held]
    by_query: dict[str, Any] = {}
    for row in rows:
        asked = row.get("query", row) if isinstance(row, Mapping) else None
        asked = asked if isinstance(asked, Mapping) else row
        name = next((str(asked[own]) for own in asked if key(own) in map(key, JUDGED["query"][:5])), None)
        if name is None or not isinstance(row.get(held), list):
            return given
        by_query[name] = row[held]
    return by_query


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(member, Mapping) for member in value)


def _of_mappings(path: Path, given: Iterator[Any], what: str, usual: Form) -> tuple[Iterator[Placed], Form]:
    """Rows that name their columns; the first one's names are those of all."""
    first: Any = next(given, {})
    names = list(first) if isinstance(first, Mapping) else []
    form = _headed(names, usual) if names or what == "item" else usual  # Parquet without a row
    if form is None:
        raise DatasetError(
            f"{path} has the columns {', '.join(names) or 'of no row'}; expected columns like query_id, doc_id, "
            f"{usual.value}, or an object like {{query: {{document: {usual.value}}}}}"
        )
    every = itertools.chain([first] if names else [], given)
    made = ([row.get(name) if isinstance(row, Mapping) else None for name in names] for row in every)
    return ((f"{what} {number}", row) for number, row in enumerate(made, 1)), form


def _of_queries(path: Path, given: Mapping[str, Any], value: str) -> Iterator[Placed]:
    """Rows of {query: {document: number}}, or of {query: [document, …]}: the best first, or all of them relevant."""
    for query, documents in given.items():
        place = f"query {query}".encode("utf-8", "backslashreplace").decode()
        if isinstance(documents, Mapping):
            pairs: Iterable[Any] = documents.items()
        elif isinstance(documents, list) and all(isinstance(name, str | int) for name in documents):
            pairs = ((name, 1 if value == "grade" else -rank) for rank, name in enumerate(documents, 1))
        elif isinstance(documents, list) and all(isinstance(name, list) and len(name) == 2 for name in documents):
            pairs = documents
        elif (
            _is_of_objects(documents)
            and value.upper() in (form := _headed(["qid", *documents[0]], Form(value.upper())) or Form("")).places
        ):
            taken = [["qid", *documents[0]][form.places[role]] for role in ("DOCUMENT", value.upper())]
            pairs = ([member.get(name) for name in taken] for member in documents)
        else:
            raise DatasetError(f"{path}, {place}: expected {{document: {value}}}")
        yield from ((place, (query, *pair)) for pair in pairs)


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
