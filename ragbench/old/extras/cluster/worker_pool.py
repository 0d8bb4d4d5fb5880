"""The workers of a cluster, given parts of a work: what comes back is in the parts' order, whoever did them.

A worker holds the settings of whoever asks first, then does one part.

Of a project's own modules the files that importing them would run, found by reading them, never by importing.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import hashlib
import logging
import os
import platform
import statistics
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import all_suffixes
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ragbench.old.core.settings
from ragbench.old.core import folders, settings, trust
from ragbench.old.core.annexes import install
from ragbench.old.core.settings import CLUSTER, RUN, TRUST, Settings, key_variables, project_folder
from ragbench.old.extras.cluster import address
from ragbench.old.llm.journal import run_of_this_process
from ragbench.old.store.pool import ClusterError, Heard, UnfitError, Work

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "sentence-transformers", "sacrebleu", "dask", "distributed")
"""Whose versions numbers may depend on, or whether two processes understand each other at all."""


@dataclass(frozen=True)
class Identity:
    """code: digest of ragbench's own files. database: which one is reached, or why none is (`unreached`).

    keys: the variables with keys, of those that the settings name, that are set. modules: digests by path of the
    project's own files that its metrics are made of. folder: of the project, where these paths begin.
    """

    version: str
    code: str
    python: str
    packages: Mapping[str, str]
    database: str
    unreached: str
    keys: frozenset[str]
    modules: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""

    def differs(self, other: Identity) -> list[str]:
        """What tells the other process from this one, a clause each, with what helps."""
        clauses = []
        if self.version != other.version:
            clauses.append(f"has ragbench {other.version}, and {self.version} asks it: install that")
        elif self.code != other.code:
            clauses.append(
                f"has other files of ragbench {other.version} ({other.code}, not {self.code}): install these"
            )
        if self.python != other.python:
            clauses.append(f"runs Python {other.python}, not {self.python}")
        for name, here in self.packages.items():
            if (there := other.packages.get(name, "")) != here:
                clauses.append(
                    f"has {name} {there or 'not installed'}, not {here or 'none'}: pip install {name}=={here}"
                )
        if other.unreached:
            clauses.append(
                f"does not reach the database ({other.unreached}): name one that every machine reaches in "
                "RAGBENCH_DATABASE_URL, here and where the worker starts"
            )
        elif self.database != other.database:
            clauses.append("writes to another database: give RAGBENCH_DATABASE_URL the same value here and there")
        if lacking := sorted(self.keys - other.keys):
            clauses.append(f"has no key in {', '.join(lacking)}: set the variable where the worker starts")
        if self.code != other.code:  # what another state of ragbench says of itself may lack the rest
            return clauses
        for path in sorted(self.modules.keys() | other.modules.keys()):
            ours, theirs = self.modules.get(path), other.modules.get(path)
            if ours is None:
                clauses.append(f"has {path} in {other.folder}, which is not here: remove it there, and start it again")
            elif theirs is None:
                clauses.append(
                    f"has no {path}, which metrics.modules need: copy it to {other.folder} there, and start it again"
                )
            elif ours != theirs:
                clauses.append(
                    f"has another {path} ({theirs}, not {ours}): copy it to {other.folder} there, and start it again"
                )
        return clauses


def issue(known: Settings) -> Identity:
    """This process's. A database that does not answer is no error here: it is said in `unreached`."""
    database, unreached = _database(known)
    return Identity(
        _version("ragbench"),
        code(),
        ".".join(platform.python_version_tuple()[:2]),
        {name: _version(name) for name in PACKAGES},
        database,
        unreached,
        frozenset(name for name in key_variables(known) if os.environ.get(name)),
        {path: digest for name in known.metrics.modules for path, digest in _files(name, project_folder()).items()},
        str(project_folder()),
    )


