"""A criterion as a sentence, made into a metric: what a judge is asked of every answer, on a scale of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema, create_model

from ragbench.old.core.metric import Metric
from ragbench.old.core.types import SLOT, Judge, Prompt, Sample, Score
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured

SOURCE = "your own criterion"
NEEDS = ("user_input", "response", "contexts", "reference")
YES_NO = "yes/no"
USUAL = ("response",)
SHOWN = ("user_input", "response")
LONGEST_NAME = 48  # some words of the question; it heads columns
Wordings = Mapping[str, str]
Scale = str | tuple[float, float] | tuple[str, ...]

FRAME: Mapping[str, Mapping[str, str]] = {
    "en": {
        "task": "Judge the response of an assistant by one criterion, and by nothing else.\n\n"
        "The criterion:\n{question}",
        "user_input": "What the assistant was asked{may}:",
        "contexts": "Contexts that it was given:",
        "reference": "Reference answer, which is correct:",
        "response": "Response:",
        "may": " (may be empty)",
        "examples": "Examples of judgements that are right:",
        "example": "Example {number}",
        "reason": "Reason:",
        "verdict": "Verdict:",
        "yes/no": 'Give the reason first, in one or two sentences, then the verdict: "yes" or "no".',
        "whole": "Give the reason first, in one or two sentences, then the rating: a whole number from {low} (the "
        "lowest) to {high} (the highest).",
        "number": "Give the reason first, in one or two sentences, then the rating: a number from {low} (the lowest) "
        "to {high} (the highest).",
        "levels": "The levels, from the worst to the best:\n{levels}\n\nGive the reason first, in one or two "
        "sentences, then the level, word for word as it stands above.",
    },
    "ru": {
        "task": "Оцените ответ ассистента по одному критерию и ни по чему другому.\n\nКритерий:\n{question}",
        "user_input": "О чём спросили ассистента{may}:",
        "contexts": "Данные ему контексты:",
        "reference": "Эталонный ответ, он верен:",
        "response": "Ответ:",
        "may": " (может быть пустым)",
        "examples": "Примеры верных оценок:",
        "example": "Пример {number}",
        "reason": "Причина:",
        "verdict": "Вердикт:",
        "yes/no": "Сначала причина одним-двумя предложениями (по-русски), затем вердикт латиницей: "
        '"yes" (да) или "no" (нет).',
        "whole": "Сначала причина одним-двумя предложениями (по-русски), затем оценка: целое число от {low} (ниже "
        "всего) до {high} (выше всего).",
        "number": "Сначала причина одним-двумя предложениями (по-русски), затем оценка: число от {low} (ниже всего) до "
        "{high} (выше всего).",
        "levels": "Уровни, от худшего к лучшему:\n{levels}\n\nСначала причина одним-двумя предложениями (по-русски), "
        "затем уровень слово в слово, как он написан выше.",
    },
}


@dataclass(frozen=True)
class Example:
    """A judgement that the judge is shown: the fields by name, the verdict on the criterion's scale, and why."""

    fields: Mapping[str, str | tuple[str, ...]]
    verdict: bool | float | str
    reason: str = ""


