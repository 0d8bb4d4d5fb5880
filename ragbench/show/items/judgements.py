"""What judges made of answers, as a measurement keeps it; no row, of whatever version or status, stops a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from ragbench.metrics.claims import UNJUDGED
from ragbench.metrics.explanation import reason_in, spoken
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import clean, shown

Detail = Mapping[str, Any]
SIDES = ("response", "reference")


@dataclass(frozen=True)
class Ruling:
    """A statement with its verdict, or whatever a metric gives verdicts on; empty where there is nothing.

    chunks: ids of the passages cited. led_by: the kind of passage that led to the statement. cosine: of a question.
    """

    statement: str = ""
    verdict: str = ""
    reason: str = ""
    chunks: tuple[str, ...] = ()
    led_by: str = ""
    cosine: float | None = None


@dataclass(frozen=True)
class Rulings:
    """The rulings of one kind under their title; headings: what stands above them where a judgement has several.

    of: whose statements they are, "response" or "reference", "passages" where they are on passages; else empty.
    """

    title: str
    lines: tuple[Ruling, ...]
    headings: tuple[str, ...] = ()
    of: str = ""


def rows(material: Material) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Judgements by system and sample, in the order in which they were measured."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows_of(material.kept("judgements")):
        found.setdefault((str(row["system"]), str(row["sample"])), []).append(row)
    return found


@lru_cache(maxsize=4096)
def stored(text: Any) -> Detail:
    """A judgement's detail, as it is stored; empty where that cannot be read."""
    try:
        found = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def reason(material: Material, given: Any, detail: Detail) -> str:
    """Why a score is what it is, in the page's language; `given` is its reason where no sentences are kept."""
    said = detail.get("explanation")
    if said:
        try:
            return spoken(said, material.text)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # sentences that another version has kept
            pass
    return reason_in(clean(given), material.text)


def rulings(material: Material, detail: Detail, texts: Mapping[str, str] | None = None) -> Iterator[Rulings]:
    """The verdicts of one judgement, whatever its metric keeps them as. texts: passages by id, to be read with them."""
    _ = material.text
    titles = {"response": _("Claims of the response"), "reference": _("Claims of the reference")}
    claims = _mapping(detail.get("claims"))
    made = [Rulings(_("Statements and verdicts"), _lines(detail.get("statements")), of=SIDES[0])]
    made += [Rulings(titles[side], _lines(claims.get(side)), (titles[side],), side) for side in SIDES]
    passages = tuple(
        replace(one, statement="" if texts is None else texts.get(name, name), chunks=(name,))
        for one, name in _named(detail.get("chunks"), "chunk")
    )
    made.append(Rulings(_("Passages and verdicts"), passages, of="passages"))
    asked = tuple(replace(one, statement=text) for one, text in _named(detail.get("questions"), "question"))
    made.append(Rulings(_("Questions that the answer would answer"), asked))
    made.append(Rulings(_("Repeats and verdicts"), _lines(detail.get("verdicts"))))
    yield from (one for one in made if one.lines)
    for name, part in _mapping(detail.get("parts")).items():
        for place, one in enumerate(rulings(material, _mapping(part), texts)):
            yield replace(one, headings=(clean(name), *one.headings)) if not place else one


def _lines(given: Any) -> tuple[Ruling, ...]:
    return tuple(_ruling(each) for each in _list(given))


def _named(given: Any, key: str) -> list[tuple[Ruling, str]]:
    """Rulings with what they are on, which is under `key`; those that have nothing there are left out."""
    return [(_ruling(each), str(name)) for each in _list(given) if (name := _mapping(each).get(key)) is not None]


def _ruling(given: Any) -> Ruling:
    """A ruling from its row. Older versions kept statements without a verdict as plain texts."""
    if not isinstance(given, Mapping):
        return Ruling(statement=clean(given))
    cosine = given.get("cosine")
    return Ruling(
        clean(given.get("statement")),
        clean(given.get("verdict") or given.get("manner")),
        clean(given.get("reason")),
        tuple(map(str, _list(given.get("chunks")))),
        clean(given.get("led_by")),
        float(cosine) if isinstance(cosine, int | float) and math.isfinite(cosine) else None,
    )


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []


KINDS = {
    **dict.fromkeys(("supported", "useful", "committal", "yes"), "rb-better"),
    **dict.fromkeys(("contradicted", "useless", "noncommittal", "no"), "rb-worse"),
}
"""The class of a verdict's mark."""


def word(material: Material, verdict: str) -> str | Markup:
    """A verdict's word in the page's language."""
    _ = material.text
    words = {
        "supported": _("supported"),
        "contradicted": _("contradicted"),
        "neutral": _("neither"),
        "useful": _("useful"),
        "useless": _("useless"),
        "committal": _("committal"),
        "noncommittal": _("noncommittal"),
        "relevant": _("a relevant passage"),
        "irrelevant": _("an irrelevant passage"),
        "yes": _("yes"),
        "no": _("no"),
        UNJUDGED: _("no verdict"),
    }
    return words.get(verdict) or shown(verdict, 80)
