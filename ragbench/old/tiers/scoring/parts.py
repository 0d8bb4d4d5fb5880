"""Samples scored, here or in parts by workers of a cluster, and what listeners are told as calls and samples end."""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from ragbench.old import llm
from ragbench.old.core import settings
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import without_nan
from ragbench.old.core.metric import Metric
from ragbench.old.core.progress import Event, Listener, Listening, Told, name_of, refuse
from ragbench.old.core.settings import Settings
from ragbench.old.core.trust import UntrustedError
from ragbench.old.core.types import Embedder, Judge, Sample, Score
from ragbench.old.judge import Again, Asking, Overheard, OwnJudge, Panel, Reworded, Rule, asks_nobody
from ragbench.old.judge.model_judge import MEASURED
from ragbench.old.llm import Journal, ModelError, Outlook, Replies, Tally
from ragbench.old.llm.journal import note
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.vectors import Batch
from ragbench.old.store import pool
from ragbench.old.store.pool import Counter as Counting
from ragbench.old.store.pool import Tell, Together, require_same
from ragbench.old.systems import callables
from ragbench.old.tiers.scoring.functions import Functions
from ragbench.old.tiers.scoring.judge_assignment import AnyJudge, asking, kept_replies, named_for, opened, rule_on
from ragbench.old.tiers.scoring.ledger import system_name

if TYPE_CHECKING:
    from ragbench.old.judge import OpenJudges


SAMPLES, PARTS_A_WORKER = 256, 4
"""Of a part at most; fewer where that gives each worker so many parts."""
JUDGED, JUDGED_PARTS = 4096, 1
"""The same where a model is asked: where a part begins and ends, fewer calls are in flight than may be."""
TOGETHER = 8192
"""Scores that are made at the same time where nobody is waited for: each holds some 3 kB until all of them are done."""


@dataclass(frozen=True)
class Terms:
    """What samples are scored by, wherever that is done.

    language: of prompts where a sample names none; spoken: of explanations. repeats: of each question to a judge.
    """

    metrics: tuple[Metric, ...]
    judges: tuple[AnyJudge, ...]
    embedders: tuple[Embedder, ...]
    rule: Rule
    language: str | None
    spoken: str
    repeats: int = 1

    def pairs(self, rows: Iterable[Sample]) -> list[tuple[Sample, Metric, int]]:
        """What is scored: each sample by each metric, as often as it is put to a judge."""
        return [
            (row, metric, repeat)
            for row in rows
            for metric in self.metrics
            if metric.grain == "sample"
            for repeat in range(self.repeats if "judge" in metric.needs else 1)
        ]


@dataclass
class Part:
    """Scored samples. scores: in the order of `Terms.pairs`. used: by judge the replies they were made from."""

    scores: list[Score]
    used: Mapping[str, Replies] = field(default_factory=dict)
    outlooks: Sequence[Outlook] = ()
    events: Sequence[Event] = ()


@dataclass(frozen=True)
class _Slice:
    """What a worker is given.

    before: how many places stand before those of the rows. run: of the listeners; empty: nobody listens. identities: of
    the embedders, where they were made.
    """

    rows: tuple[Sample, ...]
    before: int
    run: str
    identities: tuple[str, ...]


@dataclass
class _Recorder:
    """Stands for listeners that are in another process, until they can be told."""

    run: str
    events: list[Event] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.run)

    def tell(self, event: Event) -> None:
        self.events.append(event)


