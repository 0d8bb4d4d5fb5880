"""Runs measured against judgements: values, estimates, comparisons in one family, all of it as plain JSON too."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ragbench.old.core.metric import Metric
    from ragbench.old.core.types import Array, Better, Comparison, Estimate
    from ragbench.old.data.trec import Qrels, Run

_BLOCK = 500  # queries measured at once
NOTEBOOK = "trec"  # what stands where a run's summary names the notebook
MORE = ("map", "bpref", "rbp", "r_precision")


_WRITTEN = re.compile(
    r"((cosine|dot|euclidean|manhattan)[_-])?(?P<name>[A-Za-z][\w-]*?)(?P<options>\(.*\))?"
    r"((?P<sign>_at_|[@_.])?(?P<cut>\d+))?"
)
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


@cache
def names_of_measures() -> dict[str, str]:
    """Name, without case and what parts its words → the metric, as trec_eval, ir_measures, BEIR and ranx have them."""
    from ragbench.old.data.cells import TABLE

    return {name: metric for metric, names in TABLE["measures"].items() for name in names}


def label(name: str, *, nearly: bool = False) -> str:
    """The catalogue's label of a measure: `nDCG(dcg='exp-log2')@10` is `ndcg(gain=exponential)@10`.

    A name that no tool has, and one that is a label already, stays as it is; nearly: the next one is taken for it.
    """
    known, written = names_of_measures(), _WRITTEN.fullmatch(name.strip())
    key = "" if written is None else re.sub("[_-]", "", written["name"]).casefold()
    key = next(iter(difflib.get_close_matches(key, known, 1)), key) if nearly else key
    if written is None or key not in known:
        return name
    metric, _, fixed = known[key].partition("(")
    cut, options = written["cut"], [fixed[:-1]] if fixed else []
    if metric == "rbp" and written["sign"] == ".":  # of ranx, whose rbp.95 is patient
        cut, options = None, [f"p=0.{cut}"]
    for option in (written["options"] or "()")[1:-1].split(","):
        given, sign, value = (part.strip() for part in option.partition("="))
        value = value.strip("'\"")
        if given == "cutoff":
            cut = value
        elif given == "dcg":
            options.append(f"gain={_GAINS.get(value, value)}")
        elif given:
            options.append(f"{'level' if given == 'rel' else given}{sign}{value}")
    return metric + (f"({', '.join(options)})" if options else "") + (f"@{cut}" if cut else "")


Convention = Literal["trec_eval"]
"""Whose conventions to follow instead of ragbench's own."""


@dataclass(frozen=True)
class Plan:
    """What to do with the files.

    metrics: the metric by the name that was asked for.
    level: the smallest grade that counts as relevant, None for every positive one.
    primary: the name of the metric whose comparisons are a family of their own; empty: all are one family.
    clusters: a pattern whose first group, found in a query's name, names the cluster of the query.
    """

    metrics: Mapping[str, Metric]
    level: float | None = None
    compatible: Convention | None = None
    primary: str = ""
    complete: bool = False
    all_pairs: bool = False
    clusters: re.Pattern[str] | None = None
    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.leading

    @property
    def leading(self) -> str:
        """The name of the primary metric; empty where none is asked for."""
        from ragbench.old.tiers.basics import findings

        return findings.named(self.primary, self.better) if self.primary else ""

    @property
    def sureness(self) -> dict[str, Any]:
        """What every estimate and every comparison is told."""
        return {"level": self.confidence, "resamples": self.resamples, "seed": self.seed}

    @property
    def better(self) -> dict[str, Better]:
        """Which way is good, by name."""
        return {name: metric.better for name, metric in self.metrics.items() if metric.better}


@dataclass(frozen=True)
class Assessment:
    """What the files say: values by run and metric in the order of `queries`, and what follows from them."""

    queries: tuple[str, ...]
    values: Mapping[str, Mapping[str, Array]]
    estimates: Mapping[tuple[str, str], Estimate]
    comparisons: Sequence[tuple[str, Comparison]]
    facts: Mapping[str, Any]
    judged: Sequence[tuple[Any, ...]] = ()
    """What nobody judged, and what it could change: rows of `ragbench.old.tiers.retrieval.reading.COLUMNS`."""


