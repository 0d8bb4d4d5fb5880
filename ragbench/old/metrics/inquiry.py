"""One judge, one sample: what every judged metric does alike, so that its own page holds only what is its own."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, ParamSpec

from ragbench.old.core.metric import Peer
from ragbench.old.core.types import Chunk, Judge, Prompt, Sample, Score, Shape, Status
from ragbench.old.core.types.reason import of
from ragbench.old.core.waves import gather
from ragbench.old.metrics.explanation import sentence, spoken

Given = ParamSpec("Given")
Variant = Literal["specification", "ragas"]
"""Which formula: the specification's, or the other program's, to reproduce its numbers."""
RAGAS = Peer("ragas 0.4.3", 1e-9, "120 random scripts of a judge's replies", "variant=ragas")
"""What tests compare the other formula with."""

AGAIN = 1_000_000
"""The repeat under which a question is put once more after an unusable answer: no run of repeats reaches it."""


class EndedError(Exception):
    """Ends a measurement before its time: it cannot go on, or needs to go no further. `measured` returns its score."""

    def __init__(self, score: Score) -> None:
        super().__init__(score.reason)
        self.score = score


def measured(metric: Callable[Given, Awaitable[Score]]) -> Callable[Given, Coroutine[Any, Any, Score]]:
    """A measurement whose end by `EndedError` is the score that the error carries."""

    @functools.wraps(metric)
    async def inside(*args: Given.args, **kwargs: Given.kwargs) -> Score:
        try:
            return await metric(*args, **kwargs)
        except EndedError as end:
            return end.score

    return inside


def unmeasured(status: Status, reason: Mapping[str, Any], **more: Any) -> EndedError:
    """The error that ends a measurement for a reason that can be said in every language; to be raised."""
    return EndedError(Score.unmeasured(status, of(reason), detail={"explanation": [reason]}, **more))


class Inquiry:
    """Questions to one judge about one sample; keeps what every score of a judge has in common.

    seconds: what the judge took for the questions so far, those that it answered out of its journal included.
    suspected_injection: "slot: pattern" for texts that seem to address the judge.
    empty: the value of an empty response where all other fields are there, of metrics that hold the response against
    the reference: silence must not raise a mean. None, of metrics that judge the response itself: it is unmeasured.
    blank: fields without text are taken as they are, as other software does.
    Raises EndedError where a field is None (`missing_field`) or blank (`empty_input`).
    """

    def __init__(
        self,
        sample: Sample,
        judge: Judge | None,
        *fields: str,
        empty: float | None = None,
        blank: bool = False,
    ) -> None:
        self.sample = sample
        self.judge = judge
        self._blank = blank
        self.seconds: float | None = None
        self.suspected_injection: dict[str, None] = {}
        for field in sorted(fields, key=lambda field: field == "response"):  # the others are looked at first
            self.check(field, empty=empty)

    def check(self, field: str, *, empty: float | None = None) -> None:
        """Raises EndedError where the field holds nothing; with the value `empty` where that is an empty response."""
        value = getattr(self.sample, field)
        if value is None:
            raise self.unmeasured(Status.MISSING_FIELD, sentence("the sample has no field {field}", field=field))
        if self._blank:
            return
        if is_blank(value) and field == "response" and empty is not None:
            raise EndedError(self.score(empty, [sentence("empty answer")], unasked=True))
        if is_blank(value):
            raise self.empty(field)

    def empty(self, field: str) -> EndedError:
        """The error for a field that holds nothing; to be raised."""
        return self.unmeasured(Status.EMPTY_INPUT, sentence("the field {field} is empty", field=field))

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """The retrieved chunks, in rank order."""
        return self.sample.contexts or ()

    @property
    def contexts(self) -> tuple[str, ...]:
        """The texts of the retrieved chunks, in rank order."""
        return tuple(chunk.text for chunk in self.chunks)

    async def ask(self, prompt: Prompt[Shape], texts: Mapping[str, str | Sequence[str]], repeat: int = 0) -> Shape:
        """The judge's answer. Raises EndedError, with the judge's status, where there is none."""
        assert self.judge is not None
        answer = await self.judge.ask(prompt, texts, language=self.sample.language, repeat=repeat)
        if answer.seconds is not None:
            self.seconds = (self.seconds or 0.0) + answer.seconds
        self.suspected_injection.update(dict.fromkeys(answer.suspected_injection))
        if answer.value is None:
            raise self.unmeasured(answer.status, answer.reason)
        return answer.value

    async def ask_two(
        self, prompts: Sequence[Prompt[Shape]], texts: Mapping[str, str | Sequence[str]], *, spare: bool = False
    ) -> tuple[Shape, Shape]:
        """The answers to two prompts on the same texts, put at once. spare: the second may be missing, and the first
        then stands for both, as ragas has it; the first may not. Raises EndedError where one is missing.
        """
        first, second = await gather([self._or_end(prompt, texts) for prompt in prompts])
        if isinstance(first, EndedError):
            raise first
        if isinstance(second, EndedError):
            if not spare:
                raise second
            return first, first
        return first, second

    async def _or_end(self, prompt: Prompt[Shape], texts: Mapping[str, str | Sequence[str]]) -> Shape | EndedError:
        try:
            return await self.ask(prompt, texts)
        except EndedError as end:
            return end

    def score(self, value: float, explanation: Sequence[Mapping[str, Any]], **detail: Any) -> Score:
        """A measured value with its explanation and the data it was made from."""
        kept = {"explanation": list(explanation), **detail}
        return Score(value, Status.OK, spoken(explanation), **self._kept(kept))

    def unmeasured(self, status: Status, reason: str | Mapping[str, Any], **detail: Any) -> EndedError:
        """The error that ends the measurement; to be raised. The reason is a sentence, or a judge's own words."""
        if isinstance(reason, str):
            return EndedError(Score.unmeasured(status, reason, **self._kept(detail)))
        kept = self._kept({"explanation": [reason], **detail})
        return EndedError(Score.unmeasured(status, of(reason), **kept))

    def _kept(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        flags = {"suspected_injection": list(self.suspected_injection)} if self.suspected_injection else {}
        name = self.judge.name if self.judge is not None else None
        return {"detail": {**detail, **flags}, "judge": name, "seconds": self.seconds}


def is_blank(value: Any) -> bool:
    """Whether a field that was given holds nothing to read: no text, no chunk with a text, no message that says or
    calls something."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, Mapping):
        return not value
    texts = (part if isinstance(part, str) else part.text or (getattr(part, "calls", "") and "calls") for part in value)
    return not any(text.strip() for text in texts)
