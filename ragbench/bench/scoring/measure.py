"""A table of answers → scores with reasons: the metrics of single samples, by one judge or several, all at once."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragbench import embed, settings, trust
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.requests import Draws
from ragbench.bench.scoring import own_metrics, sets, telling
from ragbench.bench.scoring.functions import Functions
from ragbench.bench.scoring.jury import AnyJudge, asking, named_for, rule_on
from ragbench.bench.scoring.ledger import Ledger, Row, system_name
from ragbench.bench.scoring.repeats import together
from ragbench.bench.scoring.result import Scores, by_system
from ragbench.bench.scoring.telling import Hear, Work
from ragbench.datasets.russian import language_of
from ragbench.judge import (
    Again,
    OpenJudges,
    OwnJudge,
    Panel,
    Rehearsed,
    Reworded,
    Rule,
    asks_nobody,
    open_judges,
)
from ragbench.language import translator
from ragbench.listeners import Listener, Listening
from ragbench.llm import Journal, ModelError, Outlook, Tally, planning
from ragbench.metric import FIELDS, Metric
from ragbench.metrics import catalogue
from ragbench.metrics.explanation import explain
from ragbench.metrics.vectors import Batch
from ragbench.progress import Progress
from ragbench.stand_ins import StandIn, for_people, unordered
from ragbench.types import Embedder, Judge, Sample, Score

DEFAULT_EMBEDDER = "hashing"
FIRST = (
    "faithfulness",
    "factual_correctness",
    "answer_correctness",
    "response_relevancy",
    "semantic_similarity",
    "context_precision",
    "context_recall",
    "context_entity_recall",
    "noise_sensitivity",
    "response_groundedness",
    "rubrics_score",
)
"""What comes first where all metrics are measured; the first of these is a page's primary metric."""

OPTIONAL = ("bert_score",)
"""What needs a model of somebody's choice, and is measured only where it is named."""


@dataclass(frozen=True)
class Asked:
    """What to score by.

    repeats: how often every question is put to a judge, each time anew. listeners: told of calls, scores and samples
    (`ragbench.listeners`), with those of the settings.

    judges, embedder: by name as in ragbench.toml, or as objects; without judges those that a metric names as its own,
    else all configured ones, else the lexical one; of several embedders each value is kept, and their mean counts.
    language: of prompts where a sample names none (else that of its texts), and of explanations (else the settings').
    rule: how several judges become one.
    journal: where paid replies are kept; None keeps them for this call. advance: called with 1 for each score.
    on_change: called with the count of calls after each of their steps. plan: makes it a dry run and is given what
    each model would be asked; the scores are then those of the journal's replies and the lexical judge's answers. In
    a process that only plans (`ragbench.llm.planning.folder`) it is always one. baseline, primary: see `Scores`.
    """

    judges: tuple[AnyJudge, ...] = ()
    embedder: Embedder | str | Sequence[Embedder | str] = DEFAULT_EMBEDDER
    language: str | None = None
    rule: Rule = field(default_factory=Rule)
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    journal: Journal | None = None
    advance: Callable[[int], None] | None = None
    on_change: Callable[[Tally], None] | None = None
    plan: Callable[[Sequence[Outlook]], object] | None = None
    baseline: str = ""
    primary: str = ""
    repeats: int = 1
    listeners: tuple[Listener, ...] = ()

    def __post_init__(self) -> None:
        Draws(level=self.level, resamples=self.resamples, seed=self.seed)


def applicable(samples: Sequence[Sample], metrics: Sequence[Metric | str | Callable[..., Any]] | None) -> list[Metric]:
    """The metrics asked for, or all of single samples, and the user's of whole sets after them, that have a good
    direction and whose fields the samples have.

    Raises ValueError for a metric of another grain, and, before anything is paid for, for one that no sample has the
    fields of, and where the settings say of metrics what cannot be followed.
    """
    own_metrics.check()
    known = catalogue()
    if metrics is None:
        found = [each for each in known.values() if _is_measured(each) and each.better is not None]
        found = [each for each in found if each.name not in OPTIONAL]
        found = [each for each in found if not _lacking(each, samples)]
        if not found:
            raise ValueError(f"no metric can be measured: the samples have {', '.join(_given(samples)) or 'no field'}")
        place = {name: number for number, name in enumerate(FIRST)}
        return sorted(found, key=lambda each: (sets.is_of_sets(each), place.get(each.name, len(FIRST))))
    found = [own_metrics.value_of(each) for each in metrics]
    if not found:
        raise ValueError("no metric is asked for")
    for each in found:
        if not _is_measured(each):
            raise ValueError(
                f"{each.label} works on the grain {each.grain!r}, not on single samples; of others only functions "
                "of yours are measured whose first parameter is `table`, all samples of a system"
            )
        if lacking := _lacking(each, samples):
            raise ValueError(
                f"{each.label} needs {', '.join(lacking)}, which no sample has; they have "
                f"{', '.join(_given(samples)) or 'no field'}"
            )
    return list({each.label: each for each in found}.values())


