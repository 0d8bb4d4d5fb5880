"""May one believe the judge? The answer of the page in sentences, and how it was come to."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ragbench.core.parts import Content, Phrase, Text, filled
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.sentences import judge_words as words
from ragbench.views.sentences.judge_words import CONSTRUCTED, FOUND, OPEN, PASSED, UNMEASURED

GUESSING = 0.5
"""The share of choices that guessing makes right where one of two answers is better."""


def sentences(material: Material) -> list[Content]:
    """For each judge what sways it, what does not, and how it agrees with people."""
    return [_judge(material, name) for name in words.judges_of(material)] + _alone(material)


def _judge(material: Material, judge: str) -> Content:
    _ = material.text
    if said := _nothing(material, judge):
        return [Text(said)]
    by_verdict: dict[str, list[str]] = {FOUND: [], PASSED: [], OPEN: [], CONSTRUCTED: [], UNMEASURED: []}
    verdicts = {str(row["probe"]): row["verdict"] for row in words.kept(material, "probes", judge)}
    for probe, verdict in verdicts.items():
        name = words.probe(material, probe)[0]
        mean = f"{probe}{words.CHANGES}" in verdicts
        by_verdict[verdict].append(_("{probe} on average", probe=name) if mean else name)
    faults, tried = by_verdict[FOUND], sum(len(by_verdict[v]) for v in (FOUND, PASSED, OPEN))
    places: dict[str, Phrase] = {"judge": shown(judge), "n": _.integer(tried), "found": _.integer(len(faults))}
    if faults:
        text = filled(
            _("<b>{judge}</b>: {found} of {n} probes found a fault: {names}."), names=_.enumeration(faults), **places
        )
    elif tried:
        text = filled(_("No fault of <b>{judge}</b> was found; probes: {n}."), **places)
    else:
        text = filled(_("<b>{judge}</b> was not tried by any probe."), **places)
    labels = _labels(material, judge)
    more: list[Phrase] = [labels, _people(material, judge, labelled=bool(labels)), _baseline(material, judge)]
    if by_verdict[PASSED]:
        more.append(_("Ruled out: {names}.", names=_.enumeration(by_verdict[PASSED])))
    if by_verdict[OPEN]:
        more.append(_("Neither shown nor ruled out: {names}.", names=_.enumeration(by_verdict[OPEN])))
    if by_verdict[CONSTRUCTED]:
        more.append(
            _(
                "By construction, since it asks no model and reads no prompt, these cannot move it: {names}.",
                names=_.enumeration(by_verdict[CONSTRUCTED]),
            )
        )
    return [Text(text), *(Text(line, "rb-more") for line in more if line)]


def _nothing(material: Material, judge: str) -> Phrase:
    """That none of the judge's replies held a score, and how they ended; empty where one did, and where none was asked
    for."""
    _ = material.text
    rows = words.kept(material, "coverage", judge)
    counts = {str(row["outcome"]): int(row["count"]) for row in rows}
    asked = max((int(row["asked"]) for row in rows), default=0)
    if not asked or counts.get("valid") or _chooses(material, judge):
        return ""
    ended = [f"{words.statistic(material, outcome)} {_.integer(count)}" for outcome, count in counts.items() if count]
    return filled(
        _("<b>{judge} gave no usable score</b> in any of {asked} replies: {ended}. Nothing else can be said of it."),
        judge=shown(judge),
        asked=_.integer(asked),
        ended=_.enumeration(ended),
    )


def _chooses(material: Material, judge: str) -> bool:
    """Whether the judge chose between two answers, whatever became of its scores."""
    estimate = material.estimate(judge, "consistent", trial="pairwise")
    return estimate is not None and estimate.n > 0


def _people(material: Material, judge: str, *, labelled: bool) -> Phrase:
    """How far it agrees with one person, beside how far one person agrees with another. labelled: the truth is known
    without people."""
    _ = material.text
    own, people = (material.estimate(name, "spearman", against="person") for name in (judge, "people"))
    if own is None:
        nobody = _("Nobody rated these answers: whether the judge agrees with people is not known.")
        return "" if labelled else nobody
    said = words.number(material, own, 2)
    if people is None:
        return filled(_("Agreement with a person (Spearman): {own}."), own=said)
    return filled(
        _("Agreement with a person (Spearman): {own}; of two people with each other: {people}."),
        own=said,
        people=words.number(material, people, 2),
    )


def _labels(material: Material, judge: str) -> Phrase:
    """How often the answer that the file's labels call better wins; empty where no pair has a label."""
    _ = material.text
    named = ("better_wins", "right_over_both_orders", "right_in_both_orders", "right_in_first_order")
    wins, over, both, first = (material.estimate(judge, name, trial="pairwise") for name in named)
    if not material.facts.get("logged") or wins is None or over is None or not over.n:
        return ""
    said = filled(
        _(
            "Pairs whose better answer is labelled: {n}. The judge agrees with the label on {over} net of both orders "
            "(it chooses the better answer more often than the other, as JudgeBench counts), on {both} in both "
            "orders, on {first} in the first order; a tie and an order without a choice agree with nothing. Of all "
            "pairs of two choices, {wins} of the choices are right."
        ),
        n=_.integer(over.n),
        over=words.number(material, over, 3),
        both=words.number(material, both, 3),
        first=words.number(material, first, 3),
        wins=words.number(material, wins, 3),
    )
    if wins.low is not None and wins.low > GUESSING:
        return (said, " ", _("That is more often than by guessing."))
    if wins.high is not None and wins.high < GUESSING:
        return (said, " ", filled(_("<b>That is less often than by guessing.</b>")))
    return (said, " ", filled(_("<b>That is not shown to be more often than by guessing.</b>")))


