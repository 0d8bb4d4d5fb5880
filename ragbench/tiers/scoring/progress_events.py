"""What the listeners of a measurement are told, and when: calls, scores and samples as they end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any, Protocol

from ragbench.core.language import Translator
from ragbench.core.listeners import Event, Listener, Listening, Told, name_of, refuse
from ragbench.core.measurement import without_nan
from ragbench.core.metric import Metric
from ragbench.core.settings import Settings
from ragbench.core.trust import UntrustedError
from ragbench.core.types import Judge, Sample, Score
from ragbench.judge import Asking, Overheard
from ragbench.judge.injections import MEASURED
from ragbench.systems import callables

LIMIT = "metrics.timeout_seconds"
Work = Callable[[], Coroutine[Any, Any, Score]]
Hear = Callable[[Judge], Judge]
"""What makes of a judge one whose answers are told."""


class Hearer(Protocol):
    """Who is told: listeners, or what stands for them."""

    run: str

    def tell(self, event: Event) -> None:
        """Take an event."""


def opened(listeners: Sequence[Listener], known: Settings) -> Listening:
    """The listeners of a call, and those that the settings name.

    Raises ValueError for what is no function of one event, and UntrustedError for one that nobody has trusted.
    """
    for listener in listeners:
        refuse(listener)
    named = [(name_of(function), function) for function in listeners]
    for path in known.metrics.listeners:
        try:
            named.append((path, callables.find(path, "event", known.metrics.timeout_seconds, LIMIT)))
        except UntrustedError:
            raise
        except ValueError as error:
            raise ValueError(f"metrics.listeners = {path!r}: {error}") from None
    return Listening(named, known.metrics.timeout_seconds)


def facts(known: Sequence[Told]) -> list[dict[str, Any]]:
    """What a page keeps of those that failed or were not told everything, as plain JSON values."""
    return [asdict(listener) for listener in known if listener.failed or listener.missed]


def of_facts(given: Mapping[str, Any]) -> list[Told]:
    """The same, out of the facts of a page."""
    return [Told(**listener) for listener in given.get("listeners") or ()]


def said(known: Sequence[Told], text: Translator) -> list[str]:
    """A sentence for each listener that failed, or was not told everything."""
    _ = text
    return [
        _(
            "Listener {name} failed on {failed} of {told} events and missed {missed}; no score depends on it. {why}",
            name=listener.name,
            failed=_.integer(listener.failed),
            told=_.integer(listener.told),
            missed=_.integer(listener.missed),
            why=listener.why,
        )
        for listener in known
        if listener.failed or listener.missed
    ]


def of_injections(answers: int, text: Translator) -> str:
    """What is said of so many answers, at least one, in whose texts somebody seems to address the judge, and of how
    much such a flag tells."""
    _ = text
    seen = _.plural(
        "In {n} answer or its passages somebody seems to address the judge. The score stands; read it with care.",
        "In {n} answers or their passages somebody seems to address the judge. The scores stand; read them with care.",
        answers,
    )
    worth = _(
        "Flagged are orders to ignore instructions, marks of chat templates and characters that nobody sees: of "
        "{attacks} attacks that were not written for these flags {flagged} have one, of {innocent} innocent texts that "
        "sound like them {mistaken}. A text without a flag may be an attack.",
        **{name: _.integer(number) for name, number in MEASURED._asdict().items()},
    )
    return f"{seen} {worth}"


@dataclass
class _Place:
    """A sample of one system. waiting: scores that are still to come."""

    system: str
    sample: str
    id: str
    waiting: int = 0
    scores: int = 0
    values: dict[str, float | None] = field(default_factory=dict)
    began: float = 0.0
    start: float = math.inf

    def begin(self) -> None:
        if math.isinf(self.start):
            self.began, self.start = time.time(), time.monotonic()


class Narrator:
    """Tells of each score of a measurement as it ends, of the calls within it, and of a sample after its last score.

    before: how many samples of the same measurement others tell of, before these.
    """

    def __init__(self, listening: Hearer, before: int = 0) -> None:
        self._listening, self._before = listening, before
        self._places: dict[tuple[str, str], _Place] = {}

    def work(self, system: str, row: Sample, metric: Metric, repeat: int, make: Callable[[Hear], Work]) -> Work:
        """A score that is told of when it is there; `make` makes it, with judges that are listened to."""
        place = self._places.setdefault(
            (system, row.id), _Place(system, row.id, str(self._before + len(self._places) + 1))
        )
        place.waiting += 1
        place.scores += 1
        identifier, calls = f"{place.id}.{place.scores}", count(1)
        about: dict[str, Any] = {"metric": metric.label, "repeat": repeat}

        def heard(asked: Asking) -> None:
            detail = plain(asked.detail)
            self._tell(
                place, "call", f"{identifier}.{next(calls)}", identifier, asked.began, asked.seconds,
                judge=asked.judge, status=asked.status, reason=asked.reason, detail=detail, **about,
            )  # fmt: skip

        inner = make(lambda judge: Overheard(judge, heard))

        async def told() -> Score:
            place.begin()
            began, start = time.time(), time.monotonic()
            score = await inner()
            value = None if math.isnan(score.value) else score.value
            self._tell(
                place, "metric", identifier, place.id, began, time.monotonic() - start, judge=score.judge or "",
                value=value, status=score.status.value, reason=score.reason, detail=plain(score.detail), **about,
            )  # fmt: skip
            place.values[metric.label] = value
            place.waiting -= 1
            if not place.waiting:
                values = {"values": dict(place.values)}
                self._tell(place, "sample", place.id, "", place.began, time.monotonic() - place.start, detail=values)
            return score

        return told

    def _tell(
        self, place: _Place, kind: Any, identifier: str, parent: str, began: float, seconds: float, **more: Any
    ) -> None:
        run = self._listening.run
        self._listening.tell(Event(kind, run, identifier, parent, began, seconds, place.system, place.sample, **more))


def plain(detail: Mapping[str, Any]) -> dict[str, Any]:
    """As plain JSON values, None for NaN; what is none of JSON's as its text."""

    def of(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(key): of(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [of(item) for item in value]
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)

    plain_detail: dict[str, Any] = without_nan(of(detail))
    return plain_detail
