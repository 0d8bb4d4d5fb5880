"""Runs against judgements by trec_eval's conventions, to the digit."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.old.core.metric import parse
from ragbench.old.data import DatasetError, trec
from ragbench.old.extras.significance import assessment
from tests.old.data.trec.trec_files import QRELS, RUN, retrieved, written

RUNS = ("org_convdr", "org_convdr_bert", "org_manual_ance", "org_manual_ance_bert", "org_manual_bm25")


@pytest.mark.parametrize("definition", ["pytrec_eval", "ir_measures"])
def test_oracle_under_the_conventions_of_trec_eval(definition: str, shared_data: Callable[[str], Path]) -> None:
    oracle = json.loads(shared_data("retrieval-oracle/oracle.json").read_text())
    labels = {name: name.replace("hit@", "hit_rate@") for name in oracle["metrics"]}
    for case in oracle["cases"]:
        qrels = {query: dict(known) for query, known in case["input"]["qrels"].items()}
        # a dictionary keeps the last score of a document that is there twice, as the libraries were given it
        rows = {query: retrieved(**dict(row)) for query, row in case["input"]["run"].items()}
        run = trec.Run("r", "", Path("r"), rows)
        if definition == "pytrec_eval":
            qrels = {query: known for query, known in qrels.items() if known}
        metrics = {label: parse(label) for label in labels.values()}
        plan = assessment.Plan(metrics, compatible="trec_eval", complete=definition == "ir_measures")
        found = assessment.assess(qrels, [run], plan)
        for name, label in labels.items():
            expected, estimate = case["expected"][definition]["mean"].get(name), found.estimates["r", label]
            assert estimate.n == case["expected"][definition]["n"], case["name"]
            assert expected is None if not estimate.n else estimate.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_trec_cast_to_the_last_digit_that_trec_eval_prints(name: str, shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec-cast-2021")
    names = "map Rprec bpref recip_rank ndcg P_1 P_3 P_5 P_10 recall_5 recall_10 recall_20 recall_100"
    names += " ndcg_cut_3 ndcg_cut_5 ndcg_cut_10 ndcg_cut_20 success_1 success_5 success_10"
    plan = assessment.Plan(assessment.asked(names.replace(" ", ","), 1), level=1, compatible="trec_eval", complete=True)
    found = assessment.assess(
        trec.read_qrels(folder / "qrels.txt.gz"), [trec.read_run(folder / f"{name}.run.gz")], plan
    )
    seen = 0
    with gzip.open(folder / "expected_trec_eval.tsv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["run"] != name or row["measure"] not in plan.metrics:
                continue
            if row["qid"] == "all":
                value = found.estimates[name, row["measure"]].value
            else:
                value = found.values[name][row["measure"]][found.queries.index(row["qid"])]
            assert f"{value:.4f}" == row["value"], row
            seen += 1
    assert seen == 20 * 95


def test_ir_measures_samples_against_pytrec_eval(shared_data: Callable[[str], Path]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = shared_data("ir-measures-samples")
    for name in ("compat", "cwl"):
        qrels, run = trec.read_qrels(folder / f"{name}.qrels"), trec.read_run(folder / f"{name}.run")
        whole = {query: {d: int(grade) for d, grade in known.items()} for query, known in qrels.items()}
        asked = {"map", "bpref", "ndcg", "Rprec", "recip_rank", "recall.5,10", "P.5,10", "ndcg_cut.5,10"}
        peer = pytrec_eval.RelevanceEvaluator(whole, asked).evaluate(
            {
                query: dict(zip(row.documents.to_pylist(), row.scores.tolist(), strict=True))
                for query, row in run.queries.items()
            }
        )
        names = [each for each in next(iter(peer.values())) if each not in ("runid", "num_q")]
        plan = assessment.Plan(assessment.asked(",".join(names), None), compatible="trec_eval")
        found = assessment.assess(qrels, [run], plan)
        for query, values in peer.items():
            for each in names:
                value = found.values[name][each][found.queries.index(query)]
                assert value == pytest.approx(values[each], abs=1e-12), (name, query, each)


def test_clusters_must_match_every_query(tmp_path: Path) -> None:
    import re

    qrels, run = trec.read_qrels(written(tmp_path, "q", QRELS)), trec.read_run(written(tmp_path, "r", RUN))
    plan = assessment.Plan(assessment.asked("mrr", None), clusters=re.compile("^(.+)_"))
    with pytest.raises(DatasetError, match="finds no group in the query 'q1'"):
        assessment.assess(qrels, [run], plan)


def test_all_metrics_are_measured_where_none_is_named() -> None:
    names = list(assessment.asked("", None))
    assert {"hit_rate@1", "mrr", "recall@3", "precision@10", "ndcg@5", "map", "bpref", "rbp", "r_precision"} <= set(
        names
    )
    assert assessment.asked("P_5,ndcg_cut_10,success_1,map_cut_20,Rprec", 2)["map_cut_20"].label == (
        "average_precision(level=2)@20"
    )


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
        ("Accuracy@5", "hit_rate@5"), ("ndcg_at_10", "ndcg@10"), ("cosine_mrr@10", "mrr@10"),
        ("rbp.95", "rbp(p=0.95)"), ("ndcg_burges@5", "ndcg(gain=exponential)@5"),
        ("reciprocal_rank", "mrr"), ("acc@1", "hit_rate@1"),
        ("no_such", "no_such"),
    ],
)  # fmt: skip
def test_names_as_the_field_writes_them(written_: str, label: str) -> None:
    assert assessment.label(written_) == label
    if label != "no_such":
        assert parse(label).grain == "ranking"


def test_names_of_runs_are_distinct(tmp_path: Path) -> None:
    one = trec.read_run(written(tmp_path, "x.run", RUN))
    (tmp_path / "sub").mkdir()
    other = trec.read_run(written(tmp_path / "sub", "x.txt", RUN))
    assert assessment.distinct_names([one, other]) == [str(one.path), str(other.path)]
    with pytest.raises(DatasetError, match="given twice"):
        assessment.distinct_names([one, one])
