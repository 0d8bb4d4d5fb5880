"""The first page of a run: what all pages add up to, and a way to each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ragbench.core.language import translator
from ragbench.metrics.explanation import reason_in
from ragbench.report.pages import notebook_pages, prose
from ragbench.report.pages.notebook_pages import Measurements
from ragbench.tiers.basics.session import Lack
from ragbench.tiers.run.overview import NAME as OVERVIEW
from ragbench.views.about.run_summary import Overview, compared, size_and_cost
from ragbench.views.basics.marks import METRIC_PAGES
from ragbench.views.basics.text import clean

FIRST = ("standing", "differences", "blame_bars", "overview")
"""The views of all pages together, in their order."""
FOLDED = ("limits", "provenance")


def way(notebook: Any, name: str, language: str) -> dict[str, str]:
    """The way to a page: its address, and what stands above its title and its title."""
    over, question = prose.title(notebook, translator(language), name)
    return {"href": f"{quote(name)}.html", "over": over, "question": question}


def drawn_names(measurements: Measurements, language: str) -> frozenset[str]:
    """The measurements whose answers the figures of the first page give."""
    whole = _overview(measurements, language)
    told = compared(whole) if whole is not None else ()
    return frozenset(str(page["name"]) for page, _metric, _rows in told)


def entry(
    notebook: Any, name: str, measurements: Measurements, language: str, failure: str = "",
    told: frozenset[str] = frozenset(),
) -> dict[str, Any]:  # fmt: skip
    """What the first page shows of one page: its question, and its answer where no figure does (`told`)."""
    shown = [measurement for measurement in _measurements(notebook, name, measurements) if measurement not in told]
    asked = ({"view": "summary", "measurement": measurement, "options": {"brief": True}} for measurement in shown)
    return {
        "name": name,
        **way(notebook, name, language),
        "failure": reason_in(failure, translator(language)),
        "summary": Markup("").join(notebook_pages.view(view, measurements, language).html() for view in asked),
    }


def _measurements(notebook: Any, name: str, measurements: Measurements) -> list[str]:
    """Those that the page shows, in its order; the notebook's own if it shows none."""
    there = measurements.names()
    asked = dict.fromkeys(str(view["measurement"]) for view in notebook_pages.views(notebook))
    return [measurement for measurement in asked if measurement in there] or [name] * (name in there)


def _overview(measurements: Measurements, language: str) -> Overview | None:
    return Overview(measurements.page(OVERVIEW, language).material) if OVERVIEW in measurements.names() else None


def html(
    entries: list[dict[str, Any]], measurements: Measurements, language: str, frame: Mapping[str, Any],
    left_out: Sequence[Lack] = (), called: tuple[str, str] = ("", ""),
) -> str:  # fmt: skip
    """The page over all pages, with what those need that were left out; frame: see `ragbench.report.pages.drawing`.

    called: the run's name and the note on it, empty texts for none.
    """
    _ = translator(language)
    whole = _overview(measurements, language)
    datasets = dict.fromkeys(
        str(measurements[name].facts["dataset"])
        for name in measurements.names()
        if measurements[name].facts.get("dataset")
    )
    title = _("Report on {datasets}", datasets=_.enumeration(list(datasets))) if datasets else _("Report")
    about = {} if whole is None else {str(page["name"]): " · ".join(size_and_cost(whole, page)) for page in whole.pages}

    def drawn(name: str) -> Markup:
        asked = {"view": name, "measurement": OVERVIEW}
        view = notebook_pages.view(asked, measurements, language)
        shown: Markup = view.html(frozenset({METRIC_PAGES})) if view.parts else Markup()
        return shown

    page = notebook_pages.chrome(language, title) | {
        **frame,
        "entries": [{**e, "about": about.get(e["name"], "")} for e in entries if e["name"] != OVERVIEW],
        "failure": next((e["failure"] for e in entries if e["name"] == OVERVIEW), ""),
        "views": {name: drawn(name) for name in (*FIRST, *FOLDED) if whole is not None},
        "name": clean(called[0]),
        "note": clean(called[1]),
        "wide": True,
        "left_out": [(lack.page, lack.sentence(_)) for lack in left_out],
    }
    template = notebook_pages.exporter().environment.get_template("overview.html.j2")
    return str(template.render(page=page))
