"""What another benchmark wrote of its runs, as runs of this one: a unit a number, or why it cannot be compared."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, model_validator

from ragbench.old.core.metric import Metric
from ragbench.old.data import foreign_sets
from ragbench.old.data.files import DatasetError, cut
from ragbench.old.data.records import Identifier, Url, checked
from ragbench.old.data.rows import read_rows
from ragbench.old.extras.runs.run_tables import RunFacts
from ragbench.old.metrics import catalogue, declaration
from ragbench.old.stats.intervals import normal_quantile, wilson
from ragbench.old.store.run_records import RunPart, RunRecord, RunValue
from ragbench.old.tiers.run.record import told

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
Interval = tuple[float | None, float | None]


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
    schema_version: Literal["2.0"]
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

    told: the file's name of a tier → all that it says. numbers: of these, metric → value. topics: the rows of its topic
    coverage. unit: what all of its retrieval ranks, where the entry says so, as a corrected one does.
    """

    id: str
    entry: _Entry
    told: Mapping[str, Mapping[str, Any]]
    numbers: Mapping[str, Mapping[str, float]]
    topics: tuple[Mapping[str, int | None], ...]

    @property
    def unit(self) -> Unit | None:
        return unit_of(self.entry.evaluation_level)

    def says(self, tier: str, name: str) -> str | None:
        """What a tier says of how deep it looked, or whose questions it asked; None where it says nothing."""
        said = self.told.get(tier, {}).get(name)
        return None if said in (None, "") else str(said)


def _past_run(row: Mapping[str, Any], place: str, left_out: Counter[str]) -> PastRun:
    """An entry of a history: every object whose name ends in `_metrics` is a tier; one that is null was not measured.

    Raises DatasetError naming item, field, value and what was expected.
    """
    entry = checked(_Entry, row, place)
    told = {name: tier for name, tier in row.items() if name.endswith("_metrics") and tier is not None}
    for name, tier in told.items():
        if not isinstance(tier, dict):
            raise DatasetError(f"{place}: {name} = {cut(tier)}: an object from metric to number is expected")
    numbers = {name: _numbers(tier, f"{place}: {name}", left_out) for name, tier in told.items()}
    topics: list[Mapping[str, int | None]] = []
    for name, rows in ((name, tier[TOPICS]) for name, tier in told.items() if TOPICS in tier):
        where = f"{place}: {name}.{TOPICS}"
        if not isinstance(rows, list):
            raise DatasetError(f"{where} = {cut(rows)}: a list of topics is expected")
        topics += (checked(Topic, own, f"{where}.{number}").model_dump() for number, own in enumerate(rows, 1))
    if not any(numbers.values()):
        raise DatasetError(f"{place}: no object named …_metrics holds a number; such a run says nothing")
    identifier = entry.id or (entry.timestamp.strftime("%Y%m%d_%H%M%S") if entry.timestamp else "")
    if not identifier:
        raise DatasetError(f"{place}: id is missing, and so is timestamp; one of them is expected")
    return PastRun(identifier, entry, told, numbers, tuple(topics))


def _numbers(tier: Mapping[str, Any], place: str, left_out: Counter[str]) -> dict[str, float]:
    numbers = {}
    for name, value in tier.items():
        if name in (*COUNTS, *ASKED, TOPICS):
            continue
        if isinstance(value, list | dict | str) or value is None:
            left_out[f"{name}, which {'was not measured' if value is None else 'is no number'}"] += 1
            continue
        try:
            numbers[name] = _number(value)
        except ValueError as error:
            raise DatasetError(f"{place}.{name} = {cut(value)}: {error}") from None
    return numbers


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
    """The runs of a history, a JSON list with `schema_version` "2.0", as summaries of the system `name`; each id begins
    with it.

    What that benchmark computed otherwise than its names say is marked as not comparable, with the reason, and shown
    all the same: see `why_not`. Raises DatasetError naming file, item, field, value and what was expected.
    """
    runs: dict[str, RunRecord] = {}
    left_out = Counter[str]()
    for place, row in read_rows(path):
        run = _past_run(row, place, left_out)
        if run.id in runs:
            raise DatasetError(f"{place}: id = {run.id!r} stands there twice; ids are unique")
        runs[run.id] = _record(run, name)
    if not runs:
        raise DatasetError(f"{path.name}: holds no runs; at least one is expected")
    values = [(run.id, value) for run in runs.values() for value in run.values]
    marked = sum(not value.comparable for _, value in values)
    notes = [f"{marked} of {len(values)} numbers cannot be compared with another run's; each says why"]
    outside = [f"{run} {value.metric} = {value.value:g}" for run, value in values if value.reason == "outside_scale"]
    if outside:
        notes.append(f"outside their scale, so wrong as they stand: {', '.join(outside)}")
    return Loaded(tuple(runs.values()), left_out, tuple(notes))


