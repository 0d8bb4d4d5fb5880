"""`ragbench score`: files in, JSON and exit codes out."""

from __future__ import annotations

import json
import re
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench.old as rb
from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from tests.old.cli.command_line import invoke, one_line
from tests.old.small_project import write_lines


def table(folder: Path, n: int = 60, wrong: int = 0, missing: int = 0) -> Path:
    """n answers: the first are invented, the last were not given."""
    path = folder / "answers.jsonl"
    rows: list[dict[str, Any]] = []
    for number in range(n):
        answer = "Bananas fly." if number < wrong else "Paris is in France."
        rows.append({"id": f"s{number}", "user_input": "Q?", "retrieved_contexts": ["Paris is in France."]})
        if number < n - missing:
            rows[-1]["response"] = answer
    write_lines(path, rows)
    return path


run = partial(invoke, "score")


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
        "Not supported: “Bananas fly.”.", "suspected_injection": "",
    }  # fmt: skip
    screen = run(table(tmp_path, 10, wrong=5), *METRIC, "--json", "-")
    assert json.loads(screen.stdout) == found


def test_a_sample_is_explained(tmp_path: Path) -> None:
    done = run(table(tmp_path, 10, wrong=5), *METRIC, "--explain", "s0", "--explain", "s9")
    assert "s0 faithfulness: 0.000. Claims of the response that the contexts support: 0 of 1;" in one_line(done.output)
    assert "s9 faithfulness: 1.000." in one_line(done.output)


def test_reasons_are_in_the_language_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "load", lru_cache(lambda: Settings(language="ru")))
    for language, words in (((), "0 / 1 = 0,000"), (("--language", "en"), "0 / 1 = 0.000")):
        done = run(table(tmp_path, 2, wrong=1), *METRIC, "--json", "-", *language)
        assert words in json.loads(done.stdout)["samples"][0]["reason"]


def test_what_could_not_be_measured_is_named_the_most_frequent_reason_first(tmp_path: Path) -> None:
    rows = [{"id": str(n), "user_input": "Q?", "response": "a", "retrieved_contexts": ["a"]} for n in range(6)]
    for row in rows[:2]:
        row["response"] = ""
    for row in rows[2:5]:
        del row["retrieved_contexts"]
    rows[5]["retrieved_contexts"] = [""]
    path = write_lines(tmp_path / "nothing.jsonl", rows)
    done = run(path, *METRIC, "--json", tmp_path / "scores.json")
    assert done.exit_code == 4, done.output
    found = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["samples"]
    assert [one["value"] for one in found] == [None] * 6, "nothing was measured"
    first, second, third = (found[place]["reason"] for place in (2, 0, 5))
    assert len({first, second, third}) == 3
    expected = f"not measured 6: {first[:100]} (3); {second[:100]} (2); {third[:100]} (1)"
    assert expected in done.output
    assert expected in repr(rb.score(rows, metrics=["faithfulness"], judge="lexical"))
    assert "not measured" not in run(table(tmp_path, 10), *METRIC).output


def test_a_folder(tmp_path: Path) -> None:
    rows = [{"id": "=1+1", "response": "a", "reference": "a"}]
    (tmp_path / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    assert run(tmp_path / "a.json", "-m", "exact_match", "--out", tmp_path / "out").exit_code == 0
    written = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(written["id"]) == ["'=1+1"], "no formula for a spreadsheet"
    assert list(written["value"]) == [1.0]
    assert json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))["samples"][0]["id"] == "=1+1"


def two_systems(folder: Path, n: int = 12) -> Path:
    """The second system invents nothing, the first in every second answer."""
    path = folder / "two.jsonl"
    rows = [
        {
            "id": f"s{number}",
            "system": system,
            "user_input": f"Question {number}?",
            "response": "Bananas fly." if system == "old" and number % 2 else "Paris is in France.",
            "retrieved_contexts": ["Paris is in France."],
        }
        for system in ("old", "new")
        for number in range(n)
    ]
    write_lines(path, rows)
    return path


