"""Why a value is what it is, or is not there: a sentence with its values apart, said in any language later."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, Literal

BY_CONSTRUCTION: Final = "by_construction"
"""The `note` of a number that could not have been otherwise: it is exact, without interval; nothing was sampled."""
IntervalNote = Literal[
    "", "empty", "few", "few_moved", "few_clusters", "few_judges", "few_draws", "ceiling", "no_spread", "equal_groups",
    "none_moved", "groups_moved_alike", "borrowed_spread", "borrowed_between", "ties", "skewed", "no_bca", "undefined",
    "constant", "always_the_same", "identical", "open_scale", "incomplete", "weak_judge", "count", "topics",
    "saturated", "extreme", "dimensions", "repeats", "slow", "two_samples", "by_construction",
    "open", "open_above", "open_below",
]  # fmt: skip
"""Why a number has another interval than the bootstrap's, or none; `verdict_tables.noted` says each in words."""

_BEGIN = '{"text": '
"""How a reason begins as it is kept; nothing else that is kept as a reason does."""
_ALONE = "{said}"


class Reason(str):
    """A reason of ragbench's own: it reads as English, or as it was `said`, and keeps its template apart from what is
    filled in.

    text: the template, with `{name}` places. values: whole numbers, numbers with their decimals (Decimal; a float has
    three), texts of others, reasons, or a tuple of reasons.
    """

    text: str
    values: Mapping[str, Any]

    def __new__(cls, text: str, /, **values: Any) -> Reason:
        made = super().__new__(cls, text.format(**{name: _english(value) for name, value in values.items()}))
        made.text, made.values = text, values
        return made

    def said(self, words: str) -> Reason:
        """The same reason, reading as these words of another language."""
        made = str.__new__(Reason, words)
        made.text, made.values = self.text, self.values
        return made

    def __reduce__(self) -> tuple[Callable[..., Reason], tuple[str, str, dict[str, Any]]]:
        return _again, (str(self), self.text, dict(self.values))

    @property
    def sentence(self) -> dict[str, Any]:
        """As plain JSON values, in the form of a sentence of an explanation; a number with decimals as
        `{"number": "0.50"}`."""
        return {"text": self.text, "values": {name: _plain(value) for name, value in self.values.items()}}


def _again(words: str, text: str, values: Mapping[str, Any]) -> Reason:
    return Reason(text, **values).said(words)


def joined(*reasons: str) -> str:
    """Several reasons one after the other, empty ones left out; `parts` are they again."""
    kept = tuple(reason if isinstance(reason, Reason) else Reason(_ALONE, said=reason) for reason in reasons if reason)
    return Reason(_ALONE, said=kept) if len(kept) > 1 else next(filter(None, reasons), "")


def clause(text: str) -> str:
    """Somebody else's words as a part of a sentence of ours, which has a full stop or a semicolon of its own."""
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text


def parts(reason: str) -> tuple[str, ...]:
    """The reasons that one is joined of, or the one; none of an empty one."""
    said = reason.values.get("said") if isinstance(reason, Reason) and reason.text == _ALONE else None
    return said if isinstance(said, tuple) else tuple(filter(None, (reason,)))


def rounded(value: float, digits: int) -> Decimal:
    """A number of a reason, with so many decimals in every language."""
    return Decimal(f"{value:.{digits}f}")


def short(value: float, digits: int = 6) -> Decimal:
    """A number of a reason with the decimals that it needs, `digits` significant ones at most."""
    return Decimal(f"{Decimal(f'{value:.{digits}g}'):f}")


def reason_of(error: BaseException) -> str:
    """What an error says: the reason that it was made of, else its text."""
    return next((argument for argument in error.args[:1] if isinstance(argument, Reason)), str(error))


def kept(reason: str) -> str:
    """The text that stands for a reason where only texts are kept: tables, JSON. A reason of ours is its sentence as
    JSON; somebody else's words stay as they are, unless they could be taken for one."""
    if isinstance(reason, Reason):
        return json.dumps(reason.sentence, ensure_ascii=False)
    return kept(Reason(_ALONE, said=reason)) if reason.startswith(_BEGIN) else reason


def read(text: str) -> str:
    """The reason that a text stands for; any text that `kept` did not make is given back."""
    if not text.startswith(_BEGIN):
        return text
    try:
        return of(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError):
        return text


def _english(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(value)
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Reason):
        return value.sentence
    if isinstance(value, Decimal):
        return {"number": str(value)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def of(stored: Any) -> Reason:
    """The reason of a sentence as plain values. Raises ValueError, TypeError, KeyError for what is none."""
    text, values = stored["text"], {str(name): _value(value) for name, value in stored["values"].items()}
    for _said, name, form, conversion in string.Formatter().parse(text):
        if name is not None and (name not in values or form or conversion):
            raise ValueError(f"{text!r} is no template of these values")
    return Reason(text, **values)


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Decimal(value["number"]) if "number" in value else of(value)
    return tuple(map(_value, value)) if isinstance(value, list) else value
