"""What Tier 1 measures in PostgreSQL: exact search beside indexes, and times that are kept."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.settings import Settings
from ragbench.core.trust import trust
from ragbench.store import Store
from ragbench.tiers import tier1_retrieval as tier
from ragbench.tiers.clock import RUN_FOLDER, find_readings, keep_readings
from ragbench.tiers.common import open_workbench, read_options

WORDS = ("card", "exam", "library", "mark", "dormitory", "office", "pass", "term", "fee", "appeal")
PASSAGES = [
    {"id": f"p{n}", "text": f"{WORDS[n % 10]} {WORDS[n // 10]} number {n}"} for n in range(60)
]
QUESTIONS = [{"id": f"q{n}", "text": f"which {WORDS[n]}?", "relevant": [f"p{n}"]} for n in range(8)]


def test_readings_are_kept_for_the_same_inputs(
    store: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.engine.connect().close()
    inputs = {"what": "a test", "k": 3}
    readings = pd.DataFrame({"system": ["a", "b"], "latency_ms": [0.1234567890123, None]})
    kept = keep_readings(store, inputs, readings)
    found = find_readings(store, inputs)
    assert found is not None
    pd.testing.assert_frame_equal(found, kept)
    assert found["latency_ms"][0] == pytest.approx(0.1234567890123)
    assert find_readings(store, {**inputs, "k": 4}) is None
    newer = keep_readings(store, inputs, readings.assign(latency_ms=1.0))
    pd.testing.assert_frame_equal(find_readings(store, inputs), newer)
    # The other pages of a run look into the database, though they have not used it yet.
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    with Store() as other:
        assert find_readings(other, inputs) is None
        monkeypatch.setenv(RUN_FOLDER, "reports/1")
        pd.testing.assert_frame_equal(find_readings(other, inputs), newer)


def test_a_data_set_may_be_tables_of_your_own(
    store: Store, database_url: str, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OWN_URL", database_url)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE desk (id text PRIMARY KEY, body text)")
        connection.exec_driver_sql("INSERT INTO desk VALUES ('a', 'It opens at 8.')")
    table = 'url_variable = "TEST_OWN_URL"\npassages = "desk"\ntext = "body"\n'
    (empty_folder / "ragbench.toml").write_text(f"[databases.kb]\n{table}", encoding="utf-8")
    trust(empty_folder)
    result = rb.dataset(dataset="db:kb")
    assert result.frames.passages["text"].tolist() == ["It opens at 8."]


def test_no_database_is_started_to_look_for_readings() -> None:
    unused = Store()
    assert find_readings(unused, {}) is None
    keep_readings(unused, {}, pd.DataFrame({"x": [1]}))
    assert not unused.is_connected


def test_exact_search_stands_beside_indexes_and_times_are_the_same_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    settings = Settings.model_validate(
        {"retrievers": {"dense": {"kind": "dense", "embedder": "hashing"}}}
    )
    options = {"systems": "bm25, dense, hybrid", "k": 5, "draws": 200, "repeats": 1}
    request = read_options(tier.Request, options)
    measured = []
    for _ in range(2):
        opening = open_workbench(
            request, questions=QUESTIONS, documents=PASSAGES, settings=settings
        )
        with opening as bench:
            complete = tier.complete_request(bench.request)
            measured.append(tier.measure(complete, bench))
            assert bench.about(has_answers=False).stand_ins == ("embedder hashing",)
    first, second = measured
    indexes = first.indexes
    assert list(indexes["index"]) == ["exact", "hnsw", "ivfflat"]
    assert set(indexes["system"]) == {"dense"}  # hybrid searches the same vectors
    assert indexes["recall"][0] == 1.0
    assert list(indexes["n"]) == [8, 8, 8]
    pd.testing.assert_frame_equal(first.indexes, second.indexes)
    pd.testing.assert_frame_equal(first.asked, second.asked)
