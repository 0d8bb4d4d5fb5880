"""What sways a judge: probes, each with an effect, its interval, the limit within which nobody would mind, a verdict.

Every effect is a share: of the metric's scale, or of the answers. One family of tests over all probes and judges of
a page, so that an honest judge is rarely accused of anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from ragbench import stats
from ragbench.bench import judge_numbers
from ragbench.bench.families import Sureness
from ragbench.bench.judge_asking import Heard
from ragbench.bench.judge_items import Answers, Scale, Temptations
from ragbench.bench.judge_texts import ATTACKS, LADDER
from ragbench.stats.margins import outside_p
from ragbench.types import Array, Estimate

PROBES = (
    "repeats", "place", "padding", "scale_order", "language", "own_family", "injected", "blank", "key", "ladder",
    "disguise",
)  # fmt: skip
ONLY_UP = ("repeats", "injected", "blank", "key", "own_family", "disguise")
FEWEST = 10
"""Items below which a probe says nothing: no verdict could be trusted."""


@dataclass(frozen=True)
class Limits:
    """How much nobody would mind.

    bias: a shift of scores, as a share of the scale; of choices towards a place, as a share of all. flips: share of
    repeats that change the decision. attacks: share of worthless answers that are called good. ladder: share of the
    pairs of rungs that must be in order at least, ties half. alike: the greatest correlation of a judge's errors with
    those of the lexical baseline.
    """

    bias: float = 0.05
    flips: float = 0.02
    attacks: float = 0.05
    ladder: float = 0.75
    alike: float = 0.5

    def of(self, probe: str) -> tuple[float, float]:
        """The limits of a probe's effect."""
        if probe == "ladder":
            return self.ladder, math.inf
        high = {"repeats": self.flips, "blank": self.attacks, "key": self.attacks, "disguise": self.alike}
        limit = high.get(probe, self.bias)
        return (-math.inf, limit) if probe in ONLY_UP else (-limit, limit)


@dataclass(frozen=True)
class Probe:
    """What one probe found of one judge.

    effect: see `ragbench.bench.judge_biases`; its value is NaN where the probe could not be made, `why` says why.
    limits: within which nobody would mind. p: of the hypothesis that the effect lies within; p_adjusted: by Holm.
    verdict: "found" (beyond the limits, p_adjusted below 1 − level), "passed" (the whole interval within them),
    "open" (neither is shown), "unmeasured".
    """

    judge: str
    probe: str
    effect: Estimate
    limits: tuple[float, float]
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str = "unmeasured"
    why: str = ""


def probes(
    heard: Sequence[Heard], answers: Answers, temptations: Temptations, rival: str, baseline: Array | None,
    scale: Scale, good: float, limits: Limits, sure: Sureness,
) -> list[Probe]:  # fmt: skip
    """Every probe of every judge, corrected together.

    rival, baseline: the name of the lexical judge, and its scores of the same answers, if it was heard.
    """
    found = []
    for one in heard:
        measured = _effects(one, answers, temptations, rival, baseline, scale, good)
        for name in PROBES:
            found.append(_probe(one.name, name, measured[name], limits.of(name), sure))
    return _judged(found, sure.level)


@dataclass(frozen=True)
class _Effect:
    """Values whose mean is the effect, or why there are none.

    kind: "share" of values from 0 to 1, "shift" of differences, "correlation" of the two columns.
    """

    values: Array
    clusters: Sequence[str] | None
    kind: Literal["share", "shift", "correlation"] = "shift"
    why: str = ""


