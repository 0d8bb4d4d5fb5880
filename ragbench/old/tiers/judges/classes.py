"""More than two classes (supported, neutral, contradicted; ratings from 1 to 5): which the judge takes for which."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core.measurement import NamedEstimate, columns
from ragbench.old.core.types import Array, Estimate
from ragbench.old.stats.coefficients import cohen_kappa
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.design import independent
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import numbers
from ragbench.old.tiers.judges.deciders import candidates, halves
from ragbench.old.tiers.judges.items import Answers, Scale
from ragbench.old.tiers.judges.numbers import Numbers

if TYPE_CHECKING:
    import pandas as pd

FEWEST_CLASSES, MOST_CLASSES = 3, 7  # two have balanced accuracy and F1; of more than seven no table is read
FEWEST = 20
"""Rated answers of a half, below which no cut points are chosen on it."""
FINEST = 200
"""Cut points are looked for among so many at most, evenly spread over the scores."""
OVERALL = ("accuracy", "balanced_accuracy", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "gwet_ac1")


@dataclass(frozen=True)
class Classes:
    """Classes from the worst to the best. levels: where each lies, as a share of the scale, rising."""

    names: tuple[str, ...]
    levels: tuple[float, ...]

    def of(self, shares: Array) -> Array:
        """The number of the class of each share that lies on a level, else NaN."""
        return numbers.grade(shares, self.levels)


def names_of(text: str | Sequence[str]) -> tuple[str, ...]:
    """The names of classes that "contradicted, neutral, supported" writes; none for an empty text.

    Raises BenchError for fewer than two.
    """
    given = parted(text)
    if len(given) == 1:
        raise BenchError(f"classes = {given[0]!r}: at least two names are expected, from the worst to the best")
    return given


def classes_of(answers: Answers, scale: Scale, names: Sequence[str]) -> Classes | None:
    """The classes that are named, evenly over people's scale; else the levels of that scale, if they are 3 to 7.

    None where people's ratings are no classes, or only two. Raises BenchError for ratings beside the named classes.
    """
    used = np.unique(answers.people[~np.isnan(answers.people)])
    if names:
        classes = Classes(tuple(names), tuple(np.linspace(0, 1, len(names)).tolist()))
        if (beside := used[np.isnan(classes.of(used))]).size:
            value = scale.low + beside[0] * (scale.high - scale.low)
            levels = ", ".join(f"{scale.low + level * (scale.high - scale.low):g}" for level in classes.levels)
            raise BenchError(
                f"people rated an answer {value:g}, which is none of the {len(names)} classes ({', '.join(names)}); on "
                f"the scale from {scale.low:g} to {scale.high:g} they are {levels}"
            )
        return classes if len(names) >= FEWEST_CLASSES and used.size else None
    if used.size < 2:
        return None
    values: Array = scale.low + used * (scale.high - scale.low)
    length = round(scale.high - scale.low)
    if np.allclose(values, np.round(values)) and math.isclose(length, scale.high - scale.low) and length < MOST_CLASSES:
        values = scale.low + np.arange(length + 1, dtype=np.float64)
    if not FEWEST_CLASSES <= len(values) <= MOST_CLASSES:
        return None
    return Classes(tuple(f"{value:g}" for value in values), tuple(scale.share(values).tolist()))


class ConfusionRow(TypedDict):
    """How many ratings by people in a class stand beside the judge's class `said`, empty without a score."""

    judge: str
    people: str
    said: str
    count: int


CutRow = TypedDict("CutRow", {"judge": str, "half": int, "class": str, "value": float})
"""From which score on the half's answers are in the class; none where scores lie on the classes' levels."""


def found(
    given: Mapping[str, Array], answers: Answers, classes: Classes | None, judge_scale: Scale, sure: Sureness
) -> tuple[list[NamedEstimate], dict[str, pd.DataFrame]]:
    """Statistics at `class` ("" over all of them), and the tables `confusion` and `cuts`.

    given: judge → (answers,) scores as shares of its scale. Every rating by a person is laid beside the judge's class.
    Judge "people" is one person beside another, which is the ceiling.
    """
    import pandas as pd

    confusion: list[tuple[Any, ...]] = []
    placed: list[NamedEstimate] = []
    cuts: list[tuple[Any, ...]] = []
    if classes is not None:
        people, labels = classes.of(answers.people), answers.clusters
        placed += numbers.placed("people", _ceiling(people, labels, classes, sure), **{"class": ""})
        for judge, scores in given.items():
            said, chosen = decided(scores, people, labels, classes, sure.seed)
            if said is None:
                continue
            cuts += [
                (judge, half, classes.names[place + 1], judge_scale.low + cut * (judge_scale.high - judge_scale.low))
                for half, values in enumerate(chosen)
                for place, cut in enumerate(values)
            ]
            truth, judged, drawn = _laid([(own, said) for own in people.T], labels)
            confusion += _counts(judge, truth, judged, classes)
            placed += numbers.placed(judge, _overall(truth, judged, drawn, classes, sure), **{"class": ""})
            for name, own in _each(truth, judged, drawn, classes, sure).items():
                placed += numbers.placed(judge, own, **{"class": name})
    return placed, {
        "confusion": pd.DataFrame(confusion, columns=columns(ConfusionRow)).astype({"count": "Int64"}),
        "cuts": pd.DataFrame(cuts, columns=columns(CutRow)).astype({"value": float}),
    }


