"""What is said of how refusals were told, wherever numbers rest on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.language import Translator
from ragbench.views.basics.text import clean


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