def _effects(
    one: Heard,
    answers: Answers,
    temptations: Temptations,
    rival: str,
    baseline: Array | None,
    scale: Scale,
    good: float,
) -> dict[str, _Effect]:
    given = judge_numbers.single(one, scale)
    of_answers, of_questions = independent(answers.clusters), independent(temptations.clusters)
    tempted = {name: scale.share(values) for name, values in one.variants.items()}

    def shifted(after: str, before: str) -> _Effect:
        if after not in tempted:
            return _nothing("no_texts")
        return _Effect(tempted[after] - tempted[before], of_questions)

    def taken_in(name: str) -> _Effect:
        if name not in tempted:
            return _nothing("no_texts")
        values = np.where(np.isnan(tempted[name]), np.nan, tempted[name] >= good - 1e-9)
        return _Effect(values, of_questions, "share")

    def against(other: Array | None, why: str) -> _Effect:
        return _nothing(why) if other is None else _Effect(scale.share(other) - given, of_answers)

    several = one.answers.scores.shape[1] > 1
    return {
        "repeats": _Effect(judge_numbers.flips(one.answers.scores, scale, good), of_answers, "share")
        if several
        else _nothing("one_repeat"),
        "place": _nothing("no_pairs")
        if one.choices is None
        else _Effect(one.choices.mean(axis=1), _of_pairs(one, of_questions, of_answers)),
        "padding": shifted("padded", "partial"),
        "scale_order": against(one.turned, "no_scale"),
        "language": against(one.twins, "one_language"),
        "own_family": own_family(one, answers, given),
        "injected": shifted("injected", "off_topic"),
        "blank": taken_in("blank"),
        "key": taken_in("key"),
        "ladder": _Effect(in_order(tempted), of_questions, "share") if tempted else _nothing("no_texts"),
        "disguise": disguise(one, given, rival, baseline, answers),
    }


def _of_pairs(one: Heard, of_questions: Sequence[str] | None, of_answers: Sequence[str] | None) -> Sequence[str] | None:
    """Clusters of the pairs: made pairs belong to questions, logged ones to the items."""
    assert one.choices is not None
    return next(
        (each for each in (of_questions, of_answers) if each is not None and len(each) == len(one.choices)), None
    )


def _nothing(why: str) -> _Effect:
    return _Effect(np.zeros(0), None, why=why)


def independent(clusters: Sequence[str]) -> Sequence[str] | None:
    """The clusters; None where each stands alone."""
    return None if len(set(clusters)) == len(clusters) else clusters


def in_order(tempted: Mapping[str, Array]) -> Array:
    """(questions,) share of the pairs of rungs of the ladder that stand in order, a tie half."""
    pairs = [np.sign(tempted[better] - tempted[worse]) for better, worse in combinations(LADDER, 2)]
    return np.asarray((np.mean(pairs, axis=0) + 1) / 2)


def own_family(one: Heard, answers: Answers, given: Array) -> _Effect:
    """Score above people's mean: of answers by the judge's own family, less the same of the others, by cluster."""
    families = [family(sample.system) for sample in answers.samples]
    if one.family is None or one.family not in families:
        return _nothing("no_own_family")
    above = given - answers.mean_people
    values, labels = [], []
    for cluster in dict.fromkeys(answers.clusters):
        here = np.array([label == cluster for label in answers.clusters]) & ~np.isnan(above)
        own = here & np.array([each == one.family for each in families])
        if own.any() and (here & ~own).any():
            values.append(float(above[own].mean() - above[here & ~own].mean()))
            labels.append(cluster)
    return _Effect(np.array(values), None, why="" if values else "no_own_family")


def family(model: str | None) -> str | None:
    """The family that a model's name tells of; None for an unknown one."""
    plain = (model or "").casefold()
    return next((name for name, signs in FAMILIES.items() if any(sign in plain for sign in signs)), None)