@lru_cache(maxsize=1)
def code() -> str:
    """A digest of the package's own files: an installation that was edited has its version still."""
    root = Path(ragbench.old.core.settings.__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = folders.content(path)
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


@lru_cache(maxsize=256)
def _files(module: str, folder: Path) -> Mapping[str, str]:
    """Digests of what importing the module runs, as they were when this process first asked: it keeps what it has
    imported, whatever becomes of the files."""
    return {
        path.relative_to(folder).as_posix(): folders.digest(path)[:12] for path in sorted(of_module(module, folder))
    }


def _database(known: Settings) -> tuple[str, str]:
    from ragbench.old.store import Store, StoreError

    try:
        with Store.open(known) as store:
            return store.identity(), ""
    except StoreError as error:
        return "", str(error)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


OWN = "ragbench"
_IMPORTING = frozenset({"import_module", "__import__"})


def of_module(name: str, folder: Path) -> set[Path]:
    """The module's files below the folder, with those that they import from there; empty if it is not there.

    Every `__init__` on the way belongs to it. What is imported by a name that is computed is not found.
    """
    files: set[Path] = set()
    _follow(name, folder, files)
    return files


def _follow(name: str, folder: Path, files: set[Path]) -> None:
    for path, package in _files_read(name, folder):
        if path in files:
            continue
        files.add(path)
        if path.suffix == ".py":
            for inner in _imported(folders.text(path, folders.MOST_CODE, errors="replace"), package):
                _follow(inner, folder, files)


def _files_read(name: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """The files that importing the dotted name runs, each with the package that its relative imports start from."""
    place, package = folder, ""
    parts = name.split(".")
    if parts[0] == OWN:
        return
    for part in parts:
        if not part.isidentifier():
            return
        inside = f"{package}.{part}" if package else part
        for ending in all_suffixes():  # all that there are: which of them Python takes is its own affair
            for path, base in ((place / part / f"__init__{ending}", inside), (place / f"{part}{ending}", package)):
                if path.is_file():
                    yield path, base
        place, package = place / part, inside


def _imported(code: str, package: str) -> list[str]:
    """Dotted names that the code imports; of `from a import b` both a and a.b, as b may be a module."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # nobody can import it either
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".")[-1] in _IMPORTING:
            names += [
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
    return [name for name in names if name]


CONNECT_SECONDS = 30.0  # Dask's own default for a TCP connection
ALONE_SECONDS = 120.0
"""So long no worker may be there before the work ends."""
LOSSES = 8
"""So many times in a row parts may be sent, and all be lost with their workers, before the work ends."""
AGAIN = (
    "Replies of models are in the journal, vectors in the database: the same command goes on from there and pays for "
    "nothing twice"
)


@contextlib.contextmanager
def opened(known: Settings) -> Iterator[Workers]:
    """See `ragbench.old.store.pool.opened`, of settings that name a cluster."""
    assert known.cluster is not None
    trust.require(*trust.named("cluster"))
    place = address.parse(known.cluster)
    with contextlib.ExitStack() as stack:
        if place.count:
            place = address.parse(str(stack.enter_context(address.started(place.count))))
        workers = Workers(stack.enter_context(_client(place)), known)
        workers.check()
        yield workers


@contextlib.contextmanager
def shared(known: Settings) -> Iterator[Mapping[str, str]]:
    """See `ragbench.old.store.pool.shared`, of settings that name a cluster."""
    assert known.cluster is not None
    trust.require(*trust.named("cluster"))
    place = address.parse(known.cluster)
    with contextlib.ExitStack() as stack:
        named = str(stack.enter_context(address.started(place.count))) if place.count else known.cluster
        with opened(known.model_copy(update={"cluster": named})):
            """Whoever shares it finds it whole."""
        yield {CLUSTER: named}


@contextlib.contextmanager
def _client(place: address.Address) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            f"the package dask.distributed is not installed: {install('cluster')}, or unset `cluster`"
        ) from None
    for name in ("distributed.client", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is lost is said here, once it is not made good
    try:
        _greet(place)
        client = Client(timeout=CONNECT_SECONDS, set_as_default=False, **place.connected())
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(f"no scheduler answers at {place.url} ({_why(error, place)})") from None
    try:
        with contextlib.suppress(TimeoutError):
            client.wait_for_workers(1, timeout=ALONE_SECONDS)
        yield client
    finally:
        client.close(timeout=5)


def _greet(place: address.Address) -> None:
    """Dask's own client waits for ever where something listens that is no scheduler, such as its page for browsers.

    Raises TimeoutError there, and what connecting raises.
    """
    from distributed.comm.core import connect
    from distributed.security import Security

    async def greeted() -> None:
        security = place.connected().get("security") or Security()
        async with asyncio.timeout(1.5 * CONNECT_SECONDS):  # whoever takes the connection has the rest to answer
            met = await connect(place.url, timeout=CONNECT_SECONDS, **security.get_connection_args("client"))
        met.abort()

    with ThreadPoolExecutor(1) as own:  # whoever asks may be in a loop
        own.submit(lambda: asyncio.run(greeted())).result()


def _why(error: Exception, place: address.Address) -> str:
    if isinstance(error, TypeError):  # so Dask says that it was given no certificates
        return "TLS needs certificates, and Dask was given none: set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and its kin"
    if isinstance(error, TimeoutError):
        return f"what listens there has said nothing for {CONNECT_SECONDS:.0f} s: another port, a page for browsers?"
    hint = "start one: dask scheduler" if place.url.startswith("tcp:") else "does it speak TLS, by the same authority?"
    return f"{str(error) or 'the connection was closed'}; {hint}"


class Workers:
    """Workers that are there; made by `opened`."""

    def __init__(self, client: Any, known: Settings) -> None:
        self._client, self._known = client, known
        self._run = run_of_this_process() or uuid.uuid4().hex
        self._identity: Identity = issue(known)
        if self._identity.unreached:
            raise ClusterError(f"the database does not answer: {self._identity.unreached}")

    @property
    def count(self) -> int:
        """How many workers there are just now."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    @property
    def where(self) -> str:
        """The scheduler's address."""
        return str(self._client.scheduler.address)

    def check(self) -> None:
        """Look at every worker's identity. Raises ClusterError, UnfitError."""
        if not self.count:
            raise ClusterError(f"the scheduler at {self.where} has no workers; start one: dask worker {self.where}")
        packed = pack(_nothing, None, self._known, self._identity, self._run)
        identities = self._client.run(inspected, packed, on_error="return")
        differences = [
            f"the worker {name} has {worker['nthreads']} threads, and settings are a process's: "
            "start it with --nthreads 1"
            for name, worker in sorted(self._client.scheduler_info(n_workers=-1)["workers"].items())
            if worker["nthreads"] > 1
        ]
        for name, theirs in sorted(identities.items()):
            if isinstance(theirs, Identity):
                differences += [f"the worker {name} {line}" for line in self._identity.differs(theirs)]
            else:
                said = str(theirs).strip().splitlines()
                differences.append(
                    f"the worker {name} cannot take this work ({type(theirs).__name__}: {said[0] if said else ''}): "
                    "install the same ragbench and packages there"
                )
        if differences:
            raise UnfitError(differences)

    def seconds_of_a_part(self) -> float:
        """What a part costs besides its work, the median of some that have none."""
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            self.map(_nothing, None, [None])
            taken.append(time.perf_counter() - begun)
        return statistics.median(taken)

    def map(self, work: Work, common: Any, parts: Sequence[Any], heard: Heard | None = None) -> list[Any]:
        """What `work` gives of each part, in the parts' order.

        work: a function that workers can import. common: what all parts need, sent once a worker. A part whose worker
        is lost is done again by another; what the work raises ends all.
        Raises ClusterError where no worker is left, the scheduler is lost, or a part ends every worker that it meets.
        """
        import cloudpickle

        packed = pack(work, common, self._known, self._identity, self._run)
        topic = f"ragbench-{uuid.uuid4().hex}"
        results: dict[int, Any] = {}
        losses = 0
        if heard is not None:
            self._client.subscribe_topic(topic, lambda event: heard(event[1]["part"], event[1]["state"]))
        try:
            while len(results) < len(parts):
                before = len(results)
                left = {
                    number: cloudpickle.dumps(parts[number]) for number in range(len(parts)) if number not in results
                }
                self._round(packed, left, topic, results)
                losses = 0 if len(results) > before else losses + 1
                if losses == LOSSES:
                    raise ClusterError(
                        f"{len(left)} of {len(parts)} parts ended every worker that they were given to, "
                        f"{LOSSES} times in a row: is its memory too small, does code of yours end its process? {AGAIN}"
                    )
        except OSError as error:
            raise self._lost(str(error)) from None
        finally:
            if heard is not None:
                with contextlib.suppress(Exception):
                    self._client.unsubscribe_topic(topic)
        return [results[number] for number in range(len(parts))]

    def _round(self, packed: bytes, left: Mapping[int, bytes], topic: str, results: dict[int, Any]) -> None:
        """Send what is left, and take what is done. What was lost with its worker stays left."""
        import dask
        from distributed import wait
        from distributed.client import FutureCancelledError, FuturesCancelledError
        from distributed.scheduler import KilledWorker

        self._await_worker()
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):  # it is sent once
            shared = self._client.submit(bytes, packed, pure=False)  # a task: lost with its worker, it is made again
        futures = {
            self._client.submit(carry_out, shared, part, number, topic, pure=False): number
            for number, part in left.items()
        }
        waiting = set(futures)
        try:
            while waiting:
                with contextlib.suppress(TimeoutError, FuturesCancelledError), self._client.as_current():
                    wait(list(waiting), timeout=1.0, return_when="FIRST_COMPLETED")
                if self._client.status not in ("running", "connecting"):
                    raise self._lost(f"the connection is {self._client.status}")
                ended = {future for future in waiting if future.status != "pending"}
                waiting -= ended
                for future in ended:
                    if future.status == "finished":
                        with contextlib.suppress(FutureCancelledError, KilledWorker):  # lost with its worker
                            results[futures[future]] = future.result()
                    elif future.status == "error" and not isinstance(future.exception(), KilledWorker):
                        raise future.exception()
                if not ended and not self.count:
                    self._await_worker()
        finally:
            self._client.cancel(list(futures), force=True)

    def _await_worker(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=ALONE_SECONDS)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {self.where} has had no worker for {ALONE_SECONDS:.0f} s; start one: dask worker "
                f"{self.where}. {AGAIN}"
            ) from None

    def _lost(self, why: str) -> ClusterError:
        return ClusterError(f"the scheduler at {self.where} is lost ({why}); start the cluster again. {AGAIN}")


