"""What judges made of answers, as a measurement keeps it; no row, of whatever version or status, stops a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ragbench.metrics import rulings as ruled
from ragbench.metrics.explanation import reason_in, spoken
from ragbench.metrics.rulings import Detail, Ruling, Rulings
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown

__all__ = ["KINDS", "Ruling", "Rulings", "reason", "rows", "rulings", "stored", "word"]


def rows(material: Material) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Judgements by system and sample, in the order in which they were measured."""
    judgements: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows_of(material.kept("judgements")):
        judgements.setdefault((str(row["system"]), str(row["sample"])), []).append(row)
    return judgements


@lru_cache(maxsize=4096)
def stored(text: Any) -> Detail:
    """A judgement's detail, as it is stored; empty where that cannot be read."""
    try:
        detail = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return detail if isinstance(detail, dict) else {}


def reason(material: Material, given: Any, detail: Detail) -> str:
    """Why a score is what it is, in the page's language; `given` is its reason where no sentences are kept."""
    said = detail.get("explanation")
    if said:
        try:
            return spoken(said, material.text)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # sentences that another version has kept
            pass
    return clean(reason_in(str(given), material.text))


def rulings(material: Material, detail: Detail, texts: Mapping[str, str] | None = None) -> Iterator[Rulings]:
    """The verdicts of one judgement, its texts cleaned. texts: passages by id, to be read with them."""
    for ruling in ruled.rulings(detail, material.text, texts):
        lines = tuple(
            replace(
                line,
                statement=clean(line.statement),
                verdict=clean(line.verdict),
                reason=clean(reason_in(line.reason, material.text)),
                led_by=clean(line.led_by),
            )
            for line in ruling.lines
        )
        yield Rulings(ruling.title, lines, tuple(map(clean, ruling.headings)), ruling.of)


KINDS = {
    **dict.fromkeys(("supported", "useful", "committal", "yes", "full"), "rb-better"),
    **dict.fromkeys(("contradicted", "useless", "noncommittal", "no", "none"), "rb-worse"),
}
"""The class of a verdict's mark."""


def word(material: Material, verdict: str) -> str:
    """A verdict's word in the page's language."""
    said = ruled.word(verdict, material.text)
    return said if said != verdict else shown(verdict, 80)
