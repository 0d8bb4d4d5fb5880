"""Errors that people read, and the reasons why a value is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Table = TypeVar("Table")
# Why a score has no value; "ok" is the status of one that has.
STATUSES = (
    "ok",
    "missing_field",  # the sample lacks what the metric reads: a reference, a label
    "empty_input",  # the field is there and empty
    "empty_decomposition",  # nothing to judge: an answer without claims, as a refusal is
    "system_error",  # the system under test gave an error instead of a result
    "judge_error",  # the judge could not be reached, or failed
    "parse_error",  # its reply could not be read, and neither could the repaired one
    "timeout",  # it did not answer in time
    "refused",  # it declined to judge
    "truncated",  # its reply was cut at the limit of tokens
    "verdict_mismatch",  # it gave no verdict, or two, on some statement
)
NEVER_ASKED = ("missing_field", "empty_input", "empty_decomposition")  # nothing was there to judge


class BenchError(ValueError):
    """Something that the user can mend, said in one sentence with the way out."""


class NotEnoughError(BenchError):
    """Nothing could be measured at all."""


class UntrustedError(BenchError):
    """A folder's code or settings would be used before its owner said that they may."""


class Unmeasured(Exception):  # noqa: N818  it is no fault, it is a result
    """A value that could not be measured.

    status: one of `STATUSES` but "ok". reason: a sentence in English, of why.
    """

    def __init__(self, status: str, reason: str) -> None:
        if status not in STATUSES[1:]:
            raise ValueError(f"{status!r} is no status; there are {', '.join(STATUSES[1:])}")
        super().__init__(reason)
        self.status = status
        self.reason = reason


def look_up(what: str, name: str, tables: Mapping[str, Table]) -> Table:
    """Return the table of a name. Raises BenchError with those that there are."""
    if name not in tables:
        there = ", ".join(tables) or "none"
        raise BenchError(f"there is no {what} {name!r}{suggest(name, tables)}; there are: {there}")
    return tables[name]


def suggest(name: str, known: object) -> str:
    """Return `; did you mean 'ndcg'?` for a name that is nearly one of the known, else ""."""
    from difflib import get_close_matches

    close = get_close_matches(str(name).casefold(), [str(other) for other in known], n=1)  # type: ignore[attr-defined]
    return f"; did you mean {close[0]!r}?" if close else ""