def _is_measured(metric: Metric) -> bool:
    """Whether a table of answers is what it is measured on."""
    return metric.grain == "sample" or sets.is_of_sets(metric)


@contextlib.contextmanager
def kept_replies(judges: Sequence[AnyJudge], metrics: Sequence[Metric]) -> Iterator[Journal | None]:
    """The journal in the database where a model will be asked that is no object; None where nothing is paid for."""
    whom = asking(metrics, judges)
    if not any(
        one.kept if isinstance(one, OwnJudge) else isinstance(one, str) and not asks_nobody(one) for one in whom
    ):
        yield None
        return
    from ragbench.store import Store, server
    from ragbench.store.journal import DatabaseJournal

    known = settings.load()
    with Store.open(known) as store:
        yield DatabaseJournal(store.engine, revive=lambda: server.start(known))


def passes(metrics: Sequence[Metric], judges: Sequence[AnyJudge]) -> bool:
    """Whether samples may be scored part by part (`in_parts`): no model is asked, which answers many at once sooner,
    and nothing is made of all samples together."""
    alone = all(
        metric.grain == "sample" and "embedder" not in metric.needs and len(named_for(metric, judges)) < 2
        for metric in metrics
    )
    offline = all(isinstance(one, str) and asks_nobody(one) for one in asking(metrics, judges))
    return alone and offline and not settings.load().metrics.listeners and planning.folder() is None


async def in_parts(parts: Iterable[Sequence[Sample]], metrics: Sequence[Metric], asked: Asked) -> Scores:
    """What `measure` finds of samples that come by in parts, in memory that hardly grows with their number; of each
    system an id stands once. Raises ValueError where there is no part."""
    ledger, found = Ledger(), None
    functions = Functions(settings.load().metrics.timeout_seconds)
    for part in parts:
        found = await measure(part, metrics, asked, functions)
        ledger.add(found.rows)
    if found is None:
        raise ValueError("there are no samples")
    return replace(found, rows=ledger)


async def measure(
    samples: Sequence[Sample], metrics: Sequence[Metric], asked: Asked, functions: Functions | None = None
) -> Scores:
    """Every metric on every sample by every judge, all at once; embeddings in one batch.

    Samples of one system and id are repeats of one question: its score is their mean. Metrics of whole sets come last.
    functions: what calls users' metrics, where others were measured before.

    Raises ModelError when a single judge's provider refuses altogether, or the budget is spent.
    """
    dry = asked.plan is not None or planning.folder() is not None
    listening = Listening() if dry else telling.opened(asked.listeners, settings.load())
    tongue, spoken = asked.language, asked.language or settings.load().language
    rows = [each if each.language else replace(each, language=tongue or _spoken(each)) for each in samples]
    judged = [metric.label for metric in metrics if "judge" in metric.needs]
    whom = asking(metrics, asked.judges)
    to_open = [one for one in whom if isinstance(one, str | OwnJudge)]
    opened, needed = _opened(asked, to_open, dry) if to_open else None, bool(judged)
    by_name: dict[AnyJudge, Judge] = dict(zip(to_open, opened.judges, strict=True)) if opened is not None else {}
    judges = tuple(by_name[one] if isinstance(one, str | OwnJudge) else one for one in whom)
    try:
        batches: list[Batch] = []
        embedders = _embedders(asked.embedder, samples, metrics)
        for one in embedders:
            batches.append(Batch(one, batches[0] if batches else None))
        out: dict[str, ModelError] = {}
        panels = {
            metric.label: Panel(
                [by_name[one] if isinstance(one, str | OwnJudge) else one for one in own],
                rule_on(metric, asked.rule) if len(own) > 1 else replace(asked.rule, quorum=None),
                out,
            )
            for metric in metrics
            if (own := named_for(metric, asked.judges))
        }
        if twice := [name for name, times in Counter(one.name for one in judges).items() if times > 1]:
            raise ValueError(f"judges: two of them are called {twice[0]!r}; give one another name")
        functions = functions or Functions(settings.load().metrics.timeout_seconds)
        pairs = [
            (row, metric, repeat)
            for row in rows
            for metric in metrics
            if metric.grain == "sample"
            for repeat in range(asked.repeats if "judge" in metric.needs else 1)
        ]
        narrator = telling.Narrator(listening)

        def work(row: Sample, metric: Metric, repeat: int) -> Work:
            def make(hear: Hear | None = None) -> Work:
                return _work(metric, row, panels.get(metric.label), batches, spoken, repeat, functions, hear)

            return narrator.work(system_name(row), row, metric, repeat, make) if listening else make()

        works = [_counted(work(*pair), asked.advance) for pair in pairs]
        scores = await batches[0].gather(works)
        drawn = Sureness(asked.level, asked.resamples, asked.seed)
        of_sets = await sets.measured(by_system(rows, asked.baseline), metrics, functions, drawn, asked.advance)
        if isinstance(opened, Rehearsed):
            (asked.plan or planning.keep)(await opened.outlooks())
    finally:
        if opened is not None:
            await opened.close()
        told = await asyncio.to_thread(listening.close) if listening else ()
    singles: dict[tuple[str | None, str, str], list[Score]] = {}
    places: dict[tuple[str | None, str, str], tuple[Sample, Metric]] = {}
    for (row, metric, _repeat), score in zip(pairs, scores, strict=True):
        place = (row.system, row.id, metric.label)
        places.setdefault(place, (row, metric))
        singles.setdefault(place, []).append(score)
    found = [
        Row(*places[place], together(own, translator(spoken)), tuple(own) if len(own) > 1 else ())
        for place, own in singles.items()
    ]
    usage = opened.usage() if opened is not None else {}
    return Scores(
        tuple(found), asked.level, asked.resamples, asked.seed, spoken, asked.baseline, usage,
        (
            *(StandIn("judge", one.name) for one in judges if needed and asks_nobody(one)),
            *unordered((one.name for one in judges if asks_nobody(one)), judged),
            *for_people((one.name for one in judges if not asks_nobody(one)), judged),
            *(StandIn("embedder", one.name) for one in embedders if getattr(one, "is_stand_in", False)),
        ),
        asked.primary, told, of_sets,
    )  # fmt: skip


