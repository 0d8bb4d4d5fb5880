"""Blame as one bar a system: what became of the questions that can be answered, part after part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.language import DASH
from ragbench.core.parts import Column, Content, Drawing, Entries, Phrase, Table, Text, Value
from ragbench.views.basics.first_failures import ANSWERABLE, GOOD, UNMEASURED, Blamed
from ragbench.views.basics.marks import named

WRITTEN = 0.07
"""From this share of the width on a piece has room for its number."""


def bars(blamed: Blamed, of: str = "") -> Content:
    """A bar a system, its pieces in the order of work, and the share of good answers with its interval.

    of: the page's title, where bars of several stand on one page.
    """
    _ = blamed.material.text
    parts = [part for part in (*_parts(blamed), UNMEASURED) if any(_count(blamed, s, part) for s in blamed.systems)]
    legend = [(Drawing("swatch", {"part": _kind(part), "text": ""}), blamed.name(part)) for part in parts]
    title = _("What became of the questions")
    level = _.percent(next((e.level for e in blamed.shares.values()), 0.95))
    columns = (
        Column(_("system")),
        Column(_("share of the questions that can be answered"), look="rb-drawn"),
        Column((blamed.name(GOOD), ", ", _("{level} interval", level=level)), "interval", label=blamed.name(GOOD)),
    )
    rows = [
        (named(blamed.material, system), _bar(blamed, system, parts), _good(blamed, system))
        for system in blamed.systems
    ]
    counted = blamed.material.population(sum(blamed.measured(system, ANSWERABLE)) for system in blamed.systems)
    said = _("share of the questions that can be answered ({population})", population=counted)
    label = f"{title}: {of}" if of else title
    table = Table(columns, tuple(rows), label, language=_.language, look="rb-forest rb-blame")
    return (Entries(legend, "rb-legend"), table, Text(said, "rb-axis"))


def _parts(blamed: Blamed) -> Sequence[str]:
    """Good answers first, so that their bars begin at one line."""
    return (GOOD, *reversed([part for part in blamed.parts(ANSWERABLE) if part != GOOD]))


def _count(blamed: Blamed, system: str, part: str) -> int:
    return blamed.measured(system, ANSWERABLE)[1] if part == UNMEASURED else blamed.count(system, part)


def _bar(blamed: Blamed, system: str, parts: Sequence[str]) -> Phrase:
    _ = blamed.material.text
    total = sum(blamed.measured(system, ANSWERABLE))
    pieces: list[Mapping[str, Any]] = []
    start = 0.0
    for part in parts:
        count = _count(blamed, system, part)
        if not count:
            continue
        share = count / total
        said = _("{part}: {count} of {n} ({share})", part=blamed.name(part), count=_.integer(count), n=_.integer(total),
                 share=_.percent(share))  # fmt: skip
        pieces.append(
            {
                "part": _kind(part),
                "start": round(100 * start, 3),
                "width": round(100 * share, 3),
                "middle": round(100 * (start + share / 2), 3),
                "text": _.percent(share) if share >= WRITTEN else "",
                "said": said,
            }
        )
        start += share
    said = "; ".join(str(piece["said"]) for piece in pieces)
    return Drawing("stack", {"label": said, "segments": pieces}) if pieces else DASH


def _kind(part: str) -> str:
    """The part as the style sheet names it."""
    return part.replace("_", "-")


def _good(blamed: Blamed, system: str) -> Value | None:
    share = blamed.share(system, GOOD)
    return None if share is None else Value.of(share, percent=True, bare=True)
