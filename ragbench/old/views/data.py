"""What is in a data set: how long its texts are, in which languages, what is odd in it, and what annexes say of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offered, taken
from ragbench.old.core.parts import Content, Entries, Figure, Text
from ragbench.old.tiers.data.dataset import LanguageRow, LengthRow, OddTextRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.chart import Bars
from ragbench.old.views.basics.marks import example, left, rows_of, with_examples
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shortened
from ragbench.old.views.sentences.data_sets import absent, data_language, heading, language, looked, table, told
from ragbench.old.views.view import view

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["further", "oddities", "sizes"]

MOST_BARS = 15  # labels beside one another at 390 pixels
LAST = 0.99
"""Of the texts are in the bars before the last one, which holds all that are longer."""
# 1, 2 and 5 of each power of ten: widths that ticks can name
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


@view("sizes")
def sizes(material: Material, present: frozenset[str]) -> Content:
    """How many words the texts of each table have, and in which languages they are."""
    drawn = panels(material)
    if not drawn:
        return Text(material.text("There are no texts to show."))
    return (
        Figure(_title(material), chart.plots(material, drawn), look="rb-maps"),
        Entries(_languages(material), "rb-notes"),
    )


def _title(material: Material) -> str:
    _, lengths = material.text, material.kept("lengths")
    halves = {
        table(name, _): _half(own)
        for name in ("questions", "passages", "log")
        if len(own := lengths[lengths["table"] == name])
    }
    parts = [
        _.plural("{texts}: half have {n} word or fewer", "{texts}: half have {n} words or fewer", n, texts=texts)
        for texts, n in list(halves.items())[:2]
    ]
    return "; ".join(parts) or _("How long the texts are")


def _half(own: pd.DataFrame) -> int:
    """The lowest number of words that half of the texts do not exceed."""
    passed = own["texts"].cumsum() * 2 >= own["texts"].sum()
    return int(own["words"][passed].iloc[0])


def panels(material: Material) -> list[Bars]:
    """A chart of lengths for each table."""
    _, lengths = material.text, material.kept("lengths", "words")
    names = list(dict.fromkeys(lengths["table"])) if len(lengths) else []
    return [_bars(material, str(name), lengths[lengths["table"] == name]) for name in names]


def _bars(material: Material, name: str, own: pd.DataFrame) -> Bars:
    _, total = material.text, int(own["texts"].sum())
    reach = int(own["words"][own["texts"].cumsum() >= LAST * total].iloc[0])
    step = next(step for step in STEPS if reach // step < MOST_BARS)
    last = reach // step
    counts: Counter[int] = Counter()
    for row in rows_of(LengthRow, own):
        counts[min(row["words"] // step, last + 1)] += row["texts"]
    places = range(min(counts), max(counts) + 1)
    names = [
        f"{_.integer(place * step)}+" if place > last
        else _.integer(place) if step == 1
        else f"{_.integer(place * step)}–{_.integer(place * step + step - 1)}"
        for place in places
    ]  # fmt: skip
    said = [_.plural("{n} text", "{n} texts", counts[place]) for place in places]
    return Bars(_("{texts}, words", texts=table(name, _)), names, [counts[place] for place in places], said)


def _languages(material: Material) -> list[str]:
    """The languages of each table, in words; of a part of it where they were told of a part."""
    _ = material.text
    by_table: dict[str, list[str]] = {}
    texts: dict[str, int] = {}
    for row in rows_of(LengthRow, material.kept("lengths")):
        texts[row["table"]] = texts.get(row["table"], 0) + row["texts"]
    for detected in rows_of(LanguageRow, material.kept("languages")):
        texts[detected["table"]] -= detected["texts"]
        name = language(detected["language"], _) if detected["language"] else _("too short or unsure to tell")
        by_table.setdefault(detected["table"], []).append(f"{name} {_.integer(detected['texts'])}")
    for name, parts in by_table.items():
        if texts[name]:
            parts.append(_("not looked at {n}", n=_.integer(texts[name])))
    return [f"{table(name, _)}: {', '.join(parts)}" for name, parts in by_table.items()]


LONGEST = 240  # three lines of a page


@view("oddities")
def oddities(material: Material, present: frozenset[str], count: int = 5) -> Content:
    """What is odd in the data set: how many texts, what it does to the numbers, and the first of the texts."""
    _ = material.text
    every, texts = looked(material), material.kept("odd_texts")
    parts = list[Content]()
    for kind in dict.fromkeys(oddity.kind for oddity in every if oddity.found):
        alike = [oddity for oddity in every if oddity.kind == kind and oddity.found]
        lines = [line for oddity in alike for line in told(oddity, data_language(material), _)]
        examples = [_example(row) for row in rows_of(OddTextRow, texts[texts["kind"] == kind])[:count]]
        more = left(material, sum(oddity.found for oddity in alike), count)
        parts.append(with_examples(_, heading(kind, _), lines, examples, more))
    return (parts, list(map(Text, absent(every, _))), _left_out(material))


def _left_out(material: Material) -> Content:
    """What did not get into the data set when it was loaded."""
    reasons = material.facts.get("left_out") or {}
    if not reasons:
        return ()
    _ = material.text
    what = "; ".join(f"{_.integer(int(count))} × {shortened(reason, LONGEST)}" for reason, count in reasons.items())
    return Text(_("Left out when the data set was loaded: {what}.", what=what))


def _example(row: OddTextRow) -> Content:
    texts = (row["id"], row["text"], row["other"], row["other_text"])
    return example(*(shortened(text, LONGEST) for text in texts))


@view("further")
def further(material: Material, present: frozenset[str]) -> Content:
    """What annexes found out about the data set: of drafted questions, what each filter dropped."""
    return [taken("examined", name).parts(material) for name in offered("examined")]
