"""How far a long work is: a bar in JupyterLab and in a terminal, a small file for the runner of a headless notebook."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragbench.core import terminal

FILE = "progress.json"
INTERVAL_SECONDS = 0.2


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
