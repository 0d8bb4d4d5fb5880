"""Ranking metrics against values worked out by hand, and what must hold for every ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.metric import Metric, parse, registered
from ragbench.old.core.types import Chunk, Ranking, Sample, Status
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import (
    average_precision,
    bpref,
    cells,
    evaluate,
    hit_rate,
    mrr,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
    retrieval_consistency,
)

RANKED = ("hit_rate", "mrr", "recall", "precision", "ndcg", "average_precision", "bpref", "rbp", "r_precision")


def ranking(*rows: tuple[str, dict[str, float]]) -> Ranking:
    """`("xaby", {"a": 1})`: one letter a document."""
    return ranking_arrays.from_lists([list(documents) for documents, _ in rows], [known for _, known in rows])


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (hit_rate @ 1, 0.0),
        (hit_rate @ 2, 1.0),
        (mrr, 1 / 2),
        (mrr @ 1, 0.0),
        (recall @ 1, 0.0),
        (recall @ 3, 1 / 3),
        (recall @ 5, 2 / 3),
        (recall, 2 / 3),
        (precision @ 3, 1 / 3),
        (precision @ 5, 2 / 5),
        (precision @ 10, 2 / 10),
        (precision, 2 / 5),
        (average_precision, (1 / 2 + 2 / 4) / 3),
        (average_precision @ 3, (1 / 2) / 3),
        (r_precision, 1 / 3),
        (rbp, 0.2 * (0.8 + 0.8**3)),
        (rbp.with_options(p=0.5), 0.5 * (0.5 + 0.125)),
        (ndcg @ 3, (1 / math.log2(3)) / (1 + 1 / math.log2(3) + 1 / 2)),
        (ndcg, (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2)),
    ],
    ids=lambda value: value.label if isinstance(value, Metric) else None,
)
def test_one_list_by_hand(bound: Metric, expected: float) -> None:
    made = ranking(("xaybz", {"a": 1, "b": 1, "c": 1, "x": 0}))
    assert bound(made) == pytest.approx([expected], abs=1e-15)


def test_graded_gains_linear_and_exponential() -> None:
    made = ranking(("cbax", {"a": 3, "b": 2, "c": 1}))
    linear = (1 + 2 / math.log2(3) + 3 / 2) / (3 + 2 / math.log2(3) + 1 / 2)
    exponential = (1 + 3 / math.log2(3) + 7 / 2) / (7 + 3 / math.log2(3) + 1 / 2)
    assert ndcg(made, k=5) == pytest.approx([linear], abs=1e-15)
    assert parse("ndcg(gain=exponential)@5")(made) == pytest.approx([exponential], abs=1e-15)


def test_precision_is_over_the_cut_off_however_short_the_list_is() -> None:
    assert parse("precision@3")(ranking(("a", {"a": 1}))) == pytest.approx([1 / 3])


def test_bpref_counts_only_judged_documents() -> None:
    # R = 2, N = 3: above a stands one irrelevant document (x), above b two (x, y); u was never judged
    made = ranking(("uxayb", {"a": 1, "b": 1, "x": 0, "y": 0, "z": 0}))
    assert bpref(made) == pytest.approx([(1 - 1 / 2 + 1 - 2 / 2) / 2])
    # nothing judged irrelevant: what is retrieved counts in full
    assert bpref(ranking(("xa", {"a": 1, "b": 1}))) == pytest.approx([1 / 2])
    capped = ranking(("nma", {"a": 1, "n": 0, "m": 0}))
    assert bpref(capped).tolist() == [0.0], "more irrelevant ones above than relevant ones there are cost no more"


def test_level_moves_the_border_of_relevance() -> None:
    made = ranking(("abx", {"a": 1, "b": 2, "c": 3}))
    assert mrr(made) == pytest.approx([1.0])
    assert parse("mrr(level=2)")(made) == pytest.approx([1 / 2])
    assert parse("recall(level=2)@10")(made) == pytest.approx([1 / 2])
    # at level 2, a is judged irrelevant, and stands above b
    assert bpref(made, level=2) == pytest.approx([(1 - 1 / 1) / 2])
    assert np.isnan(hit_rate(made, k=5, level=4)).all()
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="above 0"):
            recall(made, k=1, level=wrong)


@pytest.mark.parametrize("name", RANKED)
def test_no_relevant_documents_is_no_value_and_no_answer_is_zero(name: str) -> None:
    made = ranking(("ab", {"x": 0}), ("", {"a": 1}), ("ab", {}), ("xyz", {"a": 2}))
    values = parse(name)(made)
    assert np.isnan(values[[0, 2]]).all()
    assert values[[1, 3]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", RANKED)
def test_a_set_without_any_documents_is_measured(name: str) -> None:
    assert parse(name)(ranking(("", {"a": 1}), ("", {}))).tolist()[:1] == [0.0]
    assert parse(name)(ranking_arrays.from_lists([], [])).shape == (0,)


def test_wrong_options_are_refused() -> None:
    made = ranking(("a", {"a": 1}))
    with pytest.raises(ValueError, match="linear or exponential"):
        ndcg(made, gain="square")
    with pytest.raises(ValueError, match="graded or binary"):
        ndcg(made, ideal="flat")
    with pytest.raises(ValueError, match=r"p = 1.0: a number above 0 and below 1 is expected"):
        rbp(made, p=1.0)
    with pytest.raises(ValueError, match="grain"):
        evaluate(made, [retrieval_consistency])
    with pytest.raises(ValueError, match=r"did you mean .*recall"):
        evaluate(made, ["recal@5"])


documents = st.lists(st.integers(0, 12), max_size=14)
judgements = st.dictionaries(st.integers(0, 12), st.integers(-2, 4), max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(documents, judgements), min_size=1, max_size=6), st.integers(1, 15))
def test_every_value_is_within_its_bounds(rows: list[tuple[list[int], dict[int, int]]], k: int) -> None:
    made = ranking_arrays.from_lists([[str(d) for d in row] for row, _ in rows], [_named(known) for _, known in rows])
    for name in RANKED:
        metric = parse(name)
        for bound in (metric, metric @ k) if metric.takes_cutoff else (metric,):
            values = bound(made)
            measured = values[~np.isnan(values)]
            assert ((measured >= 0) & (measured <= 1 + 1e-12)).all(), bound
    exponential = parse("ndcg(gain=exponential)")(made)
    assert not (exponential > 1 + 1e-12).any()


@settings(deadline=None)
@given(documents, judgements)
def test_ideal_order_is_perfect(row: list[int], known: dict[int, int]) -> None:
    best = sorted((d for d, gain in known.items() if gain > 0), key=lambda d: -known[d])
    made = ranking_arrays.from_lists([[str(d) for d in best]], [_named(known)])
    for name in ("ndcg", "average_precision", "recall", "r_precision", "bpref", "mrr", "precision"):
        value = parse(name)(made)[0]
        assert math.isnan(value) if not best else value == pytest.approx(1.0)


@settings(deadline=None)
@given(st.lists(st.tuples(documents, judgements), min_size=1, max_size=30))
def test_cells_give_what_each_row_gives(rows: list[tuple[list[int], dict[int, int]]]) -> None:
    made = ranking_arrays.from_lists([[str(d) for d in row] for row, _ in rows], [_named(known) for _, known in rows])
    found = cells(made)
    if found is None:  # too many possible rows to number
        return
    assert found.counts.sum() == len(made)
    for name in RANKED:
        np.testing.assert_array_equal(parse(name)(found.ranking)[found.inverse], parse(name)(made), err_msg=name)


def test_many_questions_collapse_to_few_cells_with_equal_values() -> None:
    rng = np.random.default_rng(7)
    retrieved, relevant = rng.integers(0, 30, (5000, 10)).astype(str).tolist(), rng.integers(0, 30, 5000).astype(str)
    made = ranking_arrays.from_lists(retrieved, [{each: 1.0} for each in relevant.tolist()])
    labels = [f"{name}@{k}" for name in ("hit_rate", "recall", "precision", "ndcg") for k in (1, 5, 10)] + ["mrr"]
    together = evaluate(made, labels)
    found = cells(made)
    assert found is not None
    assert len(found.counts) < 100
    for label in labels:
        np.testing.assert_array_equal(together[label], parse(label)(made), err_msg=label)


def test_rows_that_differ_only_in_the_order_of_their_grades_are_two_cells() -> None:
    """The same ideal and length, no gain of 0: ndcg is 1 for one order and below it for the other."""
    made = ranking(("ab", {"a": 2, "b": 1}), ("ba", {"a": 2, "b": 1}), ("ab", {"a": 2, "b": 1}))
    found = cells(made)
    assert found is not None
    assert sorted(found.counts.tolist()) == [1, 2]
    swapped = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert parse("ndcg")(found.ranking)[found.inverse] == pytest.approx([1, swapped, 1], abs=1e-12)


def test_questions_without_relevant_documents_can_count_zero() -> None:
    made = ranking(("a", {"a": 1}), ("a", {}))
    assert np.nanmean(evaluate(made, ["mrr"])["mrr"]) == 1.0
    assert evaluate(made, ["mrr"], without_relevant="zero")["mrr"].mean() == 0.5


def repeats(*rows: str | None) -> list[Sample]:
    return [Sample("q", contexts=None if row is None else tuple(Chunk(name, name) for name in row)) for row in rows]


def test_consistency_is_the_share_of_equal_repeats() -> None:
    score = retrieval_consistency(repeats("abc", "abc", "acb", "abd"))
    assert score.value == pytest.approx(1 / 3)
    assert score.detail["differing_runs"] == [3, 4]
    assert "1 / 3" in score.reason
    assert (retrieval_consistency @ 1)(repeats("abc", "abc", "acb", "abd")).value == 1.0
    assert (retrieval_consistency @ 2)(repeats("abc", "abc", "acb", "abd")).value == pytest.approx(2 / 3)
    assert retrieval_consistency(repeats("abc", "acb", "acb")).value == 0.0  # the first run is what others must equal
    assert retrieval_consistency(repeats("", "")).value == 1.0


@pytest.mark.parametrize("turns", [repeats("abc"), repeats(), repeats("abc", None)])
def test_one_run_is_not_consistent_but_unmeasured(turns: list[Sample]) -> None:
    score = retrieval_consistency(turns)
    assert math.isnan(score.value)
    assert score.status is Status.MISSING_FIELD


def test_published_cutoffs() -> None:
    assert {name: registered()[name].cutoffs for name in ("hit_rate", "mrr", "recall", "precision", "ndcg")} == {
        "hit_rate": (1, 5, 10),
        "mrr": (),
        "recall": (1, 3, 5, 10),
        "precision": (1, 3, 5, 10),
        "ndcg": (5, 10),
    }


def _named(known: dict[int, int]) -> dict[str, float]:
    return {str(document): float(gain) for document, gain in known.items()}


def test_inferred_average_precision_reads_a_sampled_pool() -> None:
    def value(name: str, known: dict[str, float]) -> float:
        return float(evaluate(ranking_arrays.from_lists([["a", "x", "b", "y", "c"]], [known]), [parse(name)])[name][0])

    whole = {"a": 0.0, "x": 0.0, "b": 2.0, "y": 0.0, "c": 1.0}
    assert value("inferred_ap", whole) == pytest.approx(value("average_precision", whole), abs=1e-4)
    sampled = {"a": -1.0, "x": 0.0, "b": 2.0, "y": -1.0, "c": 1.0}
    # b at rank 3: 1/3 + 2/3 · 0 of 1; c at rank 5: 1/5 + 4/5 · (1 of 2 judged above)
    assert value("inferred_ap", sampled) == pytest.approx((1 / 3 + 1 / 5 + 4 / 5 / 2) / 2, abs=1e-4)
