"""Pages that no notebook made, drawn from what lies in their folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ragbench.core.language import Translator
from ragbench.report.keeping import files
from ragbench.report.pages import assembly
from ragbench.views import Page


@dataclass(frozen=True)
class Block:
    """Views under a heading (none: an empty text), which may lead to a page of its own, or be folded."""

    outputs: Sequence[Markup]
    heading: str = ""
    href: str = ""
    folded: bool = False


def folded(output: Markup) -> Block:
    """A view that has a heading of its own, folded below it."""
    title, rest = assembly.headed(output)
    return Block([rest], title, folded=True)


def html(
    _: Translator, heading: str, blocks: Sequence[Block], *, over: str = "", up: str = "", up_title: str = "",
    wide: bool = False,
) -> str:  # fmt: skip
    """A page of blocks; `up` is the page that it belongs to. Blocks without anything in them are left out."""
    there = [block for block in blocks if any(output.striptags().strip() for output in block.outputs) or block.href]
    page = assembly.chrome(_.language, f"{over} · {heading}" if over else heading) | {
        "heading": heading,
        "over": over,
        "up": up,
        "up_title": up_title,
        "sheet": there,
        "wide": wide,
        "tables": any('class="rb-table"' in output for block in there for output in block.outputs),
    }
    return str(assembly.exporter().environment.get_template("sheet.html.j2").render(page=page))


def views(page: Page, *names: str, present: frozenset[str] | None = None) -> list[Markup]:
    """The views of those names, drawn; links between them lead to those that are `present`."""
    there = frozenset(names) if present is None else present
    return [page.view(name).html(there) for name in names]


def write(folder: Path, name: str, html: str) -> None:
    """A page with what every page needs beside it."""
    files.write(folder / f"{name}.html", html)
    for file, content in assembly.beside().items():
        if not (folder / file).exists():
            files.write(folder / file, content)
