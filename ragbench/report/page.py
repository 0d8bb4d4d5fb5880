"""A page: a title and parts, in Jupyter, as text and as an HTML file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragbench.core.language import load_language
from ragbench.core.secrets import mask
from ragbench.report.figures import COLOURS
from ragbench.report.parts import PLOTLY, Part, only_parts, trusted

TEMPLATES = Path(__file__).parent / "templates"
# Beside these nothing is loaded or run: not by a text of the data, and not from another host.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'unsafe-inline'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Page:
    """title: its first heading. parts: in the order of reading. language: code of its texts."""

    title: str
    parts: Sequence[Part]
    language: str = "en"

    def save(self, path: Path | str) -> Path:
        """Write the page, and beside it the script that draws figures; returns its path."""
        fragments = [part.html for part in self.parts]
        return write_page(Path(path), self.title, fragments, self.language)

    def __str__(self) -> str:
        return "\n\n".join([self.title, *map(str, self.parts)])

    __repr__ = __str__

    def _ipython_display_(self) -> None:
        show(self.parts)


def show(*parts: Part | Sequence[Part] | None) -> None:
    """Show parts in Jupyter one by one, so that it takes the best form of each."""
    from IPython.display import display

    for part in only_parts(*parts):
        display(part)


def write_page(
    path: Path,
    title: str,
    fragments: Sequence[Markup],
    language: str = "en",
    *,
    is_of_run: bool = False,
) -> Path:
    """Fill the template with fragments of HTML; returns the path.

    is_of_run: whether an index lies beside it. Secrets that ragbench uses are masked.
    """
    from ragbench.report.manifest import version

    body = Markup("\n").join(fragments)
    css = colour_css() + read_template("page.css")
    scripts = [read_template("page.js")]
    if 'class="questions"' in body:
        scripts.append(read_template("questions.js"))
        css += read_template("questions.css")
    has_figures = "<figure>" in body
    path.parent.mkdir(parents=True, exist_ok=True)
    if has_figures:
        write_plotly(path.parent)
    html = template("page.html.j2").render(
        title=title,
        body=body,
        language=language,
        policy=POLICY.format(scripts=" ".join(map(script_hash, scripts))),
        css=trusted(css),
        dark=json.dumps(dict(COLOURS.values())),
        plotly=PLOTLY if has_figures else "",
        scripts=[trusted(script) for script in scripts],
        is_of_run=is_of_run,
        version=version(),
        _=load_language(language).translate,
    )
    path.write_text(mask(html), encoding="utf-8")
    return path


def write_plotly(folder: Path) -> None:
    """Write plotly.min.js (some 5 MB) into the folder."""
    from plotly.offline import get_plotlyjs

    # So told, Chromium compiles it beside the page: the page answers half a second earlier.
    script = "//# allFunctionsCalledOnLoad\n" + get_plotlyjs()
    (folder / PLOTLY).write_text(script, encoding="utf-8")


def colour_css(place: str = ":root") -> str:
    """Return the colours as variables of a stylesheet; dark ones on dark screens only.

    place: what they hold for; in Jupyter only what we show.
    """
    light = "".join(f"--{name}:{colours[0]};" for name, colours in COLOURS.items())
    dark = "".join(f"--{name}:{colours[1]};" for name, colours in COLOURS.items())
    return (
        f"{place}{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{{place}{{color-scheme:dark;{dark}}}}}\n"
    )


def script_hash(script: str) -> str:
    """Return the source by which a policy lets exactly this script run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def read_template(name: str) -> str:
    """Return a stylesheet or script of the templates."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def template(name: str) -> Any:
    """Return a template of this package. What is no Markup is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
