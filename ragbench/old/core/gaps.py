"""What numbers lack, said wherever they are: unmeasured values, questions where a system raised, unknown passages.

Nobody can tell whether such a passage is relevant: a list of somebody else's ids would be nothing but misses. A few
count as irrelevant, and are counted; with more, what is measured on a system's rankings gets no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ragbench.old.core.language import Translator
from ragbench.old.core.types import Estimate
from ragbench.old.core.types.reason import Reason, rounded, short


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


def raised(facts: Mapping[str, Any]) -> tuple[Raised, ...]:
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


def raised_sentence(failure: Raised, _: Translator) -> str:
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


def raised_warnings(facts: Mapping[str, Any], _: Translator) -> list[str]:
    """What stands with a measurement's numbers of all that raised, a sentence a system."""
    return [f"{text}." for text in raised_sentences(raised(facts), _)]


def raised_sentences(failures: Iterable[Raised], _: Translator) -> list[str]:
    """A sentence a system; one that raised on several pages is named for the page on which it did most often."""
    most: dict[tuple[str, str], Raised] = {}
    for failure in failures:
        place = failure.system, failure.what
        if place not in most or failure.failed > most[place].failed:
            most[place] = failure
    return [raised_sentence(failure, _) for failure in most.values()]


LIMIT = 0.02
"""Share of what a system retrieved, above which nothing is concluded from its rankings."""
FACT: Final = "unidentified"


@dataclass(frozen=True)
class Unidentified:
    """How many of the passages (or pages) that a system retrieved, as deep as it is measured, are none of the data
    set's."""

    system: str
    n: int
    of: int

    @property
    def too_many(self) -> bool:
        """Whether nothing can be concluded."""
        return self.n > LIMIT * self.of

    @property
    def reason(self) -> str:
        """Why there is no verdict."""
        share = 100 * self.n / self.of
        return Reason(
            "{part} of {whole} passages that {name} retrieved ({share}%) are none of the data set's",
            part=self.n,
            whole=self.of,
            name=self.system,
            share=rounded(share, 0) if share >= 10 else short(round(share, 1)),
        )


def unidentified(facts: Mapping[str, Any]) -> dict[str, Unidentified]:
    """What a measurement's facts tell, or what an overview's tell of a page: system → its counts, where there are
    any."""
    return {name: Unidentified(name, int(n), int(all_)) for name, (n, all_) in (facts.get(FACT) or {}).items()}


def unidentified_sentences(counts: Iterable[Unidentified], _: Translator) -> list[str]:
    """A sentence a system, for the page on which it had most of them."""
    most: dict[str, Unidentified] = {}
    for count in counts:
        if count.system not in most or count.n / count.of > most[count.system].n / most[count.system].of:
            most[count.system] = count
    return [_unidentified_sentence(count, _) for count in most.values()]


def _unidentified_sentence(count: Unidentified, _: Translator) -> str:
    share = count.n / count.of
    places = {"all": _.integer(count.of), "system": count.system, "share": _.percent(share, 0 if share >= 0.1 else 1)}
    if count.too_many:
        said = _.plural(
            "{n} of {all} passages that {system} retrieved ({share}) is none of the data set's.",
            "{n} of {all} passages that {system} retrieved ({share}) are none of the data set's.",
            count.n,
            **places,
        )
        more = _(
            "Nobody can tell whether they are relevant, so there is no verdict on its rankings: let it return ids of "
            "the data set's passages, or their texts."
        )
        return f"{said} {more}"
    return _.plural(
        "{n} of {all} passages that {system} retrieved ({share}) is none of the data set's and counts as irrelevant.",
        "{n} of {all} passages that {system} retrieved ({share}) are none of the data set's and count as irrelevant.",
        count.n,
        **places,
    )


def counted(estimate: Estimate, _: Translator, digits: int = 3) -> str:
    """`n 48`; `n 48, 12 unmeasured: 0.488 to 0.688 with them`."""
    missing = lacking(estimate, _, digits)
    return f"n {_.integer(estimate.n)}" + (f", {missing}" if missing else "")


def lacking(estimate: Estimate, _: Translator, digits: int = 3) -> str:
    """How much could not be measured, and between which values the number would lie with it; empty where nothing is."""
    if not estimate.n_unmeasured:
        return ""
    count = _.integer(estimate.n_unmeasured)
    ends = reach(estimate, _, digits)
    if not ends:
        return _("{count} unmeasured", count=count)
    return _("{count} unmeasured: {low} to {high} with them", count=count, low=ends[0], high=ends[1])


def missing(estimate: Estimate, _: Translator, digits: int = 3) -> str:
    """The same for a column of its own: `0`, `12`, `12 (0.488 … 0.688)`."""
    ends = reach(estimate, _, digits)
    return _.integer(estimate.n_unmeasured) + (f" ({ends[0]} … {ends[1]})" if ends else "")


def brackets(estimates: Iterable[Estimate], _: Translator) -> str:
    """What the brackets of `missing` are, where one of these numbers has them; else empty."""
    if not any(reach(estimate, _) for estimate in estimates):
        return ""
    return _("In brackets: the mean if every unmeasured value lay at the lower end of the scale … at the upper.")


def reach(estimate: Estimate, _: Translator, digits: int = 3) -> tuple[str, ...]:
    """The number with every unmeasured value at the lower and at the upper end of the scale; none where none exist."""
    if not estimate.n_unmeasured or estimate.floor is None or estimate.ceiling is None:
        return ()
    return _.number(estimate.floor, digits), _.number(estimate.ceiling, digits)


def alone(written: str, _: Translator) -> str:
    """What the judge alone says of a number that people's labels correct. written: with its interval, or without."""
    number, space, interval = written.partition(" ")
    return _("the judge alone: {value}", value=number + space + interval.replace(" ", "\u00a0"))
