"""Retrieved passages that are none of the data set's, and what says so wherever the numbers are that they count in.

Nobody can tell whether such a passage is relevant: a list of somebody else's ids would be nothing but misses. A few
count as irrelevant, and are counted; with more, what is measured on a system's rankings gets no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ragbench.core.language import Translator
from ragbench.core.types import Estimate
from ragbench.core.types.reason import Reason, rounded, short

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


def of(facts: Mapping[str, Any]) -> dict[str, Unidentified]:
    """What a measurement's facts tell, or what an overview's tell of a page: system → its counts, where there are
    any."""
    return {name: Unidentified(name, int(n), int(all_)) for name, (n, all_) in (facts.get(FACT) or {}).items()}


def sentences(counts: Iterable[Unidentified], _: Translator) -> list[str]:
    """A sentence a system, for the page on which it had most of them."""
    most: dict[str, Unidentified] = {}
    for count in counts:
        if count.system not in most or count.n / count.of > most[count.system].n / most[count.system].of:
            most[count.system] = count
    return [_sentence(count, _) for count in most.values()]


def _sentence(count: Unidentified, _: Translator) -> str:
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
