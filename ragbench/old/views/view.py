"""A view: one part of a page, as an object that JupyterLab shows and a page renders."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol

from markupsafe import Markup

from ragbench.old.core import terminal
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.parts import Content, Figure, Latex, Markdown, Parts, Plain, Plot, Table, every, flat, text_of
from ragbench.old.core.settings import RUN_FOLDER
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.still import drawn as still_figure
from ragbench.old.views.basics.web import Web, html

if TYPE_CHECKING:
    import pandas as pd


MIME = "application/vnd.ragbench.view+json"
PLAIN = 2000
"""Letters of a view on a terminal."""


@lru_cache(maxsize=2)
def style(*more: str) -> Markup:
    """The look of views, for JupyterLab, and more of our style sheets; pages carry it in their own."""
    return html.style(Markup(text_of("views.css", *more)))  # noqa: S704 - our files


@dataclass(frozen=True, repr=False)
class View:
    """What `views.comparison.table(page)` and its like return.

    name, options: how to ask the same page for the same view again; a stored notebook carries these instead of HTML
    that would have to be trusted, and pages are rendered from the measurement that lies beside them.
    draw: makes its parts, given the names of the views that the page holds (for links between them).
    widget: makes the widget that JupyterLab shows instead; None where there is none, and in a headless run.
    page: whose view it is.
    """

    name: str
    options: Mapping[str, Any]
    language: str
    measurement: str
    draw: Callable[[frozenset[str]], Parts]
    widget: Callable[[], Any] = field(default=lambda: None, repr=False)
    page: Any = field(default=None, repr=False)

    @cached_property
    def parts(self) -> Parts:
        """What it shows: texts, tables, figures and lists, as far as they need no other view of a page."""
        return self.draw(frozenset())

    @property
    def _(self) -> Translator:
        return translator(self.language)

    @cached_property
    def figure(self) -> Mapping[str, Any] | None:
        """The figure as Plotly's JSON, with its title and its legend in it; None for a view without one."""
        drawn = next(every(self.parts, Figure), None)
        return None if drawn is None else chart.in_notebook(in_one(drawn, self._))

    def html(self, present: frozenset[str] = frozenset()) -> Markup:
        """The view as HTML; every text from data is escaped."""
        parts = self.draw(present) if present else self.parts
        return html.div(Web(self._).blocks(parts), f"rb rb-view-{self.name}")

    @cached_property
    def words(self) -> str:
        """What the view says, in lines: for a terminal."""
        return Plain(self._).blocks(self.parts)

    def markdown(self) -> str:
        """The view in Markdown, every sign of data escaped."""
        return Markdown(self._).blocks(self.parts) + "\n"

    def latex(self) -> str:
        """The view for an article; its tables need booktabs, tabularx and siunitx."""
        return Latex(self._).blocks(self.parts) + "\n"

    def tables(self) -> list[pd.DataFrame]:
        """The tables of the view, the folded ones too, with plain values."""
        return [table.to_pandas() for table in every(self.parts, Table)]

    def to_pandas(self) -> pd.DataFrame:
        """The numbers of the view's figure, a row a mark: which panel and line, `x`, `y`, and the ends of its interval.

        Of a view without a figure those of its first table. Raises ValueError for one that has neither.
        """
        import pandas as pd

        if self.name in NUMBERS:
            return NUMBERS[self.name](self.page)
        if self.figure is not None:
            return pd.DataFrame(chart.numbers(self.figure))
        if not (tables := self.tables()):
            raise ValueError(
                f"{self.name} draws no figure; page.estimates, page.comparisons, page.scores have its numbers"
            )
        return tables[0]

    def without_script(self) -> Markup:
        """The view as HTML that needs no script: its figures are drawn already, in colours of both schemes; of a table
        that a script makes, what tells most of it."""
        other = VIEWS[INSTEAD[self.name]](self.page) if self.name in INSTEAD and self.page is not None else None
        told = other if other is not None and other.parts else self
        return html.div(Web(self._, script=False).blocks(told.parts), f"rb rb-view-{told.name}")

    def kept(self) -> dict[str, Any]:
        """What a notebook keeps whose page is drawn from the measurement: the call, and words."""
        call = {
            "view": self.name,
            "options": dict(self.options),
            "language": self.language,
            "measurement": self.measurement,
        }
        return {MIME: call, "text/plain": self.words[:PLAIN]}

    def __repr__(self) -> str:
        return terminal.brief(str(self))

    def __str__(self) -> str:
        return self.words

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle = {**self.kept(), "text/html": str(style() + self.without_script())}
        if (widget := self.widget()) is not None:
            return widget._repr_mimebundle_()[0] | bundle
        if self.figure is not None:
            bundle["application/vnd.plotly.v1+json"] = dict(self.figure)
            bundle["image/svg+xml"] = str(still_figure(self.figure))
        return bundle


