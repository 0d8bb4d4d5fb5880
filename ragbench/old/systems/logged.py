"""Logged results: what a system retrieved at another time or place, from a file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragbench.old.core.settings import project_folder
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Array, Question, Status
from ragbench.old.data import Dataset, DatasetError, trec
from ragbench.old.data.cells import flag
from ragbench.old.data.files import cut, parse_json, read_lines, read_text
from ragbench.old.systems.generation import Generation
from ragbench.old.systems.passages import ItemReader, Passages
from ragbench.old.systems.retrieval import Progress, Retrieval, RetrievalError, steps

SHOWN = 5  # question ids that are named
ANSWERS = ("answer", "answers")
STAGES = {"search": "search_ms", "generate": "generate_ms", "answer": "latency_ms"}
"""Stages of an answer, and the fields that say what they took."""
LINE = '{"id": question id, "retrieved": [chunk id, …]}, with an "answer" at will'


class LoggedSystem:
    """Ranked lists by question id, read when made.

    .jsonl: an object a line, `{"id": …, "retrieved": […]}`. .json: a list of such objects, or one object from question
    id to list, or to an object from chunk id to score. Anything else: a TREC run, its order by score, equal scores in
    the file's order. Each may be gzipped. Items are read by `ItemReader`.

    An object may also hold the "answer" that the system gave, or its "answers" to the same question asked repeatedly,
    and "latency_ms" (a number, or one for each answer); one with an answer may leave "retrieved" out. "shown" (or one
    for each answer) says whether the production judge let the user see it: true or false, yes or no, да or нет, 1 or 0.

    Of one answer may also be logged: "search_ms" and "generate_ms", the two parts of "latency_ms"; "input_tokens",
    "output_tokens" and "model". "error" says why there is no answer, or nothing retrieved.
    """

    is_stand_in = False

    def __init__(
        self, name: str, path: Path, dataset: Dataset, given: Iterable[Mapping[str, Any]] | None = None
    ) -> None:
        """given: the objects themselves, in place of a file's; `path` is then only what they are called."""
        self.name, self.dataset, self._passages = name, dataset, Passages.of(dataset.chunks)
        self.path = path if path.is_absolute() else project_folder() / path
        self._shown = path.name if path.is_absolute() else str(path)
        place = f"systems.{name}.results = {self._shown!r}"
        if given is None and not self.path.is_file():
            raise RetrievalError(f"{place}: there is no such file")
        try:
            lines = (
                _read(self.path)
                if given is None
                else dict(_unique((f"{path}, row {number}", row) for number, row in enumerate(given, 1)))
            )
        except DatasetError as error:
            raise RetrievalError(f"{place}: {error}") from None
        self._lists = {identifier: line.retrieved for identifier, line in lines.items()}
        staged = any("search" in line.stages and "generate" in line.stages for line in lines.values())
        self._answers = {
            identifier: line.by_stage() if staged else line.answers
            for identifier, line in lines.items()
            if line.answers
        }
        self._stages = {identifier: line.stages for identifier, line in lines.items()} if staged else {}
        self._failed = {identifier: line.error for identifier, line in lines.items() if line.error}

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "logged", "results": self._shown}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises RetrievalError when the file knows none of the questions, or when they are to be asked anew."""
        if fresh:
            raise RetrievalError(f"systems.{self.name}: what was logged cannot be asked again")
        reader = ItemReader(self._passages)
        errors = {q.id: f"not in {self._shown}" for q in questions if q.id not in self._lists}
        n_missing, missing_first = len(errors), sorted(errors)[:SHOWN]
        if questions and n_missing == len(questions):
            raise RetrievalError(
                f"systems.{self.name}: none of the {len(questions)} questions is in {self._shown}; it has "
                f"{len(self._lists)}, such as {_some(self._lists)}; asked were {_some([q.id for q in questions])}"
            )
        hits = []
        for question in questions:
            try:
                hits.append(reader.hits(self._lists.get(question.id) or (), k, question.relevant))
            except RetrievalError as error:
                raise RetrievalError(f"{self._shown}, question {question.id}: {error}") from None
        if progress is not None:
            progress(steps(len(self.dataset.chunks), len(questions)))
        facts = {**self.description, **reader.facts()}
        known = {question.id for question in self.dataset.questions} | {question.id for question in questions}
        strangers = [name for name in self._lists if name not in known]
        if strangers:
            facts |= {"unknown_questions": len(strangers), "unknown_questions_first": sorted(strangers)[:SHOWN]}
        if errors:
            facts |= {"missing_questions": n_missing, "missing_questions_first": missing_first}
        errors |= {q.id: self._failed[q.id] for q, ranking in zip(questions, hits, strict=True)
                   if q.id in self._failed and not ranking}  # fmt: skip
        answers = {q.id: self._answers[q.id] for q in questions if q.id in self._answers}
        untold = frozenset(name for name in answers if self._lists[name] is None)
        clocks = self._read_clocks(questions)
        return Retrieval(hits, errors=errors, untold=untold, facts=facts, answers=answers, logged_ms=clocks)

    def _read_clocks(self, questions: Sequence[Question]) -> dict[str, Array]:
        """What was logged of search and of the whole answer, where the parts of answers were logged at all."""
        import numpy as np

        if not self._stages:
            return {}
        read = [self._stages.get(question.id, {}) for question in questions]
        return {part: np.array([stages.get(part, np.nan) for stages in read]) for part in ("search", "answer")}


@dataclass(frozen=True)
class _Line:
    """What was logged of one question."""

    retrieved: Any  # None where nothing was said of it
    answers: tuple[Generation, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
    error: str = ""

    def by_stage(self) -> tuple[Generation, ...]:
        """The answers with what writing them took, and not all that was waited for."""
        taken = self.stages.get("generate")
        return tuple(replace(answer, seconds=None if taken is None else taken / 1000) for answer in self.answers)


def _read(path: Path) -> dict[str, _Line]:
    endings = [ending.lower() for ending in path.suffixes]
    if ".jsonl" in endings:
        rows = ((f"{path.name}, line {number}", item) for number, item in read_lines(path))
        return dict(_unique(rows))
    if ".json" in endings:
        content = parse_json(read_text(path), path.name)
        if isinstance(content, list):
            return dict(_unique((f"{path.name}, item {n}", item) for n, item in enumerate(content, 1)))
        if isinstance(content, dict):
            return {str(name): _Line(retrieved) for name, retrieved in content.items()}
        raise DatasetError(f"{path.name}: a list of {LINE} is expected, or an object from question id to list")
    run = trec.read_run(path)
    ordered = {query: trec.listed_order(retrieved) for query, retrieved in run.queries.items()}
    return {
        query: _Line(list(zip(listing.documents.to_pylist(), listing.scores.tolist(), strict=True)))
        for query, listing in ordered.items()
    }


def _unique(rows: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, _Line]]:
    seen = set()
    for place, item in rows:
        if not isinstance(item, dict) or "id" not in item or not item.keys() & {"retrieved", "error", *ANSWERS}:
            raise DatasetError(f"{place}: expected {LINE}")
        name = str(item["id"])
        if name in seen:
            raise DatasetError(f"{place}: question {name} stands twice; keep one list a question")
        seen.add(name)
        error = item.get("error") or ""
        if not isinstance(error, str):
            raise DatasetError(f"{place}: error = {cut(error)}: a text is expected")
        yield name, _Line(item.get("retrieved"), _answers(item, place, error), _stages(item, place), error)


def _stages(item: Mapping[str, Any], place: str) -> dict[str, float]:
    """Stage → milliseconds, of what was logged for the one answer of a line."""
    milliseconds = {}
    for part, name in STAGES.items():
        taken = item.get(name)
        if not _is_duration(taken) and not (part == "answer" and isinstance(taken, list)):
            raise DatasetError(f"{place}: {name} = {cut(taken)}: a number from 0 is expected")
        if isinstance(taken, int | float):
            milliseconds[part] = float(taken)
    return milliseconds


def _answers(item: Mapping[str, Any], place: str, error: str) -> tuple[Generation, ...]:
    """The answers of one line, each with its latency where that is known."""
    if not item.keys() & set(ANSWERS) and error:
        return (Generation.failed(Status.MISSING_FIELD, f"the log: {error}"),)
    if not item.keys() & set(ANSWERS):
        if item.get("shown") not in (None, ""):
            raise DatasetError(f'{place}: shown = {cut(item["shown"])}: it is of an "answer", and there is none')
        return ()
    texts = item["answers"] if "answers" in item else [item["answer"]]
    if not isinstance(texts, list) or not texts:
        raise DatasetError(f"{place}: answers = {excerpt(repr(texts), 80)}: a list of texts is expected")
    taken = item.get("latency_ms")
    taken = taken if isinstance(taken, list) else [taken] * len(texts)
    if len(taken) != len(texts) or not all(_is_duration(latency) for latency in taken):
        raise DatasetError(f"{place}: latency_ms is a number from 0, or a list of one for each of the answers")
    seconds = [None if latency is None else latency / 1000 for latency in taken]
    more: dict[str, Any] = {name: _count(item, name, place) for name in ("input_tokens", "output_tokens")}
    if isinstance(model := item.get("model"), str) and model:
        more["answered_by"] = model
    return tuple(
        Generation.of(text, "the log", seconds=duration, shown=shown, **more)
        for text, duration, shown in zip(texts, seconds, _shown(item.get("shown"), len(texts), place), strict=True)
    )


def _shown(given: Any, number: int, place: str) -> list[bool | None]:
    """Whether each answer was shown; None where the log does not say."""
    marks = given if isinstance(given, list) else [given] * number
    try:
        flags = [flag(mark) for mark in marks]
    except ValueError:
        flags = []
    if len(flags) != number:
        raise DatasetError(
            f"{place}: shown = {cut(given)}: true or false, yes or no, да or нет, 1 or 0 is expected, or a list of one "
            f"for each of the answers ({number})"
        )
    return flags


def _count(item: Mapping[str, Any], name: str, place: str) -> int | None:
    given = item.get(name)
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 0):
        raise DatasetError(f"{place}: {name} = {cut(given)}: a whole number from 0 is expected")
    return given


def _is_duration(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf)


def _some(names: Any) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:SHOWN])
