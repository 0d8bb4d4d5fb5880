"""`python -m tests.docs.settings_page`: docs/settings.md, a page a table, and ragbench.schema.json, of their models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench.core.settings import Settings, schema
from tests.docs import chapters

ROOT = Path(__file__).parents[2]
PAGE, SCHEMA = ROOT / "docs" / "settings.md", ROOT / schema.NAME
HEAD = f"""# Settings

Everything that `ragbench.toml` may say; `ragbench init` writes one, and `ragbench doctor` says what is wrong with it.
Paths are relative to the file. Any key may be set in the environment instead, which wins: `RAGBENCH_LANGUAGE=ru`, with
`__` after its table `RAGBENCH_BUDGET__CALLS=1000`. Editors that know TOML complete and check a file that begins with
`{schema.LINE}`. Made by `python -m tests.docs.settings_page`.

Secrets are read from the environment alone: `key_variable` and `url_variable` name variables that hold them, and
`RAGBENCH_DATABASE_URL` is {Settings.model_fields["database_url"].description}.
"""
TYPES = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
PLURALS = {"integer": "whole numbers", "number": "numbers", "string": "texts"}
BOUNDS = {"minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "to {}"}
NAMES = ("NAME", "METRIC")


def pages() -> dict[Path, str]:
    """The index, which has the keys above all tables, and a page a table with those in it."""
    whole = schema.schema()["properties"]
    parts = {name: list(below(one, "", name)) for name, one in whole.items()}
    tables = {name: sections for name, sections in parts.items() if sections}
    led = "".join(f"| [`{name}`](settings/{name}.md) | {whole[name]['description']} |\n" for name in tables)
    above = keys({"properties": {name: one for name, one in whole.items() if name not in tables}}, "")
    text = f"{HEAD}\n| key | meaning |\n|---|---|\n{led}\n## Above all tables\n\n{above}"
    return {PAGE: chapters.index(text, PAGE, tables)} | {
        PAGE.with_suffix("") / f"{name}.md": "\n".join(sections).removeprefix("#") for name, sections in tables.items()
    }


def keys(table: dict[str, Any], place: str) -> str:
    """A row for each key of a table."""
    rows = [row(name, one, place, name in table.get("required", ())) for name, one in table["properties"].items()]
    return f"| key | type | default | legal | meaning |\n|---|---|---|---|---|\n{''.join(rows)}"


def sections(table: dict[str, Any], place: str) -> Iterator[str]:
    """A table's section, and those of the tables in it."""
    about = f"{table['description']}\n\n" if place.endswith(NAMES) else ""
    yield f"## `[{place}]`\n\n{about}{keys(table, place)}"
    for name, one in table["properties"].items():
        yield from below(one, place, name)


def below(one: dict[str, Any], place: str, name: str) -> Iterator[str]:
    """The sections of the tables that a key holds."""
    inner, where = reached(one, place, name)
    if "properties" in one and inner is not one:  # a table with keys of its own and with tables in it
        yield from sections(one, f"{place}.{name}".lstrip("."))
    if "properties" in inner:
        yield from sections(inner, where)
    if "properties" in one.get("items", {}):
        yield from sections(one["items"], f"[{place}.{name}]")


def reached(one: dict[str, Any], place: str, name: str) -> tuple[dict[str, Any], str]:
    """The table that a key holds, or that the names in it hold; and how TOML calls it."""
    where = f"{place}.{name}".lstrip(".")
    for named in NAMES:
        if not isinstance(one.get("additionalProperties"), dict):
            break
        one, where = one["additionalProperties"], f"{where}.{named}"
    return one, where


def row(name: str, one: dict[str, Any], place: str, required: bool) -> str:
    """One key in the order of the page's columns."""
    inner, where = reached(one, place, name)
    if "properties" in inner:
        kind, default = f"table{'s' if inner is not one else ''} `[{where}]`", ""
    elif one.get("type") == "object":
        kind, default = f"{PLURALS[inner['type']] if inner is not one else 'values'} by name", "none"
    else:
        kind, default = words(one), f"`{json.dumps(one['default'])}`" if "default" in one else "not set"
    return f"| `{name}` | {kind} | {'required' if required else default} | {legal(inner)} | {one['description']} |\n"


def words(one: dict[str, Any]) -> str:
    """A value's type."""
    if "anyOf" in one:
        return " or ".join(dict.fromkeys(map(words, one["anyOf"])))
    if one["type"] == "object":
        return "texts by name"
    if one["type"] == "array" and "properties" in one["items"]:
        return "list of tables"
    if one["type"] == "array":
        number = f"{one['minItems']} " if "minItems" in one else ""
        return f"list of {number}{PLURALS[one['items']['type']]}"
    return "path" if one.get("format") == "path" else TYPES[one["type"]]


def legal(one: dict[str, Any]) -> str:
    """The values or the bounds that a value keeps to; empty where any of its type will do."""
    if "enum" in one:
        return ", ".join(f"`{word}`" for word in one["enum"])
    return " ".join(text.format(f"{one[key]:,}") for key, text in BOUNDS.items() if key in one)


def write() -> None:
    """Write what the models say."""
    chapters.write(PAGE, pages())
    SCHEMA.write_text(schema.text(), encoding="utf-8")


if __name__ == "__main__":
    write()
