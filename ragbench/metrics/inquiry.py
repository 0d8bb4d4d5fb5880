"""One judge, one sample: what every judged metric does alike, so that its own page holds only what is its own."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from ragbench.metrics.explanation import sentence, spoken
from ragbench.types import Chunk, Judge, Prompt, Sample, Score, Shape, Status

Result = TypeVar("Result")
Given = ParamSpec("Given")

AGAIN = 1_000_000
"""The repeat under which a question is put once more after an unusable answer: no run of repeats reaches it."""


class UnmeasuredError(Exception):
    """Ends a measurement that cannot go on; `measured` turns it into its score."""

    def __init__(self, score: Score) -> None:
        super().__init__(score.reason)
        self.score = score


def measured(metric: Callable[Given, Awaitable[Score]]) -> Callable[Given, Coroutine[Any, Any, Score]]:
    """A measurement whose end by `UnmeasuredError` is the score that the error carries."""

    @functools.wraps(metric)
    async def inside(*args: Given.args, **kwargs: Given.kwargs) -> Score:
        try:
            return await metric(*args, **kwargs)
        except UnmeasuredError as end:
            return end.score

    return inside


async def together(works: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results in order, all begun at once. The first error ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None
    return [task.result() for task in tasks]


class Inquiry:
    """Questions to one judge about one sample; keeps what every score of a judge has in common.

    seconds: what the judge took for the questions so far, those that it answered out of its journal included.
    suspected_injection: "slot: pattern" for texts that seem to address the judge.
    Raises UnmeasuredError where a field is None (`missing_field`) or blank (`empty_input`).
    """

    def __init__(self, sample: Sample, judge: Judge | None, *fields: str) -> None:
        self.sample = sample
        self.judge = judge
        self.seconds: float | None = None
        self.suspected_injection: dict[str, None] = {}
        for field in fields:
            value = getattr(sample, field)
            if value is None:
                raise self.unmeasured(Status.MISSING_FIELD, sentence("the sample has no field {field}", field=field))
            if is_blank(value):
                raise self.unmeasured(Status.EMPTY_INPUT, sentence("the field {field} is empty", field=field))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The retrieved chunks, in rank order."""
        return self.sample.contexts or ()

    @property
    def contexts(self) -> tuple[str, ...]:
        """The texts of the retrieved chunks, in rank order."""
        return tuple(chunk.text for chunk in self.chunks)

    async def ask(self, prompt: Prompt[Shape], texts: Mapping[str, str | Sequence[str]], repeat: int = 0) -> Shape:
        """The judge's answer. Raises UnmeasuredError, with the judge's status, where there is none."""
        assert self.judge is not None
        answer = await self.judge.ask(prompt, texts, language=self.sample.language, repeat=repeat)
        if answer.seconds is not None:
            self.seconds = (self.seconds or 0.0) + answer.seconds
        self.suspected_injection.update(dict.fromkeys(answer.suspected_injection))
        if answer.value is None:
            raise self.unmeasured(answer.status, answer.reason)
        return answer.value

    def score(self, value: float, explanation: Sequence[Mapping[str, Any]], **detail: Any) -> Score:
        """A measured value with its explanation and the data it was made from."""
        kept = {"explanation": list(explanation), **detail}
        return Score(value, Status.OK, spoken(explanation), **self._kept(kept))

    def unmeasured(self, status: Status, reason: str | Mapping[str, Any], **detail: Any) -> UnmeasuredError:
        """The error that ends the measurement; to be raised. The reason is a sentence, or a judge's own words."""
        if isinstance(reason, str):
            return UnmeasuredError(Score.unmeasured(status, reason, **self._kept(detail)))
        kept = self._kept({"explanation": [reason], **detail})
        return UnmeasuredError(Score.unmeasured(status, spoken([reason]), **kept))

    def _kept(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        flags = {"suspected_injection": list(self.suspected_injection)} if self.suspected_injection else {}
        name = self.judge.name if self.judge is not None else None
        return {"detail": {**detail, **flags}, "judge": name, "seconds": self.seconds}


def is_blank(value: Any) -> bool:
    """Whether a field that was given holds nothing to read: no text, or no chunk with a text."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Mapping):
        return not value
    return all(not chunk.text.strip() for chunk in value)
