"""The facts that a page's answer stands on, what it is a part of, and what must be read with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core import raised, stand_ins, unidentified
from ragbench.core.language import Translator
from ragbench.core.parts import Part, Text, terms
from ragbench.core.stand_ins import caveat
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences import descriptions, judges


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
    own = sentence(material)
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


def told(_: Translator, facts: Mapping[str, Any] | None) -> str:
    """Who told the refusals, and how well the rule tells them; empty without facts (`refusals` of a measurement)."""
    if not facts:
        return ""
    if facts["by"] != "rule":
        return _(
            "Which answers are refusals the judge {judge} said, asked of each whole answer.", judge=clean(facts["by"])
        )
    return _(
        "Refusals are told by a rule over the words of the whole answer, not by a judge. Of {refusals} refusals that "
        "people labelled among {answers} English answers of {systems} systems, on which it was made, it finds {found} "
        "(recall {recall}); of {taken} answers that it takes for refusals {found} are (precision {precision}).",
        **{name: _.integer(int(facts[name])) for name in ("refusals", "answers", "systems", "found", "taken")},
        recall=_.number(float(facts["recall"])),
        precision=_.number(float(facts["precision"])),
    )


def sentence(material: Material) -> str:
    """One line on what of a measurement the page shows; empty for a page on all of it."""
    _, part = material.text, material.facts.get("part")
    if not part:
        return ""
    said = []
    if part["condition"]:
        counts = {"n": _.integer(part["n"]), "of": _.integer(part["of"])}
        said.append(_("A part of what was measured: {n} of {of} questions ({condition}).", **counts,
                      condition=part["condition"]))  # fmt: skip
    if part["systems"]:
        baseline, challenger = part["systems"]
        said.append(_("{challenger} against {baseline} alone, in families of their own.", challenger=challenger,
                      baseline=baseline))  # fmt: skip
    if part["left_out"]:
        words = _left_out(_)
        kinds = ", ".join(words.get(kind, kind) for kind in part["left_out"])
        said.append(_("Left out, because what is stored of single questions does not give it: {kinds}.", kinds=kinds))
    return " ".join(said)


def _left_out(_: Translator) -> Mapping[str, str]:
    return {
        "indexes": _("exact search against an index"),
        "lengths": _("lengths of answers"),
        "habits": _("how users ask"),
        "labels": _("what people's labels correct"),
        "blame": _("which part failed first"),
        "curves": _("curves over the depth of the ranking"),
        "people": _("correlations with people's ratings"),
    }
