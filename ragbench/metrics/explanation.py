"""Why a score is what it is, in the reader's language: made from the data of the score, never by another question.

A metric puts its sentences into `Score.detail["explanation"]`, each a text with its values apart, so that a score that
was measured once can be explained in any language later. `Score.reason` is the same in English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from ragbench.types import Score, Status

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


def share(part: int, whole: int) -> dict[str, Any]:
    """The values of a sentence that tells a share: part, whole (above 0), and the value, part / whole."""
    return {"part": part, "whole": whole, "value": part / whole}


def explain(score: Score, speaker: Speaker = ENGLISH) -> str:
    """The explanation of a score in the speaker's language; its `reason` where the metric left no sentences."""
    if "explanation" in score.detail:
        return spoken(score.detail["explanation"], speaker)
    if "judges" in score.detail:
        return spoken(of_a_panel(score), speaker)
    return reason_in(score.reason, speaker)


def spoken(sentences: Sequence[Mapping[str, Any]], speaker: Speaker = ENGLISH) -> str:
    """The sentences one after the other."""
    return " ".join(
        speaker(each["text"], **{name: _shown(value, speaker) for name, value in each["values"].items()})
        for each in sentences
    )


def reason_in(reason: str, speaker: Speaker) -> str:
    """A judge's reason. A model gives it in the language it was asked in; the offline judge's few are said anew."""
    for known in KNOWN_REASONS:
        found = _pattern(known["text"]).fullmatch(reason)
        if found is not None:
            return speaker(known["text"], **{name: _number(text, speaker) for name, text in found.groupdict().items()})
    return reason


def of_a_panel(score: Score) -> list[dict[str, Any]]:
    """What each judge gave, what that comes to, and who gave nothing."""
    judges: Mapping[str, Mapping[str, Any]] = score.detail["judges"]
    given = {name: one["value"] for name, one in judges.items() if one["status"] == Status.OK.value}
    missing = [f"{name} ({one['status']})" for name, one in judges.items() if name not in given]
    values = [{"text": "{judge} {value}", "values": {"judge": n, "value": float(v)}} for n, v in given.items()]
    said = []
    few = {"part": len(given), "whole": len(judges)}
    if missing and score.status is Status.OK:
        said.append(sentence("Only {part} of {whole} judges measured.", **few))
    elif len(given) < score.detail["quorum"]:
        quorum = score.detail["quorum"]
        said.append(sentence("Only {part} of {whole} judges measured, {quorum} are needed.", **few, quorum=quorum))
    if score.status is Status.OK:
        said.append(
            sentence(
                "By the judges: {scores}; together ({aggregate}): {value}.",
                scores=tuple(values),
                aggregate=score.detail["aggregate"],
                value=float(score.value),
            )
        )
    elif given and len(given) >= score.detail["quorum"]:
        said.append(
            sentence(
                "The judges come to no value together ({aggregate}): {scores}.",
                scores=tuple(values),
                aggregate=score.detail["aggregate"],
            )
        )
    elif given:
        said.append(sentence("By the judges that did: {scores}.", scores=tuple(values)))
    if missing:
        said.append(sentence("Not measured by {judges}.", judges=", ".join(missing)))
    return said


_NUMBER = r"\d+(?:\.\d+)?"


@lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[str]:
    kinds = {"field": r"[a-z_]+", "said": r".+"}
    made = re.sub(r"\\\{(\w+)\\\}", lambda name: f"(?P<{name[1]}>{kinds.get(name[1], _NUMBER)})", re.escape(text))
    return re.compile(made, re.DOTALL)


def _number(text: str, speaker: Speaker) -> str:
    if not re.fullmatch(_NUMBER, text):  # the name of a field, or what a model said
        return text
    return speaker.number(float(text), len(text.partition(".")[2]))


def _shown(value: Any, speaker: Speaker) -> str:
    if value is None or isinstance(value, float):  # a number that is none is stored as nothing
        return speaker.number(value, DIGITS)
    if isinstance(value, Mapping):
        return spoken([value], speaker)
    if isinstance(value, list | tuple):
        return "; ".join(
            spoken([each], speaker) if isinstance(each, Mapping) else speaker(_QUOTED["text"], quoted=each)
            for each in value
        )
    return reason_in(value, speaker) if isinstance(value, str) else str(value)


_QUOTED = sentence("“{quoted}”", quoted="")

ANSWERED_ONCE = sentence("every question was answered once: repeats = 2 or more are needed")
ASKED_ONCE = sentence("every question was asked once: repeats = 2 or more are needed")
FEWER_REPEATS = sentence("fewer answers than repeats were given: nothing can be compared")
NOT_ASKED_AGAIN = sentence("what was logged cannot be asked again")
KNOWN_REASONS = (
    sentence("shared words and letters: {share}"),
    sentence("sentences that share their words: {part} of {whole}"),
    sentence("parts that share their words: {part} of {whole}"),
    sentence("words and letters that contexts share: {share}"),
    sentence("words and letters of the question: {share}"),
    sentence("words and letters that both share: {share}"),
    sentence("sentences that the contexts carry: {part} of {whole}; the weakest: {share}"),
    sentence("there is nothing to read"),
    sentence("the sample has no field {field}"),
    sentence("the field {field} is empty"),
    sentence("the reference names no entity"),
    sentence("the chunk has no text"),
    sentence("yes"),
    sentence("no"),
    sentence("NaN or infinity"),
    sentence("a zero vector, which has no direction"),
    sentence("an empty vector"),
    sentence("a vector of another dimension"),
    sentence("booleans, which are no numbers"),
    sentence("texts, which are no numbers"),
    sentence("something that is no number"),
    sentence("something that is no vector"),
    sentence("the model refused: {said}", said=""),
    ANSWERED_ONCE,
    ASKED_ONCE,
    FEWER_REPEATS,
    NOT_ASKED_AGAIN,
)
"""What the offline judge gives for a reason, what is said where no judge was asked, decisions, what is not there,
faults of vectors, refusals, and repeats that were not there."""
