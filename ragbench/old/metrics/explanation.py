"""Why a score is what it is, in the reader's language: made from the data of the score, never by another question.

A metric puts its sentences into `Score.detail["explanation"]`, each a text with its values apart, so that a score that
was measured once can be explained in any language later. `Score.reason` is the same in English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ragbench.old.core.types import Score, Status
from ragbench.old.core.types.reason import Reason, read

DIGITS = 3  # a thousand questions tell no finer values apart


class Speaker(Protocol):
    """Texts and numbers of one language: `ragbench.old.core.language.Translator`."""

    def __call__(self, text: str, **values: object) -> str:
        """The translation of a text, with its `{name}` places filled in."""
        ...

    def number(self, value: float | None, digits: int = DIGITS) -> str:
        """A decimal number in the language's form."""
        ...


def sentence(text: str, /, **values: Any) -> dict[str, Any]:
    """A sentence with its values apart: numbers, texts, reasons, or a sequence of texts that are quoted one by one."""
    return {"text": text, "values": {name: _apart(value) for name, value in values.items()}}


def reason_in(reason: str | float | None, speaker: Speaker) -> str:
    """A reason, or the text that is kept of it, in the speaker's language; empty where a table has none (None, NaN).
    What a model or an endpoint says stays as it is: only what ragbench says is said anew."""
    known = read(reason) if isinstance(reason, str) else ""
    return known.said(spoken([known.sentence], speaker)) if isinstance(known, Reason) else known


class _English:
    def __call__(self, text: str, **values: object) -> str:
        return text.format(**values)

    def number(self, value: float | None, digits: int = DIGITS) -> str:
        return "—" if value is None else f"{value:.{digits}f}"


ENGLISH: Speaker = _English()


def share(part: int, whole: int) -> dict[str, Any]:
    """The values of a sentence that tells a share: part, whole (above 0), and the value, part / whole."""
    return {"part": part, "whole": whole, "value": part / whole}


def explain(score: Score, speaker: Speaker = ENGLISH) -> str:
    """The explanation of a score in the speaker's language; its `reason` where the metric left no sentences. Why there
    is no value stays a reason, to be kept and said again in another language."""
    if "explanation" not in score.detail and "judges" not in score.detail:
        return reason_in(score.reason, speaker)
    said = spoken(score.detail["explanation"] if "explanation" in score.detail else of_a_panel(score), speaker)
    if score.status is not Status.OK and isinstance(score.reason, Reason):
        return score.reason.said(said)
    return said


def spoken(sentences: Sequence[Mapping[str, Any]], speaker: Speaker = ENGLISH) -> str:
    """The sentences one after the other."""
    return " ".join(
        speaker(each["text"], **{name: _shown(value, speaker) for name, value in each["values"].items()})
        for each in sentences
    )


def of_a_panel(score: Score) -> list[dict[str, Any]]:
    """What each judge gave, what that comes to, and who gave nothing."""
    judges: Mapping[str, Mapping[str, Any]] = score.detail["judges"]
    given = {name: judged["value"] for name, judged in judges.items() if judged["status"] == Status.OK.value}
    missing = [f"{name} ({judged['status']})" for name, judged in judges.items() if name not in given]
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


def _apart(value: Any) -> Any:
    known = read(value) if isinstance(value, str) and not isinstance(value, Reason) else value
    return known.sentence if isinstance(known, Reason) else value


def _shown(value: Any, speaker: Speaker) -> str:
    if value is None or isinstance(value, float):  # a number that is none is stored as nothing
        return speaker.number(value, DIGITS)
    if isinstance(value, int) and not isinstance(value, bool):
        return speaker.number(value, 0)
    if isinstance(value, Mapping) and "number" in value:
        return speaker.number(float(value["number"]), len(value["number"].partition(".")[2]))
    if isinstance(value, Mapping):
        return spoken([value], speaker)
    if isinstance(value, list | tuple):
        return "; ".join(
            spoken([each], speaker) if isinstance(each, Mapping) else speaker(_QUOTED["text"], quoted=each)
            for each in value
        )
    return str(value)


_QUOTED = sentence("“{quoted}”", quoted="")
