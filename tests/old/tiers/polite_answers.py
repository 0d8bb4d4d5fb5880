"""Two answers, one that says please and one that does not, and a model that tells them apart."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from tests.old.llm.chat_server import asked_schema

ROWS = [
    {"id": "a", "question": "When?", "answer": "At eight, please.", "contexts": ["It opens at eight."]},
    {"id": "b", "question": "Who?", "answer": "No idea.", "contexts": ["Anna."]},
]


def verdict(body: dict[str, Any]) -> dict[str, Any] | None:
    """The last of the legal words for an answer that says please, else the first; of numbers 4 and 2."""
    known = (asked_schema(body) or {}).get("properties", {}).get("verdict", {})
    text = body["messages"][-1]["content"]
    polite = "eight, please" in text.partition("<text")[2]
    if "enum" in known:
        words = known["enum"]
        return {"reason": "It says so.", "verdict": words[-1 if polite ^ (words == ["yes", "no"]) else 0]}
    return {"reason": "It says so.", "verdict": 4 if polite else 2} if known else None


def kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragbench.old.tiers.scoring.judge_assignment.kept_replies", lambda *_: contextlib.nullcontext())


def values(found: Any) -> dict[tuple[str, str], float]:
    return {(row.metric.name, row.sample.id): row.score.value for row in found.rows}
