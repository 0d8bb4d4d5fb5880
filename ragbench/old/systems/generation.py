"""What a generator is and gives back, and the offline one: the sentences that share most with the question."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

from ragbench.old.core import segmentation
from ragbench.old.core.expectations import kind
from ragbench.old.core.settings import GeneratorSettings
from ragbench.old.core.types import Chunk, Question, Status
from ragbench.old.judge import words
from ragbench.old.systems.refusals import REFUSALS

Progress = Callable[[int], object]  # called with how many more answers are done


class GenerationError(ValueError):
    """A generator cannot be made, or cannot be asked at all."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The contexts that a generator is shown, and what a limit on their length cost.

    contexts: in rank order; the last one may be shortened. cut: how many were shortened or left out. characters_cut: of
    all of them together.
    """

    contexts: tuple[Chunk, ...]
    cut: int = 0
    characters_cut: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """One answer that is wanted. repeat: 0, 1, … asks anew, independently."""

    question: Question
    contexts: tuple[Chunk, ...]
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """One answer, or why there is none (`answer` is None exactly when `status` is not `ok`).

    seconds: what the generator took, for a reply out of the journal what it took then; None where nobody measured.
    input_tokens, output_tokens: as the endpoint reported or as estimated; None for a generator without tokens.
    shown: whether the production judge let its user see it, where a log says so. answered_by: the name that the model
    gave as its own. unsent: what its endpoint is known to refuse, so that it was asked without, parted by blanks.
    """

    answer: str | None
    status: Status = Status.OK
    reason: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    shown: bool | None = None
    answered_by: str | None = None
    unsent: str = ""

    def __post_init__(self) -> None:
        if (self.answer is None) == (self.status is Status.OK):
            raise ValueError(f"an answer is None exactly when its status is not ok; got {self.answer!r}, {self.status}")

    @classmethod
    def failed(cls, status: Status, reason: str, **more: Any) -> Generation:
        """No answer, with the machine-readable status and the reason for people."""
        return cls(None, status, reason, **more)

    @classmethod
    def of(cls, text: Any, who: str, **more: Any) -> Generation:
        """What a function, a model or a log gave: a text, or no answer where it is None or no text.

        A blank text is an answer, the empty one: who says nothing was asked and has answered.
        """
        if isinstance(text, str):
            return cls(text.strip(), **more)
        if text is None:
            return cls.failed(Status.MISSING_FIELD, f"{who} gave no answer", **more)
        return cls.failed(Status.PARSE_ERROR, f"{who} gave {kind(text)}, not a text", **more)


class Generator(Protocol):
    """Who writes answers.

    description: JSON values that say how it is made. is_stand_in: True for the offline default. keeps_readings: whether
    its seconds come out of the journal, the same at every run.
    """

    name: str
    is_stand_in: bool
    keeps_readings: bool

    @property
    def description(self) -> Mapping[str, Any]: ...

    @property
    def max_context_characters(self) -> int | None:
        """How many characters of contexts it is shown at most; None: all."""
        ...

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One result a task, in order. Raises ModelError when a provider refuses altogether or the budget is spent."""
        ...


class BaseGenerator:
    """What generators of a table of the settings have in common."""

    is_stand_in = False
    keeps_readings = False

    def __init__(self, name: str, settings: GeneratorSettings) -> None:
        self.name, self.settings = name, settings

    @property
    def max_context_characters(self) -> int | None:
        return self.settings.max_context_characters


def within(contexts: Sequence[Chunk], limit: int | None) -> Shown:
    """The contexts in their order until `limit` characters are used up: the one that crosses it is shortened at a word.

    What was cut is counted, never passed over.
    """
    if limit is None:
        return Shown(tuple(contexts))
    kept, left, cut, characters = [], limit, 0, 0
    for chunk in contexts:
        whole = len(chunk.text) <= left
        text = chunk.text if whole else _shortened(chunk.text, left)
        left = left - len(text) if whole else 0
        cut += not whole
        characters += len(chunk.text) - len(text)
        if text:
            kept.append(chunk if whole else replace(chunk, text=text))
    return Shown(tuple(kept), cut, characters)


def _shortened(text: str, limit: int) -> str:
    """The first words of a text that fit; nothing where not even one does."""
    if limit <= 0:
        return ""
    head = text[: limit + 1]
    return head.rsplit(None, 1)[0].rstrip() if len(head.split()) > 1 else ""


VERSION = 2
"""Raised when the same question and contexts give another answer."""
OF_PASSAGE = 0.3
"""How much of a sentence's fit is the fit of the whole passage that it stands in."""
SECOND = 0.75
"""A further sentence is taken along if it fits at least so well, as a share of the best one's fit."""
NOTHING = 0.1
"""A best sentence that fits less shares hardly a word with the question."""


