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


def said(one: Comparison, _: Translator) -> str:
    """The verdict of a comparison; where nothing can be shown, with how many groups, or questions, that is so; where it
    is withheld, with the reason."""
    return said_of(one.verdict, one.n, one.clusters, _, one.withheld)


def said_of(verdict: Verdict, n: int, clusters: int | None, _: Translator, withheld: str = "") -> str:
    """The same for a verdict whose comparison is known only by its pairs and groups."""
    if verdict is Verdict.CANNOT_BE_TOLD and withheld:
        return _("cannot be told: {reason}", reason=reason_in(withheld, _))
    if verdict is not Verdict.CANNOT_BE_SHOWN:
        return word(verdict, _)
    if clusters is None:
        return _.plural("cannot be shown with {n} question", "cannot be shown with {n} questions", n)
    return _.plural("cannot be shown with {n} group", "cannot be shown with {n} groups", clusters)


def exact(one: Estimate, _: Translator) -> str:
    """That a number could not have been otherwise, where its interval would stand; else empty."""
    return _("by construction") if one.note == BY_CONSTRUCTION else ""


def is_equal(one: Comparison) -> bool:
    """Whether both sides have the same value at every question that both measured, of one or more."""
    corrected = one.method in ("prediction_powered", "people")
    return one.difference == 0 and one.note == "no_spread" and not corrected and not one.withheld


def equal(known: Iterable[Comparison], _: Translator) -> str:
    """That all of these are equal, and on how many questions; empty where one is not, and where there is none."""
    found = list(known)
    if not found or not all(map(is_equal, found)):
        return ""
    counts = [one.n for one in found]
    metrics = _.plural("{n} metric is equal", "all {n} metrics are equal", len(found))
    if min(counts) == max(counts):
        return _.plural("{metrics} on {n} question", "{metrics} on all {n} questions", counts[0], metrics=metrics)
    few, many = _.integer(min(counts)), _.integer(max(counts))
    return _("{metrics} on every question that both measured, {few} to {many}", metrics=metrics, few=few, many=many)


def needed(one: Comparison, _: Translator) -> str:
    """How many groups, or questions, the family of a comparison needs before anything can be shown; empty if it can."""
    if one.groups_needed is None:
        return ""
    if one.clusters is None:
        return _.plural(
            "{n} question or more is needed before a difference can be shown",
            "{n} questions or more are needed before a difference can be shown",
            one.groups_needed,
        )
    return _.plural(
        "{n} independent group or more is needed before a difference can be shown",
        "{n} independent groups or more are needed before a difference can be shown",
        one.groups_needed,
    )


def beside(one: Comparison, _: Translator, digits: int) -> list[str]:
    """What is said beside the verdict of a comparison; empty where the word says it all.

    Of a verdict that leaves it open: what could have been shown, and how many questions show a difference that matters;
    of `same`: within which margin; of one that says something, why its test may err more often than it says; of any,
    what unmeasured pairs leave open. digits: decimals of the metric's numbers.
    """
    found = [text for text in [doubted(one, _), lacking(one, _, digits), needed(one, _)] if text]
    if one.verdict is Verdict.SAME and one.margin is not None:
        return [_("the same within ±{margin}", margin=_.number(one.margin, digits)), *found]
    if not one.verdict.unshown:
        return found
    found += [text for text in [beyond(one, _)] if text]
    if one.minimum_detectable is not None and one.method in ("prediction_powered", "people"):
        found.append(
            _.plural(
                "with {n} labelled question, a difference of {difference} or more would have been shown",
                "with {n} labelled questions, a difference of {difference} or more would have been shown",
                one.n,
                difference=_.number(one.minimum_detectable, digits),
            )
        )
    elif one.minimum_detectable is not None:
        found.append(
            _.plural(
                "with {n} question, a difference of {difference} or more would have been shown",
                "with {n} questions, a difference of {difference} or more would have been shown",
                one.n,
                difference=_.number(one.minimum_detectable, digits),
            )
        )
    return found + [text for text in [planned(one, _)] if text]


