"""Executed notebooks and stored measurements become pages. No HTML of a notebook is trusted."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.parts import TEMPLATES, text_of
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.views import MIME, Page
from ragbench.old.views.basics.marks import METRIC_PAGES
from ragbench.old.views.basics.text import clean
from ragbench.old.views.basics.web import html as pieces

PLOTLY = "application/vnd.plotly.v1+json"
DRAWING = "image/svg+xml"
PICTURES = {"image/png": "png", "image/jpeg": "jpg"}
PICTURES_FOLDER = "pictures"
"""Beside the pages, of what notebooks made themselves."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
"""The content security policy of pages: the scripts and styles beside them, nothing from anywhere else."""
OWN_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'").replace("data:", "data: blob:")
"""That of a page with figures of a notebook's own: Plotly, which draws them, writes styles into the page."""
PLOTLY_SCRIPT = "plotly.min.js"
FOLD = "fold"
"""The tag of cells whose sections are folded."""
_HEADING = re.compile(r"<h2(?: id=\"(?P<id>[^\"<>]*+)\")?[^<>]*+>(?P<title>(?:(?!<h2).)*?)</h2>", re.DOTALL)
_REGION = re.compile(r'(role="region" aria-label=")([^"]*)"')
_FIRST = 200
"""A view's own heading is the first that stands in it: within so many signs."""


class Measurements:
    """The measurements that a run has kept, by their names; each is read once."""

    def __init__(self, run: Path) -> None:
        self.folder = run / "parts"
        self._known: dict[str, Measurement] = {}
        self._pages: dict[tuple[str, str], Page] = {}

    def names(self) -> list[str]:
        """The names of all that was kept, in order."""
        return sorted(path.parent.name for path in self.folder.glob("*/findings.json"))

    def replace(self, name: str, measurement: Measurement) -> None:
        """Keep another measurement under the name, as it was written: without secrets."""
        measurement.save(self.folder / name)
        self._known.pop(name, None)
        self._pages = {key: page for key, page in self._pages.items() if key[0] != name}

    def page(self, name: str, language: str) -> Page:
        """The page over a measurement in a language; made once, so that its views share what they work out."""
        key = (name, language)
        if key not in self._pages:
            self._pages[key] = Page(self[name], language=language)
        return self._pages[key]

    def __getitem__(self, name: str) -> Measurement:
        if name not in self.names():
            raise FileNotFoundError(
                f"the run has kept no measurement {name!r}; it has {', '.join(self.names()) or 'none'}"
            )
        if name not in self._known:
            self._known[name] = Measurement.load(self.folder / name)
        return self._known[name]