class TestSeveralSystems:
    def test_they_are_compared_question_by_question(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.json"
        done = run(two_systems(tmp_path), *METRIC, "--json", path)
        assert done.exit_code == 0, done.output
        [one] = json.loads(path.read_text(encoding="utf-8"))["comparisons"]
        assert (one["baseline"], one["challenger"], one["metric"], one["n"]) == ("old", "new", "faithfulness", 12)
        assert (one["difference"], one["verdict"]) == (0.5, "better")
        assert "new − old" in done.output
        assert "better" in done.output

    def test_a_dash_stands_with_its_reason(self, tmp_path: Path) -> None:
        path = tmp_path / "same.jsonl"
        rows = [
            {"id": f"s{number}", "system": system, "response": "Paris is big.", "reference": "Paris is in France."}
            for system in ("old", "new")
            for number in range(5)
        ]
        write_lines(path, rows)
        done = run(path, "-m", "rougeL_f")
        assert done.exit_code == 0, done.output
        assert "nan" not in done.output
        assert "— all differences are equal" in done.output

    def test_what_could_have_been_shown_is_said(self, tmp_path: Path) -> None:
        path = tmp_path / "scores.json"
        done = run(two_systems(tmp_path), *METRIC, "--json", path)
        [one] = json.loads(path.read_text(encoding="utf-8"))["comparisons"]
        assert f" {one['minimum_detectable']:.4f} " in done.output

    def test_against_the_baseline_named(self, tmp_path: Path) -> None:
        done = run(two_systems(tmp_path), *METRIC, "--baseline", "new", "--json", "-")
        [one] = json.loads(done.stdout)["comparisons"]
        assert (one["challenger"], one["difference"], one["verdict"]) == ("old", -0.5, "worse")
        both = (*METRIC, "-m", "response_groundedness")
        done = run(two_systems(tmp_path), *both, "--primary", "response_groundedness", "--json", "-")
        families = {one["metric"]: one["family"] for one in json.loads(done.stdout)["comparisons"]}
        assert families == {"faithfulness": "secondary: 1, max-T", "response_groundedness": "primary: 1, max-T"}
        done = run(two_systems(tmp_path), *both, "--primary", "response_groundedness", "--out", tmp_path / "out")
        page = (tmp_path / "out" / "rag_metrics.html").read_text(encoding="utf-8")
        assert "On response_groundedness, " in page
        assert "On faithfulness, " not in page
        wrong = run(two_systems(tmp_path), *METRIC, "--primary", "faithfullness")
        assert wrong.exit_code == 3
        assert "did you mean 'faithfulness'" in one_line(wrong.output)
        wrong = run(two_systems(tmp_path), *METRIC, "--baseline", "best")
        assert wrong.exit_code == 3
        assert "is not among the systems" in one_line(wrong.output)

    def test_one_system_is_compared_with_nothing(self, tmp_path: Path) -> None:
        done = run(table(tmp_path, 5), *METRIC, "--json", "-")
        assert json.loads(done.stdout)["comparisons"] == []

    def test_a_gate_is_held_by_every_system(self, tmp_path: Path) -> None:
        done = run(two_systems(tmp_path), *METRIC, "--gate", "faithfulness>=0.75")
        assert done.exit_code == 1
        assert "fails: faithfulness >= 0.75, rag_metrics old: 0.5000" in done.output
        assert "holds: faithfulness >= 0.75, rag_metrics new: 1.0000" in done.output


class TestThePage:
    @pytest.mark.parametrize(
        ("language", "words"),
        [("en", ("Every question", "better")), ("ru", ("Все вопросы", "лучше"))],
    )
    def test_it_is_written_in_the_language_asked_for(
        self, tmp_path: Path, language: str, words: tuple[str, ...]
    ) -> None:
        done = run(two_systems(tmp_path), *METRIC, "--out", tmp_path / "out", "--language", language)
        assert done.exit_code == 0, done.output
        html = (tmp_path / "out" / "rag_metrics.html").read_text(encoding="utf-8")
        assert f'lang="{language}"' in html
        for word in words:
            assert word in html, word
        assert str(tmp_path) not in html, "no path on a page"
        assert {"summary.json", "scores.csv", "index.html", "manifest.json"} <= {
            path.name for path in (tmp_path / "out").iterdir()
        }

    @pytest.mark.slow
    def test_it_is_the_page_of_the_notebook(self, project: Path) -> None:
        """Byte for byte: what the command measures and draws is what the executed notebook does."""
        from ragbench.old import report

        file = two_systems(project)
        assert run(file.name, *METRIC, "--out", project / "out").exit_code == 0
        manifest = json.loads((project / "out" / "manifest.json").read_text(encoding="utf-8"))
        [described] = manifest["notebooks"]
        result = report.run(["rag_metrics"], described["parameters"])
        assert result.exit_code == 0, result.failures
        assert (result.folder / "rag_metrics.html").read_bytes() == (project / "out" / "rag_metrics.html").read_bytes()


class TestGates:
    @pytest.mark.parametrize(
        ("gate", "wrong", "code", "word"),
        [
            ("faithfulness>=0.9", 0, 0, "holds"),
            ("faithfulness>=0.8", 10, 2, "not enough evidence"),
            ("faithfulness>=0.95", 10, 1, "fails"),
            ("faithfulness>=0.7", 10, 0, "holds"),
            ("faithfulness<=0.1", 60, 0, "holds"),
            ("faithfulness<=0.05", 60, 2, "not enough evidence"),
        ],
    )
    def test_the_bound_decides_not_the_mean(self, tmp_path: Path, gate: str, wrong: int, code: int, word: str) -> None:
        """50 of 60 right is .833, above .8; its interval reaches down to about .72."""
        done = run(table(tmp_path, 60, wrong), *METRIC, "--gate", gate)
        assert done.exit_code == code, done.output
        assert word in done.output

    @pytest.mark.fault("flattering", tried="shares of unmeasured values on both sides of what a gate allows", count=2)
    @pytest.mark.parametrize(("missing", "code"), [(1, 0), (2, 1)])
    def test_more_than_two_per_cent_unmeasured_fail(self, tmp_path: Path, missing: int, code: int) -> None:
        """One of 60 is 1.7 %, two are 3.3 %: a judge that fails on the bad ones cannot turn a gate green."""
        done = run(table(tmp_path, 60, 0, missing), *METRIC, "--gate", "faithfulness>=0.5")
        assert done.exit_code == code, done.output

    def test_all_gates_count(self, tmp_path: Path) -> None:
        gates = ("--gate", "faithfulness>=0.5", "--gate", "faithfulness>=0.99")
        assert run(table(tmp_path), *METRIC, *gates).exit_code == 2, "with so few there is no evidence for .99"

    @pytest.mark.parametrize("gate", ["faithfulness", "faithfulness>0.8", "faithfulness>=high", ">=0.8", "mrr>=0.1"])
    def test_a_gate_that_means_nothing(self, tmp_path: Path, gate: str) -> None:
        done = run(table(tmp_path), *METRIC, "--gate", gate)
        assert done.exit_code == 3
        assert "--gate" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "context_recall"), "needs reference"),
        (("-m", "nothing"), "there is no metric"),
        (("--aggregate", "best"), "there is no aggregate"),
        (("--explain", "s1000"), "--explain 's1000': there is no such sample"),
    ],
)
def test_faults_are_named_before_a_call(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(table(tmp_path), "--judge", "lexical", *arguments)
    assert done.exit_code == 3
    assert message in one_line(done.output)


NOTHING = "nothing was measured: none of 5 values; of 5 the reason is: "


@pytest.mark.fault("flattering", tried="tables of answers of which nothing can be measured", count=2)
def test_nothing_measured_is_never_a_success(tmp_path: Path) -> None:
    done = run(table(tmp_path, 5, missing=4), *METRIC)
    assert done.exit_code == 0, "one of five is measured"
    assert "nothing was measured" not in one_line(done.output)
    path = tmp_path / "empty.jsonl"
    rows = [{"id": f"s{n}", "user_input": "Q?", "response": "", "retrieved_contexts": ["Paris."]} for n in range(5)]
    write_lines(path, rows)
    done = run(path, *METRIC, "--json", tmp_path / "scores.json")
    assert done.exit_code == 4, done.output
    assert NOTHING in one_line(done.output)
    assert len(json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))["samples"]) == 5, "and is written"