def doubted(one: Comparison | Estimate, _: Translator) -> str:
    """Why a word that says something, or an interval, may be wrong more often than its level says; empty where nothing
    tells so."""
    if not one.doubt or (isinstance(one, Comparison) and one.verdict.unshown):
        return ""
    reasons = _.enumeration([reason_in(reason, _) for reason in parts(one.doubt)])
    if isinstance(one, Estimate):
        return _("{reasons}: the interval may miss the true value twice as often as it says", reasons=reasons)
    return _("{reasons}: the test may err twice as often as it says", reasons=reasons)


def beyond(one: Comparison, _: Translator) -> str:
    """That no difference which the scale has room for would have been shown; empty where one would."""
    if not one.beyond_scale:
        return ""
    if one.clusters is None:
        return _.plural(
            "a difference that would have been shown is more than this scale can show with {n} question",
            "a difference that would have been shown is more than this scale can show with {n} questions",
            one.n,
        )
    return _.plural(
        "a difference that would have been shown is more than this scale can show with {n} group",
        "a difference that would have been shown is more than this scale can show with {n} groups",
        one.clusters,
    )


def lacking(one: Comparison, _: Translator, digits: int) -> str:
    """Between which ends the difference lies over all pairs, where some are unmeasured, or beyond which one where its
    scale is open; that they are in no number where no end speaks against the word. Empty where nothing is missing."""
    if not one.n_dropped or not one.n:
        return ""
    if one.least is not None and one.most is not None:
        ends = {"least": _.number(one.least, digits, signed=True), "most": _.number(one.most, digits, signed=True)}
        if one.verdict is Verdict.CANNOT_BE_TOLD and one.least * one.most > 0 and one.p_worst is not None:
            return _(
                "with what is unmeasured, the difference lies between {least} and {most}; at the end nearer to 0 it is "
                "not shown ({p})",
                p=_.p_value(one.p_worst, relation=True),
                **ends,
            )
        return _("with what is unmeasured, the difference lies between {least} and {most}", **ends)
    if one.p_worst is not None and one.least is not None:
        return _(
            "with what is unmeasured, the difference is at least {least}",
            least=_.number(one.least, digits, signed=True),
        )
    if one.p_worst is not None and one.most is not None:
        return _(
            "with what is unmeasured, the difference is at most {most}", most=_.number(one.most, digits, signed=True)
        )
    if one.width is not None or one.verdict.unshown:
        return ""
    return _.plural(
        "{n} unmeasured pair, on a scale without ends, could say otherwise",
        "{n} unmeasured pairs, on a scale without ends, could say otherwise",
        one.n_dropped,
    )


def planned(one: Comparison, _: Translator) -> str:
    """How many questions, or groups, the smallest difference of interest needs; empty where that is not known."""
    groups = groups_planned(one)
    if groups is None:
        return planned_of(one.margin, one.questions_needed, one.n, _)
    assert one.questions_needed is not None, "groups were planned"
    assert one.clusters is not None, "groups were planned"
    if groups <= one.clusters:
        return planned_of(one.margin, one.questions_needed, one.n, _)
    return _.plural(
        "to show the smallest difference of interest, {margin}, about {n} independent group is needed ({questions}); "
        "there were {present}",
        "to show the smallest difference of interest, {margin}, about {n} independent groups are needed ({questions}); "
        "there were {present}",
        groups,
        margin=_.exact(one.margin),
        questions=_.plural("{n} question", "{n} questions", one.questions_needed),
        present=_.integer(one.clusters),
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


def groups_planned(one: Comparison) -> int | None:
    """How many independent groups the questions that are needed make up, as large as now; None without groups."""
    if one.questions_needed is None or one.clusters is None:
        return None
    return math.floor(one.questions_needed * one.clusters / one.n + 1e-6)
