"""What the tests of answers ask: eight questions, systems that are functions, scripted judges."""

from __future__ import annotations

from typing import Any

import pandas as pd


def passage(number: int) -> str:
    """The text of a passage."""
    return f"Subject{number} opens at {number} in the morning."


def right_answer(number: int) -> str:
    """The right answer to a question."""
    return f"It opens at {number} in the morning."


PASSAGES = [{"id": f"p{number}", "text": passage(number)} for number in range(20)]
QUESTIONS = [
    {
        "id": f"q{number}",
        "text": f"When does subject{number} open?",
        "relevant": [f"p{number}"],
        "reference": right_answer(number),
    }
    for number in range(8)
]
WORDS = ("token_f1", "rouge1_f")
# Without a judge: right where the words are right, faithful always.
BY_WORDS = {
    "metrics": WORDS,
    "primary": "token_f1",
    "correctness": "token_f1",
    "faithfulness": "rouge1_f",
    "faithful_from": 0.0,
    "draws": 200,
    "repeats": 1,
}


def number_of(question: str) -> int:
    """The number of a question's subject."""
    return int("".join(letter for letter in question if letter.isdigit()))


def good(question: str) -> dict[str, Any]:
    """Answers rightly from the right passage."""
    number = number_of(question)
    return {"answer": right_answer(number), "contexts": [f"p{number}"]}


def shaky(question: str) -> dict[str, Any]:
    """Cannot be reached at six of eight questions."""
    if number_of(question) < 6:
        raise ConnectionError("connection refused")
    return good(question)


def silent(question: str) -> dict[str, Any]:
    """Finds nothing and says nothing."""
    return {"answer": "", "contexts": []}


def from_contexts(question: str, contexts: list[str]) -> str:
    """Answers rightly from the right passage, and else with its first word."""
    number = number_of(question)
    return right_answer(number) if passage(number) in contexts else "Unclear."


class Scripted:
    """A judge that gives a rating from 1 to 5, and counts what it was asked.

    rating: one for all, or a function of the values that it is asked about.
    """

    def __init__(self, rating: Any = 5, name: str = "scripted") -> None:
        self.rating = rating
        self.name = name
        self.asked: list[dict[str, Any]] = []

    def ask(self, prompt: Any, **values: Any) -> dict[str, Any]:
        """See `rb.judge`."""
        self.asked.append(values)
        rating = self.rating(values) if callable(self.rating) else self.rating
        return {"reason": "so it is", "rating": rating}


class Dead(Scripted):
    """A judge that cannot be reached."""

    def ask(self, prompt: Any, **values: Any) -> dict[str, Any]:
        """Nobody answers."""
        raise OSError("no route to host")


def means(result: Any) -> pd.Series:
    """The means by system and metric."""
    return result.estimates.set_index(["system", "metric"])["value"]


def counts(result: Any, system: str, metric: str) -> tuple[int, int]:
    """How many values of a system are measured, and how many are not."""
    row = result.estimates.set_index(["system", "metric"]).loc[(system, metric)]
    return int(row["n"]), int(row["n_unmeasured"])


def page_text(result: Any) -> str:
    """All that the page shows, as text."""
    return "\n".join(str(part) for part in result.parts)


def outcomes(result: Any, system: str) -> dict[str, int]:
    """How often each part of a system fails first."""
    rows = result.statement.shares.query("system == @system and n_questions > 0")
    return dict(zip(rows["metric"], rows["n_questions"], strict=True))
