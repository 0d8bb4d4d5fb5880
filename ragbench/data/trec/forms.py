"""Forms of judgements and runs beside TREC's own: fewer columns, a header, JSON, Parquet; all to the same columns.

Of a text the first line says its form: names of columns, or how many words there are and which of them are numbers.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ragbench.data.files import DatasetError
from ragbench.data.rows import parquet_rows
from ragbench.data.trec.lines import (
    Columns,
    Form,
    TrecError,
    from_rows,
    is_finite,
    opened,
    read_bounded,
    read_lines,
    split_lines,
    understood,
)

NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query", "queryid", "qid", "q", "topic", "topicid", "topicno"),
    "iteration": ("iteration", "iter", "q0", "0", "unused"),
    "document": (
        "document", "documentid", "doc", "docid", "docno", "did", "corpusid", "pid", "passage", "passageid",
    ),
    "grade": ("grade", "score", "relevance", "rel", "label", "judgement", "judgment", "qrel"),
    "score": ("score", "similarity", "sim"),
    "rank": ("rank", "position"),
    "tag": ("tag", "run", "runid", "runname", "runtag", "system"),
}  # fmt: skip
"""What a column may be called; case, blanks, hyphens and underscores do not tell two names apart."""
PARQUET = b"PAR1"


def read(path: Path, usual: Form) -> tuple[Columns, Form | None]:
    """The columns of a file, and the form of its lines; None for one that has none. Raises TrecError."""
    with understood(path, usual):
        with opened(path) as file:
            start = file.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(PARQUET):
            return _from_table(path, usual), None
        if start[:1] in (b"{", b"["):
            return _from_json(path, usual), None
        form = _form(path, usual)
        columns = read_lines(path, form)
    return (_by_rank(columns) if _value(form) == "score" and "rank" not in columns.numbers else columns), form


def _value(form: Form) -> str:
    """Whether the number of a line is a grade or a score."""
    return next(iter(form.number))


def _form(path: Path, usual: Form) -> Form:
    """The form of a text by its first line; the usual one where that has another number of words than any."""
    line = next((line for _, line in split_lines(path, usual) if line.strip() and not line.startswith("#")), "")
    for separator in ("\t", ",", None):
        words = [word.strip() for word in line.rstrip("\r\n").split(separator)]
        if (headed := _headed(words, _value(usual))) is not None:
            return replace(headed, separator=separator)
    return _short(line.split(), usual)


def _headed(words: Sequence[str], value: str) -> Form | None:
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        role = next((role for role in ("query", "iteration", "document", value, "rank", "tag") if _is(word, role)), "")
        places.setdefault(role or word, place)
    number = value if value in places else "rank" if value == "score" else ""
    if not {"query", "document", number} <= places.keys():
        return None
    known = {place: role.upper() for role, place in places.items()}
    line = " ".join(known.get(place, "—") if word else "—" for place, word in enumerate(words))
    ranked = {"rank": places["rank"]} if value == "score" and "rank" in places else {}
    return Form(
        line=line,
        text={"document": places["document"]},
        number={value: places[number]},
        word={"tag": places["tag"]} if "tag" in places and value == "score" else {},
        rank=ranked.get("rank"),
        query=places["query"],
        header=True,
        negated=number == "rank",
    )


def _is(word: str, role: str) -> bool:
    return "".join(letter for letter in word.casefold() if letter.isalnum()) in NAMES[role]


def _short(words: Sequence[str], usual: Form) -> Form:
    """A form with fewer words than TREC's, by their number and by which of them are numbers."""
    numbers = [is_finite(word) for word in words]
    if _value(usual) == "grade":
        three = Form("QUERY DOCUMENT GRADE", {"document": 1}, {"grade": 2})
        return three if len(words) == 3 and numbers[2] else usual
    placeholder = len(words) > 1 and words[1].casefold() in ("q0", "0")
    if words and words[0].casefold() == "q0":
        return usual
    match len(words):
        case 5 if placeholder and numbers[4]:
            return Form("QUERY Q0 DOCUMENT RANK SCORE", {"document": 2}, {"score": 4}, rank=3)
        case 5 if not placeholder and numbers[2] and numbers[3]:
            return Form("QUERY DOCUMENT RANK SCORE TAG", {"document": 1}, {"score": 3}, {"tag": 4}, rank=2)
        case 4 if not placeholder and numbers[2] and numbers[3]:
            return Form("QUERY DOCUMENT RANK SCORE", {"document": 1}, {"score": 3}, rank=2)
        case 3 if numbers[2]:
            return Form("QUERY DOCUMENT SCORE", {"document": 1}, {"score": 2})
        case _:
            return usual


