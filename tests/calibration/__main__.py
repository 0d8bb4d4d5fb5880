"""Measure coverage and level in many kinds of studies, a row a cell; name the bad ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from ragbench.stats import Confidence, compare, mean_intervals
from ragbench.stats.agreement import agreement
from ragbench.stats.choosing import choose_best
from ragbench.stats.labels import corrected_mean
from tests.calibration.populations import BOUNDS, POPULATIONS, draw_uniform, true_mean

SIZES = (8, 15, 30, 100, 300)
DRAWS = 1_000
LEAST_COVERAGE = 0.93
MOST_LEVEL = 0.07
FAMILIES = ((2, 1), (5, 1), (12, 1), (2, 14), (5, 14))  # systems, metrics
MISSING = ("none", "at random", "one-sided")
Row = dict[str, object]


def excludes(frame: pd.DataFrame, truth: float) -> np.ndarray:
    """Whether each interval lies beside the truth; one without ends never does."""
    return ((frame["low"] > truth) | (frame["high"] < truth)).to_numpy()


def mean_cells(studies: int) -> Iterator[Row]:
    """Coverage of intervals of single means."""
    for name, n, is_clustered in product(POPULATIONS, SIZES, (False, True)):
        # Many columns of one study would share their draws: a study each.
        outside = []
        methods = []
        for study in range(studies):
            generator = np.random.default_rng([study, n])
            uniform, units = draw_uniform(n, 1, is_clustered, generator)
            values = POPULATIONS[name](uniform, False)
            confidence = Confidence(draws=DRAWS, seed=study)
            frame = mean_intervals(values, units, BOUNDS[name], confidence)
            outside.append(excludes(frame, true_mean_of[name, False])[0])
            methods.append(frame["method"][0])
        common = max(set(methods), key=methods.count)
        yield {
            "kind": "mean",
            "population": name,
            "n": n,
            "clustered": is_clustered,
            "method": common,
            "coverage": 1 - np.mean(outside),
        }


def comparison_cells(studies: int) -> Iterator[Row]:
    """Level, coverage and power of families."""
    cases = [(*family, False, "none") for family in FAMILIES]
    cases += [(2, 1, True, "none"), (5, 14, True, "none")]
    cases += [(2, 1, False, missing) for missing in MISSING[1:]]
    for name, n, case in product(POPULATIONS, SIZES, cases):
        systems, metrics, is_clustered, missing = case
        yield {
            "kind": "comparison",
            "population": name,
            "n": n,
            "clustered": is_clustered,
            "systems": systems,
            "metrics": metrics,
            "missing": missing,
            **compare_often(name, n, case, studies),
        }
    for n in SIZES:
        yield {"kind": "comparison", "population": "rare loss", "n": n, **rare_losses(n, studies)}


def compare_often(name: str, n: int, case: tuple, studies: int) -> Row:
    """Level, coverage and power of one cell."""
    systems, metrics, is_clustered, missing = case
    any_shown, any_outside, share_shown = [], [], []
    for study, is_better in product(range(studies), (False, True)):
        generator = np.random.default_rng([study, n, systems, metrics, is_better])
        uniform, units = draw_uniform(n, systems * metrics, is_clustered, generator)
        baseline = POPULATIONS[name](uniform[:, :metrics], False)
        challengers = POPULATIONS[name](uniform[:, metrics:], is_better)
        baseline = np.tile(baseline, systems - 1)
        if missing == "at random":
            baseline[generator.random(baseline.shape) < 0.02] = np.nan
            challengers[generator.random(challengers.shape) < 0.02] = np.nan
        elif missing == "one-sided":
            # The challenger fails where it would have done badly.
            worst = np.argsort(challengers + generator.random(challengers.shape), axis=0)
            for column, rows in enumerate(worst[: max(n // 12, 1)].T):
                challengers[rows, column] = np.nan
        frame = compare(
            baseline,
            challengers,
            units,
            bounds=BOUNDS[name],
            confidence=Confidence(draws=DRAWS, seed=study),
        )
        is_shown = frame["word"].isin(["better", "worse"]).to_numpy()
        if is_better:
            share_shown.append(is_shown.mean())
            if missing != "one-sided":  # the intervals of complete pairs are then not the word's
                truth = true_mean_of[name, True] - true_mean_of[name, False]
                any_outside.append(excludes(frame, truth).any())
        else:
            any_shown.append(is_shown.any())
    coverage = 1 - np.mean(any_outside) if any_outside else np.nan
    return {"level": np.mean(any_shown), "coverage": coverage, "power": np.mean(share_shown)}


def rare_losses(n: int, studies: int) -> Row:
    """Level where +.05 is the rule and -.95 at one question in twenty: 0 on average."""
    shown = []
    for study in range(studies * 4):
        generator = np.random.default_rng([study, n])
        differences = np.where(generator.random(n) < 0.05, -0.95, 0.05)
        frame = compare(np.zeros(n), differences, confidence=Confidence(draws=DRAWS, seed=study))
        shown.append(frame["method"][0] != "sign test" and frame["word"][0] in ("better", "worse"))
    return {"level": np.mean(shown)}


def agreement_cells(studies: int) -> Iterator[Row]:
    """Coverage of coefficients of a judge that rates as people do, with errors."""
    for shares, n in product(([0.3, 0.7], [0.1, 0.15, 0.25, 0.3, 0.2]), (30, 60, 100, 300)):
        truth = rate(shares, 400_000, np.random.default_rng(1))
        expected = agreement(*truth).set_index("measure")["value"]
        outside = []
        for study in range(studies):
            pair = rate(shares, n, np.random.default_rng([study, n]))
            frame = agreement(*pair, scale=range(len(shares))).set_index("measure")
            ends = frame[["low", "high"]].reindex(expected.index)
            is_outside = (ends["low"] > expected) | (ends["high"] < expected)
            outside.append(is_outside.where(ends["low"].notna(), np.nan).astype(float))
        coverage = 1 - pd.DataFrame(outside).mean()
        for measure, value in coverage.items():
            yield {"kind": "agreement", "population": f"{len(shares)} levels", "n": n,
                   "method": measure, "coverage": value}  # fmt: skip


def rate(
    shares: list[float], n: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings of a judge and of people who see the same quality with errors of their own."""
    from scipy import stats

    cuts = stats.norm.ppf(np.cumsum(shares)[:-1])
    quality = np.sqrt(0.8) * generator.normal(size=n)
    seen = quality + np.sqrt(0.2) * generator.normal(size=(2, n))
    return tuple(np.searchsorted(cuts, seen).astype(float))


