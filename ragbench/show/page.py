"""A page over one measurement: who was compared on what, and what it has to show."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from markupsafe import Markup

from ragbench import language as languages
from ragbench import terminal
from ragbench.measurement import Measurement
from ragbench.show.basics import chart
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.view import View, style

Options = ParamSpec("Options")
Drawn = Callable[Concatenate[Material, frozenset[str], Options], Markup]
Figure = TypeVar("Figure", bound=Callable[..., Mapping[str, Any] | None])
VIEWS: dict[str, Callable[..., View]] = {}
"""Every view by the name under which stored notebooks ask for it; whole once `ragbench.show` is imported."""
CHARTS: dict[str, Callable[..., Mapping[str, Any] | None]] = {}
COUNTS = ("count", "most")
"""Options that say how many are listed."""
SENTENCES = re.compile(r"(<p[^>]*>[^<]*</p>|\s)*")
"""What a view is that has nothing to show, or only says why."""


class Page:
    """The page of a measurement in one language; its views are the functions of `show.comparison`, `show.retrieval`…

    Its answer speaks of the metric that was measured as the primary one, and of no other: which it is was said before
    anything was measured, by the parameter `primary` of the tier.

    Raises ValueError for a language without a catalogue.
    """

    def __init__(self, measurement: Measurement, *, language: str = "en") -> None:
        self.measurement = measurement
        self.language = language
        self.material = Material(measurement, languages.translator(language))

    def view(self, name: str, **options: Any) -> View:
        """The view of that name; raises ValueError, naming those there are, for any other."""
        if name not in VIEWS:
            raise ValueError(f"there is no view {name!r}; there are {', '.join(sorted(VIEWS))}")
        return VIEWS[name](self, **options)

    @cached_property
    def shows(self) -> dict[str, list[str]]:
        """The views with more to show than a sentence, by topic: `{"blame": ["waterfall", …], …}`. Draws them all."""
        found: dict[str, list[str]] = {}
        for one in VIEWS.values():
            if not SENTENCES.fullmatch(one(self).draw(frozenset())):
                found.setdefault(_topic(one), []).append(one.__name__)
        return {topic: sorted(names) for topic, names in sorted(found.items())}

    def _facts(self) -> dict[str, str]:
        _, material = self.material.text, self.material
        known = {
            _("notebook"): self.measurement.notebook,
            _("data set"): material.facts.get("dataset"),
            _("systems"): ", ".join(material.systems),
            _("primary metric"): material.primary,
            _("language"): self.language,
        }
        return {name: str(value) for name, value in known.items() if value}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {terminal.plain(value)}" for name, value in self._facts().items())

    def _repr_html_(self) -> str:
        said = self._facts() | {f"show.{topic}": ", ".join(names) for topic, names in self.shows.items()}
        return str(style() + html.div(html.terms(list(said.items()), "rb-facts"), "rb"))


def called(name: str) -> str:
    """How a notebook asks for the view of that name: `show.blame.waterfall(page)`."""
    return f"show.{_topic(VIEWS[name])}.{VIEWS[name].__name__}(page)"


def _topic(one: Callable[..., View]) -> str:
    return one.__module__.split(".")[2]


def view(
    name: str, *, check: Callable[..., None] | None = None
) -> Callable[[Drawn[Options]], Callable[Concatenate[Page, Options], View]]:
    """Makes a function of a page, and of its options, from what draws the HTML.

    What is decorated gets the page's material and the names of the views that are present, for links between them.
    name: what a stored notebook calls the view, whatever the function is called today. check: raises ValueError for
    options that the page does not have; counts are checked here.
    """

    def decorate(draw: Drawn[Options]) -> Callable[Concatenate[Page, Options], View]:
        own = signature(draw)
        options = list(own.parameters.values())[2:]
        of_page = own.replace(parameters=options)

        @wraps(draw)
        def made(page: Page, *args: Options.args, **named: Options.kwargs) -> View:
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
                draw=lambda present: draw(page.material, present, *args, **named),
                chart=lambda: CHARTS[name](page.material, **asked) if name in CHARTS else None,
            )

        first = Parameter("page", Parameter.POSITIONAL_OR_KEYWORD, annotation="Page")
        made.__signature__ = own.replace(parameters=[first, *options], return_annotation="View")  # type: ignore[attr-defined]
        VIEWS[name] = made
        return made

    return decorate


def charted(name: str, *table: str) -> Callable[[Figure], Figure]:
    """The decorated function makes the Plotly figure that JupyterLab shows in place of the view's HTML.

    table: a table of the measurement, and columns, without which there is no figure.
    """

    def decorate(make: Figure) -> Figure:
        def figure(material: Material, *args: Any, **options: Any) -> dict[str, Any] | None:
            made = make(material, *args, **options) if not table or len(material.kept(*table)) else None
            return None if made is None else chart.in_notebook(made)

        CHARTS[name] = figure
        return make

    return decorate