class Shown(Protocol):
    """What a view reads of a page."""

    @property
    def material(self) -> Material: ...
    @property
    def measurement(self) -> Measurement: ...
    @property
    def language(self) -> str: ...


Options = ParamSpec("Options")
Drawn = Callable[Concatenate[Material, frozenset[str], Options], Content]
NUMBERS: dict[str, Callable[[Any], pd.DataFrame]] = {
    "table": lambda page: page.estimates, "forest": lambda page: page.comparisons,
}  # fmt: skip
"""Of views that draw by style sheets alone, what they draw."""
INSTEAD = {"questions": "worst"}
"""Of a view that is nothing without a script, which other one stands for it there."""
FRONT_ENDS = ("JPY_SESSION_NAME", "VSCODE_PID", "COLAB_RELEASE_TAG")
"""Variables that Jupyter's server, VS Code and Colab set for the kernels that somebody works with."""
VIEWS: dict[str, Callable[..., View]] = {}
"""Every view by the name under which stored notebooks ask for it; whole once `ragbench.old.views` is imported."""
COUNTS = ("count", "most")
"""Options that say how many are listed."""


def called(name: str) -> str:
    """How a notebook asks for the view of that name: `views.blame.waterfall(page)`."""
    return f"{room(VIEWS[name])}.{VIEWS[name].__name__}(page)"


def _in_notebook() -> bool:
    """Whether somebody looks, in a front end that has sent for the kernel: what runs headless, as a run or by another
    program, keeps what everybody can show, and no widget."""
    asked = "ipykernel" in sys.modules and not os.environ.get(RUN_FOLDER)
    return asked and any(os.environ.get(name) for name in FRONT_ENDS)


def room(drawn: Callable[..., View]) -> str:
    """The room that a view stands in, as people write it: `views.blame`, or `extras.runs.views` of an annex."""
    place = drawn.__module__.removeprefix("ragbench.old.").split(".")
    return ".".join(place[:2] if place[0] == "views" else place[:-1])


def topic(drawn: Callable[..., View]) -> str:
    """The topic that a view belongs to: `blame`; of an annex its name."""
    return room(drawn).removeprefix("views.").removeprefix("extras.").removesuffix(".views")


def view(
    name: str,
    *,
    check: Callable[..., None] | None = None,
    widget: Callable[[Material], Any] | None = None,
) -> Callable[[Drawn[Options]], Callable[Concatenate[Shown, Options], View]]:
    """Makes a function of a page, and of its options, from what returns its parts.

    What is decorated gets the page's material and the names of the views that are present, for links between them.
    name: what a stored notebook calls the view, whatever the function is called today. check: raises ValueError for
    options that the page does not have; counts are checked here. widget: see `View.widget`.
    """

    def decorate(draw: Drawn[Options]) -> Callable[Concatenate[Shown, Options], View]:
        own = signature(draw)
        options = list(own.parameters.values())[2:]
        of_page = own.replace(parameters=options)

        @wraps(draw)
        def made(page: Shown, *args: Options.args, **named: Options.kwargs) -> View:
            bound = of_page.bind(*args, **named)
            bound.apply_defaults()
            asked = bound.arguments
            for option in COUNTS:
                if asked.get(option, 1) < 1:
                    raise ValueError(f"{name}({asked[option]}): a count is a whole number from 1")
            if check is not None:
                check(page.material, **asked)
            return View(
                name=name,
                options=asked,
                language=page.language,
                measurement=page.measurement.notebook,
                draw=lambda present: list(flat(draw(page.material, present, *args, **named))),
                page=page,
                widget=lambda: widget(page.material) if widget is not None and _in_notebook() else None,
            )

        first = Parameter("page", Parameter.POSITIONAL_OR_KEYWORD, annotation="Page")
        made.__signature__ = own.replace(parameters=[first, *options], return_annotation="View")  # type: ignore[attr-defined]
        VIEWS[name] = made
        return made

    return decorate


TITLE, LEGEND, PANEL = 44, 26, 26
"""Pixels above the charts for the title, the legend, and the title of a chart that is one of several."""
ACROSS = 2
"""Charts in a row."""
GAP = 0.06
"""Between two of them, as a share of the width."""
_AXES = ("xaxis", "yaxis", "scene")
_REFERENCES = {"anchor", "matches", "scaleanchor", "overlaying", "xref", "yref", "xaxis", "yaxis", "scene"}


