"""A slider over a depth or a threshold: a page's stored estimates at each place of it. Nothing is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import ipywidgets

from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.names import meant
from ragbench.old.core.parts import Table
from ragbench.old.views import Page
from ragbench.old.views.basics.marks import measured, named
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown
from ragbench.old.views.basics.web import Web, html
from ragbench.old.views.sentences.descriptions import kind_name
from ragbench.old.views.view import style

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("k", "threshold")
"""What a page's estimates are made at several places of."""


def slide(page: Page, over: str = "") -> Slide:
    """A slider over what a page has estimates at several places of: the depth `k`, or a `threshold`.

        rb.slide(page)                    # in a cell by itself
        rb.slide(page, "threshold").to_pandas()

    over: "k" or "threshold"; empty: what the page has. Raises ValueError for a page that has neither, and for a name
    that it does not have.
    """
    there = [key for key in KEYS if len(_places(page.material, key)) > 1]
    if not there:
        raise ValueError(
            f"{page.measurement.notebook}: no number of this page is known at several depths or thresholds; pages of "
            "tier1_retrieval (with k above 1) and tier_ux have some"
        )
    if over and over not in there:
        raise ValueError(f"over = {over!r}{meant(over, there)}; this page has {', '.join(there)}")
    return Slide(page, over or there[0])


class Slide(ipywidgets.VBox):
    """The slider and the table of its place. `place`: where it stands; `places`: all there are; `over`: of what."""

    def __init__(self, page: Page, over: str) -> None:
        self._material, self.over = page.material, over
        self._estimates = _estimates(page.material, over)
        self.places = _places(page.material, over)
        _ = page.material.text
        digits = 0 if over == "k" else 2
        names = {"k": _("depth k"), "threshold": _("threshold")}
        fact = float(cast(float, page.material.facts.get(over)) or self.places[-1])
        self._slider = ipywidgets.SelectionSlider(
            options=[(_.number(place, digits), place) for place in self.places],
            value=min(self.places, key=lambda place: abs(place - fact)),
            description=names[over],
        )
        self._table = ipywidgets.HTML(self._drawn())
        self._slider.observe(self._redraw, names="value")
        super().__init__([self._slider, self._table])

    @property
    def place(self) -> float:
        """Where the slider stands."""
        return float(self._slider.value)

    @place.setter
    def place(self, place: float) -> None:
        if place not in self.places:
            raise ValueError(f"place = {place:g}: there are {', '.join(f'{each:g}' for each in self.places)}")
        self._slider.value = place

    def to_pandas(self) -> pd.DataFrame:
        """The estimates of all places: `over`, `asked` where there are several, system, metric, value, low, high, n."""
        import pandas as pd

        rows = [
            {**named.where, "system": named.system, "metric": named.metric, "value": named.estimate.value,
             "low": named.estimate.low, "high": named.estimate.high, "n": named.estimate.n}
            for named in self._estimates
        ]  # fmt: skip
        return pd.DataFrame(rows)

    def _redraw(self, _change: Any) -> None:
        self._table.value = self._drawn()

    def _drawn(self) -> str:
        material, _ = self._material, self._material.text
        here = [each for each in self._estimates if float(each.where[self.over]) == self.place]
        several = any("asked" in each.where for each in here)
        rows = [
            [
                named(material, each.system),
                *([kind_name(material, str(each.where.get("asked", "")))] if several else []),
                shown(f"{each.metric}@{self.place:g}" if self.over == "k" else each.metric),
                measured(material, each.estimate, each.metric),
                each.estimate.n,
            ]
            for each in here
        ]
        asked: Sequence[Any] = [(_("asked"), "rb-word")] if several else []
        heads = (_("system"), *asked, (_("metric"), "rb-word"), _("value"), _("n"))
        return str(style() + html.div(Web(_).block(Table.of(_, _("At this place"), heads, rows)), "rb"))

    def __repr__(self) -> str:
        return f"{self.over} = {self.place:g} of {len(self.places)} places; .to_pandas() has all"


def _estimates(material: Material, over: str) -> list[NamedEstimate]:
    made = material.measurement
    return [*made.estimates_by(over), *made.estimates_by("asked", over)]


def _places(material: Material, over: str) -> list[float]:
    return sorted({float(each.where[over]) for each in _estimates(material, over)})
