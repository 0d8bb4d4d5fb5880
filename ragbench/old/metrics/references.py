"""Several right answers to one question: how a metric that compares with one of them is taken of all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec

from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.metrics.explanation import sentence, spoken

Given = ParamSpec("Given")
Measure = Callable[Concatenate[Sample, Given], Coroutine[Any, Any, Score]]
Measured = Callable[Concatenate[Sample, Given], Coroutine[Any, Any, Score]]
SHOWN = 200  # characters of a reference in a sentence


def best_of_references(measure: Measure[Given]) -> Measured[Given]:
    """Of several references that which gives the highest value, as SQuAD's script and rouge-score's `score_multi`."""
    return _of_references(measure, max)


def lowest_of_references(measure: Measure[Given]) -> Measured[Given]:
    """The same of a metric whose low values are the good ones."""
    return _of_references(measure, min)


def counts_together(measure: Measured[Given]) -> Measured[Given]:
    """A metric that counts over all references itself."""
    measure.references = "together"  # type: ignore[attr-defined]
    return measure


def shown_together(measure: Measured[Given]) -> Measured[Given]:
    """A metric whose judge sees all references, as `told` writes them."""
    measure.references = "shown"  # type: ignore[attr-defined]
    return measure


def of(sample: Sample) -> Sequence[str]:
    """All references of a sample; none where it has none."""
    return sample.references or (() if sample.reference is None else (sample.reference,))


def told(sample: Sample) -> str:
    """All references as one text, a line each; empty where there is none."""
    return "\n".join(of(sample))


def _of_references(measure: Measure[Given], best: Callable[..., Score]) -> Measured[Given]:
    @functools.wraps(measure)
    async def inside(sample: Sample, /, *args: Given.args, **kwargs: Given.kwargs) -> Score:
        if len(sample.references) < 2:
            return await measure(sample, *args, **kwargs)
        each = [replace(sample, reference=reference, references=()) for reference in sample.references]
        scores = await gather([measure(variant, *args, **kwargs) for variant in each])
        there = [score for score in scores if score.status is Status.OK]
        if not there:
            return scores[0]
        best_score = best(there, key=lambda score: score.value)
        chosen = sample.references[next(place for place, score in enumerate(scores) if score is best_score)]
        explanation = [
            *best_score.detail.get("explanation", ()),
            sentence("Best of {n} references: {reference}", n=len(scores), reference=chosen[:SHOWN]),
        ]
        kept = [
            {"reference": reference, "value": score.value if score.status is Status.OK else None}
            for reference, score in zip(sample.references, scores, strict=True)
        ]
        detail = {**best_score.detail, "explanation": explanation, "references": kept}
        return replace(best_score, detail=detail, reason=spoken(explanation), seconds=_seconds(scores))

    inside.references = "best"  # type: ignore[attr-defined]
    return inside


def _seconds(scores: Sequence[Score]) -> float | None:
    taken = [score.seconds for score in scores if score.seconds is not None]
    return sum(taken) if taken else None
