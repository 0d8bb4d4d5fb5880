"""What stands in a sentence or in a cell of a table: texts and typed values, which every output writes in its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ragbench.core.types import Comparison, Estimate, Verdict

MARKS = {Verdict.BETTER: "▲", Verdict.WORSE: "▼", Verdict.SLIGHTLY_BETTER: "△", Verdict.SLIGHTLY_WORSE: "▽",
         Verdict.SAME: "≈", Verdict.NOT_SHOWN: "○", Verdict.CANNOT_BE_SHOWN: "∅",
         Verdict.CANNOT_BE_TOLD: "?"}  # fmt: skip


class Piece:
    """Anything that a sentence or a cell is made of besides plain texts."""


Phrase = str | int | Piece | Sequence["Phrase"]
"""A text (with emphasis of the catalogue's own where it is Markup), a count, a piece, or several in a row."""


@dataclass(frozen=True)
class Number(Piece):
    """A number. digits: its decimals; those of its table, else three, if None. percent: a share, as per cent,
    without decimals where they are not said."""

    value: float | None
    digits: int | None = None
    signed: bool = False
    percent: bool = False


@dataclass(frozen=True)
class Value(Piece):
    """A number and its interval, or one of both.

    why: the reason where there is no interval. verdict, word: what was said of it where nothing else in the row says.
    stacked: with the interval below the number, where columns have to be narrow. bare: without a dash where an interval
    would stand. beside: what stands behind the number, before its
    interval. open: whether an end that is not known is an open one, and no lack of an interval. best: of its column, so
    that it stands out.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    verdict: Verdict | None = None
    word: str = ""
    digits: int | None = None
    signed: bool = False
    percent: bool = False
    stacked: bool = False
    bare: bool = False
    beside: Phrase = ()
    open: bool = False
    best: bool = False

    @classmethod
    def of(cls, measured: Estimate | Comparison, digits: int | None = None, **more: Any) -> Value:
        """An estimate, or a difference with its sign, as it was measured."""
        if isinstance(measured, Comparison):
            return cls(measured.difference, measured.low, measured.high, digits=digits, signed=True, **more)
        return cls(measured.value, measured.low, measured.high, digits=digits, **more)


@dataclass(frozen=True)
class P(Piece):
    """The p of a test."""

    value: float | None

    @classmethod
    def of(cls, compared: Comparison) -> P:
        """The p that a verdict is from: the corrected one where there is one."""
        return cls(compared.p if compared.p_adjusted is None else compared.p_adjusted)


@dataclass(frozen=True)
class Chip(Piece):
    """A verdict in words, with its sign. look: how a page colours it."""

    words: str
    sign: str
    look: str

    @classmethod
    def of(cls, verdict: Verdict, words: str) -> Chip:
        """Of a comparison."""
        return cls(words, MARKS[verdict], verdict.name.lower().replace("_", "-"))


@dataclass(frozen=True)
class Styled(Piece):
    """A phrase that stands out, or back. tag: b, small, code or span; look: how a page shows it; title: said of it."""

    content: Phrase
    tag: str = "span"
    look: str = ""
    title: str = ""


@dataclass(frozen=True)
class Link(Piece):
    """A phrase that leads somewhere; the phrase alone where there is nowhere to lead to."""

    content: Phrase
    address: str | None
    look: str = ""


@dataclass(frozen=True)
class System(Piece):
    """A system by the sign of its marks in its colour, and by its name where it is `named`; dot: the same sign whatever
    the colour."""

    name: str
    series: int
    named: bool = True
    dot: bool = False


@dataclass(frozen=True)
class Name(Piece):
    """A long name without spaces, such as a metric's: a line may break behind the sign `at` in it."""

    name: str
    at: str = "_"


@dataclass(frozen=True)
class Mark(Piece):
    """The value of one system beside others, told apart by the sign alone."""

    content: Phrase
    of: System
    look: str = "rb-mark"


@dataclass(frozen=True)
class Call(Piece):
    """A call of a footnote."""

    anchor: str
    label: str
    letter: str


@dataclass(frozen=True)
class Lines(Piece):
    """Phrases one below the other."""

    lines: Sequence[Phrase]


@dataclass(frozen=True)
class Drawing(Piece):
    """A small drawing of numbers that stand beside it: of interest to the eye alone.

    name, values: which of the page's drawings, and what it is made from.
    """

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Sentence(Piece):
    """A sentence of the catalogue with its places. text: with words in <b> that stand out, and of <code>; `{name}` is a
    place, `places` what stands there."""

    text: str
    places: Mapping[str, Phrase]


def filled(text: str, **places: Phrase) -> Sentence:
    """A sentence with what stands in its places."""
    return Sentence(text, places)


def small(words: Phrase) -> Phrase:
    """Words beside a number, quieter; nothing for none."""
    return (" ", Styled(words, "small")) if words else ""


def beside(value: Phrase, words: Phrase) -> Styled:
    """A number with what is said beside it, quieter, on one line."""
    return Styled((value, " ", Styled(words, look="rb-interval")), look="rb-number")


def bold(content: Phrase, look: str = "") -> Styled:
    """A phrase that stands out."""
    return Styled(content, "b", look)


def joined(between: str, phrases: Iterable[Phrase]) -> Phrase:
    """Phrases with a text between them; those that say nothing are left out."""
    there = [phrase for phrase in phrases if phrase not in ("", ())]
    return tuple(part for place, phrase in enumerate(there) for part in ((between, phrase) if place else (phrase,)))


Kind = TypeVar("Kind", bound=Piece)


def within(phrase: Any, kind: type[Kind]) -> Iterator[Kind]:
    """The pieces of a kind in a phrase, from its beginning."""
    if isinstance(phrase, kind):
        yield phrase
    elif isinstance(phrase, Piece):
        for field in fields(phrase):  # type: ignore[arg-type]
            yield from within(getattr(phrase, field.name), kind)
    elif isinstance(phrase, Sequence) and not isinstance(phrase, str):
        for part in phrase:
            yield from within(part, kind)
