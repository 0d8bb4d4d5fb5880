"""A run: notebooks with parameters, executed, stored, drawn, and found again under `latest`.

SIGTERM is an exception meanwhile, so that what was begun is ended in order.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from ragbench.old.core import folders, settings
from ragbench.old.core.endings import Ending
from ragbench.old.core.language import translator
from ragbench.old.core.settings import secrets
from ragbench.old.core.types import reason as reasons
from ragbench.old.data import remotes
from ragbench.old.embed import wheels
from ragbench.old.llm import journal
from ragbench.old.report.execution import execute, kernel_pool
from ragbench.old.report.execution.kernel_pool import Round
from ragbench.old.report.execution.preparation import Read, prepared
from ragbench.old.report.keeping import kept, results
from ragbench.old.report.keeping.results import named, noted
from ragbench.old.report.pages import drawing, notebook_pages
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.store import Store, StoreError, embeddings, pool
from ragbench.old.tiers.basics.requests import FAILURE, Request
from ragbench.old.tiers.basics.session import Lack
from ragbench.old.tiers.run.overview import NAME as OVERVIEW
from ragbench.old.tiers.run.overview import keep as keep_overview

MODELS = "sentence_transformers"
"""The library that most embedders are models of; importing it takes longer than all else that a notebook imports."""
DRAWING = ("ragbench.old.report.pages.drawing", "nbconvert.exporters")
"""What pages are drawn with, and no notebook needs."""


@dataclass(frozen=True)
class Step:
    """How far a notebook is: code cells done of those there are, and inside the current cell the work it reports.

    note: what the work says of itself besides, such as calls in flight, failures, cost and time left.
    """

    notebook: str
    done: int
    total: int
    label: str = ""
    work_done: int = 0
    work_total: int = 0
    failed: bool = False
    note: str = ""


@dataclass(frozen=True)
class RunResult:
    """Where a run is, and which of its notebooks failed, each with the line that says why.

    left_out: notebooks that were not executed for want of data, each with what it needs. unkept: why the run is not in
    the database; empty where it is, or where it was not to be. broken: whether a system raised at any question where
    that is to end a run with 1 (the setting `fail_on_raised`). stored: (embedder, "passage" or "query") → how many of
    its vectors were stored before the run, of how many.
    """

    folder: Path
    failures: Mapping[str, str] = field(default_factory=dict)
    unkept: str = ""
    broken: bool = False
    left_out: tuple[Lack, ...] = ()
    stored: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    @property
    def index(self) -> Path:
        """The page to open first."""
        return self.folder / "index.html"

    @property
    def exit_code(self) -> Ending:
        """Whether every notebook came to its end, and measured something."""
        return Ending.UNMEASURED if self.failures else Ending.FAILED if self.broken else Ending.HELD


Report = Callable[[Step], None]


def run(
    notebooks: Sequence[Path | str],
    given: Mapping[str, Any] | None = None,
    out: Path | None = None,
    *,
    jobs: int | None = None,
    language: str | None = None,
    progress: Report | None = None,
    keep: bool = False,
    lenient: bool = False,
    name: str = "",
    note: str = "",
) -> RunResult:
    """Execute notebooks, each in a kernel of its own, and write the run's folder with its pages.

    notebooks: paths, or names in the notebooks folder. given: parameters as values, or as texts from a command line;
    each goes to every notebook that has it. out: the folder of reports (by default the settings'); the run gets a
    folder of its own in it. jobs: how many notebooks run at the same time; None: see
    `ragbench.old.report.execution.kernel_pool`. language: of the pages, where a notebook has no parameter `language` of its
    own or that is not given. keep: record the run in the database, also one that
    fails or is interrupted; where that cannot be done, the report is whole all the same and the result says why.
    lenient: leave out notebooks whose data are not there, and say so, instead of refusing them. name, note: what the
    run is called, and what is said of it, wherever it is shown.

    A notebook that fails does not stop the others: its page says what failed, and the result names it.
    Raises ParameterError for a parameter that no notebook has or that does not fit, FileNotFoundError for a notebook
    that is not there, BenchError for data that are not there and for all that is known to fail later, UntrustedError
    for what its user does not trust, ClusterError where the settings name a cluster that cannot be had, ValueError for
    a name or a note that will not do; nothing has been measured, paid or written then. An interrupted run stays as
    `<run>.partial`; one that was killed does so too, and is noticed later (`unfinished`).
    """
    known = settings.load()
    called = {key: text for key, text in (("name", named(name)), ("note", noted(note))) if text}
    wanted = dict(given or {})
    with contextlib.ExitStack() as held:
        forks = held.enter_context(kernel_pool.opened(len(notebooks)))
        sources, defaults, values, left_out, asked, read, reach, _ = prepared(
            notebooks, wanted, language, lenient=lenient
        )
        libraries = _libraries(known, asked, read)
        if forks is not None:
            for wants in {*libraries.values()}:
                forks.prepare(wants)
        variables = held.enter_context(pool.shared(known))
        folder = results.new_run(out or settings.project_folder() / known.reports_folder)
        started = time.time()
        mask = secrets.masker()
        begun = {"started": round(started), "notebooks": list(sources), **called}
        with (
            marked(folder, begun) if keep else contextlib.nullcontext(),
            _interruptible(folder, begun, keep),
        ):
            try:
                every = {name: {**defaults[name], **values[name]} for name in sources}
                timed = partial(_are_timed, known, asked, read)
                in_turn = kernel_pool.rounds(every, jobs, reach, timed, libraries)
                failures = Work(folder, progress, variables, forks, libraries).all(sources, in_turn)
            finally:
                remotes.settle(folder)
                journal.settle(folder)
                stored = embeddings.told(folder)
            keep_overview(folder)
            for name, notebook in sources.items():
                _store(folder / f"{name}.ipynb", notebook, mask)
            measured = notebook_pages.Measurements(folder)
            for name in sources:
                if name in measured.names() and name not in failures and (line := results.nothing(measured[name])):
                    failures[name] = reasons.kept(line)
            spoken = language or known.language
            described = [_described(name, every[name], failures, spoken) for name in sources]
            manifest = results.manifest(
                measured,
                wanted,
                described,
                format=results.FORMAT,
                status="failed" if failures else "complete",
                **called,
                language=described[0]["language"] if described else known.language,
                started=round(started),
                seconds=round(time.time() - started, 1),
                fail_on_raised=known.fail_on_raised,
                **_needing(left_out),
            )
            manifest = secrets.masked(manifest, mask)
            results.write_scores(folder / results.SCORES, measured)
            results.write_json(folder / results.SUMMARY, results.summary(measured))
            _draw(folder, manifest, mask, measured, forks)
            made = {name: measured[name] for name in measured.names()}
    failed = {
        page["name"]: str(reasons.read(page["failure"])) for page in manifest["notebooks"] if page["status"] == "failed"
    }
    broken = known.fail_on_raised and "raised" in manifest
    final = results.finish(folder)
    unkept = mask(kept.refusal(lambda: kept.record(final, made))) if keep else ""
    return RunResult(final, failed, unkept, broken, left_out, stored)


def _libraries(known: settings.Settings, asked: Sequence[Request], read: Read) -> dict[str, kernel_pool.Libraries]:
    """What notebooks need besides what all do: the library of models, where one embeds its questions anew."""

    def has_models(request: Request) -> bool:
        embedders = wheels.settled(known, read(*request.place(known.dataset)).language).embedders
        return any(embedder.kind in ("minilm", MODELS) for embedder in embedders.values())

    return {
        request.notebook: (MODELS,) for request in asked if getattr(request, "repeats", 1) > 1 and has_models(request)
    }


def _are_timed(known: settings.Settings, asked: Sequence[Request], read: Read) -> bool:
    """Whether the database keeps a reading of the clock for all data that notebooks measure. One that does not answer
    is the notebooks' to tell of: each page says what became of it."""
    places = {request.place(known.dataset) for request in asked}
    try:
        with Store.open(known) as store:
            return all(store.has_readings({"data": read(*place).content_hash}) for place in places)
    except StoreError:
        return False


def _needing(left_out: Sequence[Lack]) -> dict[str, Any]:
    """`left_out`: pages that were not made, with what they need; none where all were made."""
    facts = [{**lack.fact, "why": lack.sentence(translator("en"))} for lack in left_out]
    return {"left_out": facts} if facts else {}


def _described(name: str, values: Mapping[str, Any], failures: Mapping[str, str], language: str) -> dict[str, Any]:
    """A notebook as the manifest has it. values: its parameters; language: where it has none of its own."""
    return {
        "name": name,
        "status": "failed" if name in failures else "complete",
        "failure": failures.get(name, ""),
        "language": str(values.get("language", language)),
        "parameters": dict(values),
    }


def _draw(
    folder: Path,
    manifest: dict[str, Any],
    mask: Callable[[str], str],
    measured: notebook_pages.Measurements,
    forks: kernel_pool.KernelPool | None,
) -> None:
    """Write the manifest and draw the pages; a page that cannot be drawn fails, in both."""

    def apart(sheets: Sequence[drawing.Sheet]) -> list[tuple[dict[str, Any], str]]:
        with ThreadPoolExecutor(kernel_pool.affordable(), "drawing") as pool:
            return list(pool.map(one, sheets))

    def one(sheet: drawing.Sheet) -> tuple[dict[str, Any], str]:
        if forks is not None:
            with contextlib.suppress(OSError, EOFError):  # a kernel pool that was killed
                return forks.call(drawing.page, sheet, libraries=DRAWING)
        return drawing.page(sheet)

    results.write_json(folder / results.MANIFEST, manifest)
    undrawn = drawing.draw(folder, manifest, measured=measured, apart=None if forks is None else apart)
    if not undrawn:
        return
    manifest["status"] = "failed"
    for described in manifest["notebooks"]:
        if described["name"] in undrawn:
            described |= {"status": "failed", "failure": described["failure"] or mask(undrawn[described["name"]])}
    results.write_json(folder / results.MANIFEST, manifest)
    drawing.draw(folder, manifest)


class Work:
    """Executes the notebooks of a run, some at a time; `environment`: variables of their processes.

    forks: makes their processes; None: each is started anew. libraries: by notebook what it imports besides others.
    """

    def __init__(
        self,
        folder: Path,
        progress: Report | None,
        environment: Mapping[str, str] | None = None,
        forks: kernel_pool.KernelPool | None = None,
        libraries: Mapping[str, kernel_pool.Libraries] | None = None,
    ) -> None:
        self._forks = forks
        self._libraries = dict(libraries or {})
        self._folder = folder
        self._progress = progress
        self._environment = dict(environment or {})
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def all(self, notebooks: Mapping[str, Any], rounds: Sequence[Round]) -> dict[str, str]:
        """The failures by notebook, each as the line that says why. The overview reads what the others have kept."""
        failures: dict[str, execute.Failure] = {}
        for turn in rounds:
            chosen = {name: notebooks[name] for name in turn.names if name in notebooks and name != OVERVIEW}
            failed = self._together(chosen, turn)
            alone = tuple(name for name, failure in failed.items() if failure.disturbed)
            for name in alone:
                del failed[name]
            failures |= failed | self._together({name: notebooks[name] for name in alone}, Round(alone, 1))
        if self._forks is not None:
            self._forks.prepare(DRAWING)  # a core is idle while the overview is executed
        if OVERVIEW in notebooks:
            failures |= self._together({OVERVIEW: notebooks[OVERVIEW]}, Round((OVERVIEW,), 1))
        return {name: self._told(name, failure.line) for name, failure in failures.items()}

    def _together(self, notebooks: Mapping[str, Any], how: Round) -> dict[str, execute.Failure]:
        with ThreadPoolExecutor(max_workers=max(1, how.jobs), thread_name_prefix="notebook") as pool:
            try:  # from the first thread on: leaving `pool` waits for what it has begun
                tasks = {name: pool.submit(self._one, name, notebooks[name], how) for name in notebooks}
                outcomes = {name: task.result() for name, task in tasks.items()}
            except BaseException:
                self._stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                execute.end_all()
                raise
        return {name: failure for name, failure in outcomes.items() if failure is not None}

    def _told(self, name: str, line: str) -> str:
        """The line as it is kept: with its values apart where the notebook's code has left them so."""
        with contextlib.suppress(OSError):
            told = folders.text(self._folder / "parts" / name / FAILURE)
            if " ".join(str(reasons.read(told)).split()) == line:
                return told
        return line

    def _one(self, name: str, notebook: Any, how: Round) -> execute.Failure | None:
        part, cells = self._folder / "parts" / name, notebook.cells if how.clock else copy.deepcopy(notebook.cells)

        def advance(done: int, total: int) -> None:
            self._tell(Step(name, done, total))

        with _watched(part / "progress.json", lambda state: self._tell(Step(name, -1, -1, **state))):
            failure = execute.execute(
                notebook,
                name=name,
                folder=self._folder,
                workplace=settings.project_folder(),
                advance=advance,
                environment={**self._environment, **how.environment},
                stopped=self._stopped,
                born=self._born(name),
            )
        if failure is not None and failure.disturbed:
            notebook.cells = cells
        elif failure is not None:
            self._tell(Step(name, -1, -1, failed=True))
        return failure

    def _born(self, name: str) -> execute.Born | None:
        if self._forks is None:
            return None
        return partial(self._forks.kernel, libraries=self._libraries.get(name, ()))

    def _tell(self, step: Step) -> None:
        if self._progress is not None:
            with self._lock:
                self._progress(step)


@contextlib.contextmanager
def _watched(path: Path, tell: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Pass on what a notebook's code reports of its long work, while it works."""
    ended = threading.Event()

    def watch() -> None:
        last: Any = None
        while not ended.wait(0.25):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                state = json.loads(folders.text(path))
                words: dict[str, Any] = {"label": str(state["label"]), "note": str(state.get("note", ""))}
                words |= {"work_done": int(state["done"]), "work_total": int(state["total"])}
                if words != last:
                    last = words
                    tell(words)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


@contextlib.contextmanager
def _interruptible(folder: Path, begun: Mapping[str, Any], keep: bool) -> Iterator[None]:
    """SIGTERM ends the run as Ctrl-C does: no kernel stays, and the run's folder says that it was interrupted."""

    with terminable():
        try:
            yield
        except BaseException:
            execute.end_all()
            kept.refusal(lambda: interrupt(folder, begun, keep=keep))
            raise


def _store(path: Path, notebook: Any, mask: Callable[[str], str]) -> None:
    """The executed notebook without a trace of the clock or of secrets."""
    nbformat = results.notebook_format()

    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        for key in ("papermill", "execution", "ExecuteTime"):
            cell.metadata.pop(key, None)
        cell.metadata["tags"] = [tag for tag in cell.metadata.get("tags", ()) if not tag.startswith("papermill")]
        if not cell.metadata["tags"]:
            del cell.metadata["tags"]
    clean = nbformat.from_dict(secrets.masked(notebook, mask))
    results.write(path, nbformat.writes(clean) + "\n")


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Meanwhile SIGTERM raises SystemExit(143) in the main thread; in another thread nothing changes."""

    def terminate(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if here else None
    try:
        yield
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)


MARK = ".running"
"""The file in a run's folder that its process holds locked; the system lets go of it however the process ends."""


@contextlib.contextmanager
def marked(folder: Path, begun: Mapping[str, Any]) -> Iterator[None]:
    """Meanwhile the run's folder says that it is under way; without an exception the mark goes away again.

    begun: when the run was `started`, in whole seconds since 1970, and the names of its `notebooks`.
    Where files cannot be locked, nothing is marked, and a killed run is not noticed.
    """
    handle = _mark(folder, begun)
    try:
        yield
        (folder / MARK).unlink(missing_ok=True)
    finally:
        if handle is not None:
            handle.close()


def interrupt(folder: Path, begun: Mapping[str, Any], *, keep: bool) -> None:
    """Say in a run's folder that it was interrupted, and which notebooks have not come to their numbers.

    begun: see `marked`. keep: record the run in the database, with what its other notebooks have measured; the mark
    goes away with that. Raises StoreError where the database cannot be reached: the mark then stays, and the next
    `notice` tries again.
    """
    measured = Measurements(folder)
    state = {
        "format": results.FORMAT,
        "status": "interrupted",
        "notebooks": [],
        "started": begun["started"],
        "unfinished": [name for name in begun["notebooks"] if name not in measured.names()],
        **{key: begun[key] for key in ("name", "note") if begun.get(key)},
    }
    results.write_json(folder / results.MANIFEST, state)
    if keep:
        kept.record(folder)
        (folder / MARK).unlink(missing_ok=True)


def notice(reports: Path) -> dict[str, str]:
    """Interrupt the runs in a folder of reports whose process is gone, such as those that were killed.

    Returns their names, each with the reason why the database does not have it, empty where it has. A run that is
    under way, or that another process looks at just now, is left alone.
    """
    refusals = {}
    for folder in sorted(reports.glob(f"*{results.PARTIAL}")):
        with _left(folder) as left:
            if left:
                work = partial(interrupt, folder, _begun(folder), keep=True)
                refusals[folder.name.removesuffix(results.PARTIAL)] = kept.refusal(work)
    return refusals


def _mark(folder: Path, content: Mapping[str, Any]) -> IO[str] | None:
    """The mark, locked before it gets its name; None where there are no locks, or no place."""
    unnamed = folder / f"{MARK}-{os.getpid()}"
    handle: IO[str] | None = None
    with contextlib.suppress(OSError):
        handle = unnamed.open("w", encoding="utf-8")
        if _lock(handle):
            handle.write(json.dumps(content))
            handle.flush()
            unnamed.replace(folder / MARK)
            return handle
    if handle is not None:
        with contextlib.suppress(OSError):
            handle.close()
        unnamed.unlink(missing_ok=True)
    return None


@contextlib.contextmanager
def _left(folder: Path) -> Iterator[bool]:
    """Whether the folder is marked and nobody holds the mark; meanwhile we do."""
    try:
        handle = (folder / MARK).open("r+", encoding="utf-8")
    except OSError:
        yield False
        return
    with handle:
        # looked for once more: another process may have dealt with it between opening and locking
        yield _lock(handle) and (folder / MARK).exists()


def _lock(handle: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _begun(folder: Path) -> Mapping[str, Any]:
    path = folder / MARK
    known: dict[str, Any] = {"started": round(path.stat().st_mtime), "notebooks": []}
    with contextlib.suppress(ValueError):
        known |= json.loads(folders.text(path))
    return known
