"""BEIR folders: corpus.jsonl, queries.jsonl and qrels/*.tsv become chunks, questions and graded relevance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragbench.core.settings.secrets import excerpt
from ragbench.data.files import DatasetError, read_lines, read_text
from ragbench.data.records import ChunkRecord, QuestionRecord
from ragbench.data.rows import checked

HEADER = ("query-id", "corpus-id", "score")
TREC = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+\s*")


def read(
    corpus: Path, queries: Path, qrels: Path, *, clusters: re.Pattern[str] | None = None
) -> tuple[list[ChunkRecord], list[QuestionRecord], dict[str, int]]:
    """Chunks and questions of three files, plain or gzipped, and what was left out, counted by reason.

    corpus: lines of {"_id", "text", "title"?, "metadata"?: {"url"?}}; title and text stay apart. queries: lines of
    {"_id", "text"}. qrels: tab-separated `query-id corpus-id score`, with that header, or TREC's lines of
    `query 0 passage grade` without one; grades of 0 and less are judgements of irrelevance. clusters: a pattern whose
    first group, found in a question's id, names its cluster.

    A judgement of a passage that the corpus does not hold is left out and counted: recall is over the question's other
    ones. A question that loses all its relevant passages so is left out too. One without any judgement stays,
    unlabelled. Raises DatasetError naming file, line and field.
    """
    left_out: Counter[str] = Counter()
    chunks = {item["_id"]: _chunk(item, place) for place, item in _items(corpus, ("_id", "text"), left_out)}
    texts = {item["_id"]: (place, item["text"]) for place, item in _items(queries, ("_id", "text"), left_out)}
    judged = _judgements(qrels)
    for query in sorted(set(judged) - set(texts)):
        left_out["judged question that is not among the queries"] += 1
        del judged[query]
    questions = []
    for identifier, (place, text) in texts.items():
        grades = judged.get(identifier, {})
        there = {chunk: grade for chunk, grade in grades.items() if chunk in chunks}
        if _relevant(grades) and not _relevant(there):
            left_out["question none of whose relevant passages is in the corpus"] += 1
            continue
        left_out["judgement of a passage that is not in the corpus (its question stays)"] += len(grades) - len(there)
        questions.append(_question(identifier, text, there, clusters, place))
    if not questions:
        raise DatasetError(f"{queries.name}: no question is left; {dict(left_out) or 'the file is empty'}")
    return list(chunks.values()), questions, dict(+left_out)


def files(folder: Path, split: str | None = "test") -> tuple[Path, Path, Path]:
    """Corpus, queries and judgements of a BEIR folder, each plain or gzipped.

    split: names the file below qrels/; None: the judgements are elsewhere, and the folder stands in their place.
    """
    corpus, queries = _present(folder / "corpus.jsonl"), _present(folder / "queries.jsonl")
    return corpus, queries, folder if split is None else _present(folder / "qrels" / f"{split}.tsv")


def _present(path: Path) -> Path:
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.is_file():
            return candidate
    if not path.parent.is_dir():
        raise DatasetError(f"{path.parent}: there is no such folder; {path.name} is expected in it")
    there = sorted(p.name for p in path.parent.glob("*"))
    raise DatasetError(f"{path}: there is no such file; the folder holds {', '.join(there) or 'nothing'}")


def _items(path: Path, needed: tuple[str, ...], left_out: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for number, item in read_lines(path):
        place = f"{path.name}, line {number}"
        for name in needed:
            if not isinstance(item.get(name), str):
                raise DatasetError(f"{place}: {name} = {item.get(name)!r}: a text is expected")
        if item["_id"] in seen:
            raise DatasetError(f"{place}: the _id {item['_id']!r} stands there twice")
        seen.add(item["_id"])
        if item["text"].strip():
            yield place, item
        else:
            left_out[f"line of {path.name} with an empty text"] += 1


def _chunk(item: Mapping[str, Any], place: str) -> ChunkRecord:
    more = item.get("metadata")
    url = more.get("url") if isinstance(more, Mapping) else None
    title = item.get("title") or None
    return checked(ChunkRecord, {"id": item["_id"], "text": item["text"], "title": title, "url": url or None}, place)


def _question(
    identifier: str, text: str, grades: Mapping[str, float], clusters: re.Pattern[str] | None, place: str
) -> QuestionRecord:
    found = clusters.search(identifier) if clusters is not None else None
    if clusters is not None and (found is None or not found.groups()):
        raise DatasetError(f"{place}: the pattern {clusters.pattern!r} finds no cluster in the _id {identifier!r}")
    relevant = _relevant(grades)
    made = {
        "id": identifier,
        "text": text,
        "relevant": relevant,
        "answerable": True if relevant else None,
        "cluster": found.group(1) if found is not None else None,
        "source": "beir",
    }
    return checked(QuestionRecord, made, place)


def _relevant(grades: Mapping[str, float]) -> dict[str, float]:
    return {chunk: grade for chunk, grade in grades.items() if grade > 0}


def _judgements(path: Path) -> dict[str, dict[str, float]]:
    lines = read_text(path).splitlines()
    is_trec = bool(lines) and TREC.fullmatch(lines[0]) is not None
    if not lines or not (is_trec or tuple(lines[0].split("\t")) == HEADER):
        raise DatasetError(
            f"{path.name}, line 1: the header {' '.join(HEADER)}, tab-separated, is expected, or TREC qrels: "
            "`query 0 passage grade`"
        )
    found: dict[str, dict[str, float]] = {}
    for number, line in enumerate(lines if is_trec else lines[1:], 1 if is_trec else 2):
        if not line.strip():
            continue
        parts = line.split("\t")
        if is_trec:
            parts = line.split()
            parts = [parts[0], *parts[2:]] if len(parts) == 4 else []
        try:
            query, chunk, grade = parts[0], parts[1], float(parts[2])
        except (IndexError, ValueError):
            raise DatasetError(
                f"{path.name}, line {number}: {excerpt(line, 80)!r}: {' '.join(HEADER)} is expected"
            ) from None
        if len(parts) != 3 or not -1000 <= grade <= 1000:
            raise DatasetError(
                f"{path.name}, line {number}: {excerpt(line, 80)!r}: three fields, a finite score are expected"
            )
        if found.setdefault(query, {}).setdefault(chunk, grade) != grade:
            raise DatasetError(f"{path.name}, line {number}: {query} and {chunk} were judged otherwise before")
    return found
