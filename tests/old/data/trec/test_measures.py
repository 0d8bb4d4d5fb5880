"""Names of measures as the field writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.old.data import DatasetError, documents, trec
from tests.old.data.trec.trec_files import written

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
