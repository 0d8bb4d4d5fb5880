"""What a cache would save: what the answers that it serves took to write, in tokens, money and seconds."""

from __future__ import annotations

from typing import Any

from ragbench.core.parts import Content, Number, Table, Text
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.sentences.continuity import kind_name

DIGITS = {"input_tokens": 0, "output_tokens": 0, "cost": 4, "seconds": 1}


def savings(material: Material) -> Content:
    """A row for each kind of questions, embedder and generator; a sentence where no model's replies are known."""
    _, rows = material.text, rows_of(material.kept("savings"))
    known = [row for row in rows if int(row["replies"])]
    title = _("What the hits would save")
    if not known:
        if not len(material.kept("caches")):
            return ()
        unknown = _(
            "What the hits would save is unknown: the journal has no answers of the models that write for these "
            "systems. ragbench run tier2_generation has some written."
        )
        return Text(unknown, "rb-meta")
    heads = (_("embedder"), (_("asked"), "rb-word"), (_("generator"), "rb-word"), _("served"), _("tokens read"),
             _("tokens written"), _("cost"), _("seconds"))  # fmt: skip
    body = [
        [
            named(material, str(row["system"])),
            kind_name(material, row["asked"]),
            shown(row["generator"], 60),
            int(row["hits"]),
            *(Number(_value(row[key]), digits) for key, digits in DIGITS.items()),
        ]
        for row in known
    ]
    replies = {str(row["generator"]): int(row["replies"]) for row in known}
    note = _(
        "Served × the mean reply of each generator that the journal keeps ({replies}). A hit that is wrong saves "
        "nothing; what embedding the question takes is not taken off.",
        replies=", ".join(f"{shown(name, 60)}: {_.integer(count)}" for name, count in replies.items()),
    )
    return (Text(title, "h3"), Table.of(_, title, heads, body), Text(note, "rb-meta"))


def _value(number: Any) -> float | None:
    return None if number is None else float(number)
