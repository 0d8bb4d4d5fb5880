"""The JSON schema of ragbench.toml, for editors: completion, help and bounds where the file is written."""

from __future__ import annotations

import functools
import json
import textwrap
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ragbench.old.core import annexes
from ragbench.old.core.settings import Settings

NAME = "ragbench.schema.json"
LINE = f"#:schema ./{NAME}"
"""The first line of a TOML file that Taplo and Even Better TOML find the schema by."""
WORDS = "# Passages by the words that they share with the question: no model, and hard to beat."
KEYED = '# headers = { Authorization = "Bearer {SERVICE_KEY}" }  # a secret by the name of its variable'
ABOUT = """\
# What ragbench measures when it is told nothing else. Paths are relative to this file, which
# `ragbench doctor` checks. Environment variables win over it: RAGBENCH_LANGUAGE=ru. Secrets are read
# from the environment alone."""
JUDGES = """
# A judge is a language model behind any OpenAI-compatible endpoint; without one the offline judge is asked.
#
# [judges.my-judge]
# base_url = "https://api.example.com/v1"
# model = "some-model"
# key_variable = "MY_JUDGE_KEY"
"""
"""What a ragbench.toml begins and ends with, and its comments on words and secrets."""
LONGEST_LINE = 120  # as long as our own lines
DIALECT = "http://json-schema.org/draft-07/schema#"


def schema() -> dict[str, Any]:
    """What ragbench.toml may hold, table in table, without what only the environment may say.

    In draft 7, which is what editors of TOML know. As in TOML nothing is null: what may be missing is not required.
    """
    made = Settings.model_json_schema()
    whole = _plain(made, made["$defs"])
    for name in annexes.offered("tables"):
        own = annexes.taken("tables", name).model_json_schema()
        table = _plain(own, own.get("$defs", {}))
        whole["properties"][name] = {
            "type": "object", "description": own["description"], "additionalProperties": table,
        }  # fmt: skip
    return {"$schema": DIALECT, **whole}


@functools.cache
def text() -> str:
    """The file's text."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _plain(node: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with all that it names in its place, without titles, nulls and tables as defaults."""
    if "$ref" in node:
        named = known[node["$ref"].rpartition("/")[2]]
        node = {**named, **{key: value for key, value in node.items() if key != "$ref"}}
    if "anyOf" in node:
        some = [schema for schema in node["anyOf"] if schema.get("type") != "null"]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        if len(some) == 1:
            return _plain({**some[0], **rest}, known)
        return {**_plain(rest, known), "anyOf": [_plain(schema, known) for schema in some]}
    made = {key: value for key, value in node.items() if key not in ("title", "$defs", "prefixItems")}
    if made.get("default") is None or isinstance(made["default"], dict):
        made.pop("default", None)
    if "prefixItems" in node:
        [made["items"]] = [
            schema for place, schema in enumerate(node["prefixItems"]) if schema not in node["prefixItems"][:place]
        ]
    if "properties" in node:
        inner = {name: _plain(schema, known) for name, schema in node["properties"].items()}
        made["properties"] = {name: schema for name, schema in inner.items() if not schema.get("writeOnly")}
    if "items" in node:
        made["items"] = _plain(node["items"], known)
    if isinstance(node.get("additionalProperties"), dict):
        made["additionalProperties"] = _plain(node["additionalProperties"], known)
    return made


def line(model: type[BaseModel], key: str, value: str) -> str:
    """A key of ragbench.toml with what it is about: beside it, or above where the line would be too long.

    key: may have # before it, which makes a comment of it. value: as TOML writes it.
    """
    about = str(model.model_fields[key.removeprefix("# ")].description)
    if len(short := f"{key} = {value}  # {about}") <= LONGEST_LINE:
        return short
    above = textwrap.fill(about, LONGEST_LINE, initial_indent="# ", subsequent_indent="# ")
    return f"{above}\n{key} = {value}"
