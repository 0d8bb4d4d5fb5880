"""Questions of one form: a template that was filled in again and again measures itself more than the search."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ragbench.data.wording import plain

GAP = "…"
FEWEST_QUESTIONS = 5
SHARE_OF_QUESTIONS = 0.05
FEWEST_WORDS = 3
SHARE_OF_WORDS = 0.6
OFTEN = 4
"""A word that fewer questions have is what a template was filled with."""


class Form(NamedTuple):
    """A form, its gaps as GAP, and the places of the questions that have it."""

    text: str
    places: tuple[int, ...]


def forms(texts: Sequence[str]) -> list[Form]:
    """The forms that many questions share, largest first.

    The words that fewer than OFTEN of the different questions have are gaps. A form counts where at least
    FEWEST_QUESTIONS different ones, and SHARE_OF_QUESTIONS of all, have it, where it has FEWEST_WORDS words besides its
    gaps, and these are at least SHARE_OF_WORDS of a question's words: what people ask has openings in common, a
    template almost all.
    """
    split = [plain(text).split() for text in texts]
    different = {tuple(words) for words in split}
    spread = Counter(word for words in different for word in set(words))
    members: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(split):
        fixed = [word if spread[word] >= OFTEN and not word.isdigit() else GAP for word in words]
        kept = sum(word != GAP for word in fixed)
        if kept >= FEWEST_WORDS and SHARE_OF_WORDS * len(words) <= kept < len(words):
            merged = [word for at, word in enumerate(fixed) if word != GAP or at == 0 or fixed[at - 1] != GAP]
            members[" ".join(merged)].append(place)
    least = max(FEWEST_QUESTIONS, SHARE_OF_QUESTIONS * len(different))
    shared = [
        Form(text, tuple(places))
        for text, places in members.items()
        if len({tuple(split[place]) for place in places}) >= least
    ]
    return sorted(shared, key=lambda form: (-len(form.places), form.text))
