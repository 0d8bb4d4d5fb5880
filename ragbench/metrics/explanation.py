"""Why a score is what it is, in the reader's language: made from the data of the score, never by another question.

A metric puts its sentences into `Score.detail["explanation"]`, each a text with its values apart, so that a score that
was measured once can be explained in any language later. `Score.reason` is the same in English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ragbench.types import Score

DIGITS = 3


class Speaker(Protocol):
    """Texts and numbers of one language: `ragbench.language.Translator`."""

    def __call__(self, text: str, **values: object) -> str:
        """The translation of a text, with its `{name}` places filled in."""
        ...

    def number(self, value: float | None, digits: int = DIGITS) -> str:
        """A decimal number in the language's form."""
        ...


class _English:
    def __call__(self, text: str, **values: object) -> str:
        return text.format(**values)

    def number(self, value: float | None, digits: int = DIGITS) -> str:
        return "—" if value is None else f"{value:.{digits}f}"


ENGLISH: Speaker = _English()


def sentence(text: str, /, **values: Any) -> dict[str, Any]:
    """A sentence with its values apart: numbers, texts, or a sequence of texts that are quoted one by one."""
    return {"text": text, "values": values}


def explain(score: Score, speaker: Speaker = ENGLISH) -> str:
    """The explanation of a score in the speaker's language; its `reason` where the metric left no sentences."""
    return spoken(score.detail["explanation"], speaker) if "explanation" in score.detail else score.reason


def spoken(sentences: Sequence[Mapping[str, Any]], speaker: Speaker = ENGLISH) -> str:
    """The sentences one after the other."""
    return " ".join(
        speaker(each["text"], **{name: _shown(value, speaker) for name, value in each["values"].items()})
        for each in sentences
    )


def _shown(value: Any, speaker: Speaker) -> str:
    if isinstance(value, float):
        return speaker.number(value, DIGITS)
    if isinstance(value, Mapping):
        return spoken([value], speaker)
    if isinstance(value, list | tuple):
        return "; ".join(speaker(_QUOTED["text"], quoted=each) for each in value)
    return str(value)


_QUOTED = sentence("“{quoted}”", quoted="")
