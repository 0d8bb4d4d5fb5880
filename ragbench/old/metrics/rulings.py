"""What a judge ruled on each statement, passage or question of one score, whatever its metric keeps that as."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragbench.old.metrics.claims import UNJUDGED
from ragbench.old.metrics.explanation import Speaker, reason_in

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


def rulings(detail: Detail, _: Speaker, texts: Mapping[str, str] | None = None) -> Iterator[Rulings]:
    """The verdicts of one judgement from `Score.detail`, as the judge gave them; none of what another version has kept
    otherwise. texts: passages by id, to be read with them."""
    titles = {"response": _("Claims of the response"), "reference": _("Claims of the reference")}
    claims = _mapping(detail.get("claims"))
    made = [Rulings(_("Statements and verdicts"), _lines(detail.get("statements")), of=SIDES[0])]
    made.append(Rulings(_("Nuggets and verdicts"), _lines(detail.get("nuggets")), of=SIDES[1]))
    made += [Rulings(titles[side], _lines(claims.get(side)), (titles[side],), side) for side in SIDES]
    passages = tuple(
        replace(line, statement="" if texts is None else texts.get(name, name), chunks=(name,))
        for line, name in _named(detail.get("chunks"), "chunk")
    )
    made.append(Rulings(_("Passages and verdicts"), passages, of="passages"))
    asked = tuple(replace(line, statement=text) for line, text in _named(detail.get("questions"), "question"))
    made.append(Rulings(_("Questions that the answer would answer"), asked))
    made.append(Rulings(_("Repeats and verdicts"), _lines(detail.get("verdicts"))))
    yield from (ruled for ruled in made if ruled.lines)
    for name, part in _mapping(detail.get("parts")).items():
        for place, group in enumerate(rulings(_mapping(part), _, texts)):
            yield replace(group, headings=(str(name), *group.headings)) if not place else group


def told(detail: Detail, _: Speaker) -> Iterator[str]:
    """The same as lines to be read: the verdict, what it is on, the judge's reason, the passages that it cites."""
    for group in rulings(detail, _):
        yield from (f"{heading}:" for heading in group.headings)
        for line in group.lines:
            text = _("“{quoted}”", quoted=line.statement) if line.statement else ""
            cosine = "" if line.cosine is None else _.number(line.cosine)
            said = [word(line.verdict, _), text, cosine, reason_in(line.reason, _), ", ".join(line.chunks)]
            yield " · ".join(filter(None, said))


def word(verdict: str, _: Speaker) -> str:
    """A verdict's word in the reader's language; one of another version as it stands."""
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
        "full": _("in full"),
        "partial": _("in part"),
        "none": _("not at all"),
        "uncited": _("cites nothing"),
        "yes": _("yes"),
        "no": _("no"),
        UNJUDGED: _("no verdict"),
    }
    return words.get(verdict, verdict)


def _lines(given: Any) -> tuple[Ruling, ...]:
    return tuple(_ruling(each) for each in _list(given))


def _named(given: Any, key: str) -> list[tuple[Ruling, str]]:
    """Rulings with what they are on, which is under `key`; those that have nothing there are left out."""
    return [(_ruling(each), str(name)) for each in _list(given) if (name := _mapping(each).get(key)) is not None]


def _ruling(given: Any) -> Ruling:
    given = _mapping(given)
    cosine = given.get("cosine")
    return Ruling(
        _text(given.get("statement")),
        _text(given.get("verdict") or given.get("manner")),
        _text(given.get("reason")),
        tuple(map(str, _list(given.get("chunks")))),
        _text(given.get("led_by")),
        float(cosine) if isinstance(cosine, int | float) and math.isfinite(cosine) else None,
    )


def _text(given: Any) -> str:
    return "" if given is None or given != given else str(given)


def _mapping(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _list(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else []


def suspected(detail: Mapping[str, Any]) -> tuple[str, ...]:
    """What of a score's texts seems to address a judge, as "slot: pattern"; of a panel and of parts all together."""
    flags = dict.fromkeys(map(str, detail.get("suspected_injection") or ()))
    for part in (detail.get("parts") or {}).values():
        flags |= dict.fromkeys(suspected(part) if isinstance(part, Mapping) else ())
    for judge in (detail.get("judges") or {}).values():
        flags |= dict.fromkeys(suspected(judge["detail"]))
    return tuple(flags)
