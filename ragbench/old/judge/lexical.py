"""The offline judge: decides by shared words and letters alone. A baseline, and named as one on every page.

It answers a prompt through the prompt's own `offline` function, so it has the same interface as a language model.
"""

from __future__ import annotations

import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ragbench.old.core import segmentation
from ragbench.old.core.settings import OFFLINE
from ragbench.old.core.types import Answer, Prompt, Shape, Status
from ragbench.old.core.types.reason import Reason
from ragbench.old.judge import words
from ragbench.old.judge.model_judge import Texts
from ragbench.old.judge.words import Memo

if TYPE_CHECKING:
    from ragbench.old.core.types import LexicalReader

VERSION = 1  # raised with whatever changes an answer: it is part of the name under which answers are kept
FUNCTION_WORD_WEIGHT = 0.5
MISSING_NUMBER, FLIPPED_NEGATION = 0.7, 0.6  # below and not zero: a stand-in is not sure of a contradiction
KEPT_BYTES = 128 * 2**20
"""Of what texts are compared by, of those of late."""


@dataclass(frozen=True, slots=True)
class _Profile:
    """What a text is compared by. weights: by stem, that of all its words together. whole: that of all its stems."""

    weights: Mapping[str, float]
    whole: float
    stems: frozenset[str]
    grams: frozenset[str]
    numbers: frozenset[str]
    affirmed: frozenset[str]
    denied: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Profile:
        folded = words.fold(text)
        in_order = words.words_of(folded)
        counted = Counter(in_order)
        known = {word: words.WORDS[word] for word in counted}
        weights: dict[str, float] = {}
        for (stem, _grams, content, _denies), times in zip(known.values(), counted.values(), strict=True):
            weights[stem] = weights.get(stem, 0.0) + (times if content else times * FUNCTION_WORD_WEIGHT)
        grams = frozenset(chain.from_iterable([word.grams for word in known.values()]))
        numbers = frozenset([word.replace(",", ".") for word in known if word[0].isdecimal()])
        stems, polarity = frozenset(weights), words.polarity_of(in_order, known)
        return cls(weights, sum(weights.values()), stems, grams, numbers, *polarity)

    @property
    def bytes(self) -> int:
        """At most, as if no other text had its words."""
        parts = (self.weights, self.stems, self.grams, self.numbers, self.affirmed, self.denied)
        longest = _GRAM_BYTES * len(self.grams) + sys.getsizeof("".join(self.weights)) + len(self.weights) * _TEXT_BYTES
        return sum(map(sys.getsizeof, parts)) + longest + sum(map(sys.getsizeof, self.numbers))


# of the widest characters that Python knows: never too little
_GRAM_BYTES, _TEXT_BYTES = sys.getsizeof("\U00010000" * 5), sys.getsizeof("\U00010000")
_profile = Memo(_Profile.of, KEPT_BYTES, lambda profile: profile.bytes)


def _missing(asked: frozenset[str], known: Iterable[frozenset[str]]) -> frozenset[str]:
    """What none of the others has. Never their union: a claim is small, and texts are large."""
    for own in known:
        asked -= own
    return asked