async def scored(
    rows: Sequence[Sample],
    terms: Terms,
    journal: Journal | None,
    *,
    advance: Callable[[int], None] | None = None,
    on_change: Callable[[Tally], None] | None = None,
    listening: Listening | _Recorder | None = None,
    before: int = 0,
    dry: bool = False,
    functions: Functions | None = None,
) -> Part:
    """Every metric on every sample by every judge, all at once; embeddings in one batch.

    before: how many places of a listener stand before the first of these. Raises ModelError when a single judge's
    provider refuses altogether, or the budget is spent.
    """
    whom = asking(terms.metrics, terms.judges)
    to_open = [judge for judge in whom if isinstance(judge, str | OwnJudge)]
    judges: OpenJudges | None = None
    if to_open:
        judges = opened(to_open, journal, terms.language, on_change, dry)
    by_name: dict[AnyJudge, Judge] = {} if judges is None else dict(zip(to_open, judges.judges, strict=True))
    try:
        every = [by_name[judge] if isinstance(judge, str | OwnJudge) else judge for judge in whom]
        if twice := [name for name, times in Counter(judge.name for judge in every).items() if times > 1]:
            raise ValueError(f"judges: two of them are called {twice[0]!r}; give one another name")
        batches: list[Batch] = []
        for embedder in terms.embedders:
            batches.append(Batch(embedder, batches[0] if batches else None))
        out: dict[str, ModelError] = {}
        panels = {
            metric.label: Panel(
                [by_name[judge] if isinstance(judge, str | OwnJudge) else judge for judge in own],
                rule_on(metric, terms.rule) if len(own) > 1 else replace(terms.rule, quorum=None),
                out,
            )
            for metric in terms.metrics
            if (own := named_for(metric, terms.judges))
        }
        functions = functions or Functions(settings.load().metrics.timeout_seconds)
        narrator = Narrator(listening, before) if listening else None

        def work(row: Sample, metric: Metric, repeat: int) -> Work:
            def make(hear: Hear | None = None) -> Work:
                return _work(metric, row, panels.get(metric.label), batches, terms.spoken, repeat, functions, hear)

            return make() if narrator is None else narrator.work(system_name(row), row, metric, repeat, make)

        pairs, scores = terms.pairs(rows), list[Score]()
        together = TOGETHER if _is_here(terms, whom) else max(len(pairs), 1)
        for start in range(0, len(pairs), together):
            works = [_counted(work(*pair), advance) for pair in pairs[start : start + together]]
            scores += await batches[0].gather(works)
        outlooks = await judges.outlooks() if judges is not None else ()
        return Part(scores, {} if judges is None else judges.used(), outlooks)
    finally:
        if judges is not None:
            await judges.close()


def _is_here(terms: Terms, judges: Sequence[AnyJudge]) -> bool:
    """Whether all is made in this process, of each sample by itself: there is no call to wait for beside others."""
    offline = all(isinstance(judge, str) and asks_nobody(judge) for judge in judges)
    return offline and not _parted(terms)[1].metrics and not any(metric.is_users for metric in terms.metrics)


async def scored_by_workers(
    rows: Sequence[Sample],
    terms: Terms,
    *,
    advance: Callable[[int], None] | None = None,
    on_change: Callable[[Tally], None] | None = None,
    listening: Listening | None = None,
) -> Part:
    """The same by the workers of the cluster that the settings name, but for what has to be embedded at once.

    Listeners are told of a part when it is done. Raises ClusterError besides what `scored` raises.
    """
    there, here = _parted(terms)

    def everywhere() -> Part:
        together, run = Together(advance, on_change), listening.run if listening else ""
        slices: list[tuple[Sequence[int], _Slice]] = []
        finished: list[tuple[Part, Any]] = []
        if there.metrics:
            with pool.opened(settings.load()) as workers:
                assert workers is not None, "the settings name a cluster"
                slices += _slices(rows, there, workers.count, run)
                finished += workers.map(_one_slice, there, [part for _, part in slices], together.heard)
        scores: dict[int, Iterator[Score]] = {}
        for (positions, _), (made, _) in zip(slices, finished, strict=True):
            own = iter(made.scores)
            scores |= {at: iter([next(own) for _ in there.pairs([rows[at]])]) for at in positions}
        late: Iterator[Score] = iter(())
        if here.metrics:
            whole = _Slice(tuple(rows), 0, run, _identities(terms))
            finished.append(_one_slice(here, whole, partial(together.heard, len(slices))))
            late = iter(finished[-1][0].scores)
        used: dict[str, Replies] = {}
        for number, (made, state) in enumerate(finished):
            together.heard(number, state)
            for name, replies in made.used.items():
                used.setdefault(name, Replies(replies.model, replies.free)).by_key.update(replies.by_key)
            if listening:
                for event in made.events:
                    listening.tell(event)
        note(key for name, replies in used.items() if _is_kept(name, terms) for key in replies.by_key)
        bound = {*here.metrics}
        pairs = ((at, metric) for at, row in enumerate(rows) for _, metric, _ in terms.pairs([row]))
        return Part([next(late if metric in bound else scores[at]) for at, metric in pairs], used)

    return await asyncio.to_thread(everywhere)


def _parted(terms: Terms) -> tuple[Terms, Terms]:
    """What may be scored in parts, and what may not: a model rounds a text's vector by those it is embedded with."""
    is_free = all(getattr(embedder, "is_by_text", False) for embedder in terms.embedders)
    bound = [metric for metric in terms.metrics if "embedder" in metric.needs and not is_free]
    free = tuple(metric for metric in terms.metrics if metric not in bound)
    return replace(terms, metrics=free), replace(terms, metrics=tuple(bound))


