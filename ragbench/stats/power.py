"""How many questions the next study needs to show a difference that matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from ragbench.core.errors import BenchError
from ragbench.stats.comparisons import POWER, family_of_totals
from ragbench.stats.intervals import t_quantile
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import NO_SPREAD, as_table, mean_and_error, unit_totals

MOST_QUESTIONS = 1_000_000
STUDIES = 400  # simulated of every size: their share is known to some .04


def questions_needed(
    differences: ArrayLike,
    matters: float,
    units: Any = None,
    *,
    n_comparisons: int = 1,
    power: float = POWER,
    confidence: Confidence = DEFAULT,
) -> int:
    """Return with how many independent questions `power` of all studies show a difference.

    differences: (rows,) of a pilot study, challenger minus baseline, NaN where unmeasured. matters:
    the true difference that should be shown. n_comparisons: of the next study's family.

    Raises BenchError for a pilot whose differences do not vary, and where a million would not do.
    """
    if not matters:
        raise BenchError("a difference of 0 cannot be shown: say which difference matters")
    sums, counts = unit_totals(as_table(differences), units)
    _, error = mean_and_error(sums, counts)
    if not error[0] > NO_SPREAD:
        raise BenchError("the differences of the pilot do not vary: there is nothing to plan by")
    # The deviation of single questions that would lead to the same error.
    deviation = error[0] * np.sqrt((counts > 0).sum())
    # Sidak's level of a single comparison; correlated ones need fewer questions.
    level = confidence.level ** (1 / n_comparisons)
    # t depends on n, and n on t: a few rounds settle it.
    n = 10.0
    for _ in range(20):
        errors_needed = t_quantile(level, max(int(n) - 1, 2)) + special.ndtri(power)
        n = (errors_needed * deviation / matters) ** 2
    if not n <= MOST_QUESTIONS:
        raise BenchError(f"a difference of {matters:g} needs over {MOST_QUESTIONS:,} questions")
    return max(int(np.ceil(n)), 2)


def power_by_size(
    differences: ArrayLike,
    matters: float,
    sizes: Sequence[int],
    units: Any = None,
    confidence: Confidence = Confidence(draws=500),  # noqa: B008  it cannot be changed
) -> pd.DataFrame:
    """Simulate studies of several sizes and return which share shows the difference.

    differences, matters, units: as in `questions_needed`. A study draws so many of the pilot's
    units, shifted so that their mean is `matters`, and compares as `compare` does. Columns: n
    (units), power, studies.
    """
    sums, counts = unit_totals(as_table(differences), units)
    is_measured = counts[:, 0] > 0
    sums, counts = sums[is_measured], counts[is_measured]
    mean, _ = mean_and_error(sums, counts)
    shifted = sums + counts * (matters - mean)
    generator = np.random.default_rng(confidence.seed)
    rows = []
    for size in sizes:
        # A column a study; all are compared by the same draws, each alone.
        drawn = generator.integers(0, len(sums), (size, STUDIES))
        frame = family_of_totals(shifted[drawn, 0], counts[drawn, 0], confidence)
        is_shown = (frame["p"] <= 1 - confidence.level) & (frame["difference"] * matters > 0)
        rows.append((size, float(is_shown.mean()), STUDIES))
    return pd.DataFrame(rows, columns=["n", "power", "studies"])
