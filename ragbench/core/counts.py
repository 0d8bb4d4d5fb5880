"""How many values a number stands on, and how many it lacks, in words: they go wherever the number goes."""

from __future__ import annotations

from collections.abc import Iterable

from ragbench.core.language import Translator
from ragbench.core.types import Estimate


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
