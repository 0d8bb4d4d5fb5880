"""What a page is made of: a text, a frame or a figure.

Each becomes HTML and plain text and shows itself in Jupyter; a frame also becomes LaTeX.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup, escape

from ragbench.core.language import NOTHING

if TYPE_CHECKING:
    import plotly.graph_objects as go

PLOTLY = "plotly.min.js"
# What a cell of a notebook hands to our pages where Jupyter shows less.
PAGE_HTML = "application/vnd.ragbench.page+html"
# A cell that is set right: a number, an interval, a p value, or nothing.
NUMBER = re.compile(r"[+−–<=>≤≥\[\s]*(\d.*|∞.*|)", re.DOTALL)
INTERVAL = re.compile(r"(?P<value>.+) (?P<ends>\[[^\[\]]*\])")
# Marks that plotly knows in texts; everything else that looks like a mark is text.
PLOTLY_MARKS = re.compile(r"&lt;(/?(?:b|br|i|sup|sub|extra)/?)&gt;")
LONGEST_UNBROKEN = 26  # letters of a row's heading
LONGEST_NARROW = 40  # letters of a cell, beyond which its column is wide
# Signs that LaTeX does not have in its usual fonts.
LATEX_SIGNS = {
    "−": "$-$",
    "–": "--",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≈": r"$\approx$",
}
# At the beginning of a cell: of systems, of verdicts, of p values; fonts of papers lack most.
LATEX_MARKS = re.compile("(?<=& )[●◆■▲✕★▼○·=] ")
# What Jupyter's own tables would set otherwise.
JUPYTER_STYLE = Markup(
    "<style>.part td.number{white-space:nowrap}"
    ".part :is(th,.words){text-align:start!important;vertical-align:top}"
    ".part th.number{text-align:end!important}</style>"
)
# Draws a figure where our own script is missing: in what plain nbconvert writes.
DRAW_ALONE = Markup(
    """<script>(() => {
const figure = document.currentScript.previousElementSibling.querySelector("figure");
const { data, layout } = JSON.parse(figure.querySelector("script").textContent);
const plot = figure.querySelector(".plot");
const draw = () => Plotly.newPlot(plot, data, layout, { responsive: true });
if (window.Plotly) return draw();
const { define } = window, script = document.createElement("script");
window.define = undefined; // else plotly would hand itself to a loader instead of the page
script.onload = () => { window.define = define; draw(); };
script.src = "plotly.min.js";
document.head.append(script);
})();</script>"""
)


@dataclass(frozen=True, eq=False)
class Part:
    """One thing on a page.

    content: a text (plain, or Markup that is HTML already), a data frame whose cells are ready to
    read, or a plotly figure. Cells of Markup need dtype=object, else pandas takes them for texts.
    title: its heading; of a figure what it shows, as a sentence. note: a remark below it.
    style: a class of the stylesheet: finding, facts, more, warning.
    is_folded: whether a reader has to click on the title to see the rest.
    """

    content: str | pd.DataFrame | go.Figure
    title: str = ""
    note: str = ""
    style: str = ""
    is_folded: bool = False

    @property
    def html(self) -> Markup:
        """A fragment for a page."""
        body = self._content_html()
        if self.note:
            body += Markup('<p class="note">{}</p>').format(self.note)
        if self.is_folded:
            fold = Markup("<details><summary>{}</summary>{}</details>")
            body = fold.format(self.title, body)
        elif self.title and not is_figure(self.content):
            body = Markup("<h2>{}</h2>{}").format(self.title, body)
        return Markup('<section class="part {}">{}</section>').format(self.style, body)

    def _content_html(self) -> Markup:
        if is_figure(self.content):
            return figure_html(self.content, "" if self.is_folded else self.title)
        if isinstance(self.content, pd.DataFrame):
            return frame_html(self.content)
        if isinstance(self.content, Markup):  # HTML already
            is_block = self.content.startswith(("<p", "<div", "<ul", "<ol", "<dl"))
            return self.content if is_block else Markup("<p>{}</p>").format(self.content)
        paragraphs = [text for text in self.content.split("\n\n") if text.strip()]
        return Markup("").join(Markup("<p>{}</p>").format(text) for text in paragraphs)

    def __str__(self) -> str:
        """Title, content and note as plain text; of a figure what it shows point by point."""
        if is_figure(self.content):
            content = "\n".join(figure_texts(self.content))
        elif isinstance(self.content, pd.DataFrame):
            content = plain_frame(self.content).to_string()
        else:
            content = plain_text(self.content)
        parts = (plain_text(self.title), content, plain_text(self.note))
        return "\n".join(part for part in parts if part)

    __repr__ = __str__

    def to_latex(self, label: str = "") -> str:
        """Return the frame as a table of a paper, with booktabs.

        Raises TypeError for a text and for a figure.
        """
        if not isinstance(self.content, pd.DataFrame):
            kind = type(self.content).__name__
            raise TypeError(f"only a frame becomes LaTeX, and this part is a {kind}")
        table = plain_frame(self.content).style.format(escape="latex")
        table = table.format_index(escape="latex", axis="index")
        table = table.format_index(escape="latex", axis="columns")
        latex = table.to_latex(hrules=True, caption=plain_text(self.title), label=label)
        for sign, written in LATEX_SIGNS.items():
            latex = latex.replace(sign, written)
        return LATEX_MARKS.sub("", latex)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        html = JUPYTER_STYLE + self.html
        bundle: dict[str, Any] = {"text/plain": str(self), "text/html": str(html)}
        if is_figure(self.content):
            drawn = figure_data(self.content)
            # JupyterLab shows no caption: the title needs room above the legend.
            drawn["layout"].setdefault("margin", {})["t"] = 60
            drawn["layout"]["title"] = {"text": f"<b>{escape(self.title)}</b>", "x": 0}
            bundle["application/vnd.plotly.v1+json"] = drawn
            bundle["text/html"] += str(DRAW_ALONE)
        return bundle


def trusted(html: str) -> Markup:
    """Mark HTML that ragbench wrote itself, a message or a template, as one not to escape.

    What is filled in by `.format(…)` afterwards is escaped.
    """
    return Markup(html)  # noqa: S704  the one door; texts of people do not come here


def facts(named: Mapping[str, Any]) -> Part:
    """Return one quiet line of names and values, such as `questions 129`."""
    pair = Markup("<span>{} <b>{}</b></span>")
    pairs = [pair.format(*entry) for entry in named.items()]
    return Part(Markup(" ").join(pairs), style="facts")


def plain_text(text: str) -> str:
    """Return a text without the marks of HTML, if it has any; a paragraph is a line."""
    if not isinstance(text, Markup):
        return str(text)
    return "\n".join(trusted(line).striptags() for line in text.split("</p>") if line)


def plain_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with cells and headings of plain text, without a name above its index."""
    plain = frame.map(cell_text).map(plain_text).rename_axis(index=None, columns=None)
    if any(isinstance(heading, Markup) for heading in frame.index):
        plain.index = pd.Index([plain_text(heading) for heading in frame.index])
    return plain


