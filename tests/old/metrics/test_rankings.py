"""Builders of rankings: the rules of every way in, and published cases."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.types import Chunk, Hit, Question
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate


def test_duplicates_collapse_to_the_first_place() -> None:
    made = ranking_arrays.from_lists([["a", "a", "x", "a", "b"]], [{"a": 1, "b": 2}])
    assert made.gains.tolist() == [[1, 0, 2]]
    assert made.lengths.tolist() == [3]
    assert made.ideal.tolist() == [[2, 1]]


def test_negative_gains_count_zero_and_are_no_judgements() -> None:
    made = ranking_arrays.from_lists([["n", "a", "u", "z"]], [{"a": 1, "n": -2, "z": 0}])
    assert made.gains.tolist() == [[0, 1, 0, 0]]
    assert made.judged is not None
    assert made.judged.tolist() == [[False, True, False, True]]
    assert made.nonrelevant is not None
    assert made.nonrelevant.tolist() == [1]


def test_scores_sort_and_ties_keep_the_given_order_and_are_counted() -> None:
    made = ranking_arrays.from_lists([["a", "b", "c", "d"]], [{"b": 1, "c": 2}], scores=[[0.5, 0.5, 0.9, 0.5]])
    assert made.gains.tolist() == [[2, 0, 1, 0]]
    assert made.ties is not None
    assert made.ties.tolist() == [2]


def test_depth_cuts_after_duplicates_are_gone() -> None:
    made = ranking_arrays.from_lists([["a", "a", "b", "c"]], [{"b": 1}], depth=2)
    assert made.gains.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([["a"]], []), {}, "one a question"),
        (([["a"]], [{"a": math.nan}]), {}, "gain is NaN"),
        (([["a"]], [{"b": math.nan}]), {}, "gain is NaN"),
        (([["a", "b"]], [{}]), {"scores": [[1.0]]}, "1 scores for 2 documents"),
        (([["a"]], [{}]), {"scores": [[math.nan]]}, "score is NaN"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking_arrays.from_lists(*arguments, **options)


def hits(*chunks: tuple[str, str | None], similarities: tuple[float, ...] | None = None) -> list[Hit]:
    return [
        Hit(Chunk(name, name, url), None if similarities is None else similarities[place])
        for place, (name, url) in enumerate(chunks)
    ]


def test_pages_take_the_first_place_and_the_highest_gain_of_their_chunks() -> None:
    question = Question("q", "?", relevant={"a2": 1, "a3": 3, "b1": 2})
    found = {"q": hits(("c1", "C"), ("a1", "A"), ("b1", "B"), ("a2", "A"), ("lone", None))}
    pages = {"a3": "A"}
    made = ranking_arrays.from_questions([question], found, unit="url", pages=pages)
    assert made.gains.tolist() == [[0, 3, 2, 0]]
    assert made.ideal.tolist() == [[3, 2]]
    assert made.lengths.tolist() == [4]
    by_chunk = ranking_arrays.from_questions([question], found)
    assert by_chunk.gains.tolist() == [[0, 0, 2, 1, 0]]


def test_a_label_of_the_page_itself_wins() -> None:
    question = Question("q", "?", relevant={"a1": 3}, relevant_urls={"A": 1, "B": 2})
    made = ranking_arrays.from_questions([question], {"q": hits(("a1", "A"), ("b1", "B"))}, unit="url")
    assert made.gains.tolist() == [[1, 2]]


def test_questions_keep_their_order_and_the_unanswered_have_no_documents() -> None:
    questions = [Question("2", "?", relevant={"a": 1}), Question("1", "?", relevant={"a": 1})]
    made = ranking_arrays.from_questions(questions, {"1": hits(("a", None))})
    assert made.lengths.tolist() == [0, 1]
    assert made.gains.tolist() == [[0], [1]]


def test_similarities_are_counted_for_ties_but_do_not_sort() -> None:
    question = Question("q", "?", relevant={"b": 1})
    found = {"q": hits(("a", None), ("b", None), ("c", None), similarities=(0.3, 0.9, 0.9))}
    made = ranking_arrays.from_questions([question], found)
    assert made.gains.tolist() == [[0, 1, 0]]
    assert made.ties is not None
    assert made.ties.tolist() == [1]


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="chunk or url"):
        ranking_arrays.from_questions([], {}, unit="page")  # type: ignore[arg-type]


DEFINITIONS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str]]] = {
    # definition: options of the builder, options of the evaluation, names that replace the oracle's
    "ragbench": ({}, {}, {}),
    "ragbench_keep_norel_as_zero": ({}, {"without_relevant": "zero"}, {}),
    "ragbench_mrr_at_10": ({}, {}, {"mrr": "mrr@10"}),
    "ndcg_exponential_gain": ({}, {}, {f"ndcg@{k}": f"ndcg(gain=exponential)@{k}" for k in (5, 10)}),
    "seed_literal": (
        {"raw": True},
        {"without_relevant": "zero"},
        {f"ndcg@{k}": f"ndcg(ideal=binary)@{k}" for k in (5, 10)},
    ),
}


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_the_awkward_cases_of_the_oracle(definition: str, shared_data: Callable[[str], Path]) -> None:
    oracle = json.loads(shared_data("retrieval-oracle/oracle.json").read_text())
    builder, evaluation, names = DEFINITIONS[definition]
    labels = {name: names.get(name, name.replace("hit@", "hit_rate@")) for name in oracle["metrics"]}
    for case in oracle["cases"]:
        qrels, run = case["input"]["qrels"], case["input"]["run"]
        made = ranking_arrays.from_lists(
            [[document for document, _ in run.get(query, ())] for query in qrels],
            list(qrels.values()),
            scores=[[score for _, score in run.get(query, ())] for query in qrels],
            **builder,
        )
        values = evaluate(made, labels.values(), **evaluation)
        expected = case["expected"][definition]
        measured = [query for place, query in enumerate(qrels) if not np.isnan(values["hit_rate@1"][place])]
        assert len(measured) == expected["n"], case["name"]
        for name, label in labels.items():
            assert np.nanmean(values[label]) == pytest.approx(expected["mean"][name], abs=1e-9), (case["name"], name)
            for query, found in zip(qrels, values[label], strict=True):
                if query in measured:
                    wanted = expected["per_query"][query][name]
                    assert found == pytest.approx(wanted, abs=1e-9), (case["name"], query, name)


@pytest.mark.parametrize("definition", ["ranx", "ranx_comparable"])
def test_oracle_as_ranx_has_it(definition: str, shared_data: Callable[[str], Path]) -> None:
    """A dictionary keeps the last score of a copy, and a question without relevant documents counts 0."""
    oracle = json.loads(shared_data("retrieval-oracle/oracle.json").read_text())
    seen = 0
    for case in oracle["cases"]:
        expected = case["expected"][definition]
        if "error" in expected:
            continue
        qrels, rows = (
            case["input"]["qrels"],
            [dict(case["input"]["run"].get(query, ())) for query in case["input"]["qrels"]],
        )
        made = ranking_arrays.from_lists(
            [list(row) for row in rows], list(qrels.values()), scores=[list(row.values()) for row in rows]
        )
        for name in oracle["metrics"]:
            label = name.replace("hit@", "hit_rate@")
            mean = evaluate(made, [label], without_relevant="zero")[label].mean()
            assert mean == pytest.approx(expected["mean"][name], abs=1e-9), (case["name"], name)
            seen += 1
    assert seen >= 9 * 14
