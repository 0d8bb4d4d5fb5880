"""Score answers: samples in, frames of scores out, in batches that keep memory flat."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.frames import JUDGEMENTS, SCORES, VERDICTS, frame_of
from ragbench.core.language import Language, mark
from ragbench.core.metric import Metric, run_async
from ragbench.core.progress import bar
from ragbench.core.types import Embedder, Sample, Score, Verdict, unmeasured
from ragbench.metrics.judging import AskOnce, EmbedTogether, suspected_injections

BATCH = 1_000  # samples whose scores are held as objects before they become rows of a frame
PARTITION = 200  # samples that a worker elsewhere scores at a time
AT_ONCE = 128  # samples that are judged at the same time; the judge limits its calls itself
EMPTY_ANSWER = "empty answer"
SUSPECTED = mark("suspected injection")
Fields = dict[str, Any]
Entry = tuple[Sample, str, Score]  # a sample, the label of a metric, its score
Part = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]  # scores, verdicts, judgements
Spread = Callable[[Iterable[list[Sample]]], Iterable[Part]]


class Scored(NamedTuple):
    """What was scored: a row a system, metric and question; what each judge said, item by item.

    repeats: the values of questions that were asked several times, one row a repeat, with the
    column `repeat`; empty where every question was asked once.
    """

    scores: pd.DataFrame
    verdicts: pd.DataFrame
    judgements: pd.DataFrame
    repeats: pd.DataFrame


class Services:
    """What row metrics of a run use: its judge and embedder, shared by all metrics and samples.

    Every judge is asked an equal question once; texts to embed are gathered into batches.
    """

    def __init__(self, judge: Any, embedder: Embedder | None) -> None:
        self.judge = judge
        self.embedder = embedder
        self.together = None if embedder is None else EmbedTogether(embedder)
        self.shared: dict[int, AskOnce] = {}

    async def measure(self, metric: Metric, fields: Fields, flags: Sequence[Verdict]) -> Score:
        """Score one sample by one metric; a panel asks each of its judges.

        flags: which of the sample's texts seem to address a judge; kept beside its verdicts.
        """
        embedder = self.together if metric.kind == "judged" else self.embedder
        if "judge" not in metric.uses:
            return await metric.measure(judge=None, embedder=embedder, **fields)

        async def ask(judge: Any) -> Score:
            shared = self.shared.setdefault(id(judge), AskOnce(judge))
            score = await metric.measure(judge=shared, embedder=embedder, **fields)
            return replace(score, verdicts=(*score.verdicts, *flags))

        if hasattr(self.judge, "measure"):
            return await self.judge.measure(ask)
        return await ask(self.judge)


def score_samples(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    *,
    language: Language,
    judge: Any = None,
    embedder: Embedder | None = None,
    total: int | None = None,
    spread: Spread | None = None,
) -> Scored:
    """Score every sample by every metric (kinds row, texts and judged).

    judge: of `ragbench.judge.open_judge`; embedder: of `ragbench.embed.open_embedder`; None where
    no metric uses one. Explanations are in `language`. Several rows of one question and system
    are its repeats, and the question's score is their mean. spread: scores partitions elsewhere, in
    order, instead of here. Raises BenchError for other metrics.
    """
    check_metrics(metrics)
    parts: list[Part] = []
    if spread is not None:
        parts += spread(batches(samples, PARTITION))
    else:
        run_async(score_batches(samples, metrics, judge, embedder, language, total, parts))
    if not parts:  # every system failed everywhere
        parts.append(frames_of([], language, judge))
    rows, verdicts, judgements = (
        pd.concat(frames, ignore_index=True) for frames in zip(*parts, strict=True)
    )
    # By metric, whatever the batches were: so a cluster's frames are the same, bit by bit.
    places = {metric.label: place for place, metric in enumerate(metrics)}
    scores, repeats = join_repeats(in_order(rows, places))
    return Scored(scores, in_order(verdicts, places), in_order(judgements, places), repeats)


def in_order(rows: pd.DataFrame, places: Mapping[str, int]) -> pd.DataFrame:
    """Return rows by the place of their metric, in the order of the samples within."""
    by_metric = np.argsort(rows["metric"].map(places).to_numpy(), kind="stable")
    return rows.iloc[by_metric].reset_index(drop=True)


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Refuse metrics that score no single answer."""
    for metric in metrics:
        if metric.kind not in ("row", "texts", "judged"):
            raise BenchError(
                f"{metric.label} is a metric of kind {metric.kind}: it scores no answer"
            )


