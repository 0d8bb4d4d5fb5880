"""What every metric must declare, and that the specification's names are there."""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

from ragbench.old.core.expectations import fits
from ragbench.old.core.metric import GRAINS, Metric, metric, parse, registered, withdraw
from ragbench.old.metrics import catalogue

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
CANDIDATES: list[Any] = [
    *(True, False, None, 1, 3, 7.5, 0.5, 1e-05, "Is it polite, and (very) short?", "correctness"),
    {"1": "rude, cold", "2": "polite"},
]
STRANGE: list[Any] = ["banana", "false", 1.5, 7, -3, True, math.nan, math.inf, [], {"a": 1}, b"0"]
"""What a person may write in place of a value that is meant."""


def hint(each: Metric, name: str) -> Any:
    written = inspect.signature(each.function).parameters[name].annotation
    return eval(written, inspect.unwrap(each.function).__globals__)


def legal_of(each: Metric, name: str) -> list[Any]:
    """Values that an option can have: of its annotation where that lists them, else those that are of its type."""
    if get_origin(expected := hint(each, name)) is Literal:
        return list(get_args(expected))
    return [value for value in CANDIDATES if fits(expected, value)]


OPTIONS = [(each, name) for each in CATALOGUE.values() for name in each.legal_options if not each.is_users]


@pytest.mark.parametrize(("each", "name"), OPTIONS, ids=str)
def test_an_option_is_checked_where_it_is_bound(each: Metric, name: str) -> None:
    """By its annotation, and whichever way it is given: nothing is truthy, and nothing fails later."""
    expected, words = hint(each, name), each.legal_values[name]
    assert words, "it says what is legal"
    assert legal_of(each, name), "and something is"
    written = inspect.signature(each.function).parameters[name].default
    assert fits(expected, written), "its default is legal"
    refused = 0
    for value in STRANGE:
        if fits(expected, value):
            continue
        refused += 1
        said = re.escape(f"{each.name}: {name} = {value!r}: {words} is expected")
        with pytest.raises(ValueError, match=said):
            each.with_options(**{name: value})
        with pytest.raises(ValueError, match=said):
            each(None, **{name: value})
    assert refused >= 5


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("response_groundedness(shortcuts=banana)", "shortcuts = 'banana': True or False is expected"),
        ("chrf(beta=high)", "beta = 'high': a number above 0 is expected"),
        ("rbp(p=1)", "p = 1: a number above 0 and below 1 is expected"),
        ("semantic_similarity(threshold=0,8)", "an option is written name=value"),
        ("response_relevancy(questions=21)", "questions = 21: a whole number from 1 to 20 is expected"),
        ("mrr(level=relevant)", "level = 'relevant': a number above 0 or None is expected"),
        ("ndcg(gain=2)", "gain = 2: linear or exponential is expected"),
        ("bleu(smooth_value=1)", "it is of smooth = floor or add-k alone"),
        ("answer_correctness(factual_weight=1)", "given together"),
    ],
)
def test_a_label_with_a_value_that_an_option_cannot_have(label: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse(label)


@pytest.mark.parametrize("word", ["false", "False"])
def test_truth_is_written_as_in_json_or_in_python(word: str) -> None:
    assert parse(f"response_groundedness(shortcuts={word})").options == {"shortcuts": False}


def test_options_of_a_function_of_ones_own_are_checked_by_its_annotations() -> None:
    @metric(source="mine")
    def mine_with_options(  # type: ignore[no-untyped-def]
        sample: Any,
        *,
        strict: bool = False,
        mode: Literal["a", "b"] = "a",
        width: tuple[int, int] = (1, 2),
        free=0,
        odd: NowhereToBeFound = None,  # type: ignore[name-defined]  # noqa: F821
    ) -> float:
        """Whatever."""
        return float(strict)

    try:
        for label in ("strict=banana", "mode=c", "width=[1]", 'width=["a", "b"]'):
            with pytest.raises(ValueError, match=f"{label.partition('=')[0]} = .* is expected"):
                parse(f"mine_with_options({label})")
        bound = parse("mine_with_options(strict=true,mode=b,width=[3, 4],free=banana,odd=banana)")
        assert bound(None) == 1.0
        assert parse(bound.label) == bound
        assert bound.with_options(free=np.int64(3)).options["free"] == 3
    finally:
        withdraw("mine_with_options")


@pytest.mark.parametrize("tier", SPECIFIED)
def test_the_names_of_the_specification_are_there(tier: str) -> None:
    assert SPECIFIED[tier] <= set(CATALOGUE)


def test_a_metric_says_what_a_reader_must_know() -> None:
    for each in CATALOGUE.values():
        assert each.source.strip(), f"{each}: a source"
        assert each.summary, f"{each}: a docstring"
        assert each.summary.endswith("."), f"{each}: the first line of the docstring is a sentence: {each.summary!r}"
        assert each.grain in GRAINS, each
        assert each.better in ("higher", "lower", None), each
        low, high = each.bounds
        assert low is None or high is None or low < high, each
        assert all(math.isfinite(end) for end in each.bounds if end is not None), each
        assert list(each.cutoffs) == sorted(set(each.cutoffs)), each
        assert each.takes_cutoff or not each.cutoffs, each


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=str)
def test_labels_are_read_back(each: Metric) -> None:
    variants = [each] + [each @ k for k in (1, 10) if each.takes_cutoff]
    for name in each.legal_options:
        for value in legal_of(each, name):
            with contextlib.suppress(ValueError):  # it goes together with another
                variants.append(each.with_options(**{name: value}))
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
