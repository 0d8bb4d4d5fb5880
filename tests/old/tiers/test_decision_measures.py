"""Measures of decisions: scikit-learn's, with intervals that have a width and cover."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from ragbench.old import tiers
from ragbench.old.metrics.decisions import Cell, accuracy, decision_recall, f1_score
from ragbench.old.tiers.judges.tier_judge_pipeline import METRICS, guarded
from tests.old.tiers.decided_project import estimate


def test_the_measures_are_scikit_learns(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky")
    table = made.extra["decisions"].query("system == 'own_judge:shaky'")
    truth, said = table["label"].to_numpy(), table["decision"].fillna(value=False).to_numpy(dtype=bool)
    assert estimate(made, "own_judge:shaky", "f1_score") == pytest.approx(sklearn_metrics.f1_score(truth, said))
    assert estimate(made, "own_judge:shaky", "decision_recall") == pytest.approx(
        sklearn_metrics.recall_score(truth, said)
    )


def drawn(rng: np.random.Generator, n: int, right: float) -> np.ndarray:
    truth = rng.random(n) < 0.5
    said = np.where(rng.random(n) < right, truth, ~truth)
    return np.where(truth, np.where(said, Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE),
                    np.where(said, Cell.FALSE_POSITIVE, Cell.TRUE_NEGATIVE))  # fmt: skip


def test_an_interval_never_has_no_width() -> None:
    perfect = np.array([Cell.TRUE_POSITIVE] * 15 + [Cell.TRUE_NEGATIVE] * 15)
    for metric in METRICS:
        one = guarded(metric, perfect, level=0.95, resamples=1000, seed=0)
        assert one.value == 1.0
        assert one.low is not None
        assert 0.6 < one.low < 1.0, metric.label
        assert one.note
    many = guarded(accuracy, drawn(np.random.default_rng(0), 400, 0.8), level=0.95, resamples=1000, seed=0)
    assert (many.method, many.note) == ("bca", "")


@pytest.mark.slow
@pytest.mark.parametrize(("right", "n"), [(0.97, 60), (0.9, 60), (0.8, 120), (0.6, 40)])
def test_intervals_cover(right: float, n: int) -> None:
    targets = {metric.label: right for metric in METRICS}  # balanced truth and even errors: all four are the same
    hits = dict.fromkeys(targets, 0)
    for seed in range(400):
        cells = drawn(np.random.default_rng([seed, n]), n, right)
        for metric in METRICS:
            one = guarded(metric, cells, level=0.95, resamples=1000, seed=seed)
            assert one.low is not None
            assert one.high is not None
            hits[metric.label] += one.low <= targets[metric.label] <= one.high
    for label, count in hits.items():
        assert 0.91 <= count / 400 <= 0.99, (label, count)
    assert {accuracy.label, decision_recall.label, f1_score.label} <= set(hits)
