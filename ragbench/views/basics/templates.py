"""HTML of views, from the Jinja templates of `report/template/views`; all that they are given is escaped."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.core.measurement import without_nan

if TYPE_CHECKING:
    import jinja2

    from ragbench.core.language import Translator

FOLDER = Path(__file__).parents[2] / "report" / "template" / "views"
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"})


def drawn(name: str, text: Translator, **values: Any) -> Markup:
    """The template `name` with its values; `_` in it is the translator."""
    made = _environment().get_template(f"{name}.html.j2").render(_=text, **values)
    return Markup(made)  # noqa: S704 - the template has escaped what it was given


class _Pieces:
    """The macros of `pieces.html.j2`, each a function that gives HTML; templates import them as well."""

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        made: Callable[..., Markup] = getattr(_environment().get_template("pieces.html.j2").module, name)
        setattr(self, name, made)
        return made


html = _Pieces()


def payload(value: Any) -> Markup:
    """JSON that can stand inside a script element: its signs of markup are escaped. What is NaN becomes null."""
    text = json.dumps(without_nan(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
    return Markup(text.translate(_ESCAPES))  # noqa: S704 - JSON whose signs of markup are escaped


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(FOLDER),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["payload"] = payload
    return made
