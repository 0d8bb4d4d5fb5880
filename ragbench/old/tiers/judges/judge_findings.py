"""Everything that was heard as the findings and the tables that a page is drawn from."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ragbench.old.core.facts import Facts
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.measurement import Finding, NamedComparison, NamedEstimate, columns
from ragbench.old.core.metric import grades
from ragbench.old.core.types import Array, Question, Sample
from ragbench.old.judge import Rule
from ragbench.old.metrics.judging import Choices, Sitting
from ragbench.old.tiers.basics.design import independent
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import classes, numbers
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.classes import Classes
from ragbench.old.tiers.judges.items import EQUALS, HALVES_TIE, LADDER, VARIANTS, Answers, Scale, Temptations
from ragbench.old.tiers.judges.numbers import Numbers, placed, share
from ragbench.old.tiers.judges.probes import Limits, Probe, Tried, effect_table, effects, in_order, probes, trial_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


class JudgedRow(TypedDict):
    """A rated answer and what a judge gave it: people's mean and the score as shares of their scales, NaN without one;
    ratings: by person, as JSON."""

    judge: str
    sample: str
    question: str
    answer: str
    reference: str | None
    people: float
    ratings: str
    score: float
    status: str
    reason: str
    system: str | None
    contexts: Sequence[str]


class CoverageRow(TypedDict):
    """How many of the questions to a judge ended so, of how many that were asked."""

    judge: str
    outcome: str
    count: int
    asked: int


class ProbeRow(TypedDict):
    """What was decided of a probe; limits: NaN where the side is open."""

    judge: str
    probe: str
    limit_low: float
    limit_high: float
    p: float
    p_adjusted: float
    verdict: str
    why: str


class PanelRow(TypedDict):
    """What the panel's mean and its concordance with people become without a judge."""

    judge: str
    whole: float
    without: float
    shift: float
    largest: float
    n: int
    concordance: float
    concordance_without: float


SAID = ("who", "kind", "sample", "variant", "repeat", "value", "status", "asked", "seconds", "cluster", "system",
        "family", "stand_in")  # fmt: skip
"""What is published of everything that judges and people said, without texts: numbers on the judge's own scale, and
people's as shares of theirs. kind: `people`, `score` (by its repeat), `faithfulness` (a rating, 1 to 5), `turned`,
`twin`, `prompt` (the variant is its language), `made` (by the variant), `choice` (the variant is the place in which the
pair's first answer stood: +1 the first place won), and `label`, which answer of the pair is the better one. family,
stand_in: of the judge."""


@dataclass(frozen=True)
class Settled:
    """How the numbers are made: see `ragbench.old.tiers.judges.tier_judge.TierJudgeRequest`.

    grades: those of the judges' scale, where all that they gave are such. levels: of people's and the judges' scales
    alike, as shares of them, likewise.
    """

    delta: float
    rule: Rule
    limits: Limits
    sure: Sureness
    classes: Classes | None = None
    grades: tuple[float, ...] = ()
    levels: tuple[float, ...] = ()

    def on_grades(self, heard: Sequence[Heard], tried: Tried) -> Settled:
        """The same with the scales that these judges' scores turn out to be on: ranks, or numbers."""
        known = grades(tried.scale.low, tried.scale.high)
        scores = [judge.answers.scores.ravel() for judge in heard]
        own = known if all(numbers.graded(each, known) for each in scores) else ()
        levels = () if self.classes is None else self.classes.levels
        alike = all(numbers.graded(tried.scale.share(each), levels) for each in scores)
        return replace(self, grades=own, levels=levels if alike else ())

    @property
    def scales(self) -> dict[str, str]:
        """On which scale Krippendorff's α is: of a judge's repeats, of judges with people, and with people's mean."""
        told = {"repeats": self.grades, "people": self.levels, "mean": ()}
        return {name: "ordinal" if own else "interval" for name, own in told.items()}


