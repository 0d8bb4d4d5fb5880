"""The facts that a page's answer stands on, and what must be read with it."""

from __future__ import annotations

from typing import Any

from ragbench.core import raised, stand_ins, unidentified
from ragbench.core.parts import Part, Text, terms
from ragbench.core.stand_ins import caveat
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.sentences import descriptions, judges, parts


def facts(material: Material) -> list[Part]:
    """The line of facts under the answer."""
    _, known = material.text, material.facts
    rows: list[tuple[str, Any]] = [(_("data set"), known.get("dataset"))]
    if known.get("n_questions") is not None:
        rows.append((_("questions"), _.integer(int(known["n_questions"]))))
    rows += [
        (_("texts"), None if known.get("n_texts") is None else _.integer(int(known["n_texts"]))),
        (_("distance"), descriptions.distance_name(material) if known.get("distance") else None),
        (_("unit"), unit(material)),
        (_("baseline"), material.baseline),
        (_("seed"), known.get("seed")),
        (_("judge"), known.get("judge")),
        (_("commit"), short_commit(known.get("commit"))),
    ]
    line = terms([(name, shown(value)) for name, value in rows if value not in (None, "")], "rb-facts")
    broken = [Text(shown(text), "rb-standin") for text in raised.warnings(known, _)]
    broken += [Text(shown(text), "rb-standin") for text in unidentified.sentences(unidentified.of(known).values(), _)]
    own = parts.sentence(material)
    part = [Text(own, "rb-standin")] if own else []
    return [line, *part, *broken, *judges.incomplete(material), *standing_in(material)]


def short_commit(commit: Any) -> str | None:
    """The first seven signs, and the plus sign of a checkout with changes."""
    text = str(commit or "")
    return text[:7] + ("+" if text.endswith("+") else "") if text else None


def unit(material: Material) -> str | None:
    """The word for what is ranked."""
    _ = material.text
    named = material.facts.get("unit")
    return {"chunk": _("passage"), "url": _("web page")}.get(str(named), named)


def standing_in(material: Material) -> list[Part]:
    """The sentence on what only stands in for a model; none where nothing does."""
    text = caveat(stand_ins.of(material.facts), material.text)
    if not text:
        return []
    return [Text((text, " ", judges.baseline(material)) if judges.stand_ins(material) else text, "rb-standin")]
