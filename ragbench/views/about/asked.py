"""What a measurement was asked for: the parameters of its notebook, with the values that were used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.parts import Content, Phrase, Section, Styled, Table
from ragbench.views.about.provenance import PLAIN, flat
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown

EMPTY: tuple[Any, ...] = ("", None, [])


def parameters(material: Material) -> Content:
    """Every parameter with its value, its default where that is another, and its line of help, folded.

    Nothing of a measurement that did not keep what it was asked for.
    """
    _ = material.text
    asked = [
        parameter
        for parameter in material.facts.get("request") or ()
        if isinstance(parameter, Mapping) and parameter.get("name")
    ]
    if not asked:
        return ()
    changed = sum(parameter.get("value") != parameter.get("default") for parameter in asked)
    summary = _("Parameters of this measurement: all at their defaults")
    if changed:
        summary = _.plural(
            "Parameters of this measurement: {n} differs from its default",
            "Parameters of this measurement: {n} differ from their defaults",
            changed,
        )
    heads = [
        (_("parameter"), "rb-word"),
        (_("value"), "rb-word"),
        (_("default"), "rb-word"),
        (_("meaning"), "rb-word"),
    ]
    table = Table.of(
        _, _("Parameters of this measurement"), heads, [_row(material, parameter, asked) for parameter in asked]
    )
    return Section([table], summary)


def _row(material: Material, parameter: Mapping[str, Any], asked: Sequence[Mapping[str, Any]]) -> list[Phrase]:
    _ = material.text
    name, value, default = str(parameter["name"]), parameter.get("value"), parameter.get("default")
    used = _resolved(material, name, [each.get("value") for each in asked]) if value in EMPTY else None
    other = shown(_("the same")) if value == default else _written(material, name, default)
    return [
        Styled(shown(name), "code"),
        _written(material, name, value) if used is None else used,
        other,
        shown(_(clean(parameter.get("help")))),
    ]


def _written(material: Material, name: str, value: Any) -> Phrase:
    """A value; what is empty, yes or no as the notebook and the lines of help write it."""
    if isinstance(value, bool) or value in EMPTY:
        return Styled('""' if value == "" else str(value), "code")
    return shown(value) if name in PLAIN else flat(material, value)


def _resolved(material: Material, name: str, asked: Sequence[Any]) -> Phrase | None:
    """What an empty parameter came to, where the facts say it by the same name; else None.

    A text that another parameter asked for came from there: `dataset` is a file of answers where one was named.
    """
    known = material.facts.get(name)
    if isinstance(known, str) and known in asked:
        return None
    if isinstance(known, list):
        names = [entry.get("name") if isinstance(entry, Mapping) else entry for entry in known]
        known = names if all(isinstance(word, str) and word for word in names) else None
    if known in EMPTY or not isinstance(known, str | int | float | list):
        return None
    return flat(material, known)
