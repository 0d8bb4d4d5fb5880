"""Skew that is simulated: differences and means of known shapes, and clusters whose size goes with the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtr

from benchmarks.calibration.cells import Study
from benchmarks.calibration.populations import Codes, labels_of
from benchmarks.calibration.studies import RESAMPLES, SHOWN, Rng, holds, unwarned, within
from benchmarks.calibration.textbook import of_clusters, t_interval, t_p
from ragbench.old import stats
from ragbench.old.core.types import Array, Verdict

Draw = Callable[[Rng], Array]
"""Differences whose mean is known to be 0."""


def shifted(draw: Draw, better: float, plain: Callable[[Array], float] = t_p) -> Study:
    """Differences of a known shape: of mean 0, and moved by so much, up and down by turns."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        none, moved = draw(rng), draw(rng) + (better if seed % 2 else -better)
        asked = (none, moved) if better else (none,)
        shown = [stats.compare(np.zeros(len(one)), one, resamples=RESAMPLES, seed=seed) for one in asked]
        right = Verdict.BETTER if seed % 2 else Verdict.WORSE
        seen: dict[str, float] = {
            "coverage": within(shown[0].alone, 0.0),
            "level": shown[0].verdict in SHOWN,
            "unwarned": unwarned(shown[0], shown[0].verdict in SHOWN),
            "textbook_coverage": within(t_interval(none), 0.0),
            "textbook_level": plain(none) <= 0.05,
        }
        if better:
            seen |= {
                "power": shown[1].verdict is right,
                "textbook_power": plain(moved) <= 0.05 and moved.mean() * (seed % 2 - 0.5) > 0,
            }
        return seen

    return study


def exponential(n: int, moved: float = 1.0) -> Draw:
    """Exponential differences of a share of the questions, less their mean; the others are 0."""
    return lambda rng: np.where(rng.random(n) < moved, rng.exponential(size=n) - 1, 0.0)


def lognormal(n: int, moved: float = 1.0) -> Draw:
    """Lognormal ones likewise."""
    return lambda rng: np.where(rng.random(n) < moved, rng.lognormal(size=n) - np.exp(0.5), 0.0)


def heavy(n: int) -> Draw:
    """Student's t with three degrees of freedom: heavy tails on both sides."""
    return lambda rng: rng.standard_t(3, n)


def decided_pairs(n: int) -> Draw:
    """Pairs that are all won or lost, each as likely."""
    return lambda rng: rng.choice([-1.0, 1.0], n)


def skewed_family(n: int, challengers: int) -> Study:
    """Challengers whose differences from the baseline are exponential, less their mean."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        systems = {"0": np.zeros(n)} | {str(k + 1): rng.exponential(size=n) - 1 for k in range(challengers)}
        found = stats.compare_many(systems, "0", resamples=RESAMPLES, seed=seed)
        plain = stats.holm([t_p(systems[one.challenger]) for one in found]) <= 0.05
        return {
            "family": any(one.verdict in SHOWN for one in found),
            "unwarned": any(unwarned(one, one.verdict in SHOWN) for one in found),
            "textbook_family": bool(plain.any()),
        }

    return study


def same_of(draw: Draw, margin: float) -> Study:
    """Differences with a tail to that side where they are on average exactly as large as would matter: none may be
    called the same."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        far = draw(rng) + margin
        one = stats.compare(np.zeros(len(far)), far, margin=margin, resamples=RESAMPLES, seed=seed)
        same = one.p_equivalence is not None and one.p_equivalence <= 0.05
        return {"level": same, "unwarned": unwarned(one, same)}

    return study


def sized(number: int, tied: float) -> Callable[[Rng, float], tuple[Array, Codes]]:
    """Clusters of geometric sizes whose difference goes with the size by `tied` standard deviations; the mean over all
    questions is 0, and moved by what is given."""
    share = 0.15
    middle, spread = (2 - share) / share, (1 - share) ** 0.5 / share

    def draw(rng: Rng, better: float) -> tuple[Array, Codes]:
        sizes = rng.geometric(share, number)
        own = tied * (sizes - middle) / spread + 0.3 * rng.standard_normal(number)
        codes = labels_of(sizes)
        return own[codes] + 0.7 * rng.standard_normal(len(codes)) + better, codes

    return draw


def clustered(draw: Callable[[Rng, float], tuple[Array, Codes]], better: float) -> Study:
    """Two systems on clusters that are drawn anew: of mean 0, and apart by so much."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        seen: dict[str, float] = {}
        for shift in (0.0, better) if better else (0.0,):
            moved, codes = draw(rng, shift)
            one = stats.compare(np.zeros(len(moved)), moved, clusters=codes, resamples=RESAMPLES, seed=seed)
            plain = of_clusters(moved, codes)
            if shift:
                shown = t_p(plain) <= 0.05 and plain.mean() > 0
                seen |= {"power": one.verdict is Verdict.BETTER, "textbook_power": shown}
            else:
                shown = one.verdict in SHOWN
                seen |= {"coverage": within(one.alone, 0.0), "level": shown, "unwarned": unwarned(one, shown)}
                seen |= {"textbook_level": t_p(plain) <= 0.05, "textbook_coverage": within(t_interval(plain), 0.0)}
        return seen

    return study


def open_mean(draw: Draw) -> Study:
    """The mean of values on an open scale, whose true one is 0."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        values = draw(rng)
        one = stats.estimate(values, resamples=RESAMPLES, seed=seed)
        held = holds(one, 0.0)
        return {
            "coverage": held, "unwarned": unwarned(one, not held), "textbook_coverage": within(t_interval(values), 0.0),
        }  # fmt: skip

    return study


def larger_and_worse(number: int) -> Study:
    """The hit rate over clusters of geometric sizes, of which the larger ones are hit less often."""
    share, off = 0.15, np.array([-0.4, 0.0, 0.4])

    def chances(sizes: Array) -> Array:
        middle, spread = (1 / share), (1 - share) ** 0.5 / share
        return np.asarray(ndtr(0.84 - 0.3 * (sizes[:, None] - middle) / spread + off))

    sizes = np.arange(1, 400)
    weights = sizes * (1 - share) ** (sizes - 1)
    truth = float((weights * chances(sizes.astype(float)).mean(axis=1)).sum() / weights.sum())

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        drawn = rng.geometric(share, number)
        own = chances(drawn.astype(float))[np.arange(number), rng.integers(0, len(off), number)]
        codes = labels_of(drawn)
        values = (rng.random(len(codes)) < own[codes]).astype(float)
        one = stats.estimate(values, clusters=codes, bounds=(0.0, 1.0), resamples=RESAMPLES, seed=seed)
        held, plain = holds(one, truth), t_interval(of_clusters(values, codes))
        return {"coverage": held, "unwarned": unwarned(one, not held), "textbook_coverage": within(plain, truth)}

    return study


def not_worse(n: int, lost: float) -> Study:
    """Hits of a system that loses this share of them and wins none: how often it is not worse by more than that, which
    may be in half of what the level of the interval leaves."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        first = (rng.random(n) < 0.9).astype(float)
        second = np.where(rng.random(n) < lost / 0.9, 0.0, first)
        one = stats.compare(first, second, resamples=RESAMPLES, seed=seed)
        return {"level": one.low > -lost, "textbook_level": t_interval(second - first)[0] > -lost}

    return study
