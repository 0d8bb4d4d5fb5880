"""The page of answers: any table of answers, scored by any metric of answers, with reasons."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from pydantic import Field

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import ANSWERS, PASSAGES, QUESTIONS, frame_of
from ragbench.core.language import load_language
from ragbench.core.metric import Metric, parse_label
from ragbench.core.settings import Settings
from ragbench.core.types import Dataset, Passage, Sample
from ragbench.tiers.answering import CORPUS, AnswerOptions, Services, chosen_metrics, open_services
from ragbench.tiers.common import choose_baseline, relevant_labels
from ragbench.tiers.scoring import score_samples, usable_metrics
from ragbench.tiers.tier2_generation import AnswerStatement, complete, state_answers

UNNAMED = "answers"  # what rows are called that name no system
# Measured where nobody names metrics and the fields are there: those of the specification and the
# overlap with the reference. Special metrics (agents, criteria) are named when they are wanted.
USUAL = (
    "faithfulness",
    "response_relevancy",
    "context_precision",
    "context_recall",
    "context_entity_recall",
    "noise_sensitivity",
    "factual_correctness",
    "answer_correctness",
    "semantic_similarity",
    "response_groundedness",
    "rubrics_score",
    "faithfulness_rating",
    "answer_relevance",
    "answer_correctness_rating",
    "e2e_score",
    "answer_accuracy",
    "context_relevance",
    "hallucination",
    "context_precision_by_label",
    "context_recall_by_label",
    "rouge1_f",
    "rouge2_f",
    "rougeL_f",
    "bleu",
    "chrf",
    "exact_match",
    "token_f1",
    "string_similarity",
    "dot_similarity",
    "euclidean_distance",
)
# With an offline judge the primary metric is one that needs none: it counts words, and says so.
WITHOUT_JUDGE = ("token_f1", "semantic_similarity", "rougeL_f", "exact_match", "context_recall")


class Request(AnswerOptions):
    """What is scored."""

    answers: str = Field("", description="a table of answers; empty: those of the data set")


@dataclass(frozen=True)
class Frames:
    """What was scored. passages: the contexts of all answers, each once."""

    questions: pd.DataFrame
    passages: pd.DataFrame
    answers: pd.DataFrame
    scores: pd.DataFrame
    verdicts: pd.DataFrame
    judgements: pd.DataFrame
    repeats: pd.DataFrame


def measure(
    request: Request,
    samples: Sequence[Sample],
    settings: Settings,
    metrics: Sequence[Metric] = (),
    *,
    judge: Any = None,
    embedder: Any = None,
) -> tuple[Request, Frames, Services]:
    """Score the samples by all metrics of the request; without any, by the usual ones.

    metrics: objects beside the labels of the request. Returns the completed request, the frames,
    and who was asked. Raises BenchError for a metric whose fields no sample has.
    """
    language = load_language(request.language or settings.language)
    samples = choose_samples(request, samples)
    names = (embedder, request.embedder, settings.embedder, settings.embedders)
    chosen = choose_metrics(request, samples, metrics, has_embedder=any(map(bool, names)))
    passages = [passage for sample in samples for passage in sample.contexts or ()]
    texts = [passage.text for passage in passages if passage.text]
    texts = texts or [text for sample in samples for text in sample.references]
    with open_store(settings, chosen) as store:
        services = open_services(
            request,
            chosen,
            settings,
            language,
            judge=judge,
            embedder=embedder,
            corpus=list(dict.fromkeys(texts)),
            store=store,
        )
        scored = score_samples(
            samples,
            [metric for metric in chosen if metric.name not in CORPUS],
            language=language,
            judge=services.judge,
            embedder=services.embedder,
            total=len(samples),
            spread=services.spread,
        )
    frames = Frames(
        question_frame(samples),
        passage_frame(samples),
        answer_frame(samples),
        *scored,
    )
    systems = tuple(dict.fromkeys(sample.system for sample in samples))
    primary = usual_primary(chosen, services)
    baseline = choose_baseline(request.baseline, settings.baseline, systems)
    margins = request.margins or settings.smallest_difference
    known = {"language": language.code, "baseline": baseline, "margins": margins}
    request = request.model_copy(update=known)
    return complete(request, systems, chosen, primary), frames, services


def open_store(settings: Settings, metrics: Sequence[Metric]) -> AbstractContextManager[Any]:
    """Open what keeps vectors; None where nothing is embedded: its library takes long to load."""
    if not any("embedder" in metric.uses for metric in metrics):
        return nullcontext()
    from ragbench.store import Store

    return Store(settings.database)


def choose_samples(request: Request, samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples of the request's systems; rows that name none get one name."""
    named = [replace(sample, system=sample.system or UNNAMED) for sample in samples]
    if not named:
        raise NotEnoughError("there are no answers")
    if request.systems:
        present = dict.fromkeys(sample.system for sample in named)
        unknown = [name for name in request.systems if name not in present]
        if unknown:
            raise BenchError(f"no system {', '.join(unknown)}; there are {', '.join(present)}")
        named = [sample for sample in named if sample.system in request.systems]
    if request.limit is not None:
        kept = smallest_hashes([sample.id for sample in named], request.limit)
        named = [sample for sample in named if sample.id in kept]
    return named