@dataclass(frozen=True)
class Criterion:
    """What is asked of every answer.

    question: by language; one text under "" is of every language. scale: "yes/no", two numbers, or names of levels from
    the worst to the best. needs: fields without which it is not measured and which alone are shown; empty: the response
    is needed, and the question is shown where there is one.
    """

    name: str
    question: Wordings
    scale: Scale = YES_NO
    higher_is_better: bool = True
    needs: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()

    def metric(self, judges: Sequence[Any] = ()) -> Metric:
        """As a metric that asks a judge. Raises ValueError for examples that do not fit the scale or the fields."""
        prompt = self.prompt
        low, high = self.bounds

        @measured
        async def asked(sample: Sample, judge: Judge) -> Score:
            return await _ask(self, prompt, sample, judge)

        asked.__name__ = asked.__qualname__ = self.name
        asked.__doc__ = self.said("en")
        return Metric(
            asked,
            SOURCE,
            "sample",
            (low, high),
            "higher" if self.higher_is_better else "lower",
            fields=self.needs or USUAL,
            levels=self.values,
            formula=self._formula,
            edges="What the judge does not give, or not on the scale, is asked for once more and then unmeasured. The "
            "offline judge cannot answer it.",
            prompts=(prompt,),
            judges=tuple(judges),
            meanings={language: self.said(language) for language in FRAME},
            own=self.told(),
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the scale."""
        if _is_numbers(self.scale):
            return float(self.scale[0]), float(self.scale[1])
        return 0.0, 1.0

    @property
    def values(self) -> tuple[float, ...]:
        """What it can be where that is not any whole number or any number of its scale."""
        if self.scale == YES_NO:
            return (0.0, 1.0)
        if _is_numbers(self.scale):
            return ()
        return tuple(place / (len(self.scale) - 1) for place in range(len(self.scale)))

    @property
    def _formula(self) -> str:
        if self.scale == YES_NO:
            return "1 for yes, 0 for no"
        if _is_numbers(self.scale):
            return "the judge's rating"
        return "(place of the level − 1) / (number of levels − 1)"

    def said(self, language: str) -> str:
        """The question in a language, or in the one that it has."""
        return self.question.get(language) or next(iter(self.question.values()))

    def told(self) -> dict[str, Any]:
        """All that it is, as JSON values: what pages say of it, and of what it can be made again."""
        return {
            "question": dict(self.question),
            "scale": self.scale if isinstance(self.scale, str) else list(self.scale),
            "higher_is_better": self.higher_is_better,
            "needs": list(self.needs or USUAL),
            "shown": list(self.needs or SHOWN),
            **({"examples": len(self.examples)} if self.examples else {}),
        }

    @property
    def shape(self) -> type[BaseModel]:
        """Of the judge's reply: a reason, and a verdict on the scale."""
        reason = (str, Field(description="one or two short sentences"))
        return create_model("Judgement", reason=reason, verdict=(self._verdict(), ...))

    def _verdict(self) -> Any:
        if _is_numbers(self.scale):
            low, high = self.bounds
            kind: Any = int if _is_whole(self.scale) else float
            return Annotated[kind, Field(ge=kind(low), le=kind(high))]
        legal = ("yes", "no") if self.scale == YES_NO else self.scale
        words: Any = Literal  # by name, so that a reply's "Yes" is read as its "yes"
        return Annotated[words[legal], WithJsonSchema({"type": "string", "enum": list(legal)})]

    def value(self, verdict: Any) -> float:
        """A legal verdict on the metric's scale."""
        if _is_numbers(self.scale):
            return float(verdict)
        if self.scale == YES_NO:
            return float(verdict == "yes")
        return self.values[list(self.scale).index(verdict)]

    @property
    def prompt(self) -> Prompt[Any]:
        """What a judge is asked, in every language. Raises ValueError as `metric` does."""
        examples = [self._checked(number, example) for number, example in enumerate(self.examples, 1)]
        texts = {language: self._text(frame, language, examples) for language, frame in FRAME.items()}
        return Prompt(f"criterion_{self.name}", 1, self.shape, texts)

    def _text(self, frame: Wordings, language: str, examples: Sequence[Example]) -> str:
        parts = [frame["task"].replace("{question}", _inert(self.said(language)))]
        shown = self.needs or SHOWN
        if examples:
            parts.append(frame["examples"])
        for number, example in enumerate(examples, 1):
            lines = [frame["example"].format(number=number)]
            for name in NEEDS:
                if name in example.fields:
                    given = example.fields[name]
                    text = given if isinstance(given, str) else "\n".join(given)
                    lines += [frame[name].format(may=""), _inert(text)]
            lines += [frame["reason"], _inert(example.reason)] if example.reason else []
            parts.append("\n".join([*lines, f"{frame['verdict']} {_inert(str(example.verdict))}"]))
        for name in NEEDS:
            if name in shown:
                may = "" if name in (self.needs or USUAL) else frame["may"]
                parts.append(f"{frame[name].format(may=may)}\n{{{name}}}")
        return "\n\n".join([*parts, self._scale_in_words(frame)])

    def _scale_in_words(self, frame: Wordings) -> str:
        if self.scale == YES_NO:
            return frame["yes/no"]
        if _is_numbers(self.scale):
            low, high = (f"{end:g}" for end in self.scale if isinstance(end, int | float))
            return frame["whole" if _is_whole(self.scale) else "number"].format(low=low, high=high)
        return frame["levels"].format(levels="\n".join(f"- {_inert(str(level))}" for level in self.scale))

    def _checked(self, number: int, example: Example) -> Example:
        """The example with the verdict in the words of a reply."""
        where = f"{self.name}: example {number}"
        shown = self.needs or SHOWN
        if strange := [name for name in example.fields if name not in shown]:
            raise ValueError(f"{where}: the judge is not shown {strange[0]}; it is shown {', '.join(shown)}")
        if missing := [name for name in self.needs or USUAL if name not in example.fields]:
            raise ValueError(f"{where} has no {missing[0]}")
        verdict = example.verdict
        if isinstance(verdict, bool) and self.scale == YES_NO:
            verdict = "yes" if verdict else "no"
        legal = f"the scale is {self.scale if isinstance(self.scale, str) else list(self.scale)}"
        if _is_numbers(self.scale):
            low, high = self.bounds
            if isinstance(verdict, bool | str) or not low <= verdict <= high:
                raise ValueError(f"{where}: verdict = {example.verdict!r}: {legal}")
            if _is_whole(self.scale):
                if verdict != int(verdict):
                    raise ValueError(f"{where}: verdict = {example.verdict!r}: a whole number is expected; {legal}")
                verdict = int(verdict)
        elif verdict not in (("yes", "no") if self.scale == YES_NO else self.scale):
            raise ValueError(f"{where}: verdict = {example.verdict!r}: {legal}")
        return Example(example.fields, verdict, example.reason)


def name_of(question: str) -> str:
    """A name made of a question's words: `is_it_polite_and_short`. Raises ValueError for one without words."""
    words = re.findall(r"[^\W_]+", question.casefold())
    if not words:
        raise ValueError(f"question = {question!r}: there is no word in it")
    name = ""
    for word in words:
        if name and len(name) + 1 + len(word) > LONGEST_NAME:
            break
        name = f"{name}_{word}".lstrip("_")[:LONGEST_NAME]
    return name if not name[0].isdigit() else f"criterion_{name}"


async def _ask(criterion: Criterion, prompt: Prompt[Any], sample: Sample, judge: Judge) -> Score:
    inquiry = Inquiry(sample, judge, *(criterion.needs or USUAL))
    texts: dict[str, Any] = {
        name: inquiry.contexts if name == "contexts" else getattr(sample, name) or ""
        for name in criterion.needs or SHOWN
    }
    reply: Any = await inquiry.ask(prompt, texts)
    value = criterion.value(reply.verdict)
    if _is_numbers(criterion.scale):
        low, high = (f"{end:g}" for end in criterion.bounds)
        said = sentence("Rating {rating} on a scale from {lowest} to {highest}.", rating=f"{reply.verdict:g}",
                        lowest=low, highest=high)  # fmt: skip
    else:
        said = sentence("The judge's verdict: {verdict}; {value}.", verdict=reply.verdict, value=value)
    why = sentence("The judge says: {reason}", reason=reply.reason)
    return inquiry.score(value, [said, why], verdict=reply.verdict, said=reply.reason)


def _is_numbers(scale: Scale) -> bool:
    return not isinstance(scale, str) and not isinstance(scale[0], str)


def _is_whole(scale: Any) -> bool:
    return all(isinstance(end, int) for end in scale)


def _inert(text: str) -> str:
    """A text of a user's with no place in it that a prompt would fill."""
    return SLOT.sub(r"{ \1 }", text)


TOLD = ("grain", "bounds", "better", "fields", "source", "formula", "edges", "unit", "levels", "meanings", "own")


def told(metric: Metric) -> dict[str, Any]:
    """A project's own metric as JSON values: for `recalled`."""
    prompts = {prompt.name: dict(prompt.texts) for prompt in metric.prompts}
    return {
        "name": metric.name,
        "summary": metric.summary,
        "prompts": prompts,
        **{key: getattr(metric, key) for key in TOLD},
    }


def recalled(known: Mapping[str, Any]) -> Metric:
    """The metric that `told` told of; it can be shown, and not be measured."""

    def gone(sample: Any) -> Any:
        raise ValueError(f"{known['name']} is kept to be shown only")

    gone.__name__ = gone.__qualname__ = str(known["name"])
    gone.__doc__ = str(known["summary"])
    kept: dict[str, Any] = {key: tuple(value) if isinstance(value := known[key], list) else value for key in TOLD}
    return Metric(gone, **kept)
