"""How much of a text others carry, by words and letters: what the offline judge decides by.

Words are compared by their stems, so that forms of a word are one; grammar counts half. Letters
tell related words. A number that is nowhere else, and a word that is denied on one side alone,
speak against a text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragbench.metrics.sentences import split_sentences
from ragbench.metrics.texts import FUNCTION_WORDS, fold, stem, words

SUPPORTED = 0.8  # support from which a text counts as carried
FUNCTION_WORD_WEIGHT = 0.5
# Below 1 and above 0: words alone are not sure of a contradiction.
MISSING_NUMBER, FLIPPED_NEGATION = 0.7, 0.6
# A negation denies the next content word, if that is at most so many words away.
REACH = 3
NEGATIONS = frozenset(
    fold(
        "no not never none nobody nothing nowhere neither nor without cannot не нет ни никогда "
        "никто ничто ничего нигде никак никакой никакая никакие никаких нельзя невозможно без"
    ).split()
)
MARKS = ".,;:!?…()[]«»\"“”'—–-"  # that stand about a word


@dataclass(frozen=True)
class Profile:
    """What a text is compared by. weights: of each stem, all its words together."""

    weights: Mapping[str, float]
    grams: frozenset[str]
    numbers: frozenset[str]
    affirmed: frozenset[str]
    denied: frozenset[str]


@lru_cache(maxsize=4096)
def read_profile(text: str) -> Profile:
    """Return what a text is compared by; many questions share their passages."""
    in_order = words(text)
    weights: dict[str, float] = {}
    grams: set[str] = set()
    for word, count in Counter(in_order).items():
        weight = count * FUNCTION_WORD_WEIGHT if word in FUNCTION_WORDS else count
        weights[stem(word)] = weights.get(stem(word), 0.0) + weight
        grams |= grams_of(word)
    numbers = frozenset(stem(word) for word in in_order if word[0].isdecimal())
    return Profile(weights, frozenset(grams), numbers, *read_polarity(in_order))


@lru_cache(maxsize=16_384)
def grams_of(word: str) -> frozenset[str]:
    """Return the n-grams of a word with a space on either side, three to five characters long."""
    padded = f" {word} "
    grams: set[str] = set()
    for size in (3, 4, 5):
        grams.update(padded[start : start + size] for start in range(len(padded) - size + 1))
    return frozenset(grams)


def read_polarity(in_order: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of content words that are affirmed, and those that a negation denies."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    words_left = 0  # that the last negation may still deny
    for word in in_order:
        if word in NEGATIONS or word.endswith(("n't", "n’t")):
            words_left = REACH
        elif word in FUNCTION_WORDS:
            words_left -= 1
        else:
            (denied if words_left > 0 else affirmed).add(stem(word))
            words_left = 0
    return frozenset(affirmed), frozenset(denied)


def measure_support(claim: str, texts: Sequence[str]) -> float:
    """Return how much of a claim the texts together carry, from 0 to 1.

    The mean of the shares of its words and of its n-grams that they have, times MISSING_NUMBER
    where a number of it is in none, times FLIPPED_NEGATION where a word is denied in the claim and
    only affirmed in the texts, or the other way round. 0.0 for a claim without words.
    """
    asked = read_profile(claim)
    known = [read_profile(text) for text in texts]
    if not asked.weights:
        return 0.0
    missing_words = set(asked.weights)
    missing_grams = asked.grams
    missing_numbers = asked.numbers
    for profile in known:  # never their union: a claim is small, and texts are large
        missing_words.difference_update(profile.weights)
        missing_grams -= profile.grams
        missing_numbers -= profile.numbers
    whole = sum(asked.weights.values())
    shared_words = (whole - sum(asked.weights[word] for word in missing_words)) / whole
    shared_grams = (len(asked.grams) - len(missing_grams)) / len(asked.grams)
    support = (shared_words + shared_grams) / 2
    if missing_numbers:
        support *= MISSING_NUMBER
    if flips_negation(asked, known):
        support *= FLIPPED_NEGATION
    return support


def flips_negation(claim: Profile, texts: Sequence[Profile]) -> bool:
    """Whether a word is denied in the claim and only affirmed in the texts, or conversely."""
    claim_words = claim.affirmed | claim.denied
    affirmed: set[str] = set()
    denied: set[str] = set()
    for profile in texts:
        affirmed |= claim_words & profile.affirmed
        denied |= claim_words & profile.denied
    only_affirmed = claim.affirmed - claim.denied
    return bool((claim.denied - denied) & affirmed or (only_affirmed & denied) - affirmed)


def is_supported(claim: str, texts: Sequence[str]) -> bool:
    """Whether the texts carry a claim."""
    return measure_support(claim, texts) >= SUPPORTED


def measure_share(text: str, others: Sequence[str]) -> float:
    """Return the mean support of a text's sentences; 0.0 without any."""
    supports = [measure_support(sentence, others) for sentence in split_sentences(text)]
    return sum(supports) / len(supports) if supports else 0.0


def measure_similarity(first: str, second: str) -> float:
    """Return Dice's coefficient of the n-grams, 0 to 1; 0.0 where a text has no words."""
    grams, others = read_profile(first).grams, read_profile(second).grams
    return 2 * len(grams & others) / (len(grams) + len(others)) if grams else 0.0


def find_nearest(text: str, others: Sequence[str], least: float) -> int | None:
    """Return the place of the text that shares most with this, the last of several; else None."""
    nearest = None
    for place, other in enumerate(others):
        similarity = measure_similarity(text, other)
        if similarity >= least:
            nearest, least = place, similarity
    return nearest


def denies(claim: str, text: str) -> bool:
    """Whether a text that says nearly the same has another number, or denies another word."""
    asked, known = read_profile(claim), read_profile(text)
    has_other_number = bool(known.numbers and asked.numbers - known.numbers)
    return has_other_number or flips_negation(asked, [known])


def find_entities(text: str) -> list[str]:
    """Return numbers, and words with a capital inside a sentence, neighbours joined; each once."""
    names: dict[str, str] = {}
    for sentence in split_sentences(unicodedata.normalize("NFC", text)):
        run: list[str] = []
        for position, token in enumerate([*sentence.split(), ""]):
            bare = token.strip(MARKS)
            is_name = bare[:1].isupper() and (position or bare[1:].isupper() or run)
            if is_name or bare[:1].isdigit():
                run.append(bare)
                if token == token.rstrip(".,;:!?…)»"):
                    continue  # the next one may belong to it
            if run:
                name = " ".join(run)
                names.setdefault(fold(name), name)
                run = []
    return list(names.values())
