"""HTML of what shows itself in JupyterLab, from Jinja templates; all that they are given is escaped."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.core import terminal

FOLDER = Path(__file__).parents[1] / "report" / "template"


@lru_cache(maxsize=8)
def template(name: str) -> Any:
    """The template of that file name. Its filter `shown` cleans a text of data, line by line."""
    from jinja2 import Environment, FileSystemLoader

    made = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, lstrip_blocks=True, trim_blocks=True)
    made.filters["shown"] = shown
    return made.get_template(name)


def shown(text: object) -> str:
    """A text of data in its lines, without secrets, each sign that nobody sees shown as its number; not escaped."""
    return "\n".join(terminal.plain(line) for line in str(text).splitlines())
