"""Footnotes of a table: why a printed interval is not the bootstrap's, and what nothing can be concluded from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.parts import Call, Entries, Note, Part, Phrase
from ragbench.core.types import BY_CONSTRUCTION, Comparison, Estimate
from ragbench.metrics.explanation import reason_in
from ragbench.tiers.basics import withholding
from ragbench.tiers.basics.verdicts import doubted, interval_name
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean


class Notes:
    """Footnotes in the order in which the table calls for them."""

    def __init__(self, material: Material, prefix: str = "note") -> None:
        self._material = material
        self._prefix = prefix
        self._called: dict[tuple[str, str, str], int] = {}

    def mark(self, estimate: Estimate | Comparison) -> Phrase:
        """The marks of a number whose printed interval is not the bootstrap's, or of which one may err more often than
        it says; empty for any other."""
        unsure = doubted(estimate, self._material.text) if isinstance(estimate, Estimate) else ""
        return (self._kind(estimate), self._call("doubted", unsure) if unsure else "")

    def _kind(self, estimate: Estimate | Comparison) -> Phrase:
        """The mark of one whose interval is not the bootstrap's."""
        corrected = estimate.method in BY_PEOPLE
        if estimate.note == "empty" or not (estimate.note or corrected):
            return ""
        note = estimate.note
        if corrected:
            return self._call(note, estimate.method)
        if note == "few" and estimate.clusters and (isinstance(estimate, Estimate) or estimate.method == "t_effective"):
            note = "few_clusters"
        elif isinstance(estimate, Comparison) and note in BETWEEN_TWO:
            note = BETWEEN_TWO[note]
        lender = estimate.lender if isinstance(estimate, Estimate) else ""
        return self._call(note, estimate.method, lender)

    def unidentified(self, system: str, metric: str, where: Mapping[str, Any] | None = None) -> Phrase:
        """The mark of a number that hangs on passages of which too many are none of the data set's; else empty."""
        reason = withholding.why(self._material.facts, [system], metric, where)
        return self._call("unidentified", reason) if reason else ""

    def _call(self, note: str, method: str, lender: str = "") -> Call:
        number = self._called.setdefault((note, method, lender), len(self._called) + 1)
        return Call(f"{self._prefix}-{number}", self._material.text("note {n}", n=number), _letter(number))

    def parts(self) -> list[Part]:
        """The list of footnotes; none if none was called."""
        notes = [
            Note(f"{self._prefix}-{number}", _letter(number), explained(self._material, *called))
            for called, number in self._called.items()
        ]
        return [Entries(notes, "rb-notes")] if notes else []


BETWEEN_TWO = {"few": "few_moved", "no_spread": "none_moved", "equal_groups": "groups_moved_alike"}
"""What a note of a single system says of a difference."""
BY_PEOPLE = ("prediction_powered", "people")
"""Methods of a mean that people's labels correct, or that is theirs alone; n counts the labels."""


def without_judge(note: str, _: Translator) -> str:
    """Why people's labels stand alone and the judge is left aside; empty where it is not."""
    reasons = {
        "weak_judge": _("people alone: the judge does not follow them"),
        "few": _("people alone: too few labels, or all answers are labelled"),
        "no_spread": _("people alone: labels or scores do not differ"),
        "ceiling": _("people alone: nearly all labels lie at one end of the scale"),
        "empty": _("no label is of an answer that was judged"),
    }
    return reasons.get(note, "")


def explained(material: Material, note: str, method: str, lender: str = "") -> str:
    """Why the printed interval is not the bootstrap's. lender: whose design effect was taken, for "borrowed_spread".

    Of "unidentified" `method` is the reason for which nothing can be concluded from a number, of "doubted" the whole
    sentence.
    """
    _ = material.text
    if note == "doubted":
        return f"{method[:1].upper()}{method[1:]}."
    if note == "unidentified":
        return _("Nothing can be concluded from it: {reason}.", reason=reason_in(method, _))
    reasons = {
        "few": _("few questions: the plain bootstrap interval would be too narrow"),
        "few_moved": _("the two systems differ on few questions: the plain bootstrap interval would be too narrow"),
        "ceiling": _("nearly all values lie at one end of the scale: the plain bootstrap interval would be too narrow"),
        "no_spread": _("all values are equal: the plain bootstrap interval would have no width"),
        "equal_groups": _(
            "the means of all groups are equal: the plain bootstrap interval of whole groups would have no width"
        ),
        "none_moved": _(
            "the difference is the same on every question: the plain bootstrap interval would have no width"
        ),
        "groups_moved_alike": _(
            "the mean difference is the same in every group: the plain bootstrap interval of whole groups would have "
            "no width"
        ),
        "borrowed_spread": _(
            "all values are equal, so they show no spread: that of {metric} is taken",
            metric=clean(lender) if lender else _("another measurement"),
        ),
        "borrowed_between": _(
            "the means of all groups are equal, so they show no spread between groups: that of {metric} is taken",
            metric=clean(lender) if lender else _("another measurement"),
        ),
        "ties": _("most values are the same: the plain bootstrap interval would be too narrow"),
        "skewed": _("a few values decide the mean: the plain bootstrap interval would be lopsided"),
        "no_bca": _("the plain bootstrap interval does not exist for these values"),
        "few_clusters": _("independent groups are few, or unequal: the plain bootstrap interval would be too narrow"),
        "count": _("a count has no uncertainty of sampling"),
        "topics": _("topics are found anew in every set of questions"),
        "saturated": _("no passage depends on a single question, so leaving questions out shows no spread"),
        "extreme": _("a resample cannot go beyond the extreme that was seen, so its interval would be wrong"),
        "dimensions": _(
            "a resample holds copies, and copies span fewer dimensions: resampling would say too few of them"
        ),
        "repeats": _(
            "a resample holds some questions several times, which moves this number by itself; so questions were left "
            "out one by one"
        ),
        "few_draws": _("the function takes too long to be called on resamples; so questions were left out one by one"),
        "slow": _("the function takes too long to be called often enough for an interval"),
        "undefined": _("the number is not defined on some resamples"),
        BY_CONSTRUCTION: _(
            "by construction: this judge asks no model, it could not have been otherwise, and nothing was sampled"
        ),
        "constant": _("a rater who always says the same agrees with nobody beyond chance"),
        "always_the_same": _("a judge that always decides the same reaches one half, whatever the answers"),
    }
    name = interval_name(method, _)
    if method in BY_PEOPLE:
        reason = without_judge(note, _)
        text = _("{method}; n counts labels.", method=name[:1].upper() + name[1:])
        return " ".join(filter(None, [text, f"{reason[:1].upper()}{reason[1:]}." if reason else ""]))
    reason = reasons.get(note, clean(note))
    return _("{method}; {reason}.", method=name[:1].upper() + name[1:], reason=reason)


def _letter(number: int) -> str:
    return chr(ord("a") + (number - 1) % 26)
