"""Labelled decisions of the small project, twenty questions with a good and a bad answer each, and judges of them."""

from __future__ import annotations

from pathlib import Path

from ragbench.old.core.measurement import Measurement
from tests.old.small_project import write_lines

ROWS = 40
JUDGE = '''
def exact(question, answer, contexts):
    """Right on every case: good answers say so."""
    return "Yes" if answer.startswith("good") else "No: it was not good yesterday"

def shaky(question, answer, contexts):
    number = int(question.split()[1])
    if number % 10 == 0:
        raise TimeoutError("no reply")
    sure = 0.9 if answer.startswith("good") else 0.2 + 0.5 * (number % 3 == 0)
    return {"show": "yes", "score": sure, "reason": f"sure of it: {sure}"}

async def later(question, answer, contexts):
    return answer.startswith("good") and contexts == ["Text of a1."]

def broken(question, answer, contexts):
    raise RuntimeError("nobody is there")
'''


def cases() -> list[dict[str, object]]:
    """Question 0 to 19, each with a good and a bad answer."""
    return [
        {"id": f"d{place:02d}", "question": f"Question {place // 2} ?", "answer": f"{kind} answer {place}",
         "context": ["a1"], "show": kind == "good", "rationale": f"It is {kind}."}
        for place, kind in enumerate(["good", "bad"] * (ROWS // 2))
    ]  # fmt: skip


def write(project: Path) -> Path:
    """The cases and the judges into a small project."""
    write_lines(project / "data" / "small" / "decisions.en.jsonl", cases())
    (project / "own_judge.py").write_text(JUDGE, encoding="utf-8")
    return project


def estimate(made: Measurement, system: str, metric: str) -> float:
    return next(e.estimate.value for e in made.estimates if (e.system, e.metric) == (system, metric))


def counts(made: Measurement, system: str) -> dict[str, int]:
    table = made.extra["decisions"]
    return dict(table[table["system"] == system]["cell"].value_counts())
