"""Assertions for tests say what the gate and the report say, and fail where these do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.extras.testing.assertions import assert_better, assert_gate, assert_score, samples
from ragbench.old.views import Page
from tests.old.cli.command_line import ROOT, ragbench
from tests.old.report import kept_runs
from tests.old.views import measurements


def answers(right: Mapping[str, int], of: int = 40) -> list[dict[str, Any]]:
    """Of each system so many answers that equal their references, the others sharing no word with them."""
    return [
        {"id": f"q{number}", "system": system, "response": "nine" if number < good else "no idea", "reference": "nine"}
        for system, good in right.items()
        for number in range(of)
    ]


def test_a_gate_that_holds_passes_and_one_that_fails_says_the_line_of_the_gate(tmp_path: Path) -> None:
    table = answers({"v1": 30})
    found = rb.score(table, ["exact_match"])
    assert_gate(found, "exact_match>=0.5", "exact_match<=0.95")
    with pytest.raises(AssertionError) as said:
        assert_gate(found, "exact_match>=0.5", "exact_match>=0.95")
    assert "fails: exact_match >= 0.95, rag_metrics v1: 0.7500 [" in str(said.value)
    assert "exact_match >= 0.5" not in str(said.value), "what holds is not said"
    import pandas as pd

    pd.DataFrame(table).to_csv(tmp_path / "answers.csv", index=False)
    done = ragbench("score", str(tmp_path / "answers.csv"), "-m", "exact_match", "--gate", "exact_match>=0.95")
    assert done.returncode == 1
    assert str(said.value).splitlines()[0] in " ".join(done.stderr.split())


def test_a_bound_that_the_interval_reaches_over_is_no_evidence_and_fails() -> None:
    found = rb.score(answers({"v1": 30}), ["exact_match"])
    with pytest.raises(AssertionError, match=r"not enough evidence: exact_match >= 0\.74.*about \d+ questions decide"):
        assert_gate(found, "exact_match>=0.74")


def test_a_number_that_is_not_there_fails_and_a_bound_that_is_none_is_refused() -> None:
    found = rb.score(answers({"v1": 30}), ["exact_match"])
    with pytest.raises(AssertionError, match="the report has no such number"):
        assert_gate(found, "rougeL_f>=0.5")
    with pytest.raises(ValueError, match="METRIC>=NUMBER or METRIC<=NUMBER"):
        assert_gate(found, "exact_match=0.5")


def test_better_is_what_the_paired_test_shows() -> None:
    found = rb.score(answers({"v1": 10, "v2": 30}), ["exact_match"])
    assert_better(found, "v2")
    assert_better(found, "v2", baseline="v1", metric="exact_match")
    alike = rb.score(answers({"v1": 29, "v2": 30}), ["exact_match"])
    with pytest.raises(AssertionError, match="On exact_match, a difference between v2 and v1 is not shown: "):
        assert_better(alike, "v2")
    worse = rb.score(answers({"v1": 30, "v2": 10}), ["exact_match"])
    with pytest.raises(AssertionError, match=r"On exact_match, v2 is worse than v1: −0\.500"):
        assert_better(worse, "v2")


@pytest.mark.parametrize("wrong", [{"challenger": "v3"}, {"challenger": "v2", "metric": "mrr"},
                                   {"challenger": "v2", "baseline": "v3"}])  # fmt: skip
def test_what_was_not_compared_is_refused_by_name(wrong: dict[str, str]) -> None:
    found = rb.score(answers({"v1": 10, "v2": 30}), ["exact_match"])
    with pytest.raises(ValueError, match=r"nothing compares .*compared are v2 with v1 on exact_match"):
        assert_better(found, **wrong)


def test_one_answer_is_held_to_its_score_and_the_reason_is_said() -> None:
    good, bad, empty = (
        {"id": name, "response": response, "reference": "Lunch is 250 roubles"}
        for name, response in (("a", "Lunch is 250 roubles"), ("b", "Lunch is 250"), ("c", None))
    )
    assert_score(good, "exact_match>=1")
    assert_score(bad, "exact_match<=0")
    with pytest.raises(AssertionError, match=r"b: exact_match>=1 expected, exact_match is 0\.0000: "):
        assert_score(bad, "exact_match>=1")
    with pytest.raises(ValueError, match="response"):
        assert_score(empty, "exact_match>=0")


def test_an_answer_that_the_judge_could_not_score_fails() -> None:
    asked = {"id": "a", "user_input": "When?", "response": "", "retrieved_contexts": ["Nine."]}
    with pytest.raises(AssertionError, match=r"is not measured \(empty_"):
        assert_score(asked, "faithfulness>=0", judge="lexical")


def test_a_run_and_a_page_are_held_to_bounds_like_scores(tmp_path: Path) -> None:
    folder = kept_runs.make(tmp_path, "2026-11-22-run", measurements.measurement())
    from ragbench.old.report.pages.notebook_pages import Measurements

    made = Measurements(folder)["tier1_retrieval"]
    for measured in (folder, str(folder), made, Page(made)):
        assert_gate(measured, "mrr>=0")
        with pytest.raises(AssertionError, match="fails: mrr >= 2"):
            assert_gate(measured, "mrr>=2")


@pytest.mark.slow
def test_a_table_of_answers_parametrizes_a_test_by_sample(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("id,system,response,reference\na,v1,nine,nine\nb,v1,ten,nine\n")
    assert [one.id for one in samples(tmp_path / "answers.csv")] == ["v1-a", "v1-b"]
    (tmp_path / "test_answers.py").write_text(
        "import pytest\nfrom ragbench.old.extras.testing.assertions import assert_score, samples\n\n\n"
        "@pytest.mark.parametrize('sample', samples('answers.csv'))\n"
        "def test_an_answer(sample):\n    assert_score(sample, 'exact_match>=1')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_answers.py"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout
    assert "AssertionError: b: exact_match>=1 expected, exact_match is 0.0000" in done.stdout
