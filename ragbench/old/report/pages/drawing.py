"""From what a run has stored to its pages and their index, again and again with the same bytes.

In the run's own language, and beside it in others; with a page for every metric that the run shows, and with the data
that a page loads when it needs them: compressed, in scripts beside it, so that it opens from disk.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from ragbench.old.core import answered_by
from ragbench.old.core.language import NAMES, translator
from ragbench.old.core.measurement import DamagedError
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.report.keeping import kept, results
from ragbench.old.report.pages import notebook_pages
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.tiers.basics import session
from ragbench.old.tiers.basics.session import Lack
from ragbench.old.tiers.run.overview import NAME as OVERVIEW
from ragbench.old.views import Page
from ragbench.old.views.about import metric_page
from ragbench.old.views.about.run_summary import Overview, compared, size_and_cost
from ragbench.old.views.basics.marks import METRIC_PAGES, row_anchor
from ragbench.old.views.basics.text import clean
from ragbench.old.views.basics.web import Web
from ragbench.old.views.items import parts, slug


class Sheet(NamedTuple):
    """What the page of one notebook is drawn by: the run, the folder of its edition, the notebook's name and language.

    failure: why the notebook failed. frame: what surrounds the page, see `ragbench.old.report.pages.drawing`. told: the
    measurements that the first page gives the answers of.
    """

    folder: Path
    own: Path
    name: str
    language: str
    failure: str
    frame: Mapping[str, Any]
    told: frozenset[str]


Apart = Callable[[Sequence[Sheet]], Sequence[tuple[dict[str, Any], str]]]
"""Draws pages in other processes: what `page` returns of each."""


def render(folder: Path, *, language: str | None = None, measured: notebook_pages.Measurements | None = None) -> Path:
    """Draw a run's pages again from what it has stored, with no database and no model; the index is returned.

    language: also in this one from now on, in a folder of that name, and the index of these pages; the run's own stay.
    measured: what the run has kept, where it was read already.
    With the same version of ragbench the same bytes come out.
    Raises FileNotFoundError for a folder that holds no run, ValueError for one that ragbench did not write,
    DamagedError for one that somebody has changed since.
    """
    manifest = kept.manifest_of(folder)
    if language is not None and language not in {edition.language for edition in editions(manifest)}:
        manifest["also"] = [*manifest.get("also", ()), language]
        results.write_json(folder / results.MANIFEST, manifest)
    try:
        draw(folder, manifest, measured=measured)
    except OSError:
        raise
    except Exception as error:  # whatever somebody made of it
        raise error if isinstance(error, DamagedError) else DamagedError(folder, error) from error
    folders = {edition.language: edition.folder for edition in editions(manifest)}
    return folder / folders.get(language or "", "") / "index.html"


def draw(
    folder: Path,
    manifest: Mapping[str, Any],
    language: str | None = None,
    *,
    apart: Apart | None = None,
    measured: notebook_pages.Measurements | None = None,
) -> dict[str, str]:
    """Draw all pages of a run, in each of its languages; of a page that cannot be drawn the reason, by its name.

    language: in this one alone, whatever the run's are. apart: draws pages in other processes, some at a time.
    measured: what the run has kept, where it was read already.
    """
    measured = measured or notebook_pages.Measurements(folder)
    drawn = [Edition(language)] if language else editions(manifest)
    undrawn: dict[str, str] = {}
    for edition in drawn:
        own = not (language or edition.folder)
        spoken = {each["name"]: each["language"] if own else edition.language for each in manifest["notebooks"]}
        undrawn |= _draw(folder, manifest, measured, edition, drawn, spoken, apart)
    for name, content in notebook_pages.beside().items():
        results.write(folder / name, content)
    return undrawn


def _draw(
    folder: Path, manifest: Mapping[str, Any], measured: notebook_pages.Measurements, edition: Edition,
    drawn: Sequence[Edition], spoken: Mapping[str, str], apart: Apart | None,
) -> dict[str, str]:  # fmt: skip
    """The pages of one edition; the overview's is the first page itself. spoken: the language of each."""
    own = folder / edition.folder
    own.mkdir(exist_ok=True)
    notebooks = {listed["name"]: notebook_at(folder / f"{listed['name']}.ipynb") for listed in manifest["notebooks"]}
    ways = {name: way(notebook, name, spoken[name]) for name, notebook in notebooks.items() if name != OVERVIEW}
    order, told = list(ways), drawn_names(measured, edition.language)
    sheets = []
    for described in manifest["notebooks"]:
        name = described["name"]
        frame = edition.frame(f"{name}.html", drawn)
        if name in ways:
            place = order.index(name)
            frame["before"] = ways[order[place - 1]] if place else None
            frame["after"] = ways[order[place + 1]] if place + 1 < len(order) else None
        sheets.append(Sheet(folder, own, name, spoken[name], described["failure"], frame, told))
    pages = apart(sheets) if apart is not None else [page(sheet, notebooks[sheet.name], measured) for sheet in sheets]
    entries = [entry for entry, _why in pages]
    titles = {entry["name"]: entry["question"] for entry in entries}
    write(own, measured, titles, edition, drawn)
    frame, left_out = edition.frame("index.html", drawn), session.read(manifest.get("left_out", ()))
    called = (str(manifest.get("name") or ""), str(manifest.get("note") or ""))
    results.write(own / "index.html", index_page(entries, measured, edition.language, frame, left_out, called))
    return {entry["name"]: why for entry, why in pages if why}