def _one_slice(terms: Terms, part: _Slice, tell: Tell) -> tuple[Part, Any]:
    """What a worker does; with how far it came."""
    require_same(terms.embedders, part.identities)
    counter, recorder = Counting(tell), _Recorder(part.run)
    with kept_replies(terms.judges, terms.metrics) as journal:
        made = llm.run(
            scored(
                part.rows, terms, journal, advance=counter.advance, on_change=counter.changed, listening=recorder,
                before=part.before,
            )
        )  # fmt: skip
    return replace(made, events=tuple(recorder.events)), counter.state


def _slices(rows: Sequence[Sample], terms: Terms, workers: int, run: str) -> Iterator[tuple[list[int], _Slice]]:
    """Rows in parts, with their positions; a system's sample and its repeats are in one part."""
    places: dict[tuple[str, str], list[int]] = {}
    for position, row in enumerate(rows):
        places.setdefault((system_name(row), row.id), []).append(position)
    asks = any(isinstance(judge, str | OwnJudge) for judge in asking(terms.metrics, terms.judges))
    most, parts = (JUDGED, JUDGED_PARTS) if asks else (SAMPLES, PARTS_A_WORKER)
    size = max(1, min(most, -(-len(places) // (parts * max(1, workers)))))
    groups, identities = list(places.values()), _identities(terms)
    for start in range(0, len(groups), size):
        positions = [position for group in groups[start : start + size] for position in group]
        yield positions, _Slice(tuple(rows[position] for position in positions), start, run, identities)


def _identities(terms: Terms) -> tuple[str, ...]:
    return tuple(embedder.identity for embedder in terms.embedders)


def _is_kept(name: str, terms: Terms) -> bool:
    """Whether the replies of the judge of that name are in the journal."""
    return all(
        judge.kept
        for judge in asking(terms.metrics, terms.judges)
        if isinstance(judge, OwnJudge) and judge.name == name
    )


def _work(
    metric: Metric,
    sample: Sample,
    panel: Panel | None,
    batches: Sequence[Batch],
    language: str,
    repeat: int,
    functions: Functions,
    hear: Hear | None = None,
) -> Work:
    tools: dict[str, Any] = {"embedder": batches[0] if len(batches) == 1 else batches}
    speaker = translator(language)

    async def by(judge: Judge | None) -> Score:
        judge = hear(judge) if judge is not None and hear is not None else judge
        judge = Again(judge, repeat) if judge is not None and repeat else judge
        judge = Reworded(judge, metric.reworded) if judge is not None and metric.reworded else judge
        given = {need: tools.get(need, judge) for need in metric.needs}
        if metric.is_users:
            score = await functions.score(metric, sample, given)
        else:
            outcome: Score | Awaitable[Score] = metric(sample, **given)
            score = await outcome if inspect.isawaitable(outcome) else outcome
        if judge is not None and score.judge is None:
            score = replace(score, judge=judge.name)
        return replace(score, reason=explain(score, speaker))

    async def work() -> Score:
        if panel is None:
            return await by(None)
        if len(panel.judges) == 1:
            return await by(panel.judges[0])
        score = await panel.score(by)
        return replace(score, reason=explain(score, speaker))

    return work


def _counted(work: Work, advance: Callable[[int], None] | None) -> Work:
    if advance is None:
        return work

    async def counted() -> Score:
        score = await work()
        advance(1)
        return score

    return counted


LIMIT = "metrics.timeout_seconds"
Work = Callable[[], Coroutine[Any, Any, Score]]
Hear = Callable[[Judge], Judge]
"""What makes of a judge one whose answers are told."""


class Hearer(Protocol):
    """Who is told: listeners, or what stands for them."""

    run: str

    def tell(self, event: Event) -> None:
        """Take an event."""


def listening(listeners: Sequence[Listener], known: Settings) -> Listening:
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


def listener_facts(known: Sequence[Told]) -> list[dict[str, Any]]:
    """What a page keeps of those that failed or were not told everything, as plain JSON values."""
    return [asdict(listener) for listener in known if listener.failed or listener.missed]


def of_facts(given: Mapping[str, Any]) -> list[Told]:
    """The same, out of the facts of a page."""
    return [Told(**listener) for listener in given.get("listeners") or ()]


def listeners_said(known: Sequence[Told], text: Translator) -> list[str]:
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
