"""Scoring on a Dask cluster, by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.cli.main import run

METRICS = "token_f1,rougeL_f,faithfulness"


def write_answers(folder: Path) -> None:
    rows = ["id,system,question,answer,reference,contexts"]
    for system in ("a", "b"):
        for n in range(150):
            answer = f"room {n % 7} of house {n % 3}" if system == "a" else f"house {n % 3}"
            rows.append(f"q{n},{system},where is {n}?,{answer},room {n % 7} house 2,house {n % 3}")
    (folder / "answers.csv").write_text("\n".join(rows) + "\n")


@pytest.mark.slow
def test_two_processes_give_the_same_bits(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_answers(office)
    line = ["score", "answers.csv", "-m", METRICS, "--judge", "lexical"]
    assert run([*line, "--json", "alone.json"]) == 0
    monkeypatch.setenv("RAGBENCH_CLUSTER", "local:2")
    assert run([*line, "--json", "spread.json"]) == 0
    assert (office / "alone.json").read_bytes() == (office / "spread.json").read_bytes()


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(office)
    monkeypatch.setenv("RAGBENCH_CLUSTER", "tcp://127.0.0.1:9")
    assert run(["score", "answers.csv", "-m", "token_f1"]) == 3
    said = capsys.readouterr().err
    assert "cluster tcp://127.0.0.1:9: nobody answers there" in said
    assert "Traceback" not in said


def test_another_form_of_address_is_refused(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_answers(office)
    monkeypatch.setenv("RAGBENCH_CLUSTER", "lokal:2")
    assert run(["score", "answers.csv", "-m", "token_f1"]) == 3
    assert "write local:N or tcp://HOST:PORT" in capsys.readouterr().err
