"""A table of answers → scores with reasons: the metrics of single samples, by one judge or several, all at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragbench.old import embed
from ragbench.old.core import settings, trust
from ragbench.old.core.expectations import shown
from ragbench.old.core.language import translator
from ragbench.old.core.metric import FIELDS, Metric
from ragbench.old.core.progress import Listener, Listening, Progress
from ragbench.old.core.segmentation import language_of
from ragbench.old.core.stand_ins import StandIn, for_people, panel, sample, unordered
from ragbench.old.core.types import Embedder, Sample, Score
from ragbench.old.embed import hashing, wheels
from ragbench.old.embed.texts import Arrays
from ragbench.old.judge import OwnJudge, Rule, asks_nobody
from ragbench.old.judge.words import Shelf
from ragbench.old.llm import Journal, Outlook, Plan, Replies, Tally, planning
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import session
from ragbench.old.tiers.basics.choices import parted
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.requests import Draws
from ragbench.old.tiers.scoring import own_metrics, parts, sets
from ragbench.old.tiers.scoring.functions import Functions
from ragbench.old.tiers.scoring.judge_assignment import AnyJudge, asking, named_for
from ragbench.old.tiers.scoring.ledger import Ledger, Row
from ragbench.old.tiers.scoring.parts import Terms, scored, scored_by_workers
from ragbench.old.tiers.scoring.scored_answers import Scores, by_system
from ragbench.old.tiers.scoring.sets import together

_FITS: Shelf[Arrays] = Shelf(300_000_000, lambda fit: sum(each.nbytes for each in fit.values()))
"""What embedders were fitted to, by the texts and all else that it hangs on. The widest that the default settings allow
takes 271 MB, one to 2,500 answers 54 MB."""
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
    (`ragbench.old.core.progress`), with those of the settings.

    judges, embedder: by name as in ragbench.toml, or as objects; without judges those that a metric names as its own,
    else all configured ones, else the lexical one; without an embedder `Settings.metric_embedder`; of several embedders
    each value is kept, and their mean counts.
    language: of prompts where a sample names none (else that of its texts), and of explanations (else the settings').
    rule: how several judges become one.
    journal: where paid replies are kept; None keeps them for this call. advance: called with 1 for each score.
    on_change: called with the count of calls after each of their steps. plan: makes it a dry run and is given what
    each model would be asked; the scores are then those of the journal's replies and the lexical judge's answers. In
    a process that only plans (`ragbench.old.llm.planning.folder`) it is always one. baseline, primary: see `Scores`.
    sampled: of how many questions the samples answer some: the fact `part_of_all` of a page.
    """

    judges: tuple[AnyJudge, ...] = ()
    embedder: Embedder | str | Sequence[Embedder | str] = ""
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
    sampled: Mapping[str, Any] | None = None

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
        measurable = [each for each in known.values() if _is_measured(each) and each.better is not None]
        measurable = [each for each in measurable if each.name not in OPTIONAL and not each.is_annexed]
        measurable = [each for each in measurable if not _lacking(each, samples)]
        if not measurable:
            raise ValueError(f"no metric can be measured: the samples have {', '.join(_given(samples)) or 'no field'}")
        place = {name: number for number, name in enumerate(FIRST)}
        return sorted(measurable, key=lambda each: (sets.is_of_sets(each), place.get(each.name, len(FIRST))))
    if isinstance(metrics, Mapping):
        raise ValueError("metrics: found a mapping; a metric, its name, or a list of them is expected")
    measurable = [own_metrics.value_of(each) for each in metrics]
    if not measurable:
        raise ValueError("metrics: no metric is asked for; None asks for all that the fields allow")
    for each in measurable:
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
    return list({each.label: each for each in measurable}.values())


def _is_measured(metric: Metric) -> bool:
    """Whether a table of answers is what it is measured on."""
    return metric.grain == "sample" or sets.is_of_sets(metric)


