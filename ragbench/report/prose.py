"""A notebook's Markdown as HTML: translated block by block, with no HTML of its own and no way out of the page."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from markupsafe import Markup, escape

from ragbench.language import Translator

OVER = " · "
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)


@lru_cache(maxsize=1)
def _reader() -> Any:
    import mistune

    return mistune.create_markdown(escape=True, plugins=["table", "strikethrough", "footnotes", "def_list"])


def prose(markdown: str, translate: Translator) -> Markup:
    """The HTML of a Markdown cell; a heading `Tier 1 · Does it …?` gets its first part set above it."""
    html = str(_reader()(translate.blocks(markdown)))
    return Markup(_HEADING.sub(lambda found: str(_heading(found[1])), html))  # noqa: S704 - the reader escapes HTML


def _heading(inner: str) -> Markup:
    over, dot, rest = inner.partition(OVER)
    if not dot:
        return Markup("<h1>{}</h1>").format(Markup(inner))  # noqa: S704 - escaped by the reader
    return Markup('<h1><span class="over">{}</span> {}</h1>').format(Markup(over), Markup(rest))  # noqa: S704


def title(notebook: Any, translate: Translator, name: str) -> tuple[str, str]:
    """What stands above the title, and the title: a notebook's first heading, else its name."""
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        found = _HEADING.search(str(_reader()(translate.blocks(cell.source))))
        if found:
            text = Markup(found[1]).striptags()  # noqa: S704 - only its text is kept
            over, dot, rest = text.partition(OVER)
            return (over, rest) if dot else ("", text)
    return "", name


@lru_cache(maxsize=256)
def code(source: str) -> Markup:
    """Python code, its parts marked for the style sheet."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    marked = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    return Markup('<pre class="source" tabindex="0">{}</pre>').format(Markup(marked))  # noqa: S704 - pygments escapes


def preformatted(text: str) -> Markup:
    """Text as it stands."""
    return Markup('<pre tabindex="0">{}</pre>').format(escape(text))
