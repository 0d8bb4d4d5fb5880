"""What is left of the best of 48 configurations: the bias of its value as it stands and corrected, in standard errors
of a mean; how often intervals hold the chosen one's true mean; how often one is called better than the baseline, the
chosen one compared alone, and any of all in their family; and how often the truly best one is among those that may be.

Run `python -m benchmarks.sweep_choices [simulations] [situation]`; a situation is the beginning of a line, such as
"equal hits". With 400 simulations a bias is known to ± .1, and a share near .95 to ± .02; a line takes some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ragbench.old import stats
from ragbench.old.core.types import Verdict
from ragbench.old.extras.sweeps.effects import behind_best, winner

Numbers = NDArray[np.float64]
CONFIGURATIONS, RESAMPLES, PARTINGS = 48, 500, 50


def effects(shape: str) -> Numbers:
    """How much better than the worst each configuration is, in standard deviations of a question's value."""
    if shape == "graded":
        return np.linspace(0, 0.3, CONFIGURATIONS)
    made = np.zeros(CONFIGURATIONS)
    made[5] = 0.0 if shape == "equal" else float(shape)
    return made


def latent(rng: np.random.Generator, clusters: NDArray[np.int64], shared: float) -> Numbers:
    """(questions, configurations) normal values: what questions have in common, and clusters, and the rest."""
    questions = rng.standard_normal(len(clusters))[:, None]
    groups = rng.standard_normal((clusters.max() + 1, CONFIGURATIONS))[clusters]
    alone = rng.standard_normal((len(clusters), CONFIGURATIONS))
    within = 0.3 if len(np.unique(clusters)) < len(clusters) else 0.0
    return np.sqrt(shared) * questions + np.sqrt(1 - shared) * (np.sqrt(within) * groups + np.sqrt(1 - within) * alone)


def normal(values: Numbers, better: Numbers) -> tuple[Numbers, Numbers]:
    """Values on an open scale, and true means."""
    return values + better, better


def hits(values: Numbers, better: Numbers) -> tuple[Numbers, Numbers]:
    """0/1 values, .7 of which are 1 of the worst, and true means."""
    edge = ndtri(0.7)
    return (values < edge + better).astype(float), ndtr(edge + better)


Scale = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
SITUATIONS: dict[str, tuple[Scale, str, float, int, int]] = {
    "equal normal, 200 questions": (normal, "equal", 0.7, 200, 1),
    "equal hits, 200 questions": (hits, "equal", 0.7, 200, 1),
    "equal hits, 300 questions in 60 clusters": (hits, "equal", 0.7, 300, 5),
    "equal hits that share nothing, 200 questions": (hits, "equal", 0.0, 200, 1),
    "one better by .1, 200 questions": (normal, "0.1", 0.7, 200, 1),
    "one better by .15, 200 questions": (normal, "0.15", 0.7, 200, 1),
    "graded to .3, 200 questions": (normal, "graded", 0.7, 200, 1),
}
"""Scale, how much better, what share of the variance is the question's, questions, and questions a cluster."""


def simulated(name: str, simulations: int) -> str:
    """The line of a situation."""
    scale, shape, shared, number, size = SITUATIONS[name]
    rng = np.random.default_rng(20_261_126)
    clusters, better = np.arange(number) // size, effects(shape)
    labels = None if size == 1 else clusters
    bounds = (0.0, 1.0) if scale is hits else None
    rows = []
    spread = []
    for seed in range(simulations):
        values, truth = scale(latent(rng, clusters, shared), better)
        found = winner(values, clusters=labels, bounds=bounds, partings=PARTINGS, resamples=RESAMPLES, seed=seed)
        assert found.value.low is not None
        assert found.value.high is not None
        mean = float(truth[found.place])
        alone = stats.estimate(values[:, found.place], clusters=labels, bounds=bounds, resamples=RESAMPLES, seed=seed)
        assert alone.low is not None
        assert alone.high is not None
        called = stats.compare_many(
            {str(place): column for place, column in enumerate(values.T)}, "0", clusters=labels, bounds=bounds,
            resamples=1_000, seed=seed,
        )  # fmt: skip
        naive = stats.compare(
            values[:, 0], values[:, found.place], clusters=labels, bounds=bounds, resamples=1_000, seed=seed
        )
        behind = behind_best(values, clusters=labels, resamples=RESAMPLES, seed=seed)
        spread.append(values.reshape(-1, size, CONFIGURATIONS).mean(axis=1)[:, 1].std(ddof=1))
        rows.append(
            (
                found.seen - mean, found.value.value - mean, alone.low <= mean <= alone.high,
                found.value.low <= mean <= found.value.high,
                any(each.verdict in (Verdict.BETTER, Verdict.SLIGHTLY_BETTER) for each in called),
                naive.verdict in (Verdict.BETTER, Verdict.SLIGHTLY_BETTER),
                behind[int(np.argmax(truth))].may_be_best, sum(each.may_be_best for each in behind),
            )
        )  # fmt: skip
    error = float(np.mean(spread)) / np.sqrt(number / size)
    table = np.array(rows, dtype=float)
    means = table.mean(axis=0)
    naive_bias, bias = means[:2] / error
    _, _, held_seen, held_left, family, alone_called, kept, remaining = means
    return (
        f"{name:46} {naive_bias:+6.2f} {bias:+6.2f}   {held_seen:.3f}  {held_left:.3f}    {alone_called:.3f}   "
        f"{family:.3f}    {kept:.3f}  {remaining:5.1f}"
    )


def main() -> None:
    """Print a line a situation."""
    words = sys.argv[1:]
    simulations = int(words[0]) if words[:1] and words[0].isdigit() else 400
    begins = " ".join(words[1:] if words[:1] and words[0].isdigit() else words)
    print(f"{CONFIGURATIONS} configurations, {simulations} simulations")
    print(f"{'':46} bias, in errors intervals hold  called better  the best  may be")
    print(f"{'':46}  seen   left    seen   left    alone  family  is kept   best")
    for name in SITUATIONS:
        if name.startswith(begins):
            print(simulated(name, simulations), flush=True)


if __name__ == "__main__":
    main()