def _record(run: PastRun, name: str) -> RunRecord:
    values = [_value(tier, label, run, name) for tier, numbers in run.numbers.items() for label in numbers]
    said = run.entry.model_dump() | (run.entry.model_extra or {})
    identities = {
        kind: {key: str(said[key]) for key in keys if said.get(key) not in (None, "")}
        for kind, keys in IDENTITIES.items()
    }
    about = {key: text for known in identities.values() for key, text in known.items()}
    identities["parameters"] |= _asked(run)
    return RunRecord(
        id=f"{name}-{run.id}",
        started=run.entry.timestamp,
        origin=HISTORY,
        identities=identities,
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
    covered = run.says("topic_coverage_metrics", "top_k")
    used = run.says("utilization_metrics", "top_k") or covered
    users = run.says("utilization_metrics", "questions_source")
    parameters = {
        "sources.k": used,
        "sources.k of the topics": covered if covered != used else None,
        "sources.users_log": users and {"real": "true", "synthetic": "false"}.get(users, users),
    }
    return {name: text for name, text in parameters.items() if text is not None}


def _facts(run: PastRun, notebook: str) -> RunFacts:
    if notebook == RETRIEVAL:
        depth = _count(run.told[RETRIEVED].get("top_k"))
        return {"k": depth} if depth else {}
    if notebook != SOURCES:
        return {}
    topics: RunFacts = {"topic_coverage": [dict(topic) for topic in run.topics]} if run.topics else {}
    primary = "utilization_rate" if "utilization_rate" in run.numbers.get("utilization_metrics", {}) else "n_topics"
    return {"primary": primary, **topics}


def _value(tier: str, label: str, run: PastRun, system: str) -> RunValue:
    metric, value, told = _metric(tier, label), run.numbers[tier][label], run.told[tier]
    n = next((size for name in SIZES if (size := _count(told.get(name))) is not None), None)
    failed = _count(told.get("errors"))
    measured = None if n is None else n - (failed or 0)
    return number(
        system,
        label,
        value,
        metric,
        notebook=NOTEBOOKS.get(tier, tier.removesuffix("_metrics")),
        interval=wilsons(metric, value, measured),
        n=measured,
        n_unmeasured=failed,
        unit=_unit(tier, label, run),
        reason=why_not(tier, label, run),
    )


def number(
    system: str,
    label: str,
    value: float,
    metric: Metric | None,
    *,
    notebook: str = RETRIEVAL,
    interval: Interval = (None, None),
    method: str = "wilson",
    reason: str = "",
    **more: Any,
) -> RunValue:
    """A number of another benchmark, which calls its metric `label`. method: of its interval, if it has one. reason:
    why it must not be compared. more: what else a run keeps of it."""
    low, high = interval
    made = RunValue(
        notebook, system, label if metric is None else metric.label, value, low, high,
        method="none" if low is None else method, **more, **told(metric),
    ).checked()  # fmt: skip
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
        return mixed(run.numbers[tier])
    consistency = name in ("response_exact_match_rate", "response_semantic_consistency")
    broken_judge = tier == "tier_judge_metrics" and run.numbers[tier].get("error_rate", 0.0) >= 1.0
    other = (
        name == "ndcg"
        or name.startswith("rouge")
        or name == "retrieval_consistency"
        or (consistency and (run.entry.consistency_runs or 1) <= 1)
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


def wilsons(metric: Metric | None, value: float, n: int | None) -> Interval:
    """Wilson's interval of a mean of values between 0 and 1, which is right for shares and too wide for the others."""
    if metric is None or metric.name not in MEANS_OF_BOUNDED or not n or not 0 <= value <= 1:
        return None, None
    return wilson(value, n, normal_quantile(0.975))
