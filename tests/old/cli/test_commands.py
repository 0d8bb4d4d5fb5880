"""The command line, as a person or a pipeline calls it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.old.cli.command_line import ragbench
from tests.old.small_project import write_lines


@pytest.mark.parametrize(
    "command",
    [[], ["init"], ["run"], ["gate"], ["load"], ["load", "answers"], ["metrics"], ["doctor"], ["db"], ["lab"]],
)
def test_help_teaches(command: list[str]) -> None:
    done = ragbench(*command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


@pytest.mark.slow
def test_a_run_writes_a_report(project: Path) -> None:
    done = ragbench("run", "tier1_retrieval", "--systems", "good,poor", "-p", "resamples=1000")
    assert done.returncode == 0, done.stderr
    latest = project / "reports" / "latest"
    assert done.stdout.strip().endswith("index.html")
    for name in ("index.html", "tier1_retrieval.html", "tier1_retrieval.ipynb", "scores.parquet", "manifest.json"):
        assert (latest / name).is_file(), name
    summary = json.loads((latest / "summary.json").read_text(encoding="utf-8"))
    estimate = next(e for e in summary["estimates"] if (e["system"], e["published"]) == ("good", "mrr"))
    assert estimate["metric"] == "mrr@10", "ten documents were retrieved"
    assert estimate["value"] == pytest.approx(2.5 / 3)
    assert {"notebook", "system", "low", "high", "level", "method", "n", "n_unmeasured"} <= set(estimate)
    comparison = next(c for c in summary["comparisons"] if c["metric"] == "mrr@10")
    assert comparison["difference"] == pytest.approx((2.5 - 5 / 6) / 3)
    assert {"baseline", "challenger", "low", "high", "p", "p_adjusted", "test", "verdict", "n"} <= set(comparison)


def test_a_parameter_that_no_notebook_has_is_refused_with_those_there_are(project: Path) -> None:
    done = ragbench("run", "tier1_retrieval", "-p", "kk=5")
    assert done.returncode == 3
    assert "no parameter 'kk'; did you mean k?" in done.stderr
    assert "unit" in done.stderr
    assert not (project / "reports").exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["run", "tier9"], "there is no notebook 'tier9'"),
        (["run", "-d", "none"], "there is no data set 'none' in data/; there are small"),
        (["run", "-s", "none"], "there is no system 'none' in ragbench.toml; there are good, poor, ngrams"),
        (["run", "-p", "k"], "write it as name=value"),
        (["load", "questions", "none.json", "--name", "x"], "none.json: there is no such file"),
        (["metrics", "mmr"], "did you mean mrr"),
        (["metrics", "--grain", "word"], "there are ranking, sample, turns, table"),
    ],
)
def test_a_wrong_call_says_what_is_legal(words: list[str], expected: str) -> None:
    done = ragbench(*words)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert expected in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.fault("secrets", tried="passwords of database addresses in what commands say", count=1)
@pytest.mark.usefixtures("project")
def test_a_secret_in_the_database_url_is_not_printed() -> None:
    url = "postgresql://someone:canary-password@127.0.0.1:1/nothing"
    done = ragbench("db", "status", RAGBENCH_DATABASE_URL=url)
    assert "canary-password" not in done.stdout + done.stderr
    assert "127.0.0.1" in done.stdout + done.stderr


def test_squad_is_previewed_then_loaded(project: Path) -> None:
    asked = {"id": "1", "question": "Сколько живёт дуб?", "answers": [{"text": "тысячу лет"}]}
    articles = [{"title": "Oak", "paragraphs": [{"context": "Дуб живёт тысячу лет.", "qas": [asked]}]}]
    (project / "oak.json").write_text(json.dumps({"data": articles}), encoding="utf-8")
    preview = ragbench("load", "questions", "oak.json", "--name", "oak", "--dry-run")
    assert "1 passage on 1 page, 1 question" in preview.stdout
    assert "language ru" in preview.stdout
    assert not (project / "data" / "oak").exists()
    assert ragbench("load", "questions", "oak.json", "--name", "oak").returncode == 0
    assert (project / "data" / "oak" / "questions.ru.jsonl").is_file()
    again = ragbench("load", "questions", "oak.json", "--name", "oak")
    assert again.returncode == 3
    assert "--replace" in again.stderr


def test_metrics_can_be_read_by_a_machine() -> None:
    rows = json.loads(ragbench("metrics", "--json").stdout)
    named = {row["name"]: row for row in rows}
    assert named["ndcg"]["cutoffs"] == [5, 10]
    assert all(row["summary"] and row["source"] for row in rows)


def test_the_doctor_finds_what_is_wrong(project: Path) -> None:
    healthy = ragbench("doctor")
    assert healthy.returncode == 0, healthy.stdout
    assert "data set small: 5 passages, 4 questions" in healthy.stdout
    path = project / "ragbench.toml"
    judge = '[judges.j]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\nkey_variable = "NO_SUCH_KEY"\n'
    path.write_text(path.read_text(encoding="utf-8") + judge, encoding="utf-8")
    ill = ragbench("doctor")
    assert ill.returncode == 3
    assert "judge 'j' needs its key in the variable NO_SUCH_KEY, which is not set: export" in ill.stdout


@pytest.mark.slow
@pytest.mark.fault("database", tried="kills of the server during a run", count=1)
def test_the_server_killed_during_a_run_costs_a_message_and_no_number(project: Path) -> None:
    texts = [{"id": f"c{i:04}", "text": f"Passage {i} speaks of {i * 7919 % 1000} things."} for i in range(1500)]
    asked = [{"id": f"q{i}", "text": f"What of {i * 7919 % 1000}?", "relevant": {f"c{i:04}": 1}} for i in range(60)]
    write_lines(project / "data" / "small" / "chunks.en.jsonl", texts)
    write_lines(project / "data" / "small" / "questions.en.jsonl", asked)
    words = [sys.executable, "-m", "ragbench", "run", "tier1_retrieval", "-s", "ngrams", "-p", "resamples=1000"]
    status = ragbench("db", "start").stdout
    pid = int(status.split("process ")[1].split(":")[0])
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    part = project / "reports"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(part.glob("*/parts/tier1_retrieval/progress.json")):
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    _, error = running.communicate(timeout=120)
    if running.returncode:
        assert "database" in error
        assert "again" in error
    done = ragbench("run", "tier1_retrieval", "-s", "ngrams", "-p", "resamples=1000")
    assert done.returncode == 0, done.stderr
    first = (project / "reports" / "latest" / "scores.parquet").read_bytes()
    assert ragbench("run", "tier1_retrieval", "-s", "ngrams", "-p", "resamples=1000").returncode == 0
    assert (project / "reports" / "latest" / "scores.parquet").read_bytes() == first


def test_a_real_data_set_is_loaded_and_previewed(project: Path, shared_data: Callable[[str], Path]) -> None:
    done = ragbench("load", "questions", str(shared_data("xquad/xquad.en.json.gz")), "--name", "xquad-en", "--dry-run")
    assert "180 passages on 36 pages, 894 questions" in done.stdout
    assert "language en" in done.stdout