def _baseline(material: Material, judge: str) -> Phrase:
    _ = material.text
    difference = material.comparison(judge, "concordance", trial="rivals")
    own, other = (material.estimate(judge, name, trial="rivals") for name in ("concordance", "baseline"))
    if difference is None or own is None or other is None or math.isnan(difference.p):
        return ""
    values = {"own": _.number(own.value, 2), "other": _.number(other.value, 2)}
    places: dict[str, Phrase] = {**values, "baseline": shown(material.facts.get("rival"))}
    if difference.verdict.is_better:
        return filled(_("It orders answers as people do more often than {baseline}: {own} against {other}."), **places)
    if difference.verdict.is_worse:
        return filled(
            _(
                "<b>It is worse than {baseline}</b> at ordering answers as people do: {own} against {other}. Let "
                "{baseline} judge instead."
            ),
            **places,
        )
    return filled(
        _(
            "<b>It does not clearly beat {baseline}</b> at ordering answers as people do: {own} against {other}. "
            "Until it does, {baseline} serves as well."
        ),
        **places,
    )


def _alone(material: Material) -> list[Content]:
    """That only the stand-in judged."""
    rival = material.facts.get("rival")
    if material.facts.get("logged") or words.judges_of(material) != [rival]:
        return []
    text = material.text(
        "Only the offline judge was tried. It decides by shared words and letters alone: it is the baseline that a "
        "judge has to beat, not a judge to rely on. Name a model in a table [judges.NAME]."
    )
    return [[Text(text, "rb-more")]]


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    known = material.facts
    low, high = known.get("judge_scale", (0, 1))
    said = [
        _(
            "Two scores agree where they differ by at most δ = {delta} on a scale from {low} to {high}; an answer is "
            "called good from {good} of the scale on, by judges and people alike.",
            delta=_.number(float(known.get("delta", 0.5)), 2),
            low=_.number(float(low), 0),
            high=_.number(float(high), 0),
            good=_.percent(float(known.get("good", 0.7))),
        ),
        _(
            "Agreement: every person is laid beside the judge, and every person beside every other, and the same "
            "coefficients are computed of both; intervals draw whole questions."
        ),
        _(
            "A probe compares the same answer with and without what should not matter. It is found where the effect "
            "is shown to lie beyond its limit (a test of a minimal effect), ruled out where its whole interval lies "
            "within, and open otherwise. Found and ruled out are words of one family: p and intervals hold for all "
            "probes of the page together (Bonferroni). What a judge cannot do by construction is not tested."
        ),
        _(
            "Changes up and down cancel in a mean effect. Beside it, as probes of their own, stand the share of "
            "choices that change with the order and the share of scores that move with the language or the order of "
            "the scale."
        ),
        _(
            "The language of the prompt is tried apart from that of the texts: the same answers are judged once more "
            "with the prompt in the other language."
        ),
    ]
    if known.get("limits"):
        said.append(_limits(material, known["limits"]))
        said.append(_("Of choices and of scores {share} may change.", share=_.percent(known["limits"]["changes"], 1)))
    if known.get("n_tempted"):
        said.append(
            _(
                "Answers are made from the references: a paraphrase is an answer that people gave full marks, else the "
                "reference behind a lead-in; half of it is its first sentences or words; off topic is the reference of "
                "another question; a contradiction has every number changed, or is denied where there is none; padding "
                "says half of it three times. The ladder stands in order where every better answer has the higher "
                "score; reference and paraphrase may tie, and so may off topic and contradiction."
            )
        )
        said.append(
            _(
                "Empty answers have signs but no word; an answer without any sign never reaches a judge and is "
                "unmeasured."
            )
        )
    return said


def _limits(material: Material, limits: Mapping[str, float]) -> str:
    """How much of each fault nobody would mind on this page."""
    _ = material.text
    return _(
        "Limits: a score may move by {bias} of the scale for no reason, choices towards a place by as much of all; "
        "{flips} of the repeats may change the decision; {attacks} of worthless answers may be called good; {ladder} "
        "of the pairs of rungs must stand in order; errors may go with those of the baseline up to a correlation of "
        "{alike}.",
        bias=_.percent(limits["bias"], 1),
        flips=_.percent(limits["flips"], 1),
        attacks=_.percent(limits["attacks"], 1),
        ladder=_.percent(limits["ladder"], 1),
        alike=_.number(limits["alike"], 2),
    )
