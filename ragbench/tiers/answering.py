"""What Tiers 2 and 3 and the page of answers share: answers of systems, judged and scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError
from ragbench.core.frames import ANSWERS, ESTIMATES, SCORES, check, frame_of, stack
from ragbench.core.language import Language, load_language
from ragbench.core.metric import Metric, parse_label, run_async
from ragbench.core.progress import bar
from ragbench.core.settings import Settings
from ragbench.core.types import Passage, Reply, Retrieval, Sample, System
from ragbench.metrics.vectors import as_vectors
from ragbench.stats import Confidence, mean_intervals, statistic_intervals
from ragbench.stats.repeats import repeat_rates
from ragbench.tiers.common import Options
from ragbench.tiers.scoring import Part, Scored, Spread, score_batches, score_samples

REPEATABILITY = ("response_exact_match_rate", "response_semantic_consistency")
CORPUS = ("corpus_bleu", "corpus_rouge1_f", "corpus_rouge2_f", "corpus_rougeL_f")
PASSES_FROM = 0.75  # of a scale: 4 of 1 to 5
REFUSALS = ("refused an answerable question", "refused an unanswerable question")
Contexts = Mapping[str, Sequence[Retrieval]]  # system → of every question what to answer from


class AnswerOptions(Options):
    """What every tier of answers can be told."""

    judges: tuple[str, ...] = Field((), description="of ragbench.toml, or lexical; empty: all")
    aggregate: Literal["", "mean", "median", "minimum", "maximum", "majority", "consensus"] = Field(
        "", description="how several judges become one; empty: as set, else the mean"
    )
    tolerance: float | None = Field(None, ge=0, description="of consensus: how far apart")
    quorum: int | None = Field(None, ge=1, description="judges that must have measured")
    embedder: str = Field("", description="of metrics that embed; empty: as set, else a local one")


class AskedOptions(AnswerOptions):
    """What every tier that asks for answers can be told."""

    repeats: int = Field(2, ge=1, le=100, description="how often everything is asked, each anew")


@dataclass(frozen=True)
class Services:
    """Whom metrics ask: a judge (or a panel) and an embedder; None where no metric needs one.

    spread: scores partitions on a cluster, where the settings name one.
    """

    judge: Any
    embedder: Any
    stand_ins: tuple[str, ...]
    spread: Spread | None = None

    @property
    def notes(self) -> list[str]:
        """What a judge says of how it was asked, such as: without a temperature."""
        return list(dict.fromkeys(getattr(self.judge, "notes", ())))


def open_services(
    request: AnswerOptions,
    metrics: Sequence[Metric],
    settings: Settings,
    language: Language,
    *,
    judge: Any = None,
    embedder: Any = None,
    corpus: Sequence[str] = (),
    store: Any = None,
    spending: Any = None,
    planning: bool = False,
) -> Services:
    """Open the judge and the embedder that the metrics need.

    judge, embedder: objects or names in place of those of the request and the settings.
    corpus: texts that an offline embedder is fitted on. spending: what the judge shares with other
    models; None: nothing. planning: nobody is asked.
    """
    stand_ins = []
    uses = {service for metric in metrics for service in metric.uses}
    opened_judge = None
    if "judge" in uses:
        from ragbench.judge import open_judge

        named = judge or request.judges or usual_judges(settings)
        rules = {"aggregate", "tolerance", "quorum"}
        changed = request.model_dump(include=rules, exclude_defaults=True)
        settings_of_panel = settings.model_copy(update=changed)
        opened_judge = open_judge(
            named, settings_of_panel, language.code, spending=spending, planning=planning
        )
        if getattr(opened_judge, "is_stand_in", False):
            stand_ins.append(f"judge {opened_judge.name}")
    opened_embedder = None
    if "embedder" in uses:
        from ragbench.embed import open_embedder

        named = embedder or request.embedder or usual_embedder(settings)
        opened_embedder = open_embedder(named, settings, language.code, corpus=corpus, store=store)
        if opened_embedder.is_stand_in:
            stand_ins.append(f"embedder {opened_embedder.name}")
    spread = None
    if settings.cluster and not judge and not embedder:
        labels = [metric.label for metric in metrics if metric.kind in ("row", "texts", "judged")]
        again = (request, labels, settings, language.code, tuple(corpus))
        spread = partial(score_on_cluster, settings.cluster, again)
    return Services(opened_judge, opened_embedder, tuple(stand_ins), spread)


def score_on_cluster(
    address: str, again: tuple[Any, ...], partitions: Iterable[list[Sample]]
) -> list[Part]:
    """Score partitions on a cluster. again: what `score_partition` opens its services by.

    Raises BenchError where the annex of clusters is not there.
    """
    open_pool = load_object("ragbench.extras.cluster:open_pool", Path.cwd())
    with open_pool(address) as map_partitions:
        return list(map_partitions(partial(score_partition, again), partitions))


def score_partition(again: tuple[Any, ...], samples: list[Sample]) -> Part:
    """Score some samples in the process of a worker: services are opened by the same settings."""
    request, labels, settings, language_code, corpus = again
    metrics = [parse_label(label) for label in labels]
    language = load_language(language_code)
    alone = settings.model_copy(update={"cluster": ""})
    services = open_services(request, metrics, alone, language, corpus=corpus)
    parts: list[Part] = []
    work = score_batches(
        samples, metrics, services.judge, services.embedder, language, len(samples), parts
    )
    run_async(work)
    return parts[0]


def usual_embedder(settings: Settings) -> str:
    """Return the embedder that metrics use when nobody names one: the first that is set."""
    return settings.embedder or next(iter(settings.embedders), "auto")


def usual_judges(settings: Settings) -> list[str]:
    """Return the judges that are asked when nobody names one: all that are set."""
    return list(settings.judges) or ["lexical"]


def writer_of(system: System) -> str:
    """Return who writes a system's answers: what its generator is, or the system itself.

    Given the same passages, systems with one writer give the same answers.
    """
    generator = getattr(system, "generator", None)
    return generator.describe() if generator is not None else system.name


def ask_answers(
    systems: Mapping[str, System],
    questions: pd.DataFrame,
    k: int,
    repeats: int,
    contexts: Contexts | None = None,
) -> pd.DataFrame:
    """Let every system answer every question `repeats` times, as `ragbench.core.frames.ANSWERS`.

    contexts: what each system answers from; None: from what it finds itself.
    """
    texts = questions["text"].tolist()
    rows = []
    with bar("answering", len(systems) * repeats * len(texts)) as shown:
        for name, system in systems.items():
            given = contexts[name] if contexts is not None else None
            for repeat in range(repeats):
                replies = answer_from(system, texts, k, given)
                for question_id, reply in zip(questions["question_id"], replies, strict=True):
                    hit_texts = tuple(hit.text for hit in reply.hits)
                    hit_ids = tuple(hit.id for hit in reply.hits)
                    answer = reply.answer or ""
                    latency = float(reply.latency_ms)
                    error = reply.error
                    if not error and reply.answer is None:
                        error = "the system gave no answer"
                    key = (name, question_id, repeat)
                    rows.append((*key, answer, hit_texts, hit_ids, latency, error))
                shown.update(len(texts))
    return frame_of(rows, ANSWERS)


def answer_from(
    system: System, texts: Sequence[str], k: int, found: Sequence[Retrieval] | None
) -> list[Reply]:
    """Let a system answer from what was found, in the time of both; None: it finds by itself.

    Where finding failed nobody is asked: that is why there is no answer.
    """
    if found is None:
        return system.answer(texts, k)
    rows = [row for row, retrieval in enumerate(found) if not retrieval.error]
    written = system.answer([texts[row] for row in rows], k, [found[row].hits for row in rows])
    replies = [Reply(error=retrieval.error) for retrieval in found]
    for row, reply in zip(rows, written, strict=True):
        replies[row] = replace(reply, latency_ms=found[row].latency_ms + reply.latency_ms)
    return replies


def make_samples(answers: pd.DataFrame, questions: pd.DataFrame) -> Iterator[Sample]:
    """Yield a sample for every answer that was given; answers with an error are left out."""
    by_id = questions.set_index("question_id").to_dict("index")
    for row in answers.to_dict("records"):
        if row["error"]:
            continue
        question = by_id[row["question_id"]]
        passages = [
            Passage(text, passage_id)
            for text, passage_id in zip(row["contexts"], row["context_ids"], strict=True)
        ]
        yield Sample(
            id=row["question_id"],
            question=question["text"],
            answer=row["answer"],
            references=question["references"],
            contexts=tuple(passages),
            system=row["system"],
            repeat=str(row["repeat"]),
            cluster=question["unit"],
            language=question["language"],
        )


def score_answers(
    answers: pd.DataFrame,
    questions: pd.DataFrame,
    metrics: Sequence[Metric],
    services: Services,
    language: Language,
) -> Scored:
    """Score answers by metrics of single answers and of repeats.

    A question at which a system gave an error has the status system_error in every metric.
    """
    single = [metric for metric in metrics if metric.kind in ("row", "texts", "judged")]
    scored = score_samples(
        make_samples(answers, questions),
        single,
        language=language,
        judge=services.judge,
        embedder=services.embedder,
        total=len(answers),
        spread=services.spread,
    )
    labels = [metric.label for metric in single]
    repeated = [metric for metric in metrics if metric.name in REPEATABILITY]
    parts = [
        scored.scores,
        score_repeats(answers, questions, repeated, services),
        error_scores(answers, questions, scored.scores, labels),
    ]
    scores = pd.concat([part for part in parts if len(part)], ignore_index=True)
    return scored._replace(scores=check(scores, SCORES))


def error_scores(
    answers: pd.DataFrame, questions: pd.DataFrame, scores: pd.DataFrame, labels: Sequence[str]
) -> pd.DataFrame:
    """Return an unmeasured row for every question that a system never answered."""
    units = questions.set_index("question_id")["unit"].to_dict()
    failed = answers[answers["error"] != ""].drop_duplicates(["system", "question_id"])
    scored_keys = set(zip(scores["system"], scores["question_id"], strict=True))
    rows: list[tuple] = []
    for row in failed.to_dict("records"):
        system, question_id = row["system"], row["question_id"]
        if (system, question_id) in scored_keys:
            continue  # another repeat was answered
        for label in labels:
            fixed = (system, label, question_id, units[question_id], np.nan, "system_error")
            rows.append((*fixed, row["error"], ""))
    return frame_of(rows, SCORES)


def score_repeats(
    answers: pd.DataFrame, questions: pd.DataFrame, metrics: Sequence[Metric], services: Services
) -> pd.DataFrame:
    """Score how far a system agrees with itself when it is asked again, question by question."""
    units = questions.set_index("question_id")["unit"].to_dict()
    answered = answers[answers["error"] == ""]
    answered = answered[answered.duplicated(["system", "question_id"], keep=False)]
    places = answered.groupby(["system", "question_id"], sort=False).indices
    rows: list[tuple] = []
    for metric in metrics:
        given = answered["answer"].to_numpy()
        if "embedder" in metric.uses:
            # All at once: where vectors are kept is looked once, not once a question.
            given = as_vectors(given.tolist(), services.embedder)
        for key, group in answers.groupby(["system", "question_id"], sort=False):
            system, question_id = key
            fixed = (system, metric.label, question_id, units[question_id])
            if key in places:
                rows.append((*fixed, float(metric(given[places[key]])), "ok", "", ""))
                continue
            errors = group.loc[group["error"] != "", "error"].tolist()
            gap = ("system_error", errors[0]) if errors else ("missing_field", "asked once")
            rows.append((*fixed, np.nan, *gap, ""))
    return frame_of(rows, SCORES)


def estimate_corpus(
    answers: pd.DataFrame,
    questions: pd.DataFrame,
    labels: Sequence[str],
    confidence: Confidence,
) -> pd.DataFrame:
    """Estimate metrics of all answers together, such as corpus BLEU, as ESTIMATES rows."""
    from ragbench.metrics.overlap import CORPUS as COUNTERS

    by_id = questions.set_index("question_id")
    first = answers[answers["repeat"] == 0]
    parts = []
    for label in labels:
        counter = COUNTERS[parse_label(label).name]
        for system, group in first.groupby("system", sort=False):
            group = group.join(by_id[["references", "unit"]], on="question_id")
            group = group[group["references"].astype(bool)]
            used = group[group["error"] == ""]
            counts = counter.count(used["answer"].tolist(), used["references"].tolist())
            bounds = parse_label(label).bounds
            units = used["unit"].to_numpy()
            frame = statistic_intervals(counts, counter.value, units, bounds, confidence)
            missing = len(group) - len(used)
            parts.append(frame.assign(system=system, metric=label, n_unmeasured=missing))
    return stack(parts, ESTIMATES)


def count_refusals(
    answers: pd.DataFrame, questions: pd.DataFrame, confidence: Confidence
) -> pd.DataFrame:
    """Estimate how often each system refuses what it could answer, and what it could not.

    Whether an answer is a refusal is told by its words (`ragbench.metrics.refusals`). Columns as
    ESTIMATES; metric is one of REFUSALS.
    """
    from ragbench.metrics.refusals import is_refusal

    about = questions.set_index("question_id")
    first = answers[(answers["repeat"] == 0) & (answers["error"] == "")]
    first = first.assign(refused=[is_refusal(answer) for answer in first["answer"]])
    first = first.join(about[["answerable", "unit"]], on="question_id")
    parts = []
    for system, group in first.groupby("system", sort=False):
        for is_answerable, name in zip((True, False), REFUSALS, strict=True):
            chosen = group[group["answerable"] == is_answerable]
            if chosen.empty:
                continue
            values = chosen["refused"].to_numpy(dtype=float)[:, None]
            units = chosen["unit"].to_numpy()
            frame = mean_intervals(values, units, (0, 1), confidence)
            parts.append(frame.assign(system=system, metric=name))
    return stack(parts, ESTIMATES)


def state_repeats(repeats: pd.DataFrame, confidence: Confidence) -> pd.DataFrame:
    """Estimate pass@k, pass^k and flip rate of what was asked several times.

    repeats: rows of `Scored.repeats`. An answer passes from three quarters of its metric's scale
    on; k is the number of repeats that most questions have, and one of which fewer were measured
    has no value.
    Columns: system, metric, then as `repeat_rates`. Metrics
    without two ends have no rates.
    """
    parts = []
    for (system, label), rows in repeats.groupby(["system", "metric"], sort=False):
        metric = parse_label(label)
        low, high = metric.bounds
        if not np.isfinite([low, high]).all() or metric.better == "describes":
            continue
        wide = rows.pivot(index="question_id", columns="repeat", values="value")
        share = (wide.to_numpy(dtype=float) - low) / (high - low)
        passed = 1 - share >= PASSES_FROM if metric.better == "lower" else share >= PASSES_FROM
        passed = np.where(np.isnan(share), np.nan, passed)
        units = rows.drop_duplicates("question_id").set_index("question_id")["unit"]
        k = int(rows.groupby("question_id").size().mode()[0])
        rates = repeat_rates(passed, k, units[wide.index].to_numpy(), confidence)
        parts.append(rates.assign(system=system, metric=label))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def chosen_metrics(labels: Sequence[Any], usual: Sequence[str]) -> list[Metric]:
    """Return the metrics of a request, or the usual ones, each once.

    Raises BenchError for one that scores no answers.
    """
    parsed = [parse_label(label) for label in labels or usual]
    metrics = list({metric.label: metric for metric in parsed}.values())
    for metric in metrics:
        if metric.kind == "ranking":
            raise BenchError(f"{metric.label} scores rankings; Tier 1 has it")
        if metric.kind == "set" and metric.name not in (*REPEATABILITY, *CORPUS):
            raise BenchError(f"{metric.label} is a number of a whole set, not of answers")
    return metrics


def corpus_labels(metrics: Sequence[Metric]) -> list[str]:
    """Return the labels of the metrics that take all answers together."""
    return [metric.label for metric in metrics if metric.name in CORPUS]


def score_labels(metrics: Sequence[Metric]) -> list[str]:
    """Return the labels of the metrics that give every question a score."""
    return [metric.label for metric in metrics if metric.name not in CORPUS]
