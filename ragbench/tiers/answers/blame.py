"""Which part is to blame: for every question of every system the first part that failed, from what was measured.

An answer is good when it is right, stays within what the system read, and is shown. Where one of these fails, the parts
are gone through in the order in which they work, and the first that failed takes the blame. What cannot be told from
what was measured is unmeasured: a bar of its own, never a part.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ragbench.core.metric import Metric, parse
from ragbench.metrics import catalogue
from ragbench.tiers.basics.choices import BenchError

ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
ENOUGH = 0.75  # of a rating's scale: 4 of 1 to 5
WHOLE = frozenset({"faithfulness"})
"""Shares of claims: one claim beyond the context is one too many."""


class Part(StrEnum):
    """What failed first, in the order of work; GOOD: nothing. The last three are of unanswerable questions, and of all.

    MISSING: no passage of the base holds the answer. NOT_RETRIEVED: none that does was retrieved. TOO_LOW: one was,
    below what the generator read. NOT_USED: it was read, and the answer is wrong or a refusal. BEYOND: the answer is
    right and claims what was not read. WITHHELD: it is good, and was not shown.
    """

    MISSING = "missing"
    NOT_RETRIEVED = "not_retrieved"
    TOO_LOW = "too_low"
    NOT_USED = "not_used"
    BEYOND = "beyond"
    WITHHELD = "withheld"
    GOOD = "good"
    RIGHT_REFUSAL = "right_refusal"
    INVENTED = "invented"
    UNMEASURED = "unmeasured"


PARTS = {
    ANSWERABLE: (
        Part.MISSING, Part.NOT_RETRIEVED, Part.TOO_LOW, Part.NOT_USED, Part.BEYOND, Part.WITHHELD, Part.GOOD,
    ),
    UNANSWERABLE: (Part.INVENTED, Part.RIGHT_REFUSAL),
}  # fmt: skip
GOOD = (Part.GOOD, Part.RIGHT_REFUSAL)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one answer; None: nobody can tell.

    in_base, retrieved, read: whether a passage that holds the answer is in the base, in the ranking, among what the
    generator was given. right, faithful, shown: of the answer.
    """

    answerable: bool
    in_base: bool | None
    retrieved: bool | None
    read: bool | None
    refused: bool | None
    right: bool | None
    faithful: bool | None
    shown: bool | None


def first_failure(known: Known) -> tuple[Part, str]:
    """The part to blame and why it is this one: a word for people's eyes.

    The word of GOOD tells where an answer is good although a part before it failed; that of UNMEASURED what is missing.
    """
    if not known.answerable:
        return _unanswerable(known)
    good = _all(known.right, known.faithful, known.shown)
    if good is None:
        return Part.UNMEASURED, next(name for name in ("right", "faithful", "shown") if getattr(known, name) is None)
    before = (
        (Part.MISSING, known.in_base), (Part.NOT_RETRIEVED, known.retrieved), (Part.TOO_LOW, known.read),
    )  # fmt: skip
    first = next(((part, held) for part, held in before if held is not True), None)
    if good:
        return Part.GOOD, "" if first is None or first[1] is None else f"although_{first[0]}"
    if first is not None:
        return (Part.UNMEASURED, "retrieved") if first[1] is None else (first[0], "")
    if known.right is not True:
        return (Part.UNMEASURED, "right") if known.right is None else (Part.NOT_USED, _wrong(known))
    if known.faithful is not True:
        return (Part.UNMEASURED, "faithful") if known.faithful is None else (Part.BEYOND, "")
    return Part.WITHHELD, ""


def _unanswerable(known: Known) -> tuple[Part, str]:
    if known.refused is None:
        return Part.UNMEASURED, "right"
    if known.refused:
        return Part.RIGHT_REFUSAL, "refused"
    if known.shown is None:
        return Part.UNMEASURED, "shown"
    return (Part.INVENTED, "") if known.shown else (Part.RIGHT_REFUSAL, "withheld")


def _wrong(known: Known) -> str:
    return "refused" if known.refused else "wrong_and_beyond" if known.faithful is False else "wrong"


def _all(*given: bool | None) -> bool | None:
    return False if False in given else None if None in given else True


@dataclass(frozen=True)
class Standard:
    """What counts as right and as faithful: metrics, and the values from which on an answer is.

    right_from, faithful_from: on the metric's own scale; None: three quarters of the way up (4 of 1 to 5), and 1 for
    the share of supported claims.
    """

    correctness: str = "e2e_score"
    faithfulness: str = "faithfulness_rating"
    right_from: float | None = None
    faithful_from: float | None = None

    @property
    def metrics(self) -> tuple[Metric, Metric]:
        """The two metrics. Raises BenchError for one that does not rate single answers on a scale with two ends."""
        return _rating(self.correctness, "correctness"), _rating(self.faithfulness, "faithfulness")

    @property
    def limits(self) -> tuple[float, float]:
        """The values from which on an answer is right, and faithful."""
        given = (self.right_from, self.faithful_from)
        return tuple(_limit(each, value) for each, value in zip(self.metrics, given, strict=True))  # type: ignore[return-value]

    def facts(self) -> dict[str, Any]:
        """The standard as a page states it."""
        right_from, faithful_from = self.limits
        names = {"correctness": self.correctness, "faithfulness": self.faithfulness}
        scales = {f"{name}_scale": list(each.bounds) for name, each in zip(names, self.metrics, strict=True)}
        return {**names, **scales, "right_from": right_from, "faithful_from": faithful_from}


def _rating(label: str, what: str) -> Metric:
    catalogue()
    metric = parse(label)
    if metric.grain != "sample" or None in metric.bounds or metric.better != "higher":
        raise BenchError(f"{what} = {label!r}: a metric of single answers is expected, higher is better, 0 to 1 or so")
    return metric


def _limit(metric: Metric, given: float | None) -> float:
    low, high = metric.bounds
    if low is None or high is None:
        raise BenchError(f"{metric.label} has no two ends")
    if given is None:
        return high if metric.name in WHOLE else low + ENOUGH * (high - low)
    if isinstance(given, bool) or not low < given <= high:
        raise BenchError(f"an answer counts from {given!r} on of {metric.label}, which goes from {low:g} to {high:g}")
    return float(given)
