"""Questions at which a system of one's own raised, and the sentence that says so wherever its numbers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ragbench.language import Translator


@dataclass(frozen=True)
class Raised:
    """A system's function that raised at some of the questions; what it did not answer is in no one's favour.

    failed, asked: how many questions of those it was asked. reasons: what it raised, each kind once, a few at most.
    """

    system: str
    failed: int
    asked: int | None
    reasons: tuple[str, ...] = ()

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        return {"system": self.system, "failed": self.failed, "asked": self.asked, "reasons": list(self.reasons)}


def of(facts: Mapping[str, Any]) -> tuple[Raised, ...]:
    """What a measurement's facts tell in its systems, or what an overview's tell of a page in `raised`."""
    if "raised" in facts:
        return tuple(Raised(**{**one, "reasons": tuple(one["reasons"])}) for one in facts["raised"])
    systems = [one for one in facts.get("systems") or () if isinstance(one, Mapping) and one.get("errors")]
    asked = facts.get("n_questions")
    return tuple(
        Raised(str(one["name"]), int(one["errors"]), asked, tuple(map(str, one.get("errors_first", ()))))
        for one in systems
    )


def sentence(one: Raised, _: Translator) -> str:
    """`mine raised at 17 of 129 questions: RuntimeError: index shard 3 is down`."""
    reasons = "; ".join(one.reasons)
    if one.asked is None:
        return _.plural(
            "{system} raised at {n} question: {reasons}", "{system} raised at {n} questions: {reasons}", one.failed,
            system=one.system, reasons=reasons,
        )  # fmt: skip
    return _.plural(
        "{system} raised at {failed} of {n} question: {reasons}",
        "{system} raised at {failed} of {n} questions: {reasons}",
        one.asked,
        failed=_.integer(one.failed),
        system=one.system,
        reasons=reasons,
    )


def sentences(found: Iterable[Raised], _: Translator) -> list[str]:
    """A sentence a system; one that raised on several pages is named for the page on which it did most often."""
    most: dict[str, Raised] = {}
    for one in found:
        if one.system not in most or one.failed > most[one.system].failed:
            most[one.system] = one
    return [sentence(one, _) for one in most.values()]
