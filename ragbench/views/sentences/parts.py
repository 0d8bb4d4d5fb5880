"""What a page is a part of: some questions of a measurement, or two of its systems, and what is left out for it."""

from __future__ import annotations

from collections.abc import Mapping

from ragbench.core.language import Translator
from ragbench.views.basics.material import Material


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
