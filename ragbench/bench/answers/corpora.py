"""Measures of a whole set of answers (corpus BLEU): estimated and compared from what each answer adds to the totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.measurement import NamedEstimate
from ragbench.metric import Metric
from ragbench.metrics import overlap
from ragbench.types import Comparison, Sample

NAMES = frozenset(each.name for each in overlap.CORPUS)


@dataclass(frozen=True)
class Found:
    """estimates: of every system and measure. comparisons: by measure, of every other system with the first."""

    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: Mapping[str, list[Comparison]] = field(default_factory=dict)


def is_corpus(metric: Metric) -> bool:
    """Whether the metric is a measure of a whole set of answers."""
    return metric.name in NAMES


def find(
    samples: Mapping[str, Sequence[Sample]],
    metrics: Sequence[Metric],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> Found:
    """Corpus values with intervals from resampled counts, and paired comparisons by approximate randomization.

    samples: system → one sample a question, in one order for all. p is corrected over the challengers of a measure
    (Bonferroni); the correction over measures is the page's.
    """
    estimates: list[NamedEstimate] = []
    comparisons: dict[str, list[Comparison]] = {}
    for metric in metrics:
        statistic = overlap.statistic(metric)
        rows = {name: overlap.sufficient(metric, each) for name, each in samples.items()}
        estimates += [
            NamedEstimate(name, metric.label, stats.resample(statistic, own, clusters=clusters, **asdict(sureness)))
            for name, own in rows.items()
        ]
        first, *others = rows
        better = metric.better or "higher"
        found = [
            stats.compare_statistic(
                statistic, rows[first], rows[name], clusters=clusters, better=better, names=(first, name),
                **asdict(sureness),
            )
            for name in others
        ]  # fmt: skip
        measured = [one for one in found if one.p == one.p]
        if len(measured) > 1:
            number = len(measured)
            measured = [
                replace(one, p_adjusted=min(1.0, one.p * number), threshold=(1 - one.level) / number)
                for one in measured
            ]
        comparisons[metric.label] = measured
    return Found(tuple(estimates), comparisons)
