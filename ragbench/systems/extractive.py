"""The offline default: the sentences of the contexts that share most with the question. A stand-in for a model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ragbench.core import segmentation
from ragbench.core.types import Chunk
from ragbench.judge import words
from ragbench.systems.generation import BaseGenerator, Generation, Progress, Task
from ragbench.systems.refusals import REFUSALS

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
