"""A real cluster of this machine's processes: the same numbers, and what is lost with a worker or a scheduler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import psutil
import pytest

import ragbench.old as rb
from ragbench.old import llm, report
from ragbench.old.core import settings
from ragbench.old.extras.cluster import address
from ragbench.old.extras.cluster.worker_pool import Workers
from ragbench.old.store import Store, pool
from ragbench.old.store.pool import ClusterError, UnfitError, elsewhere
from tests.old.extras.cluster.test_workers import samples
from tests.old.llm.chat_server import ChatServer

pytestmark = pytest.mark.slow
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers have no folder of tests
pytest.importorskip("distributed", reason="the extra `cluster` is not installed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Path]:
    with address.started(2) as file:
        yield file


@pytest.fixture
def known(scheduler: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[settings.Settings]:
    monkeypatch.setenv("RAGBENCH_CLUSTER", str(scheduler))
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    settings.load.cache_clear()
    yield settings.load()
    monkeypatch.delenv("RAGBENCH_CLUSTER", raising=False)
    settings.load.cache_clear()


@pytest.fixture
def workers(known: settings.Settings) -> Iterator[Workers]:
    with pool.opened(known) as found:
        assert found is not None
        yield found


def square(common: int, part: int, tell: Any) -> tuple[int, int]:
    tell({"done": 1, "calls": {}})
    return common * part * part, os.getpid()


def die_at_first(folder: str, part: int, tell: Any) -> int:
    """Kills its process, as often as the folder has no file for that death yet."""
    for death in range(4):
        mark = Path(folder) / f"{part}-{death}"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return part


def die(common: None, part: int, tell: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(common: None, part: int, tell: Any) -> None:
    raise ValueError(f"part {part} cannot be done")


def _words(one: psutil.Process) -> list[str]:
    """Its command; empty of one that has ended and that nobody has asked for yet, as other tests leave behind."""
    try:
        return one.cmdline()
    except psutil.Error:
        return []


def begin(common: str, part: int, tell: Any) -> int:
    """Says that it has begun, and does not end."""
    Path(common).touch()
    time.sleep(60)
    return part


class TestWorkers:
    def test_parts_come_back_in_their_order(self, workers: Workers) -> None:
        heard: list[Any] = []
        assert workers.count == 2
        found = workers.map(square, 3, range(20), lambda _, state: heard.append(state["done"]))
        assert [value for value, _ in found] == [3 * n * n for n in range(20)]
        assert os.getpid() not in {process for _, process in found}
        assert set(heard) <= {1}

    def test_what_a_part_raises_is_raised(self, workers: Workers) -> None:
        with pytest.raises(ValueError, match="part 0 cannot be done"):
            workers.map(fail, None, [0])

    @pytest.mark.fault("cluster", tried="kills of workers", count=20)
    def test_twenty_workers_killed_are_replaced_and_nothing_is_lost(self, workers: Workers, tmp_path: Path) -> None:
        assert workers.map(die_at_first, str(tmp_path), range(5)) == list(range(5))
        assert len(list(tmp_path.iterdir())) == 20

    @pytest.mark.fault("cluster", tried="a part that ends every worker", count=1)
    def test_a_part_that_ends_every_worker_is_named(self, workers: Workers) -> None:
        with pytest.raises(ClusterError, match=r"1 of 1 parts ended every worker"):
            workers.map(die, None, [0])


@pytest.mark.fault("cluster", tried="a scheduler that is killed", count=1)
def test_a_scheduler_that_is_lost_is_named_with_what_goes_on(project: Path) -> None:
    known, begun = settings.load(), project / "begun"
    with address.started(1) as file, pool.opened(known.model_copy(update={"cluster": str(file)})) as workers:
        assert workers is not None
        [program] = [one for one in psutil.Process().children() if str(file.parent) in _words(one)]

        def kill() -> None:
            while not begun.exists():
                time.sleep(0.05)
            for one in (program, *program.children(recursive=True)):
                one.kill()

        threading.Thread(target=kill, daemon=True).start()
        with pytest.raises(ClusterError, match=r"is lost .*the same command goes on from there"):
            workers.map(begin, str(begun), [0, 1])


def test_workers_end_with_whoever_started_them_and_leave_no_key(tmp_path: Path) -> None:
    program = (
        "import time\nfrom ragbench.old.extras.cluster import address\n"
        "with address.started(1) as file:\n    print(file, flush=True)\n    time.sleep(600)\n"
    )
    there = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=there) as starter:
        assert starter.stdout is not None
        folder = Path(starter.stdout.readline().strip()).parent
        assert (folder / address.KEY).is_file()
        children = psutil.Process(starter.pid).children(recursive=True)
        assert len(children) >= 2
        starter.kill()
        _, alive = psutil.wait_procs(children, 30)
    assert alive == []
    assert list(tmp_path.iterdir()) == []


class TestFitness:
    @pytest.mark.fault("other-worker", tried="a worker of another version, without a key", count=2)
    def test_a_worker_of_another_version_gets_nothing(self, workers: Workers) -> None:
        workers._identity = replace(workers._identity, version="99.0", keys=frozenset({"NO_SUCH_KEY"}))
        with pytest.raises(UnfitError) as refusal:
            workers.check()
        assert len(refusal.value.differences) == 4, "two workers, two differences"
        assert "99.0 asks it" in str(refusal.value)
        assert "NO_SUCH_KEY" in str(refusal.value)
        with pytest.raises(UnfitError, match=r"99\.0 asks it"):
            workers.map(square, 1, [1])

    @pytest.mark.fault("network", tried="a scheduler asked by somebody without its certificate", count=1)
    def test_nobody_without_the_key_gets_in(self, scheduler: Path) -> None:
        from distributed import Client
        from distributed.security import Security

        url = json.loads(scheduler.read_text())["address"]
        stranger = Security.temporary()
        with pytest.raises((OSError, TimeoutError)):
            Client(url, security=stranger, timeout=5)
        assert oct(scheduler.parent.stat().st_mode & 0o777) == "0o700"


def distinct(number: int) -> list[Any]:
    return [replace(one, id=f"q{place}") for place, one in enumerate(samples(number))]


class TestNumbers:
    METRICS = ("faithfulness", "rouge1_f", "semantic_similarity", "response_relevancy")

    def test_scores_are_those_of_one_process(self, known: settings.Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = distinct(30)
        there = rb.score(rows, metrics=list(self.METRICS)).as_json()
        monkeypatch.delenv("RAGBENCH_CLUSTER")
        settings.load.cache_clear()
        assert there == rb.score(rows, metrics=list(self.METRICS)).as_json()

    def test_a_reply_is_paid_for_once_and_kept(self, known: settings.Settings) -> None:
        rows = [one for one in distinct(16) if one.response]
        twice = [*rows, *(replace(one, id=f"{one.id}-again") for one in rows)]
        with ChatServer(latency=0.05).running() as server:
            judge = rb.judge(model="m", base_url=server.url, name=f"j{time.time_ns()}")
            found = rb.score(twice, metrics=["faithfulness"], judge=judge)
            asked = server.calls
            again = rb.score(twice, metrics=["faithfulness"], judge=judge)
            assert server.calls == asked, "all of it was in the journal"
        assert found.as_json() == again.as_json()
        assert asked == found.usage[judge.name].replies, "equal questions of two parts are one call"

    def test_one_budget_holds_for_all_workers(self, known: settings.Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAGBENCH_BUDGET__CALLS", "20")
        settings.load.cache_clear()
        rows = [replace(one, response=f"{one.response} {n}") for n, one in enumerate(distinct(60))]
        with ChatServer(latency=0.02).running() as server:
            judge = rb.judge(model="m", base_url=server.url, name=f"j{time.time_ns()}")
            with pytest.raises(llm.BudgetSpent, match="calls: 20 of 20"):
                rb.score(rows, metrics=["answer_relevance"], judge=judge)
            assert server.calls == 20

    def test_vectors_are_computed_elsewhere_and_kept(self, known: settings.Settings) -> None:
        from ragbench.old import embed
        from ragbench.old.core.settings import EmbedderSettings

        texts = [f"text number {n} of {time.time_ns()}" for n in range(300)]
        made = embed.make("hashing", EmbedderSettings(), texts)
        told: list[int] = []
        with Store.open(known, elsewhere(known)) as store:
            assert store.embed(made, texts, batch=16, progress=told.append) == 300
            assert sum(told) == 300
            assert store.embed(made, texts, batch=16) == 0
            kept = store.vectors(made, texts)
        assert (kept == made.embed(texts)).all()

    def test_exact_search_finds_the_same(self, known: settings.Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        from ragbench.old import embed
        from ragbench.old.core.settings import EmbedderSettings
        from ragbench.old.core.types import Chunk
        from ragbench.old.store import database

        chunks = [Chunk(f"c{n:04}", f"passage {n % 90} about {n % 7}") for n in range(400)]
        made = embed.make("hashing", EmbedderSettings(), [one.text for one in chunks])
        with Store.open(known, elsewhere(known)) as store:
            store.load_chunks("searched by workers", "searched", chunks)
            store.embed(made, [one.text for one in chunks])
            queries = made.embed([f"passage {n}" for n in range(20)], kind="query")
            here = store.exact_in_blocks("searched by workers", made, queries, 15)
            monkeypatch.setattr(database, "PART", 64)
            told: list[int] = []
            there = store.exact_in_blocks("searched by workers", made, queries, 15, progress=told.append)
        assert there.ids == here.ids
        assert [row.tolist() for row in there.similarities] == [row.tolist() for row in here.similarities]
        assert sum(told) == 20

    def test_the_pages_of_a_run_are_those_of_one_process(
        self, known: settings.Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def run(name: str) -> dict[str, bytes]:
            done = report.run(["tier1_retrieval", "rag_metrics", "tier_judge"], {"tempted": 12}, tmp_path / name)
            assert not done.failures
            kept = ("*.html", "metrics/*.html", "parts/*/findings.json", "summary.json")
            return {
                path.relative_to(done.folder).as_posix(): path.read_bytes()
                for pattern in kept
                for path in sorted(done.folder.glob(pattern))
            }

        there = run("there")
        monkeypatch.delenv("RAGBENCH_CLUSTER")
        settings.load.cache_clear()
        here = run("here")
        assert there.keys() == here.keys()
        assert [name for name in here if here[name] != there[name]] == []
