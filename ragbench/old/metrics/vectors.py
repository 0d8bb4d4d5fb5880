"""Texts to vectors for metrics: the texts of a whole table in one batch, and the cosine between two of them."""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ragbench.old.core.types import (
    Array,
    Embedder,
    EmbeddingError,
    PatientEmbedder,
    Status,
    TextKind,
    Vectors,
    usable_vectors,
)
from ragbench.old.core.waves import gather
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import EndedError, Inquiry, unmeasured

Result = TypeVar("Result")
Embed = Callable[..., Any]
Fatal = tuple[type[Exception], ...]
HOPELESS = 5
"""Texts that an embedder refuses one by one, none of them embedded, before nothing more is asked of it."""
SHOWN = 60  # a line of a terminal


@dataclass(frozen=True)
class Embedded:
    """The vector of each text that has a usable one; why each of the others has none; why nothing more is asked.

    zeros: of texts with a fault the zero vectors, which are of use where no direction is asked for.
    """

    vectors: Mapping[str, Array]
    faults: Mapping[str, str]
    dead: str = ""
    zeros: Mapping[str, Array] = field(default_factory=dict)


async def vectors(embedder: Embedder, texts: Sequence[str], kind: TextKind, *, zeros: bool = False) -> Vectors:
    """(texts, width) finite vectors, none of them zero; out of the common batch where the embedder is a `Batch`.

    zeros: take zero vectors too.

    Raises EndedError (embedding_error) for the first text that the embedder gives no such vector of.
    """
    if isinstance(embedder, Batch):
        given = await embedder.wait_for(texts, kind)
    else:
        given = embedded(embedder.embed, texts, kind)
    known = {**given.vectors, **(given.zeros if zeros else {})}
    for text in texts:
        if text not in known:
            shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
            who, why = embedder.name, given.faults[text]
            said = sentence("{embedder} gives no vector of “{what}”: {reason}", embedder=who, what=shown, reason=why)
            raise unmeasured(Status.EMBEDDING_ERROR, said)
    return np.array([known[text] for text in texts])


async def by_each(
    inquiry: Inquiry,
    embedder: Embedder | Sequence[Embedder],
    texts: Sequence[str],
    measure: Callable[[Vectors], list[float]],
    kind: TextKind,
    *,
    zeros: bool = False,
) -> dict[str, list[float]]:
    """What `measure` makes of the texts' vectors, by the embedder's name. zeros: also of zero vectors.

    Raises EndedError where an embedder fails on them: the mean of the others would be a number of another kind.
    Their values stay in `detail["embedders"]`.
    """
    by_name: dict[str, list[float]] = {}
    failed: list[EndedError] = []
    for each in named(embedder):
        try:
            by_name[each.name] = measure(await vectors(each, texts, kind, zeros=zeros))
        except EndedError as end:
            failed.append(end)
    if failed:
        score = failed[0].score
        known = {name: statistics.fmean(values) for name, values in by_name.items()}
        raise inquiry.unmeasured(score.status, score.detail["explanation"][0], embedders=known)
    return by_name


def embedded(embed: Embed, texts: Sequence[str], kind: TextKind, fatal: Fatal = ()) -> Embedded:
    """The vectors of the texts, each checked, by as few calls as the embedder's refusals allow.

    An embedder that fails says which texts are to blame (`EmbeddingError.positions`), or they are asked for in halves
    until the guilty stand alone; nothing more is asked of one that is `dead`, or hopeless. fatal: errors that are
    nobody's fault but the run's, and are raised.
    """
    rows: dict[str, Any] = {}
    faults: dict[str, str] = {}
    alone, dead = 0, ""
    waiting = [list(dict.fromkeys(texts))] if texts else []
    while waiting:
        part = waiting.pop()
        try:
            given = embed(part, kind=kind)
            if len(given) != len(part):
                raise EmbeddingError(f"gave {len(given)} vectors for {len(part)} texts")
            rows |= zip(part, given, strict=True)
        except fatal:
            raise
        except Exception as error:
            guilty = [at for at in error.positions if at < len(part)] if isinstance(error, EmbeddingError) else []
            reason = error.reason if isinstance(error, EmbeddingError) else f"{type(error).__name__}: {error}"
            alone += len(part) == 1
            if guilty:
                faults |= {part[place]: reason for place in guilty}
                waiting += [rest] if (rest := [text for text in part if text not in faults]) else []
            elif (isinstance(error, EmbeddingError) and error.dead) or (alone >= HOPELESS and not rows):
                faults |= dict.fromkeys([text for left in (part, *waiting) for text in left], reason)
                waiting, dead = [], reason
            elif len(part) == 1:
                faults[part[0]] = reason
            else:
                waiting += [part[1::2], part[::2]]
    try:
        usable, unusable = usable_vectors(list(rows.values()), len(rows)) if rows else ((), {})
    except EmbeddingError as error:
        return Embedded({}, faults | dict.fromkeys(rows, error.reason), dead)
    faults |= {text: unusable[place] for place, text in enumerate(rows) if place in unusable}
    made = dict(zip(rows, usable, strict=True))
    by_text = {text: row for text, row in made.items() if text not in faults}
    zeros = {text: row for text, row in made.items() if text in faults and row.size and not row.any()}
    return Embedded(by_text, faults, dead, zeros)


def cosine(first: Array | Vectors, second: Array | Vectors) -> float:
    """The cosine of the angle between two vectors, −1 to 1; exactly 1.0 for equal ones; NaN without direction."""
    vector, other = first.astype(float), second.astype(float)
    lengths = math.sqrt(float(vector @ vector) * float(other @ other))
    return float(np.clip(float(vector @ other) / lengths, -1.0, 1.0)) if lengths else math.nan


