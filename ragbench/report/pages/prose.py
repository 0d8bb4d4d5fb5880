"""A notebook's Markdown as HTML: translated block by block, with no HTML of its own and no way out of the page."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from ragbench.core.language import Translator
from ragbench.views.basics.text import clean
from ragbench.views.basics.web import html

OVER = " · "
_HEADING = re.compile(r"<h1>((?:(?!<h1>).)*?)</h1>", re.DOTALL)


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
    return Markup(_HEADING.sub(lambda heading: str(_heading(heading[1])), text))  # noqa: S704 - the reader escapes HTML


def _heading(inner: str) -> Markup:
    over, dot, rest = Markup(inner).partition(OVER)  # noqa: S704 - escaped by the reader
    return html.title(rest if dot else over, over if dot else "")


def title(notebook: Any, translate: Translator, name: str) -> tuple[str, str]:
    """What stands above the title, and the title: a notebook's first heading, else its name."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        heading = _HEADING.search(str(_reader()(clean(translate.blocks(cell.source)))))
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
    return html.pre(Markup(marked), "source")  # noqa: S704 - pygments escapes


def preformatted(text: str) -> Markup:
    """Text as it stands."""
    return html.pre(text)