def page(
    sheet: Sheet, notebook: Any = None, measured: notebook_pages.Measurements | None = None
) -> tuple[dict[str, Any], str]:
    """Write the page and all beside it; its entry on the first page, and why it could not be drawn, else "".

    notebook, measured: as they are in the run's folder, where they are read already.
    """
    folder, own, name, language, failure, frame, told = sheet
    notebook = notebook_at(folder / f"{name}.ipynb") if notebook is None else notebook
    measured, why = measured or notebook_pages.Measurements(folder), ""
    try:
        text = notebook_pages.html(notebook, name, measured, language, failure, frame)
        for shown in notebook_pages.tables(notebook, measured, language):
            write_scripts(own, shown)
        listed = entry(notebook, name, measured, language, failure, told)
    except Exception as error:  # whatever a notebook put out, the other pages are drawn
        why = kept.told(error)
        failure = failure or why
        for cell in notebook.cells:
            if "outputs" in cell:
                cell.outputs = []
        text = notebook_pages.html(notebook, name, measured, language, failure, frame)
        listed = entry(notebook, name, notebook_pages.Measurements(folder / "none"), language, failure)
    if name != OVERVIEW:
        results.write(own / f"{name}.html", text)
        for file, content in notebook_pages.of_its_own(notebook).items():
            (own / file).parent.mkdir(exist_ok=True)
            results.write(own / file, content)
    return listed, why


def notebook_at(path: Path) -> Any:
    """The notebook of a file, as nbformat has it. Raises ValueError for what is none, or holds more than a run's."""
    text, nbformat = results.text(path), results.notebook_format()
    try:
        notebook = nbformat.reader.reads(text)  # its own `reads` prints a faulty one whole, and goes on
        nbformat.validate(notebook)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, nbformat.ValidationError) as error:
        said = excerpt(str(error).partition("\n")[0], 200)
        raise ValueError(f"{path.name} is no notebook of Jupyter's format 4: {said}") from None
    if notebook.nbformat != 4:
        raise ValueError(f"{path.name} is no notebook of Jupyter's format 4, but of {notebook.nbformat}")
    return notebook


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
        results.write(own / f"{name}.html", text)


def html(
    metric: Metric,
    places: Mapping[str, Mapping[str, str]],
    titles: Mapping[str, str],
    language: str,
    signed: Mapping[str, str],
    frame: Mapping[str, Any],
) -> str:
    """The page of a metric; see `ragbench.old.views.about.metric_page.parts`."""
    _ = translator(language)
    page = notebook_pages.chrome(language, f"{_('Metric')} · {metric.name}") | {
        "name": metric.name,
        "body": Web(_).blocks(metric_page.parts(metric, _, places, titles, signed)),
        **frame,
    }
    return str(notebook_pages.exporter().environment.get_template("metric.html.j2").render(page=page))