@dataclass(frozen=True)
class WordReader:
    """See `ragbench.old.core.types.LexicalReader`.

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
        asked, known = _profile(claim), [_profile(text) for text in texts]
        return _support(asked, known, _shared_words(asked, known))

    def supported(self, claim: str, texts: Sequence[str]) -> bool:
        """Whether `support` reaches the threshold; most that do not are told by their words."""
        asked, known = _profile(claim), [_profile(text) for text in texts]
        shared = _shared_words(asked, known)
        return (shared + 1) / 2 >= self.threshold and _support(asked, known, shared) >= self.threshold

    def denies(self, claim: str, text: str) -> bool:
        """Whether both have numbers and the text lacks one of the claim's, or a word is denied in one of them alone."""
        asked, known = _profile(claim), _profile(text)
        other_numbers = bool(known.numbers and _missing(asked.numbers, [known.numbers]))
        return other_numbers or _contradicts(asked, [known])

    def similarity(self, first: str, second: str) -> float:
        """Dice coefficient of the character n-grams, 0 to 1; 1.0 for equal texts, 0.0 where one has no words."""
        return _dice(_profile(first).grams, _profile(second).grams)

    def nearest(self, text: str, others: Sequence[str], least: float) -> int | None:
        """The place of the text that shares most with this, the last of several; None where none reaches `least`.

        As by `similarity`; a text of another size by far is told by that.
        """
        own = _profile(text).grams
        most, nearest_place = least, None
        for place, other in enumerate(map(_profile, others)):
            size = len(other.grams)
            if 2.000001 * min(len(own), size) >= most * (len(own) + size) and (near := _dice(own, other.grams)) >= most:
                most, nearest_place = near, place
        return nearest_place

    def entities(self, text: str) -> list[str]:
        """Numbers, and words written with a capital inside a sentence, neighbours joined; in order, once each."""
        names: dict[str, str] = {}
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
                        names.setdefault(words.fold(name), name)
                    run = []
        return list(names.values())


def _dice(grams: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(grams & other) / (len(grams) + len(other)) if grams and other else 0.0


def _shared_words(claim: _Profile, texts: Sequence[_Profile]) -> float:
    """The share of the claim's words that the texts have, by weight; 0.0 for a claim without words."""
    if not claim.weights:
        return 0.0
    missing = _missing(claim.stems, [profile.stems for profile in texts])
    return (claim.whole - sum(map(claim.weights.__getitem__, missing))) / claim.whole


def _support(claim: _Profile, texts: Sequence[_Profile], shared_words: float) -> float:
    """See `WordReader.support`."""
    if not claim.weights or not texts:
        return 0.0
    shared = len(claim.grams) - len(_missing(claim.grams, [profile.grams for profile in texts]))
    support = (shared_words + shared / len(claim.grams)) / 2
    if claim.numbers and _missing(claim.numbers, (profile.numbers for profile in texts)):
        support *= MISSING_NUMBER
    if _contradicts(claim, texts):
        support *= FLIPPED_NEGATION
    return support


def _contradicts(claim: _Profile, texts: Sequence[_Profile]) -> bool:
    """Whether a word is denied in the claim and only affirmed in the texts, or the other way round."""
    denied = _missing(claim.denied, [profile.denied for profile in texts]) if claim.denied else claim.denied
    if denied and any(not denied.isdisjoint(profile.affirmed) for profile in texts):
        return True
    denying = [profile.denied for profile in texts if profile.denied]
    if not denying:
        return False
    affirmed = claim.affirmed - claim.denied
    denied_there = frozenset[str]().union(*(stems & affirmed for stems in denying))
    return bool(_missing(denied_there, (profile.affirmed for profile in texts)))


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
        """See `ragbench.old.core.types.Judge`; a prompt without an `offline` function is unmeasured (judge_error), and so
        are texts that it has nothing to decide by (empty_input)."""
        del language, repeat
        if missing := prompt.slots ^ set(texts):
            raise ValueError(f"prompt {prompt.name}: the slots are {sorted(prompt.slots)}; wrong: {sorted(missing)}")
        if prompt.offline is None:
            return Answer(
                None,
                Status.JUDGE_ERROR,
                Reason(
                    "the {name} judge cannot answer {prompt}: name a model, --judge NAME or -p judges=NAME",
                    name=self.name,
                    prompt=prompt.name,
                ),
            )
        began = time.perf_counter()
        value = prompt.offline(self.reader, _plain(texts))
        if value is None:
            none = Reason("the {name} judge decides by passages, and there are none", name=self.name)
            return Answer(None, Status.EMPTY_INPUT, none)
        return Answer(value, seconds=time.perf_counter() - began)


def _plain(texts: Texts) -> Mapping[str, Any]:
    return {name: text if isinstance(text, str) else tuple(text) for name, text in texts.items()}