def asked(metrics: str, level: float | None) -> dict[str, Metric]:
    """Metrics by the name they were asked for: a catalogue label, or the field's name; nothing asked: all of them.

    Raises ValueError for names that there are not, for metrics of another grain, and for a level that is not positive.
    """
    from ragbench.old.core.metric import parse
    from ragbench.old.metrics import catalogue
    from ragbench.old.tiers.basics.choices import parted

    if level is not None and not level > 0:
        raise ValueError(f"--level {level:g}: the smallest grade that counts as relevant is above 0")
    known = catalogue()
    own = [each for each in known.values() if each.grain == "ranking" and (each.published or each.name) not in MORE]
    every = [f"{each.name}@{k}" if k else each.name for each in own for k in each.cutoffs or (0,)]
    chosen: dict[str, Metric] = {}
    for name in _cuts(parted(metrics)) or [*every, *MORE]:
        try:
            metric = parse(label(name))
        except ValueError as error:
            near = next((n for part in (name, name.split("@")[0]) if (n := label(part, nearly=True)) != part), "")
            if "there is no metric" not in str(error):
                raise
            legal = ", ".join(each.name for each in known.values() if each.grain == "ranking")
            meant = f"did you mean {near}? Of" if near else "of"
            raise ValueError(f"there is no metric {name!r}; {meant} rankings there are {legal}") from None
        if metric.grain != "ranking":
            raise ValueError(f"{name} is not a metric of rankings, but of a {metric.grain}")
        if level is not None and "level" in metric.legal_options:
            metric = metric.with_options(level=level)
        chosen[name] = metric
    return chosen


def _cuts(names: Sequence[str]) -> list[str]:
    """`P.5,10`, as trec_eval's cut-offs are asked for, is `P.5` and `P.10`."""
    whole_names: list[str] = []
    for name in names:
        cut = whole_names and re.fullmatch(r"(.+\.)\d+", whole_names[-1])
        whole_names.append(f"{cut[1]}{name}" if cut and name.isdecimal() else name)
    return whole_names


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """One name a run: the file's, or its path where two files share a name."""
    from ragbench.old.data import DatasetError

    names = [run.name for run in runs]
    named = [run.name if names.count(run.name) == 1 else str(run.path) for run in runs]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise DatasetError(f"the run {twice} is given twice; name each file once")
    return named


def assess(qrels: Qrels, runs: Sequence[Run], plan: Plan) -> Assessment:
    """Measure every run on the judged queries, estimate, compare, and correct over all comparisons.

    A value that is not measured (no relevant document; with trec_eval's conventions, a query that the run lacks) is
    NaN. Queries are sorted, so that no number depends on the order of the files' lines. Raises DatasetError for two
    runs of one name and for a cluster pattern that a query does not match.
    """
    from ragbench.old import stats
    from ragbench.old.tiers.basics.findings import bounds

    qrels = dict(sorted(qrels.items()))
    queries = tuple(qrels)
    names = distinct_names(runs)
    values = {name: _values(qrels, run, plan) for name, run in zip(names, runs, strict=True)}
    labels = None if plan.clusters is None else [_cluster(query, plan.clusters) for query in queries]
    scales = {name: bounds(metric) for name, metric in plan.metrics.items()}
    estimates = {
        (name, metric): estimate
        for name in names
        for metric, estimate in stats.estimate_many(
            values[name], clusters=labels, bounds=scales, **plan.sureness
        ).items()
    }
    return Assessment(
        queries,
        values,
        estimates,
        _compared(values, labels, plan, _reach(qrels, plan)),
        _facts(qrels, names, runs, plan) | {"clusters": None if labels is None else len(set(labels))},
        [row for name, run in zip(names, runs, strict=True) for row in _judged(name, qrels, run, plan)],
    )