def decided(
    scores: Array, people: Array, clusters: Sequence[str], classes: Classes, seed: int
) -> tuple[Array | None, list[Array]]:
    """(answers,) the number of the judge's class, NaN without a score; and the cut points of each half, if any.

    Scores on the classes' levels are classes. Finer ones become classes by cut points of the highest κ with people,
    chosen on the other half of the clusters, so that no answer is judged by cut points that it chose itself.
    None where a half is too small, or its scores do not vary.
    """
    on_levels = classes.of(scores)
    known = ~np.isnan(scores)
    if not known.any():
        return None, []
    if not np.isnan(on_levels[known]).any():
        return on_levels, []
    first = halves(clusters, seed)
    said, chosen = np.full(len(scores), np.nan), []
    for half in (first, ~first):
        truth, score, _ = _laid([(own[~half], scores[~half]) for own in people.T])
        both = ~(np.isnan(truth) | np.isnan(score))
        if both.sum() < FEWEST or len(np.unique(score[both])) < 2:
            return None, []
        cuts = cut_points(score[both], truth[both].astype(np.int64), len(classes.names))
        chosen.append(cuts)
        said[half] = np.where(np.isnan(scores[half]), np.nan, np.searchsorted(cuts, scores[half], side="right"))
    return said, chosen


def cut_points(scores: Array, truth: NDArray[np.int64], number: int) -> Array:
    """(number − 1,) rising cut points of the highest Cohen's κ; a score from cut j on is in class j + 1 or higher.

    They begin where the judge uses every class as often as people do (equipercentile linking: Kolen, Brennan 2014), and
    one after the other moves to its best place between its neighbours until none moves.
    """
    tried = np.concatenate([[-math.inf], candidates(scores)[1:-1], [math.inf]])
    if len(tried) > FINEST:
        tried = tried[np.unique(np.linspace(0, len(tried) - 1, FINEST).astype(int))]
    below = np.array([np.bincount(truth[scores < cut], minlength=number) for cut in tried], dtype=np.float64)
    below[-1] = np.bincount(truth, minlength=number)
    shares = np.cumsum(below[-1])[:-1]
    places = [int(np.argmin(np.abs(below.sum(axis=1) - share))) for share in shares]
    last, best = len(tried) - 1, -math.inf
    while True:
        before = best
        for cut in range(number - 1):
            low = places[cut - 1] if cut else 0
            high = places[cut + 1] if cut + 1 < len(places) else last
            trial = np.arange(low, high + 1)
            ends = np.tile([0, *places, last], (len(trial), 1))
            ends[:, cut + 1] = trial
            made = np.diff(below[ends], axis=1)
            kappas = np.nan_to_num(cohen_kappa(made), nan=-1.0)
            if kappas.max() > best + 1e-12:
                best, places[cut] = float(kappas.max()), int(trial[np.argmax(kappas)])
        if best <= before + 1e-12:
            return tried[places]


def _laid(
    pairs: Sequence[tuple[Array, ...]], labels: Sequence[str] | None = None
) -> tuple[Array, Array, Sequence[str] | None]:
    """Pairs below each other, where the first of each is known; and the clusters, if any answer is there twice."""
    first, second = (np.concatenate([np.zeros(0), *(each[side] for each in pairs)]) for side in (0, 1))
    known = ~np.isnan(first)
    drawn = numbers.kept([*labels] * len(pairs), known) if labels is not None and pairs else None
    return first[known], second[known], None if drawn is None else independent(drawn)


def _ceiling(people: Array, labels: Sequence[str], classes: Classes, sure: Sureness) -> Numbers:
    truth, other, drawn = _laid(list(permutations(people.T, 2)), labels)
    both = ~np.isnan(other)
    agreement = _overall(truth[both], other[both], numbers.kept(drawn, both), classes, sure)
    return {
        name: replace(estimate, n=estimate.n // 2) for name, estimate in agreement.items()
    }  # a pair both ways round is one


def _counts(judge: str, truth: Array, said: Array, classes: Classes) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for row, name in enumerate(classes.names):
        here = said[truth == row]
        rows += [(judge, name, other, int((here == column).sum())) for column, other in enumerate(classes.names)]
        rows.append((judge, name, "", int(np.isnan(here).sum())))
    return rows


def _overall(truth: Array, said: Array, drawn: Sequence[str] | None, classes: Classes, sure: Sureness) -> Numbers:
    if (~np.isnan(said)).sum() < numbers.FEWEST_PAIRS:
        return {}
    places = list(range(len(classes.names)))
    agreement = stats.agreement(truth, said, scale="ordinal", categories=places, clusters=drawn, **asdict(sure))
    return {name: agreement[name] for name in OVERALL}


def _each(
    truth: Array, said: Array, drawn: Sequence[str] | None, classes: Classes, sure: Sureness
) -> dict[str, Numbers]:
    """Precision, recall and F₁ of every class: shares of the answers that the judge, people, or either put there."""
    by_class = {}
    for place, name in enumerate(classes.names):
        theirs, own = truth == place, said == place
        hit = np.where(np.isnan(said), np.nan, theirs & own)
        of = {"precision": own, "recall": theirs, "f1": own | theirs}
        by_class[name] = {measure: numbers.share(hit, drawn, sure, part) for measure, part in of.items()}
        by_class[name]["f1"] = _doubled(by_class[name]["f1"])
    return by_class


def _doubled(share: Estimate) -> Estimate:
    """F₁ = 2 J / (1 + J) of the share J of right ones among all that either side put in a class: it rises with J."""
    ends = {name: getattr(share, name) for name in ("value", "low", "high", "floor", "ceiling")}
    carried: dict[str, Any] = {name: None if end is None else 2 * end / (1 + end) for name, end in ends.items()}
    return replace(share, **carried)
