"""What another benchmark wrote of its runs, as runs of this one: a unit a number, or why it cannot be compared."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, model_validator

from ragbench.core.metric import Metric
from ragbench.data import foreign_sets
from ragbench.data.files import DatasetError, cut
from ragbench.data.records import Identifier, Url
from ragbench.data.rows import checked, read_rows
from ragbench.extras.runs.run_tables import RunFacts
from ragbench.metrics import catalogue, declaration
from ragbench.stats.intervals import normal_quantile, wilson
from ragbench.store.run_records import RunPart, RunRecord, RunValue
from ragbench.tiers.run.record import told

VERSIONS = ("2.0",)
PROVENANCE = (
    "git_branch", "git_commit_hash", "dataset_file", "dataset_type", "judge_model", "generation_model",
    "embedding_model", "judge_eval_mode", "consistency_runs",
)  # fmt: skip
COUNTS = frozenset(
    {
        *("tier", "tier_code", "total_queries", "total_evaluations", "successful_evaluations", "errors"),
        *("total_samples", "question_count", "top_k"),
    }
)
SIZES = (
    "total_queries", "total_evaluations", "total_samples", "total_questions", "question_count", "evaluated_queries",
)  # fmt: skip

ASKED = ("top_k", "questions_source")
TOPICS = "topic_coverage"

LARGEST, LARGEST_COUNT = 1e15, 10**12
"""Of a number that was measured, either way of 0, and of one that was counted: more is a slip, or meant to do harm."""

Unit = Literal["chunk", "url"]


def unit_of(level: str) -> Unit | None:
    """What an `evaluation_level` says was ranked; None where it says neither."""
    folded = level.casefold()
    return "chunk" if folded.startswith("chunk") else "url" if "url" in folded else None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise ValueError("a number is expected")
    return float(value)


def _moment(value: Any) -> datetime.datetime | None:
    if value is None or value == "":
        return None
    try:
        moment = datetime.datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("a moment as 2026-02-23T18:35:30 is expected") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


Name = Annotated[Identifier | None, BeforeValidator(foreign_sets.name)]
Page = Annotated[Url | None, BeforeValidator(foreign_sets.name)]
Pages = Annotated[list[Url], BeforeValidator(foreign_sets.names)]
Number = Annotated[float, BeforeValidator(_number)]
Counted = Annotated[StrictInt, Field(ge=0, le=LARGEST_COUNT)]
Moment = Annotated[datetime.datetime | None, BeforeValidator(_moment)]


class _Entry(BaseModel):
    """One run of a history; its tiers are read apart."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: Name = None
    timestamp: Moment = None
    schema_version: StrictStr
    consistency_runs: Counted | None = None
    evaluation_level: StrictStr = ""