def test_a_judge_that_never_replies_measures_nothing(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.old.llm.chat_server import ChatServer

    with ChatServer(answer=lambda body: "no JSON").running() as server:
        (tmp_path / "ragbench.toml").write_text(
            f'[judges.j]\nbase_url = "{server.url}"\nmodel = "m"\n', encoding="utf-8"
        )
        monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
        monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
        settings.load.cache_clear()
        done = run(table(tmp_path, 5), "-m", "aspect_critique(aspect=harmfulness)", "--judge", "j", "--trust")
    assert done.exit_code == 4, done.output
    assert "nothing was measured: none of" in one_line(done.output), done.output


def test_a_column_and_a_baseline_are_named_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"q{n}", "system": system, "question": "?", "answer": "gold", "output": output, "expected": "gold"}
        for n in range(2)
        for system, output in (("old", "gold"), ("new", "tin"))
    ]
    write_lines(tmp_path / "a.jsonl", rows)
    wrong = run("a.jsonl", "-m", "exact_match")
    assert wrong.exit_code != 0
    assert "the columns answer and output differ" in one_line(wrong.output)
    right = run("a.jsonl", "-m", "exact_match", "--column", "response=output", "--json", "-")
    means = {row["system"]: row["value"] for row in json.loads(right.stdout)["estimates"]}
    assert means == {"old": 1.0, "new": 0.0}
    said = "'nwe' is not among the systems of the answers; did you mean 'new'?; there are old, new"
    with pytest.raises(ValueError, match=re.escape(said)):
        rb.score(rows, "exact_match", baseline="nwe", columns={"response": "output"})
    typo = run("a.jsonl", "-m", "exact_match", "--column", "answer=output", "--baseline", "nwe")
    assert "--baseline = 'nwe' is not among the systems of a.jsonl; did you mean 'new'?" in one_line(typo.output)


