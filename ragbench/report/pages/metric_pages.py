"""A page for every metric that a run shows, beside the run's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.core.language import translator
from ragbench.core.metric import Metric
from ragbench.report.keeping import files
from ragbench.report.pages import assembly
from ragbench.report.pages.assembly import Measurements
from ragbench.report.pages.editions import Edition
from ragbench.views.about import metric_page
from ragbench.views.basics.links import METRIC_PAGES, row_anchor
from ragbench.views.basics.web import Web


def write(
    folder: Path, measurements: Measurements, titles: Mapping[str, str], edition: Edition, drawn: Sequence[Edition]
) -> None:
    """Write the pages into the folder `metrics`, in place of those that were there.

    titles: of the run's pages, by name; a measurement without a page is left out. edition: the one they belong to
    of those that are `drawn`.
    """
    by_metric: dict[str, tuple[Metric, dict[str, dict[str, str]]]] = {}
    signed: dict[str, dict[str, str]] = {}
    for name in titles:
        if name in measurements.names():
            material = measurements.page(name, edition.language).material
            describes = bool(material.facts.get("describes"))
            for label in material.metrics:
                declared = material.declaration(label)
                if declared is not None:
                    places = by_metric.setdefault(declared.name, (declared, {}))[1]
                    places.setdefault(name, {})[label] = row_anchor(label, describes)
                    if label in (known := material.facts.get("signatures", {})):
                        signed.setdefault(declared.name, {})[label] = known[label]
    own = folder / METRIC_PAGES
    for page in own.glob("*.html"):
        page.unlink()
    if not by_metric:
        return
    own.mkdir(exist_ok=True)
    for name, (metric, places) in by_metric.items():
        frame = edition.frame(f"{METRIC_PAGES}/{name}.html", drawn)
        text = html(metric, places, titles, edition.language, signed.get(name, {}), frame)
        files.write(own / f"{name}.html", text)


def html(
    metric: Metric,
    places: Mapping[str, Mapping[str, str]],
    titles: Mapping[str, str],
    language: str,
    signed: Mapping[str, str],
    frame: Mapping[str, Any],
) -> str:
    """The page of a metric; see `ragbench.views.about.metric_page.parts`."""
    _ = translator(language)
    page = assembly.chrome(language, f"{_('Metric')} · {metric.name}") | {
        "name": metric.name,
        "body": Web(_).blocks(metric_page.parts(metric, _, places, titles, signed)),
        **frame,
    }
    return str(assembly.exporter().environment.get_template("metric.html.j2").render(page=page))
