"""Names of measures as the field writes them."""

from __future__ import annotations

import pytest

from ragbench.core.metric import parse


@pytest.mark.parametrize(
    ("written_", "label"),
    [
        ("nDCG@10", "ndcg@10"), ("NDCG@10", "ndcg@10"), ("ndcg_cut_10", "ndcg@10"), ("ndcg_cut.10", "ndcg@10"),
        ("nDCG", "ndcg"), ("nDCG(dcg='exp-log2')@5", "ndcg(gain=exponential)@5"), ("P@10", "precision@10"),
        ("P_10", "precision@10"), ("P(rel=2)@10", "precision(level=2)@10"), ("SetP", "precision"), ("RR", "mrr"),
        ("RR@10", "mrr@10"), ("MRR@10", "mrr@10"), ("recip_rank", "mrr"), ("AP", "average_precision"),
        ("MAP@100", "average_precision@100"), ("map_cut_20", "average_precision@20"), ("R@100", "recall@100"),
        ("Recall@100", "recall@100"), ("recall.100", "recall@100"), ("Success@5", "hit_rate@5"),
        ("success_5", "hit_rate@5"), ("hits@5", "hit_rate@5"), ("Judged@10", "judged@10"), ("Rprec", "r_precision"),
        ("R-Prec", "r_precision"), ("Bpref", "bpref"), ("RBP(p=0.9)@10", "rbp(p=0.9)@10"),
        ("RR(cutoff=10)", "mrr@10"), ("map", "average_precision"),
        ("ndcg(gain=exponential)@10", "ndcg(gain=exponential)@10"),
        ("no_such", "no_such"),
    ],
)  # fmt: skip
def test_names_as_the_field_writes_them(written_: str, label: str) -> None:
    from ragbench.data import trec

    assert trec.label(written_) == label
    if label != "no_such":
        assert parse(label).grain == "ranking"
