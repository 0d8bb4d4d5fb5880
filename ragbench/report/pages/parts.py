"""Data that a page loads when it needs it: compressed, in scripts beside the page, so that it opens from disk."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench.report.keeping import files
from ragbench.views import Page
from ragbench.views.items.data import parts, slug

FOLDER = "questions"


def names(page: Page) -> Iterator[tuple[str, str]]:
    """Every part of a page's table of questions: its name, and its content as a page holds it."""
    material = page.material
    for name, value in parts(material):
        yield f"{slug(material)}/{name}", packed(value)


def packed(value: Any) -> str:
    """A JSON value, compressed, as letters that are safe in a script and in HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode("ascii")


def write(folder: Path, page: Page) -> None:
    """Write the parts of a page's table of questions beside the page, in place of those that were there."""
    own = folder / FOLDER / slug(page.material)
    for part in own.glob("*.js"):
        part.unlink()
    own.mkdir(parents=True, exist_ok=True)
    for name, content in names(page):
        files.write(folder / FOLDER / f"{name}.js", f'ragbenchData("{name}","{content}");\n')
