"""What kinds of questions are drafted, how many of each, and from which passages: the plan, before anybody is asked."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ragbench.old.core.names import meant
from ragbench.old.core.segmentation import plain
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord

FEWEST_WORDS = 8
"""Of a passage that a question can be about: a heading alone answers none."""
MOST_OF_ONE = 5
"""Questions about a passage first of all: more of them ask the same in other words."""
MOST_TOPICS = 12  # as many as a table on a page shows; k-means' own cost grows with them
FEATURES = 2**16  # collisions are rare for the words of one data set
Value = TypeVar("Value")


@dataclass(frozen=True)
class Kind:
    """passages: how many it takes. near: the second one stands on the same page, where that has another."""

    passages: int = 1
    near: bool = False
    answerable: bool = True
    styled: bool = True
    """Whether it is asked in the named styles; what is colloquial or misspelt has its own."""


KINDS: Mapping[str, Kind] = {
    "one_fact": Kind(),
    "several_passages": Kind(2, near=True),
    "comparison": Kind(2),
    "colloquial": Kind(styled=False),
    "misspelt": Kind(styled=False),
    "follow_up": Kind(2, near=True),
    "unanswerable": Kind(2, near=True, answerable=False),
}
SHARES: Mapping[str, float] = {
    "one_fact": 4, "several_passages": 2, "comparison": 1, "colloquial": 2, "misspelt": 1, "follow_up": 1,
    "unanswerable": 1,
}  # fmt: skip
STYLES = ("plain", "keywords", "polite", "novice", "expert")


@dataclass(frozen=True)
class Task:
    """A question that is to be drafted: of which kind, in which style. Its id hangs on seed and number alone, so that
    the same draft begun again goes on where it stopped."""

    number: int
    kind: str
    style: str
    seed: int

    @property
    def id(self) -> str:
        """The question's, whichever attempt makes it."""
        return f"draft-{self.seed}-{self.number:05d}"


def shares_of(text: str) -> dict[str, float]:
    """Kinds and how many parts each has of all questions: "one_fact=3,comparison"; empty: SHARES.

    Raises DatasetError for a kind that there is not, and for a part that is no number above 0.
    """
    shares: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, _, share = (each.strip() for each in part.partition("="))
        if name not in KINDS:
            raise DatasetError(f"--kinds {name!r}{meant(name, KINDS)}: kinds are {', '.join(KINDS)}")
        try:
            shares[name] = float(share or 1)
        except ValueError:
            shares[name] = math.nan
        if not 0 < shares[name] < math.inf:
            raise DatasetError(f"--kinds {part}: a number above 0 is expected, such as {name}=2")
    return shares or dict(SHARES)


def styles_of(text: str) -> tuple[str, ...]:
    """Named styles; empty: all. Raises DatasetError for one that there is not."""
    names = tuple(dict.fromkeys(filter(None, (each.strip() for each in text.split(",")))))
    for name in names:
        if name not in STYLES:
            raise DatasetError(f"--styles {name!r}{meant(name, STYLES)}: styles are {', '.join(STYLES)}")
    return names or STYLES


def counts_of(shares: Mapping[str, float], number: int) -> dict[str, int]:
    """How many of each kind, by the largest remainders."""
    whole = sum(shares.values())
    exact = {kind: number * share / whole for kind, share in shares.items()}
    counts = {kind: int(value) for kind, value in exact.items()}
    for kind in sorted(exact, key=lambda kind: counts[kind] - exact[kind])[: number - sum(counts.values())]:
        counts[kind] += 1
    return counts


def tasks_of(shares: Mapping[str, float], styles: Sequence[str], number: int, seed: int) -> list[Task]:
    """The questions to be drafted; kinds and styles are mixed by seed, each in its share."""
    if number < 1:
        raise DatasetError(f"--questions {number}: a whole number from 1 is expected")
    kinds = [kind for kind, count in counts_of(shares, number).items() for _ in range(count)]
    order = np.random.default_rng(seed).permutation(len(kinds))
    turns: Counter[str] = Counter()
    tasks = []
    for place, chosen in enumerate(order, start=1):
        kind = kinds[chosen]
        style = styles[turns[kind] % len(styles)] if KINDS[kind].styled else STYLES[0]
        turns[kind] += 1
        tasks.append(Task(place, kind, style, seed))
    return tasks


