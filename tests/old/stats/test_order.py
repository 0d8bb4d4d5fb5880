"""A number depends on the values and their clusters: on no order of rows, and on no metric that shares the page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from ragbench.old import stats
from ragbench.old.core.types import Array
from ragbench.old.stats import raters

FAST = {"resamples": 300}
SOME = [pytest.param(range(2), id="2 seeds"), pytest.param(range(2, 12), id="10 more", marks=pytest.mark.slow)]
N = 900


def column(kind: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, n])
    return {
        "binary": lambda: (rng.random(n) < 0.7).astype(float),
        "graded": lambda: rng.integers(0, 11, n) / 10,
        "reciprocal": lambda: 1 / rng.integers(1, 11, n),
        "continuous": lambda: rng.beta(5, 2, n),
        "skewed": lambda: np.minimum(rng.lognormal(-3, 1, n), 1.0),
    }[kind]()


KINDS = ("binary", "graded", "reciprocal", "continuous", "skewed")


def clusters_of(n: int, seed: int, grouped: bool) -> list[str] | None:
    return [f"c{k}" for k in np.random.default_rng(seed).integers(0, n // 3, n)] if grouped else None


def moved(values: Sequence[Any] | np.ndarray | None, order: np.ndarray) -> Any:
    if values is None:
        return None
    return values[order] if isinstance(values, np.ndarray) else [values[k] for k in order]


@pytest.mark.fault("determinism", tried="rows in another order", count=30)
@pytest.mark.parametrize("seeds", SOME)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("n", [40, N, pytest.param(6_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_has_the_same_interval_alone_in_company_and_in_any_order(
    kind: str, n: int, grouped: bool, seeds: range
) -> None:
    values = column(kind, n, 0)
    company = {f"{other} {seed}": column(other, n, seed) for seed, other in enumerate(KINDS, 1)}
    for bounds in ((0, 1), None):
        for seed in seeds if n < 6_000 else seeds[:1]:
            groups = clusters_of(n, seed, grouped)
            alone = stats.estimate(values, clusters=groups, bounds=bounds, seed=seed, **FAST)
            together = stats.estimate_many(
                {"before": 1 - values, "values": values, **company}, clusters=groups, bounds=bounds, seed=seed, **FAST
            )
            order = np.random.default_rng(seed + 99).permutation(n)
            shuffled = stats.estimate(values[order], clusters=moved(groups, order), bounds=bounds, seed=seed, **FAST)
            assert alone.intervals
            assert repr(together["values"]) == repr(alone) == repr(shuffled)


@pytest.mark.parametrize("seeds", SOME)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_of_a_difference_is_the_same_alone_and_in_company(kind: str, grouped: bool, seeds: range) -> None:
    first, second = column(kind, 400, 1), column(kind, 400, 2)
    others = {
        f"{other} {seed}": (column(other, 400, seed), column(other, 400, seed + 9)) for seed, other in enumerate(KINDS)
    }
    for seed in seeds:
        groups = clusters_of(400, seed, grouped)
        options = {"clusters": groups, "seed": seed, **FAST}
        alone = stats.compare(first, second, **options)
        pairs = {**others, "values": (first, second)}
        together = stats.compare_metrics(
            {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}, **options
        )["values"]
        assert (together.low, together.high, together.intervals) == (alone.low, alone.high, alone.intervals)


def f1(totals: np.ndarray) -> np.ndarray:
    return np.asarray(2 * totals[..., 0] / (2 * totals[..., 0] + totals[..., 1] + totals[..., 2]))


def ratio_of_sums(totals: np.ndarray) -> np.ndarray:
    return np.asarray(totals[..., 0] / totals[..., 1])


Rows = dict[str, Any]
FUNCTIONS: dict[str, Callable[[Rows], Any]] = {
    "agreement nominal": lambda d: stats.agreement(d["a"], d["b"], clusters=d["groups"], **FAST),
    "agreement ordinal": lambda d: stats.agreement(d["a"], d["b"], scale="ordinal", clusters=d["groups"], **FAST),
    "agreement interval": lambda d: stats.agreement(d["x"], d["y"], scale="interval", clusters=d["groups"], **FAST),
    "agreement ratio": lambda d: stats.agreement(d["x"], d["y"], scale="ratio", clusters=d["groups"], **FAST),
    "spearman": lambda d: stats.spearman(d["x"], d["y"], clusters=d["groups"], **FAST),
    "alpha of ranks": lambda d: stats.krippendorff_alpha(d["raters"], scale="ordinal", clusters=d["groups"], **FAST),
    "alpha of numbers": lambda d: stats.krippendorff_alpha(d["three"], scale="interval", clusters=d["groups"], **FAST),
    "alpha of ratios": lambda d: stats.krippendorff_alpha(d["three"], scale="ratio", clusters=d["groups"], **FAST),
    "fleiss": lambda d: stats.fleiss_kappa(d["raters"], clusters=d["groups"], **FAST),
    "icc": lambda d: stats.icc(d["three"], clusters=d["groups"], **FAST),
    "cochran": lambda d: stats.cochran_q(d["raters"] > 1),
    "quantile": lambda d: stats.quantile(d["x"], 0.9),
    "pairwise mean": lambda d: stats.pairwise_mean(d["x"]),
    "pairwise std": lambda d: stats.pairwise_std(d["x"], d["x"] ** 2 + d["y"]),
    "variance split": lambda d: stats.variance_split(d["three"]),
    "distinct": lambda d: stats.distinct(d["seen"], clusters=d["groups"]),
    "resample": lambda d: stats.resample(ratio_of_sums, d["three"], clusters=d["groups"], **FAST),
    "compare_statistic": lambda d: stats.compare_statistic(
        ratio_of_sums, d["three"], d["three"] * (1 + d["x"][:, None]), clusters=d["groups"], **FAST
    ),
    "compare": lambda d: stats.compare(d["x"], d["y"], margin=0.1, clusters=d["groups"], **FAST),
    "compare_metrics": lambda d: stats.compare_metrics(
        {"x": d["x"], "a": d["a"]}, {"x": d["y"], "a": d["b"]}, clusters=d["groups"], **FAST
    ),
    "randomization": lambda d: stats.randomization_p(d["three"], clusters=d["groups"], **FAST).tolist(),
    "estimates": lambda d: stats.estimate_many({"x": d["x"], "y": d["y"], "a": d["a"]}, clusters=d["groups"], **FAST),
    "powered": lambda d: stats.prediction_powered(
        d["x"], d["y"], d["rest"], clusters=None if d["groups"] is None else (d["groups"], d["others"]), bounds=(0, 1)
    ),
    "powered comparison": lambda d: stats.prediction_powered_comparison(
        (d["x"], d["y"]), (d["y"], d["x"]), (d["rest"], d["rest"] ** 2)
    ),
}  # fmt: skip


def rows_of(seed: int, grouped: bool) -> Rows:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 70))
    x = rng.random(n)
    a = rng.integers(0, 4, n)
    found: Rows = {
        "x": x, "y": np.clip(0.7 * x + 0.3 * rng.random(n), 0, 1), "a": a,
        "b": np.where(rng.random(n) < 0.6, a, rng.integers(0, 4, n)), "three": x[:, None] + 0.2 * rng.random((n, 3)),
        "raters": np.clip(a[:, None] + rng.integers(-1, 2, (n, 3)), 0, 3),
        "seen": [set(rng.integers(0, 50, 4).tolist()) for _ in range(n)], "rest": rng.random(80),
        "groups": None, "others": None,
    }  # fmt: skip
    if grouped:
        found["groups"] = [f"c{k}" for k in rng.integers(0, n // 3, n)]
        found["others"] = [f"c{k}" for k in rng.integers(0, n // 2, 80)]
    return found


def shuffled(rows: Rows, seed: int) -> Rows:
    """Rows in another order; clusters keep their members but not their names."""
    rng = np.random.default_rng(seed)
    orders = {len(rows["x"]): rng.permutation(len(rows["x"])), 80: rng.permutation(80)}
    found = {name: moved(values, orders[len(values)]) if values is not None else None for name, values in rows.items()}
    names: dict[Hashable, str] = {label: f"{rng.random()}" for label in rows["groups"] or ()}
    for name in ("groups", "others"):
        if found[name] is not None:
            found[name] = [names.setdefault(label, f"{label} alone") for label in found[name]]
    return found


@pytest.mark.fault("determinism", tried="rows in another order", count=48)
@settings(max_examples=2, deadline=None)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
@given(seed=st.integers(0, 10_000))
def test_no_number_depends_on_the_order_of_rows(name: str, grouped: bool, seed: int) -> None:
    rows = rows_of(seed, grouped)
    found, other = FUNCTIONS[name](rows), FUNCTIONS[name](shuffled(rows, seed + 1))
    assert repr(found) == repr(other)


def test_no_digit_of_a_correlation_depends_on_the_order_of_many_clusters() -> None:
    rng = np.random.default_rng(5)
    x, groups = rng.permutation(200), rng.integers(0, 100, 200)
    y, errors = np.argsort(np.argsort(x + 50 * rng.random(200))), set()
    for _ in range(20):
        names = rng.permutation(100)[groups]
        errors.add(raters._kendall_error([x, y], names, 0.5))
    assert len(errors) == 1


def test_no_number_depends_on_how_many_threads_multiply() -> None:
    rng = np.random.default_rng(0)
    many, later = rng.random((2, 12_000))
    few, other, clusters = rng.random(3_000), rng.random(3_000), rng.integers(0, 750, 3_000)

    def ratio(totals: Array) -> Array:
        return totals[..., 0] / totals[..., 1]

    def measured() -> list[object]:
        return [
            repr(stats.estimate(many, resamples=1_000)),
            repr(stats.compare(many, later, resamples=1_000)),
            repr(stats.estimate(many, clusters=(many * 2_000).astype(int), resamples=1_000)),
            repr(stats.resample(ratio, np.column_stack([many, later]), resamples=1_000)),
            repr(
                stats.compare_statistic(
                    ratio, np.column_stack([few, other]), np.column_stack([other, few]), clusters=clusters
                )
            ),
        ]

    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, "blas"):
            found.append(measured())
    assert found[1] == found[0]
    assert found[2] == found[0]