SINGLE = 2.0**-22
"""Vectors are kept in single precision: by so little a cosine in double precision may miss that of the vectors that
were meant. (0.8, 0.6) and (1, 0) have 0.8, and as they are kept 0.80000001."""


def reaches(value: float, threshold: float) -> bool:
    """Whether a cosine of kept vectors is at the threshold or above; one that differs from it by what single precision
    leaves out is at it."""
    return value >= threshold - SINGLE


def single_cosine(first: Vectors, second: Vectors) -> float:
    """The cosine in the precision that the vectors have, each divided by its length first, as ragas takes it."""
    # times a power of two, which changes no digit: in single precision squares of 1e-30 are 0, and of 1e30 infinite
    scaled = (np.ldexp(vector, -np.frexp(np.abs(vector).max())[1]) for vector in (first, second))
    unit, other = (vector / np.linalg.norm(vector) for vector in scaled)
    return float(unit @ other)


def named(embedder: Embedder | Sequence[Embedder]) -> list[Embedder]:
    """The embedders by whose names values are kept. Raises ValueError for none, and for two under one name."""
    embedders = list(embedder) if isinstance(embedder, Sequence) else [embedder]
    if not embedders or len({each.name for each in embedders}) < len(embedders):
        raise ValueError("at least one embedder is needed, each under its own name")
    return embedders


def by_embedder(values: Mapping[str, float]) -> dict[str, Any]:
    """The sentence that names each embedder's value."""
    each = [{"text": "{name} {value}", "values": {"name": name, "value": value}} for name, value in values.items()]
    return sentence("By the embedders: {scores}.", scores=each)


@dataclass
class _Wanted:
    texts: tuple[str, ...]
    kind: TextKind
    found: asyncio.Future[Embedded]
    by: Batch


class _Waiting:
    """How many measurements are under way, and which of them wait for vectors."""

    def __init__(self) -> None:
        self.running = 0
        self.wanted: list[_Wanted] = []
        self.under_way: set[asyncio.Future[Any]] = set()


class Batch:
    """An embedder that waits until every measurement under way has said what it needs, and then embeds it all at once.

    Measurements run through `gather`; each asks for vectors at most once at a time. Equal texts are embedded once.
    beside: another batch whose measurements these are too, for metrics that take several embedders. fatal: errors of
    the embedder that end all measurements; any other leaves unmeasured what needs a vector that there is not.
    """

    def __init__(self, embedder: Embedder, beside: Batch | None = None, fatal: Fatal = ()) -> None:
        self.embedder = embedder
        self.fatal = fatal
        self.dead = ""
        self.name = embedder.name
        self.identity = embedder.identity
        self._waiting: _Waiting = _Waiting() if beside is None else beside._waiting

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """At once, as the embedder itself."""
        return self.embedder.embed(texts, kind=kind)

    @property
    def tokens(self) -> Callable[..., list[Vectors]] | None:
        """The embedder's own vectors of single tokens, of each text at once; None where it has none."""
        return getattr(self.embedder, "tokens", None)

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, Result]]]) -> list[Result]:
        """The results of the measurements in order; their texts are embedded in one batch."""
        self._waiting.running += len(works)
        return await gather([self._one(work) for work in works])

    async def wait_for(self, texts: Sequence[str], kind: TextKind) -> Embedded:
        """The vectors of these texts and of others, once all others are done or wait as well."""
        wanted = _Wanted(tuple(texts), kind, asyncio.get_running_loop().create_future(), self)
        self._waiting.wanted.append(wanted)
        self._embed_if_all_wait()
        return await wanted.found

    async def _one(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        try:
            return await work()
        finally:
            self._waiting.running -= 1
            self._embed_if_all_wait()

    def _embed_if_all_wait(self) -> None:
        waiting = self._waiting
        if len(waiting.wanted) < waiting.running:  # also without those that were cancelled: a look at each, only then
            return
        waiting.wanted = [wanted for wanted in waiting.wanted if not wanted.found.cancelled()]
        if not waiting.wanted or len(waiting.wanted) < waiting.running:
            return
        alike: dict[tuple[TextKind, int], list[_Wanted]] = {}
        for wanted in sorted(waiting.wanted, key=lambda each: each.kind):
            alike.setdefault((wanted.kind, id(wanted.by)), []).append(wanted)
        waiting.wanted = []
        for (kind, _), ready in alike.items():
            batch, texts = ready[0].by, [text for wanted in ready for text in wanted.texts]
            if isinstance(batch.embedder, PatientEmbedder):  # it asks on the loop of the judges, which must be free
                task = asyncio.ensure_future(asyncio.to_thread(_found, batch, texts, kind))
                task.add_done_callback(partial(_told, batch, ready))
                waiting.under_way.add(task)
                task.add_done_callback(waiting.under_way.discard)
            else:
                _tell(batch, ready, _found(batch, texts, kind))


def _found(batch: Batch, texts: Sequence[str], kind: TextKind) -> Embedded | Exception:
    try:
        known = Embedded({}, dict.fromkeys(texts, batch.dead), batch.dead)
        return known if batch.dead else embedded(batch.embed, texts, kind, batch.fatal)
    except Exception as error:
        return error


def _told(batch: Batch, ready: Sequence[_Wanted], task: asyncio.Future[Embedded | Exception]) -> None:
    if not task.cancelled():
        _tell(batch, ready, task.result())


def _tell(batch: Batch, ready: Sequence[_Wanted], outcome: Embedded | Exception) -> None:
    if isinstance(outcome, Embedded):
        batch.dead = outcome.dead
    for wanted in ready:
        if wanted.found.cancelled():
            continue
        if isinstance(outcome, Embedded):
            wanted.found.set_result(outcome)
        else:
            wanted.found.set_exception(outcome)