def _nothing(_common: Any, _part: Any, _tell: Any) -> None:
    """The task of somebody who is only looked at."""


INTERVAL_SECONDS = 0.25  # as often as an eye can read a number that counts


@dataclass(frozen=True)
class Task:
    """What every part needs, once a worker.

    run: whose budget and limits hold. load: work and what is common, pickled: it may need the settings held.
    """

    known: Settings
    folder: Path
    identity: Identity
    run: str
    load: bytes


def pack(work: Work, common: Any, known: Settings, identity: Identity, run: str) -> bytes:
    """A task as bytes. Nothing secret is in it: a worker takes keys and the database's address from its own
    environment."""
    import cloudpickle

    open_to_all = known.model_copy(update={"database_url": None, "cluster": None})
    made = Task(open_to_all, settings.project_folder(), identity, run, cloudpickle.dumps((work, common)))
    return bytes(cloudpickle.dumps(made))


def carry_out(packed: bytes, part: bytes, number: int, topic: str) -> Any:
    """One part, in a worker: what the work returns.

    Raises UnfitError in a worker that differs from whoever sent it.
    """
    import cloudpickle
    from distributed import get_worker

    run, work, common = _taken(packed)
    os.environ[RUN] = run
    worker = get_worker()
    told_at = 0.0

    def tell(state: Any) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= INTERVAL_SECONDS:
            told_at = now
            worker.log_event(topic, {"part": number, "state": state})

    return work(common, cloudpickle.loads(part), tell)


@lru_cache(maxsize=2)
def _taken(packed: bytes) -> tuple[str, Work, Any]:
    import cloudpickle

    task: Task = cloudpickle.loads(packed)
    known = held(task.known, task.folder)
    if differences := task.identity.differs(issue(known)):
        raise UnfitError([f"the worker {_name()} {line}" for line in differences])
    work, common = cloudpickle.loads(task.load)
    return task.run, work, common


def held(known: Settings, folder: Path) -> Settings:
    """Let these be the settings of this process, with its own address of the database."""
    os.environ[TRUST] = str(folder.resolve())  # who may give a worker tasks may run anything in it already
    own = settings.own_database_url()
    known = known.model_copy(update={"database_url": own})
    settings.hold(known, folder)
    return known


def inspected(packed: bytes) -> Identity:
    """The identity of the process that this runs in, as it would be while it does the task."""
    import cloudpickle

    task: Task = cloudpickle.loads(packed)
    return issue(held(task.known, task.folder))


def _name() -> str:
    from distributed import get_worker

    return str(get_worker().address)
