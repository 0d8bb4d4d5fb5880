"""What every view of a page stands on: the measurement, its language, and how a view is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from ragbench import language as languages
from ragbench.measurement import Measurement
from ragbench.show.basics import chart
from ragbench.show.basics.material import Material
from ragbench.show.view import View


class Frame:
    """A measurement in one language, and what makes views of it."""

    def __init__(self, measurement: Measurement, *, language: str = "en", primary: str | None = None) -> None:
        self.measurement = measurement
        self.language = language
        self.primary = primary
        self._material = Material(measurement, languages.translator(language), primary)

    @property
    def material(self) -> Material:
        """The measurement, laid out for showing in the page's language."""
        return self._material

    def _listed(self, name: str, draw: Callable[[Material, frozenset[str], int], Markup], count: int) -> View:
        """A view of the first `count` entries of a list."""
        if count < 1:
            raise ValueError(f"{name}({count}): a count is a whole number from 1")
        return self._view(name, lambda m, p: draw(m, p, count), count=count)

    def _figure(self, table: str, make: Callable[[Material], dict[str, Any]], *columns: str) -> dict[str, Any] | None:
        """A figure for JupyterLab; None where its table is empty, or has not these columns."""
        return chart.in_notebook(make(self._material)) if len(self._material.kept(table, *columns)) else None

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
