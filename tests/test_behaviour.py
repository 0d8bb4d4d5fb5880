"""Runs over notebooks say what they said: the findings kept in behaviour.json, to the last digit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import behaviour


@pytest.mark.slow
@pytest.mark.parametrize("name", behaviour.RUNS)
def test_a_run_says_what_it_said(
    name: str, tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGBENCH_CONFIG", os.devnull)  # put back at the end
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    assert behaviour.differences(behaviour.kept()[name], behaviour.run(name, tmp_path)) == []


def test_every_run_is_kept_and_what_is_lost_or_changed_is_a_difference() -> None:
    kept = behaviour.kept()
    assert set(kept) == set(behaviour.RUNS)
    assert behaviour.differences(kept, kept) == []
    page = {"page": {"a mrr": [0.5, None], "b mrr": [0.25, None]}}
    assert behaviour.differences(page, {"page": {"a mrr": [0.5, None]}}) == ["page: b mrr: [0.25, None] → None"]
    assert len(behaviour.differences(page, {"page": {"a mrr": [0.5, 1], "b mrr": [0.25, None], "c": [1]}})) == 1
    assert len(behaviour.differences(page, {})) == 2
