"""Questions and passages at which a system, or a part of it, failed, and what says so wherever its numbers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragbench.core.language import Translator


@dataclass(frozen=True)
class Raised:
    """A system that raised at some of the questions; what it did not answer is in no one's favour. Or one whose chunker
    failed at some of the passages, which it searches whole.

    failed, asked: how many of those it was asked. reasons: what it raised, each kind once, a few at most. what: of what
    they are.
    """

    system: str
    failed: int
    asked: int | None
    reasons: tuple[str, ...] = ()
    what: Literal["questions", "passages"] = "questions"

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        known = {"system": self.system, "failed": self.failed, "asked": self.asked, "reasons": list(self.reasons)}
        return known if self.what == "questions" else {**known, "what": self.what}


def of(facts: Mapping[str, Any]) -> tuple[Raised, ...]:
    """What a measurement's facts tell in its systems, or what an overview's tell of a page in `raised`."""
    if "raised" in facts:
        return tuple(Raised(**{**fact, "reasons": tuple(fact["reasons"])}) for fact in facts["raised"])
    systems = [system for system in facts.get("systems") or () if isinstance(system, Mapping)]
    at_questions = (
        Raised(
            str(system["name"]),
            int(system["errors"]),
            system.get("errors_of"),
            tuple(map(str, system.get("errors_first", ()))),
        )
        for system in systems
        if system.get("errors")
    )
    at_passages = (
        Raised(
            str(system["name"]),
            int(system["uncut"]),
            system["uncut_of"],
            tuple(map(str, system["uncut_first"])),
            "passages",
        )
        for system in systems
        if system.get("uncut")
    )
    return (*at_questions, *at_passages)


def sentence(failure: Raised, _: Translator) -> str:
    """`mine raised at 17 of 129 questions: RuntimeError: index shard 3 is down`."""
    reasons = "; ".join(failure.reasons)
    if failure.what == "passages":
        return _.plural(
            "the chunker of {system} failed at {failed} of {n} passage, searched whole: {reasons}",
            "the chunker of {system} failed at {failed} of {n} passages, searched whole: {reasons}",
            failure.asked or failure.failed,
            failed=_.integer(failure.failed),
            system=failure.system,
            reasons=reasons,
        )
    if failure.asked is None:
        return _.plural(
            "{system} raised at {n} question: {reasons}", "{system} raised at {n} questions: {reasons}", failure.failed,
            system=failure.system, reasons=reasons,
        )  # fmt: skip
    return _.plural(
        "{system} raised at {failed} of {n} question: {reasons}",
        "{system} raised at {failed} of {n} questions: {reasons}",
        failure.asked,
        failed=_.integer(failure.failed),
        system=failure.system,
        reasons=reasons,
    )


def warnings(facts: Mapping[str, Any], _: Translator) -> list[str]:
    """What stands with a measurement's numbers of all that raised, a sentence a system."""
    return [f"{text}." for text in sentences(of(facts), _)]


def sentences(failures: Iterable[Raised], _: Translator) -> list[str]:
    """A sentence a system; one that raised on several pages is named for the page on which it did most often."""
    most: dict[tuple[str, str], Raised] = {}
    for failure in failures:
        place = failure.system, failure.what
        if place not in most or failure.failed > most[place].failed:
            most[place] = failure
    return [sentence(failure, _) for failure in most.values()]
