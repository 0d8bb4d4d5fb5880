"""More than two systems on the same questions: every pair tested, p corrected over all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from numpy.typing import ArrayLike

from ragbench.core.types import Better, Comparison
from ragbench.stats.comparisons import hypotheses
from ragbench.stats.estimates import Bounds
from ragbench.stats.families import jointly
from ragbench.stats.samples import Labels, as_values, check_better


def compare_many(
    systems: Mapping[str, ArrayLike],
    baseline: str | None = None,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: Bounds | None = None,
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of systems, or every system against the baseline, with p adjusted over all of them together.

    systems: name to one number a question, in the same order. A pair is compared on the questions that both were
    measured on; `n_dropped` counts the others. bounds: the ends of the scale, as in `compare`.

    p is of the pair alone (as in `compare`). p_adjusted holds the family-wise error rate, and the intervals hold
    together: see `ragbench.stats.families.jointly`. No p_adjusted is below p.
    """
    check_better(better)
    if len(systems) < 2:
        raise ValueError(f"a comparison needs at least two systems; got {', '.join(systems) or 'none'}")
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline is one of {', '.join(systems)}; got {baseline!r}")
    columns = {name: as_values(values, name) for name, values in systems.items()}
    pairs = (
        list(combinations(columns, 2))
        if baseline is None
        else [(baseline, name) for name in columns if name != baseline]
    )
    tested = [
        hypotheses(
            {"values": columns[first]}, {"values": columns[second]}, clusters=clusters, better=better, bounds=bounds,
            level=level, margin=margin, resamples=resamples, seed=seed, names=(first, second),
        )["values"]
        for first, second in pairs
    ]  # fmt: skip
    return jointly(tested, clusters, resamples=resamples, seed=seed)
