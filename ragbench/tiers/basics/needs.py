"""What a page needs of a data set, in the field's terms, and the sentence that says which of it is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ragbench.core.language import Translator
from ragbench.data import Dataset


class Need(StrEnum):
    """Something that a data set has any number of."""

    PASSAGES = "passages"
    QUESTIONS = "questions"
    ANSWERABLE = "answerable questions"
    RELEVANT = "questions with relevant passages"
    PAGES = "questions with relevant pages"
    REFERENCES = "references"
    LOGGED = "logged answers"
    RATINGS = "rated answers"
    DECISIONS = "labelled decisions"
    DIALOGUES = "dialogues"
    HISTORY = "logged questions"
    EMBEDDED = "systems with an embedder"


def number(need: Need, data: Dataset) -> int:
    """How many of it the data set has."""
    asked = data.questions
    match need:
        case Need.PASSAGES:
            return len(data.chunks)
        case Need.QUESTIONS:
            return len(asked)
        case Need.ANSWERABLE:
            return sum(question.answerable is not False for question in asked)
        case Need.RELEVANT:
            return sum(bool(question.relevant) for question in asked)
        case Need.PAGES:
            return sum(bool(question.relevant or question.relevant_urls) for question in asked)
        case Need.REFERENCES:
            return sum(bool(question.reference) for question in asked)
        case Need.RATINGS:
            return len(data.ratings)
        case Need.DECISIONS:
            return len(data.decisions)
        case Need.DIALOGUES:
            return len(data.dialogues)
        case Need.HISTORY:
            return len(data.history)
        case Need.EMBEDDED | Need.LOGGED:
            return 0


def named(need: Need, _: Translator) -> str:
    """What people call it."""
    return {
        Need.PASSAGES: _("passages"),
        Need.QUESTIONS: _("questions"),
        Need.ANSWERABLE: _("questions that can be answered"),
        Need.RELEVANT: _("questions with relevant passages"),
        Need.PAGES: _("questions with relevant pages"),
        Need.REFERENCES: _("questions with references"),
        Need.LOGGED: _("logged answers"),
        Need.RATINGS: _("rated answers"),
        Need.DECISIONS: _("labelled decisions"),
        Need.DIALOGUES: _("dialogues"),
        Need.HISTORY: _("a log of users' questions"),
        Need.EMBEDDED: _("a system with an embedder"),
    }[need]


@dataclass(frozen=True)
class Needed:
    """At least so many of one of these. What no data set has by itself (`Need.EMBEDDED`, `Need.LOGGED`) is asked for
    where it is missing."""

    any_of: tuple[Need, ...]
    least: int = 1

    @classmethod
    def of(cls, *needs: Need, least: int = 1) -> Needed:
        """Needed is one of them."""
        return cls(needs, least)

    def lack(self, page: str, data: Dataset | None, name: str) -> Lack | None:
        """What is missing of it; None where it is there. data: None where there is no data set of that name."""
        has = 0 if data is None else max(number(need, data) for need in self.any_of)
        if has >= self.least:
            return None
        return Lack(page, self, has, "" if self.any_of == (Need.EMBEDDED,) else name, data is None)


@dataclass(frozen=True)
class Lack:
    """A page that cannot be made: what it needs, and how many of it the data set has.

    dataset: its label; empty where the data have no part in it. absent: whether there is no such data set at all.
    """

    page: str
    needed: Needed
    has: int = 0
    dataset: str = ""
    absent: bool = False

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        needed = {"any_of": [str(need) for need in self.needed.any_of], "least": self.needed.least}
        return {"name": self.page, **needed, "has": self.has, "dataset": self.dataset, "absent": self.absent}

    def sentence(self, _: Translator) -> str:
        """`needs questions with relevant passages; small:en has none`."""
        what = _(" or ").join(named(need, _) for need in self.needed.any_of)
        if self.absent:
            return _(
                "needs {what}; there is no data set {dataset}: `ragbench load` brings one",
                what=what,
                dataset=self.dataset,
            )
        if not self.dataset:
            return _("needs {what}", what=what)
        if self.has:
            return _(
                "needs {what}, at least {least}; {dataset} has {has}",
                what=what, least=_.integer(self.needed.least), dataset=self.dataset, has=_.integer(self.has),
            )  # fmt: skip
        return _("needs {what}; {dataset} has none", what=what, dataset=self.dataset)


def read(facts: Iterable[Mapping[str, Any]]) -> list[Lack]:
    """What a run's manifest says of the pages that it did not make. Raises ValueError for needs that there are not."""
    return [
        Lack(
            str(fact["name"]),
            Needed(tuple(Need(str(each)) for each in fact["any_of"]), int(fact["least"])),
            int(fact["has"]),
            str(fact["dataset"]),
            bool(fact["absent"]),
        )
        for fact in facts
    ]