def smallest_hashes(ids: Sequence[str], limit: int) -> set[str]:
    """Return so many of the ids: those with the smallest hashes, the same for every system."""
    hashes = {name: hashlib.sha256(name.encode()).hexdigest() for name in dict.fromkeys(ids)}
    return set(sorted(hashes, key=hashes.__getitem__)[:limit])


def choose_metrics(
    request: Request,
    samples: Sequence[Sample],
    metrics: Sequence[Metric] = (),
    *,
    has_embedder: bool = True,
) -> list[Metric]:
    """Return the metrics, objects first; without any the usual ones that the fields allow.

    Raises BenchError for a metric whose fields no sample has, and where none can be measured.
    """
    chosen = chosen_metrics([*metrics, *request.metrics], ())
    check_fields(samples, chosen)
    has_ids = any(passage.id for sample in samples for passage in sample.contexts or ())
    chosen = chosen or usable_metrics(samples, usual_metrics(has_embedder, has_ids))
    if not chosen:
        raise BenchError("no usual metric can be measured on these columns; name one with -m")
    return chosen


def check_fields(samples: Sequence[Sample], metrics: Sequence[Metric]) -> None:
    """Refuse a metric whose fields no sample has, before anything is paid for."""
    usable = {metric.label for metric in usable_metrics(samples, metrics)}
    for metric in metrics:
        if metric.label not in usable:
            needs = ("answer", "reference") if metric.kind == "texts" else metric.needs
            raise BenchError(
                f"{metric.label} reads {', '.join(needs)}; no row has all of these. "
                "Name a column that holds one: --column FIELD=COLUMN"
            )


def usual_metrics(has_embedder: bool, has_ids: bool) -> list[Metric]:
    """Return the usual metrics; those that embed only where somebody named an embedder.

    A model of sentences takes seconds to load: nobody waits for one that was not asked for. Labels
    are compared by ids, where contexts have any.
    """
    names = [name for name in USUAL if has_ids or not name.endswith("_by_label")]
    metrics = [parse_label(name) for name in names]
    return [metric for metric in metrics if has_embedder or "embedder" not in metric.uses]


def usual_primary(metrics: Sequence[Metric], services: Services) -> str:
    """Return the metric that answers when nobody names one: the first that a model judged.

    Of a judge that only stands in for a model none is: then the first that needs no judge.
    """
    labels = [metric.label for metric in metrics]
    is_stand_in = any(name.startswith("judge ") for name in services.stand_ins)
    if is_stand_in:
        for name in WITHOUT_JUDGE:
            if name in labels:
                return name
    return labels[0]


def question_frame(samples: Sequence[Sample]) -> pd.DataFrame:
    """Return the questions of the samples, each once, as `ragbench.core.frames.QUESTIONS`."""
    rows: dict[str, tuple] = {}
    for sample in samples:
        unit = sample.cluster or sample.id
        text = sample.question or ""
        fixed = (sample.id, text, unit, sample.reference or "", sample.references)
        rows.setdefault(sample.id, (*fixed, True, "", sample.language, ""))
    return frame_of(list(rows.values()), QUESTIONS)


