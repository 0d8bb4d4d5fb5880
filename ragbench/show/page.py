"""A page over one measurement: who was compared on what, and the views a reader sees, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from markupsafe import Markup

from ragbench import language as languages
from ragbench.measurement import Measurement
from ragbench.show import answer, intervals, method, provenance, questions, summary, table, worst
from ragbench.show.material import Material
from ragbench.show.view import View

VIEWS = ("answer", "intervals", "table", "worst", "questions", "method", "provenance", "summary")


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

    def worst(self, count: int = 10) -> View:
        """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
        if count < 1:
            raise ValueError(f"worst({count}): a count is a whole number from 1")
        return self._view("worst", lambda m, p: worst.draw(m, p, count), count=count)

    def questions(self, limit: int = 2000) -> View:
        """Every question with its values and what each system retrieved; the first `limit` of them."""
        return self._view("questions", lambda m, p: questions.draw(m, p, limit), limit=limit)

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