def passes(metrics: Sequence[Metric], judges: Sequence[AnyJudge], embedder: str = "") -> bool:
    """Whether samples may be scored part by part (`in_parts`): nobody is asked who answers many at once sooner, and of
    all samples together nothing is made but what an embedder is fitted to."""
    alone = all(metric.grain == "sample" and len(named_for(metric, judges)) < 2 for metric in metrics)
    offline = all(isinstance(judge, str) and asks_nobody(judge) for judge in asking(metrics, judges))
    known = settings.load()
    if any("embedder" in metric.needs for metric in metrics):
        named = [name for name in parted(embedder or known.metric_embedder) if name in known.embedders]
        offline = offline and all(wheels.is_here(known.embedders[name]) for name in named)
    return alone and offline and not (known.metrics.listeners or known.cluster) and planning.folder() is None


async def in_parts(
    parts: Iterable[Sequence[Sample]], metrics: Sequence[Metric], asked: Asked, corpus: Iterable[Sample] = ()
) -> Scores:
    """What `measure` finds of samples that come by in parts, in memory that hardly grows with their number; of each
    system an id stands once. corpus: all of them, which embedders are fitted to. Raises ValueError where there is no
    part."""
    ledger, scores = Ledger(), None
    asked = replace(asked, embedder=tuple(_embedders(asked.embedder, corpus, metrics)))
    functions = Functions(settings.load().metrics.timeout_seconds)
    for part in parts:
        scores = await measure(part, metrics, asked, functions)
        ledger.add(scores.rows)
    if scores is None:
        raise ValueError("there are no samples")
    return replace(scores, rows=ledger)


async def measure(
    samples: Sequence[Sample], metrics: Sequence[Metric], asked: Asked, functions: Functions | None = None
) -> Scores:
    """Every metric on every sample by every judge, all at once; embeddings in one batch.

    Samples of one system and id are repeats of one question: its score is their mean. Metrics of whole sets come last.
    functions: what calls users' metrics, where others were measured before.

    Raises ModelError when a single judge's provider refuses altogether, or the budget is spent.
    """
    dry = asked.plan is not None or planning.folder() is not None
    listening = Listening() if dry else parts.listening(asked.listeners, settings.load())
    stated, spoken = asked.language, asked.language or settings.load().language
    rows = [each if each.language else replace(each, language=stated or _spoken(each)) for each in samples]
    embedders = _embedders(asked.embedder, samples, metrics)
    terms = Terms(
        tuple(metrics), asked.judges, tuple(embedders), asked.rule, asked.language, spoken, asked.repeats
    )  # fmt: skip
    functions = functions or Functions(settings.load().metrics.timeout_seconds)
    told: dict[str, Any] = {"advance": asked.advance, "on_change": asked.on_change, "listening": listening}
    try:
        if settings.load().cluster is not None and not dry:
            part = await scored_by_workers(rows, terms, **told)
        else:
            part = await scored(rows, terms, asked.journal, dry=dry, functions=functions, **told)
        drawn = Sureness(asked.level, asked.resamples, asked.seed)
        of_sets = await sets.measured(by_system(rows, asked.baseline), metrics, functions, drawn, asked.advance)
        if dry:
            scale = asked.sampled["of"] / asked.sampled["n"] if asked.sampled else 1.0
            outlooks = [replace(outlook, scale=scale) for outlook in part.outlooks]
            (asked.plan or planning.keep)(outlooks)
    finally:
        heard = await asyncio.to_thread(listening.close) if listening else ()
    singles: dict[tuple[str | None, str, str], list[Score]] = {}
    places: dict[tuple[str | None, str, str], tuple[Sample, Metric]] = {}
    for (row, metric, _repeat), score in zip(terms.pairs(rows), part.scores, strict=True):
        place = (row.system, row.id, metric.label)
        places.setdefault(place, (row, metric))
        singles.setdefault(place, []).append(score)
    score_rows = [
        Row(*places[place], together(own, translator(spoken)), tuple(own) if len(own) > 1 else ())
        for place, own in singles.items()
    ]
    judges = asking(metrics, asked.judges)
    judged = [metric.label for metric in metrics if "judge" in metric.needs]
    offline = [_name(judge) for judge in judges if not isinstance(judge, OwnJudge) and asks_nobody(judge)]
    models = [name for judge in judges if (name := _name(judge)) not in offline]
    return Scores(
        tuple(score_rows), asked.level, asked.resamples, asked.seed, spoken, asked.baseline,
        {name: replies.usage for name, replies in part.used.items()},
        (
            *(StandIn("judge", name) for name in offline),
            *unordered(offline, judged),
            *for_people(models, judged),
            *panel((_name(judge) for judge in judges), judged),
            *(StandIn("embedder", embedder.name) for embedder in embedders if getattr(embedder, "is_stand_in", False)),
            *([sample(_of_all(asked.sampled, part.used))] if asked.sampled else []),
        ),
        asked.primary, heard, of_sets, tuple(map(_name, judges)), asked.rule,
        tuple(embedder.name for embedder in embedders if not isinstance(embedder, _NoEmbedder)), asked.sampled,
    )  # fmt: skip