def _compared(
    values: Mapping[str, Mapping[str, Array]], labels: Sequence[str] | None, plan: Plan, reach: Mapping[str, float]
) -> list[tuple[str, Comparison]]:
    """Every run against the first, or every pair, on every metric, each tested together with its family.

    What only describes is no better or worse. Where no query is measured on both sides there is nothing to correct;
    the comparison says so.
    """
    import numpy as np

    from ragbench.old import stats
    from ragbench.old.core import settings
    from ragbench.old.tiers.basics import findings
    from ragbench.old.tiers.basics.bands import of_interest
    from ragbench.old.tiers.basics.findings import bounds

    names = list(values)
    pairs = [*combinations(names, 2)] if plan.all_pairs else [(names[0], other) for other in names[1:]]
    metrics = {name: metric for name, metric in plan.metrics.items() if metric.better}
    if not pairs or not metrics:
        return []
    nothing = {name: np.asarray(np.isnan([column[name] for column in values.values()]).all(axis=0)) for name in metrics}
    made = [
        stats.hypotheses(
            {name: values[baseline][name] for name in metrics},
            {name: values[other][name] for name in metrics},
            clusters=labels,
            better=plan.better,
            names=(baseline, other),
            bounds={name: bounds(metric) for name, metric in metrics.items()},
            void=nothing,
            **plan.sureness,
        )
        for baseline, other in pairs
    ]
    by_metric = {metric: [each[metric] for each in made] for metric in metrics}
    adjusted = findings.in_families(by_metric, labels, findings.Sureness(**plan.sureness), plan.leading)
    matters = settings.load().smallest_difference
    margins = {name: of_interest(metric.label, matters, reach) for name, metric in metrics.items()}
    return [
        (metric, stats.with_margin(adjusted[metric][place], margins[metric]))
        for place in range(len(pairs))
        for metric in metrics
    ]


def as_json(assessment: Assessment, *, per_query: bool = False) -> dict[str, Any]:
    """`estimates` and `comparisons` in the form of a run's summary, `facts`, and on demand `per_query`."""
    from ragbench.old.core.measurement import NamedComparison, NamedEstimate
    from ragbench.old.tiers.retrieval.reading import COLUMNS

    result: dict[str, Any] = {
        "facts": dict(assessment.facts),
        "judged": [dict(zip(COLUMNS, row, strict=True)) for row in assessment.judged],
        "estimates": [
            {"notebook": NOTEBOOK, **NamedEstimate(*place, estimate).summary()}
            for place, estimate in assessment.estimates.items()
        ],
        "comparisons": [
            {"notebook": NOTEBOOK, **NamedComparison(metric, comparison).summary()}
            for metric, comparison in assessment.comparisons
        ],
    }
    if per_query:
        result["per_query"] = [
            {"run": run, "query": query, "metric": metric, "value": float(value)}
            for run, columns in assessment.values.items()
            for metric, column in columns.items()
            for query, value in zip(assessment.queries, column, strict=True)
        ]
    return result


def _values(qrels: Qrels, run: Run, plan: Plan) -> dict[str, Array]:
    """(judged queries,) by metric, in blocks of queries, so that deep runs of many queries fit in memory."""
    import numpy as np

    as_trec_eval = plan.compatible == "trec_eval"
    counted = [query for query in qrels if not as_trec_eval or plan.complete or query in run.queries]
    position = {query: number for number, query in enumerate(qrels)}
    columns = {name: np.full(len(qrels), np.nan) for name in plan.metrics}
    for start in range(0, len(counted), _BLOCK):
        block = counted[start : start + _BLOCK]
        places = [position[query] for query in block]
        measured = _ranked(block, qrels, run, plan)
        for name, metric in plan.metrics.items():
            columns[name][places] = measured[metric.label]
    return columns


def _judged(name: str, qrels: Qrels, run: Run, plan: Plan) -> list[tuple[Any, ...]]:
    """What of a run nobody judged, by the primary metric, or the first, and by nDCG and recall."""
    import numpy as np

    from ragbench.old.data import trec
    from ragbench.old.metrics import ranking_arrays
    from ragbench.old.tiers.retrieval import reading

    leading = plan.metrics[plan.leading].label if plan.leading else ""
    metrics, lacking = reading.chosen(leading, plan.metrics.values()), trec.nothing()
    columns: dict[tuple[str, str], list[Array]] = {}
    for start in range(0, len(qrels) if metrics else 0, _BLOCK):
        block = list(qrels)[start : start + _BLOCK]
        lists = [trec.listed_order(run.queries.get(query, lacking)).documents for query in block]
        ranking = ranking_arrays.from_columns(lists, [qrels[query] for query in block])
        for place, column in reading.values(ranking, metrics).items():
            columns.setdefault(place, []).append(column)
    return reading.rows_of(name, {place: np.concatenate(parts) for place, parts in columns.items()})