async def score_batches(
    samples: Iterable[Sample],
    metrics: Sequence[Metric],
    judge: Any,
    embedder: Embedder | None,
    language: Language,
    total: int | None,
    parts: list[Part],
) -> None:
    """Score the samples a batch at a time; the frames of each go to the end of parts."""
    services = Services(judge, embedder)
    async with judge or nullcontext():
        with bar("scoring", total) as progress:
            for batch in batches(samples, BATCH):
                entries = score_by_texts(batch, metrics, embedder)
                entries += await score_by_rows(batch, metrics, services, progress)
                parts.append(frames_of(entries, language, judge))


def batches(samples: Iterable[Sample], size: int) -> Iterator[list[Sample]]:
    """Yield lists of at most `size` samples."""
    iterator = iter(samples)
    while batch := list(islice(iterator, size)):
        yield batch


def score_by_texts(
    batch: Sequence[Sample], metrics: Sequence[Metric], embedder: Embedder | None
) -> list[Entry]:
    """Score by the metrics that take all answers and references at once."""
    answers = [sample.answer for sample in batch]
    references = [sample.references for sample in batch]
    entries: list[Entry] = []
    for metric in metrics:
        if metric.kind != "texts":
            continue
        services = {"embedder": embedder} if "embedder" in metric.uses else {}
        try:
            values = metric(answers, references, **services)
        except Unmeasured as gap:  # the embedder gave no vectors; others go on
            missing = unmeasured(gap.status, gap.reason)
            entries += [(sample, metric.label, missing) for sample in batch]
            continue
        for sample, value in zip(batch, values, strict=True):
            entries.append((sample, metric.label, text_score(sample, float(value))))
    return entries


def text_score(sample: Sample, value: float) -> Score:
    """Make the score of a sample by a metric of texts; NaN says what is missing."""
    if not math.isnan(value):
        return Score(value, reason="" if sample.answer else EMPTY_ANSWER)
    if sample.answer is None:
        return unmeasured("missing_field", "no answer")
    if not any(reference.strip() for reference in sample.references):
        return unmeasured("missing_field", "no reference")
    return unmeasured("empty_input", "the reference has nothing that could be compared")


async def score_by_rows(
    batch: Sequence[Sample],
    metrics: Sequence[Metric],
    services: Services,
    progress: Any,
) -> list[Entry]:
    """Score by the metrics that take one sample, many samples at the same time."""
    row_metrics = [metric for metric in metrics if metric.kind != "texts"]
    queue = iter(enumerate(batch))
    scores: dict[int, list[Entry]] = {}

    async def work() -> None:
        # All draw from one iterator: a task a sample and metric would fill the memory.
        for place, sample in queue:
            fields = sample_fields(sample)
            flags = flag_injections(fields) if services.judge is not None else []
            measured = [services.measure(metric, fields, flags) for metric in row_metrics]
            values = await asyncio.gather(*measured)
            scores[place] = [
                (sample, metric.label, score)
                for metric, score in zip(row_metrics, values, strict=True)
            ]
            progress.update()

    async with asyncio.TaskGroup() as workers:
        for _ in range(min(AT_ONCE, len(batch))):
            workers.create_task(work())
    return [entry for place in range(len(batch)) for entry in scores[place]]


def flag_injections(fields: Fields) -> list[Verdict]:
    """Return as verdicts which of a sample's texts seem written to move a judge."""
    texts = {name: fields[name] for name in ("question", "answer", "contexts")}
    return [Verdict(flag, SUSPECTED) for flag in suspected_injections(**texts)]


