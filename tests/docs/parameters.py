"""`python -m tests.docs.parameters`: the notebooks' parameters, docs/parameters.md and a page a notebook, of what
each tier can be asked.

A notebook is named like the function of `ragbench.tiers` that it calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from ragbench import tiers
from ragbench.data.places import NO_PAGES
from ragbench.report.execution.preparation import MORE, TAG
from ragbench.tiers.basics.requests import Request, legal
from tests.docs import chapters

FOLDED = "# More parameters: open this cell to set them."
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "parameters.md"
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb") if path.name not in NO_PAGES)
HEAD = """# Parameters of the notebooks

Set them in a notebook's first code cell, by name for the function of `ragbench.tiers` that is named like the notebook,
or for every notebook that has them with `ragbench run -p NAME=VALUE`. Made by `python -m tests.docs.parameters`.
"""


def model(path: Path) -> type[Request]:
    """What the notebook asks for."""
    request: type[Request] = getattr(tiers, path.stem).request
    return request


def cells(path: Path) -> dict[str, str]:
    """The cells of the notebook's parameters by their tags: those that fewer people set, and those of the first
    screen; the first is left out where there are no more than fit there."""
    known, first = model(path).parameters(), model(path).first()
    lines = {name: f"{name} = {literal(field.default)}  # {field.description}" for name, field in known.items()}
    more = [line for name, line in lines.items() if name not in first]
    return ({MORE: "\n".join([FOLDED, *more])} if more else {}) | {TAG: "\n".join(lines[name] for name in first)}


def literal(value: Any) -> str:
    """A default as the notebooks write it."""
    if isinstance(value, tuple):
        return str(list(value))
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:_}" if type(value) is int and value >= 10_000 else repr(value)


def pages() -> dict[Path, str]:
    """The index, by which a name is found, and a page a notebook."""
    known = {path.stem: model(path).parameters() for path in NOTEBOOKS}
    rows = [
        f"| [`{notebook}`](parameters/{notebook}.md) | {', '.join(f'`{name}`' for name in fields)} |\n"
        for notebook, fields in known.items()
    ]
    text = f"{HEAD}\n| notebook | parameters |\n|---|---|\n{''.join(rows)}"
    return {PAGE: chapters.index(text, PAGE, known)} | {
        PAGE.with_suffix("") / f"{notebook}.md": f"# {notebook}\n\n{table(fields)}"
        for notebook, fields in known.items()
    }


def table(fields: Mapping[str, Any]) -> str:
    """A row for each parameter of a notebook."""
    rows = [
        f"| `{name}` | `{literal(field.default)}` | {legal(field)} | {field.description} |\n"
        for name, field in fields.items()
    ]
    return f"| name | default | legal | meaning |\n|---|---|---|---|\n{''.join(rows)}"


def write() -> None:
    """Write what the models say."""
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        place = next(number for number, each in enumerate(notebook.cells) if TAG in each.metadata.get("tags", ()))
        rest = [each for each in notebook.cells if not {TAG, MORE} & set(each.metadata.get("tags", ()))]
        place -= any(MORE in each.metadata.get("tags", ()) for each in notebook.cells)
        made = []
        for tag, source in cells(path).items():
            hidden = {"jupyter": {"source_hidden": True}} if tag == MORE else {}
            made.append(nbformat.v4.new_code_cell(source, id=tag, metadata={**hidden, "tags": [tag]}))
        notebook.cells = [*rest[:place], *made, *rest[place:]]
        nbformat.write(notebook, path)
    chapters.write(PAGE, pages())


if __name__ == "__main__":
    write()
