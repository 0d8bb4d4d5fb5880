"""How often 95 % intervals hold the truth: means and differences over unequal clusters, shares of places that a judge
chooses, Krippendorff's α over clusters. Methods of the literature stand beside the interval that is printed.

Run `python -m benchmarks.cluster_coverage [means|differences|places|alphas] [simulations] [design]`; a design is
the beginning of a line, such as "20 clusters of 1-30". With 2,000 simulations a share near .95 is known to ± .01, and a
line takes some ten seconds.

Methods: `C-1` the C / (C − 1) sandwich with t(C − 1), `size` with as many degrees of freedom as equal clusters would
have (Carter, Schnepel, Steigerwald 2017), `CR2` Bell and McCaffrey's variance with Satterthwaite's freedom for
independent values, `CR3` the jackknife with t(C − 1), `wild` the wild cluster bootstrap-t (Cameron, Gelbach, Miller
2008). Means on a scale are Wilson's with the variance's effective n. `printed` is ragbench's own, for a difference
after its agreement with the sign-flip test, of which `test` is the share of p ≤ .05.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from ragbench.old import stats
from ragbench.old.stats import intervals as kinds

Numbers = NDArray[np.float64]
Interval = tuple[float, float]

RESAMPLES = 500
DESIGNS = [("1-30", 20), ("1-30", 5), ("1-30", 8), ("1-30", 12), ("1-30", 50), ("1-30", 100),
           ("5", 8), ("5", 20), ("5", 50), ("one of a third", 20), ("1", 20), ("1", 100)]  # fmt: skip
HITS = {share: ([0.0, 1.0], [1 - share, share]) for share in (0.3, 0.5, 0.6, 0.7, 0.85)}
RANKS = {
    first: ([0.0, *(1 / rank for rank in range(10, 0, -1))],
            [(1 - first) ** 10, *(first * (1 - first) ** (rank - 1) for rank in range(10, 0, -1))])
    for first in (0.3, 0.5)
}  # fmt: skip
SYSTEMS = {f"hit {share}": found for share, found in HITS.items()} | {f"rr {first}": r for first, r in RANKS.items()}
MEANS = ("hit 0.3", "hit 0.6", "hit 0.85", "rr 0.3")
PAIRS = (("hit 0.6", "hit 0.6"), ("hit 0.85", "hit 0.85"), ("hit 0.5", "hit 0.7"), ("hit 0.85", "hit 0.7"),
         ("rr 0.3", "rr 0.3"), ("rr 0.3", "rr 0.5"))  # fmt: skip


def sizes_of(shape: str, clusters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many questions each cluster has: from 1 to 30 at random, all the same, or one with a third of all."""
    if shape == "1-30":
        return rng.integers(1, 31, clusters)
    if shape == "one of a third":
        return np.append(np.full(clusters - 1, 5), 5 * (clusters - 1) // 2)
    return np.full(clusters, int(shape))


def latent(values: Numbers, chances: Numbers, correlation: float) -> float:
    """Correlation of the normal values behind a population whose own, of two values of one cluster, is given."""
    middle = ndtri((np.arange(1000) + 0.5) / 1000)
    edges = ndtri(np.cumsum(chances)[:-1])[:, None]
    spread = float(chances @ values**2 - (chances @ values) ** 2)
    low, high = 0.0, 0.9999
    for _ in range(30):
        tried = (low + high) / 2
        below = ndtr((edges - tried**0.5 * middle) / (1 - tried) ** 0.5)
        share = np.diff(np.vstack([np.zeros(1000), below, np.ones(1000)]), axis=0)
        low, high = (tried, high) if np.var(values @ share) < correlation * spread else (low, tried)
    return low


def drawn(name: str, correlation: float, codes: NDArray[np.int64], rng: np.random.Generator) -> Numbers:
    """Values of one simulation, alike within clusters by a Gaussian copula."""
    values, chances = (np.array(each) for each in SYSTEMS[name])
    if (name, correlation) not in _latent:
        _latent[name, correlation] = latent(values, chances, correlation) if correlation else 0.0
    own = _latent[name, correlation]
    shared = rng.standard_normal(int(codes[-1]) + 1)[codes]
    normal = own**0.5 * shared + (1 - own) ** 0.5 * rng.standard_normal(len(codes))
    return np.asarray(values[np.searchsorted(ndtri(np.cumsum(chances)[:-1]), normal)])


_latent: dict[tuple[str, float], float] = {}


def known(values: Numbers, codes: NDArray[np.int64], bounded: bool, rng: np.random.Generator) -> dict[str, Interval]:
    """The intervals of the literature."""
    sums, sizes = np.bincount(codes, weights=values), np.bincount(codes).astype(float)
    number, n = len(sizes), float(sizes.sum())
    mean, part = float(values.mean()), sizes / n
    off = sums - mean * sizes
    plain = float(off @ off) * number / (number - 1) / n**2
    bell = float(off**2 @ (1 / (1 - part))) / n**2
    jackknife = float(off**2 @ (1 / (1 - part) ** 2)) * (number - 1) / number / n**2
    centred = np.eye(number) - sizes[:, None] / n
    working = (centred * sizes) @ centred.T / (1 - part)[:, None]
    equal = max(n**2 / float(sizes @ sizes) - 1, 1.0)
    found = {
        "C-1": (plain, number - 1.0),
        "size": (plain, equal),
        "CR2": (bell, float(np.trace(working) ** 2 / np.trace(working @ working))),
        "CR3": (jackknife, number - 1.0),
    }
    intervals = {}
    for name, (variance, freedom) in found.items():
        quantile = float(stdtrit(max(freedom, 1.0), 0.975))
        half = quantile * variance**0.5
        intervals[name] = (mean - half, mean + half)
        if bounded:
            share = min(max(mean, 0.0), 1.0)
            effective = share * (1 - share) / variance if variance > 1e-15 else float(number)
            intervals[name] = kinds.wilson(share, effective, quantile)
    signs = rng.choice([-1.0, 1.0], (399, number))
    moved = signs @ off / n
    spread = float(off @ off) - 2 * moved * (signs @ (off * sizes)) + moved**2 * float(sizes @ sizes)
    ratio = np.abs(moved) / np.sqrt(np.maximum(spread, 1e-15) * number / (number - 1)) * n
    half = float(np.quantile(ratio, 0.95)) * plain**0.5
    return intervals | {"wild": (mean - half, mean + half)}


def clusters(simulations: int, wanted: str, pairs: bool) -> Iterator[str]:
    """Means, or differences of two systems, in every design at four correlations within clusters."""
    for shape, number in DESIGNS:
        design = f"{number} clusters of {shape}"
        if not design.startswith(wanted):
            continue
        for names in PAIRS if pairs else [(name,) for name in MEANS]:
            for correlation in (0.0,) if shape == "1" else (0.0, 0.1, 0.3, 0.6):
                rng, right, shown = np.random.default_rng(number), Counter[str](), 0
                width: dict[str, float] = defaultdict(float)
                truths = [float(np.dot(*SYSTEMS[name])) for name in names]
                truth = truths[-1] - (truths[0] if pairs else 0.0)
                for seed in range(simulations):
                    codes = np.repeat(np.arange(number), sizes_of(shape, number, rng))
                    columns = [drawn(name, correlation, codes, rng) for name in names]
                    labels = None if shape == "1" else codes
                    options = {"clusters": labels, "resamples": RESAMPLES, "seed": seed}
                    if pairs:
                        difference = stats.compare(columns[0], columns[1], **options)  # type: ignore[arg-type]
                        printed, shown = (difference.low, difference.high), shown + (difference.p <= 0.05)
                        values = columns[1] - columns[0]
                    else:
                        one = stats.estimate(columns[0], bounds=(0, 1), **options)  # type: ignore[arg-type]
                        printed, values = (one.low or 0.0, one.high or 0.0), columns[0]
                    for name, (low, high) in {**known(values, codes, not pairs, rng), "printed": printed}.items():
                        right[name] += low - 1e-12 <= truth <= high + 1e-12
                        width[name] += high - low
                test = f"  test {shown / simulations:.3f}" if pairs else ""
                yield f"{design}, {' → '.join(names)}, {correlation}: {_said(right, width, simulations)}{test}"


def places(simulations: int, wanted: str) -> Iterator[str]:
    """Shares of the choices of the first place: one half for a pair whose choice does not follow the order."""
    for n in (20, 30, 50, 100, 200, 300):
        for changed in (0.02, 0.05, 0.1, 0.2, 0.5):
            for first in (0.5, 0.8):
                design = f"{n} pairs, {changed} changed, {first} of them to the first"
                if not design.startswith(wanted):
                    continue
                rng, right = np.random.default_rng(n), Counter[str]()
                width: dict[str, float] = defaultdict(float)
                truth = 0.5 + changed * (first - 0.5)
                for seed in range(simulations):
                    place = np.where(rng.random(n) < first, 1.0, 0.0)
                    values = np.where(rng.random(n) < changed, place, 0.5)
                    one = stats.estimate(values, bounds=(0, 1), resamples=RESAMPLES, seed=seed)
                    for name, (low, high) in {**one.intervals, "printed": (one.low or 0.0, one.high or 0.0)}.items():
                        if name in {"bca", "t", "wilson", "printed"}:
                            right[name] += low - 1e-12 <= truth <= high + 1e-12
                            width[name] += high - low
                yield f"{design}: {_said(right, width, simulations)}"


def alphas(simulations: int, wanted: str) -> Iterator[str]:
    """α of two to four raters over clusters of unequal and of equal size, beside the truth of 200,000 items."""
    for scale in ("nominal", "interval"):
        for number, n in ((10, 50), (20, 100), (40, 100), (40, 200)):
            for raters in (2, 3, 4):
                for correlation, equal in ((0.0, False), (0.3, False), (0.3, True)):
                    design = f"{scale}, {n} items in {number} {'equal' if equal else 'unequal'} clusters"
                    if not design.startswith(wanted):
                        continue
                    rng, right = np.random.default_rng(n), Counter[str]()
                    width: dict[str, float] = defaultdict(float)
                    many = _rated(np.repeat(np.arange(40_000), 5), raters, correlation, scale, np.random.default_rng(1))
                    truth = stats.krippendorff_alpha(many, scale=scale, resamples=100).value
                    for seed in range(simulations):
                        sizes = 1 + rng.multinomial(n - number, rng.dirichlet(np.full(number, 1.2)))
                        codes = np.repeat(np.arange(number), n // number if equal else sizes)
                        ratings = _rated(codes, raters, correlation, scale, rng)
                        options = {"scale": scale, "clusters": codes, "resamples": 200, "seed": seed}
                        one = stats.krippendorff_alpha(ratings, **options)  # type: ignore[arg-type]
                        if one.low is None or one.high is None:
                            continue
                        right["simulations"] += 1
                        for name, (low, high) in {**one.intervals, "printed": (one.low, one.high)}.items():
                            right[name] += low <= truth <= high
                            width[name] += high - low
                    done = right.pop("simulations")
                    yield f"{design}, {raters} raters, {correlation}, α {truth:.2f}: {_said(right, width, done)}"


def _rated(
    codes: NDArray[np.int64], raters: int, correlation: float, scale: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(items, raters) a shared truth and each rater's error, both alike within a cluster."""
    number, n = int(codes[-1]) + 1, len(codes)
    truth = correlation**0.5 * rng.standard_normal(number)[codes] + (1 - correlation) ** 0.5 * rng.standard_normal(n)
    error = 0.5 * np.exp(0.5 * correlation**0.5 * rng.standard_normal(number))[codes]
    given = truth[:, None] + error[:, None] * rng.standard_normal((n, raters))
    return np.clip(np.round(2 * given + 3), 1, 5) if scale == "interval" else (given > -0.8).astype(np.float64)


def _said(right: Counter[str], width: dict[str, float], total: int) -> str:
    return ", ".join(f"{name} {right[name] / total:.3f} ({width[name] / total:.2f})" for name in sorted(right))


if __name__ == "__main__":
    part = sys.argv[1] if len(sys.argv) > 1 else "means"
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000
    design = sys.argv[3] if len(sys.argv) > 3 else ""
    work = {"places": places, "alphas": alphas}
    for line in work[part](number, design) if part in work else clusters(number, design, part == "differences"):
        print(line, flush=True)
