"""Your own retriever: any Python callable, named as module:function."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.core.types import Hit, Question
from ragbench.data import Dataset
from ragbench.data.rows import cut_list
from ragbench.systems.callables import of_table, told
from ragbench.systems.frameworks import adapted
from ragbench.systems.generation import Generation
from ragbench.systems.items import ItemReader
from ragbench.systems.passages import Passages
from ragbench.systems.retrieval import Progress, Retrieval, RetrievalError, counted


class FunctionSystem:
    """Called once a question with its text and k; what it returns is read by `ItemReader`. It may be a coroutine, and
    an object of a framework is asked in its own way (`ragbench.systems.frameworks`).

    A system that answers by itself returns an object with "answer", and with "retrieved" for what it looked at.
    The module is one of an installed package, or lies beside ragbench.toml, unless the object itself is given. A
    question at which it raises, or runs out of time, is kept as an error and has no hits; when every question fails,
    nothing was measured, and that is an error as a whole.
    """

    is_stand_in = False

    def __init__(self, name: str, path: str, dataset: Dataset, seconds: float, given: Any = None) -> None:
        self.name, self.path, self.dataset = name, path, dataset
        self._passages = Passages.of(dataset.chunks)
        self._function = of_table(f"systems.{name}", path, "(question, k)", seconds, RetrievalError, adapted, given)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """One call a question, in order, always anew. Raises RetrievalError when every one of them fails."""
        reader = ItemReader(self._passages)
        hits: list[list[Hit]] = []
        errors: dict[str, str] = {}
        answers: dict[str, tuple[Generation, ...]] = {}
        untold: set[str] = set()
        milliseconds = np.zeros(len(questions))
        if progress is not None and not fresh:
            progress(len(self.dataset.chunks))
        for place, question in enumerate(questions):
            begun = time.perf_counter()
            try:
                answer = self._function(question.text, k)
                milliseconds[place] = (time.perf_counter() - begun) * 1000
                if isinstance(answer, Mapping) and not isinstance(answer.get("answer", 0.0), int | float):
                    if strange := answer.keys() - {"answer", "retrieved"}:
                        raise RetrievalError(f"it returned {cut_list(strange)} beside answer; retrieved is expected")
                    taken = milliseconds[place] / 1000
                    answers[question.id] = (Generation.of(answer["answer"], self.path, seconds=taken),)
                    if "retrieved" not in answer:
                        untold.add(question.id)
                    answer = answer.get("retrieved", ())
                hits.append(reader.hits(answer, k, question.relevant))
            except Exception as error:
                milliseconds[place] = np.nan
                hits.append([])
                errors[question.id] = told(error)
            if progress is not None:
                progress(2)
        failures = counted(f"systems.{self.name}: {self.path}", questions, errors)
        facts = {**self.description, **reader.facts(), **failures}
        return Retrieval(
            hits, search_ms=milliseconds, errors=errors, untold=frozenset(untold), facts=facts, answers=answers
        )
