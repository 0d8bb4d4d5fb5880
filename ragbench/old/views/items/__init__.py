"""Every item behind the numbers: a table to search, filter and sort, in JupyterLab and, loaded in parts, in pages.

A part is a JSON value with a name: `table` (every item with its values, column by column), `details-N` (what is known
of each of a block of items), `texts-N` (texts that several items share, each once) and `search` (all that is known of
each item as one text, and which shared texts it has). Texts are cleaned and shortened
here; the page's script writes them as text and never as HTML.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import anywidget
import numpy as np
import traitlets
from markupsafe import Markup

from ragbench.old.core.parts import Content, Drawn, Text, text_of
from ragbench.old.tiers.basics.verdict_tables import statuses
from ragbench.old.views.basics.marks import series
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, is_simple, shortened
from ragbench.old.views.basics.web import GLYPHS, drawn, html
from ragbench.old.views.items.chosen import items_of, wide
from ragbench.old.views.items.contents import (
    APART,
    SHARE,
    Claim,
    Claimed,
    Entry,
    Items,
    Judged,
    Measured,
    Numbers,
    Parting,
    Section,
    Sign,
    placed,
)
from ragbench.old.views.view import view

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["questions"]


BLOCK = 200  # items of one script, which is parsed when one of them is opened
TITLE, LONGEST, SHORTEST = 400, 4000, 300  # of a row, of what it opens, and of that where there are many
CHARACTERS = 8_000_000  # a page of some megabytes opens in a second


def slug(material: Material) -> str:
    """The name of the folder of a measurement's parts."""
    return anchor("of", material.measurement.notebook)


