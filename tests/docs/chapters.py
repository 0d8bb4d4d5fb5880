"""A reference of several pages: an index, which links lead to by name, and a folder of its pages beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

MOST_WORDS = 1500
"""Fewer than this are on every page of docs/: what somebody reads."""


def index(text: str, page: Path, names: Iterable[str]) -> str:
    """The index with its pages in the site's tree, unseen: the tables of its text lead to them."""
    listed = "\n".join(f"{page.stem}/{name}" for name in names)
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def write(page: Path, pages: Mapping[Path, str]) -> None:
    """Write the index and its pages; what else the folder held goes."""
    for path in read(page).keys() - pages:
        path.unlink()
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def read(page: Path) -> dict[Path, str]:
    """What stands there: the index and all pages in its folder."""
    return {path: path.read_text(encoding="utf-8") for path in (page, *page.with_suffix("").rglob("*.md"))}