@dataclass(frozen=True)
class _Text:
    stems: frozenset[str]
    grams: frozenset[str]


@dataclass(frozen=True)
class _Sentence:
    text: str
    place: tuple[int, int]
    fit: float
    around: tuple[float, ...]  # what the passage has of each word asked, 0 to 1


class ExtractiveGenerator(BaseGenerator):
    """Answers with the best sentences of the contexts, in the contexts' order; refuses where nothing fits.

    A sentence fits by the share of the question's content words that it has: a word counts whole where a word of the
    same stem stands there, else by its character 3–5-grams that the sentence has. The passage around it counts
    OF_PASSAGE.

    It refuses, in the question's own language, where the best sentence fits less than NOTHING, or where its `share` is
    below `refuse_below`: then what the question is about stands scattered over the contexts, and nowhere together. The
    default is calibrated on other questions than are shown anywhere (`benchmarks/real_refusals.py`), and what it
    refuses there and elsewhere stands in `docs/explanation/stand-ins.md`. Many near misses pass: whether passages
    answer a question takes a reader.
    """

    is_stand_in = True

    @property
    def description(self) -> Mapping[str, Any]:
        settings = self.settings
        return {
            "kind": "extractive",
            "version": VERSION,
            "sentences": settings.sentences,
            "refuse_below": settings.refuse_below,
            "max_context_characters": settings.max_context_characters,
        }

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """Deterministic: a repeat gives the same answer."""
        generations = []
        for task in tasks:
            begun = time.perf_counter()
            answer = self.answer(task.question.text, task.contexts, task.question.language)
            generations.append(Generation(answer, seconds=time.perf_counter() - begun))
            if progress is not None:
                progress(1)
        return generations

    def answer(self, question: str, contexts: Sequence[Chunk], language: str | None = None) -> str:
        """The best sentences, or the refusal of the language."""
        sentences = fits(question, [chunk.text for chunk in contexts])
        ranked = sorted(sentences, key=lambda each: (-each.fit, each.place))
        if not ranked or ranked[0].fit < NOTHING or share(sentences) < self.settings.refuse_below:
            return REFUSALS.get(language or segmentation.language_of(question), REFUSALS["en"])
        best = [each for each in ranked[: self.settings.sentences] if each.fit >= SECOND * ranked[0].fit]
        chosen = dict.fromkeys(each.text for each in sorted(best, key=lambda each: each.place))
        return " ".join(chosen)


def fits(question: str, contexts: Sequence[str]) -> list[_Sentence]:
    """Every sentence of the contexts with how well it fits the question, 0 to 1."""
    every = tuple(dict.fromkeys(words.words(question)))
    asked = tuple(word for word in every if word not in words.FUNCTION_WORDS) or every
    if not asked:
        return []
    fitted = []
    for rank, text in enumerate(contexts):
        around, sentences = _fitted(asked, text)
        fitted += [_Sentence(each, (rank, place), fit, around) for place, (each, fit) in enumerate(sentences)]
    return fitted


@lru_cache(maxsize=5_000)  # systems find the same passages, and so does a repeat
def _fitted(asked: tuple[str, ...], text: str) -> tuple[tuple[float, ...], list[tuple[str, float]]]:
    """What a passage has of each word, 0 to 1, and its sentences, each with how well it fits."""
    around = _had(asked, _text(text))
    sentences = []
    for sentence in segmentation.sentences(text):
        own = _had(asked, _text(sentence))
        sentences.append((sentence, ((1 - OF_PASSAGE) * sum(own) + OF_PASSAGE * sum(around)) / len(asked)))
    return around, sentences


def share(sentences: Sequence[_Sentence]) -> float:
    """The best fit as a share of what all contexts together have of the question, 0 to 1; 0 where they have nothing.

    A misspelt or a colloquial word, which no passage has, lowers both alike. Of one context alone it is high.
    """
    together = [max(had) for had in zip(*{each.place[0]: each.around for each in sentences}.values(), strict=True)]
    return max(each.fit for each in sentences) * len(together) / sum(together) if any(together) else 0.0


def _had(asked: Sequence[str], text: _Text) -> tuple[float, ...]:
    """Of each word, how much of it stands in the text."""
    return tuple(
        1.0 if words.stem(word) in text.stems else len(_grams(word) & text.grams) / len(_grams(word)) for word in asked
    )


@lru_cache(maxsize=20_000)
def _text(text: str) -> _Text:
    tokens = words.words(text)
    return _Text(frozenset(map(words.stem, tokens)), frozenset().union(*map(_grams, tokens)))


@lru_cache(maxsize=100_000)
def _grams(word: str) -> frozenset[str]:
    return frozenset(words.grams(word))
