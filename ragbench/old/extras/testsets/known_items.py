"""First questions to a base that has none: known items, drawn from its passages' own words.

Azzopardi, de Rijke & Balog 2007, "Building Simulated Queries for Known-Item Topics", SIGIR: somebody remembers some
words of a passage, and looks for it again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import KNOWN_ITEM, ChunkRecord, QuestionRecord

FEWEST_WORDS = 2  # one word alone finds a passage by luck or not at all
MOST_OF_ONE = 10  # questions to one passage: more of its words in another order tell nothing new
Memory = Literal["popular", "discriminative", "both"]
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True)
class Recall:
    """How a passage is remembered.

    words: the mean length of a question; lengths are Poisson, from FEWEST_WORDS on. memory: which words of the passage
    come to mind: those it repeats ("popular"), those that few passages have ("discriminative"), or both, its frequency
    times log(N / passages that have it). noise: the share of words that are drawn from the whole base instead.
    Raises DatasetError for a mean below 1, and for noise that is not from 0 to 1.
    """

    words: float = 4.0
    memory: Memory = "both"
    noise: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= self.words <= 50:
            raise DatasetError(f"--words {self.words:g}: from 1 to 50 is expected")
        if not 0 <= self.noise <= 1:
            raise DatasetError(f"--noise {self.noise:g}: from 0 to 1 is expected")


def draft(
    passages: Sequence[ChunkRecord], count: int, recall: Recall | None = None, seed: int = 0
) -> list[QuestionRecord]:
    """Questions of words of passages, each labelled with the passage it was drawn from, in the order of their ids.

    Passages are drawn evenly, none twice before each was drawn once; where some are drawn again, the questions to one
    passage are a cluster. There are none where no passage has words to remember. The same passages, count, recall and
    seed give the same questions. Raises DatasetError for a count below 1.
    """
    asked, random = recall or Recall(), np.random.default_rng(seed)
    ordered = sorted(passages, key=lambda passage: passage.id)
    counted = [Counter(_WORD.findall(passage.text.casefold())) for passage in ordered]
    spread = Counter(word for word_counts in counted for word in word_counts)
    whole = sum(counted, Counter[str]())
    vocabulary = sorted(whole)
    background = np.array([whole[word] for word in vocabulary], dtype=float)
    chances = [_chances(word_counts, spread, whole, len(ordered), asked.memory) for word_counts in counted]
    usable = [place for place, chance in enumerate(chances) if chance is not None]
    if count < 1:
        raise DatasetError(f"--questions {count}: a whole number from 1 is expected")
    if not usable:
        return []
    rounds = [random.permutation(usable) for _ in range(-(-count // len(usable)))]
    made = []
    for number, place in enumerate(np.concatenate(rounds)[:count], start=1):
        words, weights = chances[place]
        length = max(FEWEST_WORDS, int(random.poisson(asked.words)))
        most = min(length, int(np.count_nonzero(weights)))
        drawn = [str(word) for word in random.choice(words, size=most, replace=False, p=weights)]
        strange = random.random(len(drawn)) < asked.noise
        others = random.choice(vocabulary, size=len(drawn), p=background / background.sum())
        text = " ".join(str(other) if odd else word for word, other, odd in zip(drawn, others, strange, strict=True))
        own = ordered[place].id
        made.append(
            QuestionRecord(
                id=f"known-{seed}-{number:05d}", text=text, relevant={own: 1.0}, answerable=True, kind=KNOWN_ITEM,
                cluster=own if len(rounds) > 1 else None,
            )
        )  # fmt: skip
    return made


def _chances(own: Counter[str], spread: Counter[str], whole: Counter[str], number: int, memory: Memory) -> Any:
    """The words of a passage with how likely each comes to mind; None where none does."""
    words = sorted(own)
    total = whole.total()
    weigh = {
        "popular": lambda word: own[word],
        "discriminative": lambda word: total / whole[word],
        "both": lambda word: own[word] * np.log(number / spread[word]) if number > 1 else own[word],
    }[memory]
    weights = np.array([weigh(word) for word in words], dtype=float)
    return (words, weights / weights.sum()) if len(words) >= FEWEST_WORDS and weights.sum() > 0 else None
