"""What a page says of a project's own metrics: the criterion, its scale, the prompt in full, where a function is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.parts import Content, Lines, Section, Text
from ragbench.views.basics.text import shown

LONGEST = 20_000


def said(own: Mapping[str, Any], _: Translator) -> str:
    """What a project declares of a metric beside its meaning, in a line; empty for one of the house as it is."""
    parts = []
    if "scale" in own:
        parts.append(_("scale: {scale}", scale=scale(own["scale"], _)))
        parts.append(_("higher is better") if own["higher_is_better"] else _("lower is better"))
        parts.append(_("the judge is shown: {fields}", fields=", ".join(own["shown"])))
    if own.get("examples"):
        parts.append(_.plural("{n} example in the prompt", "{n} examples in the prompt", int(own["examples"])))
    if "module" in own:
        digest = own["function"] or "?"
        parts.append(_("function of the module {module}, version {digest}", module=own["module"], digest=digest))
    if "prompt" in own:
        parts.append(_("prompt of this project: {names}", names=", ".join(own["prompt"])))
    if "judges" in own:
        parts.append(_("judges of its own: {names}", names=", ".join(own["judges"])))
    return "; ".join(parts)


def scale(given: Any, _: Translator) -> str:
    """A criterion's scale in words."""
    if isinstance(given, str):
        return _("yes or no")
    if isinstance(given[0], str):
        return " < ".join(given)
    return _("from {low} to {high}", low=_.exact(given[0]), high=_.exact(given[1]))


def prompts(told: Mapping[str, Any], _: Translator) -> Content:
    """The prompts in full, folded, in the page's language where they have it; empty where a project changed none."""
    if not {"scale", "prompt"} & told["own"].keys():
        return ()
    made = []
    for name, texts in told["prompts"].items():
        text = texts.get(_.language) or next(iter(texts.values()))
        lines = Lines([shown(line, LONGEST) for line in text.splitlines()])
        made.append(Section([Text(lines)], _("The prompt {name}", name=name)))
    return made
