"""What a panel's differences say of judges who were not asked: judges are a sample, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragbench import stats
from ragbench.core.facts import Facts
from ragbench.core.measurement import NamedComparison, without_nan
from ragbench.tiers.basics.design import independent

if TYPE_CHECKING:
    import pandas as pd


def facts(
    judgements: pd.DataFrame,
    compared: Sequence[NamedComparison],
    judged: Sequence[str],
    clusters: Mapping[str, str] | None,
    level: float,
) -> Facts:
    """The fact `over_judges` of a page that several judges judged; nothing of one judge.

    An entry a comparison of systems on a judged metric: `metric`, `baseline`, `challenger`, `judges` (how many), `n`
    (questions that all of them judged on both sides), `difference` of the means over judges, its interval `low` and
    `high` with judges as a random factor, no end of it beyond the width of the scale, and `p`; None where so few judges
    cannot carry one (`ragbench.stats.comparisons.over_judges`). judgements: as
    `ragbench.tiers.scoring.judged_metrics.JUDGEMENT_COLUMNS`;
    clusters: by question, None where each stands alone.
    """
    rows = []
    for comparison in compared:
        c = comparison.comparison
        if comparison.metric not in judged or comparison.where:
            continue
        part = judgements[judgements["metric"] == comparison.metric]
        sides = [
            part[part["system"] == system].pivot_table(
                index="sample", columns="judge", values="value", aggfunc="first", dropna=False, sort=True
            )
            for system in (c.baseline, c.challenger)
        ]
        judges = [name for name in sides[0].columns if name in sides[1].columns]
        if len(judges) < 2:
            continue
        asked = [sample for sample in sides[0].index if sample in sides[1].index]
        first, second = (side.loc[asked, judges].to_numpy(dtype=np.float64) for side in sides)
        labels = None if clusters is None else independent([clusters.get(str(each), str(each)) for each in asked])
        estimate, p = stats.over_judges(second - first, clusters=labels, level=level)
        estimate = stats.kept_within(estimate, None if c.width is None else (-c.width, c.width))
        rows.append({
            "metric": comparison.metric, "baseline": c.baseline, "challenger": c.challenger, "judges": len(judges),
            "n": estimate.n, "difference": estimate.value, "low": estimate.low, "high": estimate.high, "p": p,
        })  # fmt: skip
    return {"over_judges": without_nan(rows)} if rows else {}
