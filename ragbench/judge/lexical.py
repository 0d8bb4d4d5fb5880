"""The offline judge: decides by shared words and letters alone. A baseline, and named as one on every page.

It answers a prompt through the prompt's own `offline` function, so it has the same interface as a language model.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ragbench import segmentation
from ragbench.judge import words
from ragbench.judge.rendering import Texts
from ragbench.settings import OFFLINE
from ragbench.types import Answer, Prompt, Shape, Status

if TYPE_CHECKING:
    from ragbench.types import LexicalReader

VERSION = 1
FUNCTION_WORD_WEIGHT = 0.5
MISSING_NUMBER, FLIPPED_NEGATION = 0.7, 0.6


@dataclass(frozen=True)
class _Profile:
    """What a text is compared by."""

    stems: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]
    affirmed: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=4096)
def _profile(text: str) -> _Profile:
    found = words.words(text)
    grams: set[str] = set().union(*(words.grams(word) for word in set(found)))
    stems = frozenset(map(words.stem, found))
    return _Profile(stems, frozenset(grams), frozenset(words.numbers(text)), *words.polarity(text))


@dataclass(frozen=True)
class WordReader:
    """See `ragbench.types.LexicalReader`.

    threshold: the support from which a claim counts as carried.
    """

    threshold: float = 0.8

    def sentences(self, text: str) -> list[str]:
        """The text's sentences; the offline stand-in for claims."""
        return segmentation.sentences(text)

    def support(self, claim: str, texts: Sequence[str]) -> float:
        """Mean of word precision and character n-gram precision of the claim against all texts together, 0 to 1.

        Words are compared by stem; function words count half. A number that no text has multiplies the support by
        MISSING_NUMBER, a word denied on one side and only affirmed on the other by FLIPPED_NEGATION.
        0.0 for a claim without words.
        """
        asked = words.words(claim)
        if not asked or not texts:
            return 0.0
        profiles = [_profile(text) for text in texts]
        known_stems = frozenset().union(*(profile.stems for profile in profiles))
        known_grams = frozenset().union(*(profile.grams for profile in profiles))
        weights = [FUNCTION_WORD_WEIGHT if word in words.FUNCTION_WORDS else 1.0 for word in asked]
        hits = sum(w for w, word in zip(weights, asked, strict=True) if words.stem(word) in known_stems)
        grams: set[str] = set().union(*(words.grams(word) for word in set(asked)))
        support = (hits / sum(weights) + len(grams & known_grams) / len(grams)) / 2
        if not words.numbers(claim) <= frozenset().union(*(profile.numbers for profile in profiles)):
            support *= MISSING_NUMBER
        if _contradicts(claim, profiles):
            support *= FLIPPED_NEGATION
        return support

    def supported(self, claim: str, texts: Sequence[str]) -> bool:
        """Whether `support` reaches the threshold."""
        return self.support(claim, texts) >= self.threshold

    def similarity(self, first: str, second: str) -> float:
        """Dice coefficient of the character n-grams, 0 to 1; 1.0 for equal texts, 0.0 where one has no words."""
        one, other = _profile(first).grams, _profile(second).grams
        return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0

    def entities(self, text: str) -> list[str]:
        """Numbers, and words written with a capital inside a sentence, neighbours joined; in order, once each."""
        found: dict[str, str] = {}
        for sentence in segmentation.sentences(unicodedata.normalize("NFC", text)):
            run: list[str] = []
            for position, token in enumerate([*sentence.split(), ""]):
                bare = token.strip(".,;:!?…()[]«»\"“”'—–-")
                starts = bare[:1].isupper() and (position > 0 or bare[1:].isupper() or run)
                if bare and (starts or bare[0].isdigit()):
                    run.append(bare)
                if not (bare and (starts or bare[0].isdigit())) or token != token.rstrip(".,;:!?…)»"):
                    if run:
                        name = " ".join(run)
                        found.setdefault(words.fold(name), name)
                    run = []
        return list(found.values())


def _contradicts(claim: str, profiles: Sequence[_Profile]) -> bool:
    """Whether a word is denied in the claim and only affirmed in the texts, or the other way round."""
    affirmed, denied = words.polarity(claim)
    known_affirmed = frozenset().union(*(profile.affirmed for profile in profiles))
    known_denied = frozenset().union(*(profile.denied for profile in profiles))
    return bool(denied & known_affirmed - known_denied or (affirmed - denied) & known_denied - known_affirmed)


class LexicalJudge:
    """A judge without a model; see the module. Deterministic: every repeat answers alike."""

    name = OFFLINE
    is_stand_in = True

    def __init__(self, reader: LexicalReader | None = None) -> None:
        self.reader = reader or WordReader()

    @property
    def identity(self) -> str:
        """Everything that changes an answer."""
        return f"{self.name} {VERSION} {self.reader!r}"

    async def ask(
        self, prompt: Prompt[Shape], texts: Texts, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.types.Judge`; a prompt without an `offline` function is unmeasured (judge_error), and so are
        texts that it has nothing to decide by (empty_input)."""
        del language, repeat
        if missing := prompt.slots ^ set(texts):
            raise ValueError(f"prompt {prompt.name}: the slots are {sorted(prompt.slots)}; wrong: {sorted(missing)}")
        if prompt.offline is None:
            return Answer(
                None,
                Status.JUDGE_ERROR,
                f"the {self.name} judge cannot answer {prompt.name}: name a model, --judge NAME or -p judges=NAME",
            )
        began = time.perf_counter()
        value = prompt.offline(self.reader, _plain(texts))
        if value is None:
            return Answer(None, Status.EMPTY_INPUT, f"the {self.name} judge decides by passages, and there are none")
        return Answer(value, seconds=time.perf_counter() - began)


def _plain(texts: Texts) -> Mapping[str, Any]:
    return {name: text if isinstance(text, str) else tuple(text) for name, text in texts.items()}
