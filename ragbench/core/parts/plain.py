"""Parts as plain text, for a terminal: paragraphs of lines, tables in columns, nothing that a terminal would obey."""

from __future__ import annotations

import textwrap

from ragbench.core import terminal
from ragbench.core.parts.blocks import Grid, Group, Text, Under, cells_of
from ragbench.core.parts.style import Spoken

WIDTH = 100


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
