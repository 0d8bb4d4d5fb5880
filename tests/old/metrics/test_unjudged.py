"""What nobody judged: how much of a ranking it is, what it could change, and what a sampled pool tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.metric import parse
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays import all_relevant, condensed, from_lists, unjudged

catalogue()
LISTS = [["a", "x", "b", "y", "c"], ["x", "y"]]
GRADES = [{"a": 0.0, "b": 2.0, "c": 1.0, "z": 1.0}, {"z": 1.0}]
grades = st.dictionaries(st.integers(0, 30).map(str), st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=1)
lists = st.lists(st.integers(0, 30).map(str), unique=True, max_size=25)


def value(name: str, ranking: object) -> list[float]:
    return evaluate(ranking, [parse(name)])[parse(name).label].tolist()  # type: ignore[arg-type]


def test_by_hand() -> None:
    ranking = from_lists(LISTS, GRADES)
    assert unjudged(ranking).tolist() == [[False, True, False, True, False], [True, True, False, False, False]]
    assert unjudged(ranking, 2).sum() == 3
    assert value("mrr", ranking) == [1 / 3, 0.0]
    assert value("mrr", all_relevant(ranking)) == [1 / 2, 1.0]
    assert value("recall@3", ranking) == [1 / 3, 0.0]
    assert value("recall@3", all_relevant(ranking, 3)) == [2 / 4, 2 / 3]
    assert value("mrr", condensed(ranking)) == [1 / 2, 0.0], "a, b, c"
    assert value("recall@2", condensed(ranking)) == [1 / 3, 0.0]


@given(st.lists(st.tuples(lists, grades), min_size=1, max_size=5))
def test_what_is_unjudged_bounds_what_knows_no_ideal(rows: list[tuple[list[str], dict[str, float]]]) -> None:
    ranking = from_lists([row for row, _ in rows], [known for _, known in rows])
    for name in ("mrr@10", "hit_rate@3", "precision@5", "recall@10"):
        low, high = np.array(value(name, ranking)), np.array(value(name, all_relevant(ranking, 10)))
        assert (np.isnan(low) | (low <= high + 1e-12)).all()
    full = [{**dict.fromkeys(row, 0.0), **{d: max(g, 0.0) for d, g in known.items()}} for row, known in rows]
    judged = from_lists([row for row, _ in rows], full)
    assert not unjudged(judged).any()
    for name in ("mrr", "ndcg@10", "recall@5"):
        np.testing.assert_array_equal(value(name, all_relevant(judged)), value(name, judged))
        np.testing.assert_array_equal(value(name, condensed(judged)), value(name, judged))


@given(st.lists(st.tuples(lists, grades), min_size=1, max_size=5))
def test_inferred_ap_is_trec_evals(rows: list[tuple[list[str], dict[str, float]]]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {f"q{n}": {d: int(g) for d, g in known.items()} for n, (_, known) in enumerate(rows)}
    run = {f"q{n}": {d: float(-place) for place, d in enumerate(row)} for n, (row, _) in enumerate(rows) if row}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}).evaluate(run)
    made = value("inferred_ap", from_lists([row for row, _ in rows], [known for _, known in rows]))
    for number, found in enumerate(made):
        if f"q{number}" in expected and not np.isnan(found):
            assert found == pytest.approx(expected[f"q{number}"]["infAP"], abs=1e-9)