def parts(material: Material) -> Iterator[tuple[str, Any]]:
    """Every part of a measurement, the table first, then blocks of details, then texts that several items share."""
    items = items_of(material)
    made = Parts(items, material.systems)
    yield "table", made.table()
    for number in range(-(-len(items.ids) // BLOCK)):
        yield f"details-{number}", made.details(number)
    for number in range(-(-len(made.texts) // BLOCK)):
        yield f"texts-{number}", made.block_of_texts(number)
    yield "search", made.search()


class Parts:
    """The parts of one table of items, each made when it is asked for. texts: those that items shared so far."""

    def __init__(self, items: Items, systems: Sequence[str]) -> None:
        self._items, self._systems = items, systems
        self._limit = min(LONGEST, max(SHORTEST, CHARACTERS // max(len(items.ids), items.held, 1)))
        self._room = 4 * CHARACTERS // max(len(items.ids), 1)
        self._found: dict[int, tuple[str, list[int]]] = {}
        self._known: dict[str, int] = {}
        self.texts: list[str] = []

    def table(self) -> dict[str, Any]:
        """Items and values by column; rows are named by their place."""
        items = self._items
        return {
            "block": BLOCK,
            "ids": [clean(identifier) for identifier in items.ids],
            "anchors": {
                anchor("q", identifier): place
                for place, identifier in enumerate(items.ids)
                if not is_simple(identifier)
            },
            "texts": [shortened(text, TITLE) for text in items.texts],
            "systems": [clean(name) for name in self._systems],
            "metrics": [_measured(measure) for measure in items.measures],
            "values": [
                [_rounded(measure, name, len(items.ids)) for name in self._systems] for measure in items.measures
            ],
            "missing": {
                f"{place}/{self._systems.index(name)}": {clean(key): list(rows) for key, rows in by_status.items()}
                for place, measure in enumerate(items.measures)
                for name, by_status in measure.missing.items()
                if by_status
            },
            "apart": {
                f"{place}/{self._systems.index(name)}": {str(row): clean(text) for row, text in by_row.items()}
                for place, measure in enumerate(items.measures)
                for name, by_row in measure.apart.items()
                if by_row
            },
            "slices": [_slice(parting) for parting in items.partings if len(set(parting.values)) > 1],
        }

    def named(self, name: str) -> Any:
        """The part of a name; raises KeyError for a name that no part has.

        A block of texts holds those of the details that were asked for before.
        """
        kind, _dash, number = name.partition("-")
        made = {"details": self.details, "texts": self.block_of_texts}
        if name in ("table", "search"):
            return self.table() if name == "table" else self.search()
        if kind not in made or not number.isdecimal():
            raise KeyError(name)
        return made[kind](int(number))

    def details(self, number: int) -> list[dict[str, Any]]:
        """What is known of each item of a block; empty beyond the last."""
        first = number * BLOCK
        return [self.detail(place) for place in range(first, min(first + BLOCK, len(self._items.ids)))]

    def block_of_texts(self, number: int) -> list[str]:
        """A block of the texts that several items share; empty beyond the last."""
        return self.texts[number * BLOCK : (number + 1) * BLOCK]

    def detail(self, place: int) -> dict[str, Any]:
        """All that is known of one item."""
        detail, text = self._items.read(place), self._items.texts[place]
        made: dict[str, Any] = {}
        if detail.title or len(clean(text)) > TITLE:
            made["text"] = shortened(detail.title or text, LONGEST)
        if detail.sections:
            made["sections"] = self._sections(detail.sections)
        if any(detail.sides.values()):
            made["sides"] = [self._sections(detail.sides.get(name, ())) for name in self._systems]
        self._found[place] = self._searched(made)
        return made

    def search(self) -> dict[str, Any]:
        """Of every item all that is known of it as one text, cut where all together would be too long for a browser,
        and the places of its texts among those that are shared."""
        for place in range(len(self._items.ids)):
            if place not in self._found:
                self.detail(place)
        told = [self._found[place] for place in range(len(self._items.ids))]
        return {"own": [text for text, _ in told], "shared": [shared for _, shared in told]}

    def _searched(self, made: Mapping[str, Any]) -> tuple[str, list[int]]:
        own: list[str] = []
        shared: dict[int, None] = {}

        def take(value: Any) -> None:
            if isinstance(value, int):
                shared[value] = None
            elif isinstance(value, str):
                own.append(value)
            elif isinstance(value, Mapping):
                take(value["text"] if "marks" in value else list(value.values()))
            else:  # of an entry no address and no class of a mark
                entry = len(value) > 2 and not isinstance(value[0], list)
                for member in (value[0], value[1], *value[3:4]) if entry else value:
                    take(member)

        take(made)
        return "\n".join(own)[: self._room], list(shared)

    def _sections(self, sections: Sequence[Section]) -> list[Any]:
        return [[clean(lead), self._body(body)] for lead, body in sections]

    def _body(self, body: str | Claimed | Sequence[Entry] | Judged) -> Any:
        if isinstance(body, str):
            return shortened(body, self._limit)
        if isinstance(body, Claimed):
            text = shortened(body.text, self._limit)
            marks, _left = self._marks(text, body.claims)  # those that stand nowhere in it are in the judgements below
            return {"text": text, "marks": marks} if marks else text
        if isinstance(body, Judged):
            said = {"value": body.value, "said": shortened(body.said, self._limit)}
            return {**said, "verdicts": [[title, self._body(lines)] for title, lines in body.verdicts]}
        return [self._entry(entry) for entry in body]

    def _entry(self, entry: Entry) -> list[Any]:
        """[text or its place among those shared, meta, anchor of another item, mark, class of the mark, marks of claims
        in it, claims that stand nowhere in it], cut short."""
        made: list[Any] = [self._shared(entry.text) if entry.shared else shortened(entry.text, self._limit)]
        made += [
            shortened(entry.meta, self._limit),
            anchor("q", self._items.ids[entry.row]) if entry.row is not None else "",
        ]
        made += [clean(entry.mark), entry.kind, *self._marks(shortened(entry.text, self._limit), entry.claims)]
        while len(made) > 1 and not made[-1]:
            made.pop()
        return made

    def _marks(self, text: str, claims: Sequence[Claim]) -> tuple[list[Any], list[Any]]:
        """[start, end, class, signs] of each sentence in which claims stand, and the claims that stand in none; a sign,
        or a claim, is [sign, class, what is said of it]."""
        places, left = placed(text, claims)
        return [[place.start, place.end, place.kind, [*map(self._claim, place.signs)]] for place in places], [
            *map(self._claim, left)
        ]

    def _claim(self, claim: Claim | Sign) -> list[str]:
        return [claim.sign, claim.kind, shortened(claim.said, self._limit)]

    def _shared(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(shortened(text, self._limit))
        return self._known[text]


def _measured(measure: Measured) -> dict[str, Any]:
    of = [clean(name) for name in dict.fromkeys((measure.key, *measure.of))]
    made: dict[str, Any] = {"name": clean(measure.name), "digits": measure.digits, "lower": measure.lower, "of": of}
    made |= ({"words": list(measure.words)} if measure.words else {}) | ({} if measure.paired else {"single": True})
    return made | ({"judged": True} if measure.judged else {})


def _rounded(measure: Measured, system: str, number: int) -> list[float | None]:
    values: Numbers = measure.values.get(system, [None] * number)
    return [None if value is None else round(value, measure.digits) + 0.0 for value in values]


def _slice(parting: Parting) -> dict[str, Any]:
    known = [name for name in parting.words if name in set(parting.values)]
    values = [*known, *sorted({value for value in parting.values if value is not None} - set(known))]
    codes: Mapping[str | None, int] = {value: place for place, value in enumerate(values)}
    return {
        "key": parting.key,
        "name": clean(parting.name),
        "keys": [clean(value) for value in values],
        "values": [clean(parting.words.get(value, value)) for value in values],
        "codes": [codes.get(value, -1) for value in parting.values],
    }


def widget(material: Material) -> QuestionTable | None:
    """The table of a page's items for JupyterLab; None where there is no item."""

    items = items_of(material)
    if not _known(items, material):
        return None
    return QuestionTable(material, items, html.div(_table(material, items, to_choose=True), "rb"))


@view("questions", widget=widget)
def questions(material: Material, present: frozenset[str]) -> Content:
    """Every question, or other item, with its values: a table to search, filter and sort.

    In a page its data lies beside the page; in JupyterLab the kernel has it, and rows can be chosen: see
    `Page.questions`.
    """
    items = items_of(material)
    if not _known(items, material):
        return Text(items.empty) if items.empty else ()
    return Drawn(_table(material, items), [Text(items.title, "h2"), Text(_count(material, items))])


def _known(items: Items, material: Material) -> bool:
    return bool(items.ids and items.measures and material.systems)


def _table(material: Material, items: Items, *, to_choose: bool = False) -> Markup:
    """What the script needs before the data is there: words, numbers' form, signs of the systems."""
    _ = material.text
    setting = {
        "language": _.language,
        "metric": clean(items.chosen.name),
        "sort": items.sort,
        "baseline": clean(material.baseline),
        "signs": [[series(material, name), GLYPHS[series(material, name)]] for name in material.systems],
    }
    shares = {"apart": _.percent(APART), "share": _.percent(SHARE)}
    own = {"kind": items.kind, "statuses": statuses(material.text), "to_choose": to_choose, **shares}
    own |= {"chosen": _listed(material)}
    return drawn(
        "items", _, title=items.title, parts=slug(material), setting=setting, count=_count(material, items), **own
    )


def _count(material: Material, items: Items) -> str:
    return material.text.plural("{n} row.", "{n} rows.", len(items.ids))


def _listed(material: Material) -> str:
    """How the questions that are listed were chosen among very many; empty where all are."""
    there, shown, _ = len(material.measurement.questions), len(material.question_rows), material.text
    if shown == there:
        return ""
    said = _(
        "{n} of {of} questions are listed; all other numbers of this page are of all {of}.",
        n=_.integer(shown),
        of=_.integer(there),
    )
    if known := material.facts.get("listing"):
        said += " " + _(
            "They are of each metric and system the {each} lowest values, the {each} highest and at most {each} that "
            "could not be measured, and {drawn} drawn at random (seed {seed}). The scores of all are in "
            "scores.parquet and scores.csv.",
            seed=known["seed"],
            **{name: _.integer(known[name]) for name in ("each", "drawn")},
        )
    return said


ROWS = "<i4"


class QuestionTable(anywidget.AnyWidget):
    """What `page.questions()` returns: a report's table in JupyterLab, its rows a data frame in the next cell.

    A click opens a row with all that is known of it. Its box (or the space bar) chooses it, with Shift all rows from
    the one that was chosen last; the box in the head chooses all that are shown.

    wish: search, filters and order, in the words of a report's address; set, the table follows. A table that is made
    anew of the same page, by a cell that runs again, stands as the last one did.
    selected: the chosen rows as a data frame, in the page's order; empty where none is chosen.
    filtered: the rows that search and filters leave, in the order in which they are sorted.
    Both have one row an item by its id: `text`, a column a slice (`kind`, `language`, …), and `SYSTEM METRIC` for every
    value, NaN where it was not measured.
    """

    _esm = text_of("one_question.js", "questions.js", "questions_widget.js")
    _css = text_of("views.css", "questions.css")
    markup = traitlets.Unicode().tag(sync=True)
    block = traitlets.Int(BLOCK).tag(sync=True)
    shown = traitlets.Any(b"").tag(sync=True)  # bytes, which come back as a memoryview
    chosen = traitlets.Any(b"").tag(sync=True)
    wish = traitlets.Unicode().tag(sync=True)
    _last: ClassVar[WeakKeyDictionary[Material, QuestionTable]] = WeakKeyDictionary()

    def __init__(self, material: Material, items: Items, markup: Markup) -> None:
        self._material, self._items = material, items
        self._parts = Parts(items, material.systems)
        everything = np.arange(len(items.ids), dtype=ROWS).tobytes()
        last = self._last.get(material)
        kept = {} if last is None else {"wish": last.wish, "chosen": bytes(last.chosen)}
        super().__init__(markup=str(markup), shown=everything, **kept)
        self._last[material] = self
        self.on_msg(self._give)

    @cached_property
    def _frame(self) -> pd.DataFrame:
        return wide(self._material, self._items)

    @property
    def selected(self) -> pd.DataFrame:
        """The rows that are chosen, in the page's order; empty where none is."""
        return self._frame.iloc[self._rows(self.chosen)]

    @property
    def filtered(self) -> pd.DataFrame:
        """The rows that search and filters leave, in the table's order; all before it is shown."""
        return self._frame.iloc[self._rows(self.shown)]

    def to_pandas(self) -> pd.DataFrame:
        """Every item in the page's order, with two columns more: whether it is `selected`, and whether it is
        `filtered`, that is, shown."""
        places = np.arange(len(self._frame))
        return self._frame.assign(
            selected=np.isin(places, self._rows(self.chosen)), filtered=np.isin(places, self._rows(self.shown))
        )

    def _rows(self, given: bytes | memoryview) -> Any:
        """Places of items; what no item has is left out, whoever sent it."""
        places = np.frombuffer(given, dtype=ROWS)
        return places[(places >= 0) & (places < len(self._items.ids))]

    def _give(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """A part that the table asks for, compressed; without data where there is none of that name."""
        asked = str(content.get("part", "")) if isinstance(content, dict) else ""
        try:
            value = self._parts.named(asked.rpartition("/")[2])
        except KeyError:
            self.send({"part": asked})
            return
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self.send({"part": asked}, [zlib.compress(text.encode())])

    def __repr__(self) -> str:
        return f"{self._items.title}: {len(self._items.ids)}"
