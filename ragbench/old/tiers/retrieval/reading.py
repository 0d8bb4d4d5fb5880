"""What a ranking shows by its depth: recall and NDCG, labelled text in so many words, and what nobody has judged.

The first k pieces of 50 words are not as much to read as the first k of 400. At the same number of words they are; then
also precision and intersection over union (Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval) say of
a question nothing else than recall: what is shown, and what is labelled, is the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.old import stats
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Finding, NamedComparison, NamedEstimate
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Hit, Piece, Question, Ranking
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays.coverage import LabelledText
from ragbench.old.tiers.basics.findings import Group, Sureness, compared
from ragbench.old.tiers.basics.requests import MOST_RETRIEVED
from ragbench.old.tiers.basics.withholding import Rankings

if TYPE_CHECKING:
    import pandas as pd


METRIC, WORDS = "recall", "words"
"""The metrics of the findings: recall at `words`, and at `first` k how many words are read."""
POINTS = 16  # of a curve, beside those at which systems are compared


def cuttings(settings: Settings, rankings: Rankings) -> dict[str, str | None]:
    """System → the chunker that cuts its passages, empty where it cut them itself, None for passages as they are."""
    cut = {name: any(isinstance(hit.chunk, Piece) for hits in rows for hit in hits) for name, rows in rankings.items()}
    return {name: settings.systems[name].chunker or ("" if cut[name] else None) for name in rankings}


def told(settings: Settings, rankings: Rankings, asked: Iterable[Question], labelled: LabelledText) -> Facts:
    """What facts say of passages that are cut into pieces before they are searched: nothing where none are."""
    chunkers = {name: chunker for name, chunker in cuttings(settings, rankings).items() if chunker is not None}
    spans = sum(bool(question.spans) for question in asked)
    known = {"chunkers": chunkers, "found_from": labelled.enough, "n_with_spans": spans}
    return {"labelled_text": known} if chunkers else {}


def differ(settings: Settings, rankings: Rankings) -> bool:
    """Whether the systems cut passages in more than one way, so that the same k is not the same to read."""
    return len(set(cuttings(settings, rankings).values())) > 1


def depth(searched: Sequence[Chunk], words: int) -> int:
    """How many of what is searched hold so many words, whichever are found; at most MOST_RETRIEVED."""
    sizes = accumulate(sorted(len(chunk.text.split()) for chunk in searched))
    needed = 1 + sum(1 for _ in (size for size in sizes if size < words))
    return min(needed, len(searched), MOST_RETRIEVED)


def limits(words: Sequence[int]) -> list[int]:
    """The numbers of words at which a curve is drawn, those asked for among them."""
    return sorted({*words, *(round(number) for number in np.geomspace(max(1, min(words) / 2), max(words), POINTS))})


def shown(
    labelled: LabelledText,
    asked: Sequence[Question],
    rankings: Sequence[Sequence[Hit]],
    at: Sequence[int],
    most: int,
    untold: Iterable[str] = (),
) -> Array:
    """(questions, limits): the share of the labelled text that the first so many words of each ranking show.

    most: how many hits were asked for. NaN where those end before the limit and there may be more, and for questions of
    which nobody knows what was retrieved; a ranking that is shorter has shown all that it ever will.
    """
    unknown = frozenset(untold)
    rows = np.full((len(asked), len(at)), np.nan)
    for place, (question, hits) in enumerate(zip(asked, rankings, strict=True)):
        if question.id in unknown:
            continue
        shares, read = labelled.by_words(question, (hit.chunk for hit in hits), at)
        is_open = len(hits) >= most
        rows[place] = [np.nan if is_open and limit > read else share for limit, share in zip(at, shares, strict=True)]
    return rows


def findings(
    shares: Mapping[int, Mapping[str, Array]],
    words: Sequence[int],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> list[Finding]:
    """`recall` at `words` of every system, and its difference to the first one's at those numbers that were asked for,
    which are one family. shares: number of words → system → (questions,) what `shown` says."""
    made: list[Finding] = []
    for name in next(iter(shares.values()), {}):
        columns = {str(limit): by_system[name] for limit, by_system in shares.items()}
        means = stats.estimate_many(columns, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness))
        made += [NamedEstimate(name, METRIC, mean, {"words": int(limit)}) for limit, mean in means.items()]
    groups = {
        str(limit): Group(by_system, "higher", bounds=(0.0, 1.0))
        for limit, by_system in shares.items()
        if limit in words
    }
    for limit, own in compared(groups, clusters, sureness).items():
        made += [NamedComparison(METRIC, comparison, {"words": int(limit)}) for comparison in own]
    return made


def lengths(words: Mapping[str, Array], k: int, clusters: Sequence[str] | None, sureness: Sureness) -> list[Finding]:
    """How many words the first k of every system's rankings hold, on average. words: system → (questions,)."""
    how: dict[str, Any] = {"clusters": clusters, "bounds": (0.0, math.inf), **asdict(sureness)}
    return [NamedEstimate(name, WORDS, stats.estimate(own, **how), {"first": k}) for name, own in words.items()]


