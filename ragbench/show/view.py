"""A view: one part of a page, as an object that JupyterLab shows and a page renders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragbench import terminal
from ragbench.show.basics.templates import html

MIME = "application/vnd.ragbench.view+json"
STYLE = Path(__file__).parent.parent / "report_template" / "views.css"


@lru_cache(maxsize=1)
def style() -> Markup:
    """The look of views, for JupyterLab; pages carry it in their own style sheet."""
    return html.style(Markup(STYLE.read_text(encoding="utf-8")))  # noqa: S704 - our file


@dataclass(frozen=True)
class View:
    """What `show.comparison.table(page)` and its like return.

    name, options: how to ask the same page for the same view again; a stored notebook carries these instead of HTML
    that would have to be trusted, and pages are rendered from the measurement that lies beside them.
    draw: makes the HTML, given the names of the views that the page holds (for links between them).
    chart: makes the figure that JupyterLab shows instead; None where there is none.
    """

    name: str
    options: Mapping[str, Any]
    language: str
    measurement: str
    draw: Callable[[frozenset[str]], Markup]
    chart: Callable[[], Mapping[str, Any] | None] = field(default=lambda: None, repr=False)

    @cached_property
    def figure(self) -> Mapping[str, Any] | None:
        """The figure as Plotly's JSON; None for a view without one."""
        return self.chart()

    def html(self, present: frozenset[str] = frozenset()) -> Markup:
        """The view as HTML; every text from data is escaped."""
        return html.div(self.draw(present), f"rb rb-view-{self.name}")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        drawn = self.html()
        call = {
            "view": self.name,
            "options": dict(self.options),
            "language": self.language,
            "measurement": self.measurement,
        }
        bundle: dict[str, Any] = {MIME: call, "text/plain": terminal.plain(drawn.striptags()[:2000])}
        if self.figure is None:
            bundle["text/html"] = str(style() + drawn)
        else:
            bundle["application/vnd.plotly.v1+json"] = dict(self.figure)
        return bundle
