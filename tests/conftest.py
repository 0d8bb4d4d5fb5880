"""What every test may ask for: real data beside the checkout, settings that do not leak, a database of its own."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest import runner

if TYPE_CHECKING:
    from ragbench.old.core.settings import Settings
    from ragbench.old.report.execution.kernel_pool import KernelPool
    from ragbench.old.store import Store

ROOT = Path(__file__).parent.parent
SHARED = Path(os.environ.get("RAGBENCH_TEST_DATA") or ROOT.parent / "shared" / "data")

MEMORY, ROOM = "/dev/shm", 4 * 2**30
"""Where tests write if so many bytes are free there: on a disk a tenth of all time goes into making their files."""
SLOW_SECONDS = 1800
"""Of a slow test; the others have what pyproject.toml says. A hang is then one failure, and the others still run."""


def pytest_configure(config: pytest.Config) -> None:
    """Before anything imports numpy: threads of processes that run side by side would wait at full speed."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if (
        "TMPDIR" not in os.environ
        and os.access(MEMORY, os.W_OK)
        and shutil.disk_usage(MEMORY).free >= ROOM
    ):
        os.environ["TMPDIR"], tempfile.tempdir = MEMORY, None
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as in the background, or by nohup: processes inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # until all tests are collected: next to nothing of what is imported is garbage
    here = not config.getoption(
        "numprocesses", None
    )  # this process runs tests, and starts no others that do
    profile = config.getoption("--hypothesis-profile")
    if here:
        from ragbench.old.report.keeping import results

        results.notebook_format()  # by its one door, before a test imports nbformat by itself
    if here or profile:  # whoever starts others looks the profile up, too
        import hypothesis

        # deadlines, and the health check of slow drawing, would measure what else the machine does
        unhurried = hypothesis.settings(
            deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
        )
        # the same examples at every run: what fails is the change, not luck; `make slow` draws others each time
        hypothesis.settings.register_profile(
            "unhurried", unhurried, max_examples=6, derandomize=True
        )
        hypothesis.settings.register_profile("searching", unhurried, max_examples=60)
        if not profile:
            hypothesis.settings.load_profile("unhurried")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: much of a test's time is waiting, for kernels, browsers and servers."""
    return (os.cpu_count() or 1) + 1