class Spread:
    """The passages of a base in the order in which questions are asked about them: a passage of every page before the
    next one of any, pages of all topics in turn; all by seed.

    Topics are clusters of pages by their words (TF-IDF, k-means); in a small base each page is one. Raises DatasetError
    for a base in which no passage has FEWEST_WORDS.
    """

    def __init__(self, passages: Sequence[ChunkRecord], seed: int) -> None:
        usable = sorted(
            (each for each in passages if len(plain(each.text).split()) >= FEWEST_WORDS), key=lambda c: c.id
        )
        if not usable:
            raise DatasetError(
                f"none of {len(passages)} passages has {FEWEST_WORDS} words: there is nothing to ask about. "
                "`ragbench load documents FOLDER --name NAME` cuts documents into passages"
            )
        self.passages = usable
        self.pages = [_page(each) for each in usable]
        self._vectors = _vectors([each.text for each in usable])
        self.topics = _topics(self.pages, self._vectors, seed)
        self._order = list(_turns(self.pages, self.topics, np.random.default_rng(seed)))

    @property
    def most(self) -> int:
        """How many questions the base bears."""
        return MOST_OF_ONE * len(self.passages)

    def passages_for(self, kind: str, place: int) -> list[ChunkRecord] | None:
        """The passages for the question at this place of the order; None behind its end, and where the base has none
        to go with it."""
        if place >= self.most:
            return None
        turn, first = divmod(place, len(self._order))
        own, needs = self._order[first], KINDS[kind]
        if needs.passages == 1:
            return [self.passages[own]]
        other = self._partner(own, near=needs.near, turn=turn)
        return None if other is None else [self.passages[own], self.passages[other]]

    def _partner(self, own: int, *, near: bool, turn: int) -> int | None:
        """The passage with the most words in common, of the same page if near and there is another; each turn the
        next one."""
        others = [place for place in range(len(self.passages)) if place != own]
        same = [place for place in others if self.pages[place] == self.pages[own]]
        apart = [place for place in others if self.pages[place] != self.pages[own]]
        candidates = (same or apart) if near else apart
        if not candidates:
            return None
        alike = np.asarray((self._vectors[candidates] @ self._vectors[own].T).todense()).ravel().round(9)
        order = np.argsort(-alike, kind="stable")
        return candidates[int(order[turn % len(order)])]


def _page(passage: ChunkRecord) -> str:
    return passage.document or passage.url or passage.id


def _vectors(texts: Sequence[str]) -> Any:
    """(N, FEATURES) sparse rows of length 1: TF-IDF of words."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    counted = HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm=None).transform(texts)
    return TfidfTransformer().fit_transform(counted)


def _topics(pages: Sequence[str], vectors: Any, seed: int) -> list[int]:
    """The topic of each passage: that of its page."""
    from sklearn.cluster import KMeans

    from ragbench.old.embed.threads import one_thread

    names = {name: place for place, name in enumerate(dict.fromkeys(pages))}
    number = min(MOST_TOPICS, max(1, round(math.sqrt(len(names) / 2))))
    if number == 1:
        return [names[page] if len(names) <= MOST_TOPICS else 0 for page in pages]
    from scipy.sparse import csr_matrix

    members = csr_matrix((np.ones(len(pages)), ([names[page] for page in pages], range(len(pages)))))
    with one_thread():
        labels = KMeans(number, n_init=3, random_state=seed).fit_predict(members @ vectors)
    return [int(labels[names[page]]) for page in pages]


def _turns(pages: Sequence[str], topics: Sequence[int], random: np.random.Generator) -> Iterator[int]:
    """Places of all passages, each once."""
    nested: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place in random.permutation(len(pages)):
        nested[topics[place]][pages[place]].append(int(place))
    return _in_turn(list(_in_turn([list(of_pages.values()) for of_pages in nested.values()])))


def _in_turn(rows: Sequence[Sequence[Value]]) -> Iterator[Value]:
    """The first of each row, then the second of each that has one, and so on."""
    for place in range(max(map(len, rows), default=0)):
        yield from (row[place] for row in rows if place < len(row))
