"""`ragbench score`: files in, JSON and exit codes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from ragbench.__main__ import application
from ragbench.commands.score import Gate
from ragbench.types import Estimate


def table(folder: Path, n: int = 60, wrong: int = 0, missing: int = 0) -> Path:
    """n answers: the first are invented, the last were not given."""
    path = folder / "answers.jsonl"
    rows: list[dict[str, Any]] = []
    for number in range(n):
        answer = "Bananas fly." if number < wrong else "Paris is in France."
        rows.append({"id": f"s{number}", "user_input": "Q?", "retrieved_contexts": ["Paris is in France."]})
        if number < n - missing:
            rows[-1]["response"] = answer
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(application, ["score", *map(str, arguments)])


METRIC = ("-m", "faithfulness", "--judge", "lexical")


def test_json(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    done = run(table(tmp_path, 10, wrong=5), *METRIC, "--json", path)
    assert done.exit_code == 0, done.output
    found = json.loads(path.read_text(encoding="utf-8"))
    (estimate,) = found["estimates"]
    assert (estimate["metric"], estimate["value"], estimate["n"], estimate["n_unmeasured"]) == (
        "faithfulness", 0.5, 10, 0
    )  # fmt: skip
    assert estimate["low"] < 0.5 < estimate["high"]
    assert len(found["samples"]) == 10
    assert found["samples"][0] == {
        "id": "s0", "system": "answers", "metric": "faithfulness", "judge": "lexical", "value": 0.0, "status": "ok",
        "reason": "Claims of the response that the contexts support: 0 of 1; 0 / 1 = 0.000. "
        "Not supported: “Bananas fly.”.",
    }  # fmt: skip
    screen = run(table(tmp_path, 10, wrong=5), *METRIC, "--json", "-")
    assert json.loads(screen.stdout) == found


def test_a_folder(tmp_path: Path) -> None:
    rows = [{"id": "=1+1", "response": "a", "reference": "a"}]
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    assert run(tmp_path / "a.json", "-m", "exact_match", "--out", tmp_path / "out").exit_code == 0
    written = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(written["id"]) == ["'=1+1"], "no formula for a spreadsheet"
    assert list(written["value"]) == [1.0]
    assert json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["samples"][0]["id"] == "=1+1"


class TestGates:
    @pytest.mark.parametrize(
        ("gate", "wrong", "code"),
        [
            ("faithfulness>=0.9", 0, 0),
            ("faithfulness>=0.8", 10, 1),
            ("faithfulness>=0.7", 10, 0),
            ("faithfulness<=0.1", 60, 0),
            ("faithfulness<=0.05", 60, 1),
        ],
    )
    def test_the_bound_decides_not_the_mean(self, tmp_path: Path, gate: str, wrong: int, code: int) -> None:
        """50 of 60 right is .833, above .8; its interval reaches down to about .72."""
        done = run(table(tmp_path, 60, wrong), *METRIC, "--gate", gate)
        assert done.exit_code == code, done.output
        assert ("fails" if code else "holds") in done.output

    @pytest.mark.parametrize(("missing", "code"), [(1, 0), (2, 1)])
    def test_more_than_two_per_cent_unmeasured_fail(self, tmp_path: Path, missing: int, code: int) -> None:
        """One of 60 is 1.7 %, two are 3.3 %: a judge that fails on the bad ones cannot turn a gate green."""
        done = run(table(tmp_path, 60, 0, missing), *METRIC, "--gate", "faithfulness>=0.5")
        assert done.exit_code == code, done.output

    def test_all_gates_count(self, tmp_path: Path) -> None:
        gates = ("--gate", "faithfulness>=0.5", "--gate", "faithfulness>=0.99")
        assert run(table(tmp_path), *METRIC, *gates).exit_code == 1

    @pytest.mark.parametrize("gate", ["faithfulness", "faithfulness>0.8", "faithfulness>=high", ">=0.8", "mrr>=0.1"])
    def test_a_gate_that_means_nothing(self, tmp_path: Path, gate: str) -> None:
        done = run(table(tmp_path), *METRIC, "--gate", gate)
        assert done.exit_code == 2
        assert "--gate" in done.output

    def test_without_an_interval_nothing_holds(self) -> None:
        nothing = Estimate(float("nan"), None, None, 0.95, "none", 0)
        assert not Gate.read("faithfulness >= 0").verdict(nothing)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "context_recall"), "needs reference"),
        (("-m", "nothing"), "there is no metric"),
        (("--aggregate", "best"), "there is no aggregate"),
    ],
)
def test_faults_are_named_before_a_call(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(table(tmp_path), "--judge", "lexical", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())
