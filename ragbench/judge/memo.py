"""What was worked out of texts, kept for those that come again: bounded by bytes, whatever the length of the texts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """What was made, by the text that says all that it depends on; the oldest goes first.

    most: bytes of all texts and results together; a result that would take more alone is not kept.
    size: the bytes of a result, by default of the object itself alone. Threads may share it.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = sys.getsizeof) -> None:
        self._most, self._size = most, size
        self._kept: dict[str, tuple[Value, int]] = {}
        self._lock = threading.Lock()
        self.bytes = 0

    def of(self, text: str, make: Callable[[], Value]) -> Value:
        """What is kept of the text, else made, and kept."""
        known = self._kept.get(text)
        if known is not None:
            return known[0]
        value = make()
        size = ENTRY_BYTES + sys.getsizeof(text) + self._size(value)
        with self._lock:
            if text not in self._kept and size <= self._most:
                self._kept[text] = value, size
                self.bytes += size
                while self.bytes > self._most:
                    self.bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return value


class Memo(Shelf[Value]):
    """A function of a text whose results are kept; most, size: see `Shelf`."""

    def __init__(self, work: Callable[[str], Value], most: int, size: Callable[[Value], int] = sys.getsizeof) -> None:
        super().__init__(most, size)
        self._work = work

    def __call__(self, text: str) -> Value:
        """The function's result."""
        known = self._kept.get(text)
        return known[0] if known is not None else self.of(text, lambda: self._work(text))


ENTRY_BYTES = 300
"""About what a place in the dictionary takes, with the pair and its number."""
