"""Your own retriever: any Python callable, named as module:function."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.datasets import Dataset
from ragbench.settings import project_folder
from ragbench.systems.items import ItemReader
from ragbench.systems.retrieval import Progress, Retrieval, RetrievalError
from ragbench.types import Hit, Question

KINDS_SHOWN = 5  # kinds of errors that are named
SHOWN_CHARACTERS = 300  # of one error


class FunctionSystem:
    """Called once a question with its text and k; what it returns is read by `ItemReader`. It may be a coroutine.

    The module is looked for beside ragbench.toml first. A question at which it raises is kept as an error and has no
    hits; when every question fails, nothing was measured, and that is an error as a whole.
    """

    is_stand_in = False

    def __init__(self, name: str, path: str, dataset: Dataset) -> None:
        self.name, self.path, self.dataset = name, path, dataset
        self._function = _find(name, path)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path}

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """One call a question, in order, always anew. Raises RetrievalError when every one of them fails."""
        reader = ItemReader(self.dataset.chunks)
        hits: list[list[Hit]] = []
        errors: dict[str, str] = {}
        milliseconds = np.zeros(len(questions))
        if progress is not None:
            progress(len(self.dataset.chunks))
        for place, question in enumerate(questions):
            begun = time.perf_counter()
            try:
                answer = self._ask(question.text, k)
                milliseconds[place] = (time.perf_counter() - begun) * 1000
                hits.append(reader.hits(answer, k))
            except Exception as error:
                milliseconds[place] = np.nan
                hits.append([])
                errors[question.id] = " ".join(f"{type(error).__name__}: {error}".split())[:SHOWN_CHARACTERS]
            if progress is not None:
                progress(1)
        if questions and len(errors) == len(questions):
            first = next(iter(errors.values()))
            raise RetrievalError(f"systems.{self.name}: {self.path} failed for all {len(questions)} questions: {first}")
        facts = {**self.description, **reader.facts()}
        if errors:
            facts |= {"errors": len(errors), "errors_first": sorted(set(errors.values()))[:KINDS_SHOWN]}
        return Retrieval(hits, search_ms=milliseconds, errors=errors, facts=facts)

    def _ask(self, text: str, k: int) -> Any:
        answer = self._function(text, k)
        return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Any) -> Any:
    return await answer


def _find(name: str, path: str) -> Callable[[str, int], Any]:
    module_name, _, function_name = path.partition(":")
    place = f"systems.{name}.callable = {path!r}"
    folder = str(project_folder())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise RetrievalError(f"{place}: {module_name} cannot be imported: {type(error).__name__}: {error}") from error
    for part in function_name.split("."):
        if not hasattr(found, part):
            offered = [word for word in dir(found) if not word.startswith("_") and callable(getattr(found, word))]
            raise RetrievalError(f"{place}: there is no {part}; there are {', '.join(offered) or 'no functions'}")
        found = getattr(found, part)
    if not callable(found):
        raise RetrievalError(f"{place}: that is a {type(found).__name__}, not a function of (question, k)")
    return found
