"""What judges were tried on, answer by answer: the answers that were made, and what each probe saw of every answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.biases import MADE, PAIR, Tried, stands
from ragbench.bench.judges.probes import Effect, Limits
from ragbench.bench.judges.texts import LADDER
from ragbench.types import Sample

if TYPE_CHECKING:
    import pandas as pd

TRIALS = ("judge", "kind", "id", "variant", "question", "text", "other", "reference", "score", "first", "second",
          "reason")  # fmt: skip
EFFECTS = ("judge", "probe", "kind", "id", "before", "after", "value", "failed")


def trials(heard: Sequence[Heard], tried: Tried) -> pd.DataFrame:
    """Rows of TRIALS: every made answer with its score as a share of the scale, every pair with the choice in both
    orders (+1 the pair's first answer, −1 its second, 0 a tie; NaN without a choice)."""
    import pandas as pd

    rows = [row for one in heard for row in _trials(one, tried)]
    return pd.DataFrame(rows, columns=list(TRIALS)).astype(dict.fromkeys(("score", "first", "second"), float))


def _trials(one: Heard, tried: Tried) -> Iterator[tuple[Any, ...]]:
    def row(sample: Sample, variant: str, other: str | None = None, kind: str = MADE) -> tuple[Any, ...]:
        name = f"{sample.id}.{variant}"
        return one.name, kind, name, variant, sample.user_input, sample.response, other, sample.reference

    for variant, scores in one.variants.items():
        reasons = one.variant_reasons.get(variant) or [""] * len(scores)
        samples = tried.temptations.variants[variant]
        for sample, score, reason in zip(samples, tried.scale.share(scores).tolist(), reasons, strict=True):
            yield *row(sample, variant), score, math.nan, math.nan, reason
    pairs = tried.temptations.pairs
    if one.choices is not None and len(one.choices) == len(pairs):
        for (first, second), (forward, backward) in zip(pairs, one.choices.tolist(), strict=True):
            yield *row(first, PAIR, second.response, PAIR), math.nan, forward, -backward, ""


def effects(
    seen: Mapping[str, Mapping[str, Effect]], heard: Sequence[Heard], tried: Tried, limits: Limits
) -> pd.DataFrame:
    """Rows of EFFECTS: what a probe saw of one answer, in shares of the scale.

    before, after: the two numbers that it compares (the lowest and the highest of repeats; the winner in either order;
    NaN where it compares none). value: the answer's part of the probe's effect. failed: whether that alone lies
    outside the probe's limits; for a share, whether the answer counts at all. A probe over all answers together
    (`own_family`, `disguise`) has no rows: no single answer fails it.
    """
    import pandas as pd

    rows = [row for one in heard for name, effect in seen[one.name].items() for row in (
        _rungs(one, tried) if name == "ladder" else _answers(one.name, name, effect, limits)
    )]  # fmt: skip
    numbers = dict.fromkeys(("before", "after", "value"), float)
    return pd.DataFrame(rows, columns=list(EFFECTS)).astype({**numbers, "failed": bool})


def _answers(judge: str, probe: str, effect: Effect, limits: Limits) -> Iterator[tuple[Any, ...]]:
    nothing = np.full(len(effect.values), math.nan)
    failed = effect.values > 1e-9 if effect.kind == "share" else limits.moved(probe, effect.values)
    ends = (nothing if each is None else each for each in (effect.before, effect.after))
    for answer, *numbers, value, fell in zip(effect.answers, *ends, effect.values, failed, strict=False):
        if not math.isnan(value):
            yield judge, probe, *answer, *numbers, value, fell


def _rungs(one: Heard, tried: Tried) -> Iterator[tuple[Any, ...]]:
    """Each rung of the ladder: the share of its pairs with the other rungs that stand in order."""
    if not one.variants:
        return
    pairs = stands({name: tried.scale.share(values) for name, values in one.variants.items()})
    for rung in LADDER:
        own = np.mean([stood for pair, stood in pairs.items() if rung in pair], axis=0)
        for question, share in zip(tried.temptations.questions, own.tolist(), strict=True):
            if not math.isnan(share):
                yield one.name, "ladder", MADE, f"{question.id}.{rung}", math.nan, math.nan, share, share < 1 - 1e-9
