"""Cells of tables, which turn into cards on a narrow page: each knows what it is called there."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup


def head(text: Markup | str, kind: str = "") -> Markup:
    """The head of a column."""
    return Markup("<th scope=col{}>{}</th>").format(_class(kind), text)


def cell(label: Markup | str, content: Markup | str, kind: str = "") -> Markup:
    """A cell with its column's name for narrow pages."""
    return Markup('<td data-label="{}"{}><span>{}</span></td>').format(label, _class(kind), content)


def row(cells: Sequence[Markup], kind: str = "") -> Markup:
    """A row of cells."""
    return Markup("<tr{}>{}</tr>").format(_class(kind), Markup("").join(cells))


def under(text: Markup | str, width: int) -> Markup:
    """A row below another, over its whole width, with what is to be said of it."""
    return Markup('<tr class="rb-under"><td colspan="{}">{}</td></tr>').format(width, text)


def table(label: str, heads: Sequence[Markup], rows: Sequence[Markup], kind: str = "rb-wide") -> Markup:
    """A table that scrolls by itself where the page is too narrow; `label` names it for those who cannot see it."""
    return Markup(
        '<div class="rb-scroll" tabindex="0" role="region" aria-label="{}"><table class="rb-grid {}">'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(label, kind, Markup("").join(heads), Markup("").join(rows))


def _class(kind: str) -> Markup:
    return Markup(' class="{}"').format(kind) if kind else Markup("")
