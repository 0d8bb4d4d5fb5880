"""Work under way: how far it is, in JupyterLab, a terminal or a headless run, and who listens to a measurement.

A listener has a thread of its own. It holds nobody up, and what it raises, or that it hangs, is counted and said and
changes no number.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, Protocol

from ragbench.old.core import terminal
from ragbench.old.core.settings import secrets

FILE = "progress.json"
INTERVAL_SECONDS = 0.2  # as often as an eye follows; each time costs a write


def is_watched() -> bool:
    """Whether somebody sees a bar: in a terminal or in JupyterLab, never in a headless notebook."""
    return "RAGBENCH_RUN_FOLDER" not in os.environ and (sys.stderr.isatty() or is_in_a_notebook())


def is_in_a_notebook() -> bool:
    """Whether this process is a notebook's kernel; a program that merely drives notebooks is none."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Progress:
    """Counts work that is done; a context manager, callable with how much more is done.

    In a headless run (`folder` given) the state is written to `folder`/progress.json at most five times a second, and
    nothing is printed, so that an executed notebook holds no trace of the clock. Elsewhere a bar shows the time left.
    """

    def __init__(self, label: str, total: int, folder: Path | None = None) -> None:
        self.label = terminal.plain(label)
        self.total = total
        self.done = 0
        self.note = ""
        self._path = folder / FILE if folder is not None else None
        self._written = self._said = self._drawn = 0.0
        self._cell: Any = None
        self._bars: terminal.Bars | None = None

    def __enter__(self) -> Progress:
        if self._path is None and self.total > 0:
            if is_in_a_notebook():
                self._cell = _cell_bar(self.total, self.label)
            else:
                self._bars = terminal.Bars(brief=True).__enter__()
                self._draw(force=True)
        self._write(force=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self._cell is not None:
            self._cell.close()
        if self._bars is not None:
            self._bars.__exit__(*error)
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def __call__(self, more: int = 1) -> None:
        """`more` units of work are done."""
        self.done += more
        if self._cell is not None:
            self._cell.update(more)
        self._draw(force=self.done == self.total)
        self._write()

    def say(self, words: Callable[[], str]) -> None:
        """What else is to be known just now, shown beside the bar; `words` is asked only when it is drawn."""
        now = time.monotonic()
        if now - self._said < INTERVAL_SECONDS:
            return
        self._said = now
        self.note = terminal.plain(words())
        if self._cell is not None:
            self._cell.set_postfix_str(self.note)
        self._draw(force=True)
        self._write()

    def _draw(self, force: bool = False) -> None:
        now = time.monotonic()
        if self._bars is not None and (force or now - self._drawn >= INTERVAL_SECONDS):
            self._drawn = now
            self._bars.show(self.label, self.done, self.total, self.note)

    def _write(self, force: bool = False) -> None:
        now = time.monotonic()
        if self._path is None or not (force or now - self._written >= INTERVAL_SECONDS):
            return
        self._written = now
        self._path.parent.mkdir(parents=True, exist_ok=True)
        unnamed = self._path.with_suffix(f".{os.getpid()}")
        state = {"label": self.label, "done": self.done, "total": self.total, "note": self.note}
        unnamed.write_text(json.dumps(state), encoding="utf-8")
        unnamed.replace(self._path)


def _cell_bar(total: int, label: str) -> Any:
    """A bar below a notebook's cell, as plain HTML that is emptied at the end.

    tqdm's own is a widget: a notebook that was saved with one shows "Loading widget..." when it is opened again.
    """
    import io
    from html import escape

    from IPython.display import HTML, display
    from tqdm import tqdm

    class CellBar(tqdm):
        def __init__(self, **options: Any) -> None:
            self._cell: Any = None
            super().__init__(file=io.StringIO(), ncols=0, mininterval=INTERVAL_SECONDS, **options)

        def display(self, msg: str | None = None, pos: int | None = None) -> None:
            words = str(self) if msg is None else msg
            drawn = HTML(
                f'<progress value="{self.n}" max="{self.total}"></progress> '
                f'<span style="font-family: var(--jp-code-font-family, monospace)">{escape(words)}</span>'
                if words
                else ""
            )
            if self._cell is None:
                self._cell = display(drawn, display_id=True)
            else:
                self._cell.update(drawn)

    return CellBar(total=total, desc=label, leave=False)


@dataclass(frozen=True)
class Event:
    """Something that has ended: a `call` (a question put to a judge and its answer), a `metric` (one score of one
    sample, of a panel the joined one), or a `sample` (all its scores are there).

    run, id, parent: run is the same for one measurement; a call's parent is its metric, a metric's its sample.
    began: in seconds since 1970; seconds: how long it took, waiting in line and for others included.
    system, sample, metric, judge, repeat: what it is about; empty where it is about all of them.
    value: of a metric; None where it was not measured. status, reason: as `ragbench.old.core.types.Score` has them.
    detail: of a call its prompt's name, language, what it was asked (`texts`, by slot), its `answer` as plain values,
        `model_seconds` (None where no model was asked) and `suspected_injection`; of a metric `Score.detail`; of a
        sample its `values` by metric. Plain JSON values.
    Keys and other secrets that the environment or the settings hold are masked in all texts.
    """

    kind: Literal["call", "metric", "sample"]
    run: str
    id: str
    parent: str
    began: float
    seconds: float
    system: str
    sample: str
    metric: str = ""
    judge: str = ""
    repeat: int = 0
    value: float | None = None
    status: str = "ok"
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


TEXTS = ("system", "sample", "metric", "judge", "reason")


class Listener(Protocol):
    """A plain function of an event; what it returns is not looked at."""

    def __call__(self, event: Event, /) -> object: ...


@dataclass(frozen=True)
class Told:
    """What became of one listener: events that it was told, how many of them it failed on, and the first failure.

    missed: events that it was not told, because it hung.
    """

    name: str
    told: int
    failed: int = 0
    why: str = ""
    missed: int = 0


def name_of(listener: Listener) -> str:
    """What a listener is called in messages."""
    return str(getattr(listener, "__name__", type(listener).__name__))


def refuse(listener: Any, place: str = "listeners") -> None:
    """Raises ValueError for what is no plain function."""
    call = listener if inspect.isroutine(listener) else getattr(listener, "__call__", None)  # noqa: B004
    if call is None:
        raise ValueError(
            f"{place}: {secrets.excerpt(repr(listener), 80)} is no function; a function of one event is expected"
        )
    if inspect.iscoroutinefunction(call):
        raise ValueError(f"{place}: {name_of(listener)} is a coroutine; a plain function of one event is expected")


class _Line:
    """One listener with its thread; an event that waits longer than `seconds` behind another finds it hanging."""

    def __init__(self, name: str, listener: Listener, seconds: float) -> None:
        self.name, self._listener, self._seconds = name, listener, seconds
        self._queue: SimpleQueue[Event | None] = SimpleQueue()
        self._given = self._done = self._failed = self._missed = 0
        self._why = ""
        self._since: float | None = None
        self._thread = threading.Thread(target=self._work, name=f"ragbench-listener-{name}", daemon=True)
        self._thread.start()

    @property
    def hangs(self) -> bool:
        """Whether it has been with one event for longer than it may."""
        since = self._since
        return since is not None and time.monotonic() - since > self._seconds

    def tell(self, event: Event) -> None:
        if self.hangs:
            self._missed += 1
            return
        self._given += 1
        self._queue.put(event)

    def close(self) -> Told:
        self._queue.put(None)
        while self._thread.is_alive() and not self.hangs:
            self._thread.join(0.05)
        told, why = self._done, self._why
        missed = self._missed + (self._given - told)
        if missed and not why:
            why = f"it took longer than {self._seconds:g} s for one event (metrics.timeout_seconds)"
        return Told(self.name, told, self._failed, why, missed)

    def _work(self) -> None:
        while (event := self._queue.get()) is not None:
            self._since = time.monotonic()
            try:
                self._listener(event)
            except BaseException as error:  # whatever it ends with is its own
                self._failed += 1
                self._why = self._why or secrets.excerpt(f"{type(error).__name__}: {error}", 300)
            self._since = None
            self._done += 1


class Listening:
    """All listeners of one measurement. Events are masked once, and told in the order in which they ended.

    seconds: that one event may take a listener.
    """

    def __init__(self, listeners: Iterable[tuple[str, Listener]] = (), seconds: float = 60.0) -> None:
        self._lines = [_Line(name, listener, seconds) for name, listener in listeners]
        self._mask = secrets.exact_masker() if self._lines else str
        self.run = uuid.uuid4().hex

    def __bool__(self) -> bool:
        return bool(self._lines)

    def tell(self, event: Event) -> None:
        """Pass an event on."""
        texts: dict[str, Any] = {name: self._mask(getattr(event, name)) for name in TEXTS}
        safe = replace(event, detail=secrets.masked(event.detail, self._mask), **texts)
        for line in self._lines:
            line.tell(safe)

    def close(self) -> tuple[Told, ...]:
        """What became of each, once all have heard everything, or hang."""
        return tuple(line.close() for line in self._lines)
