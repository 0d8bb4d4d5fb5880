"""Propose JMESPaths that would read a service's reply: for `doctor`, and for errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ragbench.data.vocabulary import LISTS, field_of
from ragbench.systems.hits import ANSWERS, PASSAGES, SCORES

PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Names of texts that may be the answer where nothing is called so, likelier ones first.
PERHAPS_ANSWERS = ("content", "text", "message", "reply", "generated_text", "output_text", "data")
DEEPEST = 8  # levels of a reply that are looked at


def propose_paths(reply: Any) -> dict[str, str]:
    """Return JMESPaths by key of [systems.NAME]: answer, passages, ids, scores; what is found.

    >>> propose_paths({"data": {"answer": "8:00", "hits": [{"id": "a", "text": "b"}]}})
    {'passages': 'data.hits[].text', 'ids': 'data.hits[].id', 'answer': 'data.answer'}
    """
    proposed: dict[str, str] = {}
    passages_at = "-"
    places = list(walk(reply))
    lists = [(name, path, value) for name, path, value in places if isinstance(value, list)]
    for name, path, items in sorted(lists, key=lambda place: not may_be_passages(place[0])):
        found = read_list(name, path, items)
        if found:
            proposed, passages_at = found, path
            break
    answers = []
    for name, path, value in places:
        if isinstance(value, str) and value.strip() and not path.startswith(passages_at):
            rank = rank_answer(name)
            if rank is not None:
                answers.append((rank, path.count("."), path))
    if answers:
        proposed["answer"] = min(answers)[2]
    return proposed


def walk(
    value: Any, path: str = "", name: str = "", depth: int = 0
) -> Iterator[tuple[str, str, Any]]:
    """Yield name, path and value of everything in a reply; of a list its first item alone."""
    if path:
        yield name, path, value
    if depth == DEEPEST:
        return
    if isinstance(value, dict):
        for key, part in value.items():
            written = key if PLAIN_NAME.fullmatch(key) else json.dumps(key)
            yield from walk(part, f"{path}.{written}" if path else written, key, depth + 1)
    elif isinstance(value, list) and value:
        yield from walk(value[0], f"{path}[0]", name, depth + 1)


def read_list(name: str, path: str, items: list[Any]) -> dict[str, str]:
    """Return how the passages of a list are read; empty where it holds none."""
    if all(isinstance(item, str) for item in items):
        return {"passages": path} if items and may_be_passages(name) else {}
    if not items or not all(isinstance(item, dict) for item in items):
        return {}
    text = find_name(items, LISTS["passage_texts"], str)
    passage_id = find_name(items, LISTS["passage_ids"], str | int)
    score = find_name(items, SCORES, float | int)
    found = {}
    if text:
        found["passages"] = f"{path}[].{text}"
    if passage_id:
        found["ids"] = f"{path}[].{passage_id}"
    # A text alone may be a message of a dialogue.
    if not found or not (may_be_passages(name) or (text and (passage_id or score))):
        return {}
    if score:
        found["scores"] = f"{path}[].{score}"
    return found


def find_name(items: list[dict[str, Any]], names: Any, kind: Any) -> str:
    """Return the first of the names, with dots for inner objects, that every item has."""
    for name in names:
        values = []
        for item in items:
            value: Any = item
            for part in name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            values.append(value)
        if all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            return name
    return ""


def may_be_passages(name: str) -> bool:
    """Say whether a list of that name holds passages."""
    return field_of(name) == "contexts" or name.casefold() in (*PASSAGES, "sources")


def rank_answer(name: str) -> int | None:
    """Return how likely a text of that name is the answer, 0 the likeliest; None: it is none."""
    if field_of(name) == "answer" or name in ANSWERS:
        return 0
    return 1 + PERHAPS_ANSWERS.index(name) if name in PERHAPS_ANSWERS else None