class Topic(BaseModel):
    """What was retrieved for one cluster of questions."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    topic_id: Counted
    question_count: Counted
    unique_chunks: Counted | None = None
    unique_urls: Counted | None = None


@dataclass(frozen=True)
class PastRun:
    """A run of which only summaries are known.

    unit: what all of its retrieval ranks, where the entry says so by `evaluation_level`, as a corrected one does.
    depth: how many places of a ranking it looks at, where its retrieval says so by `top_k`. tiers: the file's name of a
    tier → metric → value. sizes: tier → how many questions it was measured on, and how many of them failed, where it
    says so. provenance: what the file says of code, models and data. asked: file's name of a tier → what it says of
    how deep it looked and whose questions it asked (ASKED). topics: the rows of its topic coverage.
    """

    id: str
    started: datetime.datetime | None
    provenance: Mapping[str, str]
    tiers: Mapping[str, Mapping[str, float]]
    sizes: Mapping[str, tuple[int | None, int | None]]
    consistency_runs: int | None
    unit: Unit | None = None
    depth: int | None = None
    asked: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    topics: tuple[Mapping[str, int | None], ...] = ()


def read_history(path: Path) -> tuple[list[PastRun], dict[str, int]]:
    """The runs of a history, a JSON list with `schema_version` "2.0", and what was left out, counted by reason.

    Every object whose name ends in `_metrics` is a tier; a tier that is null was not measured.
    Raises DatasetError naming file, item, field, value and what was expected.
    """
    runs: list[PastRun] = []
    left_out: dict[str, int] = {}
    for place, row in read_rows(path):
        entry = checked(_Entry, row, place)
        if entry.schema_version not in VERSIONS:
            raise DatasetError(
                f"{place}: schema_version = {entry.schema_version!r}: {' or '.join(VERSIONS)} is expected"
            )
        tiers, sizes, asked = {}, {}, {}
        topics: tuple[Mapping[str, int | None], ...] = ()
        for name, metrics in row.items():
            if not name.endswith("_metrics") or metrics is None:
                continue
            if not isinstance(metrics, dict):
                raise DatasetError(f"{place}: {name} = {cut(metrics)}: an object from metric to number is expected")
            tiers[name] = _values(metrics, f"{place}: {name}", left_out)
            sizes[name] = _sizes(metrics)
            asked[name] = {key: str(metrics[key]) for key in ASKED if metrics.get(key) not in (None, "")}
            if TOPICS in metrics:
                topics = _topics(metrics[TOPICS], f"{place}: {name}.{TOPICS}")
        if not any(tiers.values()):
            raise DatasetError(f"{place}: no object named …_metrics holds a number; such a run says nothing")
        identifier = entry.id or (entry.timestamp.strftime("%Y%m%d_%H%M%S") if entry.timestamp else "")
        if not identifier:
            raise DatasetError(f"{place}: id is missing, and so is timestamp; one of them is expected")
        if any(run.id == identifier for run in runs):
            raise DatasetError(f"{place}: id = {identifier!r} stands there twice; ids are unique")
        told = {key: str(row[key]) for key in PROVENANCE if row.get(key) not in (None, "")}
        unit = unit_of(entry.evaluation_level)
        runs.append(
            PastRun(
                identifier, entry.timestamp, told, tiers, sizes, entry.consistency_runs, unit, _depth(tiers, row),
                asked, topics,
            )
        )  # fmt: skip
    if not runs:
        raise DatasetError(f"{path.name}: holds no runs; at least one is expected")
    return runs, left_out


def _depth(tiers: Mapping[str, Any], row: Mapping[str, Any]) -> int | None:
    depth = row["tier_1_metrics"].get("top_k") if "tier_1_metrics" in tiers else None
    return _count(depth) or None


def _topics(rows: Any, place: str) -> tuple[Mapping[str, int | None], ...]:
    """The rows of a topic coverage, without the questions that stand there as examples."""
    if not isinstance(rows, list):
        raise DatasetError(f"{place} = {cut(rows)}: a list of topics is expected")
    return tuple(checked(Topic, row, f"{place}.{number}").model_dump() for number, row in enumerate(rows, 1))


def _values(metrics: Mapping[str, Any], place: str, left_out: dict[str, int]) -> dict[str, float]:
    numbers = {}
    for name, value in metrics.items():
        if name in (*COUNTS, *ASKED, TOPICS):
            continue
        if isinstance(value, list | dict | str) or value is None:
            reason = f"{name}, which is no number" if value is not None else f"{name}, which was not measured"
            left_out[reason] = left_out.get(reason, 0) + 1
            continue
        try:
            numbers[name] = _number(value)
        except ValueError as error:
            raise DatasetError(f"{place}.{name} = {cut(value)}: {error}") from None
    return numbers


def _sizes(metrics: Mapping[str, Any]) -> tuple[int | None, int | None]:
    sizes = [size for name in SIZES if (size := _count(metrics.get(name))) is not None]
    return (sizes[0] if sizes else None), _count(metrics.get("errors"))


def _count(value: Any) -> int | None:
    """A whole number from 0 that something can have been counted to; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT else None


_PAGE_NUMBER = re.compile(r"(?:pageId=|attachments/)(\d+)")


def page_key(url: str) -> str:
    """A page's address as result files name it: `page:NUMBER` of a page of Confluence and of its attachments."""
    number = _PAGE_NUMBER.search(url)
    return f"page:{number[1]}" if number else url.strip()