FAMILIES = {
    "gpt": ("gpt", "openai", "chatgpt"),
    "claude": ("claude", "anthropic"),
    "gemini": ("gemini", "gemma", "palm"),
    "llama": ("llama", "vicuna"),
    "mistral": ("mistral", "mixtral", "ministral"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "command": ("command-r", "command r", "cohere"),
    "phi": ("phi-",),
    "gigachat": ("gigachat",),
    "yandexgpt": ("yandex",),
    "t-lite": ("t-lite", "t-pro"),
}


def disguise(one: Heard, given: Array, rival: str, baseline: Array | None, answers: Answers) -> _Effect:
    """The judge's errors beside the baseline's: what each gives above the mean of its scores at people's rating."""
    if baseline is None:
        return _nothing("no_baseline")
    if one.name == rival:
        return _nothing("is_baseline")
    truth = answers.mean_people
    known = ~(np.isnan(given) | np.isnan(baseline) | np.isnan(truth))
    if known.sum() < FEWEST:
        return _nothing("no_people")
    levels = _levels(truth[known])
    columns = np.full((len(given), 2), np.nan)
    columns[known] = np.column_stack([_within(each[known], levels) for each in (given, baseline)])
    if (np.nanstd(columns, axis=0) < 1e-9).any():
        return _nothing("no_spread")
    return _Effect(columns, answers.clusters, "correlation")


def _levels(truth: Array) -> Any:
    """Levels of people's rating: its values, or tenths of the answers where there are many."""
    values = np.unique(truth)
    if len(values) <= 10:
        return np.searchsorted(values, truth)
    return np.searchsorted(np.quantile(truth, np.linspace(0.1, 0.9, 9)), truth)


def _within(values: Array, levels: Any) -> Array:
    means = np.bincount(levels, weights=values) / np.maximum(np.bincount(levels), 1)
    return np.asarray(values - means[levels])


def _probe(judge: str, name: str, effect: _Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    if effect.why:
        return Probe(judge, name, _unknown(sure, 0), limits, why=effect.why)
    if effect.kind == "correlation":
        return _correlated(judge, name, effect, limits, sure)
    measured = int((~np.isnan(effect.values)).sum())
    if measured < FEWEST:
        why = "no_scale" if name == "scale_order" and not measured else "few"
        return Probe(judge, name, _unknown(sure, measured), limits, why=why)
    found = _mean(effect, sure)
    return Probe(judge, name, found, limits, outside_p(effect.values, *limits, clusters=effect.clusters))


def _mean(effect: _Effect, sure: Sureness) -> Estimate:
    """The mean with its interval. Where no value differs from another, a unit could still have moved by the whole
    scale: the interval then reaches as far as the share of such units could go unseen."""
    options: dict[str, Any] = {"clusters": effect.clusters, **asdict(sure)}
    if effect.kind == "share":
        return stats.estimate(effect.values, bounds=(0.0, 1.0), **options)
    found = stats.compare(np.zeros(len(effect.values)), effect.values, **options)
    made = replace(
        _unknown(sure, found.n), value=found.difference, low=found.low, high=found.high, method=found.method,
        n_unmeasured=found.n_dropped, clusters=found.clusters, note=found.note,
    )  # fmt: skip
    if found.note != "no_spread":
        return made
    unseen = stats.estimate(np.where(np.isnan(effect.values), np.nan, 0.0), bounds=(0.0, 1.0), **options)
    ends = (max(-1.0, made.value - (unseen.high or 1.0)), min(1.0, made.value + (unseen.high or 1.0)))
    return replace(made, low=ends[0], high=ends[1], method=unseen.method)


def _correlated(judge: str, name: str, effect: _Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    """Fisher's z with as many independent pairs as there are clusters."""
    from scipy.special import ndtr

    kept = ~np.isnan(effect.values).any(axis=1)
    pairs = effect.values[kept]
    number = len({label for label, keep in zip(effect.clusters or (), kept, strict=True) if keep})
    if number < FEWEST:
        return Probe(judge, name, _unknown(sure, len(pairs)), limits, why="few")
    r = float(np.clip(np.corrcoef(pairs.T)[0, 1], -0.999999, 0.999999))
    error = 1 / math.sqrt(number - 3)
    half = float(stats_quantile(sure.level)) * error
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    found = replace(_unknown(sure, len(pairs)), value=r, low=low, high=high, method="fisher", clusters=number, note="")
    return Probe(judge, name, found, limits, float(ndtr(-(math.atanh(r) - math.atanh(limits[1])) / error)))


def stats_quantile(level: float) -> float:
    """The two-sided normal quantile of a level."""
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)


def _unknown(sure: Sureness, n: int) -> Estimate:
    return Estimate(math.nan, None, None, sure.level, "none", n, note="empty")


def _judged(found: Sequence[Probe], level: float) -> list[Probe]:
    adjusted = stats.holm([each.p for each in found]) if found else []
    done = []
    for each, p in zip(found, adjusted, strict=True):
        low, high = each.limits
        e = each.effect
        if each.why:
            verdict = "unmeasured"
        elif p < 1 - level:
            verdict = "found"
        elif e.low is not None and e.high is not None and e.low >= low and e.high <= high:
            verdict = "passed"
        else:
            verdict = "open"
        done.append(replace(each, p_adjusted=float(p), verdict=verdict))
    return done


def attacks_that_worked(found: Sequence[Probe], judge: str) -> list[str]:
    """The attacks that were found to work on a judge."""
    return [each.probe for each in found if each.judge == judge and each.probe in ATTACKS and each.verdict == "found"]