def in_one(figure: Figure, _: Translator) -> dict[str, Any]:
    """The figure as JSON with named colours; without data where it has none."""
    if len(figure.plots) == 1:
        made = deepcopy(dict(figure.plots[0].chart))
        made["layout"] = dict(made["layout"])
    else:
        made = _beside(figure.plots, _)
    layout = made["layout"]
    above = TITLE + (LEGEND if figure.legend else 0) + (PANEL if len(figure.plots) > 1 else 0)
    margin = layout.get("margin") or {}
    layout["margin"] = margin | {"t": margin.get("t", 0) + above}
    layout["height"] = layout.get("height", 0) + above
    title = chart.plain(Plain(_).phrase(figure.title or next((plot.label for plot in figure.plots), "")))
    layout["title"] = {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper", "y": 1, "yref": "container",
                       "yanchor": "top", "pad": {"t": 12}}  # fmt: skip
    layout["showlegend"] = bool(figure.legend)
    if figure.legend:
        layout["legend"] = {"orientation": "h", "x": 0, "traceorder": "normal", "yref": "container", "yanchor": "top",
                            "y": 1 - TITLE / layout["height"]}  # fmt: skip
        _once(made["data"])
    return made


def _once(traces: Sequence[dict[str, Any]]) -> None:
    """Each name stands in the legend once, and switches all that it is the name of."""
    seen = set[str]()
    for trace in traces:
        name = str(trace.get("name", ""))
        trace["legendgroup"] = name
        trace["showlegend"] = bool(name) and name not in seen and trace.get("fill") != "toself"
        seen |= {name} if trace["showlegend"] else set()


def _beside(plots: Sequence[Plot], _: Translator) -> dict[str, Any]:
    """Charts in rows, each under its title, with axes of its own."""
    rows = -(-len(plots) // ACROSS) or 1
    across = min(ACROSS, len(plots)) or 1
    width = (1 - GAP * (across - 1)) / across
    height = max((plot.chart["layout"].get("height", 0) for plot in plots), default=0)
    inner = max(rows * height + (rows - 1) * PANEL, 1)
    data, layout, next_numbers = list[Any](), dict[str, Any](), dict.fromkeys(_AXES, 1)
    for place, plot in enumerate(plots):
        row, column = divmod(place, ACROSS)
        left, top = column * (width + GAP), 1 - row * (height + PANEL) / inner
        domains = {"x": [left, left + width], "y": [max(0.0, top - height * 0.86 / inner), top]}
        renamed = _renamed(plot.chart["layout"], next_numbers)
        data += [_pointed(_placed(trace), renamed) for trace in plot.chart["data"]]
        for name, value in plot.chart["layout"].items():
            kind, own = name.rstrip("0123456789"), _pointed(value, renamed)
            if kind == "scene":
                layout[renamed[name]] = own | {"domain": domains}
            elif kind in _AXES:  # without an anchor it would stand at the first chart's
                anchor = renamed["y" if kind == "xaxis" else "x"]
                layout[renamed[name]] = {"anchor": anchor} | own | {"domain": domains[kind[0]]}
            elif name in ("annotations", "shapes"):
                layout[name] = [*layout.get(name, []), *(_pointed(_held(mark), renamed) for mark in value)]
            else:
                layout.setdefault(name, value)
        at = {"xref": "paper", "yref": "paper", "x": left, "y": top, "xanchor": "left", "yanchor": "bottom"}
        title = {"text": chart.plain(Plain(_).phrase(plot.title)), **at, "showarrow": False, "font": {"size": 12}}
        layout["annotations"] = [*layout.get("annotations", []), title]
    layout["height"] = inner
    return {"data": data, "layout": layout}


def _renamed(layout: Mapping[str, Any], numbers: dict[str, int]) -> dict[str, str]:
    """The axes of a chart by their names among those of all charts; counts them."""
    made = dict[str, str]()
    for name in layout:
        kind = name.rstrip("0123456789")
        if kind in _AXES:
            number = "" if numbers[kind] == 1 else str(numbers[kind])
            numbers[kind] += 1
            short, new = (text.replace("axis", "") for text in (name, f"{kind}{number}"))
            made |= {name: f"{kind}{number}", short: new}
    return made


def _placed(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace that names its axes, also the first ones."""
    return {"scene": "scene", **trace} if trace["type"].endswith("3d") else {"xaxis": "x", "yaxis": "y", **trace}


def _held(mark: Mapping[str, Any]) -> dict[str, Any]:
    """A shape or a text that names the axes it is held to."""
    return {"xref": "x", "yref": "y", **mark}


def _pointed(value: Any, renamed: Mapping[str, str], key: str = "") -> Any:
    """The same with the names of axes replaced, wherever one is referred to."""
    if isinstance(value, Mapping):
        return {name: _pointed(own, renamed, name) for name, own in value.items()}
    return renamed.get(value, value) if key in _REFERENCES and isinstance(value, str) else value
