"""Your own generator: any Python callable, named as module:function."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.settings import GeneratorSettings
from ragbench.core.types import Status
from ragbench.systems.callables import of_table, told
from ragbench.systems.frameworks import adapted_writer
from ragbench.systems.generation import BaseGenerator, Generation, GenerationError, Progress, Task


class FunctionGenerator(BaseGenerator):
    """Called once an answer with the question's text and the list of the contexts' texts; it may be a coroutine.

    It returns the answer as a text, or an object with it under "answer". A task at which it raises, or
    runs out of time, has no answer, and the error is its reason; when every task fails, nothing was measured, and
    that is an error as a whole.
    """

    def __init__(self, name: str, settings: GeneratorSettings) -> None:
        super().__init__(name, settings)
        self.path = str(settings.callable)
        self._function = of_table(
            f"generators.{name}", self.path, "(question, contexts)", settings.timeout_seconds, GenerationError,
            adapted_writer, settings.given,
        )  # fmt: skip

    @property
    def description(self) -> Mapping[str, Any]:
        return {"kind": "callable", "callable": self.path, "max_context_characters": self.max_context_characters}

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One call a task, in order. Raises GenerationError when every one of them raises."""
        generations, raised = [], 0
        for task in tasks:
            begun = time.perf_counter()
            try:
                said = self._function(task.question.text, [chunk.text for chunk in task.contexts])
            except Exception as error:
                raised += 1
                generations.append(Generation.failed(Status.MISSING_FIELD, told(error)))
            else:
                text = said.get("answer") if isinstance(said, Mapping) else said
                generations.append(Generation.of(text, self.path, seconds=time.perf_counter() - begun))
            if progress is not None:
                progress(1)
        if tasks and raised == len(tasks):
            raise GenerationError(
                f"generators.{self.name}: {self.path} failed for all {raised} tasks: {generations[0].reason}"
            )
        return generations