async def planned(samples: Sequence[Sample], metrics: Sequence[Metric], asked: Asked) -> tuple[Plan, ...]:
    """What models would be asked for `measure`, one plan a model; nobody is asked."""
    outlooks: list[Outlook] = []
    await measure(samples, metrics, replace(asked, plan=outlooks.extend))
    return tuple(outlook.plan() for outlook in planning.together(outlooks))


def _of_all(taken: Mapping[str, Any], used: Mapping[str, Replies]) -> dict[str, Any]:
    """With what models would take for all."""
    usages = [replies.usage for replies in used.values()]
    calls, unpriced = sum(usage.replies for usage in usages), sum(usage.unpriced for usage in usages)
    return session.scaled(taken, calls, sum(usage.cost for usage in usages), unpriced)


def _name(judge: AnyJudge) -> str:
    return judge if isinstance(judge, str) else judge.name


def live_line(progress: Progress) -> Callable[[Tally], None]:
    """Keeps the calls' line beside a bar, which tells the time left itself: answered, in flight, failed, cost."""
    return lambda tally: progress.say(tally.describe)


def _embedders(
    asked: Embedder | str | Sequence[Embedder | str], samples: Iterable[Sample], metrics: Iterable[Metric]
) -> list[Embedder]:
    """One at least; by name as configured. Raises ValueError for names that are not."""
    if not any("embedder" in metric.needs for metric in metrics):
        return [_NoEmbedder()]
    asked = asked or settings.load().metric_embedder
    given = [asked] if isinstance(asked, str) or not isinstance(asked, Sequence) else list(asked)
    names = parted([name for embedder in given if isinstance(embedder, str) for name in embedder.split(",")])
    known = settings.load().embedders
    for one in given:
        if not isinstance(one, str) and not hasattr(one, "embed"):
            raise ValueError(f"embedder: {shown(one)} is no embedder; a name, or an object with embed, is expected")
    for name in names:
        if name not in known:
            raise ValueError(f"there is no embedder {name!r}; there are {', '.join(sorted(known))}")
    trust.require(*trust.named(*{f"embedders.{name}" for name in names}))
    corpus = _corpus(samples) if names else []
    made = [embed.make(name, known[name], corpus, _fitted) for name in names]
    return [*(embedder for embedder in given if not isinstance(embedder, str)), *made]


def _corpus(samples: Iterable[Sample]) -> list[str]:
    """The different texts, in their order; of very many those that an embedder is fitted to."""
    kept: set[str] = set()
    for text in _texts(samples):
        if text.strip():
            kept.add(text)
            kept = kept if len(kept) < 2 * hashing.MOST_FITTED else set(hashing.drawn(kept))
    return hashing.drawn(kept)


def _fitted(about: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """As `Store.arrays`, for the next call in this process: scoring alone starts no database."""
    return _FITS.of(json.dumps(about, sort_keys=True, ensure_ascii=False), make)


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