def found(
    heard: Sequence[Heard], tried: Tried, baseline: Heard | None, labels: Array | None, how: Settled
) -> tuple[tuple[Finding, ...], dict[str, pd.DataFrame]]:
    """Findings at their place, and tables of what is counted or drawn beside them, empty where nothing is.

    Places: `trial` (coverage, repeatability, prompts, pairwise, calibration, ladder, rivals), `against` (person, mean),
    `class` ("" for all of them together), `bin` with its mean `score`, `probe`. "people" as a judge: one person beside
    another, which is the ceiling. labels: (pairs,) which answer of each pair is better, if known.
    """
    given = {judge.name: numbers.single(judge, tried.scale) for judge in heard}
    tried = replace(tried, baseline=None if baseline is None else numbers.single(baseline, tried.scale))
    seen = {judge.name: effects(judge, tried) for judge in heard}
    probed = probes(seen, how.limits, how.sure)
    of_classes, counted = classes.found(given, tried.answers, how.classes, tried.scale, how.sure)
    findings = [
        *(each for judge in heard for each in _of_judge(judge, tried, labels, how)),
        *(NamedEstimate(each.judge, "effect", each.effect, {"probe": each.probe}) for each in probed),
        *_rivals(numbers.rivalries(given, tried.rival, tried.baseline, tried.answers, how.sure)),
        *placed("people", numbers.ceiling(tried.answers, tried.good, how.sure, how.levels), against="person"),
        *(each for name, scores in given.items() for each in _with_people(name, scores, tried, how)),
        *of_classes,
    ]
    return tuple(findings), {
        "coverage": _coverage(heard),
        "probes": _probes(probed),
        "panel": _panel(heard, tried, how),
        "effects": effect_table(seen, heard, tried, how.limits),
        **counted,
    }


def listed(
    heard: Sequence[Heard],
    tried: Tried,
    baseline: Heard | None,
    labels: Array | None,
    faithfulness: Mapping[str, Sitting],
) -> dict[str, pd.DataFrame]:
    """What was tried and said: `said`, of which findings are made, and the texts and reasons beside it.

    faithfulness: by judge, how faithful it found the answers.
    """
    return {
        "answers": _answers(heard, tried, {judge.name: numbers.single(judge, tried.scale) for judge in heard}),
        "said": _said(heard, tried, baseline, labels, faithfulness),
        "texts": _texts(tried),
        "trials": trial_table(heard, tried),
    }


def _of_judge(heard: Heard, tried: Tried, labels: Array | None, how: Settled) -> Iterator[NamedEstimate]:
    clusters = list(tried.answers.clusters)
    by_trial = {
        "coverage": numbers.coverage(heard, clusters, how.sure),
        "repeatability": numbers.repeatability(heard, clusters, tried.scale, tried.good, how.sure, how.grades),
        "prompts": numbers.prompted(heard, clusters, how.sure, how.grades),
        "pairwise": _pairwise(heard, labels, tried, how.sure),
        "ladder": _ladder(heard, tried, how.sure),
    }
    for trial, own in by_trial.items():
        yield from placed(heard.name, own, trial=trial)


def _with_people(name: str, scores: Array, tried: Tried, how: Settled) -> Iterator[NamedEstimate]:
    sure = how.sure
    for against, own in numbers.agreement(scores, tried.answers, tried.good, sure, how.levels).items():
        yield from placed(name, own, against=against)
    calibrated, bins = numbers.calibration(scores, tried.answers, tried.good, sure)
    yield from placed(name, calibrated, trial="calibration")
    for number, (score, good) in bins.items():
        yield NamedEstimate(name, "good", good, {"bin": number, "score": score})


