"""A page over one measurement: who was compared on what, and the views a reader sees, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from markupsafe import Markup

from ragbench import language as languages
from ragbench.measurement import Measurement
from ragbench.show import (
    answer,
    calibration,
    chart,
    coverage,
    curves,
    intervals,
    measures,
    method,
    neighbours,
    provenance,
    questions,
    slices,
    space,
    speed,
    summary,
    table,
    users,
    worst,
)
from ragbench.show import map as maps
from ragbench.show.material import Material
from ragbench.show.view import View

COMPARING = (
    "answer", "intervals", "table", "curves", "slices", "speed",
    "worst", "questions", "method", "provenance", "summary",
)  # fmt: skip
DESCRIBING = (
    "measures", "distances", "spectrum", "closest", "outliers", "map",
    "topics", "unused", "pages", "proxy", "usage", "repeats",
)  # fmt: skip
CALIBRATING = ("promise", "simulations")
VIEWS = COMPARING + DESCRIBING + CALIBRATING


class Page:
    """The page of a measurement in one language.

    primary: the metric that the answer sentence speaks of and that ranks the worst questions; by default what the
        measurement names as `primary`, else mrr where it was measured, else the first metric.

    Raises ValueError for a language without a catalogue and for a primary metric that was not measured.
    """

    def __init__(self, measurement: Measurement, *, language: str = "en", primary: str | None = None) -> None:
        self.measurement = measurement
        self.language = language
        self.primary = primary
        self._material = Material(measurement, languages.translator(language), primary)

    def answer(self) -> View:
        """The answer in a sentence for each challenger, and the facts it stands on."""
        return self._view("answer", answer.draw)

    def intervals(self) -> View:
        """Means with their intervals, system by system, under the finding as a title."""
        return self._view("intervals", intervals.draw, figure=intervals.notebook_figure(self._material))

    def table(self) -> View:
        """Values, differences, corrected p and verdict words, metric by metric."""
        return self._view("table", table.draw)

    def curves(self) -> View:
        """Recall and NDCG by depth, with an interval at each; empty for rankings of depth 1."""
        return self._view("curves", curves.draw, figure=curves.notebook_figure(self._material))

    def slices(self) -> View:
        """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
        return self._view("slices", slices.draw)

    def speed(self) -> View:
        """Latency, index against exact search, and what repeats gave; empty where none was measured."""
        return self._view("speed", speed.draw)

    def worst(self, count: int = 10) -> View:
        """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
        if count < 1:
            raise ValueError(f"worst({count}): a count is a whole number from 1")
        return self._view("worst", lambda m, p: worst.draw(m, p, count), count=count)

    def questions(self, limit: int = 2000) -> View:
        """Every question with its values and what each system retrieved; the first `limit` of them."""
        return self._view("questions", lambda m, p: questions.draw(m, p, limit), limit=limit)

    def measures(self) -> View:
        """Values with intervals and meanings, of a page that describes and does not compare."""
        return self._view("measures", measures.draw)

    def distances(self) -> View:
        """How distances to nearest neighbours, and of all pairs, are spread."""
        return self._view("distances", space.distances, figure=self._figure("histograms", space.distances_figure))

    def spectrum(self) -> View:
        """How much of the variance the first principal components hold."""
        return self._view("spectrum", space.spectrum, figure=self._figure("spectrum", space.spectrum_figure))

    def closest(self, count: int = 10) -> View:
        """The closest pairs of texts of each embedder, near-duplicates marked."""
        return self._listed("closest", neighbours.closest, count)

    def outliers(self, count: int = 10) -> View:
        """The texts that lie farthest from their nearest neighbour."""
        return self._listed("outliers", neighbours.outliers, count)

    def map(self, dimensions: int = 2, colour: str = "auto") -> View:
        """The texts as points in 2 or 3 dimensions; colour: auto, page, folder, section, kind or cluster."""
        if dimensions not in maps.AXES or colour not in maps.COLOURS:
            known = ", ".join(maps.COLOURS)
            raise ValueError(f"map({dimensions}, {colour!r}): dimensions are 2 or 3, the colour is one of {known}")
        return self._view(
            "map",
            lambda m, p: maps.draw(m, p, dimensions, colour),
            figure=maps.notebook_figure(self._material, dimensions, colour),
            dimensions=dimensions,
            colour=colour,
        )

    def topics(self) -> View:
        """Topics of questions, with what was retrieved for each, and which of them are thin."""
        return self._view("topics", coverage.topics, figure=self._figure("coverage", coverage.topics_figure))

    def unused(self, count: int = 20) -> View:
        """The chunks that were never retrieved; those that a question needs come first."""
        return self._listed("unused", coverage.unused, count)

    def pages(self, count: int = 10) -> View:
        """The pages that are retrieved for most questions."""
        return self._listed("pages", coverage.pages, count)

    def promise(self) -> View:
        """Where intervals and tests kept what they promise in simulations, and every cell where they did not."""
        return self._view("promise", calibration.promise)

    def simulations(self, part: str = "interval") -> View:
        """How often each method was right, by population and size; part: what was simulated, such as "clusters"."""
        if part not in calibration.PARTS:
            raise ValueError(f"simulations({part!r}): the part is one of {', '.join(calibration.PARTS)}")
        return self._view("simulations", lambda m, p: calibration.coverage(m, p, part), part=part)

    def proxy(self) -> View:
        """What the label of real questions is worth, and how many have none."""
        return self._view("proxy", users.proxy)

    def usage(self) -> View:
        """How long real questions are, how their answers were scored, and when they were asked."""
        return self._view("usage", users.usage, figure=self._figure("asked", users.notebook_figure))

    def repeats(self, count: int = 10) -> View:
        """Questions asked more than once, and the pages shown most."""
        return self._listed("repeats", users.repeats, count)

    def method(self) -> View:
        """What was done to the numbers: intervals, tests, corrections, clusters, and what the metrics mean."""
        return self._view("method", method.draw)

    def provenance(self) -> View:
        """Where the numbers come from: data, systems, parameters, seeds, versions, commit."""
        return self._view("provenance", provenance.draw)

    def summary(self) -> View:
        """What an index says of the page: the answer and a few metrics with their verdicts."""
        return self._view("summary", summary.draw)

    @cached_property
    def finding(self) -> str:
        """The figure's title: who is better on how many metrics."""
        return answer.finding(self._material)

    def view(self, name: str, **options: Any) -> View:
        """The view of that name; raises ValueError, naming those there are, for any other."""
        if name not in VIEWS:
            raise ValueError(f"there is no view {name!r}; there are {', '.join(VIEWS)}")
        made: View = getattr(self, name)(**options)
        return made

    def _listed(self, name: str, draw: Callable[[Material, frozenset[str], int], Markup], count: int) -> View:
        """A view of the first `count` entries of a list."""
        if count < 1:
            raise ValueError(f"{name}({count}): a count is a whole number from 1")
        return self._view(name, lambda m, p: draw(m, p, count), count=count)

    def _figure(self, table: str, make: Callable[[Material], dict[str, Any]]) -> dict[str, Any] | None:
        """A figure for JupyterLab; None where its table is empty."""
        return chart.in_notebook(make(self._material)) if len(self._material.kept(table)) else None

    def _view(
        self,
        name: str,
        draw: Callable[[Material, frozenset[str]], Markup],
        figure: dict[str, Any] | None = None,
        **options: Any,
    ) -> View:
        of_page = {} if self.primary is None else {"primary": self.primary}
        return View(
            name=name,
            options={**of_page, **options},
            language=self.language,
            measurement=self.measurement.notebook,
            draw=lambda present: draw(self._material, present),
            figure=figure,
        )
