"""Everything that was heard as the tables that a page is drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.frames import independent
from ragbench.bench.judges import biases, rivals, trials
from ragbench.bench.judges import classes as judge_classes
from ragbench.bench.judges import numbers as judge_numbers
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.classes import Classes
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.numbers import row
from ragbench.bench.judges.probes import Limits, Probe
from ragbench.bench.judges.texts import LADDER, VARIANTS
from ragbench.judge import Rule
from ragbench.measurement import ESTIMATE_COLUMNS
from ragbench.types import Array, Estimate

if TYPE_CHECKING:
    import pandas as pd

PROBE_COLUMNS = (
    "judge", "probe", "value", "low", "high", "level", "method", "n", "clusters", "note", "limit_low", "limit_high",
    "p", "p_adjusted", "verdict", "why",
)  # fmt: skip
ANSWER_COLUMNS = (
    "judge", "sample", "question", "answer", "reference", "people", "ratings", "score", "status", "reason", "system",
)  # fmt: skip


@dataclass(frozen=True)
class Settled:
    """How the numbers are made: see `ragbench.bench.judges.tier_judge.judge`."""

    scale: Scale
    good: float
    delta: float
    baseline: str
    rule: Rule
    limits: Limits
    sure: Sureness
    classes: Classes | None = None


def tables(
    heard: Sequence[Heard], answers: Answers, temptations: Temptations, baseline: Heard | None, labels: Array | None,
    how: Settled,
) -> dict[str, pd.DataFrame]:  # fmt: skip
    """coverage, repeatability, agreement, calibration, reliability, pairwise, probes, ladder, rivals, panel, answers,
    texts, confusion, classes, cuts: each empty where there is nothing to say.

    labels: (pairs,) which answer of each pair is better, if known.
    """
    given = {one.name: judge_numbers.single(one, how.scale) for one in heard}
    lexical = None if baseline is None else judge_numbers.single(baseline, how.scale)
    clusters = independent(answers.clusters)
    known = clusters or list(answers.clusters)
    found = {
        "coverage": judge_numbers.table(
            [each for one in heard for each in judge_numbers.coverage(one, known, how.sure)],
            "judge", "outcome", "count", "asked",
        ),
        "repeatability": judge_numbers.table(
            [e for one in heard for e in judge_numbers.repeatability(one, known, how.scale, how.good, how.sure)],
            "judge", "name",
        ),
        "pairwise": judge_numbers.table(
            [each for one in heard for each in _pairwise(one, labels, temptations, answers, how.sure)], "judge", "name"
        ),
        "ladder": judge_numbers.table(
            [each for one in heard for each in _ladder(one, temptations, how)], "judge", "rung"
        ),
        "probes": _probes(biases.probes(
            heard, answers, temptations, how.baseline, lexical, how.scale, how.good, how.limits, how.sure
        )),
        "rivals": _rivals(rivals.rivalries(given, how.baseline, lexical, answers, how.sure)),
        "panel": _panel(heard, answers, how),
        "answers": _answers(heard, answers, given),
        "texts": _texts(temptations),
        "trials": trials.trials(heard, temptations, how.scale),
        "effects": trials.effects(heard, answers, temptations, how.scale, how.good, how.limits),
    }  # fmt: skip
    many = judge_classes.tables(given, answers, how.classes, how.scale, how.sure)
    return found | many | _with_people(given, answers, how)


def _with_people(given: dict[str, Array], answers: Answers, how: Settled) -> dict[str, pd.DataFrame]:
    import pandas as pd

    agreements = judge_numbers.ceiling(answers, how.good, how.sure)
    calibrated, bins = [], []
    for name, scores in given.items():
        agreements += judge_numbers.agreement(name, scores, answers, how.good, how.sure)
        numbers, reliability = judge_numbers.calibration(name, scores, answers, how.good, how.sure)
        calibrated += numbers
        bins += reliability
    return {
        "agreement": judge_numbers.table(agreements, "judge", "against", "name"),
        "calibration": judge_numbers.table(calibrated, "judge", "name"),
        "reliability": judge_numbers.table(bins, "judge", "bin", "score") if bins else pd.DataFrame(),
    }


def _pairwise(
    one: Heard, labels: Array | None, temptations: Temptations, answers: Answers, sure: Sureness
) -> list[tuple[Any, ...]]:
    """Shares over pairs: the same answer wins in both orders; the first place wins; ties; the better answer wins."""
    choices = one.choices
    if choices is None or not len(choices):
        return []
    known = temptations.clusters if len(temptations.clusters) == len(choices) else answers.clusters
    forward, backward = choices[:, 0], -choices[:, 1]  # both as votes for the pair's first answer
    both = ~(np.isnan(forward) | np.isnan(backward))
    every = labelled = np.ones(len(forward), dtype=bool)
    found = {
        "consistent": np.where(both, forward == backward, np.nan),
        "first_place": np.where(np.isnan(choices), np.nan, choices == 1).mean(axis=1),
        "second_place": np.where(np.isnan(choices), np.nan, choices == -1).mean(axis=1),
        "tie": np.where(np.isnan(choices), np.nan, choices == 0).mean(axis=1),
    }
    if labels is not None and np.isfinite(labels).any():
        labelled = np.isfinite(labels) & (labels != 0)
        right = ((forward == labels).astype(float) + (backward == labels)) / 2
        found["better_wins"] = np.where(both, right, np.nan)
        found["right_in_both_orders"] = np.where(both, (forward == labels) & (backward == labels), np.nan)
    of = {"better_wins": labelled, "right_in_both_orders": labelled}
    clusters = independent(known)
    return [
        (one.name, name, *row(judge_numbers.among(values, of.get(name, every), clusters, sure)))
        for name, values in found.items()
    ]


def _ladder(one: Heard, temptations: Temptations, how: Settled) -> list[tuple[Any, ...]]:
    """Mean score by rung as a share of the scale, and how often all rungs stand in order."""
    if not one.variants:
        return []
    shares = {name: how.scale.share(values) for name, values in one.variants.items() if name in LADDER}
    pairs = biases.in_order(shares)
    whole = np.where(np.isnan(pairs), np.nan, pairs > 1 - 1e-9)
    values = {**shares, "in_order": whole, "pairs_in_order": pairs}
    clusters = independent(temptations.clusters)
    return [
        (one.name, name, *row(stats.estimate(each, clusters=clusters, bounds=(0.0, 1.0), **asdict(how.sure))))
        for name, each in values.items()
    ]


def _probes(found: Sequence[Probe]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for each in found:
        e = each.effect
        low, high = (None if math.isinf(end) else end for end in each.limits)
        rows.append(
            (each.judge, each.probe, e.value, e.low, e.high, e.level, e.method, e.n, e.clusters, e.note, low, high,
             each.p, each.p_adjusted, each.verdict, each.why)
        )  # fmt: skip
    table = pd.DataFrame(rows, columns=list(PROBE_COLUMNS))
    numbers = dict.fromkeys(("value", "low", "high", "limit_low", "limit_high", "p", "p_adjusted"), float)
    return table.astype({**numbers, "n": "Int64", "clusters": "Int64"})


def _rivals(found: Sequence[rivals.Rivalry]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for each in found:
        for name in ("concordance", "baseline", "difference"):
            estimate: Estimate = getattr(each, name)
            word = "unmeasured" if each.verdict is None else each.verdict.value
            rows.append((each.judge, name, each.p, each.p_adjusted, word, *row(estimate)))
    columns = ["judge", "name", "p", "p_adjusted", "verdict", *ESTIMATE_COLUMNS]
    numbers = dict.fromkeys(("p", "p_adjusted", "value", "low", "high", "level"), float)
    return pd.DataFrame(rows, columns=columns).astype({**numbers, "n": "Int64", "clusters": "Int64"})


def _panel(heard: Sequence[Heard], answers: Answers, how: Settled) -> pd.DataFrame:
    """What the panel's mean becomes without each judge, and its concordance with people: of all, then without one."""
    import pandas as pd

    influences = rivals.influences(heard, how.rule)
    truth = answers.mean_people

    def concordance(without: str | None) -> float:
        scores = rivals.panel_scores(heard, without)
        known = ~(np.isnan(scores) | np.isnan(truth))
        values = rivals.concordances(scores[known], truth[known])
        return float(np.nanmean(values)) if known.any() and not np.isnan(values).all() else math.nan

    rows = [
        (
            each.judge,
            each.whole,
            each.without,
            each.shift,
            each.largest,
            each.n,
            concordance(None),
            concordance(each.judge),
        )
        for each in influences
    ]
    columns = ["judge", "whole", "without", "shift", "largest", "n", "concordance", "concordance_without"]
    return pd.DataFrame(rows, columns=columns)


def _answers(heard: Sequence[Heard], answers: Answers, given: dict[str, Array]) -> pd.DataFrame:
    """One row an answer and judge: texts, people's mean and ratings and the judge's score, all as shares of scales."""
    import pandas as pd

    mean = answers.mean_people
    rows = []
    for one in heard:
        for place, sample in enumerate(answers.samples):
            people = {
                name: float(value)
                for name, value in zip(answers.raters, answers.people[place], strict=True)
                if not math.isnan(value)
            }
            named = ", ".join(f"{name} {value:.2f}" for name, value in people.items())
            reason = one.reasons[place] if one.reasons else ""
            rows.append(
                (one.name, sample.id, sample.user_input, sample.response, sample.reference, mean[place], named,
                 given[one.name][place], str(one.statuses[place, 0]), reason, sample.system)
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(ANSWER_COLUMNS)).astype({"people": float, "score": float})


def _texts(temptations: Temptations) -> pd.DataFrame:
    """The first question's variants, as an example of how they are made."""
    import pandas as pd

    rows = [(name, temptations.variants[name][0].response) for name in VARIANTS if name in temptations.variants]
    return pd.DataFrame(rows, columns=["variant", "text"])
