"""Matrix products whose sums go in one order: with more threads a library adds in parts, and the last bits differ."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Shared(Generic[Key]):
    """A state of the whole process that several of its threads may need at once, as a context manager when called.

    It lasts from when the first enters until the last has left: if each ended what it began, who leaves first would end
    it for those who are still inside, and who leaves last would bring back what the first had begun.

    key: what there is to begin now; what one of those inside has begun already is not begun again. begin: gives it.
    """

    def __init__(self, key: Callable[[], Key], begin: Callable[[Key], AbstractContextManager[Any]]) -> None:
        self._key, self._begin = key, begin
        self._lock, self._inside = threading.Lock(), 0
        self._begun: set[Key] = set()
        self._stack = ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if (key := self._key()) not in self._begun:
                self._stack.enter_context(self._begin(key))
                self._begun.add(key)
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._begun.clear()
                    self._stack.close()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it NumPy, SciPy and scikit-learn have one thread each, whatever OMP_NUM_THREADS says."""
    with (
        _of_blas(),
        _libraries(_reduces()).select(user_api="openmp").limit(limits=1),
    ):  # which each thread has its own of
        yield


def _reduces() -> bool:
    return "sklearn.utils.extmath" in sys.modules


@lru_cache(maxsize=2)
def _libraries(reducing: bool) -> Any:
    """Those of the process that have threads, looked for once: it takes as long as to embed a question.

    reducing: whether those are there that reduce a large corpus and group it; NumPy has its own.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def _limited(reducing: bool) -> Iterator[None]:
    """OpenBLAS has one number of threads for the process, and threadpoolctl lets only the thread set it that was the
    first to do so: of any other it takes no notice, without a word."""
    from threadpoolctl import OpenBLASController

    OpenBLASController.clear_controlling_thread(force=True)
    with _libraries(reducing).select(user_api="blas").limit(limits=1):
        yield
        OpenBLASController.clear_controlling_thread(force=True)  # who leaves last need not be who came first


_of_blas = Shared(_reduces, _limited)