def _pairwise(heard: Heard, labels: Array | None, tried: Tried, sure: Sureness) -> Numbers:
    """Shares over pairs: the same answer wins in both orders; the first place wins; ties; the better answer wins."""
    choices = heard.chosen(labels)
    if choices is None:
        return {}
    clusters = _of_pairs(choices, tried)
    won = {"first_place": 1, "second_place": -1, "tie": 0}
    shares = {"consistent": share(choices.consistent(), clusters, sure)}
    places = choices.places
    for name, place in won.items():
        shares[name] = share(np.where(np.isnan(places), np.nan, places == place).mean(axis=1), clusters, sure)
    if heard.stand_in and not (choices.consistent() == 0).any():
        # who chooses the same in both orders and never ties, chooses either place as often as the other
        alike = () if (places == 0).any() else ("first_place", "second_place")
        shares = numbers.constructed(shares, ("consistent", *alike))
    if choices.labelled.any():
        right, of = choices.votes == choices.labels, choices.labelled
        there = ~np.isnan(places).all(axis=1)
        both = np.where(np.isnan(places).any(axis=1), np.nan, right.mean(axis=0))
        shares["better_wins"] = share(both, clusters, sure, of)
        shares["right_over_both_orders"] = share(choices.right(), clusters, sure, of)
        shares["right_in_both_orders"] = share(np.where(there, right.all(axis=0), np.nan), clusters, sure, of)
        shares["right_in_first_order"] = share(np.where(there, right[0], np.nan), clusters, sure, of)
    return shares


def _of_pairs(choices: Choices, tried: Tried) -> list[str] | None:
    """The clusters of the pairs: of those that were made, or of the answers that the file has a choice of each for."""
    made = tried.temptations.clusters
    return independent(made if len(made) == len(choices.labels) else tried.answers.clusters)


def chosen(heard: Heard, labels: Array | None, tried: Tried, sure: Sureness) -> Numbers:
    """pairwise_accuracy, where it is known which answers are better, and position_consistency; nothing of a judge that
    chose nothing."""
    choices = heard.chosen(labels)
    if choices is None:
        return {}
    clusters = _of_pairs(choices, tried)
    shares = {"position_consistency": share(choices.consistent(), clusters, sure)}
    if not choices.labelled.any():
        return shares
    return {"pairwise_accuracy": share(choices.right(), clusters, sure, choices.labelled), **shares}


def _ladder(heard: Heard, tried: Tried, sure: Sureness) -> Numbers:
    """Mean score by rung as a share of the scale, and how often all rungs stand in order."""
    if not heard.variants:
        return {}
    shares = {name: tried.scale.share(values) for name, values in heard.variants.items() if name in LADDER}
    pairs = in_order(shares, tried.temptations.equals)
    whole = np.where(np.isnan(pairs), np.nan, pairs > 1 - 1e-9)
    values = {**shares, "in_order": whole, "pairs_in_order": pairs}
    clusters = independent(tried.temptations.clusters)
    return {name: share(each, clusters, sure) for name, each in values.items()}


def _rivals(rivalries: Sequence[numbers.Rivalry]) -> Iterator[Finding]:
    for each in rivalries:
        own = {"concordance": each.concordance, "baseline": each.baseline}
        yield from placed(each.judge, own, trial="rivals")
        yield NamedComparison("concordance", each.difference, {"trial": "rivals"})


def _coverage(heard: Sequence[Heard]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (judge.name, outcome, int(hit.sum()), int(judge.answers.asked.sum()))
        for judge in heard
        for outcome, hit in numbers.outcomes(judge).items()
    ]
    return pd.DataFrame(rows, columns=columns(CoverageRow))


def _probes(probes: Sequence[Probe]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (each.judge, each.probe, *(None if math.isinf(end) else end for end in each.limits), each.p, each.p_adjusted,
         each.verdict, each.why)
        for each in probes
    ]  # fmt: skip
    floats = ("limit_low", "limit_high", "p", "p_adjusted")
    return pd.DataFrame(rows, columns=columns(ProbeRow)).astype(dict.fromkeys(floats, float))