def live_line(progress: Progress) -> Callable[[Tally], None]:
    """Keeps the calls' line beside a bar: answered, in flight, failed, cost, time left."""
    began = time.monotonic()
    return lambda tally: progress.say(lambda: tally.describe(time.monotonic() - began))


def _opened(asked: Asked, names: Sequence[str | OwnJudge], dry: bool) -> OpenJudges:
    known, kept = settings.load(), asked.journal
    if not all(isinstance(one, OwnJudge) or asks_nobody(one) for one in names):
        trust.require(trust.of_settings(known), lambda: trust.of_project(known))
    language, told = asked.language, asked.on_change
    return open_judges(known, names, journal=kept, language=language, on_change=told, rehearsed=dry)


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
            found: Score | Awaitable[Score] = metric(sample, **given)
            score = await found if inspect.isawaitable(found) else found
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


def _embedders(
    asked: Embedder | str | Sequence[Embedder | str], samples: Sequence[Sample], metrics: Iterable[Metric]
) -> list[Embedder]:
    """One at least; by name as configured. Raises ValueError for names that are not."""
    given = [asked] if isinstance(asked, str) or not isinstance(asked, Sequence) else list(asked)
    names = [name for one in given if isinstance(one, str) for name in one.split(",")]
    configured = settings.load()
    known = configured.embedders
    if not any("embedder" in metric.needs for metric in metrics):
        return [_NoEmbedder()]
    for name in names:
        if name.strip() not in known:
            raise ValueError(f"there is no embedder {name.strip()!r}; there are {', '.join(sorted(known))}")
    if any(known[name.strip()].base_url for name in names):
        trust.require(trust.of_settings(configured), lambda: trust.of_project(configured))
    corpus = sorted({text for text in _texts(samples) if text.strip()})
    made = [embed.make(name, known[name], corpus) for name in dict.fromkeys(name.strip() for name in names)]
    return [*(one for one in given if not isinstance(one, str)), *made]


def _texts(samples: Iterable[Sample]) -> Iterator[str]:
    for each in samples:
        yield from (text for text in (each.user_input, each.response, each.reference) if text)
        yield from (chunk.text for chunk in each.contexts or ())


def _spoken(sample: Sample) -> str:
    """The language of the sample's texts."""
    return language_of(_texts([sample]))


class _NoEmbedder:
    """Stands where no metric embeds."""

    name = identity = "none"

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> Any:
        raise RuntimeError("no metric was to embed anything")


def _given(samples: Sequence[Sample]) -> list[str]:
    return [name for name in FIELDS if any(getattr(each, name) is not None for each in samples)]


def _lacking(metric: Metric, samples: Sequence[Sample]) -> list[str]:
    given = _given(samples)
    return [field for field in metric.fields if field not in given]
