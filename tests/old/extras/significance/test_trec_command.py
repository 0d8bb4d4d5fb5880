"""`ragbench trec`: by our rules and by trec_eval's, what is compared, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.old.cli import command_line
from tests.old.data.trec.trec_files import QRELS, RUN, written


@pytest.fixture
def invoke() -> Callable[..., Any]:
    return partial(command_line.invoke, "trec")


def test_the_command_by_our_own_rules(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    target = tmp_path / "out.json"
    done = invoke(qrels, run, "--metrics", "mrr,ndcg@10,map", "--per-query", "--json", target)
    assert done.exit_code == 0, done.output
    made = json.loads(target.read_text())
    [reciprocal] = [row for row in made["estimates"] if row["metric"] == "mrr"]
    # q1: a, tied with c, keeps the file's order: rank 2. q2 was not answered: 0. q3 has nothing relevant: no value.
    assert reciprocal["value"] == pytest.approx((1 / 2 + 0) / 2)
    assert (reciprocal["system"], reciprocal["n"], reciprocal["n_unmeasured"]) == ("x", 2, 1)
    assert {"notebook", "low", "high", "level", "method"} <= set(reciprocal)
    assert made["comparisons"] == []
    by_query = {(row["query"], row["metric"]): row["value"] for row in made["per_query"]}
    assert by_query["q1", "map"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert by_query["q3", "map"] is None
    assert set(made["per_query"][0]) == {"run", "query", "metric", "value"}
    [facts] = made["facts"]["runs"]
    assert (facts["queries_missing"], facts["queries_not_judged"], facts["tied_scores"]) == (2, 1, 1)


def test_the_command_by_the_rules_of_trec_eval(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)

    def value(*more: str) -> tuple[float, int]:
        done = invoke(qrels, run, "-m", "recip_rank", "--compatible", "trec_eval", "--json", "-", *more)
        assert done.exit_code == 0, done.output
        [row] = json.loads(done.stdout)["estimates"]
        return row["value"], row["n"]

    assert value() == (pytest.approx(1 / 2), 1)  # c before a, but both are relevant; q2 and q3 are left out
    assert value("--complete") == (pytest.approx(1 / 6), 3)
    assert value("--level", "2") == (pytest.approx(1 / 2), 1)


def test_two_runs_are_compared_and_corrected(shared_data: Callable[[str], Path], invoke: Callable[..., Any]) -> None:
    folder = shared_data("trec-cast-2021")
    files = [folder / f"{name}.run.gz" for name in ("org_manual_bm25", "org_manual_ance_bert", "org_convdr")]
    arguments = (folder / "qrels.txt.gz", *files, "-m", "ndcg@10,map", "--resamples", "999", "--json", "-")
    made = json.loads(invoke(*arguments).stdout)
    assert [(row["challenger"], row["metric"]) for row in made["comparisons"]] == [
        ("org_manual_ance_bert", "ndcg@10"),
        ("org_manual_ance_bert", "map"),
        ("org_convdr", "ndcg@10"),
        ("org_convdr", "map"),
    ]
    values = {(row["system"], row["metric"]): row["value"] for row in made["estimates"]}
    for row in made["comparisons"]:
        assert row["baseline"] == "org_manual_bm25"
        difference = values[row["challenger"], row["metric"]] - values[row["baseline"], row["metric"]]
        assert row["difference"] == pytest.approx(difference)
        assert row["p"] <= row["p_adjusted"] <= 1
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["verdict"] in ("better", "worse", "not shown")
        assert row["n"] == 94
    every = json.loads(invoke(*arguments, "--all-pairs", "--clusters", "^(.+)_").stdout)
    assert len(every["comparisons"]) == 6
    assert {row["clusters"] for row in every["estimates"]} == {11}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-m", "nddcg@3"), "did you mean ndcg"),
        (("-m", "retrieval_consistency"), "not a metric of rankings"),
        (("-m", "mrr", "--level", "0"), "above 0"),
        (("-m", "ndcg(gain=square)"), "linear or exponential"),
        (("-m", "mrr", "--clusters", "("), "unterminated"),
        (("--compatible", "ranx"), "trec_eval"),
    ],
)
def test_requests_that_cannot_be_followed(
    tmp_path: Path, invoke: Callable[..., Any], more: tuple[str, ...], message: str
) -> None:
    done = invoke(written(tmp_path, "q", QRELS), written(tmp_path, "r", RUN), *more)
    assert done.exit_code == 3
    assert message in " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("name", "near"),
    [("nDGC@10", "ndcg@10"), ("Sucess@5", "hit_rate@5"), ("infapp", "inferred_ap"), ("nDCG@x", "ndcg"), ("F1@5", "")],
)
def test_a_near_name_is_suggested(invoke: Callable[..., Any], tmp_path: Path, name: str, near: str) -> None:
    meant = f"did you mean {near}? Of" if near else "of"
    done = invoke(written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN), "-m", name)
    assert done.exit_code == 3
    said = command_line.one_line(done.output)
    assert f"there is no metric {name!r}; {meant} rankings there are average_precision, " in said


def test_cut_offs_are_asked_for_as_trec_eval_has_them(invoke: Callable[..., Any], tmp_path: Path) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    made = json.loads(invoke(qrels, run, "-m", "P.1,3,nDCG@10", "--json", "-").stdout)
    assert [row["metric"] for row in made["estimates"]] == ["P.1", "P.3", "nDCG@10"]


def test_what_a_short_form_was_read_as_is_said_once(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels = written(tmp_path, "q.txt", QRELS)
    shown = invoke(qrels, written(tmp_path, "x.tsv", "q1\tb\t1\nq1\ta\t2\nq2\ta\t1\n"), "-m", "RR@10").output
    assert shown.count("x was read as QUERY DOCUMENT RANK; it lacks 1 of 3 judged queries") == 1
    assert "was read as" not in invoke(qrels, written(tmp_path, "x.run", RUN), "-m", "RR@10").output


def test_what_only_describes_is_not_compared(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    other = written(tmp_path, "y.run", RUN.replace("q9", "q2"))
    made = json.loads(invoke(qrels, run, other, "-m", "Judged@10,RR", "--json", "-").stdout)
    assert {row["metric"] for row in made["estimates"]} == {"Judged@10", "RR"}
    assert {row["metric"] for row in made["comparisons"]} == {"RR"}


def test_a_run_none_of_whose_documents_is_judged_is_measured_on_nothing(
    tmp_path: Path, invoke: Callable[..., Any]
) -> None:
    qrels, run = written(tmp_path, "q.txt", "q1 0 d1 1\n"), written(tmp_path, "x.run", "q1 Q0 id:doc::d1 1 .5 t\n")
    done = invoke(qrels, run)
    assert done.exit_code == 4
    assert "x names no document that is judged for its query: are their ids written alike?" in done.output
    one = written(tmp_path, "y.run", "q1 Q0 id:doc::d1 1 .5 t\nq1 Q0 d1 2 .4 t\n")
    done = invoke(qrels, one, "--metrics", "mrr", "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    [facts] = json.loads((tmp_path / "out.json").read_text())["facts"]["runs"]
    assert (facts["documents"], facts["documents_judged"]) == (2, 1)


def test_a_run_before_its_judgements_is_told_so(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    assert str(invoke(run, qrels).exception).endswith("it is a run: judgements come first, ragbench trec QRELS RUN")
    assert "it is a run" not in str(invoke(qrels, qrels).exception)
