"""Logged results: what a system retrieved at another time or place, from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench import trec
from ragbench.datasets import Dataset, DatasetError
from ragbench.datasets.files import parse_json, read_lines, read_text
from ragbench.settings import project_folder
from ragbench.systems.items import ItemReader
from ragbench.systems.retrieval import Progress, Retrieval, RetrievalError
from ragbench.types import Question

SHOWN = 5  # question ids that are named
LINE = '{"id": question id, "retrieved": [chunk id, …]}'


class LoggedSystem:
    """Ranked lists by question id, read when made.

    .jsonl: an object a line, `{"id": …, "retrieved": […]}`. .json: a list of such objects, or one object from question
    id to list, or to an object from chunk id to score. Anything else: a TREC run, its order by score, equal scores in
    the file's order. Each may be gzipped. Items are read by `ItemReader`.
    """

    is_stand_in = False

    def __init__(self, name: str, path: Path, dataset: Dataset) -> None:
        self.name, self.dataset = name, dataset
        self.path = path if path.is_absolute() else project_folder() / path
        self._shown = path.name if path.is_absolute() else str(path)
        place = f"systems.{name}.results = {self._shown!r}"
        try:
            self._lists = _read(self.path)
        except FileNotFoundError:
            raise RetrievalError(f"{place}: there is no such file") from None
        except (DatasetError, trec.TrecError) as error:
            raise RetrievalError(f"{place}: {error}") from None

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "logged", "results": self._shown}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises RetrievalError when the file knows none of the questions, or when they are to be asked anew."""
        if fresh:
            raise RetrievalError(f"systems.{self.name}: what was logged cannot be asked again")
        reader = ItemReader(self.dataset.chunks)
        errors = {q.id: f"not in {self._shown}" for q in questions if q.id not in self._lists}
        if questions and len(errors) == len(questions):
            raise RetrievalError(
                f"systems.{self.name}: none of the {len(questions)} questions is in {self._shown}; it has "
                f"{len(self._lists)}, such as {_some(self._lists)}; asked were {_some([q.id for q in questions])}"
            )
        hits = []
        for question in questions:
            try:
                hits.append(reader.hits(self._lists.get(question.id, ()), k))
            except RetrievalError as error:
                raise RetrievalError(f"{self._shown}, question {question.id}: {error}") from None
        if progress is not None:
            progress(len(self.dataset.chunks) + len(questions))
        facts = {**self.description, **reader.facts()}
        known = {question.id for question in self.dataset.questions} | {question.id for question in questions}
        strangers = [name for name in self._lists if name not in known]
        if strangers:
            facts |= {"unknown_questions": len(strangers), "unknown_questions_first": sorted(strangers)[:SHOWN]}
        if errors:
            facts |= {"missing_questions": len(errors), "missing_questions_first": sorted(errors)[:SHOWN]}
        return Retrieval(hits, errors=errors, facts=facts)


def _read(path: Path) -> dict[str, Any]:
    endings = [ending.lower() for ending in path.suffixes]
    if ".jsonl" in endings:
        rows = ((f"{path.name}, line {number}", item) for number, item in read_lines(path))
        return dict(_unique(rows))
    if ".json" in endings:
        content = parse_json(read_text(path), path.name)
        if isinstance(content, list):
            return dict(_unique((f"{path.name}, item {n}", item) for n, item in enumerate(content, 1)))
        if isinstance(content, dict):
            return dict(content)
        raise DatasetError(f"{path.name}: a list of {LINE} is expected, or an object from question id to list")
    run = trec.read_run(path)
    return {query: list(zip(*trec.listed_order(retrieved), strict=True)) for query, retrieved in run.queries.items()}


def _unique(rows: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for place, item in rows:
        if not isinstance(item, dict) or "id" not in item or "retrieved" not in item:
            raise DatasetError(f"{place}: expected {LINE}")
        name = str(item["id"])
        if name in seen:
            raise DatasetError(f"{place}: question {name} stands twice; keep one list a question")
        seen.add(name)
        yield name, item["retrieved"]


def _some(names: Any) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:SHOWN])