def cell_text(cell: Any) -> str:
    """Return what a cell shows; a dash where it is empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return NOTHING
    return cell if isinstance(cell, str) else str(cell)


def frame_html(frame: pd.DataFrame) -> Markup:
    """Return a table whose index heads its rows. Numbers stand right, words left."""
    columns = [[cell_text(cell) for cell in frame[name]] for name in frame.columns]
    classes = []
    for cells in columns:
        # Long texts are set not too narrow.
        is_long = any(len(cell) > LONGEST_NARROW for cell in cells)
        words = "words long" if is_long else "words"
        classes.append("number" if all(map(is_number, cells)) else words)
    # A frame with plain row numbers has no headings of rows.
    has_headings = not isinstance(frame.index, pd.RangeIndex)
    head = Markup("<th>{}</th>").format(frame.index.name or "") if has_headings else Markup("")
    for name, kind in zip(frame.columns, classes, strict=True):
        head += Markup('<th scope="col" class="{}">{}</th>').format(kind, name)
    body = []
    for place, heading in enumerate(frame.index):
        row = Markup("")
        if has_headings:
            # A short heading is not broken.
            kind = "short" if len(plain_text(str(heading))) <= LONGEST_UNBROKEN else ""
            row = Markup('<th scope="row" dir="auto" class="{}">{}</th>').format(kind, heading)
        for cells, kind in zip(columns, classes, strict=True):
            row += cell_html(cells[place], kind)
        # A row without a heading goes on with what the last heading names.
        more = Markup(' class="on"') if heading == "" else ""
        body.append(Markup("<tr{}>{}</tr>").format(more, row))
    # A wide table scrolls by itself, not the whole page.
    table = Markup(
        '<div class="scroll"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    )
    return table.format(head, Markup("\n").join(body))


def is_number(text: str) -> bool:
    """Whether a cell is set as a number."""
    return NUMBER.fullmatch(plain_text(text)) is not None


def cell_html(text: str, kind: str) -> Markup:
    """Return a cell; the interval behind a value is set quieter."""
    parts = INTERVAL.fullmatch(text)
    if kind == "number" and parts and not isinstance(text, Markup):
        text = Markup('{} <span class="interval">{}</span>').format(parts["value"], parts["ends"])
    direction = Markup(' dir="auto"') if kind != "number" else ""
    return Markup('<td class="{}"{}>{}</td>').format(kind, direction, text)


def only_parts(*parts: Part | Sequence[Part] | None) -> list[Part]:
    """Return parts as one list: a view may give one, several or None."""
    together: list[Part] = []
    for part in parts:
        if isinstance(part, Part):
            together.append(part)
        elif part is not None:
            together += part
    return together


def is_figure(content: Any) -> bool:
    """Whether it is plotly's; plotly itself is not imported to find out."""
    return hasattr(content, "to_plotly_json")


