"""Parts as plain text for a terminal, and in Markdown with every sign of data escaped."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from markupsafe import Markup

from ragbench.old.core import terminal
from ragbench.old.core.parts.blocks import Column, Grid, Group, Styled, Text, Under, cells_of
from ragbench.old.core.parts.style import Spoken

_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#|!~$])")
_CALL = re.compile(r"(?<![A-Za-z0-9_])@")
CALLS_NOBODY = "@&#8203;"  # with a space without width: else whoever is named there is written to
_EMPHASIS = re.compile(r"<(/?)(b|code)>")
HEADINGS = {"h2": "## ", "h3": "### ", "h4": "**"}


class Markdown(Spoken):
    """How parts are written in Markdown."""

    def cell(self, column: Column, cell: Any, digits: int) -> str:
        """A cell without spaces around it."""
        return super().cell(column, cell, digits).strip()

    def p(self, value: float) -> str:
        """`\\< 0.001`."""
        return markdown(super().p(value))

    def text(self, text: str) -> str:
        """A text, every sign of Markdown escaped."""
        return kept_apart(text, markdown(text))

    def emphasis(self, markup: Markup) -> str:
        """A sentence with its bold words, and those of code."""
        parts = _EMPHASIS.split(str(markup))
        signs = {"b": "**", "code": "`"}
        return "".join(
            signs[part] if place % 3 == 2 else "" if place % 3 == 1 else kept_apart(part, markdown(plain_of(part)))
            for place, part in enumerate(parts)
        )

    def tag(self, tag: str) -> str:
        """Bold words, and those of code."""
        return "`" if "code" in tag else "**"

    def styled(self, styled: Styled, content: str) -> str:
        """Bold words are bold here, too."""
        sign = {"b": "**", "code": "`"}.get(styled.tag, "")
        return f"{sign}{content}{sign}" if content else ""

    def paragraph(self, text: Text) -> str:
        """A paragraph or a heading."""
        mark = HEADINGS.get(text.look, "")
        said = self.phrase(text.content).strip()
        return f"{mark}{said}{mark if mark == '**' else ''}" if said else ""

    def table(self, grid: Grid) -> str:
        """A table, its notes as paragraphs below; a group's title stands in a row of its own."""
        width, rows = len(grid.columns), iter(self.written(grid))
        lines = [[self.phrase(column.title) for column in grid.columns], ["---"] * width]
        for row in grid.rows:
            if cells_of(row) is not None:
                lines.append(next(rows))
            elif isinstance(row, Group | Under):
                said = self.phrase(row.title if isinstance(row, Group) else row.content)
                lines += [[said, *[""] * (width - 1)]] if said else []
        table = "\n".join(f"| {' | '.join(row)} |" for row in lines)
        return self.between.join([table, *map(self.text, grid.notes)])


def plain_of(markup: str) -> str:
    """The text of a piece of markup, on one line."""
    return Markup(markup).striptags()  # noqa: S704 - only its text is kept


def kept_apart(text: str, written: str) -> str:
    """What was written of a text, with a space where the text begins or ends with one."""
    return " " * text[:1].isspace() + written + " " * (text[-1:].isspace() and bool(text.strip()))


def markdown(text: object) -> str:
    """A text for Markdown, every sign of it escaped, on one line; an @ calls nobody where it is shown as a comment."""
    return _CALL.sub(CALLS_NOBODY, _SIGNS.sub(r"\\\1", " ".join(str(text).split())))


WIDTH = 100  # what a terminal and a diff show unfolded


class Plain(Spoken):
    """How parts are written where somebody prints them."""

    def text(self, text: str) -> str:
        """A text without secrets, each sign that a terminal would obey shown as its number."""
        return terminal.plain(text)

    def paragraph(self, text: Text) -> str:
        """A paragraph in lines; a heading is underlined."""
        said = self.phrase(text.content).strip()
        if text.look in ("h2", "h3"):
            return f"{said}\n{'=' if text.look == 'h2' else '-'}" + ("=" if text.look == "h2" else "-") * (
                min(len(said), WIDTH) - 1
            )
        return textwrap.fill(said, WIDTH)

    def table(self, grid: Grid) -> str:
        """A table in columns as wide as their widest cell; what stands between its rows in lines of their own."""
        titles = [self.phrase(column.title).strip() for column in grid.columns]
        written = [[cell.strip() for cell in row] for row in self.written(grid)]
        lines = [titles, *written] if any(titles) else written
        if not lines:
            return ""
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        sides = ["<" if column.kind in ("text", "verdict") else ">" for column in grid.columns]
        form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
        made = [f"{self.text(grid.title)}:"] if grid.title else []
        made += [form.format(*titles).rstrip()] if any(titles) else []
        rows = iter(written)
        for row in grid.rows:
            if cells_of(row) is not None:
                made.append(form.format(*next(rows)).rstrip())
            if isinstance(row, Group | Under):
                made.append(self.phrase(row.title if isinstance(row, Group) else row.content).strip())
            elif below := self.phrase(getattr(row, "under", "")):
                made.append(f"  {below}")
        return "\n".join([*made, *map(self.text, grid.notes)])
