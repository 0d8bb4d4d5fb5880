"""Exact tests of proportions."""

from __future__ import annotations


def binomial_test(successes: int, n: int, chance: float = 0.5) -> float:
    """Two-sided exact p of `successes` in `n` trials: the probability of all outcomes no likelier than this one.

    Raises ValueError for counts or a chance that cannot be.
    """
    if not (0 <= successes <= n and n > 0 and 0 < chance < 1):
        raise ValueError(f"0 ≤ successes ≤ n, n > 0 and 0 < chance < 1; got {successes} of {n}, chance {chance}")
    from scipy.stats import binomtest

    return float(binomtest(successes, n, chance).pvalue)
