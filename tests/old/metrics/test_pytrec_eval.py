"""Metrics of rankings beside pytrec_eval's and ir_measures' numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.metric import parse
from ragbench.old.data import trec
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from tests.old.data.trec.trec_files import retrieved

PEERS = {"mrr": "recip_rank", "average_precision": "map", "bpref": "bpref", "r_precision": "Rprec", "ndcg": "ndcg",
         "inferred_ap": "infAP"}  # fmt: skip


for _k in (1, 3, 5, 10):
    PEERS |= {f"recall@{_k}": f"recall_{_k}", f"precision@{_k}": f"P_{_k}"}
    PEERS |= {f"hit_rate@{_k}": f"success_{_k}", f"ndcg@{_k}": f"ndcg_cut_{_k}"}


@pytest.mark.parametrize("level", [1, 2])
def test_1000_random_rankings_against_pytrec_eval(level: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(level)
    names = np.array([f"d{number}" for number in range(40)])
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(1000):
        # never negative grades alone: pytrec_eval does not come back from them
        judged = rng.choice(names, rng.integers(1, 20), replace=False)
        qrels[f"q{number}"] = {"never retrieved": 0} | {str(d): int(rng.integers(-2, 4)) for d in judged}
        if rng.random() < 0.95:
            found = rng.choice(names, rng.integers(1, 30), replace=False)
            scores = rng.choice([0.5, 0.5 + 1e-9, 1.0, 2.0, rng.normal(), rng.normal()], len(found))
            run[f"q{number}"] = {str(d): float(score) for d, score in zip(found, scores, strict=True)}
    asked = {"map", "bpref", "ndcg", "Rprec", "recip_rank", "infAP"}
    asked |= {f"{measure}.1,3,5,10" for measure in ("recall", "P", "success")}
    peer = pytrec_eval.RelevanceEvaluator(qrels, asked | {"ndcg_cut.1,3,5,10"}, relevance_level=level).evaluate(run)
    counted = [query for query in qrels if query in run]
    assert set(counted) == set(peer)
    made = ranking_arrays.from_lists(
        [trec.trec_eval_order(retrieved(**run[query])).documents.to_pylist() for query in counted],
        [qrels[query] for query in counted],
    )
    for label, theirs in PEERS.items():
        metric = parse(label)
        bound = metric.with_options(level=level) if "level" in metric.legal_options else metric
        values = evaluate(made, [bound], without_relevant="zero")[bound.label]
        expected = [peer[query][theirs] for query in counted]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=label)


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True),
)
def test_a_grade_below_0_is_no_judgement(known: dict[str, int], found: list[str]) -> None:
    """As TREC has it: −1 pooled and not judged, −2 not pooled."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    known |= {"never retrieved": 0}  # of negative grades alone pytrec_eval does not come back
    run = {"q": {document: float(-place) for place, document in enumerate(found)}}
    peer = pytrec_eval.RelevanceEvaluator({"q": known}, {"bpref", "map", "Rprec", "ndcg"}).evaluate(run)["q"]
    labels = {"bpref": "bpref", "average_precision": "map", "r_precision": "Rprec", "ndcg": "ndcg"}
    made = ranking_arrays.from_lists([found], [known])
    column = ranking_arrays.from_columns([pa.array(found)], [known])
    for label, theirs in labels.items():
        expected = pytest.approx(peer[theirs], abs=1e-12)
        for one in (made, column):
            assert evaluate(one, [label], without_relevant="zero")[label][0] == expected, label


def test_bpref_passes_over_what_is_pooled_and_not_judged() -> None:
    made = ranking_arrays.from_lists([["D1", "D2"]], [{"D1": -1, "D2": 1}])
    assert list(evaluate(made, ["bpref"])["bpref"]) == [1.0]
    assert list(evaluate(ranking_arrays.from_lists([["D1", "D2"]], [{"D1": 0, "D2": 1}]), ["bpref"])["bpref"]) == [0.0]


def test_duplicates_agree_with_pytrec_eval_on_the_first_place() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(5)
    for _ in range(200):
        row = [f"d{number}" for number in rng.integers(0, 8, 12)]
        known = {f"d{number}": int(rng.integers(0, 3)) for number in range(0, 10, 2)}
        made = ranking_arrays.from_lists([row], [known])
        once = {document: float(-place) for place, document in enumerate(dict.fromkeys(row))}
        peer = pytrec_eval.RelevanceEvaluator({"q": known}, {"map", "ndcg_cut.5", "P.5"}).evaluate({"q": once})["q"]
        for label, theirs in (("average_precision", "map"), ("ndcg@5", "ndcg_cut_5"), ("precision@5", "P_5")):
            value = evaluate(made, [label], without_relevant="zero")[label][0]
            assert value == pytest.approx(peer[theirs], abs=1e-12), (label, row, known)


def test_the_share_of_judged_documents_is_that_of_ir_measures() -> None:
    qrels: list[dict[str, float]] = [{"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, {"D0": 1, "D3": 2, "D5": 2}]
    run = [["D0", "D2", "D3", "D1", "D4"], ["D1", "D3", "D2", "D4"]]
    made = ranking_arrays.from_lists(run, qrels)
    expected = {"judged": [1, 1 / 4], "judged@1": [1, 0], "judged@2": [1, 1 / 2], "judged@3": [1, 1 / 3],
                "judged@1000": [1, 1 / 4]}  # fmt: skip
    for label, values in expected.items():
        np.testing.assert_allclose(evaluate(made, [label])[label], values, rtol=0, atol=1e-12, err_msg=label)
    gaps = ranking_arrays.from_lists([["a"], [], ["a", "b"]], [{}, {"a": 1}, {"a": -1, "b": 0}])
    np.testing.assert_array_equal(evaluate(gaps, ["judged"])["judged"], [np.nan, np.nan, 0.5])
