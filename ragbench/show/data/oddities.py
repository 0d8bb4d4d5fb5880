"""What is odd in a data set: counts, what each does to the numbers, and the texts themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.links import left
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import drawn, html
from ragbench.show.basics.text import shortened
from ragbench.show.sentences.examined import absent, found, told
from ragbench.show.sentences.oddities import heading
from ragbench.show.view import view

LONGEST = 240


@view("oddities")
def oddities(material: Material, present: frozenset[str], count: int = 5) -> Markup:
    """What is odd in the data set: how many texts, what it does to the numbers, and the first of the texts."""
    _ = material.text
    parts = []
    for kind, rows in found(material).items():
        lines = [line for row in rows for line in told(material, row)]
        texts = material.kept("odd_texts")
        own = rows_of(texts[texts["kind"] == kind])
        examples = [_example(row) for row in own[:count]]
        total = sum(int(row["found"]) for row in rows)
        more = left(material, total, count) if examples else Markup("")
        parts.append(drawn("oddity", _, heading=heading(kind, _), lines=lines, examples=examples, more=more))
    return html.all(*parts, *map(html.p, absent(material)))


def _example(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: shortened(row[name], LONGEST) for name in ("id", "text", "other", "other_text")}
