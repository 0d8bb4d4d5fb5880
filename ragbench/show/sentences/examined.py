"""What a page says of a data set that was looked over: what was found, what it does, what was not looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.bench.data.persons import NEEDED
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.sentences import oddities

Row = Mapping[str, Any]


def sentences(material: Material) -> list[Markup]:
    """What changes numbers, each with what it does; in a word what does not."""
    _, known = material.text, material.facts
    every = found(material)
    telling = [row for kind, rows in every.items() if kind not in oddities.HARMLESS for row in rows]
    said = []
    for row in telling:
        first, *more = told(material, row)
        said.append(html.p(html.strong(first)) + html.all(*map(html.more, more)))
    texts = [
        _.plural("{n} question", "{n} questions", int(known.get("n_questions") or 0)),
        _.plural("{n} passage", "{n} passages", int(known.get("n_chunks") or 0)),
    ]
    if not said:
        nothing = _("Nothing was found in {texts} that makes numbers better or worse.", texts=_.enumeration(texts))
        said.append(html.p(html.strong(nothing)))
    quiet = [oddities.heading(kind, _) for kind in every if kind in oddities.HARMLESS]
    if quiet:
        said.append(html.more(_("Also found: {what}.", what="; ".join(quiet))))
    return said


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    return [
        _(
            "Texts are compared by their words: case, signs and blanks do not tell two apart. Nearly the same are two "
            "whose character n-grams are at most 0.03 apart (cosine distance); of questions their numbers must agree."
        ),
        _(
            "A language is told for texts of five words and more (py3langid), another one than the data set's only "
            "where the model is 90% sure. Telephones are those that phonenumbers holds valid; names are those that "
            "Slovnet finds in Russian texts, in {n} texts of a table at most.",
            n=_.integer(int(material.facts.get("sampled", 0))),
        ),
    ]


def found(material: Material) -> dict[str, list[Row]]:
    """The rows of what was found, by kind, in the order in which it was looked for."""
    by_kind: dict[str, list[Row]] = {}
    for row in rows_of(material.kept("oddities")):
        if row["found"]:
            by_kind.setdefault(str(row["kind"]), []).append(row)
    return by_kind


def told(material: Material, row: Row) -> list[str]:
    """The sentences on a row that was found."""
    _ = material.text
    numbers = next(
        (one for one in _measured(material) if (one["kind"], one["table"]) == (row["kind"], row["table"])), {}
    )
    return oddities.Saying(
        str(row["kind"]),
        str(row["table"]),
        int(row["found"]),
        int(row["of"]),
        {name: float(value) for name, value in numbers.items() if name not in ("kind", "table") and value is not None},
        oddities.language(str(material.facts.get("data_language")), _),
        _,
    ).sentences()


def absent(material: Material) -> list[str]:
    """What was looked for and not found, and what was not looked for, in a sentence each."""
    _, there = material.text, found(material)
    rows = rows_of(material.kept("oddities"))
    looked = dict.fromkeys(str(row["kind"]) for row in rows if _looked(row))
    names = [oddities.heading(kind, _) for kind in looked if kind not in there]
    said = [_("Looked for and not found: {what}.", what="; ".join(names))] if names else []
    left = [row for row in rows if row["kind"] == "name" and not _looked(row)]
    if any(one.get("russian") for one in _measured(material) if one["kind"] == "name"):
        said.append(_("Names of people were not looked for: this needs {command}.", command=NEEDED))
    elif left:
        said.append(
            _("Names of people were not looked for in texts without Russian letters: there is no finder for these.")
        )
    return said


def _looked(row: Row) -> bool:
    import pandas as pd

    return bool(pd.notna(row["of"]))


def _measured(material: Material) -> Sequence[Row]:
    known: Sequence[Row] = material.facts.get("consequences", ())
    return known
