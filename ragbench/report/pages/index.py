"""The index of a run: one screen that says what each page answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ragbench.bench.basics.needs import Lack
from ragbench.bench.runs.overview import NAME as OVERVIEW
from ragbench.language import translator
from ragbench.report.pages import assembly, prose
from ragbench.report.pages.assembly import Measurements
from ragbench.show.basics.links import METRIC_PAGES

ROWS = 11  # of the overview, about as many as a screen holds


def entry(notebook: Any, name: str, measurements: Measurements, language: str, failure: str = "") -> dict[str, Any]:
    """What the index shows of one page."""
    over, question = prose.title(notebook, translator(language), name)
    parts = [assembly.view(one, measurements, language).html() for one in _shown(notebook, name, measurements)]
    return {
        "name": name,
        "href": f"{quote(name)}.html",
        "over": over,
        "question": question,
        "failure": failure,
        "summary": Markup("").join(parts),
    }


def _shown(notebook: Any, name: str, measurements: Measurements) -> list[dict[str, Any]]:
    """The summary views of what the page shows, in its order; of the notebook's own measurement if it shows none."""
    there = measurements.names()
    more = {"brief": True} if OVERVIEW in there else {}
    asked = dict.fromkeys(str(view["measurement"]) for view in assembly.views(notebook))
    shown = [one for one in asked if one in there] or [name] * (name in there)
    return [{"view": "summary", "measurement": one, "options": more} for one in shown]


def _overall(measurements: Measurements, language: str) -> Markup:
    """All pages side by side; empty for a run that kept no overview."""
    if OVERVIEW not in measurements.names():
        return Markup("")
    most = max(1, min(2, ROWS // max(1, len(measurements[OVERVIEW].facts.get("pages", ())))))
    asked = ({"view": "standing"}, {"view": "overview", "options": {"most": most}})
    drawn = (assembly.view({**one, "measurement": OVERVIEW}, measurements, language) for one in asked)
    return Markup("").join(view.html(frozenset({METRIC_PAGES})) for view in drawn)


def html(
    entries: list[dict[str, Any]], measurements: Measurements, language: str, frame: Mapping[str, Any],
    left_out: Sequence[Lack] = (),
) -> str:  # fmt: skip
    """The page over all pages, with what those need that were left out; frame: see `ragbench.report.pages.editions`."""
    _ = translator(language)
    datasets = dict.fromkeys(
        str(measurements[name].facts["dataset"])
        for name in measurements.names()
        if measurements[name].facts.get("dataset")
    )
    title = _("Report on {datasets}", datasets=_.enumeration(list(datasets))) if datasets else _("Report")
    page = assembly.chrome(language, title) | {
        **frame,
        "entries": [e for e in entries if e["name"] != OVERVIEW],
        "failure": next((e["failure"] for e in entries if e["name"] == OVERVIEW), ""),
        "overall": _overall(measurements, language),
        "wide": True,
        "left_out": [(one.page, one.sentence(_)) for one in left_out],
        "more": next((e["href"] for e in entries if e["name"] == OVERVIEW), None),
    }
    template = assembly.exporter().environment.get_template("overview.html.j2")
    return str(template.render(page=page))
