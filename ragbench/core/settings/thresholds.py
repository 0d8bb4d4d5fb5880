"""Named sets of thresholds: what counts as good and as excellent, metric by metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from ragbench.core.settings.metrics import MetricsSettings
from ragbench.core.settings.tables import Band

UNIT, RATING, COSINE = (0.0, 1.0), (1.0, 5.0), (-1.0, 1.0)


def _bands(names: Iterable[str], excellent: float, good: float) -> dict[str, Band]:
    return {name: Band(excellent=excellent, good=good, scale=UNIT) for name in names}


def _aims(aims: Mapping[str, float], scale: tuple[float, float] | None = UNIT, lower: bool = False) -> dict[str, Band]:
    better: Literal["higher", "lower"] = "lower" if lower else "higher"
    return {name: Band(good=aim, better=better, scale=scale) for name, aim in aims.items()}


SPECIFICATION = {
    **_bands(("hit_rate@1", "mrr", "ndcg@10"), 0.8, 0.5),
    **_bands(("faithfulness",), 0.9, 0.7),
    **_bands(("e2e_score",), 0.8, 0.6),
    **_bands(("accuracy", "consistency_score"), 0.95, 0.85),
}
"""Table 11.2 of the specification, on a scale from 0 to 1: above `excellent`, from `good` on, and below."""

VOPROSHALYCH = {
    **_aims({"mrr": 0.8, "hit_rate@1": 0.7, "hit_rate@5": 0.9, "hit_rate@10": 0.95, "ndcg@5": 0.8}),
    **_aims({"retrieval_consistency": 0.95, "response_exact_match_rate": 0.7}),
    **_aims({"faithfulness_rating": 4.5, "answer_correctness_rating": 4.2}, RATING),
    **_aims({"answer_relevance": 4.2, "e2e_score": 4.2}, RATING),
    **_aims({"semantic_similarity": 0.85, "response_semantic_consistency": 0.85, "context_preservation": 0.7}, COSINE),
    **_aims({"rouge1_f": 0.5, "rouge2_f": 0.3, "rougeL_f": 0.45, "consistency_score": 0.9}),
    **_aims({"bleu": 30.0}, (0.0, 100.0)),
    **_aims({"error_rate": 0.05}, lower=True),
    **_aims({"avg_latency_ms": 3000.0}, None, lower=True),
    **_aims({"accuracy": 0.85, "decision_precision": 0.85, "decision_recall": 0.85, "f1_score": 0.85}),
    **_aims({"cache_hit_rate": 0.4}),
}
"""What the benchmark of «Вопрошалыч» aimed at: one threshold a metric, judges' ratings from 1 to 5, BLEU to 100."""

SETS: Mapping[str, Mapping[str, Band]] = {"specification": SPECIFICATION, "voproshalych": VOPROSHALYCH}


class Chosen(Protocol):
    """The settings, as far as they speak of thresholds."""

    @property
    def threshold_set(self) -> str: ...
    @property
    def thresholds(self) -> Mapping[str, Mapping[str, Band]]: ...
    @property
    def metrics(self) -> MetricsSettings: ...


def names(settings: Chosen) -> tuple[str, ...]:
    """The sets there are: those that come with ragbench, then those of `[thresholds.NAME]`."""
    return tuple(dict.fromkeys((*SETS, *settings.thresholds)))


def bands(settings: Chosen, name: str | None = None) -> dict[str, Band]:
    """The bands of a set (the settings' `threshold_set` if none is named) by metric.

    A table `[thresholds.NAME]` of a set that comes with ragbench replaces single metrics of it, and so does the `band`
    of a metric's own table, in every set that says nothing else of it.
    Raises ValueError, naming the sets there are.
    """
    wanted = settings.threshold_set if name is None else name
    if wanted not in names(settings):
        raise ValueError(f"threshold_set = {wanted!r}: there are {', '.join(names(settings))}")
    own = {name: metric.band for name, metric in settings.metrics.named.items() if metric.band is not None}
    return {**SETS.get(wanted, {}), **own, **settings.thresholds.get(wanted, {})}


def band_of(known: Mapping[str, Band], names: Sequence[str], bounds: tuple[float | None, float | None]) -> Band | None:
    """The band of a metric on the metric's own scale; None where the set has none, or none for such a scale.

    names: all that the metric goes by, its label first. A rating also has the band of the plain name: the
    specification's `faithfulness` is one. bounds: the ends of the metric's scale, as it declares them. Thresholds of a
    rating from 1 to 5 become shares by (s − 1) / 4, and the other way round; between other scales nothing is converted.
    """
    tried = [*names, *(name.removesuffix("_rating") for name in names)]
    band = next((known[name] for name in tried if name in known), None)
    if band is None or band.scale is None or band.scale == bounds:
        return band
    if band.scale == RATING and bounds == UNIT:
        return band.moved(lambda value: (value - 1) / 4, UNIT)
    if band.scale == UNIT and bounds == RATING:
        return band.moved(lambda value: 1 + 4 * value, RATING)
    return None
