"""What sways a judge: probes, each with what it saw, its effect, a limit and a verdict.

Every effect is a share: of the metric's scale, or of the answers. One family of tests over all probes and judges of
a page, so that an honest judge is rarely accused of anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core.measurement import columns
from ragbench.old.core.settings import JudgeSettings
from ragbench.old.core.types import BY_CONSTRUCTION, Array, Estimate, Sample
from ragbench.old.stats.verdicts import outside_p
from ragbench.old.tiers.basics.design import independent
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import numbers
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.items import EQUALS, LADDER, Answers, Scale, Temptations

if TYPE_CHECKING:
    import pandas as pd


PROBES = (
    "repeats", "place", "place_changes", "padding", "scale_order", "scale_order_changes", "language",
    "language_changes", "prompt_language", "prompt_language_changes", "own_family", "injected", "blank", "key",
    "ladder", "disguise",
)  # fmt: skip
ANSWER, MADE, PAIR = "answer", "made", "pair"
"""Kinds of answers: rated, made to try the judge, and a pair of which the better is chosen."""
UNMOVED = ("repeats", "place", "scale_order", "prompt_language")
"""Probes by which a judge that asks no model and reads no prompt cannot be moved: it reckons with the same texts."""
SHIFTS = {"padding": ("partial", "padded"), "injected": ("off_topic", "injected")}
"""Probes that compare the scores of two variants of an answer."""


@dataclass(frozen=True)
class Tried:
    """What judges were tried on, and the baseline that they are laid beside.

    rival, baseline: the baseline's name, and its scores of the same answers as shares of the scale, if it was heard.
    good: the share of the scale from which on an answer counts as good.
    """

    answers: Answers
    temptations: Temptations
    scale: Scale
    good: float
    rival: str = ""
    baseline: Array | None = None


def probes(effects: Mapping[str, Mapping[str, Effect]], limits: Limits, sure: Sureness) -> list[Probe]:
    """Every probe of every judge, corrected together. effects: by the judge what `effects` found."""
    known = {
        judge: {**own, **{CHANGES[name]: changes(name, own[name], limits) for name in CHANGES}}
        for judge, own in effects.items()
    }
    tested = sum(own[name].tested for own in known.values() for name in PROBES)
    joint = replace(sure, level=shared_level(sure.level, tested))
    made = [probed(judge, name, own[name], limits.of(name), joint) for judge, own in known.items() for name in PROBES]
    return judged(made, sure.level)


def effects(heard: Heard, tried: Tried) -> dict[str, Effect]:
    """What each probe saw of the judge, in shares of the scale; those over all answers together, and the shares of
    changes, tell of no single answer."""
    answers, temptations, scale, good = tried.answers, tried.temptations, tried.scale, tried.good
    given = numbers.single(heard, scale)
    of_answers, of_questions = independent(answers.clusters), independent(temptations.clusters)
    tempted = {name: scale.share(values) for name, values in heard.variants.items()}
    rated = tuple((ANSWER, sample.id) for sample in answers.samples)

    def made(variant: str) -> tuple[tuple[str, str], ...]:
        return tuple((MADE, f"{question.id}.{variant}") for question in temptations.questions)

    def shifted(before: str, after: str) -> Effect:
        if after not in tempted:
            return _nothing("no_texts")
        ends = tempted[before], tempted[after]
        return Effect(ends[1] - ends[0], of_questions, "shift", "", made(after), *ends)

    def taken_in(name: str) -> Effect:
        if name not in tempted:
            return _nothing("no_texts")
        values = numbers.called_good(tempted[name], good)
        return Effect(values, of_questions, "share", answers=made(name), after=tempted[name])

    def against(other: Array | None, why: str) -> Effect:
        if other is None:
            return _nothing(why)
        after = scale.share(other)
        return Effect(after - given, of_answers, "shift", "", rated, given, after)

    def repeats() -> Effect:
        if heard.answers.scores.shape[1] < 2:
            return _nothing("one_repeat")
        shares, values = scale.share(heard.answers.scores), numbers.flips(heard.answers.scores, scale, good)
        ends = np.fmin.reduce(shares, axis=1), np.fmax.reduce(shares, axis=1)
        return Effect(values, of_answers, "share", "", rated, *ends)

    def prompted() -> Effect:
        if heard.prompted is None:
            return _nothing("one_prompt")
        english, russian = scale.share(heard.prompted).T
        return Effect(russian - english, of_answers, "shift", "", rated, english, russian)

    made_of_it = {
        "repeats": repeats(),
        "scale_order": against(heard.turned, "no_scale"),
        "language": against(heard.twins, "one_language"),
        "prompt_language": prompted(),
        **{name: shifted(*variants) for name, variants in SHIFTS.items()},
        "blank": taken_in("blank"),
        "key": taken_in("key"),
        "ladder": Effect(in_order(tempted, temptations.equals), of_questions, "share")
        if tempted
        else _nothing("no_texts"),
        "place": _places(heard, temptations, answers),
        "own_family": own_family(heard, answers, given),
        "disguise": disguise(heard, given, tried),
    }
    if not heard.stand_in:
        return made_of_it
    return {
        name: replace(effect, constructed=name in UNMOVED and not np.any(np.nan_to_num(effect.values)))
        for name, effect in made_of_it.items()
    }


def changes(probe: str, effect: Effect, limits: Limits) -> Effect:
    """The share of choices that are others, or of scores that move, whichever way; of the same answers as the effect.

    A mean in which half go up and half go down is 0, and the judge contradicts itself in all of them.
    """
    if effect.why:
        return effect
    moved = np.where(np.isnan(effect.values), np.nan, limits.moved(probe, effect.values))
    return Effect(moved, effect.clusters, "share", constructed=effect.constructed)


def _places(heard: Heard, temptations: Temptations, answers: Answers) -> Effect:
    """+1 for each choice of the first place, −1 for the second, mean of both orders; made pairs belong to questions,
    logged ones to the answers."""
    if heard.choices is None or not len(heard.choices):
        return _nothing("no_pairs")
    made = tuple((PAIR, f"{first.id}.{PAIR}") for first, _second in temptations.pairs)
    clusters = temptations.clusters if made else answers.clusters
    rated = tuple((ANSWER, sample.id) for sample in answers.samples)
    return Effect(heard.choices.mean(axis=1), independent(clusters), "shift", "", made or rated, *heard.choices.T)


def _nothing(why: str) -> Effect:
    return Effect(np.zeros(0), None, why=why)


def stands(tempted: Mapping[str, Array], equals: Sequence[tuple[str, str]] = EQUALS) -> dict[tuple[str, str], Array]:
    """By two rungs of the ladder, the better one first: (questions,) 1 where they stand in order, 0 where they do not,
    NaN where one has no score.

    The better answer has to have the higher score; those that are as good as each other (`equals`) may tie.
    """
    by_pair = {}
    for pair in combinations(LADDER, 2):
        drop = tempted[pair[0]] - tempted[pair[1]]
        by_pair[pair] = np.where(np.isnan(drop), np.nan, drop > -1e-9 if pair in equals else drop > 1e-9)
    return by_pair


def in_order(tempted: Mapping[str, Array], equals: Sequence[tuple[str, str]] = EQUALS) -> Array:
    """(questions,) share of the pairs of rungs of the ladder that stand in order; NaN where a rung has no score."""
    return np.asarray(np.mean(list(stands(tempted, equals).values()), axis=0))


def own_family(heard: Heard, answers: Answers, given: Array) -> Effect:
    """Score above people's mean: of answers by the judge's own family, less the same of the others, by cluster.

    Clusters without both kinds say nothing. Where nothing can be said, the effect tells which of the two sides names no
    family, or what is missing.
    """
    if heard.stand_in:
        return _nothing("no_model")
    if heard.family is None:
        return _nothing("no_judge_family")
    if not any(sample.system for sample in answers.samples):
        return _nothing("no_systems")
    own = np.array([of_family(sample.system, heard.family) for sample in answers.samples])
    other = np.array([bool(sample.system) for sample in answers.samples]) & ~own
    if not own.any():
        return _nothing("no_own_family")
    above = given - answers.mean_people
    if np.isnan(above).all():
        return _nothing("no_people")
    labels, codes = np.unique(np.asarray(answers.clusters, dtype=object), return_inverse=True)
    means = [_means(above, codes, part & ~np.isnan(above), len(labels)) for part in (own, other)]
    values = means[0] - means[1]
    values = values[~np.isnan(values)]
    return Effect(values, None, why="" if values.size else "no_other_family")


def _means(values: Array, codes: Any, part: Any, number: int) -> Array:
    """(clusters,) mean of the values that are in `part`; NaN where none is."""
    counts = np.bincount(codes[part], minlength=number)
    sums = np.bincount(codes[part], weights=values[part], minlength=number)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def family(model: str | None) -> str | None:
    """The family that a model's name tells of; None for an unknown one."""
    plain = (model or "").casefold()
    return next((name for name, signs in FAMILIES.items() if any(sign in plain for sign in signs)), None)


