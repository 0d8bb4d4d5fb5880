"""Intervals: held against SciPy, statsmodels and published numbers; and the rules of the guard."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragbench.core.errors import BenchError
from ragbench.stats import (
    Confidence,
    jackknife_intervals,
    linear_values,
    mean_intervals,
    pairwise_intervals,
    part_intervals,
    quantile_intervals,
    statistic_intervals,
)

NONE = np.nan


def test_bca_is_that_of_scipy():
    values = np.random.default_rng(1).exponential(size=80)
    ours = mean_intervals(values).iloc[0]
    theirs = scipy_stats.bootstrap((values,), np.mean, n_resamples=10_000, rng=2)
    assert ours["method"] == "bca"
    assert ours["value"] == pytest.approx(values.mean())
    assert ours["low"] == pytest.approx(theirs.confidence_interval.low, abs=0.015)
    assert ours["high"] == pytest.approx(theirs.confidence_interval.high, abs=0.015)


def test_errors_over_clusters_are_those_of_statsmodels():
    from statsmodels.regression.linear_model import OLS

    generator = np.random.default_rng(0)
    units = np.repeat(np.arange(12), generator.integers(1, 6, 12))
    values = generator.normal(size=12)[units] + generator.normal(size=len(units))
    row = mean_intervals(values, units).iloc[0]
    fitted = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": units}, use_t=True
    )
    low, high = fitted.conf_int()[0]
    assert (row["method"], row["n_units"], row["n"]) == ("student", 12, len(values))
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_wilson_is_that_of_published_tables_with_t_and_the_effective_number(shared_data):
    from statsmodels.stats.proportion import proportion_confint

    cases = json.loads(shared_data("stats-reference/stats_reference.json").read_text())
    for case in [case for case in cases if case["id"].startswith("wilson")]:
        k, n, level = (case["input"][name] for name in ("k", "n", "confidence"))
        # The peer gives R's numbers for the normal quantile; ours is t's, of n - 1 degrees.
        plain = proportion_confint(k, n, 1 - level, method="wilson")
        assert plain == pytest.approx(case["expected"]["ci"], abs=case["abs_tol"])
        alpha = 2 * scipy_stats.norm.sf(scipy_stats.t.ppf((1 + level) / 2, n - 1))
        n_effective = n - 1 if 0 < k < n else n
        expected = proportion_confint(k / n * n_effective, n_effective, alpha, method="wilson")
        values = np.repeat([1.0, 0.0], [k, n - k])
        row = mean_intervals(values, None, (0, 1), Confidence(level)).iloc[0]
        assert row["method"] == "wilson"
        assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "bounds", "method"),
    [
        (np.repeat([1, 0], [60, 40]), (0, 1), "bca"),
        (np.repeat([1, 0], [95, 5]), (0, 1), "wilson"),  # fewer than ten failures
        (np.repeat([1, 0], [15, 14]), (0, 1), "wilson"),  # fewer than thirty units
        (np.ones(50), (0, 1), "wilson"),  # no spread
        (np.repeat([1, 0], [15, 15]), (0, 1), "bca"),
        (np.arange(30), (-np.inf, np.inf), "bca"),
        (np.arange(29), (-np.inf, np.inf), "student"),
        ([1, 0], (0, 1), "wilson"),
        (np.ones(50), (-np.inf, np.inf), "none"),
        ([0.5], (0, 1), "none"),
        ([NONE, NONE], (0, 1), "none"),
    ],
)
def test_bootstrap_where_it_holds(values, bounds, method):
    row = mean_intervals(np.asarray(values, dtype=float), None, bounds).iloc[0]
    assert row["method"] == method
    assert np.isnan(row["low"]) == (method == "none")
    if method != "none":
        assert bounds[0] <= row["low"] <= row["value"] <= row["high"] <= bounds[1]


def test_missing_values_are_counted_and_bounded():
    values = np.array([1, 1, 0, NONE])
    row = mean_intervals(values, None, (0, 1)).iloc[0]
    assert (row["value"], row["n"], row["n_unmeasured"]) == (pytest.approx(2 / 3), 3, 1)
    assert (row["at_lowest"], row["at_highest"]) == (0.5, 0.75)
    asked = np.array([True, True, True, False])[:, None]
    row = mean_intervals(values, None, (0, 1), was_asked=asked).iloc[0]
    assert (row["n_unmeasured"], row["at_lowest"]) == (0, row["value"])


def test_the_same_seed_gives_the_same_bytes():
    values = np.random.default_rng(0).random((200, 3))
    values[:90, 0] = NONE
    first, second = mean_intervals(values), mean_intervals(values)
    assert first.equals(second)
    other = mean_intervals(values, confidence=Confidence(seed=1))
    assert not first.equals(other)
    # A column by itself and among others: the same draws.
    assert mean_intervals(values[:, 1])["low"][0] == pytest.approx(first["low"][1], abs=1e-12)


def test_many_units_are_put_together_and_keep_their_error():
    values = np.random.default_rng(0).exponential(size=60_000)
    row = mean_intervals(values).iloc[0]
    assert (row["method"], row["n_units"]) == ("bca", 60_000)
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 / np.sqrt(60_000), rel=0.06)


def test_f1_and_balanced_accuracy_by_their_counts():
    truth = np.repeat([1, 1, 0, 0], [40, 10, 5, 45])
    judged = np.repeat([1, 0, 1, 0], [40, 10, 5, 45])
    parts = np.column_stack(
        [truth * judged, truth * (1 - judged), (1 - truth) * judged, (1 - truth) * (1 - judged)]
    )

    def rates(sums):
        hits, misses, alarms, rejections = sums.T
        f1 = 2 * hits / (2 * hits + misses + alarms)
        return np.column_stack(
            [f1, (hits / (hits + misses) + rejections / (rejections + alarms)) / 2]
        )

    frame = statistic_intervals(parts, rates, bounds=(0, 1))
    assert frame["value"].tolist() == pytest.approx([80 / 95, 0.85])
    assert frame["method"].tolist() == ["bca", "bca"]
    # Delta method by hand: balanced accuracy has the error sqrt(.8 .2 / 50 + .9 .1 / 50) / 2.
    width = frame["high"][1] - frame["low"][1]
    assert width == pytest.approx(2 * 1.96 * np.sqrt(0.0032 + 0.0018) / 2, rel=0.05)
    # Where hardly a draw lacks a value there is an interval, where many do there is none.
    for ends in ((-np.inf, np.inf), (0, 1)):
        rare = statistic_intervals(np.eye(40)[:, :1], lambda sums: 0.5 / sums[:, 0], None, ends)
        assert rare["method"][0] == "none"
        assert np.isnan(rare["low"][0])
    assert statistic_intervals(np.full((3, 1), NONE), lambda sums: sums)["method"][0] == "none"
    alone = statistic_intervals(parts, rates, np.zeros(len(parts)), (0, 1))
    assert alone["method"].tolist() == ["none", "none"]


@pytest.mark.parametrize(("bounds", "method"), [((0, np.inf), "student"), ((0, 100), "wilson")])
def test_a_count_that_every_draw_falls_short_of_has_an_interval_all_the_same(bounds, method):
    # Forty units, of which no draw holds all: there is no middle of the draws to correct.
    row = statistic_intervals(np.eye(40), lambda sums: (sums > 0).sum(axis=1), None, bounds).iloc[0]
    assert (row["value"], row["method"]) == (40, method)
    # Of 40 drawn from 40 the number of different ones has the variance 40 (.368 - .135 - .135).
    assert row["high"] - row["low"] == pytest.approx(2 * 2.02 * np.sqrt(40 * 0.0972), rel=0.05)


def test_a_part_never_ends_beyond_its_whole():
    hits = np.repeat([1.0, 0.0], [3, 50])
    frame = part_intervals(hits, np.zeros(53))
    assert frame["value"].tolist() == pytest.approx([3 / 53, 0])
    assert frame["high"][1] <= frame["high"][0]
    frame = part_intervals(hits, hits)
    assert frame[["low", "high"]].iloc[0].tolist() == frame[["low", "high"]].iloc[1].tolist()
    unknown = part_intervals(hits, np.full(53, np.nan)).iloc[1]
    assert np.isnan([unknown["value"], unknown["low"], unknown["high"]]).all()
    with pytest.raises(BenchError, match="row 0 is in the part and not in the whole"):
        part_intervals([0, 1], [1, 1])


def test_quantiles_lie_between_ordered_values():
    values = np.arange(1.0, 101.0)
    frame = quantile_intervals(values, [0.5, 0.95, 0.99])
    # Conover 1999, Practical Nonparametric Statistics: ranks 40 and 61 for the median of 100.
    assert frame["value"].tolist() == pytest.approx([50.5, 95.05, 99.01])
    assert frame[["low", "high"]].iloc[0].tolist() == [40, 61]
    assert frame["method"].tolist() == ["order", "order", "none"]
    # Ten values of each unit that are the same tell as much as one.
    repeated = quantile_intervals(np.repeat(values, 10), [0.5], np.repeat(values, 10))
    assert repeated[["low", "high"]].iloc[0].tolist() == pytest.approx([40, 61], abs=1)
    assert quantile_intervals([NONE], [0.5])["method"][0] == "none"
    # Three units of equal values tell as much as three values.
    alike = quantile_intervals(np.ones(30), [0.5], np.repeat([0, 1, 2], 10))
    assert alike["method"][0] == "none"
    # Of six the median lies between the first and the last with probability .969, of five .9375.
    assert quantile_intervals(values[:6], [0.5])[["low", "high"]].iloc[0].tolist() == [1, 6]
    assert quantile_intervals(values[:5], [0.5])["method"][0] == "none"
    assert quantile_intervals(values[:10], [0.05])["method"][0] == "none"


def test_means_over_pairs_by_leaving_items_out():
    points = np.random.default_rng(0).normal(size=(30, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    frame = pairwise_intervals(distances.sum(axis=1) / 29, (distances**2).sum(axis=1) / 29)
    pairs = distances[np.triu_indices(30, 1)]
    assert frame["value"].tolist() == pytest.approx([pairs.mean(), pairs.std()])
    without = []
    for item in range(30):
        kept = np.delete(np.delete(distances, item, 0), item, 1)[np.triu_indices(29, 1)]
        without.append([kept.mean(), kept.std()])
    expected = jackknife_intervals([pairs.mean(), pairs.std()], without)
    assert frame["low"].tolist() == pytest.approx(expected["low"].tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "confidence 95 is no level; give one such as 0.95"),
        ({"level": 1.0}, "confidence 1 is no level"),
        ({"level": 0.5}, "confidence 0.5 is no level"),
        ({"draws": 199}, "199 draws are too few; give at least 200"),
    ],
)
def test_confidence_that_means_nothing_is_refused(options, message):
    with pytest.raises(BenchError, match=message):
        Confidence(**options)


def test_units_that_do_not_fit_are_refused():
    with pytest.raises(BenchError, match="2 rows have 1 units"):
        mean_intervals([1.0, 2.0], ["a"])
    with pytest.raises(BenchError, match="row 1 has no unit"):
        mean_intervals([1.0, 2.0], ["a", None])


def test_values_of_rows_have_the_statistic_as_their_mean() -> None:
    # Columns: true positives, false ones, missed; F1 = 2 x 3 / (2 x 3 + 1 + 2).
    parts = np.array([[1, 0, 0]] * 3 + [[0, 1, 0]] + [[0, 0, 1]] * 2 + [[np.nan] * 3])

    def scores(sums: np.ndarray) -> np.ndarray:
        tp, fp, fn = sums.T
        return np.column_stack([2 * tp / (2 * tp + fp + fn), tp / (tp + fp)])

    values = linear_values(parts, scores)
    assert np.nanmean(values, axis=0) == pytest.approx([6 / 9, 3 / 4], abs=1e-12)
    # A row that changes nothing counts as the statistic itself: what was missed has no precision.
    assert values[4:6, 1] == pytest.approx(3 / 4, abs=1e-6)
    # One more false positive of n = 6: precision moves by -p / (tp + fp), times n.
    assert values[3, 1] == pytest.approx(3 / 4 - 6 * (3 / 4) / 4, abs=1e-5)
    assert np.isnan(values[6]).all()
    assert np.isnan(linear_values(parts[6:], scores)).all()


def test_a_row_whose_part_is_not_known_counts_in_the_whole_alone() -> None:
    whole, part = [1, 1, 0, 0], [1, np.nan, 0, 0]
    frame = part_intervals(whole, part)
    assert frame["value"].tolist() == [0.5, 1 / 3]
    assert frame["n"].tolist() == [4, 3]
