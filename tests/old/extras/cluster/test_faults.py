"""What happens to a cluster whose database goes away, or whose workers have other files: real processes and servers."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old import tiers
from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Sample
from ragbench.old.extras.cluster import address
from ragbench.old.store import StoreError, server
from ragbench.old.store.database_tables import written
from tests.old import small_project
from tests.old.llm.chat_server import ChatServer
from tests.old.store.own_database import own_database

pytestmark = pytest.mark.slow
pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
ROWS = [Sample(f"q{n}", user_input=f"What is the number {n}?", response=f"It comes after {n - 1}.") for n in range(400)]
RESTARTS = 4
WHAT: dict[str, Any] = {"systems": "ngrams", "metrics": "mrr", "timed_questions": 0}


class Server:
    """A database server that others start and stop: whoever works with it has its address alone."""

    def __init__(self, own: Settings) -> None:
        self._own = own
        self.start()
        self.url = written(server.address(own))

    def start(self) -> None:
        server.start(self._own)

    def stop(self) -> None:
        """As by a power cut: what was not yet on the disk is forgotten."""
        server.cluster_of(self._own).run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with own_database() as own:
        there = Server(own)
        monkeypatch.setenv("RAGBENCH_DATABASE_URL", there.url)
        settings.load.cache_clear()
        yield there
        there.start()  # whoever ends it finds it


@contextlib.contextmanager
def workers(patch: pytest.MonkeyPatch) -> Iterator[None]:
    with address.started(2) as file:
        patch.setenv("RAGBENCH_CLUSTER", str(file))
        settings.load.cache_clear()
        yield
    patch.delenv("RAGBENCH_CLUSTER")
    settings.load.cache_clear()


def scored(server_url: str, name: str, rows: list[Sample]) -> Any:
    judge = rb.judge(model="m", base_url=server_url, name=name, concurrency=8)
    return rb.score(rows, metrics=["answer_relevance"], judge=judge)


def aside(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@pytest.mark.fault("cluster", tried="restarts of PostgreSQL while workers judge", count=4)
def test_a_table_is_scored_whole_whose_database_is_restarted(database: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(latency=0.2).running() as model:
        expected = [one["value"] for one in scored(model.url, "alone", ROWS).as_json()["samples"]]
        model.calls = 0
        monkeypatch.setenv("RAGBENCH_BUDGET__CALLS", str(len(ROWS)))  # so it ends where one is counted twice
        reached: list[int] = []

        def restart() -> None:
            for time_of in range(1, RESTARTS + 1):
                while model.calls < time_of * len(ROWS) // (RESTARTS + 1):
                    time.sleep(0.02)
                database.stop()
                reached.append(model.calls)
                time.sleep(1.0)
                database.start()

        with workers(monkeypatch):
            restarting = aside(restart)
            found = scored(model.url, "many", ROWS)
            restarting.join(60)
            again = scored(model.url, "many", ROWS)
        assert len(reached) == RESTARTS
        assert all(0 < calls < len(ROWS) for calls in reached), "each while the table was scored"
        assert [one["value"] for one in found.as_json()["samples"]] == expected
        assert found.usage["many"].replies == len(ROWS)
        assert again.as_json()["samples"] == found.as_json()["samples"]
        assert model.calls == len(ROWS), "no reply was paid for twice, and none was lost"


@pytest.mark.fault("cluster", tried="a PostgreSQL that does not come back while workers judge", count=1)
def test_what_a_database_that_stays_away_ends_goes_on_with_the_same_command(
    database: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(latency=0.2).running() as model, workers(monkeypatch):

        def stop() -> None:
            while model.calls < len(ROWS) // 3:
                time.sleep(0.02)
            database.stop()

        stopping = aside(stop)
        with pytest.raises(StoreError, match="run the same command again: what was computed is kept"):
            scored(model.url, "many", ROWS)
        stopping.join(60)
        before = model.calls
        assert before < len(ROWS) // 2, "whoever has nowhere to keep replies asks for no more of them"
        database.start()
        found = scored(model.url, "many", ROWS)
        assert found.usage["many"].replies == len(ROWS)
        lost = model.calls - len(ROWS)
        assert 0 <= lost <= 8, "only calls that were under way are asked again"


STYLE = '''
from ragbench.old.core.metric import metric
from ragbench.old.core.types import Sample, Score
from limits import LONGEST

@metric(source="the house style")
def short(sample: Sample) -> Score:
    """1 where the answer has at most so many words, else 0."""
    return Score(float(len((sample.response or "").split()) <= LONGEST))
'''


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: it has the files as they are now."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "ragbench", *words],
        cwd=folder, capture_output=True, text=True, timeout=120, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip


@pytest.mark.fault("other-worker", tried="a worker that has imported another state of a metric's module", count=2)
def test_a_worker_with_another_metric_of_ones_own_gets_nothing(
    bare: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project.add(bare, f'[database]\nfolder = "{database_folder}"\n[metrics]\nmodules = ["style"]\n')
    (bare / "style.py").write_text(STYLE, encoding="utf-8")
    (bare / "limits.py").write_text("LONGEST = 3\n", encoding="utf-8")
    small_project.write_lines(bare / "answers.jsonl", [{"user_input": "Where?", "response": "It is over there."}] * 4)
    score = ("score", "answers.jsonl", "-m", "short", "--json", "-")
    with workers(monkeypatch):
        done = command(bare, *score)
        assert done.returncode == 0, done.stderr
        assert '"value": 0.0' in done.stdout
        (bare / "limits.py").write_text("LONGEST = 4\n", encoding="utf-8")
        refused = command(bare, *score)
        doctor = command(bare, "doctor")
    assert refused.returncode == 3, refused.stdout
    said = " ".join(refused.stderr.split())
    assert "has another limits.py (" in said
    assert f"copy it to {bare} there, and start it again" in said
    assert "nothing was sent to them" in said
    assert "style.py" not in said
    assert doctor.returncode == 3
    assert "has another limits.py (" in doctor.stdout
    with workers(monkeypatch):
        done = command(bare, *score)
    assert done.returncode == 0, done.stderr
    assert '"value": 1.0' in done.stdout


@pytest.mark.fault("other-worker", tried="a data set that changes while workers are there", count=1)
def test_workers_take_the_data_of_whoever_asks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured() -> list[Any]:
        return [(one.system, one.metric, one.estimate.value) for one in tiers.tier1_retrieval(**WHAT).estimates]

    path = project / "data" / "small" / "chunks.en.jsonl"
    with workers(monkeypatch):
        first = measured()
        path.write_text(path.read_text(encoding="utf-8").replace("Text of a1", "What of q1? q1"), encoding="utf-8")
        second = measured()
    assert second != first
    assert second == measured()