@dataclass(frozen=True)
class Edition:
    """All pages of a run in one language.

    folder: where they lie in the run's folder, with a slash at its end; empty for those of the run's own language.
    """

    language: str
    folder: str = ""

    def frame(self, page: str, editions: Sequence[Edition]) -> dict[str, Any]:
        """What the frame of a page needs: the way to the run's folder, and to the same page in each language.

        page: the page's file as its edition names it, `metrics/mrr.html`. A run of one language offers no choice.
        """
        root = "../" * f"{self.folder}{page}".count("/")
        offered = [
            {"language": edition.language, "name": NAMES[edition.language], "current": edition == self,
             "href": f"{root}{edition.folder}{page}"}
            for edition in editions
        ]  # fmt: skip
        return {"root": root, "languages": offered if len(offered) > 1 else []}


def editions(manifest: Mapping[str, Any]) -> list[Edition]:
    """Those that a run is drawn in, the one of its own language first."""
    own = str(manifest.get("language", "en"))
    others = dict.fromkeys(str(language) for language in manifest.get("also", ()))
    return [Edition(own), *(Edition(language, f"{language}/") for language in others if language != own)]


FOLDER = "questions"


def names(page: Page) -> Iterator[tuple[str, str]]:
    """Every part of a page's table of questions: its name, and its content as a page holds it."""
    material = page.material
    for name, value in parts(material):
        yield f"{slug(material)}/{name}", packed(value)


def packed(value: Any) -> str:
    """A JSON value, compressed, as letters that are safe in a script and in HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode("ascii")


def write_scripts(folder: Path, page: Page) -> None:
    """Write the parts of a page's table of questions beside the page, in place of those that were there."""
    own = folder / FOLDER / slug(page.material)
    for part in own.glob("*.js"):
        part.unlink()
    own.mkdir(parents=True, exist_ok=True)
    for name, content in names(page):
        results.write(folder / FOLDER / f"{name}.js", f'ragbenchData("{name}","{content}");\n')


FIRST = ("standing", "differences", "blame_bars", "overview")
"""The views of all pages together, in their order."""
FOLDED = ("limits", "provenance")


def way(notebook: Any, name: str, language: str) -> dict[str, str]:
    """The way to a page: its address, and what stands above its title and its title."""
    over, question = notebook_pages.title(notebook, translator(language), name)
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


def index_page(
    entries: list[dict[str, Any]], measurements: Measurements, language: str, frame: Mapping[str, Any],
    left_out: Sequence[Lack] = (), called: tuple[str, str] = ("", ""),
) -> str:  # fmt: skip
    """The page over all pages, with what those need that were left out; frame: see `ragbench.old.report.pages.drawing`.

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

    def warned(name: str) -> list[str]:
        return answered_by.warnings(measurements[name].facts, _) if name in measurements.names() else []

    def drawn(name: str) -> Markup:
        asked = {"view": name, "measurement": OVERVIEW}
        view = notebook_pages.view(asked, measurements, language)
        shown: Markup = view.html(frozenset({METRIC_PAGES})) if view.parts else Markup()
        return shown

    page = notebook_pages.chrome(language, title) | {
        **frame,
        "entries": [
            {**e, "about": about.get(e["name"], ""), "warned": [clean(said) for said in warned(e["name"])]}
            for e in entries
            if e["name"] != OVERVIEW
        ],
        "failure": next((e["failure"] for e in entries if e["name"] == OVERVIEW), ""),
        "views": {name: drawn(name) for name in (*FIRST, *FOLDED) if whole is not None},
        "name": clean(called[0]),
        "note": clean(called[1]),
        "wide": True,
        "left_out": [(lack.page, lack.sentence(_)) for lack in left_out],
    }
    template = notebook_pages.exporter().environment.get_template("overview.html.j2")
    return str(template.render(page=page))