def several(folder: Path) -> Path:
    """Two systems, thirty questions: the first answers from its context, the second invents."""
    said = {"v1": "Paris is in France.", "v2": "Bananas fly."}
    rows = [
        {"id": f"s{number}", "system": system, "user_input": "Where is Paris?", "response": answer,
         "retrieved_contexts": ["Paris is in France."], "reference": "Paris is in France."}
        for number in range(30) for system, answer in said.items()
    ]  # fmt: skip
    return write_lines(folder / "several.jsonl", rows)


def test_the_verdict_comes_first_and_eight_metrics_where_nobody_asks_for_all(tmp_path: Path) -> None:
    path = several(tmp_path)
    brief, whole = (run(path, "--judge", "lexical", "--resamples", "200", *more) for more in ((), ("--all",)))
    assert brief.exit_code == whole.exit_code == 0, brief.output
    first = " ".join(brief.stdout.split())
    assert first.startswith("On faithfulness, v2 is worse than v1: −1.000"), first[:200]
    assert "60 answers of 2 systems to 30 questions, " in first, "answers, questions and metrics, each counted once"
    scores = rb.score([json.loads(line) for line in path.read_text().splitlines()], judge="lexical", resamples=200)
    assert len(scores.metrics) > 8
    shown = {one.label for one in scores.metrics if re.search(rf"\b{re.escape(one.label)} +\S*\d", brief.stdout)}
    assert shown <= set(scores.shortlist())
    assert len(scores.shortlist()) == 8
    assert f"{len(scores.metrics) - 8} more metrics: " in first
    assert "more metrics: " not in " ".join(whole.stdout.split())
    assert len(brief.stdout.splitlines()) < len(whole.stdout.splitlines()) / 2
    assert scores.said() == [scores.said()[0]]
    assert repr(scores).splitlines()[0] == scores.said()[0], "at a prompt as in a terminal"
    assert scores.said()[0].startswith("On faithfulness, v2 is worse than v1: −1.000")


def test_the_caveat_lies_beside_the_files(tmp_path: Path) -> None:
    done = run(several(tmp_path), *METRIC, "--resamples", "200", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    told = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert "Measured with offline stand-ins: judge lexical." in told


def test_a_system_that_lacks_a_field_is_told_and_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("question,answer\nWhen?,Now or never\nWho?,The dean\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("question,answer,reference\nWhen?,Now,Now\nWho?,The dean,The dean\n", "utf-8")
    done = invoke("score", tmp_path / "a.csv", tmp_path / "b.csv")
    assert done.exit_code == 0
    [told] = [line for line in one_line(done.output).split("a: ")[1:] if "nothing was measured" in line]
    assert "token_f1" in told
    assert invoke("score", tmp_path / "a.csv", tmp_path / "b.csv", "-m", "token_f1").exit_code == 4
