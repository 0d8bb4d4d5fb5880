"""Every question, or other item, behind the numbers: a table to search, filter and sort, in pages and JupyterLab."""

from __future__ import annotations

import json
import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import anywidget
import numpy as np
import traitlets
from markupsafe import Markup

from ragbench.core.parts import Content, Drawn, Text, text_of
from ragbench.tiers.basics.verdicts import statuses
from ragbench.views.basics.marks import series
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.basics.web import GLYPHS, drawn, html
from ragbench.views.items.chosen import wide
from ragbench.views.items.claims import SHARE
from ragbench.views.items.contents import APART, Items
from ragbench.views.items.data import BLOCK, Parts, slug
from ragbench.views.items.kinds import items_of
from ragbench.views.view import view

if TYPE_CHECKING:
    import pandas as pd


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
