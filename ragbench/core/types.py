"""What is passed between rooms one at a time: passages, samples, scores, replies of systems."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BeforeValidator

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.core.language import Language


@dataclass(frozen=True)
class Passage:
    """A piece of text that is retrieved. text: None where an export names its id alone."""

    text: str | None
    id: str = ""
    url: str = ""
    title: str = ""
    section: str = ""


@dataclass(frozen=True)
class Question:
    """A question with what is known to be right. relevant: passage id → grade."""

    id: str
    text: str
    references: tuple[str, ...] = ()
    relevant: Mapping[str, float] = field(default_factory=dict)
    relevant_urls: tuple[str, ...] = ()
    answerable: bool = True
    kind: str = ""
    cluster: str = ""
    language: str = ""
    source: str = ""


@dataclass(frozen=True)
class Sample:
    """A question with what a system made of it.

    question, answer: None where the file has no such column; "" is an empty answer.
    contexts: None where nothing is said of retrieval; empty where nothing was retrieved.
    reference_context_ids: groups; of each group any passage will do.
    labels: people's ratings of the answer, by rater or by label.
    messages, tool_calls, expected_tool_calls: of agents, as they were recorded; topics: the
    subjects that the agent may deal with; cost: what the run cost.
    nuggets: the facts that a good answer says, each "vital" or "okay".
    """

    id: str
    question: str | None = None
    answer: str | None = None
    references: tuple[str, ...] = ()
    contexts: tuple[Passage, ...] | None = None
    reference_contexts: tuple[Passage, ...] | None = None
    reference_context_ids: tuple[tuple[str, ...], ...] | None = None
    system: str = ""
    repeat: str = ""
    cluster: str = ""
    language: str = ""
    labels: Mapping[str, Any] = field(default_factory=dict)
    rubric: Mapping[str, str] | None = None
    messages: tuple[Mapping[str, Any], ...] | None = None
    tool_calls: tuple[Mapping[str, Any], ...] | None = None
    expected_tool_calls: tuple[Mapping[str, Any], ...] | None = None
    topics: tuple[str, ...] | None = None
    cost: float | None = None
    nuggets: Mapping[str, str] | None = None

    @property
    def reference(self) -> str | None:
        """The first right answer, or None."""
        return self.references[0] if self.references else None


@dataclass(frozen=True)
class Verdict:
    """What a judge said of one claim, sentence, passage or entity.

    passages: numbers, from 1, of the contexts that decide it.
    """

    item: str
    verdict: str
    reason: str = ""
    passages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Score:
    """A value, or NaN with the status and the reason of why there is none.

    message: how the value came about, an English sentence with {names}, marked for translation.
    facts: what stands at these names. verdicts: what the judge said, item by item.
    by_judge: each judge's own score, where several were asked.
    """

    value: float
    status: str = "ok"
    reason: str = ""
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()
    by_judge: Mapping[str, Score] = field(default_factory=dict)

    def explain(self, language: Language) -> str:
        """Say how the value came about: `2 of 3 claims are supported: 0.667`; else the reason."""
        if math.isnan(self.value):
            return self.reason
        if not self.message:
            return ""
        facts = {name: language.fact(value) for name, value in self.facts.items()}
        facts["value"] = language.number(self.value)
        return language.translate(self.message).format(**facts)


def unmeasured(status: str, reason: str) -> Score:
    """Make the score of what could not be measured."""
    return Score(math.nan, status, reason)


@dataclass(frozen=True)
class Hit:
    """A retrieved passage. id: "" where the data set does not have its text.

    similarity: the system's own score, comparable within one question only; NaN: it gave none.
    """

    id: str
    text: str = ""
    similarity: float = math.nan
    url: str = ""


@dataclass(frozen=True)
class Retrieval:
    """What a system retrieved for one question, best first. error: why it could not, or ""."""

    hits: tuple[Hit, ...] = ()
    latency_ms: float = math.nan
    error: str = ""


@dataclass(frozen=True)
class Reply:
    """What a system answered to one question, and from which passages.

    answer: None where it gave none. error: why it could not, or "".
    """

    answer: str | None = None
    hits: tuple[Hit, ...] = ()
    latency_ms: float = math.nan
    error: str = ""


class System(Protocol):
    """What is measured. can_retrieve: whether the method may be called.

    takes_contexts: whether it answers from passages that it is given. retriever: what searches,
    where nothing of it is the user's code. dense: what of it searches by vectors. stand_ins: what
    of it only stands in for a model.
    """

    name: str
    can_retrieve: bool
    takes_contexts: bool
    retriever: Any
    dense: Any
    stand_ins: tuple[str, ...]

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """Return a ranking of at most k passages for every question; an error is an entry."""

    def answer(
        self, questions: Sequence[str], k: int, contexts: Sequence[Sequence[Hit]] | None = None
    ) -> list[Reply]:
        """Return an answer to every question, from the given contexts or from what it finds."""

    def describe(self) -> str:
        """Say in one line what it is: for pages and the index."""


class Embedder(Protocol):
    """Whoever turns texts into vectors. is_stand_in: whether it knows letters, and no meaning."""

    name: str
    is_stand_in: bool

    def embed(self, texts: Sequence[str]) -> Any:
        """Return (texts, width) float32 vectors of length 1."""


@dataclass(frozen=True)
class Dataset:
    """Passages to search, questions to ask, and which passage answers which question.

    passages, questions, labels: frames as `ragbench.core.frames` declares them.
    extras: other frames by name: dialogues, decisions, ratings, history.
    """

    name: str
    language: str
    passages: pd.DataFrame
    questions: pd.DataFrame
    labels: pd.DataFrame
    extras: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """All frames by name; the first column of each is an id: of labels, the question's."""
        base = {"passages": self.passages, "questions": self.questions, "labels": self.labels}
        return {**base, **self.extras}

    @property
    def fingerprint(self) -> str:
        """A hash of all passages: equal only for equal ids and texts."""
        digest = hashlib.sha256()
        for passage_id, text in zip(
            self.passages["passage_id"], self.passages["text"], strict=True
        ):
            digest.update(f"{passage_id}\0{text}\0".encode())
        return digest.hexdigest()

    def grades(self) -> dict[str, dict[str, float]]:
        """Return question → passage → grade, of the questions that have labels."""
        by_question: dict[str, dict[str, float]] = {}
        columns = (self.labels[name] for name in ("question_id", "passage_id", "grade"))
        for question_id, passage_id, grade in zip(*columns, strict=True):
            by_question.setdefault(question_id, {})[passage_id] = float(grade)
        return by_question


def read_rating(value: Any) -> Any:
    """Read a rating as judges write it: 4, "4", "4.0" and 4.0 are 4; nothing else is mended."""
    if isinstance(value, bool):
        raise ValueError("true and false are no ratings")
    if isinstance(value, str):
        value = float(value.strip())
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is no rating")
        if value.is_integer():
            return int(value)
    return value


# A whole number in a judge's reply: bounds are set where it is used, Field(ge=1, le=5).
Rating = Annotated[int, BeforeValidator(read_rating)]
