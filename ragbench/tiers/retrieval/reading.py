"""How much of the labelled text so many words of a ranking show, where systems cut passages differently.

The first k pieces of 50 words are not as much to read as the first k of 400. At the same number of words they are; then
also precision and intersection over union (Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval) say of
a question nothing else than recall: what is shown, and what is labelled, is the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import Any

import numpy as np

from ragbench import stats
from ragbench.core.measurement import Finding, NamedComparison, NamedEstimate
from ragbench.core.settings import Settings
from ragbench.core.types import Array, Chunk, Hit, Piece, Question
from ragbench.metrics.ranking_arrays.coverage import LabelledText
from ragbench.tiers.basics.families import Group, Sureness, compared
from ragbench.tiers.basics.requests import MOST_RETRIEVED
from ragbench.tiers.basics.withholding import Rankings

METRIC, WORDS = "recall", "words"
"""The metrics of the findings: recall at `words`, and at `first` k how many words are read."""
POINTS = 16  # of a curve, beside those at which systems are compared


def cuttings(settings: Settings, rankings: Rankings) -> dict[str, str | None]:
    """System → the chunker that cuts its passages, empty where it cut them itself, None for passages as they are."""
    cut = {name: any(isinstance(hit.chunk, Piece) for hits in rows for hit in hits) for name, rows in rankings.items()}
    return {name: settings.systems[name].chunker or ("" if cut[name] else None) for name in rankings}


def told(settings: Settings, rankings: Rankings, asked: Iterable[Question], labelled: LabelledText) -> dict[str, Any]:
    """What facts say of passages that are cut into pieces before they are searched: nothing where none are."""
    chunkers = {name: chunker for name, chunker in cuttings(settings, rankings).items() if chunker is not None}
    spans = sum(bool(question.spans) for question in asked)
    known = {"chunkers": chunkers, "found_from": labelled.enough, "n_with_spans": spans}
    return {"labelled_text": known} if chunkers else {}


def differ(settings: Settings, rankings: Rankings) -> bool:
    """Whether the systems cut passages in more than one way, so that the same k is not the same to read."""
    return len(set(cuttings(settings, rankings).values())) > 1


def depth(searched: Sequence[Chunk], words: int) -> int:
    """How many of what is searched hold so many words, whichever are found; at most MOST_RETRIEVED."""
    sizes = accumulate(sorted(len(chunk.text.split()) for chunk in searched))
    needed = 1 + sum(1 for _ in (size for size in sizes if size < words))
    return min(needed, len(searched), MOST_RETRIEVED)


def limits(words: Sequence[int]) -> list[int]:
    """The numbers of words at which a curve is drawn, those asked for among them."""
    return sorted({*words, *(round(number) for number in np.geomspace(max(1, min(words) / 2), max(words), POINTS))})


def shown(
    labelled: LabelledText,
    asked: Sequence[Question],
    rankings: Sequence[Sequence[Hit]],
    at: Sequence[int],
    most: int,
    untold: Iterable[str] = (),
) -> Array:
    """(questions, limits): the share of the labelled text that the first so many words of each ranking show.

    most: how many hits were asked for. NaN where those end before the limit and there may be more, and for questions of
    which nobody knows what was retrieved; a ranking that is shorter has shown all that it ever will.
    """
    unknown = frozenset(untold)
    rows = np.full((len(asked), len(at)), np.nan)
    for place, (question, hits) in enumerate(zip(asked, rankings, strict=True)):
        if question.id in unknown:
            continue
        shares, read = labelled.by_words(question, (hit.chunk for hit in hits), at)
        is_open = len(hits) >= most
        rows[place] = [np.nan if is_open and limit > read else share for limit, share in zip(at, shares, strict=True)]
    return rows


def findings(
    shares: Mapping[int, Mapping[str, Array]],
    words: Sequence[int],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> list[Finding]:
    """`recall` at `words` of every system, and its difference to the first one's at those numbers that were asked for,
    which are one family. shares: number of words → system → (questions,) what `shown` says."""
    made: list[Finding] = []
    for name in next(iter(shares.values()), {}):
        columns = {str(limit): by_system[name] for limit, by_system in shares.items()}
        means = stats.estimate_many(columns, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness))
        made += [NamedEstimate(name, METRIC, mean, {"words": int(limit)}) for limit, mean in means.items()]
    groups = {
        str(limit): Group(by_system, "higher", bounds=(0.0, 1.0))
        for limit, by_system in shares.items()
        if limit in words
    }
    for limit, own in compared(groups, clusters, sureness).items():
        made += [NamedComparison(METRIC, comparison, {"words": int(limit)}) for comparison in own]
    return made


def lengths(words: Mapping[str, Array], k: int, clusters: Sequence[str] | None, sureness: Sureness) -> list[Finding]:
    """How many words the first k of every system's rankings hold, on average. words: system → (questions,)."""
    how: dict[str, Any] = {"clusters": clusters, "bounds": (0.0, math.inf), **asdict(sureness)}
    return [NamedEstimate(name, WORDS, stats.estimate(own, **how), {"first": k}) for name, own in words.items()]