def _reach(qrels: Qrels, plan: Plan) -> dict[str, float]:
    """By label, the largest mean that the judgements leave room for; of what has no relevant document, nothing."""
    import numpy as np

    from ragbench.old.data import trec
    from ragbench.old.metrics import ranking_arrays
    from ragbench.old.metrics.ranking import reachable

    lacking = [trec.nothing().documents] * len(qrels)
    judged = [{document: grade for document, grade in each.items() if grade >= 0} for each in qrels.values()]
    most = reachable(ranking_arrays.from_columns(lacking, judged), plan.metrics.values())
    return {label: float(np.nanmean(own)) for label, own in most.items() if not np.isnan(own).all()}


def _ranked(queries: Sequence[str], qrels: Qrels, run: Run, plan: Plan) -> dict[str, Array]:
    """By our rules or trec_eval's, where grades below 0 are no judgements and a query with nothing relevant is 0."""
    from ragbench.old.data import trec
    from ragbench.old.metrics import ranking_arrays
    from ragbench.old.metrics.ranking import evaluate

    lacking = trec.nothing()
    rows = [run.queries.get(query, lacking) for query in queries]
    judged: list[dict[str, float]] = [qrels[query] for query in queries]
    if plan.compatible != "trec_eval":
        columns = [trec.listed_order(row).documents for row in rows]
        return evaluate(ranking_arrays.from_columns(columns, judged), plan.metrics.values())
    columns = [
        trec.trec_eval_order(row, where=f"{run.path}, query {query}").documents
        for query, row in zip(queries, rows, strict=True)
    ]
    pooled = [{document: grade for document, grade in grades.items() if grade >= 0} for grades in judged]
    return evaluate(ranking_arrays.from_columns(columns, pooled), plan.metrics.values(), without_relevant="zero")


def _facts(qrels: Qrels, names: Sequence[str], runs: Sequence[Run], plan: Plan) -> dict[str, Any]:
    least = plan.level or 0.0
    relevant = [any(grade > 0 and grade >= least for grade in judged.values()) for judged in qrels.values()]
    return {
        "conventions": plan.compatible or "ragbench",
        "relevance_level": plan.level,
        "metrics": {name: metric.label for name, metric in plan.metrics.items()},
        "queries_judged": len(qrels),
        "queries_without_relevant": relevant.count(False),
        "seed": plan.seed,
        "resamples": plan.resamples,
        "runs": [_facts_of(qrels, name, run) for name, run in zip(names, runs, strict=True)],
    }


def _facts_of(qrels: Qrels, name: str, run: Run) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute

    answered = [query for query in qrels if query in run.queries]
    rows = [run.queries[query] for query in answered]
    grades = (pa.array([*qrels[query]], pa.large_string()) for query in answered)
    judged = (compute.is_in(row.documents, names) for row, names in zip(rows, grades, strict=True))
    return {
        "run": name,
        "tag": run.tag,
        "form": run.form,
        "queries_answered": len(rows),
        "queries_missing": len(qrels) - len(rows),
        "queries_not_judged": len(run.queries) - len(rows),
        "documents": sum(len(row.documents) for row in rows),
        "documents_judged": sum(int(one.true_count) for one in judged),
        "duplicates": sum(len(row.documents) - len(row.documents.unique()) for row in rows),
        "tied_scores": sum(len(row.scores) - len(np.unique(row.scores)) for row in rows),
    }


def _cluster(query: str, pattern: re.Pattern[str]) -> str:
    from ragbench.old.data.files import DatasetError

    match = pattern.search(query)
    if match is None or not pattern.groups or match[1] is None:
        raise DatasetError(
            f"--clusters {pattern.pattern!r} finds no group in the query {query!r}; write it like '^(.+)_'"
        )
    return match[1]
