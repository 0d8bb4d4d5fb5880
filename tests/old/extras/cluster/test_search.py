"""Approximate search in parts: what is found hangs on no parting and on no process, and what is timed is not parted."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import cloudpickle
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragbench.old import tiers
from ragbench.old.core import settings as configuration
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Vectors
from ragbench.old.extras.cluster import address
from ragbench.old.extras.cluster.storage import ByWorkers
from ragbench.old.store import Neighbours, Store, StoreError, database, pool
from ragbench.old.store.pool import elsewhere
from ragbench.old.views import Page
from ragbench.old.views.page import VIEWS
from tests.old import small_project
from tests.old.store.parted import Cuts
from tests.old.store.test_store import TableEmbedder, chunks_of, filled

WAYS: tuple[dict[str, Any], ...] = (
    {"index": "hnsw", "m": 4, "ef_construction": 8, "ef_search": 4},
    {"index": "ivfflat", "lists": 20, "probes": 2},
)
QUESTIONS = 60


def same(one: Neighbours, other: Neighbours) -> bool:
    """To the bit."""
    bits = [[row.tobytes() for row in found.similarities] for found in (one, other)]
    return one.ids == other.ids and bits[0] == bits[1]


@pytest.fixture(scope="module")
def searched(store: Store) -> tuple[str, TableEmbedder, Vectors, list[Neighbours]]:
    """Passages of which many are equally near, questions, and what one process finds by each way."""
    embedder = TableEmbedder("parted", 6)
    name = filled(store, "parted", embedder, chunks_of("parted", 400))
    queries = store.vectors(embedder, [f"parted text {n}" for n in range(QUESTIONS)], kind="query")
    return name, embedder, queries, [store.search(name, embedder, queries, 9, **how) for how in WAYS]


class TestParts:
    @pytest.mark.slow
    @settings(
        max_examples=20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(cuts=st.lists(st.integers(1, QUESTIONS - 1), max_size=8))
    def test_what_is_found_hangs_on_no_parting(
        self, searched: tuple[Any, ...], database_settings: Settings, cuts: list[int]
    ) -> None:
        name, embedder, queries, whole = searched
        others, told = Cuts(database_settings, cuts), list[int]()
        with pytest.MonkeyPatch.context() as patch, Store.open(database_settings, others) as parted:
            patch.setattr(database, "APART", 1)
            for how, expected in zip(WAYS, whole, strict=True):
                found = parted.search(name, embedder, queries, 9, progress=told.append, **how)
                assert same(found, expected)
                assert np.isnan(found.milliseconds).all(), "what disturbs each other is not timed"
        assert others.parts == 2 * len({0, *cuts})
        assert sum(told) == 2 * QUESTIONS

    def test_what_is_timed_exact_or_little_is_not_parted(
        self, searched: tuple[Any, ...], database_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name, embedder, queries, whole = searched
        others = Cuts(database_settings)
        with Store.open(database_settings, others) as parted:
            assert same(parted.search(name, embedder, queries, 9, **WAYS[0]), whole[0]), "so few have no other process"
            monkeypatch.setattr(database, "APART", 1)
            timed = parted.search(name, embedder, queries, 9, batch=1, **WAYS[0])
            assert (parted.search(name, embedder, queries, 9).milliseconds > 0).all()
        assert (timed.milliseconds > 0).all()
        assert same(timed, whole[0])
        assert others.parts == 0

    def test_workers_that_are_no_more_than_ones_connections_are_not_asked(
        self, searched: tuple[Any, ...], database_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Few(Cuts):
            def search(self, find: database.Find, queries: Vectors, connections: int, progress: Any) -> Any:
                self.parts = connections
                return None

        name, embedder, queries, whole = searched
        monkeypatch.setattr(database, "APART", 1)
        monkeypatch.setattr(os, "cpu_count", lambda: 3)
        few = Few(database_settings)
        with Store.open(database_settings, few) as parted:
            assert same(parted.search(name, embedder, queries, 9, **WAYS[0]), whole[0])
        assert few.parts == 3


def die_at_first(folder: str, known: Settings, queries: Vectors, progress: Any) -> list[float]:
    mark = Path(folder) / str(float(queries[0, 0]))
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return [float(one) for one in queries[:, 0]]


def refuse(known: Settings, queries: Vectors, progress: Any) -> NoReturn:
    raise StoreError("databases.own: the variable OWN is not set; export OWN=…")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Path]:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers have no folder of tests
    with address.started(2) as file:
        yield file
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.mark.slow
class TestWorkers:
    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The parts that workers found, search by search."""
        found = list[int]()

        def noted(self: ByWorkers, *given: Any, real: Callable[..., Any] = ByWorkers.search) -> Any:
            parts = real(self, *given)
            found.append(0 if parts is None else len(parts))
            return parts

        monkeypatch.setattr(ByWorkers, "search", noted)
        monkeypatch.setattr(database, "APART", 1)
        return found

    @pytest.mark.fault("cluster", tried="kills of workers that search", count=2)
    def test_a_part_whose_worker_is_killed_is_searched_for_again(
        self, scheduler: Path, database_settings: Settings, tmp_path: Path
    ) -> None:
        known = database_settings.model_copy(update={"cluster": str(scheduler)})
        queries, told = np.arange(300, dtype=np.float32)[:, None], list[int]()
        found = ByWorkers(known).search(partial(die_at_first, str(tmp_path)), queries, 0, told.append)
        assert found is not None
        assert [one for part in found for one in part] == queries[:, 0].tolist()
        assert len(list(tmp_path.iterdir())) == len(found) == 2
        assert sum(told) == 300
        with pool.opened(known) as workers:
            while workers is not None and workers.count < 2:  # whoever comes next finds both
                time.sleep(0.1)

    def test_what_a_worker_cannot_search_names_its_machine(self, scheduler: Path, database_settings: Settings) -> None:
        known = database_settings.model_copy(update={"cluster": str(scheduler)})
        with pytest.raises(StoreError, match=r"the worker on \S+: databases\.own: the variable OWN is not set"):
            ByWorkers(known).search(refuse, np.ones((9, 1), np.float32), 0, None)

    def test_as_many_workers_as_connections_are_left_alone(self, scheduler: Path, database_settings: Settings) -> None:
        known = database_settings.model_copy(update={"cluster": str(scheduler)})
        assert ByWorkers(known).search(refuse, np.ones((9, 1), np.float32), 2, None) is None

    def test_workers_find_what_one_process_finds(
        self, scheduler: Path, searched: tuple[Any, ...], database_settings: Settings, asked: list[int]
    ) -> None:
        name, embedder, queries, whole = searched
        one = database_settings.database.model_copy(update={"connections": 1})
        known = Settings(database=one, cluster=str(scheduler))
        many = np.concatenate([queries] * 10)
        with Store.open(known, elsewhere(known)) as parted:
            for how, expected in zip(WAYS, whole, strict=True):
                found = parted.search(name, embedder, many, 9, **how)
                tenfold = Neighbours(expected.ids * 10, expected.similarities * 10, expected.milliseconds)
                assert same(found, tenfold)
        assert asked == [3, 3]

    def test_a_page_of_approximate_search_is_that_of_one_process(
        self, scheduler: Path, project: Path, monkeypatch: pytest.MonkeyPatch, asked: list[int]
    ) -> None:
        chunks = [{"id": f"c{n:03}", "text": f"Passage {n} of {n % 7}.", "url": f"/{n}"} for n in range(300)]
        questions = [{"id": f"q{n:03}", "text": f"Passage {n}?", "relevant": {f"c{n:03}": 1}} for n in range(40)]
        small_project.write_lines(project / "data" / "small" / "chunks.en.jsonl", chunks)
        small_project.write_lines(project / "data" / "small" / "questions.en.jsonl", questions)
        small_project.add(project, '[systems.graph]\nembedder = "hashing"\nindex = "hnsw"\nef_search = 3\n')
        monkeypatch.setenv("RAGBENCH_DATABASE__CONNECTIONS", "1")

        def page(cluster: str | None) -> dict[str, str]:
            with pytest.MonkeyPatch.context() as patch:
                if cluster is not None:
                    patch.setenv("RAGBENCH_CLUSTER", cluster)
                configuration.load.cache_clear()
                found = tiers.tier1_retrieval(
                    systems="graph, ngrams", baseline="ngrams", timed_questions=7, ef_searches=(3, 40), resamples=200
                )  # fmt: skip
            configuration.load.cache_clear()
            assert len(found.extra["latencies"]) == 28, "two systems, two parts of seven questions"
            return {name: Page(found).view(name).draw(frozenset()) for name in VIEWS} | {
                "scores": found.scores.to_csv(), "retrieved": found.retrieved.to_csv(), "facts": repr(found.facts),
            }  # fmt: skip

        there, fresh = page(str(scheduler)), len(asked)
        assert fresh == 3, "a system that searches approximately, three times; nothing that is timed"
        here = page(None)
        assert len(asked) == fresh
        assert [name for name in here if here[name] != there[name]] == []