def html(
    notebook: Any, name: str, measurements: Measurements, language: str, failure: str = "",
    frame: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """The page of one executed notebook; `frame`: see `ragbench.old.report.pages.drawing`."""
    _ = translator(language)
    present = frozenset(output["view"] for output in views(notebook)) | {METRIC_PAGES}
    sections = _sections(notebook, measurements, present, _)
    shown = [part["shown"] for section in sections for part in section["parts"]]
    over, question = title(notebook, _, name)
    page = chrome(language, f"{over} · {question}" if over else question)
    page |= {
        **(frame or {}),
        "sections": sections,
        "failure": reason_in(failure, _),
        "tables": any('class="rb-table"' in fragment for fragment in shown),
    }
    if any('class="rb-own-plot"' in fragment for fragment in shown):
        page |= {"own_charts": True, "policy": OWN_POLICY}
    text, _resources = exporter().from_notebook_node(notebook, resources={"page": page})
    return str(text)


def _sections(
    notebook: Any, measurements: Measurements, present: frozenset[str], _: Translator
) -> list[dict[str, Any]]:
    """The page from heading to heading: a section's title and anchor, whether it is folded, and what is shown in it.

    Every heading of the second level begins one, of prose and of a view; what stands before the first has no title. A
    cell with the tag `fold` folds the sections that begin in it. The code of cells stands folded below what it made.
    """
    sections: list[dict[str, Any]] = [{"title": "", "id": "", "fold": False, "parts": []}]
    sources: list[str] = []

    def add(cell: Any, kind: str, shown: Markup) -> None:
        heading = _HEADING.search(shown)
        if heading and (kind == "prose" or heading.start() < _FIRST):
            fold = FOLD in cell.metadata.get("tags", ())
            number = sum(section["cell"] == cell.id for section in sections[1:])
            own = heading["id"] or (f"part-{cell.id}-{number + 1}" if number else f"part-{cell.id}")
            title, shown = headed(shown)
            sections.append({"title": title, "id": own, "fold": fold, "parts": [], "cell": cell.id})
        if shown.strip():
            sections[-1]["parts"].append({"kind": kind, "shown": shown})

    def fold_code() -> None:
        if sources:
            sections[-1]["parts"].append({"kind": "code", "shown": pieces.all(*map(code, sources))})
        sources.clear()

    for cell in notebook.cells:
        if cell.cell_type == "code":
            sources += [cell.source] if cell.source.strip() else []
            shown = [made for output in cell.outputs if (made := _output(output, measurements, present, _))]
            for fragment in shown:
                add(cell, "output", fragment)
            if shown:
                fold_code()
        elif cell.cell_type == "markdown":
            fold_code()
            add(cell, "prose", prose(cell.source, _))
    fold_code()
    for part in sections[0]["parts"]:  # right below the page's title nothing is of the third level
        part["shown"] = pieces.below_title(part["shown"])
    return sections


def headed(shown: Markup) -> tuple[Markup, Markup]:
    """The first heading of the second level in our own HTML, and the HTML without it; an empty title where none is."""
    heading = _HEADING.search(shown)
    if heading is None:
        return Markup(""), shown
    rest = Markup(_HEADING.sub("", shown, count=1))  # noqa: S704 - what is left of our own HTML
    return Markup(heading["title"]), rest  # noqa: S704 - of our own HTML


def chrome(language: str, title: str) -> dict[str, Any]:
    """What every page's frame needs: language, policy, version."""
    return {
        "language": language,
        "text": translator(language),
        "title": title,
        "policy": POLICY,
        "version": version("ragbench"),
        "own_charts": False,
        "tables": False,
        "wide": False,
        "root": "",
        "before": None,
        "after": None,
        "languages": [],
    }


@lru_cache(maxsize=1)
def beside() -> dict[str, str]:
    """What every page has beside it: the style sheet, charts and folds, the table of questions."""
    return {
        "ragbench.css": text_of("views.css", "questions.css", "page.css"),
        "page.js": text_of("charts.js", "page.js"),
        "questions.js": text_of("one_question.js", "questions.js", "questions_page.js"),
    }


def of_its_own(notebook: Any) -> dict[str, bytes]:
    """What the page of a notebook with figures or pictures of its own has beside it: Plotly, pictures by name."""
    beside: dict[str, bytes] = {}
    for cell in notebook.cells:
        for data in [output["data"] for output in cell.get("outputs", ()) if output.get("data")]:
            if _leading(data) == PLOTLY:
                beside[PLOTLY_SCRIPT] = _plotly()
            elif (picture := _picture(data)) and picture[1]:
                beside |= [picture]
    return beside


@lru_cache(maxsize=1)
def _plotly() -> bytes:
    """The script, as its package brings it."""
    from importlib.util import find_spec

    spec = find_spec("plotly")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    return (Path(places[0]) / "package_data" / PLOTLY_SCRIPT).read_bytes()


@lru_cache(maxsize=1)
def exporter() -> Any:
    """nbconvert with our template, escaping whatever is not marked as safe."""
    from nbconvert.exporters import TemplateExporter

    made = TemplateExporter(
        template_name=TEMPLATES.name, extra_template_basedirs=[str(TEMPLATES.parent)], template_file="index.html.j2"
    )
    made.environment.autoescape = True
    made.environment.trim_blocks = True
    made.environment.filters["regions_apart"] = regions_apart
    return made


def regions_apart(page: Markup) -> Markup:
    """The page with a number behind the name of a table's region that an earlier one has: views do not know of each
    other, and who moves from region to region hears nothing but their names."""
    seen: Counter[str] = Counter()

    def numbered(region: re.Match[str]) -> str:
        seen[region[2]] += 1
        return region[0] if seen[region[2]] == 1 else f'{region[1]}{region[2]} ({seen[region[2]]})"'

    return Markup(_REGION.sub(numbered, page))  # noqa: S704 - nothing but a number is put in


def views(notebook: Any) -> list[Mapping[str, Any]]:
    """Which views the notebook's outputs ask for."""
    return [
        output["data"][MIME]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if MIME in output.get("data", {})
    ]


def _output(output: Any, measurements: Measurements, present: frozenset[str], _: Translator) -> Markup | None:
    if output.output_type == "stream":
        return preformatted(clean(output.text)) if output.name == "stdout" and output.text.strip() else None
    if output.output_type == "error":
        return pieces.fold(_("traceback"), preformatted(clean("\n".join(output.traceback))), kind="code")
    data = output.get("data", {})
    kind = _leading(data)
    if kind == MIME:
        return view(data[MIME], measurements, _.language).html(present)
    if kind == PLOTLY:
        return pieces.own_plot({"data": data[PLOTLY].get("data", []), "layout": data[PLOTLY].get("layout", {})})
    if kind:
        picture = _picture(data)
        return None if picture is None else pieces.image(picture[0])
    return preformatted(clean(data["text/plain"])) if data.get("text/plain", "").strip() else None


def view(asked: Mapping[str, Any], measurements: Measurements, language: str) -> Any:
    """The view that an output asks for, drawn from the measurement that the run has kept."""
    options = asked.get("options", {})
    return measurements.page(str(asked["measurement"]), language).view(str(asked["view"]), **options)


def tables(notebook: Any, measurements: Measurements, language: str) -> list[Page]:
    """The pages over the measurements whose questions a notebook shows as a table."""
    shown = dict.fromkeys(str(asked["measurement"]) for asked in views(notebook) if asked["view"] == "questions")
    return [measurements.page(name, language) for name in shown]


def _leading(data: Mapping[str, Any]) -> str:
    """As what an output is shown that comes in several forms; empty: as a text."""
    return next((kind for kind in (MIME, PLOTLY, *PICTURES, DRAWING) if kind in data), "")


def _picture(data: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """The address of an output's picture, and its file, empty where the address holds it; None for what is not one.

    A drawing (SVG) never lies beside the page: opened by itself, it could run scripts there.
    """
    kind = _leading(data)
    if kind == DRAWING:
        return f"data:{kind};base64,{base64.b64encode(data[kind].encode()).decode()}", b""
    if kind not in PICTURES:
        return None
    try:
        made = base64.b64decode("".join(data[kind].split()), validate=True)
    except ValueError:
        return None
    return f"{PICTURES_FOLDER}/{hashlib.sha256(made).hexdigest()[:16]}.{PICTURES[kind]}", made


OVER = " · "
_FIRST_HEADING = re.compile(r"<h1>((?:(?!<h1>).)*?)</h1>", re.DOTALL)


@lru_cache(maxsize=1)
def _reader() -> Any:
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def sanitize_url(self, url: str) -> str:
            return super().sanitize_url(url) if may_be_followed(url) else "#"

        def image(self, text: str, url: str, title: str | None = None) -> str:
            if not may_be_followed(url) or urlsplit(_plain(url)).netloc:
                return str(escape(text))  # a picture from elsewhere would tell that the page was opened
            return super().image(text, url, title)

    plugins = ["table", "strikethrough", "footnotes", "def_list"]
    return mistune.create_markdown(renderer=Renderer(escape=True), plugins=plugins)


def may_be_followed(url: str) -> bool:
    """Whether a link may be followed: to the web, to a mailbox, or to a place in the report itself."""
    try:
        parts = urlsplit(_plain(url))
    except ValueError:
        return False
    return parts.scheme in ("http", "https", "mailto") or not (parts.scheme or ":" in parts.path.split("/")[0])


def _plain(url: str) -> str:
    """The address as a browser reads it: entities resolved, blanks and control characters gone, slashes upright."""
    letters = [letter for letter in unescape(unescape(url)) if letter > " " and letter.isprintable()]
    return "".join(letters).replace("\\", "/")


def prose(markdown: str, translate: Translator) -> Markup:
    """The HTML of a Markdown cell; a heading `Tier 1 · Does it …?` gets its first part set above it."""
    text = str(_reader()(clean(translate.blocks(markdown))))
    return Markup(_FIRST_HEADING.sub(lambda heading: str(_heading(heading[1])), text))  # noqa: S704 - the reader escapes HTML


def _heading(inner: str) -> Markup:
    over, dot, rest = Markup(inner).partition(OVER)  # noqa: S704 - escaped by the reader
    return pieces.title(rest if dot else over, over if dot else "")


def title(notebook: Any, translate: Translator, name: str) -> tuple[str, str]:
    """What stands above the title, and the title: a notebook's first heading, else its name."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        heading = _FIRST_HEADING.search(str(_reader()(clean(translate.blocks(cell.source)))))
        if heading:
            text = Markup(heading[1]).striptags()  # noqa: S704 - only its text is kept
            over, dot, rest = text.partition(OVER)
            return (over, rest) if dot else ("", text)
    return "", name


@lru_cache(maxsize=256)
def code(source: str) -> Markup:
    """Python code, its parts marked for the style sheet."""
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer  # the package swaps itself while another thread imports from it

    marked = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    return pieces.pre(Markup(marked), "source")  # noqa: S704 - pygments escapes


def preformatted(text: str) -> Markup:
    """Text as it stands."""
    return pieces.pre(text)