def label_cells(studies: int) -> Iterator[Row]:
    """Coverage of a judge's mean that people's labels correct."""
    for n_labels, noise in product((15, 30, 100), (0.2, 0.6, 1.5)):
        outside = []
        for study in range(studies * 2):
            generator = np.random.default_rng([study, n_labels])
            truth = POPULATIONS["ordinal"](generator.random(600), False)
            judge = np.clip(np.round(truth + 0.4 + noise * generator.normal(size=600)), 1, 5)
            people = np.where(np.arange(600) < n_labels, truth, np.nan)
            frame = corrected_mean(judge, people)
            outside.append(excludes(frame, true_mean_of["ordinal", False])[0])
        yield {"kind": "labels", "population": f"noise {noise}", "n": n_labels,
               "coverage": 1 - np.mean(outside)}  # fmt: skip


def choice_cells(studies: int) -> Iterator[Row]:
    """Bias of the best one's mean in standard errors, and coverage of its interval."""
    for n, count, lead in product((15, 60), (4, 12), (0.0, 1.0, 2.0)):
        errors, outside = [], []
        for study in range(studies):
            generator = np.random.default_rng([study, n, count])
            truth = np.r_[np.zeros(count - 1), lead] / np.sqrt(n)
            values = truth + generator.normal(size=(n, count))
            names = [str(number) for number in range(count)]
            choice = choose_best(values, names, confidence=Confidence(draws=DRAWS, seed=study))
            true_value = truth[int(choice.best)]
            errors.append((choice.value - true_value) * np.sqrt(n))
            outside.append(not choice.low <= true_value <= choice.high)
        yield {"kind": "choice", "population": f"{count} configurations, lead {lead:g} se",
               "n": n, "bias": np.mean(errors), "coverage": 1 - np.mean(outside)}  # fmt: skip


def main(studies: int = 40, out: str = "calibration.csv") -> None:
    """Write a row a cell, and print those that do not hold."""
    cells = (mean_cells, agreement_cells, label_cells, choice_cells, comparison_cells)
    rows = []
    for kind in cells:
        for row in kind(studies):
            rows.append({**row, "studies": studies})
            print(rows[-1], flush=True)
        pd.DataFrame(rows).to_csv(out, index=False, float_format="%.3f")
    frame = pd.DataFrame(rows)
    is_bad = (frame["coverage"] < LEAST_COVERAGE) | (frame["level"] > MOST_LEVEL)
    print(frame[is_bad].dropna(axis=1, how="all").to_string(index=False))


true_mean_of = {
    (name, is_better): true_mean(name, is_better)
    for name in POPULATIONS
    for is_better in (False, True)
}

if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:], strict=False)))
