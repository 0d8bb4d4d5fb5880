"""ragbench's ragas variants against values that ragas 0.4.3 itself computed from the same scripted verdicts.

The values were kept by `benchmarks/ragas_metrics.py`; the file says with which version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old.metrics import catalogue
from tests.old.metrics import ragas_cases
from tests.old.metrics.ragas_cases import allowed, distance
from tests.old.metrics.test_catalogue import SPECIFIED

KEPT = json.loads((Path(__file__).with_name("ragas_values.json")).read_text(encoding="utf-8"))
WITH_VARIANT = {
    "answer_accuracy",
    "context_relevance",
    "response_groundedness",
    "response_relevancy",
    "simple_criteria",
    "answer_correctness",
    "context_entity_recall",
    "context_precision",
    "context_recall",
    "factual_correctness",
    "faithfulness",
    "semantic_similarity",
}


def test_the_values_are_those_of_ragas_for_these_very_scripts() -> None:
    assert KEPT["made_by"].endswith("ragas 0.4.3")
    voted = {"answer_accuracy", "aspect_critique", "context_relevance", "simple_criteria"}
    assert set(KEPT["metrics"]) == SPECIFIED["judged"] | voted == set(ragas_cases.MAKERS)
    drawn = json.loads(json.dumps(ragas_cases.cases()))
    stored = [[metric, script] for metric, rows in KEPT["metrics"].items() for script, _ in rows]
    assert stored == drawn


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)], ids=["one in 3", "all"])
@pytest.mark.parametrize("metric", sorted(ragas_cases.MAKERS))
def test_equal_to_ragas(metric: str, step: int) -> None:
    rows = KEPT["metrics"][metric]
    assert len(rows) >= 100
    assert len({theirs for _, theirs in rows[::step]}) > (1 if metric == "aspect_critique" else 2), "all over the scale"
    for script, theirs in rows[::step]:
        assert distance(ragas_cases.ours(metric, script), theirs) <= allowed(metric), script


@pytest.mark.parametrize(("value", "rounded"), [(0.025, 0.02), (0.035, 0.04), (0.125, 0.12), (0.375, 0.38)])
def test_it_rounds_as_ragas_does(value: float, rounded: float) -> None:
    """NumPy rounds the hundredfold, halves to the even side; Python's own would make 0.03 of 0.025."""
    from ragbench.old.metrics.factual_correctness import _rounded

    assert _rounded(value) == rounded == float(np.round(value, 2))


def test_every_variant_is_held_to_ragas() -> None:
    named = {each.name for each in catalogue().values() if "variant" in each.legal_options}
    assert named == WITH_VARIANT


@pytest.mark.parametrize("metric", sorted(WITH_VARIANT))
def test_the_specification_counts_otherwise(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variant is there because the two differ: the same verdicts, and another value (or none) for some of them."""
    value = ragas_cases._value

    async def specified(name: str, sample: Any, embedder: Any = None, *, options: Any, **said: Any) -> Any:
        return await value(name, sample, embedder, options={**options, "variant": "specification"}, **said)

    monkeypatch.setattr(ragas_cases, "_value", specified)
    found = ((ragas_cases.ours(metric, script), theirs) for script, theirs in KEPT["metrics"][metric])
    assert any(distance(ours, theirs) > 1e-12 for ours, theirs in found), "up to the first that differs"


def test_an_unknown_variant_is_refused() -> None:
    for name in WITH_VARIANT:
        with pytest.raises(ValueError, match="specification or ragas"):
            catalogue()[name].with_options(variant="mine")
