"""What is odd in a data set: counts, what each does to the numbers, and the texts themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.parts import Content, Text
from ragbench.views.basics.entries import example, rows_of, with_examples
from ragbench.views.basics.links import left
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shortened
from ragbench.views.sentences import examined
from ragbench.views.sentences.oddities import heading
from ragbench.views.view import view

LONGEST = 240


@view("oddities")
def oddities(material: Material, present: frozenset[str], count: int = 5) -> Content:
    """What is odd in the data set: how many texts, what it does to the numbers, and the first of the texts."""
    _ = material.text
    every, texts = examined.looked(material), material.kept("odd_texts")
    parts = list[Content]()
    for kind in dict.fromkeys(oddity.kind for oddity in every if oddity.found):
        alike = [oddity for oddity in every if oddity.kind == kind and oddity.found]
        lines = [line for oddity in alike for line in examined.told(oddity, examined.language(material), _)]
        examples = [_example(row) for row in rows_of(texts[texts["kind"] == kind])[:count]]
        more = left(material, sum(oddity.found for oddity in alike), count)
        parts.append(with_examples(_, heading(kind, _), lines, examples, more))
    return (parts, list(map(Text, examined.absent(every, _))), _left_out(material))


def _left_out(material: Material) -> Content:
    """What did not get into the data set when it was loaded."""
    reasons = material.facts.get("left_out") or {}
    if not reasons:
        return ()
    _ = material.text
    what = "; ".join(f"{_.integer(int(count))} × {shortened(reason, LONGEST)}" for reason, count in reasons.items())
    return Text(_("Left out when the data set was loaded: {what}.", what=what))


def _example(row: Mapping[str, Any]) -> Content:
    return example(*(shortened(row[name], LONGEST) for name in ("id", "text", "other", "other_text")))
