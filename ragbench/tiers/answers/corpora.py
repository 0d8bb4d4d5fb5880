"""Measures of a whole set of answers (corpus BLEU): estimated and compared from what each answer adds to the totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from ragbench import stats
from ragbench.core.measurement import NamedEstimate
from ragbench.core.metric import Metric
from ragbench.core.types import Array, Sample
from ragbench.metrics import overlap
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.basics.findings import bounds

if TYPE_CHECKING:
    import pandas as pd

NAMES = frozenset(each.name for each in overlap.CORPUS)
TABLE = "corpus_counts"
"""Under which name what each answer adds to the totals is kept and published."""
PLACE = ("system", "metric", "sample", "answer")
GIVEN, NOTHING, REFERENCE = "given", "nothing", "reference"
"""As what an answer is counted: as it is; one that is missing also as an empty one, and as the reference itself, the
worst and the best that it could have been."""


@dataclass(frozen=True)
class Found:
    """estimates: of every system and measure. hypotheses: by measure, that another system is as the first."""

    estimates: tuple[NamedEstimate, ...] = ()
    hypotheses: Mapping[str, list[stats.Hypothesis]] = field(default_factory=dict)


def is_corpus(metric: Metric) -> bool:
    """Whether the metric is a measure of a whole set of answers."""
    return metric.name in NAMES


def find(
    samples: Mapping[str, Sequence[Sample]],
    metrics: Sequence[Metric],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> Found:
    """Corpus values with intervals from resampled counts, and hypotheses to be tested in the page's families.

    samples: system → one sample a question, in one order for all.
    """
    estimates: list[NamedEstimate] = []
    hypotheses: dict[str, list[stats.Hypothesis]] = {}
    for metric in metrics:
        statistic = overlap.statistic(metric)
        rows = {name: overlap.sufficient(metric, each) for name, each in samples.items()}
        estimates += [
            NamedEstimate(
                name, metric.label,
                stats.resample(statistic, own, clusters=clusters, bounds=bounds(metric), **asdict(sureness)),
            )
            for name, own in rows.items()
        ]  # fmt: skip
        first, *others = rows
        better = metric.better or "higher"
        hypotheses[metric.label] = [
            stats.statistic_hypothesis(
                statistic, rows[first], rows[name], clusters=clusters, better=better, names=(first, name),
                bounds=bounds(metric), completed=_completed(metric, samples[first], samples[name]),
                void=[not (sample.reference or "").strip() for sample in samples[first]], **asdict(sureness),
            )
            for name in others
        ]  # fmt: skip
    return Found(tuple(estimates), hypotheses)


def counts(samples: Mapping[str, Sequence[Sample]], metrics: Sequence[Metric]) -> pd.DataFrame:
    """What each answer adds to the totals of every corpus measure among the metrics: PLACE, and `count_1`, ….

    Of corpus BLEU: tokens of the answer and of the reference, 1- to 4-grams that both have, and those of the answer; of
    corpus ROUGE: what both have, what the answer has, what the reference has. NaN where there was nothing to count.
    samples: system → one sample a question.
    """
    import pandas as pd

    parts = []
    for metric in filter(is_corpus, metrics):
        for name, own in samples.items():
            lacking = [sample for sample in own if sample.response is None]
            counted = {GIVEN: own, NOTHING: [_filled(sample, False) for sample in lacking]}
            counted[REFERENCE] = [_filled(sample, True) for sample in lacking]
            for answer, some in counted.items():
                rows = overlap.sufficient(metric, some)
                table = pd.DataFrame(rows, columns=[f"count_{place + 1}" for place in range(rows.shape[1])])
                place = dict(zip(PLACE, (name, metric.label, [sample.id for sample in some], answer), strict=True))
                parts.append(pd.DataFrame(place, index=table.index).join(table))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(PLACE))


def _completed(
    metric: Metric, first: Sequence[Sample], second: Sequence[Sample]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The counts of both where every answer that is missing says nothing, or is the reference, so that the difference
    is smallest, and where it is largest."""
    empty, full = (
        [overlap.sufficient(metric, [_filled(sample, best) for sample in side]) for side in (first, second)]
        for best in (False, True)
    )
    return (full[0], empty[1]), (empty[0], full[1])


def _filled(sample: Sample, best: bool) -> Sample:
    return sample if sample.response is not None else replace(sample, response=sample.reference if best else "")