def figure_data(figure: go.Figure) -> dict[str, Any]:
    """Return data and layout as plain values, in which texts of people cannot be marks."""
    drawn = json.loads(figure.to_json())
    return {"data": escape_texts(drawn["data"]), "layout": escape_texts(drawn["layout"])}


def escape_texts(value: Any) -> Any:
    """Escape every text of a figure; plotly's few marks of emphasis stay."""
    if isinstance(value, dict):
        return {name: escape_texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [escape_texts(inner) for inner in value]
    if isinstance(value, str):
        plain = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return PLOTLY_MARKS.sub(r"<\1>", plain)
    return value


def figure_html(figure: go.Figure, title: str = "") -> Markup:
    """Return the figure for our page's script, which draws it by plotly.min.js beside it."""
    drawn = json.dumps(figure_data(figure), ensure_ascii=False, separators=(",", ":"))
    caption = Markup("<figcaption>{}</figcaption>").format(title) if title else ""
    plot = Markup('<div class="plot" role="img" aria-label="{}" style="height:{}px"></div>')
    # No text of the data can end the script's element.
    data = Markup('<script type="application/json">{}</script>').format(
        trusted(drawn.replace("<", "\\u003c"))
    )
    return Markup("<figure>{}{}{}</figure>").format(
        caption, plot.format(plain_text(title), figure.layout.height), data
    )


def figure_texts(figure: go.Figure) -> list[str]:
    """Return what a figure shows: series and text of every point that has one."""
    return [
        f"{trace.name}: {text}" if trace.name else str(text)
        for trace in figure.data
        for text in (() if trace.customdata is None else trace.customdata)
    ]
