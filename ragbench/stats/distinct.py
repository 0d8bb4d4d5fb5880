"""How many distinct items a set of draws has seen: documents that were ever retrieved, words, species."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence

import numpy as np

from ragbench.stats import intervals as kinds
from ragbench.stats.samples import Labels, as_codes, check_level
from ragbench.types import Estimate


def distinct(
    seen: Sequence[Collection[Hashable]],
    *,
    clusters: Labels | None = None,
    most: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """The number of distinct items over all draws, with the interval of what another such set of draws would see.

    seen: the items of each draw (the documents of each question). most: how many items there are at all, if known.
    A resample repeats draws and so sees fewer items: the bootstrap is biased here. Leaving draws (or whole clusters)
    out is not: without draw i the number falls by the items that only i has seen (Heltshe and Forrester 1983; the
    jackknife's variance errs on the wide side, Efron and Stein 1981). Student's t, cut at 0 and at `most`.

    No interval for fewer than three draws (`note` "few"), and where every item was seen twice ("saturated").
    """
    check_level(level)
    codes = as_codes(clusters, len(seen))
    groups: dict[int, set[Hashable]] = {}
    for number, items in enumerate(seen):
        groups.setdefault(number if codes is None else int(codes[number]), set()).update(items)
    counts = Counter(item for items in groups.values() for item in items)
    alone = np.array(sorted(sum(counts[item] == 1 for item in items) for items in groups.values()), dtype=float)
    value, n = float(len(counts)), len(groups)
    clustered = None if codes is None else n
    variance = (n - 1) / n * float(((alone - alone.mean()) ** 2).sum()) if n else 0.0
    if n < 3 or variance <= 0:
        note = "few" if n < 3 else "saturated"
        return Estimate(value, None, None, level, "none", len(seen), clusters=clustered, note=note)
    low, high = kinds.student(value, variance, n - 1, level)
    interval = (max(low, 0.0), high if most is None else min(high, float(most)))
    return Estimate(
        value, *interval, level, "jackknife", len(seen), clusters=clustered, intervals={"jackknife": interval}
    )  # fmt: skip