TABLE = "judged"
VALUES = ("judged", "irrelevant", "relevant", "condensed", "inferred")
COLUMNS = ("system", "metric", *VALUES)
BESIDE = ("ndcg", "recall")
"""Metrics that stand there besides the primary one."""
DEPTH = 10
"""Where judged@k looks for a metric that has no cut-off."""


def values(ranking: Ranking, metrics: Sequence[Metric], **how: Any) -> dict[tuple[str, str], Array]:
    """(metric's label, one of VALUES) → a value a question, as deep as the metric looks.

    judged: the share that was judged. irrelevant, relevant, condensed: the metric if what was not is irrelevant (the
    printed value), if it is relevant, and if it is left out. inferred: infAP, NaN where judgements are no sample. how:
    as for `evaluate`.
    """
    from ragbench.old.metrics import catalogue
    from ragbench.old.metrics.ranking import evaluate
    from ragbench.old.metrics.ranking_arrays import all_relevant, condensed

    known, columns = catalogue(), dict[tuple[str, str], Array]()
    for metric in metrics:
        label, depth = metric.label, metric.cutoff
        share = known["judged"] @ (depth or DEPTH)
        inferred = known["inferred_ap"] if depth is None else known["inferred_ap"] @ depth
        own = evaluate(ranking, list(dict.fromkeys([metric, share, inferred])), **how)
        printed = own[label]
        completed = evaluate(all_relevant(ranking, depth), [metric], **how)[label]
        columns[label, "judged"] = own[share.label]
        columns[label, "irrelevant"] = printed
        columns[label, "relevant"] = np.where(np.isnan(printed), np.nan, completed)
        columns[label, "condensed"] = evaluate(condensed(ranking), [metric], **how)[label]
        columns[label, "inferred"] = (
            own[inferred.label] if ranking.pooled is not None else np.full(len(ranking), np.nan)
        )
    return columns


def rows_of(system: str, columns: Mapping[tuple[str, str], Array]) -> list[tuple[Any, ...]]:
    """A row of means a metric (COLUMNS)."""
    labels = dict.fromkeys(label for label, _ in columns)
    return [(system, label, *(_mean(columns[label, name]) for name in VALUES)) for label in labels]


def table(rankings: Mapping[str, Ranking], metrics: Sequence[Metric], samples: Sequence[str]) -> pd.DataFrame:
    """The values of several systems, a row a metric and question; empty for rankings of pieces, whose text may be
    judged in part. samples: the questions' ids."""
    import pandas as pd

    whole = {name: values(ranking, metrics) for name, ranking in rankings.items() if ranking.coverage is None}
    rows = [
        (name, label, sample, *row)
        for name, columns in whole.items()
        for label in dict.fromkeys(label for label, _ in columns)
        for sample, *row in zip(samples, *(columns[label, value].tolist() for value in VALUES), strict=True)
    ]
    return pd.DataFrame(rows, columns=["system", "metric", "sample", *VALUES])


def means(table: pd.DataFrame) -> list[dict[str, Any]]:
    """What `table` has of each system and metric, over its questions."""
    if table.empty:
        return []
    order = list(dict.fromkeys(table["metric"]))
    rows = [
        {"system": system, "metric": metric, **{value: _mean(own[value].to_numpy(dtype=float)) for value in VALUES}}
        for (metric, system), own in table.groupby(["metric", "system"], sort=False)
    ]
    return sorted(rows, key=lambda row: order.index(row["metric"]))


def chosen(leading: str, measured: Iterable[Metric]) -> list[Metric]:
    """The metric of that label, or the first one where it reads no ranking, and of each in BESIDE the deepest one."""
    own = [metric for metric in measured if not metric.is_users and metric.better]
    first = [metric for metric in own if metric.label == leading] or own[:1]
    others = [[metric for metric in own if metric.name == name][-1:] for name in BESIDE]
    return list({metric.label: metric for metrics in (first, *others) for metric in metrics}.values())


def _mean(column: Array) -> float:
    return float(np.nanmean(column)) if np.isfinite(column).any() else float("nan")


METRICS = ("recall", "ndcg")
MOST_DEPTHS = 25  # points of a curve: more are not told apart at its width


def by_depth(
    rankings: Mapping[str, Ranking], k: int, clusters: Sequence[str] | None, sureness: Sureness
) -> tuple[NamedEstimate, ...]:
    """An estimate for each system, metric and depth `k`. Every interval is of its own depth: no statement about a
    whole curve. None for k = 1, where there is no curve."""
    labels = {f"{name}@{depth}": (name, depth) for name in METRICS for depth in depths(k)} if k > 1 else {}
    rows = []
    for system, ranking in rankings.items():
        values = evaluate(ranking, [parse(label) for label in labels])
        made = stats.estimate_many(values, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness)) if labels else {}
        for label, e in made.items():
            metric, depth = labels[label]
            rows.append(NamedEstimate(system, metric, e, {"k": depth}))
    return tuple(rows)


def depths(k: int) -> list[int]:
    """Every depth up to k, or 25 of them whose steps grow evenly, the first and the last among them."""
    if k <= MOST_DEPTHS:
        return list(range(1, k + 1))
    return sorted({round(depth) for depth in np.geomspace(1, k, MOST_DEPTHS)})
