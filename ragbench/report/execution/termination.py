"""SIGTERM as an exception, so that what was begun is ended in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


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