def passage_frame(samples: Sequence[Sample]) -> pd.DataFrame:
    """Return the passages that were retrieved and have ids, as `ragbench.core.frames.PASSAGES`."""
    rows: dict[str, tuple] = {}
    for sample in samples:
        for passage in sample.contexts or ():
            if passage.id and passage.text:
                fixed = (passage.id, passage.text, passage.url, passage.title, passage.section)
                rows.setdefault(passage.id, fixed)
    return frame_of(list(rows.values()), PASSAGES)


def answer_frame(samples: Sequence[Sample]) -> pd.DataFrame:
    """Return the answers as `ragbench.core.frames.ANSWERS`; repeats are numbered in their order."""
    repeats: dict[tuple[str, str], int] = {}
    rows = []
    for sample in samples:
        key = (sample.system, sample.id)
        repeat = repeats.get(key, 0)
        repeats[key] = repeat + 1
        contexts = tuple(passage.text or "" for passage in sample.contexts or ())
        ids = tuple(passage.id for passage in sample.contexts or ())
        rows.append((*key, repeat, sample.answer or "", contexts, ids, float("nan"), ""))
    return frame_of(rows, ANSWERS)


def samples_of_dataset(dataset: Dataset) -> list[Sample]:
    """Return the answers that a data set brings: those that people rated, with their labels.

    Raises NotEnoughError where it has none.
    """
    ratings = dataset.extras.get("ratings")
    if ratings is None or ratings.empty:
        raise NotEnoughError(
            f"{dataset.name} has no answers of its own; name a table: -p answers=answers.csv"
        )
    questions = dataset.questions.set_index("question_id").to_dict("index")
    rated = ratings.dropna(subset="value").set_index("rater").groupby("answer_id")["value"]
    labels = {answer_id: values.to_dict() for answer_id, values in rated}
    samples = []
    for row in ratings.drop_duplicates("answer_id").to_dict("records"):
        known = questions.get(row["question_id"], {})
        pairs = zip(row["contexts"], row["context_ids"], strict=True)
        samples.append(
            Sample(
                id=row["answer_id"],
                question=known.get("text") or row["question"],
                answer=row["answer"],
                references=known.get("references", ()),
                contexts=tuple(Passage(text, passage_id) for text, passage_id in pairs),
                reference_context_ids=relevant_groups(dataset, row["question_id"]),
                system=row["system"],
                cluster=known.get("unit", ""),
                language=known.get("language") or dataset.language,
                labels=labels.get(row["answer_id"], {}),
                rubric=row["rubric"],
            )
        )
    return samples


def relevant_groups(dataset: Dataset, question_id: str) -> tuple[tuple[str, ...], ...] | None:
    """Return the relevant passages of a question in groups of which any will do; else None."""
    labels = relevant_labels(dataset.labels)
    own = labels[labels["question_id"] == question_id]
    groups = own.groupby("group" if "group" in own else "passage_id", sort=False)["passage_id"]
    return tuple(tuple(ids) for _, ids in groups) or None


def state(request: Request, frames: Frames) -> AnswerStatement:
    """State means and comparisons: a pure function of the frames."""
    return state_answers(request, frames)


def correlate(frames: Frames) -> pd.DataFrame:
    """Return how alike metrics order the answers: Spearman's ρ, a row and column a metric."""
    from scipy.stats import spearmanr

    wide = frames.scores.pivot_table(
        index=["system", "question_id"], columns="metric", values="value", sort=False
    )
    varying = wide.loc[:, wide.nunique() > 1]
    labels = varying.columns
    rho = pd.DataFrame(1.0, index=labels, columns=labels)
    for place, first in enumerate(labels):
        for second in labels[place + 1 :]:
            value = spearmanr(varying[first], varying[second], nan_policy="omit").statistic
            rho.loc[first, second] = rho.loc[second, first] = float(value)
    return rho
