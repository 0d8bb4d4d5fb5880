"""The words of verdicts, for people: one place for pages, tables, terminals and notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ragbench.core.language import Translator
from ragbench.core.types import BY_CONSTRUCTION, Comparison, Estimate, Verdict
from ragbench.core.types.reason import parts
from ragbench.metrics.explanation import reason_in


def word(verdict: Verdict, _: Translator) -> str:
    """The verdict's word alone."""
    words = {
        Verdict.BETTER: _("better"),
        Verdict.SLIGHTLY_BETTER: _("better, by less than matters"),
        Verdict.WORSE: _("worse"),
        Verdict.SLIGHTLY_WORSE: _("worse, by less than matters"),
        Verdict.SAME: _("same"),
        Verdict.NOT_SHOWN: _("not shown"),
        Verdict.CANNOT_BE_SHOWN: _("cannot be shown"),
        Verdict.CANNOT_BE_TOLD: _("cannot be told"),
    }
    return words[verdict]


def said(comparison: Comparison, _: Translator) -> str:
    """The verdict of a comparison; where nothing can be shown, with how many groups, or questions, that is so; where it
    is withheld, with the reason."""
    return said_of(comparison.verdict, comparison.n, comparison.clusters, _, comparison.withheld)


def said_of(verdict: Verdict, n: int, clusters: int | None, _: Translator, withheld: str = "") -> str:
    """The same for a verdict whose comparison is known only by its pairs and groups."""
    if verdict is Verdict.CANNOT_BE_TOLD and withheld:
        return _("cannot be told: {reason}", reason=reason_in(withheld, _))
    if verdict is not Verdict.CANNOT_BE_SHOWN:
        return word(verdict, _)
    if clusters is None:
        return _.plural("cannot be shown with {n} question", "cannot be shown with {n} questions", n)
    return _.plural("cannot be shown with {n} group", "cannot be shown with {n} groups", clusters)


def exact(estimate: Estimate, _: Translator) -> str:
    """That a number could not have been otherwise, where its interval would stand; else empty."""
    return _("by construction") if estimate.note == BY_CONSTRUCTION else ""


def is_equal(comparison: Comparison) -> bool:
    """Whether both sides have the same value at every question that both measured, of one or more."""
    corrected = comparison.method in ("prediction_powered", "people")
    return comparison.difference == 0 and comparison.note == "no_spread" and not corrected and not comparison.withheld


def equal(known: Iterable[Comparison], _: Translator) -> str:
    """That all of these are equal, and on how many questions; empty where one is not, and where there is none."""
    comparisons = list(known)
    if not comparisons or not all(map(is_equal, comparisons)):
        return ""
    counts = [comparison.n for comparison in comparisons]
    metrics = _.plural("{n} metric is equal", "all {n} metrics are equal", len(comparisons))
    if min(counts) == max(counts):
        return _.plural("{metrics} on {n} question", "{metrics} on all {n} questions", counts[0], metrics=metrics)
    few, many = _.integer(min(counts)), _.integer(max(counts))
    return _("{metrics} on every question that both measured, {few} to {many}", metrics=metrics, few=few, many=many)


def needed(comparison: Comparison, _: Translator) -> str:
    """How many groups, or questions, the family of a comparison needs before anything can be shown; empty if it can."""
    if comparison.groups_needed is None:
        return ""
    if comparison.clusters is None:
        return _.plural(
            "{n} question or more is needed before a difference can be shown",
            "{n} questions or more are needed before a difference can be shown",
            comparison.groups_needed,
        )
    return _.plural(
        "{n} independent group or more is needed before a difference can be shown",
        "{n} independent groups or more are needed before a difference can be shown",
        comparison.groups_needed,
    )


def beside(comparison: Comparison, _: Translator, digits: int) -> list[str]:
    """What is said beside the verdict of a comparison; empty where the word says it all.

    Of a verdict that leaves it open: what could have been shown, and how many questions show a difference that matters;
    of `same`: within which margin; of one that says something, why its test may err more often than it says; of any,
    what unmeasured pairs leave open. digits: decimals of the metric's numbers.
    """
    notes = [text for text in [doubted(comparison, _), lacking(comparison, _, digits), needed(comparison, _)] if text]
    if comparison.verdict is Verdict.SAME and comparison.margin is not None:
        return [_("the same within ±{margin}", margin=_.number(comparison.margin, digits)), *notes]
    if not comparison.verdict.unshown:
        return notes
    notes += [text for text in [beyond(comparison, _)] if text]
    if comparison.minimum_detectable is not None and comparison.method in ("prediction_powered", "people"):
        notes.append(
            _.plural(
                "with {n} labelled question, a difference of {difference} or more would have been shown",
                "with {n} labelled questions, a difference of {difference} or more would have been shown",
                comparison.n,
                difference=_.number(comparison.minimum_detectable, digits),
            )
        )
    elif comparison.minimum_detectable is not None:
        notes.append(
            _.plural(
                "with {n} question, a difference of {difference} or more would have been shown",
                "with {n} questions, a difference of {difference} or more would have been shown",
                comparison.n,
                difference=_.number(comparison.minimum_detectable, digits),
            )
        )
    return notes + [text for text in [planned(comparison, _)] if text]