def sample_fields(sample: Sample) -> Fields:
    """Return what metrics read of a sample, by the names of their parameters; None: missing."""
    contexts = sample.contexts
    texts = None
    ids = None
    if contexts is not None:
        # An export may name passages by their ids alone: then there are no texts to read.
        if all(passage.text is not None for passage in contexts):
            texts = [passage.text for passage in contexts]
        if all(passage.id for passage in contexts):
            ids = [passage.id for passage in contexts]
    reference_contexts = sample.reference_contexts
    return {
        "question": sample.question,
        "answer": sample.answer,
        "reference": sample.reference,
        "references": list(sample.references) or None,
        "contexts": texts,
        "context_ids": ids,
        "reference_contexts": reference_contexts and [each.text for each in reference_contexts],
        "reference_context_ids": sample.reference_context_ids,
        "language": sample.language or None,
        "rubric": sample.rubric,
        "messages": sample.messages,
        "tool_calls": sample.tool_calls,
        "expected_tool_calls": sample.expected_tool_calls,
        "topics": sample.topics,
        "cost": sample.cost,
        "nuggets": sample.nuggets,
    }


def frames_of(
    entries: Sequence[Entry], language: Language, judge: Any
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Make frames of scores (with a column `repeat`), verdicts and single judges' scores."""
    score_rows: list[tuple] = []
    repeats: list[str] = []
    verdict_rows: list[tuple] = []
    judge_rows: list[tuple] = []
    for sample, label, score in entries:
        key = (sample.system, label, sample.id)
        explanation = score.explain(language)
        unit = sample.cluster or sample.id
        score_rows.append((*key, unit, score.value, score.status, score.reason, explanation))
        repeats.append(sample.repeat)
        by_judge = score.by_judge or {getattr(judge, "name", ""): score}
        for name, said in by_judge.items():
            if score.by_judge:
                judge_rows.append((*key, name, said.value, said.status, said.reason))
            for verdict in said.verdicts:
                said_of_item = (verdict.item, verdict.verdict, verdict.reason, verdict.passages)
                verdict_rows.append((*key, name, *said_of_item))
    columns = [*SCORES.names]
    scores = pd.DataFrame(score_rows, columns=columns).assign(repeat=repeats)
    return scores, frame_of(verdict_rows, VERDICTS), frame_without_key(judge_rows)


def frame_without_key(rows: list[tuple]) -> pd.DataFrame:
    """Make the frame of single judges' scores; repeats share their key."""
    return pd.DataFrame(rows, columns=JUDGEMENTS.names) if rows else JUDGEMENTS.empty()


def join_repeats(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return one row a system, metric and question, and the rows of what was asked repeatedly.

    A question's value is the mean of its measured repeats; it is unmeasured where none is.
    """
    key = list(SCORES.key)
    is_repeated = rows.duplicated(key, keep=False)
    once = rows[~is_repeated]
    repeats = rows[is_repeated].reset_index(drop=True)
    if repeats.empty:
        return once.drop(columns="repeat").reset_index(drop=True), repeats
    # The first measured row of a question gives status and reason; its value becomes the mean.
    measured_first = repeats.sort_values("value", kind="stable", na_position="last")
    firsts = measured_first.drop_duplicates(key).set_index(key)
    means = repeats.groupby(key, sort=False)["value"].mean()
    firsts["value"] = means.reindex(firsts.index)
    firsts["explanation"] = ""
    joined = pd.concat([once, firsts.reset_index()], ignore_index=True)
    order = rows.drop_duplicates(key)[key]
    joined = order.merge(joined, on=key, how="left")
    return joined.drop(columns="repeat")[SCORES.names], repeats


def usable_metrics(samples: Sequence[Sample], metrics: Sequence[Metric]) -> list[Metric]:
    """Return the metrics all of whose fields at least one of the samples has."""
    present = set()
    for sample in samples:
        fields = sample_fields(sample)
        present.add(frozenset(name for name in fields if fields[name] is not None))
    usable = []
    for metric in metrics:
        needs = ("answer", "reference") if metric.kind == "texts" else metric.needs
        if any(names.issuperset(needs) for names in present):
            usable.append(metric)
    return usable
