"""How a metric's label is written and read: `ndcg(gain=exponential)@10`, with values that hold commas quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_HEAD = re.compile(r"\s*(?P<name>\w+)(?P<opened>\()?")
_TAIL = re.compile(r"(?:@(?P<cutoff>\d+))?\s*")
_KEY = re.compile(r"\s*(?P<key>\w+)\s*=\s*")
_BARE = re.compile(r"[^,()]*")
_AFTER = re.compile(r"\s*(?P<sign>[,)])")
_READ = json.JSONDecoder()


@dataclass(frozen=True)
class Label:
    """A label as it is written. broken: the first of its options that is not written name=value."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    cutoff: int | None = None
    broken: str = ""


def read(text: str) -> Label | None:
    """A label's parts: values are bare words and numbers, or JSON where they hold a comma or a bracket."""
    head = _HEAD.match(text)
    if head is None:
        return None
    at, options, broken = head.end(), dict[str, Any](), ""
    while head["opened"]:
        if text[at : at + 1] == ")":
            at += 1
            break
        key = _KEY.match(text, at)
        at = key.end() if key else at
        if key and text[at : at + 1] in ('"', "{", "["):
            try:
                value, at = _READ.raw_decode(text, at)
            except ValueError:
                return None
        else:
            bare = _BARE.match(text, at)
            assert bare is not None, "it matches nothing, too"
            value, at = _literal(bare[0].strip()), bare.end()
            broken = broken or ("" if key else bare[0].strip())
        if key:
            options[key["key"]] = value
        sign = _AFTER.match(text, at)
        if sign is None:
            return None
        at = sign.end()
        if sign["sign"] == ")":
            break
    tail = _TAIL.fullmatch(text, at)
    return (
        None if tail is None else Label(head["name"], options, int(tail["cutoff"]) if tail["cutoff"] else None, broken)
    )


def parted(text: str) -> list[str]:
    """Labels or names that stand in one text, parted by commas: one within parentheses parts nothing."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for letter in text:
        if quoted:
            quoted, escaped = letter != '"' or escaped, letter == "\\" and not escaped
        elif letter == "," and depth == 0:
            parts.append("")
            continue
        else:
            quoted = letter == '"' and depth > 0
            depth = max(0, depth + (letter == "(") - (letter == ")"))
        parts[-1] += letter
    return parts


_PLAIN = re.compile(r"[^,()\[\]{}\"@\s](?:[^,()\[\]{}\"@\n]*[^,()\[\]{}\"@\s])?")


def written(value: Any) -> str:
    """An option's value in a label: as it is where `read` reads the same again, else as JSON."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    plain = not isinstance(value, str) or (_PLAIN.fullmatch(value) and _literal(value) == value)
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _literal(text: str) -> Any:
    """What `str(value)` or JSON wrote: a number, a truth value, nothing, or else the text itself."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+(\.\d+)?(e[-+]?\d+)?", text):
        return float(text)
    words = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
    return words.get(text, text)
