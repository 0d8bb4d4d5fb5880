"""TREC files: judgements (qrels) and runs, read strictly, and the order that each convention makes of a run.

Lines are split at white space. Plain or gzipped (by content, whatever the name), UTF-8 with or without a byte-order
mark, LF or CRLF; blank lines and lines that begin with `#` are skipped, and words behind a run's tag (NIST's own files
have some). Other forms are known by their beginning: judgements `QUERY DOCUMENT GRADE`, runs without Q0, tag, rank or
score, either under a header of names, as JSON and as Parquet (see `ragbench.data.trec.forms`). Anything else that does
not fit is an error that names the file, the line and what was expected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragbench.data.trec import forms
from ragbench.data.trec.lines import Columns, Form, TrecError, numbered

if TYPE_CHECKING:
    import pyarrow as pa

    from ragbench.core.types import Array

__all__ = [
    "Qrels", "Retrieved", "Run", "TrecError", "distinct_names", "listed_order", "nothing", "read_qrels", "read_run",
    "trec_eval_order", "trec_eval_queries",
]  # fmt: skip

QRELS = Form("QUERY ITERATION DOCUMENT GRADE", {"document": 2}, {"grade": 3})
RUN = Form("QUERY Q0 DOCUMENT RANK SCORE TAG", {"document": 2}, {"score": 4}, word={"tag": 5}, rank=3, more=True)
_SUFFIXES = {
    ".gz", ".run", ".qrels", ".qrel", ".trec", ".txt", ".tsv", ".res", ".csv", ".json", ".jsonl", ".parquet",
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

    Raises TrecError for a line that does not have the form of the first one, or no file.
    """
    path = Path(path)
    columns, form = forms.read(path, QRELS)
    if not columns.queries:
        raise TrecError(f"{path} holds no judgements; expected lines like {QRELS.line}")
    documents, grades = columns.texts["document"], columns.numbers["grade"].tolist()
    qrels = {
        query: dict(zip(documents[rows].to_pylist(), grades[rows], strict=True))
        for query, rows in columns.queries.items()
    }
    if sum(map(len, qrels.values())) < len(grades):
        _once(path, form, columns)
    return qrels


def _once(path: Path, form: Form | None, columns: Columns) -> None:
    """Raises TrecError for the first pair that is judged in two ways."""
    before: Qrels = {}
    for place, query, document, grade in _judged(path, form, columns):
        known = before.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            raise TrecError(
                f"{path}{place}: query {query} and document {document} were judged {known:g} before and "
                f"{grade:g} here; keep one grade a pair"
            )


def _judged(path: Path, form: Form | None, columns: Columns) -> Iterator[tuple[str, str, str, float]]:
    if form is not None:
        for number, words in numbered(path, form):
            grade = float(words[form.number["grade"]])
            yield f", line {number}", words[form.query], words[form.text["document"]], grade
        return
    for query, rows in columns.queries.items():
        grades = columns.numbers["grade"][rows].tolist()
        for document, grade in zip(columns.texts["document"][rows].to_pylist(), grades, strict=True):
            yield "", query, document, grade


def read_run(path: Path | str) -> Run:
    """The documents, scores and ranks of each query; an empty file is a run that answered nothing.

    What stands behind the tag is ignored, as trec_eval ignores it; such a line needs a number as its rank, because a
    blank in a document's name moves the columns. Without scores the ranks are the order, and without ranks equal
    scores go by the document's name. Raises TrecError for a line that does not have the form of the first one, or no
    file.
    """
    path = Path(path)
    columns, form = forms.read(path, RUN)
    documents, scores = columns.texts["document"], columns.numbers["score"]
    ranks = columns.numbers.get("rank", np.full(len(scores), np.inf))
    queries = {query: Retrieved(documents[rows], scores[rows], ranks[rows]) for query, rows in columns.queries.items()}
    line = "" if form is None or form.line == RUN.line else form.line
    return Run(
        _name(path),
        columns.words.get("tag", ""),
        path,
        queries,
        line.replace("SCORE", "RANK") if columns.ranked else line,
    )


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

    where: how to name the query and its file in the TrecError for a document that is there twice, which trec_eval
    refuses too.
    """
    if len(retrieved.documents.unique()) < len(retrieved.documents):
        names = retrieved.documents.to_pylist()
        twice = next(each for each in names if names.count(each) > 1)
        raise TrecError(
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
        raise TrecError(f"the run {twice} is given twice; name each file once")
    return named


def _name(path: Path) -> str:
    name = path
    while name.suffix.lower() in _SUFFIXES and name.stem:
        name = name.with_suffix("")
    return name.name
