"""What a generator is, and what it gives back: an answer from a question and the contexts it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ragbench.core.expectations import kind
from ragbench.core.settings import GeneratorSettings
from ragbench.core.types import Chunk, Question, Status

Progress = Callable[[int], object]  # called with how many more answers are done


class GenerationError(ValueError):
    """A generator cannot be made, or cannot be asked at all."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The contexts that a generator is shown, and what a limit on their length cost.

    contexts: in rank order; the last one may be shortened. cut: how many were shortened or left out. characters_cut: of
    all of them together.
    """

    contexts: tuple[Chunk, ...]
    cut: int = 0
    characters_cut: int = 0


@dataclass(frozen=True, slots=True)
class Task:
    """One answer that is wanted. repeat: 0, 1, … asks anew, independently."""

    question: Question
    contexts: tuple[Chunk, ...]
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """One answer, or why there is none (`answer` is None exactly when `status` is not `ok`).

    seconds: what the generator took, for a reply out of the journal what it took then; None where nobody measured.
    input_tokens, output_tokens: as the endpoint reported or as estimated; None for a generator without tokens.
    shown: whether the production judge let its user see it, where a log says so. answered_by: the name that the model
    gave as its own. unsent: what its endpoint is known to refuse, so that it was asked without, parted by blanks.
    """

    answer: str | None
    status: Status = Status.OK
    reason: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    shown: bool | None = None
    answered_by: str | None = None
    unsent: str = ""

    def __post_init__(self) -> None:
        if (self.answer is None) == (self.status is Status.OK):
            raise ValueError(f"an answer is None exactly when its status is not ok; got {self.answer!r}, {self.status}")

    @classmethod
    def failed(cls, status: Status, reason: str, **more: Any) -> Generation:
        """No answer, with the machine-readable status and the reason for people."""
        return cls(None, status, reason, **more)

    @classmethod
    def of(cls, text: Any, who: str, **more: Any) -> Generation:
        """What a function, a model or a log gave: a text, or no answer where it is None or no text.

        A blank text is an answer, the empty one: who says nothing was asked and has answered.
        """
        if isinstance(text, str):
            return cls(text.strip(), **more)
        if text is None:
            return cls.failed(Status.MISSING_FIELD, f"{who} gave no answer", **more)
        return cls.failed(Status.PARSE_ERROR, f"{who} gave {kind(text)}, not a text", **more)


class Generator(Protocol):
    """Who writes answers.

    description: JSON values that say how it is made. is_stand_in: True for the offline default. keeps_readings: whether
    its seconds come out of the journal, the same at every run.
    """

    name: str
    is_stand_in: bool
    keeps_readings: bool

    @property
    def description(self) -> Mapping[str, Any]: ...

    @property
    def max_context_characters(self) -> int | None:
        """How many characters of contexts it is shown at most; None: all."""
        ...

    def generate(self, tasks: Sequence[Task], *, progress: Progress | None = None) -> list[Generation]:
        """One result a task, in order. Raises ModelError when a provider refuses altogether or the budget is spent."""
        ...


class BaseGenerator:
    """What generators of a table of the settings have in common."""

    is_stand_in = False
    keeps_readings = False

    def __init__(self, name: str, settings: GeneratorSettings) -> None:
        self.name, self.settings = name, settings

    @property
    def max_context_characters(self) -> int | None:
        return self.settings.max_context_characters


def within(contexts: Sequence[Chunk], limit: int | None) -> Shown:
    """The contexts in their order until `limit` characters are used up: the one that crosses it is shortened at a word.

    What was cut is counted, never passed over.
    """
    if limit is None:
        return Shown(tuple(contexts))
    kept, left, cut, characters = [], limit, 0, 0
    for chunk in contexts:
        whole = len(chunk.text) <= left
        text = chunk.text if whole else _shortened(chunk.text, left)
        left = left - len(text) if whole else 0
        cut += not whole
        characters += len(chunk.text) - len(text)
        if text:
            kept.append(chunk if whole else replace(chunk, text=text))
    return Shown(tuple(kept), cut, characters)


def _shortened(text: str, limit: int) -> str:
    """The first words of a text that fit; nothing where not even one does."""
    if limit <= 0:
        return ""
    head = text[: limit + 1]
    return head.rsplit(None, 1)[0].rstrip() if len(head.split()) > 1 else ""
