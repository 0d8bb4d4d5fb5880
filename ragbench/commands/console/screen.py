"""Estimates and comparisons in the words of the terminal, the same for every command that prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ragbench import terminal
from ragbench.bench.basics import verdicts
from ragbench.counts import missing
from ragbench.language import translator
from ragbench.types import Comparison, Estimate, Verdict

NONE = "—"
_WHY = {
    "empty": "nothing was measured",
    "few": "too few values",
    "no_spread": "all values are equal",
    "undefined": "not defined for these values",
    "incomplete": "no item was rated by all",
}
_WHY_NOT_COMPARED = {
    "empty": "no question was measured on both sides",
    "few": "too few questions",
    "no_spread": "all differences are equal",
}


class Words(NamedTuple):
    """What is printed of a comparison; a dash stands with its reason, or where there was nothing to test.

    detectable: the smallest difference that would have been shown.
    """

    difference: str
    interval: str
    p: str
    corrected: str
    detectable: str
    n: str
    left_out: str
    verdict: str


def words(one: Comparison) -> Words:
    """A comparison in words."""
    return Words(
        _number(one.difference, "+.4f"),
        _interval(one.low, one.high, "+.4f", _why(one, _WHY_NOT_COMPARED)),
        _number(one.p),
        _number(one.p_adjusted),
        _number(one.minimum_detectable),
        str(one.n),
        str(one.n_dropped),
        _verdict(one),
    )


def counted(number: int, name: str, several: str = "") -> str:
    """`1 question`, `2 questions`."""
    return f"{number} {name if number == 1 else several or f'{name}s'}"


def comparisons(named: Sequence[tuple[str, Comparison]]) -> None:
    """Print a table of comparisons, each with its metric, and below it what p was corrected over."""
    if not named:
        return
    pairs = {(one.challenger, one.baseline) for _, one in named}
    titles = ["metric", "difference", "interval", "p", "corrected p", "detectable", "n", "left out", "verdict"]
    left = {"compared", "metric", "verdict"}
    lines = [[metric, *words(one)] for metric, one in named]
    if len(pairs) > 1:
        titles = ["compared", *titles]
        lines = [[_pair(one), *line] for (_, one), line in zip(named, lines, strict=True)]
    else:
        terminal.say(f"{_pair(named[0][1])}:")
    terminal.table(titles, lines, left=left)
    for family in dict.fromkeys(one.family for _, one in named if one.family):
        terminal.say(f"corrected over all comparisons: {family}")
    if any(one.minimum_detectable is not None for _, one in named):
        terminal.say("detectable: a difference of this size or more would be shown, in 80 of 100 such studies")
    for line in dict.fromkeys(verdicts.needed(one, translator("en")) for _, one in named):
        if line:
            terminal.say(line)


def estimates(titles: Sequence[str], named: Sequence[tuple[Sequence[str], Estimate]]) -> None:
    """Print a table of estimates. titles: of what each one is named by, such as run and metric."""
    grouped = any(one.clusters is not None for _, one in named)
    heads = [*titles, "value", "interval", "method", "n", "unmeasured", *(["groups"] if grouped else [])]
    lines, english = [], translator("en")
    for names, one in named:
        line = [
            *names,
            _number(one.value),
            _interval(one.low, one.high, ".4f", _why(one, _WHY)),
            NONE if one.method == "none" else one.method,
            str(one.n),
            missing(one, english, 4),
        ]
        lines.append([*line, NONE if one.clusters is None else str(one.clusters)] if grouped else line)
    terminal.table(heads, lines, left={*titles, "method"})


def _verdict(one: Comparison) -> str:
    """The word, with the groups or the margin that it rests on."""
    verdict = verdicts.said(one, translator("en"))
    if one.verdict is Verdict.SAME:
        verdict += f" within ±{one.margin:g}"
    elif one.p_equivalence is not None:
        verdict += f"; p of equivalence within ±{one.margin:g}: {one.p_equivalence:.4f}"
    return verdict


def _why(one: Estimate | Comparison, reasons: Mapping[str, str]) -> str:
    """Why there is no interval; a single group has no spread, whatever is in it."""
    return "a single group" if one.clusters == 1 else reasons.get(one.note, one.note)


def _pair(one: Comparison) -> str:
    return f"{one.challenger} − {one.baseline}"


def _number(value: float | None, form: str = ".4f") -> str:
    return NONE if value is None or value != value else format(value, form)


def _interval(low: float | None, high: float | None, form: str, why: str) -> str:
    if low is None or high is None or low != low or high != high:
        return f"{NONE} {why}".strip()
    return f"{format(low, form)} … {format(high, form)}"