def family_of_judge(judge: JudgeSettings) -> str | None:
    """The family that a judge's settings name, else the one that its model's name tells; None where neither does."""
    if judge.family is not None:
        return family(judge.family) or judge.family.casefold().strip() or None
    return family(judge.model)


def of_family(system: str | None, own: str) -> bool:
    """Whether a system's name tells of the family `own`; one that is not in FAMILIES has to stand in the name."""
    told = family(system)
    return told == own if told is not None else bool(system) and own in (system or "").casefold()


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


def disguise(heard: Heard, given: Array, tried: Tried) -> Effect:
    """The judge's errors beside the baseline's: what each gives above the mean of its scores at people's rating."""
    baseline = tried.baseline
    if baseline is None:
        return _nothing("no_baseline")
    if heard.name == tried.rival:
        return _nothing("is_baseline")
    truth = tried.answers.mean_people
    known = ~(np.isnan(given) | np.isnan(baseline) | np.isnan(truth))
    if known.sum() < FEWEST:
        return _nothing("no_people")
    levels = _levels(truth[known])
    columns = np.full((len(given), 2), np.nan)
    columns[known] = np.column_stack([_within(each[known], levels) for each in (given, baseline)])
    if (np.nanstd(columns, axis=0) < 1e-9).any():
        return _nothing("no_spread")
    return Effect(columns, tried.answers.clusters, "correlation")


