"""A page over one measurement: who was compared on what, and what it has to show."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from ragbench import language as languages
from ragbench import terminal
from ragbench.measurement import Measurement
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.view import VIEWS, View, style, topic

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
                found.setdefault(topic(one), []).append(one.__name__)
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
