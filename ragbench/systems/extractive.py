"""The offline default: the sentences of the contexts that share most with the question. A stand-in for a model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ragbench import segmentation
from ragbench.judge import words
from ragbench.systems.generation import BaseGenerator, Generation, Progress, Task
from ragbench.systems.refusals import REFUSALS
from ragbench.types import Chunk

VERSION = 1
"""Raised when the same question and contexts give another answer."""
OF_PASSAGE = 0.3
"""How much of a sentence's fit is the fit of the whole passage that it stands in."""
SECOND = 0.75
"""A further sentence is taken along if it fits at least so well, as a share of the best one's fit."""


@dataclass(frozen=True)
class _Text:
    stems: frozenset[str]
    grams: frozenset[str]


@dataclass(frozen=True)
class _Sentence:
    text: str
    place: tuple[int, int]
    fit: float


class ExtractiveGenerator(BaseGenerator):
    """Answers with the best sentences of the contexts, in the contexts' order; refuses where nothing fits.

    A sentence fits by the share of the question's content words that it has: a word counts whole where a word of the
    same stem stands there, else by its character 3–5-grams that the sentence has. The passage around it counts
    OF_PASSAGE. Where the best sentence fits less than `refuse_below`, the answer is a refusal in the question's own
    language: that finds contexts about something else, and not those that nearly answer. No threshold does: where
    retrieval finds near misses, questions that cannot be answered fit as well as others (`data/campus`: area under the
    curve .52 in Russian, .47 in English), and one chosen on other questions refuses most answerable ones too
    (`tests/benchmarks/real_refusals.py`). Whether passages answer a question takes a reader.
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
        found = []
        for task in tasks:
            begun = time.perf_counter()
            answer = self.answer(task.question.text, task.contexts, task.question.language)
            found.append(Generation(answer, seconds=time.perf_counter() - begun))
            if progress is not None:
                progress(1)
        return found

    def answer(self, question: str, contexts: Sequence[Chunk], language: str | None = None) -> str:
        """The best sentences, or the refusal of the language."""
        ranked = sorted(fits(question, [chunk.text for chunk in contexts]), key=lambda each: (-each.fit, each.place))
        if not ranked or ranked[0].fit < self.settings.refuse_below:
            return REFUSALS.get(language or words.language_of(question), REFUSALS["en"])
        best = [each for each in ranked[: self.settings.sentences] if each.fit >= SECOND * ranked[0].fit]
        chosen = dict.fromkeys(each.text for each in sorted(best, key=lambda each: each.place))
        return " ".join(chosen)


def fits(question: str, contexts: Sequence[str]) -> list[_Sentence]:
    """Every sentence of the contexts with how well it fits the question, 0 to 1."""
    asked = [word for word in dict.fromkeys(words.words(question)) if word not in words.FUNCTION_WORDS]
    asked = asked or list(dict.fromkeys(words.words(question)))
    if not asked:
        return []
    split = [segmentation.sentences(text) for text in contexts]
    found = []
    for rank, (text, sentences) in enumerate(zip(contexts, split, strict=True)):
        around = _fit(asked, _text(text))
        for place, sentence in enumerate(sentences):
            own = _fit(asked, _text(sentence))
            found.append(_Sentence(sentence, (rank, place), (1 - OF_PASSAGE) * own + OF_PASSAGE * around))
    return found


def _fit(asked: Sequence[str], text: _Text) -> float:
    total = 0.0
    for word in asked:
        grams = _grams(word)
        total += 1.0 if words.stem(word) in text.stems else len(grams & text.grams) / len(grams)
    return total / len(asked)


@lru_cache(maxsize=20_000)
def _text(text: str) -> _Text:
    found = words.words(text)
    return _Text(frozenset(map(words.stem, found)), frozenset().union(*map(_grams, found)))


@lru_cache(maxsize=100_000)
def _grams(word: str) -> frozenset[str]:
    return frozenset(words.grams(word))