class Detail(BaseModel):
    """What was retrieved for one question, and what should have been: chunks, or pages by their `page_key`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Name = None
    question: StrictStr | None = None
    confluence_url: Page = None
    unit: Unit
    relevant: Pages = Field(validation_alias=AliasChoices("ground_truth_chunk_ids", "ground_truth_urls"))
    retrieved: Pages = Field(validation_alias=AliasChoices("retrieved_chunk_ids", "retrieved_urls"))

    @model_validator(mode="before")
    @classmethod
    def _of_its_lists(cls, row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        of_pages = "retrieved_urls" in row
        names = ("ground_truth_urls", "retrieved_urls") if of_pages else ()
        keyed = {name: [page_key(url) for url in row[name]] for name in names if _are_texts(row.get(name))}
        return {**row, **keyed, "unit": "url" if of_pages else "chunk"}


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


class Baseline(BaseModel):
    """A number of version 1 that a result file was set against; its author knows of it no more than the number."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    metric: StrictStr
    v1_naive_rag: Number


class _Interval(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    ci_low: Number
    ci_high: Number


class _Metadata(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)

    evaluation_level: StrictStr
    timestamp: Moment = None
    dataset_size: Counted | None = None
    evaluated_queries: Counted | None = None
    errors: Counted | None = None
    top_k: Annotated[StrictInt, Field(ge=1, le=LARGEST_COUNT)] | None = None


class Result(BaseModel):
    """A result file: what its author computed, and what he computed it from, if he kept it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    benchmark_metadata: _Metadata
    metrics: dict[str, Number]
    confidence_intervals_95: dict[str, _Interval] = {}
    comparison_v1_v2: list[Baseline] = []
    per_query_details: list[Detail] = []

    @property
    def unit(self) -> Unit | None:
        """What was ranked; None where the file does not say."""
        return unit_of(self.benchmark_metadata.evaluation_level)

    @property
    def told(self) -> dict[str, str]:
        """What the file says of models and parameters."""
        known = {**self.benchmark_metadata.model_dump(mode="json"), **(self.benchmark_metadata.model_extra or {})}
        skipped = {"timestamp", "evaluated_queries", "errors", "dataset_size"}
        return {key: str(value) for key, value in sorted(known.items()) if value is not None and key not in skipped}


def read_result(path: Path) -> tuple[Result, dict[str, int]]:
    """A result file with its details, and what was left out of them, counted by reason.

    Questions are numbered from 1 where they have no id; one that stands there twice under its id is one, as ids are
    made of questions. Raises DatasetError naming file, field, value and what was expected.
    """
    rows = list(read_rows(path))
    if len(rows) != 1:
        raise DatasetError(
            f"{path.name}: {len(rows)} items; one object with benchmark_metadata and metrics is expected"
        )
    result = checked(Result, rows[0][1], path.name)
    seen: dict[str, Detail] = {}
    for number, detail in enumerate(result.per_query_details, 1):
        name = detail.id or str(number)
        if name in seen:
            if detail.question is None or detail.question != seen[name].question:
                raise DatasetError(f"{path.name}: per_query_details.{number}.id = {name!r} stands there twice")
            continue
        if not detail.relevant:
            field = f"ground_truth_{'urls' if detail.unit == 'url' else 'chunk_ids'}"
            raise DatasetError(f"{path.name}: per_query_details.{number}.{field} = []: at least one is expected")
        seen[name] = detail.model_copy(update={"id": name})
    repeated = len(result.per_query_details) - len(seen)
    left_out = {"question that stands there twice": repeated} if repeated else {}
    return result.model_copy(update={"per_query_details": list(seen.values())}), left_out


HISTORY = "history"
COVERED = tuple(Topic.model_fields)
"""Of a row of `topic_coverage`, a fact of the part on sources, in the specification's order."""
RETRIEVAL = "tier1_retrieval"
RETRIEVED = "tier_1_metrics"
SOURCES = "sources"
NOTEBOOKS = {
    "tier_0_metrics": "tier0_embeddings",
    RETRIEVED: RETRIEVAL,
    "tier_2_metrics": "tier2_generation",
    "tier_3_metrics": "tier3_end_to_end",
    "tier_judge_metrics": "tier_judge",
    "tier_judge_pipeline_metrics": "tier_judge_pipeline",
    "tier_ux_metrics": "tier_ux",
    "real_user_metrics": "real_users",
    "utilization_metrics": SOURCES,
    "topic_coverage_metrics": SOURCES,
    "domain_analysis_metrics": "real_users",
}
ALIASES = {
    ("tier_judge_pipeline", "precision"): "decision_precision",
    ("tier_judge_pipeline", "recall"): "decision_recall",
}
BY_CHUNK = ("hit_rate",)
BY_PAGE = ("recall", "precision", "ndcg")
RANKED = frozenset({"hit_rate", "mrr", *BY_PAGE})
MEANS_OF_BOUNDED = RANKED | {"accuracy", "cache_hit_rate"}
IDENTITIES = {
    "code": ("git_commit_hash", "git_branch"),
    "data": ("dataset_file",),
    "models": ("judge_model", "generation_model", "embedding_model"),
    "parameters": ("judge_eval_mode", "consistency_runs", "dataset_type"),
}


@dataclass(frozen=True)
class Loaded:
    """Runs out of a file. left_out: reason → count. notes: what a reader must know of the numbers."""

    runs: tuple[RunRecord, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def history(path: Path, name: str) -> Loaded:
    """The runs of a history as summaries of the system `name`, each with an id that begins with it.

    What that benchmark computed otherwise than its names say is marked as not comparable, with the reason, and shown
    all the same: see `why_not`. Raises DatasetError naming file, item and field.
    """
    runs, left_out = read_history(path)
    records = tuple(_record(run, name) for run in runs)
    marked = sum(not value.comparable for record in records for value in record.values)
    total = sum(len(record.values) for record in records)
    notes = [f"{marked} of {total} numbers cannot be compared with another run's; each says why"]
    outside = [f"{r.id} {v.metric} = {v.value:g}" for r in records for v in r.values if v.reason == "outside_scale"]
    if outside:
        notes.append(f"outside their scale, so wrong as they stand: {', '.join(outside)}")
    return Loaded(records, left_out, tuple(notes))


def _record(run: PastRun, name: str) -> RunRecord:
    values = [
        _value(tier, label, value, run, name) for tier, metrics in run.tiers.items() for label, value in metrics.items()
    ]
    about = dict(run.provenance)
    return RunRecord(
        id=f"{name}-{run.id}",
        started=run.started,
        origin=HISTORY,
        identities={
            kind: {k: about[k] for k in about if k in keys} | (_asked(run) if kind == "parameters" else {})
            for kind, keys in IDENTITIES.items()
        },
        manifest={"provenance": about},
        parts=tuple(
            RunPart(
                notebook,
                dataset=about.get("dataset_file"),
                unit=run.unit if notebook == RETRIEVAL else None,
                systems=(name,),
                facts=_facts(run, notebook),
            )
            for notebook in dict.fromkeys(value.notebook for value in values)
        ),
        values=tuple(values),
    )


def _asked(run: PastRun) -> dict[str, str]:
    """How deep was looked for the sources, and whose questions were asked, named as this program's parameters."""
    used, covered = (run.asked.get(tier, {}) for tier in ("utilization_metrics", "topic_coverage_metrics"))
    depths = {"sources.k": used.get("top_k", covered.get("top_k")), "sources.k of the topics": covered.get("top_k")}
    parameters = {name: depth for name, depth in depths.items() if depth is not None}
    if depths["sources.k"] == depths["sources.k of the topics"]:
        parameters.pop("sources.k of the topics", None)
    if source := used.get("questions_source"):
        parameters["sources.users_log"] = {"real": "true", "synthetic": "false"}.get(source, source)
    return parameters


def _facts(run: PastRun, notebook: str) -> RunFacts:
    if notebook == RETRIEVAL:
        return {"k": run.depth} if run.depth else {}
    if notebook != SOURCES:
        return {}
    topics: RunFacts = {"topic_coverage": [dict(topic) for topic in run.topics]} if run.topics else {}
    primary = "utilization_rate" if "utilization_rate" in run.tiers.get("utilization_metrics", {}) else "n_topics"
    return {"primary": primary, **topics}


def _value(tier: str, label: str, value: float, run: PastRun, system: str) -> RunValue:
    metric = _metric(tier, label)
    n, failed = run.sizes.get(tier, (None, None))
    measured = None if n is None else n - (failed or 0)
    reason = why_not(tier, label, run)
    low, high = interval(metric, value, measured)
    made = RunValue(
        notebook=NOTEBOOKS.get(tier, tier.removesuffix("_metrics")),
        system=system,
        metric=metric.label if metric is not None else label,
        value=value,
        low=low,
        high=high,
        method="none" if low is None else "wilson",
        n=measured,
        n_unmeasured=failed,
        unit=_unit(tier, label, run),
        **told(metric),
    ).checked()
    return replace(made, comparable=False, reason=reason) if made.comparable and reason else made


def why_not(tier: str, label: str, run: PastRun) -> str:
    """Why a number of that benchmark must not be set against another run's; empty where it may be.

    An entry that says by `evaluation_level` what its retrieval ranked was corrected: there only a hit rate below the
    recall tells that two units are mixed. Of the others: its NDCG counts a page again for each of its chunks, so one
    relevant page can give more than 1. Its MRR by page overwrote the one by chunk. Its end-to-end prompt reached the
    judge unfilled. Its ROUGE dropped Cyrillic. Its consistency over one run is 1 by construction, and its retrieval was
    repeated with the same vector. Its judge tier read a field that its data do not have, and then every call is an
    error. Its user-experience tier took a whole data set for one session. Its distances are cosine, its nearest
    neighbour the second one found.
    """
    name = label.partition("@")[0].removeprefix("avg_")
    if tier == RETRIEVED and run.unit is not None and name in RANKED:
        return mixed(run.tiers[tier])
    consistency = name in ("response_exact_match_rate", "response_semantic_consistency")
    broken_judge = tier == "tier_judge_metrics" and run.tiers[tier].get("error_rate", 0.0) >= 1.0
    other = (
        name == "ndcg"
        or name.startswith("rouge")
        or name == "retrieval_consistency"
        or (consistency and (run.consistency_runs or 1) <= 1)
        or broken_judge
        or (tier == "tier_ux_metrics" and name != "cache_hit_rate")
        or (tier == "tier_0_metrics" and name not in ("spread", "max_spread", "spread_std", "effective_dimensionality"))
    )
    if name == "e2e_score":
        return "unfilled_prompt"
    if name == "mrr" and tier == RETRIEVED:
        return "unknown_unit"
    return "other_definition" if other else ""


def mixed(metrics: Mapping[str, float]) -> str:
    """ "mixed_units" where a hit rate lies below the recall of its depth, which it cannot in one unit; else empty."""
    pairs = [(value, metrics.get(f"hit_rate@{label.partition('@')[2]}"))
             for label, value in metrics.items() if label.startswith("recall@")]  # fmt: skip
    return "mixed_units" if any(hits is not None and hits < recall - 1e-9 for recall, hits in pairs) else ""


def _unit(tier: str, label: str, run: PastRun) -> str | None:
    name = label.partition("@")[0]
    if tier == RETRIEVED and run.unit is not None and name in RANKED:
        return run.unit
    if tier == "real_user_metrics":
        return "url" if name in (*BY_PAGE, "mrr") else None
    if tier == RETRIEVED:
        return "chunk" if name in BY_CHUNK else "url" if name in BY_PAGE else None
    return None


def _metric(tier: str, label: str) -> Metric | None:
    """The catalogue's entry for a name of that benchmark; None for what the catalogue does not have."""
    alias = ALIASES.get((tier.removesuffix("_metrics"), label))
    if alias is not None:
        return declaration(alias)
    if tier == "tier_judge_metrics" or not label.startswith("avg_"):
        return declaration(label)
    published = next((metric for metric in catalogue().values() if metric.published == label), None)
    return published or declaration(label.removeprefix("avg_")) or declaration(label)


def interval(metric: Metric | None, value: float, n: int | None) -> tuple[float | None, float | None]:
    """Wilson's interval of a mean of values between 0 and 1, which is right for shares and too wide for the others."""
    if metric is None or metric.name not in MEANS_OF_BOUNDED or not n or not 0 <= value <= 1:
        return None, None
    return wilson(value, n, normal_quantile(0.975))