def _panel(heard: Sequence[Heard], tried: Tried, how: Settled) -> pd.DataFrame:
    """What the panel's mean becomes without each judge, and its concordance with people: of all, then without one."""
    import pandas as pd

    truth = tried.answers.mean_people

    def concordance(without: str | None) -> float:
        scores = numbers.panel_scores(heard, without)
        known = ~(np.isnan(scores) | np.isnan(truth))
        values = numbers.concordances(scores[known], truth[known])
        return float(np.nanmean(values)) if known.any() and not np.isnan(values).all() else math.nan

    rows = [
        {**asdict(each), "shift": each.shift, "concordance": concordance(None),
         "concordance_without": concordance(each.judge)}
        for each in numbers.influences(heard, how.rule.on((tried.scale.low, tried.scale.high)))
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns(PanelRow))


def _answers(heard: Sequence[Heard], tried: Tried, given: dict[str, Array]) -> pd.DataFrame:
    import pandas as pd

    answers = tried.answers
    named = [
        json.dumps({name: value for name, value in zip(answers.raters, own, strict=True) if not math.isnan(value)})
        for own in answers.people.tolist()
    ]
    rows: list[tuple[Any, ...]] = [
        (
            judge.name,
            sample.id,
            sample.user_input,
            sample.response,
            sample.reference,
            answers.mean_people[place],
            named[place],
            given[judge.name][place],
            str(judge.statuses[place, 0]),
            judge.reasons[place] if judge.reasons else "",
            sample.system,
            [chunk.text for chunk in sample.contexts or ()],
        )
        for judge in heard
        for place, sample in enumerate(answers.samples)
    ]
    return pd.DataFrame(rows, columns=columns(JudgedRow)).astype({"people": float, "score": float})


def _said(
    heard: Sequence[Heard],
    tried: Tried,
    baseline: Heard | None,
    labels: Array | None,
    faithfulness: Mapping[str, Sitting],
) -> pd.DataFrame:
    """Rows of SAID: all that intervals and p are made from; the baseline is among the judges."""
    import pandas as pd

    answers, made = tried.answers, tried.temptations
    rated = [(answer.id, group, answer.system) for answer, group in zip(answers.samples, answers.clusters, strict=True)]
    tempted = [(question.id, group, None) for question, group in zip(made.questions, made.clusters, strict=True)]
    of_pairs = [(first.id, group, None) for (first, _), group in zip(made.pairs, made.clusters, strict=True)]
    rows: list[tuple[Any, ...]] = []

    def take(who: Heard | str, kind: str, values: Array | None, places: Sequence[tuple[Any, ...]], variant: str = "",
             repeat: int = 0, more: Sequence[tuple[Any, ...]] = ()) -> None:  # fmt: skip
        name, known = (who, (None, False)) if isinstance(who, str) else (who.name, (who.family, who.stand_in))
        given, beside = () if values is None else values, more or [(None, True, None)] * len(places)
        for (sample, group, system), value, own in zip(places, given, beside, strict=False):
            rows.append((name, kind, sample, variant, repeat, float(value), *own, group, system, *known))

    for rater, ratings in zip(answers.raters, answers.people.T, strict=True):
        take(rater, "people", ratings, rated)
    names = {judge.name for judge in heard}
    for judge in (*heard, *([baseline] if baseline is not None and baseline.name not in names else [])):
        sitting = judge.answers
        for repeat, scores in enumerate(sitting.scores.T):
            times = [None] * len(rated) if sitting.seconds is None else sitting.seconds[:, repeat]
            more = list(zip(judge.statuses[:, repeat], sitting.asked[:, repeat], times, strict=True))
            take(judge, "score", scores, rated, repeat=repeat, more=more)
        if judge.name in faithfulness:
            take(judge, "faithfulness", faithfulness[judge.name].scores[:, 0], rated)
        take(judge, "turned", judge.turned, rated)
        take(judge, "twin", judge.twins, rated)
        for language, scores in zip(LANGUAGES, () if judge.prompted is None else judge.prompted.T, strict=False):
            take(judge, "prompt", scores, rated, language)
        for variant, scores in judge.variants.items():
            take(judge, "made", scores, tempted, variant)
        for place, choices in zip(("first", "second"), () if judge.choices is None else judge.choices.T, strict=False):
            take(judge, "choice", choices, of_pairs or rated, place)
    take("", "label", labels, of_pairs or rated)
    table = pd.DataFrame(rows, columns=list(SAID))
    return table.astype({"value": float, "seconds": float, "asked": bool, "stand_in": bool})