def pytest_collection(session: pytest.Session) -> None:
    """Processes side by side import the tests from another file on each: what one has compiled, the others read."""
    given = getattr(session.config, "workerinput", None)
    if given is None:
        return
    folders = [ROOT / argument for argument in session.config.args if "::" not in argument]
    files = [path for folder in folders for path in sorted(folder.rglob("test_*.py"))]
    first = len(files) * int(given["workerid"].removeprefix("gw")) // given["workercount"]
    for path in (*files[first:], *files[:first]):
        with contextlib.suppress(
            Exception, pytest.skip.Exception
        ):  # which the collection meets again, and tells
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests their time."""
    for item in items:
        if (
            item.get_closest_marker("slow") is not None
            and item.get_closest_marker("timeout") is None
        ):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))


def pytest_collection_finish() -> None:
    """What all tests have imported stays to the end: no collection of garbage walks through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(
        100_000, 20, 20
    )  # tests make much and keep little of it: as seldom as memory allows


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """What a process tells of each of ten thousand tests is read by one other: of what passed at once the call is told,
    and neither what was made ready for it nor what was put away."""
    if getattr(item.config, "workerinput", None) is None:
        return None
    for report in runner.runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 1:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of a test that passes nobody asks the keywords: they are most of what processes would tell of it."""
    report = yield
    if report.passed:
        report.keywords = {}
    return report


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a real data set or one of its files; the test is skipped, with the reason, where it is absent."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"the real data set {name} is not beside this checkout ({SHARED} has none)")
        return path

    return find


@pytest.fixture(scope="session", autouse=True)
def _nobody_is_asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The projects of tests are trusted, and what a test itself trusts is kept in a folder of this session's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("RAGBENCH_TRUST", "/")
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_database_of_the_users() -> Iterator[None]:
    """A test that asks for it fails: it would leave its rows there, and pass or fail by what it finds."""
    from ragbench.old.store import server

    def refused() -> Path:
        pytest.fail(
            "the database of who runs the tests is asked for: give this one `project`, or `database_settings`"
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "of_the_user", refused)
        yield


@pytest.fixture(scope="session", autouse=True)
def _nobody_waits_for_the_disk() -> Iterator[None]:
    """What tests write need not outlive the power; that it would is held by tests that watch the calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_command_line() -> Iterator[None]:
    """The commands are built once; typer would build all of them anew at every call, as a new process must."""
    import typer.main
    import typer.testing

    built = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", built)
        patch.setattr(typer.testing, "_get_command", built)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_model_that_nobody_names() -> Iterator[None]:
    """Metrics embed by hashing where no test says by what: none waits for a model."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGBENCH_EMBEDDER", "hashing")
        yield


@pytest.fixture(autouse=True)
def _of_this_test_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settings are read anew; a project that has joined the path leaves it, and so do metrics of a test's functions."""
    from ragbench.old.core import metric, settings

    for name in [each for each in os.environ if each.startswith(settings.PREFIX)]:
        if name not in settings.PROCESS_VARIABLES and name != "RAGBENCH_EMBEDDER":
            monkeypatch.delenv(name)
    settings.load.cache_clear()
    path, known = [*sys.path], set(metric._registry)
    yield
    settings.load.cache_clear()
    sys.path[:] = path
    if metric._registry.keys() != known:
        mine = [
            name
            for name, each in metric._registry.items()
            if name not in known and (each.is_users or each.own)
        ]
        for name in mine:
            metric.withdraw(name)


@pytest.fixture(scope="session", autouse=True)
def _initialised_once() -> Iterator[None]:
    from ragbench.old.store.server import Cluster
    from tests.old.store.own_database import initialised_once

    with pytest.MonkeyPatch.context() as patch, initialised_once() as run:
        patch.setattr(Cluster, "run", run)
        yield


@pytest.fixture(scope="session")
def database_settings(_initialised_once: None) -> Iterator[Settings]:
    """Settings whose server is this test session's own, stopped and removed at the end."""
    from tests.old.store.own_database import own_database

    with own_database("postgres") as settings:
        yield settings


@pytest.fixture(scope="session")
def database_folder(database_settings: Settings) -> Path:
    """The folder of the server of this test session's own."""
    assert database_settings.database.folder is not None
    return database_settings.database.folder


@pytest.fixture(scope="session")
def store(database_settings: Settings) -> Iterator[Store]:
    """The store of this test session: a real server; tests share it and use data sets of their own names and hashes."""
    from ragbench.old.store import Store

    with Store.open(database_settings) as opened:
        yield opened


@pytest.fixture
def project(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project of this test's own, which is also the current folder; see tests/old/small_project.py."""
    from ragbench.old.core import settings
    from tests.old import small_project

    monkeypatch.setenv("RAGBENCH_CONFIG", str(small_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    return tmp_path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project with nothing in its settings, which is also the current folder."""
    from tests.old import small_project

    return small_project.enter(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def one_pool(request: pytest.FixtureRequest) -> Iterator[KernelPool | None]:
    """Kernels of all runs of a test module are forks of one process, as those of a long run are: each that is started
    anew imports for seconds. None where few tests ask for it."""
    from ragbench.old.report.execution import kernel_pool

    asking = [
        item for item in request.session.items if "one_pool" in getattr(item, "fixturenames", ())
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with kernel_pool.opened(sum(item.path == request.path for item in asking)) as pool:
            patch.undo()
            if pool is not None:
                patch.setattr(kernel_pool, "opened", lambda kernels: contextlib.nullcontext(pool))
            yield pool


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, of one test module: while it runs, no other event loop can."""
    from tests.old.report import visits

    yield from visits.launched()
