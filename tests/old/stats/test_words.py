"""Every word that an argument takes is one of a few, to the letter; any other is an error that names them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragbench.old import stats
from ragbench.old.stats import coefficients

X, Y = [0.1, 0.5, 0.9, 0.4], [0.2, 0.6, 0.8, 0.5]
PAIRS = (X, Y)
TABLE = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize("word", ["Higher", "greater", "", "lower "])
@pytest.mark.parametrize(
    "call",
    [
        lambda word: stats.compare(X, Y, better=word),
        lambda word: stats.compare_metrics({"a": X, "b": X}, {"a": Y, "b": Y}, better={"a": "higher", "b": word}),
        lambda word: stats.compare_many({"a": X, "b": Y}, better=word),
        lambda word: stats.compare_statistic(lambda sums: sums[..., 0] / sums[..., 1], TABLE, TABLE, better=word),
        lambda word: stats.compare_summaries(stats.Summary(0.5, 0.4, 0.6), stats.Summary(0.6, 0.5, 0.7), better=word),
        lambda word: stats.prediction_powered_comparison(PAIRS, PAIRS, PAIRS, better=word),
    ],
)
def test_a_direction_is_higher_or_lower(call: Callable[[str], object], word: str) -> None:
    with pytest.raises(ValueError, match=f"better is one of higher, lower; got '{word}'"):
        call(word)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda word: stats.agreement([1, 2], [1, 2], scale=word), "scale is one of nominal, ordinal, interval, ratio"),
        (
            lambda word: stats.krippendorff_alpha([[1, 2]], scale=word),
            "scale is one of nominal, ordinal, interval, ratio",
        ),
        (lambda word: stats.estimate(X, method=word), "method is one of auto, bca, percentile"),
        (lambda word: stats.estimate_many({"a": X}, method=word), "method is one of auto, bca, percentile"),
        (
            lambda word: stats.resample(lambda sums: sums[..., 0], TABLE, method=word),
            "method is one of auto, bca, percent",
        ),
        (lambda word: stats.adjust([stats.compare(X, Y)], method=word), "method is one of holm, benjamini_hochberg"),
        (lambda word: stats.compare(X, Y, test=word), "test is one of randomization, wilcoxon, sign"),
        (lambda word: stats.rank_test_p(X, word), "test is"),
        (lambda word: stats.fleiss_kappa([["a", "b"]], chance=word), "chance is one of fleiss, randolph"),
        (lambda word: stats.fleiss_kappa_of_counts([[1, 1]], chance=word), "chance is one of fleiss, randolph"),
        (lambda word: coefficients.cohen_kappa(np.eye(3), word), "weighting is one of identity, linear, quadratic"),
        (lambda word: coefficients.gwet(np.eye(3), word), "weighting is one of identity, linear, quadratic"),
    ],
)
@pytest.mark.parametrize("word", ["Nominal", "BCa", "quadratic weights"])
def test_no_other_word_is_taken_for_a_legal_one(call: Callable[[str], object], message: str, word: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        call(word)
    assert repr(word) in str(error.value)