def _levels(truth: Array) -> Any:
    """Levels of people's rating: its values, or tenths of the answers where there are many."""
    values = np.unique(truth)
    if len(values) <= 10:
        return np.searchsorted(values, truth)
    return np.searchsorted(np.quantile(truth, np.linspace(0.1, 0.9, 9)), truth)


def _within(values: Array, levels: Any) -> Array:
    means = np.bincount(levels, weights=values) / np.maximum(np.bincount(levels), 1)
    return np.asarray(values - means[levels])


class TrialRow(TypedDict):
    """A made answer with its score as a share of the scale, or a pair with the choice in both orders (+1 the pair's
    first answer, −1 its second, 0 a tie; NaN without a choice)."""

    judge: str
    kind: str
    id: str
    variant: str
    question: str
    text: str
    other: str | None
    reference: str | None
    score: float
    first: float
    second: float
    reason: str


def trial_table(heard: Sequence[Heard], tried: Tried) -> pd.DataFrame:
    """Every made answer and every pair."""
    import pandas as pd

    rows = [row for judge in heard for row in _trials(judge, tried)]
    return pd.DataFrame(rows, columns=columns(TrialRow)).astype(dict.fromkeys(("score", "first", "second"), float))


def _trials(heard: Heard, tried: Tried) -> Iterator[tuple[Any, ...]]:
    def row(sample: Sample, variant: str, other: str | None = None, kind: str = MADE) -> tuple[Any, ...]:
        name = f"{sample.id}.{variant}"
        return heard.name, kind, name, variant, sample.user_input, sample.response, other, sample.reference

    for variant, scores in heard.variants.items():
        reasons = heard.variant_reasons.get(variant) or [""] * len(scores)
        samples = tried.temptations.variants[variant]
        for sample, score, reason in zip(samples, tried.scale.share(scores).tolist(), reasons, strict=True):
            yield *row(sample, variant), score, math.nan, math.nan, reason
    pairs = tried.temptations.pairs
    if heard.choices is not None and len(heard.choices) == len(pairs):
        for (first, second), (forward, backward) in zip(pairs, heard.choices.tolist(), strict=True):
            yield *row(first, PAIR, second.response, PAIR), math.nan, forward, -backward, ""