def doubted(figure: Comparison | Estimate, _: Translator) -> str:
    """Why a word that says something, or an interval, may be wrong more often than its level says; empty where nothing
    tells so."""
    if not figure.doubt or (isinstance(figure, Comparison) and figure.verdict.unshown):
        return ""
    reasons = _.enumeration([reason_in(reason, _) for reason in parts(figure.doubt)])
    if isinstance(figure, Estimate):
        return _("{reasons}: the interval may miss the true value twice as often as it says", reasons=reasons)
    return _("{reasons}: the test may err twice as often as it says", reasons=reasons)


def beyond(comparison: Comparison, _: Translator) -> str:
    """That no difference which the scale has room for would have been shown; empty where one would."""
    if not comparison.beyond_scale:
        return ""
    if comparison.clusters is None:
        return _.plural(
            "a difference that would have been shown is more than this scale can show with {n} question",
            "a difference that would have been shown is more than this scale can show with {n} questions",
            comparison.n,
        )
    return _.plural(
        "a difference that would have been shown is more than this scale can show with {n} group",
        "a difference that would have been shown is more than this scale can show with {n} groups",
        comparison.clusters,
    )


def lacking(comparison: Comparison, _: Translator, digits: int) -> str:
    """Between which ends the difference lies over all pairs, where some are unmeasured, or beyond which one where its
    scale is open; that they are in no number where no end speaks against the word. Empty where nothing is missing."""
    if not comparison.n_dropped or not comparison.n:
        return ""
    if comparison.least is not None and comparison.most is not None:
        ends = {
            "least": _.number(comparison.least, digits, signed=True),
            "most": _.number(comparison.most, digits, signed=True),
        }
        if (
            comparison.verdict is Verdict.CANNOT_BE_TOLD
            and comparison.least * comparison.most > 0
            and comparison.p_worst is not None
        ):
            return _(
                "with what is unmeasured, the difference lies between {least} and {most}; at the end nearer to 0 it is "
                "not shown ({p})",
                p=_.p_value(comparison.p_worst, relation=True),
                **ends,
            )
        return _("with what is unmeasured, the difference lies between {least} and {most}", **ends)
    if comparison.p_worst is not None and comparison.least is not None:
        return _(
            "with what is unmeasured, the difference is at least {least}",
            least=_.number(comparison.least, digits, signed=True),
        )
    if comparison.p_worst is not None and comparison.most is not None:
        return _(
            "with what is unmeasured, the difference is at most {most}",
            most=_.number(comparison.most, digits, signed=True),
        )
    if comparison.width is not None or comparison.verdict.unshown:
        return ""
    return _.plural(
        "{n} unmeasured pair, on a scale without ends, could say otherwise",
        "{n} unmeasured pairs, on a scale without ends, could say otherwise",
        comparison.n_dropped,
    )


def planned(comparison: Comparison, _: Translator) -> str:
    """How many questions, or groups, the smallest difference of interest needs; empty where that is not known."""
    groups = groups_planned(comparison)
    if groups is None:
        return planned_of(comparison.margin, comparison.questions_needed, comparison.n, _)
    assert comparison.questions_needed is not None, "groups were planned"
    assert comparison.clusters is not None, "groups were planned"
    if groups <= comparison.clusters:
        return planned_of(comparison.margin, comparison.questions_needed, comparison.n, _)
    return _.plural(
        "to show the smallest difference of interest, {margin}, about {n} independent group is needed ({questions}); "
        "there were {present}",
        "to show the smallest difference of interest, {margin}, about {n} independent groups are needed ({questions}); "
        "there were {present}",
        groups,
        margin=_.exact(comparison.margin),
        questions=_.plural("{n} question", "{n} questions", comparison.questions_needed),
        present=_.integer(comparison.clusters),
    )


def planned_of(margin: float | None, needed: int | None, n: int, _: Translator) -> str:
    """The same of a comparison that is known only by its numbers: the questions needed, and those there were."""
    if margin is None or needed is None:
        return ""
    if needed <= n:
        return _("the smallest difference of interest, {margin}, would likely have been shown", margin=_.exact(margin))
    return _.plural(
        "to show the smallest difference of interest, {margin}, about {n} question is needed; there were {present}",
        "to show the smallest difference of interest, {margin}, about {n} questions are needed; there were {present}",
        needed,
        margin=_.exact(margin),
        present=_.integer(n),
    )


def decision(distance: float | None, needed: int | None, n: int, _: Translator) -> str:
    """How many questions decide a condition on a number that lies so far from its limit; see `tiers.run.gates`.

    Empty where that is not known.
    """
    if not distance or not needed:
        return ""
    if needed <= n:
        return _(
            "so many questions would likely decide it for a value {distance} from the limit", distance=_.exact(distance)
        )
    return _.plural(
        "for a value {distance} from the limit, about {n} question decides; there were {present}",
        "for a value {distance} from the limit, about {n} questions decide; there were {present}",
        needed,
        distance=_.exact(distance),
        present=_.integer(n),
    )


def groups_planned(comparison: Comparison) -> int | None:
    """How many independent groups the questions that are needed make up, as large as now; None without groups."""
    if comparison.questions_needed is None or comparison.clusters is None:
        return None
    return math.floor(comparison.questions_needed * comparison.clusters / comparison.n + 1e-6)
