"""Runs over notebooks say what they said: the findings kept in behaviour.json."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from ragbench.old import data as datasets
from ragbench.old.core import annexes
from ragbench.old.core.settings import Settings
from ragbench.old.embed import wheels
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.store import Store
from ragbench.old.systems import make
from tests.old.report import behaviour

WITHOUT = [kind for kind in wheels.PACKAGES if wheels.lacking(kind)]
OFF = 0.02
"""By so much a model's library may move a mean of 129 questions; of BM25 nothing may move."""


def _needs_models(name: str) -> None:
    if WITHOUT and name.startswith("default"):
        pytest.skip(f"the extra `models` is not installed: {WITHOUT}")


@pytest.mark.slow
@pytest.mark.parametrize("name", behaviour.RUNS)
def test_a_run_says_what_it_said(
    name: str, tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _needs_models(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGBENCH_CONFIG", os.devnull)  # put back at the end
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    assert behaviour.differences(behaviour.kept()[name], behaviour.run(name, tmp_path)) == []


@pytest.mark.parametrize(
    ("language", "system"),
    [
        ("en", "bm25"), ("ru", "hybrid"),
        *(pytest.param(*each, marks=pytest.mark.slow)
          for each in (("ru", "bm25"), ("ru", "dense"), ("en", "dense"), ("en", "hybrid"))),
    ],
)  # fmt: skip
def test_the_default_systems_find_what_they_found(store: Store, language: str, system: str) -> None:
    if system != "bm25":
        _needs_models("default")
    default = Settings(**tomllib.loads(annexes.CONFIGURATION.read_text(encoding="utf-8")))
    data = datasets.load(f"campus:{language}", annexes.DATA)
    asked = [question for question in data.questions if question.relevant]
    found = make(system, default, store, data).retrieve(asked, 10)
    hits = dict(zip((question.id for question in asked), found.hits, strict=True))
    values = evaluate(ranking_arrays.from_questions(asked, hits, depth=10), ["mrr@10", "ndcg@10"])
    kept = behaviour.kept()[f"default-{language}"]["tier1_retrieval"]
    for metric, each in values.items():
        assert kept[f"{system} {metric}"][3] == len(each)
        assert each.mean() == pytest.approx(
            kept[f"{system} {metric}"][0], abs=behaviour.NEAR if system == "bm25" else OFF
        )


def test_every_run_is_kept_and_what_is_lost_or_changed_is_a_difference() -> None:
    kept = behaviour.kept()
    assert set(kept) == set(behaviour.RUNS)
    assert behaviour.differences(kept, kept) == []
    page = {"page": {"a mrr": [0.5, None], "b mrr": [0.25, None]}}
    assert behaviour.differences(page, {"page": {"a mrr": [0.5, None]}}) == ["page: b mrr: [0.25, None] → None"]
    assert len(behaviour.differences(page, {"page": {"a mrr": [0.5, 1], "b mrr": [0.25, None], "c": [1]}})) == 1
    assert len(behaviour.differences(page, {})) == 2
