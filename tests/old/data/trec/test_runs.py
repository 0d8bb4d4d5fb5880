"""Runs: their order by our rules and by trec_eval's, and their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.old.data import DatasetError, trec
from tests.old.data.trec.trec_files import listed, retrieved, written


def test_orders_of_the_two_conventions() -> None:
    row = retrieved(a=1.0, b=2.0, d=0.50000001, c=0.5, e=1.0)
    assert trec.listed_order(row).documents.to_pylist() == ["b", "a", "e", "d", "c"]
    assert trec.trec_eval_order(row).documents.to_pylist() == ["b", "e", "a", "d", "c"]
    # in 32 bits the scores of c and d are equal, and the later name goes first
    assert trec.trec_eval_order(retrieved(c=0.50000001, d=0.5)).documents.to_pylist() == ["d", "c"]
    twice = listed(["b", "a", "a"], [3.0, 2.0, 1.0])
    with pytest.raises(DatasetError, match="q7: document a is there twice"):
        trec.trec_eval_order(twice, where="q7")


@pytest.mark.filterwarnings("error")
def test_scores_too_large_for_trec_eval_are_equal_to_it(tmp_path: Path) -> None:
    text = "q Q0 a 1 1e300 t\nq Q0 b 2 1e200 t\nq Q0 d 3 -1e300 t\nq Q0 e 4 -1e301 t\nq Q0 c 5 3 t\n"
    read = trec.read_run(written(tmp_path, "r.run", text)).queries["q"]
    assert trec.trec_eval_order(read).documents.to_pylist() == ["b", "a", "c", "e", "d"]
    assert trec.listed_order(read).documents.to_pylist() == ["a", "b", "c", "d", "e"]
