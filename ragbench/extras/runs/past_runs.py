"""Runs of another benchmark as runs of this one: one unit a number, and a reason beside what cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragbench.core.metric import Metric
from ragbench.extras.runs.foreign_runs import PastRun, Topic, read_history
from ragbench.extras.runs.run_tables import RunFacts
from ragbench.metrics import catalogue, declaration
from ragbench.stats.intervals import normal_quantile, wilson
from ragbench.store.run_records import RunPart, RunRecord, RunValue
from ragbench.tiers.run.record import told

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