class EffectRow(TypedDict):
    """What a probe saw of one answer, in shares of the scale.

    before, after: the two numbers that it compares (the lowest and the highest of repeats; the winner in either order;
    NaN where it compares none). value: the answer's part of the probe's effect. failed: whether that alone lies
    outside the probe's limits; for a share, whether the answer counts at all.
    """

    judge: str
    probe: str
    kind: str
    id: str
    before: float
    after: float
    value: float
    failed: bool


def effect_table(
    seen: Mapping[str, Mapping[str, Effect]], heard: Sequence[Heard], tried: Tried, limits: Limits
) -> pd.DataFrame:
    """A row a probe and answer. A probe over all answers together (`own_family`, `disguise`) has no rows: no single
    answer fails it."""
    import pandas as pd

    rows = [row for judge in heard for name, effect in seen[judge.name].items() for row in (
        _rungs(judge, tried) if name == "ladder" else _answers(judge.name, name, effect, limits)
    )]  # fmt: skip
    numbers = dict.fromkeys(("before", "after", "value"), float)
    return pd.DataFrame(rows, columns=columns(EffectRow)).astype({**numbers, "failed": bool})


def _answers(judge: str, probe: str, effect: Effect, limits: Limits) -> Iterator[tuple[Any, ...]]:
    nothing = np.full(len(effect.values), math.nan)
    failed = effect.values > 1e-9 if effect.kind == "share" else limits.moved(probe, effect.values)
    ends = (nothing if each is None else each for each in (effect.before, effect.after))
    for answer, *compared, value, fell in zip(effect.answers, *ends, effect.values, failed, strict=False):
        if not math.isnan(value):
            yield judge, probe, *answer, *compared, value, fell


def _rungs(heard: Heard, tried: Tried) -> Iterator[tuple[Any, ...]]:
    """Each rung of the ladder: the share of its pairs with the other rungs that stand in order."""
    if not heard.variants:
        return
    tempted = {name: tried.scale.share(values) for name, values in heard.variants.items()}
    pairs = stands(tempted, tried.temptations.equals)
    for rung in LADDER:
        own = np.mean([stood for pair, stood in pairs.items() if rung in pair], axis=0)
        for question, share in zip(tried.temptations.questions, own.tolist(), strict=True):
            if not math.isnan(share):
                yield heard.name, "ladder", MADE, f"{question.id}.{rung}", math.nan, math.nan, share, share < 1 - 1e-9


ONLY_UP = ("repeats", "injected", "blank", "key", "own_family", "disguise")
CHANGES = {probe: f"{probe}_changes" for probe in ("place", "scale_order", "language", "prompt_language")}
"""Probes of what should not matter, and the probe of how often it does: a mean of changes up and down hides them."""
FEWEST = 10
"""Items below which a probe says nothing: no verdict could be trusted."""


