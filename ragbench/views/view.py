"""A view: one part of a page, as an object that JupyterLab shows and a page renders."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol

from markupsafe import Markup

from ragbench.core import terminal
from ragbench.core.language import Translator, translator
from ragbench.core.measurement import Measurement
from ragbench.core.parts import Content, Figure, Latex, Markdown, Parts, Plain, Table, every, flat
from ragbench.core.settings import RUN_FOLDER
from ragbench.views.basics import chart, panels
from ragbench.views.basics.material import Material
from ragbench.views.basics.still import drawn as still_figure
from ragbench.views.basics.templates import html
from ragbench.views.basics.web import Web

if TYPE_CHECKING:
    import pandas as pd

MIME = "application/vnd.ragbench.view+json"
STYLES = Path(__file__).parents[1] / "report" / "template"


PLAIN = 2000
"""Letters of a view on a terminal."""


@lru_cache(maxsize=2)
def style(*more: str) -> Markup:
    """The look of views, for JupyterLab, and more of our style sheets; pages carry it in their own."""
    texts = [(STYLES / name).read_text(encoding="utf-8") for name in ("views.css", *more)]
    return html.style(Markup("\n".join(texts)))  # noqa: S704 - our files


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
        return None if drawn is None else chart.in_notebook(panels.in_one(drawn, self._))

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
"""Every view by the name under which stored notebooks ask for it; whole once `ragbench.views` is imported."""
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
    return drawn.__module__.removeprefix("ragbench.").rpartition(".")[0]


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
