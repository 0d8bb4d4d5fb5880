"""What is searched for in place of a question: a model's or a function's words for it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragbench.core.settings import GeneratorSettings, RewriterSettings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Question
from ragbench.llm import Decoding, Outlook, Request
from ragbench.systems.callables import of_table, told
from ragbench.systems.chat import ChatGenerator
from ragbench.systems.generation import Generation, Task
from ragbench.systems.retrieval import RetrievalError

VERSION = 1
"""Part of every journal key: raised when a text below changes."""
PROMPTS = {
    ("rewrite", "en"): "Put the question below so that a search finds what answers it: whole words instead of "
    "abbreviations, no greetings, nothing that was not asked. Write the new question alone, on one line.",
    (
        "rewrite",
        "ru",
    ): "Перепишите вопрос ниже так, чтобы поиск нашёл ответ на него: полные слова вместо сокращений, без "
    "приветствий, ничего, о чём не спрашивали. Напишите только новый вопрос, одной строкой.",
    (
        "hyde",
        "en",
    ): "Write a short passage, as it might stand in a handbook, that answers the question below. Write the "
    "passage alone.",
    ("hyde", "ru"): "Напишите короткий отрывок, какой мог бы стоять в справочнике и отвечает на вопрос ниже. Напишите "
    "только отрывок.",
    (
        "queries",
        "en",
    ): "Write {number} different questions that ask the same as the question below in other words, one a "
    "line, without numbers.",
    (
        "queries",
        "ru",
    ): "Напишите {number} разных вопроса, которые спрашивают о том же, что и вопрос ниже, другими словами: "
    "каждый на своей строке, без номеров.",
}
_NUMBER = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s*")


@dataclass(frozen=True)
class Rewritten:
    """texts: what is searched for; empty where it failed, and `reason` says why. milliseconds: of the writing."""

    texts: tuple[str, ...]
    reason: str
    milliseconds: float


class Rewriter(Protocol):
    """One of `[rewriters.NAME]`. description: JSON values for the page."""

    @property
    def description(self) -> Mapping[str, Any]: ...

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """One a question, in order. Raises ModelError where a provider refuses altogether."""
        ...


class ModelRewriter(ChatGenerator):
    """The model of a generator with another prompt; replies are paid for once, and kept in the journal."""

    def __init__(self, name: str, rewriter: RewriterSettings, settings: GeneratorSettings, **more: Any) -> None:
        super().__init__(str(rewriter.generator), settings.model_copy(update={"prompt": None}), **more)
        self.title, self.rewriter = name, rewriter

    @property
    def description(self) -> Mapping[str, Any]:
        known = {"name": self.title, "kind": self.rewriter.kind, "model": self.settings.model}
        return known | ({"number": self.rewriter.number} if self.rewriter.kind == "queries" else {})

    def request(self, task: Task) -> Request:
        """One message: what to write, then the question."""
        question, settings = task.question, self.settings
        wanted = PROMPTS[self.rewriter.kind, self._spoken(question.text, question.language)]
        return Request(
            messages=(("user", f"{wanted.format(number=self.rewriter.number)}\n\n{question.text}"),),
            prompt=self.rewriter.kind,
            version=VERSION,
            decoding=Decoding(settings.temperature, settings.top_p, settings.max_tokens, settings.seed),
        )

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """As `Rewriter.rewrite`, all at once; of several queries the question itself is the first."""
        written = self.generate([Task(question, ()) for question in questions])
        return [self._read(question, generation) for question, generation in zip(questions, written, strict=True)]

    def foreseen(self, questions: Sequence[Question]) -> tuple[list[Rewritten | None], Outlook]:
        """What the journal has for each question, None for what would be asked, and what that would take."""
        known, outlook = self.rehearse([Task(question, ()) for question in questions])
        made = [
            None if generation is None else self._read(q, generation)
            for q, generation in zip(questions, known, strict=True)
        ]
        return made, outlook

    def _read(self, question: Question, generation: Generation) -> Rewritten:
        texts = self._texts(question.text, generation.answer or "")
        reason = "" if texts else generation.reason or f"{self.title}: the model wrote nothing to search for"
        return Rewritten(texts, reason, (generation.seconds or 0.0) * 1000)

    def _texts(self, question: str, answer: str) -> tuple[str, ...]:
        if self.rewriter.kind != "queries":
            return (answer.strip(),) if answer.strip() else ()
        lines = [text for line in answer.splitlines() if (text := _NUMBER.sub("", line).strip())]
        return tuple(dict.fromkeys((question, *lines[: self.rewriter.number]))) if lines else ()


class FunctionRewriter:
    """Your function of the question, called once a question, always anew; it gives a text or several."""

    def __init__(self, name: str, settings: RewriterSettings) -> None:
        self.name, self.path = name, str(settings.callable)
        self._function = of_table(
            f"rewriters.{name}", self.path, "a question", settings.timeout_seconds, RetrievalError
        )

    @property
    def description(self) -> Mapping[str, Any]:
        return {"name": self.name, "callable": self.path}

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """As `Rewriter.rewrite`, one after the other."""
        return [self._one(question.text) for question in questions]

    def _one(self, text: str) -> Rewritten:
        begun, reason = time.perf_counter(), ""
        texts: tuple[Any, ...] = ()
        try:
            given = self._function(text)
            texts = (given,) if isinstance(given, str) else tuple(given)
            if not texts or not all(isinstance(query, str) and query.strip() for query in texts):
                texts, reason = (
                    (),
                    f"{self.path} gave {excerpt(repr(given), 80)}: a text or several are expected, none of them empty",
                )
        except Exception as error:
            reason = told(error)
        return Rewritten(tuple(dict.fromkeys(texts)), reason, (time.perf_counter() - begun) * 1000)
