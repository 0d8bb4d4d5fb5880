"""What every metric must declare, and that the specification's names are there."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ragbench.core.metric import GRAINS, Metric, metric, parse, registered
from ragbench.metrics import catalogue

TESTS = Path(__file__).parents[1]
CATALOGUE = catalogue()
SPECIFIED = {
    "retrieval": {"hit_rate", "mrr", "recall", "precision", "ndcg", "retrieval_consistency"},
    "embeddings": {
        "total_samples",
        "avg_nn_distance",
        "std_nn_distance",
        "density_score",
        "avg_spread",
        "max_spread",
        "spread_std",
        "effective_dimensionality",
        "avg_pairwise_distance",
        "std_pairwise_distance",
        "min_pairwise_distance",
        "max_pairwise_distance",
    },
    "judged": {
        "context_entity_recall",
        "context_precision",
        "context_recall",
        "faithfulness",
        "noise_sensitivity",
        "response_relevancy",
        "semantic_similarity",
        "factual_correctness",
        "answer_correctness",
        "response_groundedness",
        "rubrics_score",
    },
    "judge": {"consistency_score", "error_rate", "avg_latency_ms", "avg_faithfulness"},
    "text": {
        "rouge1_f",
        "rouge2_f",
        "rougeL_f",
        "bleu",
        "corpus_rouge1_f",
        "corpus_rouge2_f",
        "corpus_rougeL_f",
        "corpus_bleu",
    },
    "ratings": {"faithfulness_rating", "answer_relevance", "answer_correctness_rating", "e2e_score"},
    "answers": {"semantic_similarity", "dot_similarity", "euclidean_distance"},
    "repeats": {"response_exact_match_rate", "response_semantic_consistency"},
    "judge pipeline": {"accuracy", "decision_precision", "decision_recall", "f1_score", "show_decision"},
    "ux": {"cache_hit_rate", "context_preservation", "multi_turn_consistency", "answer_consistency"},
    "sources": {"utilization_rate", "total_chunks", "used_chunks", "unused_chunks"},
}
LEGAL: dict[str, list[Any]] = {
    "aspect": ["correctness", "Is it polite, and (very) short?"],
    "repeats": [1, 3],
    "criterion": ["clarity", "How polite, and how (very) short?"],
    "lowest": [-1, 0.5],
    "highest": [6, 7.5],
    "rubric": [{"1": "rude, cold", "2": "polite"}],
}
"""Of options that refuse what they cannot be."""
OPTIONS = {"str": ["exponential", "binary"], "float": [0.5, 2, 1e-05], "flag": [True, False]}


@pytest.mark.parametrize("tier", SPECIFIED)
def test_the_names_of_the_specification_are_there(tier: str) -> None:
    assert SPECIFIED[tier] <= set(CATALOGUE)


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=str)
def test_a_metric_says_what_a_reader_must_know(each: Metric) -> None:
    assert each.source.strip(), "a source"
    assert each.summary, "a docstring"
    assert each.summary.endswith("."), f"the first line of the docstring is a sentence: {each.summary!r}"
    assert each.grain in GRAINS
    assert each.better in ("higher", "lower", None)
    low, high = each.bounds
    assert low is None or high is None or low < high
    assert all(math.isfinite(end) for end in each.bounds if end is not None)
    assert list(each.cutoffs) == sorted(set(each.cutoffs))
    assert each.takes_cutoff or not each.cutoffs


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=str)
def test_a_metric_has_a_test_that_names_it(each: Metric) -> None:
    module = each.function.__module__.rsplit(".", 1)[1]
    if not each.function.__module__.startswith("ragbench.metrics."):
        pytest.skip("declared by a test")
    path = TESTS / "metrics" / f"test_{module}.py"
    assert path.exists(), f"{path.name} is missing"
    assert each.name in path.read_text(encoding="utf-8"), f"{path.name} does not name {each.name}"


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=str)
def test_labels_are_read_back(each: Metric) -> None:
    variants = [each] + [each @ k for k in (1, 10) if each.takes_cutoff]
    for name in each.legal_options:
        legal = LEGAL.get(name) or [value for values in OPTIONS.values() for value in values]
        variants += [each.with_options(**{name: value}) for value in legal]
    for bound in variants:
        assert parse(bound.label) == bound, bound.label
        assert parse(bound.label).label == bound.label


def test_names_and_published_names_are_unique() -> None:
    names = [each.name for each in CATALOGUE.values()]
    published = [each.published for each in CATALOGUE.values() if each.published]
    assert list(CATALOGUE) == names
    assert len(set(names)) == len(names)
    assert len(set(published)) == len(published)


def test_what_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="first parameter is 'numbers'"):

        @metric(source="nowhere")
        def on_numbers(numbers: list) -> float:
            """Nothing."""
            return 0.0

    with pytest.raises(ValueError, match="recall is declared in"):

        @metric(source="nowhere")
        def recall(ranking: object) -> float:
            """Nothing."""
            return 0.0

    assert "on_numbers" not in registered()


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("ndgc@5", "did you mean ndcg"),
        ("ndcg@0", "a whole number from 1"),
        ("ndcg(gain)@5", "an option is written name=value"),
        ("ndcg(p=1)@5", "ndcg has no option 'p'; it has gain, ideal"),
        ("total_samples@5", "no cut-off"),
        ("ndcg@5@5", "there is no metric"),
        ("", "there is no metric"),
    ],
)
def test_labels_that_mean_nothing(label: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(label)
