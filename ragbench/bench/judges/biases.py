"""What sways a judge: probes, each with an effect, its interval, the limit within which nobody would mind, a verdict.

Every effect is a share: of the metric's scale, or of the answers. One family of tests over all probes and judges of
a page, so that an honest judge is rarely accused of anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.frames import independent
from ragbench.bench.judges import numbers
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.probes import CHANGES, FEWEST, Effect, Limits, Probe, judged, probed
from ragbench.bench.judges.texts import EQUALS, LADDER
from ragbench.settings import OFFLINE
from ragbench.settings.tables import JudgeSettings
from ragbench.types import Array

PROBES = (
    "repeats", "place", "place_changes", "padding", "scale_order", "scale_order_changes", "language",
    "language_changes", "own_family", "injected", "blank", "key", "ladder", "disguise",
)  # fmt: skip


def probes(
    heard: Sequence[Heard], answers: Answers, temptations: Temptations, rival: str, baseline: Array | None,
    scale: Scale, good: float, limits: Limits, sure: Sureness,
) -> list[Probe]:  # fmt: skip
    """Every probe of every judge, corrected together.

    rival, baseline: the name of the lexical judge, and its scores of the same answers, if it was heard.
    """
    found = []
    for one in heard:
        effects = _effects(one, answers, temptations, rival, baseline, scale, good)
        effects |= {CHANGES[name]: changes(name, effects[name], limits) for name in CHANGES}
        found += [probed(one.name, name, effects[name], limits.of(name), sure) for name in PROBES]
    return judged(found, sure.level)


def _effects(
    one: Heard,
    answers: Answers,
    temptations: Temptations,
    rival: str,
    baseline: Array | None,
    scale: Scale,
    good: float,
) -> dict[str, Effect]:
    given = numbers.single(one, scale)
    of_answers, of_questions = independent(answers.clusters), independent(temptations.clusters)
    tempted = {name: scale.share(values) for name, values in one.variants.items()}

    def shifted(after: str, before: str) -> Effect:
        if after not in tempted:
            return _nothing("no_texts")
        return Effect(tempted[after] - tempted[before], of_questions)

    def taken_in(name: str) -> Effect:
        if name not in tempted:
            return _nothing("no_texts")
        values = np.where(np.isnan(tempted[name]), np.nan, tempted[name] >= good - 1e-9)
        return Effect(values, of_questions, "share")

    def against(other: Array | None, why: str) -> Effect:
        return _nothing(why) if other is None else Effect(scale.share(other) - given, of_answers)

    several = one.answers.scores.shape[1] > 1
    return {
        "repeats": Effect(numbers.flips(one.answers.scores, scale, good), of_answers, "share")
        if several
        else _nothing("one_repeat"),
        "place": _places(one, temptations, answers),
        "padding": shifted("padded", "partial"),
        "scale_order": against(one.turned, "no_scale"),
        "language": against(one.twins, "one_language"),
        "own_family": own_family(one, answers, given),
        "injected": shifted("injected", "off_topic"),
        "blank": taken_in("blank"),
        "key": taken_in("key"),
        "ladder": Effect(in_order(tempted), of_questions, "share") if tempted else _nothing("no_texts"),
        "disguise": disguise(one, given, rival, baseline, answers),
    }


def changes(probe: str, effect: Effect, limits: Limits) -> Effect:
    """The share of choices that are others, or of scores that move, whichever way; of the same answers as the effect.

    A mean in which half go up and half go down is 0, and the judge contradicts itself in all of them.
    """
    if effect.why:
        return effect
    moved = np.where(np.isnan(effect.values), np.nan, limits.moved(probe, effect.values))
    return Effect(moved, effect.clusters, "share")


def _places(one: Heard, temptations: Temptations, answers: Answers) -> Effect:
    """+1 for each choice of the first place, −1 for the second, mean of both orders; made pairs belong to questions,
    logged ones to the answers."""
    if one.choices is None or not len(one.choices):
        return _nothing("no_pairs")
    clusters = temptations.clusters if temptations.pairs else answers.clusters
    return Effect(one.choices.mean(axis=1), independent(clusters))


def _nothing(why: str) -> Effect:
    return Effect(np.zeros(0), None, why=why)


def in_order(tempted: Mapping[str, Array]) -> Array:
    """(questions,) share of the pairs of rungs of the ladder that stand in order; NaN where a rung has no score.

    The better answer has to have the higher score; a reference and its paraphrase are as good as each other, an answer
    off topic is as bad as a contradiction, so these may tie.
    """
    right = []
    for better, worse in combinations(LADDER, 2):
        drop = tempted[better] - tempted[worse]
        stands = drop > -1e-9 if (better, worse) in EQUALS else drop > 1e-9
        right.append(np.where(np.isnan(drop), np.nan, stands))
    return np.asarray(np.mean(right, axis=0))


def own_family(one: Heard, answers: Answers, given: Array) -> Effect:
    """Score above people's mean: of answers by the judge's own family, less the same of the others, by cluster.

    Clusters without both kinds say nothing. Where nothing can be said, the effect tells which of the two sides names no
    family, or what is missing.
    """
    if one.name == OFFLINE:
        return _nothing("no_model")
    if one.family is None:
        return _nothing("no_judge_family")
    if not any(sample.system for sample in answers.samples):
        return _nothing("no_systems")
    own = np.array([of_family(sample.system, one.family) for sample in answers.samples])
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


def disguise(one: Heard, given: Array, rival: str, baseline: Array | None, answers: Answers) -> Effect:
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
    return Effect(columns, answers.clusters, "correlation")


def _levels(truth: Array) -> Any:
    """Levels of people's rating: its values, or tenths of the answers where there are many."""
    values = np.unique(truth)
    if len(values) <= 10:
        return np.searchsorted(values, truth)
    return np.searchsorted(np.quantile(truth, np.linspace(0.1, 0.9, 9)), truth)


def _within(values: Array, levels: Any) -> Array:
    means = np.bincount(levels, weights=values) / np.maximum(np.bincount(levels), 1)
    return np.asarray(values - means[levels])
