"""What each probe of a judge saw, answer by answer: the two numbers that it compares, and whether they part too far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.bench.judges import numbers as judge_numbers
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.probes import Limits
from ragbench.bench.judges.texts import EQUALS, LADDER
from ragbench.types import Array

if TYPE_CHECKING:
    import pandas as pd

ANSWER, MADE, PAIR = "answer", "made", "pair"
TRIALS = ("judge", "kind", "id", "variant", "question", "text", "other", "reference", "score", "first", "second",
          "reason")  # fmt: skip
EFFECTS = ("judge", "probe", "kind", "id", "before", "after", "value", "failed")
SHIFTS = {"padding": ("partial", "padded"), "injected": ("off_topic", "injected")}
TAKEN_IN = ("blank", "key")


def trials(heard: Sequence[Heard], temptations: Temptations, scale: Scale) -> pd.DataFrame:
    """Rows of TRIALS: every made answer with its score as a share of the scale, every pair with the choice in both
    orders (+1 the pair's first answer, −1 its second, 0 a tie; NaN without a choice)."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for one in heard:
        for variant, scores in one.variants.items():
            reasons = one.variant_reasons.get(variant) or [""] * len(scores)
            for sample, score, reason in zip(
                temptations.variants[variant], scale.share(scores).tolist(), reasons, strict=True
            ):
                rows.append((one.name, MADE, f"{sample.id}.{variant}", variant, sample.user_input, sample.response,
                             None, sample.reference, score, math.nan, math.nan, reason))  # fmt: skip
        if one.choices is None or len(one.choices) != len(temptations.pairs):
            continue
        for (first, second), (forward, backward) in zip(temptations.pairs, one.choices.tolist(), strict=True):
            rows.append((one.name, PAIR, f"{first.id}.pair", PAIR, first.user_input, first.response, second.response,
                         first.reference, math.nan, forward, -backward, ""))  # fmt: skip
    numbers = dict.fromkeys(("score", "first", "second"), float)
    return pd.DataFrame(rows, columns=list(TRIALS)).astype(numbers)


def effects(
    heard: Sequence[Heard], answers: Answers, temptations: Temptations, scale: Scale, good: float, limits: Limits
) -> pd.DataFrame:
    """Rows of EFFECTS: what a probe saw of one answer, in shares of the scale.

    before, after: the two numbers that it compares (the lowest and the highest of repeats; the winner in either order;
    NaN where it compares none). value: the answer's part of the probe's effect. failed: whether that alone lies
    outside the probe's limits; for a share, whether the answer counts at all. A probe over all answers together
    (`own_family`, `disguise`) has no rows: no single answer fails it.
    """
    import pandas as pd

    rows = [row for one in heard for row in _effects(one, answers, temptations, scale, good, limits)]
    numbers = dict.fromkeys(("before", "after", "value"), float)
    return pd.DataFrame(rows, columns=list(EFFECTS)).astype({**numbers, "failed": bool})


def _effects(
    one: Heard, answers: Answers, temptations: Temptations, scale: Scale, good: float, limits: Limits
) -> Iterator[tuple[Any, ...]]:
    yield from _of_answers(one, answers, scale, good, limits)
    tempted = {name: scale.share(values) for name, values in one.variants.items()}
    ids = [question.id for question in temptations.questions]
    for probe, (before, after) in SHIFTS.items():
        if after in tempted:
            named = [f"{name}.{after}" for name in ids]
            yield from _shifts(one.name, probe, MADE, named, tempted[before], tempted[after], limits)
    for probe in TAKEN_IN:
        for name, score in zip(ids, tempted.get(probe, np.zeros(0)).tolist(), strict=False):
            if not math.isnan(score):
                taken = score >= good - 1e-9
                yield one.name, probe, MADE, f"{name}.{probe}", math.nan, score, float(taken), taken
    yield from _rungs(one.name, ids, tempted)
    yield from _places(one, answers, temptations, limits)


def _of_answers(one: Heard, answers: Answers, scale: Scale, good: float, limits: Limits) -> Iterator[tuple[Any, ...]]:
    ids = [sample.id for sample in answers.samples]
    given = judge_numbers.single(one, scale)
    if one.answers.scores.shape[1] > 1:
        shares = scale.share(one.answers.scores)
        flips = judge_numbers.flips(one.answers.scores, scale, good)
        for name, row, flip in zip(ids, shares, flips.tolist(), strict=True):
            if not math.isnan(flip):
                yield one.name, "repeats", ANSWER, name, np.nanmin(row), np.nanmax(row), flip, flip > 1e-9
    for probe, other in (("scale_order", one.turned), ("language", one.twins)):
        if other is not None:
            yield from _shifts(one.name, probe, ANSWER, ids, given, scale.share(other), limits)


def _shifts(
    judge: str, probe: str, kind: str, ids: Sequence[str], before: Array, after: Array, limits: Limits
) -> Iterator[tuple[Any, ...]]:
    moved = limits.moved(probe, after - before)
    for name, one, other, out in zip(ids, before.tolist(), after.tolist(), moved.tolist(), strict=True):
        shift = other - one
        if not math.isnan(shift):
            yield judge, probe, kind, name, one, other, shift, out


def _rungs(judge: str, ids: Sequence[str], tempted: Mapping[str, Array]) -> Iterator[tuple[Any, ...]]:
    """Each rung of the ladder: the share of its pairs with the other rungs that stand in order."""
    if any(rung not in tempted for rung in LADDER):
        return
    stands: dict[str, list[Array]] = {rung: [] for rung in LADDER}
    for better, worse in combinations(LADDER, 2):
        drop = tempted[better] - tempted[worse]
        right = drop > -1e-9 if (better, worse) in EQUALS else drop > 1e-9
        for rung in (better, worse):
            stands[rung].append(np.where(np.isnan(drop), np.nan, right))
    for rung, columns in stands.items():
        for name, share in zip(ids, np.mean(columns, axis=0).tolist(), strict=True):
            if not math.isnan(share):
                yield judge, "ladder", MADE, f"{name}.{rung}", math.nan, math.nan, share, share < 1 - 1e-9


def _places(one: Heard, answers: Answers, temptations: Temptations, limits: Limits) -> Iterator[tuple[Any, ...]]:
    """Pairs whose choice goes with the place, not with the answer."""
    if one.choices is None or not len(one.choices):
        return
    made = [(PAIR, f"{first.id}.pair") for first, _second in temptations.pairs]
    named = made or [(ANSWER, sample.id) for sample in answers.samples]
    moved = limits.moved("place", one.choices.mean(axis=1))
    for (kind, name), (forward, backward), out in zip(named, one.choices.tolist(), moved.tolist(), strict=True):
        swayed = (forward + backward) / 2
        if not math.isnan(swayed):
            yield one.name, "place", kind, name, forward, backward, swayed, out
