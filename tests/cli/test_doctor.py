"""`ragbench doctor`, as it is typed: what it looks at, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.cli.main import run

SETTINGS = """
dataset = "campus"
embedder = "hashing"

[embedders.other]
kind = "hashing"
"""


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        ("", 0, "· embedder   hashing: hashing"),
        ('[systems.a]\nretriever = "bm26"', 3, "did you mean 'bm25'"),
    ],
)
def test_the_code_says_whether_something_is_wrong(
    project: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: str,
    code: int,
    said: str,
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    (project / "ragbench.toml").write_text(SETTINGS + more, encoding="utf-8")
    assert run(["doctor"]) == code
    told = capsys.readouterr().out
    assert said in told
    assert "✓ data       campus: 105 passages, 157 questions" in told
    assert ("✗" in told) == (code != 0)
