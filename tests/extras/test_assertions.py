"""Assertions for pytest: what passes, and what a failure says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench.extras.planning.testing import assert_at_least, assert_at_most, assert_not_worse


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return scores of two systems: a is right on 40 of 40 questions, b on 30."""
    monkeypatch.chdir(tmp_path)
    rows = []
    for n in range(40):
        row = {"id": f"q{n}", "question": "?", "reference": "yes"}
        rows.append({**row, "system": "a", "answer": "yes"})
        rows.append({**row, "system": "b", "answer": "no" if n < 10 else "yes"})
    return rb.score(rows, ["token_f1", "edit_distance"], draws=1_000)


def test_what_holds_passes(result: Any) -> None:
    assert_at_least(result, "token_f1", 0.85, "a")
    assert_at_most(result, "token_f1", 0.95, "b")
    assert_not_worse(result, "token_f1", 0.5)
    # Whose end is at the bound keeps it.
    row = result.estimates.set_index(["system", "metric"]).loc["b", "token_f1"]
    assert_at_least(result, "token_f1", row["low"], "b")
    assert_at_most(result, "token_f1", row["high"], "b")
    gap = result.comparisons.set_index("metric").loc["token_f1"]
    assert_not_worse(result, "token_f1", -gap["low"], "b")


def test_a_failure_names_numbers_and_questions(result: Any) -> None:
    with pytest.raises(AssertionError, match=r"token_f1 of b: 0\.750 \[.*\] of 40 questions") as f:
        assert_at_least(result, "token_f1", 0.75, "b")
    assert "at least 0.75 was asked\n  q0: 0.000" in str(f.value)
    assert len(str(f.value).splitlines()) == 1 + 3
    with pytest.raises(AssertionError, match=r"at most 0\.8 was asked"):
        assert_at_most(result, "token_f1", 0.8, "b")
    with pytest.raises(AssertionError, match=r"token_f1 of b against a: -0\.250 \[.*0\.1 was"):
        assert_not_worse(result, "token_f1", 0.1)
    with pytest.raises(AssertionError, match="nothing was measured of faithfulness"):
        assert_at_least(result, "faithfulness", 0.1)
    with pytest.raises(AssertionError, match="nothing is compared on faithfulness"):
        assert_not_worse(result, "faithfulness", 0.1)
    rows = [{"question": "?", "answer": "Red fox.", "contexts": contexts} for contexts in ("x", "")]
    with pytest.raises(
        AssertionError, match=r"0 of 1 claims: 0 / 1 = 0\.000\n  2: nan no contexts"
    ):
        assert_at_least(rb.score(rows, ["faithfulness"], judge="lexical"), "faithfulness", 0.5)
