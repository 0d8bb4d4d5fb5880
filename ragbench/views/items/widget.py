"""The table of items in JupyterLab: the page's own script, whose data the kernel has, and whose rows can be chosen."""

from __future__ import annotations

import json
import zlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import anywidget
import numpy as np
import traitlets
from markupsafe import Markup

from ragbench.views.basics.material import Material
from ragbench.views.items.contents import Items
from ragbench.views.items.data import BLOCK, Parts
from ragbench.views.items.frames import wide

if TYPE_CHECKING:
    import pandas as pd

TEMPLATE = Path(__file__).parents[2] / "report" / "template"
ROWS = "<i4"


def _files(*names: str) -> str:
    return "\n".join((TEMPLATE / name).read_text(encoding="utf-8") for name in names)


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

    _esm = _files("one_question.js", "questions.js", "questions_widget.js")
    _css = _files("views.css", "questions.css")
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