def _by_rank(columns: Columns) -> Columns:
    """The same where the numbers are ranks, as MS MARCO's runs have them: 1, 2, 3 … of every query, line by line."""
    scores = columns.numbers["score"]
    counted = all(
        np.array_equal(scores[rows], np.arange(1, rows.stop - rows.start + 1)) for rows in columns.queries.values()
    )
    ranks = scores if counted else np.full(len(scores), np.inf)
    return replace(columns, numbers={"score": -scores if counted else scores, "rank": ranks}, ranked=counted)


def _from_table(path: Path, usual: Form) -> Columns:
    rows = parquet_rows(path, held=False)
    try:
        first = next(rows, None)
        form = usual if first is None else _headed(list(first), _value(usual))
        if form is None:
            raise TrecError(
                f"{path} has the columns {', '.join(first or ())}; "
                f"expected columns like query_id, doc_id, {_value(usual)}"
            )
        given = enumerate(itertools.chain([first] if first else [], rows), 1)
        return _from_items(path, ((f"row {number}", tuple(row.values())) for number, row in given), form)
    except DatasetError as error:
        raise TrecError(str(error)) from None


def _from_json(path: Path, usual: Form) -> Columns:
    """Of an object from query to documents, of a list of rows, or of rows as JSON Lines."""
    text, value = read_bounded(path).decode("utf-8-sig", "replace"), _value(usual)
    try:
        content = json.loads(text)
    except ValueError as error:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise TrecError(f"{path} is no JSON that can be read: {error}") from None
    plain = Form(f"QUERY DOCUMENT {value.upper()}", {"document": 1}, {value: 2})
    if isinstance(content, dict) and _headed(list(content), value) is None:
        return _from_items(path, _of_queries(path, content, value), plain)
    rows = content if isinstance(content, list) else [content]
    form = _headed(list(rows[0]), value) if rows and isinstance(rows[0], dict) else None
    if form is None:
        raise TrecError(
            f"{path}: expected an object like {{query: {{document: {value}}}}}, or rows with the fields query_id, "
            f"doc_id, {value}"
        )
    keys = list(rows[0])
    made = ([row.get(key) if isinstance(row, Mapping) else None for key in keys] for row in rows)
    return _from_items(path, ((f"item {number}", row) for number, row in enumerate(made, 1)), form)


def _of_queries(path: Path, content: Mapping[str, Any], value: str) -> Iterator[tuple[str, Sequence[Any]]]:
    """Rows of {query: {document: number}}, or of {query: [document, …]}: the best first, or all of them relevant."""
    for query, documents in content.items():
        place = f"query {query}"
        if isinstance(documents, Mapping):
            pairs: Iterable[tuple[Any, Any]] = documents.items()
        elif isinstance(documents, list) and all(isinstance(name, str | int) for name in documents):
            pairs = ((name, 1 if value == "grade" else -rank) for rank, name in enumerate(documents, 1))
        elif isinstance(documents, list) and all(isinstance(name, list) and len(name) == 2 for name in documents):
            pairs = ((name, number) for name, number in documents)
        else:
            raise TrecError(f"{path}, {place}: expected {{document: {value}}}")
        yield from ((place, (query, document, number)) for document, number in pairs)


def _from_items(path: Path, items: Iterable[tuple[str, Sequence[Any]]], form: Form) -> Columns:
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[float] = []
    ranks: list[float] = []
    first: dict[str, str] = {}
    [document], [(value, at)] = form.text.values(), form.number.items()
    for place, row in items:
        for what, name in ((form.query, "query"), (document, "document")):
            if isinstance(row[what], bool) or not isinstance(row[what], str | int):
                raise TrecError(f"{path}, {place}: the {name} {row[what]!r} is no name; expected a text")
        number = row[at]
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise TrecError(f"{path}, {place}: {number!r} is not a {value}, a finite number")
        first = first or {name: str(row[where]) for name, where in form.word.items()}
        queries.append(str(row[form.query]))
        documents.append(str(row[document]))
        numbers.append(-float(number) if form.negated else float(number))
        rank = None if form.rank is None else row[form.rank]
        ranks.append(float(rank) if isinstance(rank, int | float) and not math.isnan(rank) else math.inf)
    columns = {value: numbers, **({"rank": ranks} if value == "score" else {})}
    return from_rows(queries, {"document": documents}, columns, first)
