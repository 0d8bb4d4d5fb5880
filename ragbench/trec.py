"""TREC files: judgements (qrels) and runs, read strictly, and the order that each convention makes of a run.

Lines are split at white space. Plain or gzipped (by content, whatever the name), UTF-8 with or without a byte-order
mark, LF or CRLF; blank lines and lines that begin with `#` are skipped, and words behind a run's tag (NIST's own files
have some). Anything else that does not fit is an error that names the file, the line and what was expected.
"""

from __future__ import annotations

import gzip
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path

import numpy as np

QRELS_LINE = "QUERY ITERATION DOCUMENT GRADE"
RUN_LINE = "QUERY Q0 DOCUMENT RANK SCORE TAG"
LONGEST_LINE = 1 << 16
MOST_LINES = 8_000_000  # 1,000 documents for each of 8,000 queries: about 600 MB in memory
_SUFFIXES = {".gz", ".run", ".qrels", ".qrel", ".trec", ".txt", ".tsv", ".res"}

Qrels = dict[str, dict[str, float]]


class TrecError(ValueError):
    """A TREC file that cannot be read: the message names file, line and what was expected."""


@dataclass(slots=True)
class Retrieved:
    """The lines of one query in a run, in the file's order; without ranks that order is the list's."""

    documents: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[float] = field(default_factory=lambda: array("d"))


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands in its file.

    name: the file's name without its endings. tag: the sixth column of its first line.
    """

    name: str
    tag: str
    path: Path
    queries: dict[str, Retrieved]


def read_qrels(path: Path | str) -> Qrels:
    """Grades by document by query. A pair may be repeated with the same grade, not with another.

    Raises TrecError for a line that is not `QUERY ITERATION DOCUMENT GRADE`, or no file.
    """
    path = Path(path)
    qrels: Qrels = {}
    names: dict[str, str] = {}
    for number, words in _lines(path, QRELS_LINE):
        query, _, document, text = words
        grade = _number(text, path, number, "a grade", QRELS_LINE)
        judged = qrels.setdefault(query, {})
        if judged.setdefault(names.setdefault(document, document), grade) != grade:
            raise TrecError(
                f"{path}, line {number}: query {query} and document {document} were judged {judged[document]:g} before "
                f"and {grade:g} here; keep one grade a pair"
            )
    if not qrels:
        raise TrecError(f"{path} holds no judgements; expected lines like {QRELS_LINE}")
    return qrels


def read_run(path: Path | str) -> Run:
    """The documents, scores and ranks of each query; an empty file is a run that answered nothing.

    What stands behind the tag is ignored, as trec_eval ignores it; such a line needs a number as its rank, because a
    blank in a document's name moves the columns. Raises TrecError for a line that is not
    `QUERY Q0 DOCUMENT RANK SCORE TAG`, or no file.
    """
    path = Path(path)
    queries: dict[str, Retrieved] = {}
    names: dict[str, str] = {}
    tag = ""
    for number, words in _lines(path, RUN_LINE, more=True):
        query, _, document, place, text, last, *behind = words
        tag = tag or last
        rank = _rank(place)
        if behind and math.isinf(rank):
            raise TrecError(
                f"{path}, line {number}: more than 6 columns, and {place!r} is not a rank; is there a blank in a name? "
                f"expected {RUN_LINE}"
            )
        row = queries.get(query)
        if row is None:
            row = queries[query] = Retrieved()
        row.documents.append(names.setdefault(document, document))
        row.scores.append(_number(text, path, number, "a score", RUN_LINE))
        row.ranks.append(rank)
    return Run(_name(path), tag, path, queries)


def listed_order(retrieved: Retrieved) -> tuple[list[str], list[float]]:
    """Documents and scores, highest score first; equal scores by their rank, and equal ranks by the document's name.

    So no shuffling of a file's lines changes a number.
    """
    documents = retrieved.documents
    scores = np.array(retrieved.scores, dtype=float)
    ranks = np.array(retrieved.ranks if retrieved.ranks else range(len(documents)), dtype=float)
    order = np.lexsort((ranks, -scores)).tolist()
    tied = (scores[order][1:] == scores[order][:-1]) & (ranks[order][1:] == ranks[order][:-1])
    if tied.any():
        order.sort(key=lambda place: (-scores[place], ranks[place], documents[place]))
    return [documents[place] for place in order], scores[order].tolist()


def trec_eval_order(retrieved: Retrieved, *, where: str = "") -> list[str]:
    """Documents as trec_eval orders them: scores as 32-bit numbers, highest first, equal ones by document, last first.

    where: how to name the query and its file in the TrecError for a document that is there twice, which trec_eval
    refuses too.
    """
    if len(set(retrieved.documents)) < len(retrieved.documents):
        twice = next(each for each in retrieved.documents if retrieved.documents.count(each) > 1)
        raise TrecError(
            f"{where or 'the query'}: document {twice} is there twice, which trec_eval refuses; "
            "without --compatible the first place counts"
        )
    scores = np.frombuffer(retrieved.scores, dtype=float).astype(np.float32).tolist() if retrieved.scores else []
    pairs = sorted(zip(scores, retrieved.documents, strict=True), key=lambda pair: pair[1], reverse=True)
    return [document for _, document in sorted(pairs, key=lambda pair: pair[0], reverse=True)]


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


def _number(text: str, path: Path, line: int, what: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise TrecError(f"{path}, line {line}: {text!r} is not {what}, a finite number; expected {expected}")
    return value


def _rank(text: str) -> float:
    """The rank, behind all others where it is no number: only the order of equal scores hangs on it."""
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    return math.inf if math.isnan(value) else value


def _lines(path: Path, expected: str, *, more: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Numbered lines, split into words and checked for their number. more: words behind the expected ones may stand."""
    wanted, number = len(expected.split()), 0
    try:
        with _opened(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                if number > MOST_LINES:
                    raise TrecError(f"{path} has more than {MOST_LINES} lines; split it by query")
                if len(line) == LONGEST_LINE:
                    raise TrecError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes; expected {expected}")
                words = line.decode("utf-8-sig" if number == 1 else "utf-8").split()
                if not words or words[0].startswith("#"):
                    continue
                if len(words) < wanted or (len(words) > wanted and not more):
                    raise TrecError(
                        f"{path}, line {number}: {len(words)} columns instead of {wanted}; expected {expected}"
                    )
                yield number, words
    except UnicodeDecodeError as error:
        raise TrecError(f"{path}, line {number}: not UTF-8 ({error.reason}); expected {expected}") from error
    except FileNotFoundError:
        raise TrecError(f"{path}: there is no such file; expected lines like {expected}") from None
    except IsADirectoryError:
        raise TrecError(f"{path} is a folder; expected a file with lines like {expected}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TrecError(f"{path} is a broken gzip file: {error}") from error


def _opened(path: Path) -> BufferedIOBase:
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path) if zipped else path.open("rb")
