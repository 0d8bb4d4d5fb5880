"""Judged answers whose measurements end in every way there is: each status, and verdicts that do not fit the claims.

The way stands in brackets in every text of a sample, so that a judge that reads any of them knows what to do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragbench.old.core.types import Answer, Chunk, Citation, Message, Prompt, Sample, Status, ToolCall, Vectors
from tests.old.judge.scripted_judge import ScriptedJudge, Texts, claims, entailment
from tests.old.llm.chat_server import generate

LEFT_OUT, MORE, TWICE, NOWHERE = "left_out", "more", "twice", "nowhere"
ENDINGS = tuple(one.value for one in Status if one not in (Status.FUNCTION_ERROR, Status.INVALID_INPUT))
"""Statuses that a judge's words can lead to: neither a user's function nor a rubric does."""
WAYS = (*ENDINGS, LEFT_OUT, MORE, TWICE, NOWHERE)
"""How a measurement ends: by status, or as the judge gave no verdict, one too many, two for one claim, or one that
names no passage.
"""
FAILURES = (Status.JUDGE_ERROR, Status.PARSE_ERROR, Status.TIMEOUT, Status.REFUSED, Status.TRUNCATED)
_WAY = re.compile(r"\[(\w+)\]")


def sample(way: str, name: str = "", system: str | None = None) -> Sample:
    """An answer that ends so."""
    call = ToolCall("look", {"city": "Paris"}, '{"city": "Paris"}')
    said = (
        Message("user", f"[{way}] Where is Paris?"),
        Message("assistant", "", (call,)),
        Message("assistant", "Here."),
    )
    made = Sample(
        name or way, f"[{way}] Where is Paris?", f"[{way}] In France. It is old.", f"[{way}] It lies in France.",
        (Chunk("c1", f"[{way}] Paris is in France."), Chunk("c2", f"[{way}] It is old.")),
        (Chunk("c1", f"[{way}] Paris is in France."),), {1: "bad", 2: "good"}, "en", system=system,
        nuggets={f"[{way}] Paris lies in France.": "vital", f"[{way}] It is old.": "okay"}, trajectory=said,
        reference_tool_calls=(call,), reference_topics=(f"[{way}] towns",), cost=0.1,
        citations=(Citation(0, 20, "c1"),),
    )  # fmt: skip
    if way == Status.MISSING_FIELD:
        return replace(made, response=None, contexts=None, nuggets=None, trajectory=None, cost=None, citations=None)
    empty = replace(made, response=" ", contexts=(Chunk("c1", " "),), nuggets={}, trajectory=(), citations=())
    return empty if way == Status.EMPTY_INPUT else made


def samples(ways: Sequence[str] = WAYS, systems: Sequence[str | None] = (None,)) -> list[Sample]:
    """One answer of each system to each question, a question a way."""
    return [sample(way, system=system) for way in ways for system in systems]


def way_of(texts: Texts) -> str:
    """The way that the texts ask for."""
    found = _WAY.search(" ".join(text if isinstance(text, str) else " ".join(text) for text in texts.values()))
    return found[1] if found else Status.OK.value


def said(schema: Mapping[str, Any], texts: Texts, way: str, source: random.Random) -> Any:
    """The reply of that way, in the asked shape; prompts of whose shape nothing is known get one that fits."""
    empty = way == Status.EMPTY_DECOMPOSITION
    match next(iter(schema["properties"])):
        case "claims":
            return claims(*(f"{texts['text']} ({number})" for number in (1, 2) if not empty))
        case "entities":
            return {"entities": [] if empty else ["Paris", "France"]}
        case "questions":
            asked = [(f"[{way}] Where?", "committal"), (f"[{way}] Well?", "noncommittal")]
            return {"questions": [{"question": text, "manner": manner} for text, manner in asked if not empty]}
        case "grades":
            grades = [{"number": n, "reason": "so", "grade": "full"} for n, _ in enumerate(texts["nuggets"], 1)]
            return {"grades": grades[: {Status.VERDICT_MISMATCH.value: 1, LEFT_OUT: 0}.get(way, len(grades))]}
        case "verdicts":
            return {"verdicts": _verdicts(texts, way)}
    return generate(dict(schema), source)


def _verdicts(texts: Texts, way: str) -> list[dict[str, Any]]:
    words: list[str | int] = [(1, "contradicted")[place % 2] for place in range(len(texts["statements"]))]
    given: list[dict[str, Any]] = entailment(*words, passages=[1])["verdicts"]
    endings: dict[str, list[dict[str, Any]]] = {
        Status.VERDICT_MISMATCH: given[: len(given) // 2],
        LEFT_OUT: [],
        MORE: [*given, {**given[-1], "statement": len(given) + 1}],
        TWICE: [*given, {**given[0], "verdict": "neutral"}],
        NOWHERE: [{**one, "passages": []} for one in given],
    }
    return endings.get(way, given)


class Judge(ScriptedJudge):
    """A judge that ends every measurement as its texts ask for."""

    def __init__(self, name: str = "scripted") -> None:
        super().__init__()
        self.name = name

    def _answer(self, prompt: Prompt[Any], texts: Texts) -> Answer[Any]:
        way, schema = way_of(texts), prompt.shape.model_json_schema()
        script = Status(way) if way in FAILURES else said(schema, texts, way, random.Random(0))
        self.scripts = {**self.scripts, prompt.name: script}
        return super()._answer(prompt, texts)


class Embedder:
    """Vectors of everything but the texts that ask for none."""

    def __init__(self, name: str = "letters") -> None:
        self.name = self.identity = name

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> Vectors:
        rows = [[1.0, len(text), text.count("i")] for text in texts]
        faulty = [f"[{Status.EMBEDDING_ERROR.value}]" in text for text in texts]
        return np.where(np.array(faulty)[:, None], np.nan, np.array(rows)).astype(np.float32)
