"""Result files of another benchmark as runs of this one: computed anew, question by question; and their baselines."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, Measurement
from ragbench.old.core.types import Question, Status
from ragbench.old.data import Dataset
from ragbench.old.extras.runs.past_runs import (
    RETRIEVAL,
    Detail,
    Loaded,
    Result,
    mixed,
    number,
    page_key,
    read_result,
    wilsons,
)
from ragbench.old.metrics import declaration, ranking_arrays
from ragbench.old.store.run_records import RunPart, RunRecord, RunValue
from ragbench.old.tiers.basics import design, findings
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.retrieval.tier1_retrieval import gains_of
from ragbench.old.tiers.run.record import fingerprints, scores, values

Pair = tuple[Detail, Question]


def result(
    path: Path,
    name: str,
    *,
    dataset: Dataset | None = None,
    unit: str = "",
    baseline: str = "",
    sureness: Sureness | None = None,
) -> Loaded:
    """A result file as one run of the system `name`.

    With details, every metric is computed anew from what was retrieved and what was relevant, in the unit asked for
    ("chunk", "url"; empty: the file's own), with intervals; without them the file's numbers stay summaries.
    dataset: whose questions these are, matched by id: the run can then be paired with other runs on it, and pages are
    known for unit = "url". Questions that it does not have, or whose labels differ, are left out and counted.
    baseline: the name under which the numbers of version 1, which the file was set against, become a run of their own.
    Raises DatasetError for the file, BenchError for a unit or a baseline that cannot be had.
    """
    read, left_out = read_result(path)
    if unit not in ("", "chunk", "url"):
        raise BenchError(f"unit = {unit!r}: chunk or url is expected")
    runs, notes = baseline_run(read, path.name, name, baseline)
    if not read.per_query_details:
        if unit and unit != read.unit:
            raise BenchError(
                f"{path.name} ranks by {read.unit or 'an unknown unit'} and keeps no per_query_details: it cannot be "
                f"brought to unit = {unit!r}"
            )
        notes = ["no per_query_details: the numbers stay as the file has them", *notes]
        return Loaded((_run(read, name, _stated(read, name)), *runs), left_out, tuple(notes))
    own = _own_unit(read, path.name)
    wanted = unit or own
    if (own, wanted) == ("url", "chunk"):
        raise BenchError(f"{path.name} keeps the pages that were found, not their chunks: unit = 'url' is what it has")
    if own != wanted and dataset is None:
        raise BenchError("unit = 'url' needs the page of every chunk: name the data set with --dataset")
    kept, unmatched = _matched(read.per_query_details, dataset)
    made = _measured(read, kept, name, wanted, dataset, sureness or Sureness(0.95, 10_000, 0))
    notes = [*_differences(read, made, own, wanted), *notes]
    return Loaded((_run(read, name, values(made), made), *runs), {**left_out, **unmatched}, tuple(notes))


def _own_unit(read: Result, file: str) -> str:
    """What the details rank. Raises BenchError where it is not what the file says."""
    units = sorted({detail.unit for detail in read.per_query_details})
    level = read.benchmark_metadata.evaluation_level
    if len(units) > 1:
        raise BenchError(f"{file}: per_query_details hold chunks here and pages there; one of them is expected")
    if read.unit not in (None, units[0]):
        said = {"chunk": "ids of chunks", "url": "addresses of pages"}
        raise BenchError(
            f"{file}: evaluation_level {level!r} with {said[units[0]]} in its details: {units[0]} is expected"
        )
    return units[0]


def _matched(details: Sequence[Detail], dataset: Dataset | None) -> tuple[list[Pair], dict[str, int]]:
    """The details with their questions, those of a data set where there is one. Questions of one cluster of it, or of
    one page of the file, are not independent."""
    known = {} if dataset is None else {question.id: question for question in dataset.questions}
    pages = _pages(dataset)
    left_out: Counter[str] = Counter()
    kept = []
    for detail in details:
        name, unit = str(detail.id), detail.unit
        question = Question(name, detail.question or "") if dataset is None else known.get(name)
        if question is None:
            left_out["question that the data set does not have"] += 1
            continue
        wanted = {page_key(own) if unit == "url" else own for own in gains_of(question, unit, pages)}
        if dataset is not None and wanted != set(detail.relevant):
            what = "chunks" if unit == "chunk" else "pages"
            left_out[f"question whose relevant {what} differ from the data set's"] += 1
            continue
        only = detail.relevant[0] if unit == "url" and len(detail.relevant) == 1 else None
        kept.append((detail, replace(question, cluster=question.cluster or detail.confluence_url or only)))
    if not kept and dataset is not None:
        raise BenchError(f"no question of the file is one of {dataset.label}: {dict(left_out)}")
    return kept, dict(left_out)


def _pages(dataset: Dataset | None) -> dict[str, str | None]:
    return {} if dataset is None else {chunk.id: chunk.url for chunk in dataset.chunks}


def _measured(
    read: Result, kept: Sequence[Pair], name: str, unit: str, dataset: Dataset | None, sureness: Sureness
) -> Measurement:
    import pandas as pd

    from ragbench.old.metrics.ranking import evaluate

    pages = _pages(dataset)
    lists: Sequence[Sequence[str]] = [detail.retrieved for detail, _ in kept]
    relevant: Sequence[Mapping[str, float]] = [dict.fromkeys(detail.relevant, 1.0) for detail, _ in kept]
    asked = relevant
    if unit == "url" and dataset is not None:
        asked = [gains_of(question, "url", pages) for _, question in kept]
        if kept[0][0].unit == "chunk":
            lists, relevant = ranking_arrays.by_page(lists, relevant, pages)[0], asked
    metrics = [m for label in read.metrics if (m := declaration(label)) is not None and m.grain == "ranking"]
    values = evaluate(ranking_arrays.from_lists(lists, relevant, depth=read.benchmark_metadata.top_k), metrics)
    rows = [
        (name, metric.label, question.id, float(value), Status.OK.value, "", None)
        for metric in metrics
        for (_, question), value in zip(kept, values[metric.label], strict=True)
    ]
    scored = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    labels = {question.id: question.cluster or f"\0{question.id}" for _, question in kept}
    clusters = labels if len(set(labels.values())) < len(labels) else None
    estimates, _ = findings.find(scored, metrics, [name], clusters, sureness)
    table = design.questions(
        replace(question, cluster=None if clusters is None else clusters[question.id], relevant=gains)
        for (_, question), gains in zip(kept, asked, strict=True)
    )
    return Measurement(
        notebook=RETRIEVAL,
        facts={
            "dataset": None if dataset is None else dataset.label,
            "data_hash": None if dataset is None else dataset.content_hash,
            "unit": unit,
            **_depth(read),
            "baseline": name,
            "n_questions": len(kept),
        },
        scores=scored,
        # a file that keeps ids alone says nothing of a text: that it says an empty one would be another fingerprint
        questions=table.assign(text=table["text"].where(table["text"] != "", None)),
        estimates=estimates,
    )


def _run(read: Result, name: str, numbers: Sequence[RunValue], made: Measurement | None = None) -> RunRecord:
    """The run of a file. made: what was measured anew; else its numbers stay as the file has them."""
    about: dict[str, Any] = {"unit": read.unit, "facts": _depth(read)}
    if made is not None:
        about = {"unit": made.facts["unit"], "facts": made.facts, "dataset": made.facts["dataset"],
                 "data_hash": made.facts["data_hash"] or _hash(made)}  # fmt: skip
    return RunRecord(
        id=name,
        started=read.benchmark_metadata.timestamp,
        origin=RESULT,
        identities={
            "models": {key: value for key, value in read.told.items() if key.endswith("model")},
            "parameters": {key: value for key, value in read.told.items() if not key.endswith("model")},
        },
        manifest={"benchmark_metadata": read.told, "metrics": read.metrics},
        parts=(RunPart(RETRIEVAL, systems=(name,), baseline=name, **about),),
        values=tuple(numbers),
        scores=() if made is None else (scores(made),),
    )


def _hash(made: Measurement) -> str:
    """The hash of questions and labels alone: two result files over the same ones can be paired."""
    known = fingerprints(made.questions)
    return hashlib.sha256("".join(f"{name}\0{known[name]}\n" for name in sorted(known)).encode()).hexdigest()


def _stated(read: Result, name: str) -> list[RunValue]:
    """The numbers of a file as it has them."""
    about = read.benchmark_metadata
    bounds = {label: (own.ci_low, own.ci_high) for label, own in read.confidence_intervals_95.items()}
    return [
        number(
            name, label, value, declaration(label), interval=bounds.get(label, (None, None)), method="as stated",
            n=about.evaluated_queries, n_unmeasured=about.errors, unit=read.unit,
        )
        for label, value in read.metrics.items()
    ]  # fmt: skip


def _depth(read: Result) -> Facts:
    """How deep its rankings are, where it says so."""
    return {"k": depth} if (depth := read.benchmark_metadata.top_k) else {}


def _differences(read: Result, made: Measurement, own: str, unit: str) -> list[str]:
    """Where the file's own numbers are not those of its lists; none are looked for in another unit."""
    if own != unit:
        return [f"computed anew by {unit}; the file's own numbers are by {own}"]
    notes = []
    for named in made.estimates:
        stated = read.metrics.get(named.metric)
        if stated is not None and not math.isclose(stated, named.estimate.value, abs_tol=0.6 * 10**-DIGITS):
            notes.append(
                f"{named.metric}: the file says {stated:g}, its own lists give {named.estimate.value:.{DIGITS}f}"
            )
    return notes or ["computed anew from what was retrieved: the same numbers as in the file"]


RESULT = "result"
"""Where such a run comes from."""
DIGITS = 4
"""As many as such files keep."""


def baseline_run(read: Result, file: str, system: str, name: str) -> tuple[list[RunRecord], list[str]]:
    """The numbers of version 1 in a result file as a run, and what a reader must know of them; no run without a name.

    They are of as many questions as the file's data set has where their hit rates are whole counts of so many, and get
    Wilson's intervals; the file says nothing of it. They look as deep as the file. Not compared is what mixes two
    units, and what may be of another unit than a file that ranks chunks. Raises BenchError for a file without them, and
    for the name of the run itself.
    """
    numbers = {row.metric: row.v1_naive_rag for row in read.comparison_v1_v2}
    if not name:
        told_of = f"{file} was set against {len(numbers)} numbers of version 1: --baseline NAME makes them a run, too"
        return [], [told_of] if numbers else []
    if not numbers:
        raise BenchError(f"{file} has no comparison_v1_v2, so no numbers of version 1: leave --baseline out")
    if name == system:
        raise BenchError(f"--baseline {name}: this is the name of the run itself; another one is expected")
    n = _whole(numbers, read.benchmark_metadata.dataset_size)
    why = mixed(numbers) or ("" if read.unit == "url" else "unknown_unit")
    values = [
        number(name, label, value, metric, interval=wilsons(metric, value, n), n=n, unit=read.unit, reason=why)
        for label, value in numbers.items()
        for metric in [declaration(label)]
    ]
    part = RunPart(RETRIEVAL, unit=read.unit, systems=(name,), baseline=name, facts=_depth(read))
    run = RunRecord(id=name, origin=RESULT, manifest={"comparison_v1_v2": numbers}, parts=(part,), values=tuple(values))
    notes = {
        "mixed_units": f"{name}: a hit rate below the recall: chunks and pages are mixed, so it is not compared",
        "unknown_unit": f"{name}: the file ranks chunks, and its numbers of version 1 may rank pages: not compared",
        "": f"{name}: shares of {n} questions, as its hit rates are whole counts of so many"
        if n
        else f"{name}: of how many questions is not known, so it has no intervals",
    }
    return [run], [notes[why]]


def _whole(numbers: Mapping[str, float], n: int | None) -> int | None:
    """`n` where every hit rate is a whole count of so many questions, as far as its digits tell; else None."""
    hits = [value * n for label, value in numbers.items() if n and label.startswith("hit_rate")]
    slack = 0.6 * 10**-DIGITS * (n or 0)
    whole = bool(hits) and slack < 0.25 and all(abs(count - round(count)) <= slack for count in hits)
    return n if whole else None