class VariantRow(TypedDict):
    """An answer to the first question that was made to be tried."""

    variant: str
    text: str


def _texts(tried: Tried) -> pd.DataFrame:
    """The first question's variants, as an example of how they are made."""
    import pandas as pd

    variants = tried.temptations.variants
    rows = [(name, variants[name][0].response) for name in VARIANTS if name in variants]
    return pd.DataFrame(rows, columns=columns(VariantRow))


def heard(said: pd.DataFrame, judge: str) -> Heard | None:
    """A judge without its reasons; None where nothing is kept of it."""
    own = said[(said["who"] == judge) & (said["kind"] != "people")]
    by_kind = dict(iter(own.groupby("kind", sort=False)))
    if "score" not in by_kind:
        return None

    def columns(kind: str, column: str = "value", by: str = "repeat") -> Any:
        """(items, …) a column for each value of `by`, in their order; None without any."""
        if kind not in by_kind:
            return None
        return np.column_stack([part[column].to_numpy() for _, part in by_kind[kind].groupby(by, sort=False)])

    def single(kind: str) -> Array | None:
        return None if kind not in by_kind else by_kind[kind]["value"].to_numpy(dtype=float)

    made = by_kind["made"].groupby("variant", sort=False) if "made" in by_kind else ()
    families = own["family"].dropna()
    return Heard(
        judge,
        Sitting(columns("score"), columns("score", "asked").astype(bool), columns("score", "seconds")),
        columns("score", "status"),
        turned=single("turned"),
        twins=single("twin"),
        prompted=columns("prompt", by="variant"),
        variants={str(variant): part["value"].to_numpy(dtype=float) for variant, part in made},
        choices=columns("choice", by="variant"),
        family=str(families.iloc[0]) if len(families) else None,
        stand_in=bool(own["stand_in"].iloc[0]),
    )


def single_scores(said: pd.DataFrame, kind: str) -> dict[str, Array]:
    """Judge → (answers,) its scores of a kind that is asked once."""
    own = said[said["kind"] == kind]
    return {str(who): part["value"].to_numpy(dtype=float) for who, part in own.groupby("who", sort=False)}


def tried(said: pd.DataFrame, facts: Facts) -> Tried:
    """The answers with people's ratings, and the answers that were made to try judges, all without their texts."""
    places = said[said["kind"].isin(("people", "score"))].drop_duplicates("sample")
    ratings = single_scores(said, "people")
    people = [ratings[rater] for rater in facts["raters"]]
    answers = Answers(
        tuple(
            Sample(str(name), system=str(system) if isinstance(system, str) else None)
            for name, system in zip(places["sample"], places["system"], strict=True)
        ),
        tuple(places["cluster"].astype(str)),
        tuple(facts["raters"]),
        np.column_stack(people) if people else np.empty((len(places), 0)),
    )
    made = said[said["kind"] == "made"]
    rows = made.drop_duplicates("sample")
    questions = tuple(
        Question(str(name), "", cluster=str(cluster))
        for name, cluster in zip(rows["sample"], rows["cluster"], strict=True)
    )
    variants = {str(name): tuple(Sample(each.id) for each in questions) for name in made["variant"].unique()}
    chosen = said[said["kind"] == "label"] if questions else rows
    pairs = tuple((Sample(str(name)), Sample(str(name))) for name in chosen["sample"])
    scale = Scale(*facts["judge_scale"])
    temptations = Temptations(questions, variants, pairs, HALVES_TIE if facts["halves_tie"] else EQUALS)
    return Tried(answers, temptations, scale, facts["good"], facts["rival"])
