"""What a group of texts is about: the words that tell it from the other groups, and the texts at its centre."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.embed.threads import one_thread

Labels = NDArray[np.int64]

_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY_WORDS = (
    "без будет является являются называется называются образом каком какими согласно относительно бы был была были "
    "было быть вам вас ваш весь вот все всех вы где для его ее если есть еще за зачем или им их как какая какие "
    "каким каких какого какое какой какую кем ко когда кого кому который кто куда ли либо между меня мне могу мое "
    "моего можно мой мою моя мы надо нам нас наш не него нее нельзя нет них ни но нужен нужна нужно ну об он она "
    "они от очень по под почему при про раз сам свой своего себе себя со так такое там тебя то того тоже той только "
    "том тот ты у уже хочу чего чем через что чтобы эта эти это этого этой этом этот эту я about after all and any "
    "are but can could did does for from get had has have her his how into its may more most much must not now off "
    "one our out should than that the their them then there they this was were what when where which who whom whose "
    "why will with would you your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_COMMON = 0.08  # of the texts: a word in more of them (how, what, for) says nothing of a topic
_FLOOR = 0.01  # of a share outside the group: a word of one text is no proof that others lack it


def clusters(vectors: ArrayLike, seed: int) -> Labels:
    """(N,) the cluster of each vector, by KMeans with the number of clusters that silhouette chooses."""
    from ragbench.metrics.sources import topic_coverage

    rows = directions(vectors)
    with one_thread():
        return topic_coverage(rows, [()] * len(rows), seed=seed).labels


def directions(vectors: ArrayLike) -> NDArray[np.float64]:
    """(N, width) rows of length 1: what search by cosine compares; a row of length 0 stays."""
    rows = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def central(vectors: ArrayLike, labels: Labels) -> list[list[int]]:
    """Rows of each group, those nearest to its mean first."""
    rows = np.asarray(vectors, dtype=float)
    ordered = []
    for group in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == group)
        distances = np.linalg.norm(rows[members] - rows[members].mean(axis=0), axis=1).round(9)
        ordered.append(members[np.argsort(distances, kind="stable")].tolist())
    return ordered


def typical_words(texts: Sequence[str], labels: Labels, most: int = 4) -> list[list[str]]:
    """For each group the words whose share of its texts is highest against their share of the others.

    A word counts once a text and has at least three letters; words of one text alone, and those that texts of every
    kind have, come last.
    """
    groups = int(labels.max(initial=-1)) + 1
    inside = [Counter[str]() for _ in range(groups)]
    for text, label in zip(texts, labels, strict=True):
        inside[int(label)].update(set(words(text)))
    everywhere = Counter[str]()
    for counts in inside:
        everywhere.update(counts)
    common = max(_COMMON * len(texts), 3) if groups > 1 else len(texts)
    sizes = np.bincount(labels, minlength=groups)

    def rank(word: str, group: int) -> tuple[bool, float, str]:
        own = inside[group][word] / sizes[group]
        other = (everywhere[word] - inside[group][word]) / max(len(texts) - int(sizes[group]), 1)
        unusable = everywhere[word] < 2 or everywhere[word] > common
        return unusable, -float(own * np.log((own + _FLOOR) / (other + _FLOOR))), word

    return [sorted(counts, key=partial(rank, group=group))[:most] for group, counts in enumerate(inside)]


def words(text: str) -> list[str]:
    """The words of a text with three letters and more, case folded, ё as е, without those that carry no subject."""
    spelled = (word.replace("ё", "е") for word in _WORD.findall(text.casefold()))
    return [word for word in spelled if word not in _EMPTY]
