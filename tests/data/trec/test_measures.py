"""Names of measures as the field writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.core.metric import parse
from ragbench.data import DatasetError, documents, trec
from tests.data.trec.trec_files import written


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
        ("ndcg10", "ndcg@10"), ("MRR10", "mrr@10"), ("P10", "precision@10"), ("HR@10", "hit_rate@10"),
        ("Accuracy@5", "hit_rate@5"), ("acc@1", "hit_rate@1"),
        ("no_such", "no_such"),
    ],
)  # fmt: skip
def test_names_as_the_field_writes_them(written_: str, label: str) -> None:
    assert trec.label(written_) == label
    if label != "no_such":
        assert parse(label).grain == "ranking"


PRINTED = (
    "runid                 \tall\tbm25\nnum_q                 \tall\t50\n", "map all 0.25\n", "P_10 \t301\t0.4000\n",
    "num_ret \t301\t1000\n", "nDCG@10\t0.5234\n", "301\tnDCG@10\t0.5234\n", "P(rel=2)@5\t0.1\n",
)  # fmt: skip


@pytest.mark.parametrize("text", PRINTED)
def test_figures_that_a_program_printed_are_no_run_and_no_document(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, "results.txt", text)
    assert trec.told(path) == ""
    with pytest.raises(DatasetError, match="figures that trec_eval or ir_measures printed: `ragbench trec QRELS RUN`"):
        trec.read_run(path)
    assert documents.paths(tmp_path) == []


def test_a_page_of_results_is_no_document(tmp_path: Path) -> None:
    written(tmp_path, "a.html", '<html><title>Mine</title><div aria-label="Promptfoo"></div></html>')
    written(tmp_path, "b.html", "<html><table><tr><td>Why?</td><td>[PASS] Because.</td></tr></table></html>")
    page = written(tmp_path, "c.html", "<html><p>Promptfoo writes pages of results.</p></html>")
    assert documents.paths(tmp_path) == [page]


@pytest.mark.parametrize("text", ["map 0 d 1\n", "P Q0 d 1 2.5 t\n", "recall d1 3\n", "q1 P@10 1\n"])
def test_queries_and_documents_may_be_called_as_measures_are(tmp_path: Path, text: str) -> None:
    assert trec.told(written(tmp_path, "mine.run", text))