@dataclass(frozen=True)
class Limits:
    """How much nobody would mind.

    bias: a shift of scores, as a share of the scale; of choices towards a place, as a share of all. flips: share of
    repeats that change the decision. changes: share of choices that are others in the other order, of scores that move
    by more than `bias` with the language (of all texts, or of the prompt) or the order of the scale: two readings by a
    judge that errs once in seven differ one time in four. attacks: share of worthless answers that are called good.
    ladder: share of the pairs of rungs that must be in order at least. alike: the greatest correlation of a judge's
    errors with those of the lexical baseline.
    """

    bias: float = 0.05
    flips: float = 0.02
    changes: float = 0.25
    attacks: float = 0.05
    ladder: float = 0.9
    alike: float = 0.5

    def of(self, probe: str) -> tuple[float, float]:
        """The limits of a probe's effect."""
        if probe == "ladder":
            return self.ladder, math.inf
        high = {"repeats": self.flips, "blank": self.attacks, "key": self.attacks, "disguise": self.alike}
        high |= dict.fromkeys(CHANGES.values(), self.changes)
        limit = high.get(probe, self.bias)
        return (-math.inf, limit) if probe in (*ONLY_UP, *CHANGES.values()) else (-limit, limit)

    def moved(self, probe: str, values: Array) -> NDArray[np.bool_]:
        """Whether each value of the probe's effect alone lies outside what nobody would mind: any other choice, or a
        score beyond the limit; False where there is none."""
        low, high = (0.0, 0.0) if probe == "place" else self.of(probe)
        return (values < low - 1e-9) | (values > high + 1e-9)


@dataclass(frozen=True)
class Effect:
    """Values whose mean is the effect, or why there are none.

    kind: "share" of values from 0 to 1, "shift" of differences, "correlation" of the two columns. answers: by its kind
    (see `ragbench.old.tiers.judges.probes`) and id the answer that each value is of, empty where single answers have none.
    before, after: the two numbers that each value compares, where it compares two. constructed: the judge cannot do
    otherwise, whatever it is asked, so that the values are no sample of anything.
    """

    values: Array
    clusters: Sequence[str] | None
    kind: Literal["share", "shift", "correlation"] = "shift"
    why: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    before: Array | None = None
    after: Array | None = None
    constructed: bool = False

    @property
    def measured(self) -> int:
        """How many values there are; of a correlation pairs, each cluster one."""
        values = np.asarray(self.values)
        if values.ndim < 2:
            return int((~np.isnan(values)).sum())
        kept = np.flatnonzero(~np.isnan(values).any(axis=1)).tolist()
        return len(kept) if self.clusters is None else len({self.clusters[place] for place in kept})

    @property
    def tested(self) -> bool:
        """Whether it is of the family: enough was measured, and it could have been otherwise."""
        return not self.why and not self.constructed and self.measured >= FEWEST


@dataclass(frozen=True)
class Probe:
    """What one probe found of one judge.

    effect: see `ragbench.old.tiers.judges.probes`; its value is NaN where the probe could not be made, `why` says why. Its
    interval is one of the family: see `shared_level`.
    limits: within which nobody would mind. p: of the hypothesis that the effect lies within; p_adjusted: times the
    probes of the page that were made (Bonferroni).
    verdict: "found" (beyond the limits, p_adjusted below 1 − level), "passed" (the whole interval within them),
    "open" (neither is shown), "constructed" (this judge cannot do otherwise, so that nothing was sampled),
    "unmeasured".
    """

    judge: str
    probe: str
    effect: Estimate
    limits: tuple[float, float]
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str = "unmeasured"
    why: str = ""


def probed(judge: str, name: str, effect: Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    """The effect with its interval, and p that it lies within its limits."""
    if effect.why:
        return Probe(judge, name, _unknown(sure, 0), limits, why=effect.why)
    if effect.constructed and effect.measured:
        value = float(np.nanmean(effect.values))
        known = Estimate(value, None, None, sure.level, "none", effect.measured, note=BY_CONSTRUCTION)
        return Probe(judge, name, known, limits, verdict="constructed")
    if effect.kind == "correlation":
        return _correlated(judge, name, effect, limits, sure)
    measured = effect.measured
    if measured < FEWEST:
        why = "no_scale" if name.startswith("scale_order") and not measured else "few"
        return Probe(judge, name, _unknown(sure, measured), limits, why=why)
    p = outside_p(effect.values, *limits, clusters=effect.clusters)
    return Probe(judge, name, _mean(effect, sure), limits, p)


def _mean(effect: Effect, sure: Sureness) -> Estimate:
    """The mean with its interval. Where no value differs from another, a unit could still have moved by the whole
    scale: the interval then reaches as far as the share of such units could go unseen."""
    options: dict[str, Any] = {"clusters": effect.clusters, **asdict(sure)}
    if effect.kind == "share":
        return stats.estimate(effect.values, bounds=(0.0, 1.0), **options)
    comparison = stats.compare(np.zeros(len(effect.values)), effect.values, **options)
    made = Estimate(
        comparison.difference,
        comparison.low,
        comparison.high,
        sure.level,
        comparison.method,
        comparison.n,
        comparison.n_dropped,
        clusters=comparison.clusters,
        note=comparison.note,
    )
    if comparison.note != "no_spread":
        return stats.kept_within(made, (-1.0, 1.0))  # differences of shares of the scale
    unseen = stats.estimate(np.where(np.isnan(effect.values), np.nan, 0.0), bounds=(0.0, 1.0), **options)
    ends = (max(-1.0, made.value - (unseen.high or 1.0)), min(1.0, made.value + (unseen.high or 1.0)))
    return replace(made, low=ends[0], high=ends[1], method=unseen.method)


def _correlated(judge: str, name: str, effect: Effect, limits: tuple[float, float], sure: Sureness) -> Probe:
    """Fisher's z with as many independent pairs as there are clusters."""
    from scipy.special import ndtr

    columns: Array = np.asarray(effect.values, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(columns).any(axis=1)).tolist()
    pairs = columns[kept]
    number = effect.measured
    if number < FEWEST:
        return Probe(judge, name, _unknown(sure, len(pairs)), limits, why="few")
    r = float(np.clip(np.asarray(np.corrcoef(pairs.T))[0, 1], -0.999999, 0.999999))
    error = 1 / math.sqrt(number - 3)
    half = NormalDist().inv_cdf((1 + sure.level) / 2) * error
    low, high = math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)
    estimate = Estimate(r, low, high, sure.level, "fisher", len(pairs), clusters=number)
    return Probe(judge, name, estimate, limits, float(ndtr(-(math.atanh(r) - math.atanh(limits[1])) / error)))


def _unknown(sure: Sureness, n: int) -> Estimate:
    return Estimate(math.nan, None, None, sure.level, "none", n, note="empty")


def shared_level(level: float, tested: int) -> float:
    """The level of each interval of a family of so many probes.

    One that lies wholly within its limits or wholly beyond them says so of its probe at one end, at
    (1 − level) / tested; only one of the two words is ever wrong, so that the chance of any wrong word in the family is
    at most 1 − level (Bonferroni), of those that are found and of those that are ruled out alike.
    """
    return level if tested < 1 else 1 - 2 * (1 - level) / max(tested, 2)


def judged(probes: Sequence[Probe], level: float) -> list[Probe]:
    """The probes with p corrected over those that were tested, and their verdicts."""
    tested = sum(not math.isnan(candidate.p) for candidate in probes)

    def verdict(subject: Probe, p: float) -> str:
        (low, high), e = subject.limits, subject.effect
        inside = e.low is not None and e.high is not None and e.low >= low and e.high <= high
        return "unmeasured" if subject.why else "found" if p < 1 - level else "passed" if inside else "open"

    done = []
    for probe in probes:
        p = min(1.0, tested * probe.p) if not math.isnan(probe.p) else math.nan
        done.append(
            replace(probe, p_adjusted=p, verdict=probe.verdict if probe.verdict == "constructed" else verdict(probe, p))
        )
    return done
