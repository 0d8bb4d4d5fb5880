"""What all systems have in common that are asked question by question, or answer from a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ragbench.core.errors import BenchError
from ragbench.core.folders import ASKED_FILE, ENDED_SYSTEMS
from ragbench.core.types import Reply, Retrieval
from ragbench.systems.generators import Contexts, Generator
from ragbench.systems.hits import KnownPassages, Returned, read_hits

Purpose = Literal["retrieve", "answer"]


@contextmanager
def noted(name: str) -> Iterator[None]:
    """Have the system's name in the file of the kernel while it is being asked."""
    path = Path(os.environ.get(ASKED_FILE, os.devnull))
    path.write_text(name, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text("", encoding="utf-8")


def why_not_asked(name: str) -> str:
    """Say why the system is not asked in this kernel, or ""."""
    has_ended = name in os.environ.get(ENDED_SYSTEMS, "").split("\n")
    return "it ended the kernel that asked it" if has_ended else ""


class AskedSystem:
    """A system whose subclass says what it returned for each question, in `ask_all`.

    takes_contexts: whether it can be given passages to answer from. retriever, dense: see
    `core.types.System`.
    """

    stand_ins: tuple[str, ...] = ()
    can_retrieve = True
    can_answer = True
    takes_contexts = False
    retriever: Any = None
    dense: Any = None

    def __init__(self, name: str, known: KnownPassages) -> None:
        self.name = name
        self._known = known

    def describe(self) -> str:
        """Say in one line what it is: for pages and the index."""
        raise NotImplementedError

    def ask_all(
        self, purpose: Purpose, questions: Sequence[str], k: int, contexts: Contexts | None
    ) -> list[Returned]:
        """Return what it returned for every question; an error is an entry."""
        raise NotImplementedError

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """See `core.types.System`."""
        retrievals = []
        for returned in self.ask_all("retrieve", questions, k, None):
            reply = self._read(returned, k)
            error = reply.error
            if returned.items is None:
                error = error or "it says nothing of what it retrieved"
            retrievals.append(Retrieval(reply.hits, reply.latency_ms, error))
        return retrievals

    def answer(
        self, questions: Sequence[str], k: int, contexts: Contexts | None = None
    ) -> list[Reply]:
        """See `core.types.System`."""
        if contexts is not None and not self.takes_contexts:
            error = f"{self.name} cannot be given passages to answer from"
            return [Reply(error=error) for _ in questions]
        replies = []
        for row, returned in enumerate(self.ask_all("answer", questions, k, contexts)):
            if contexts is None:
                replies.append(self._read(returned, k))
            else:
                reply = self._read(replace(returned, items=None), k)
                replies.append(replace(reply, hits=tuple(contexts[row])))
        return replies

    def close(self) -> None:
        """Give back what it holds."""

    def _read(self, returned: Returned, k: int) -> Reply:
        """Read the passages that were returned."""
        if returned.error:
            return Reply(error=returned.error)
        try:
            hits = read_hits(returned.items or (), self._known, k)
        except BenchError as error:
            return Reply(error=str(error))
        return Reply(returned.answer, hits, returned.latency_ms)


class Answering:
    """A system with a generator, which answers where the system itself gives no answer at all.

    make_generator: called when something is to be written. is_named: somebody chose the generator,
    so that it answers from given passages, too; for a system that only retrieves it always does.
    description: in place of the system's own.
    """

    def __init__(
        self,
        system: AskedSystem,
        make_generator: Callable[[], Generator],
        *,
        is_named: bool,
        description: str = "",
    ) -> None:
        self.system = system
        self._description = description
        self._make_generator = make_generator
        self.name = system.name
        self.can_retrieve = system.can_retrieve
        is_writing = not system.takes_contexts and (is_named or not system.can_answer)
        self.generator = make_generator() if is_writing else None
        self.takes_contexts = system.takes_contexts or is_writing
        self.retriever = system.retriever
        self.dense = system.dense
        self.close = system.close
        self.stand_ins = system.stand_ins
        if self.generator is not None:
            self.stand_ins += self.generator.stand_ins

    def retrieve(self, questions: Sequence[str], k: int) -> list[Retrieval]:
        """See `core.types.System`."""
        if error := why_not_asked(self.name):
            return [Retrieval(error=error) for _ in questions]
        with noted(self.name):
            return self.system.retrieve(questions, k)

    def answer(
        self, questions: Sequence[str], k: int, contexts: Contexts | None = None
    ) -> list[Reply]:
        """See `core.types.System`. The latency is that of retrieving and writing together."""
        if error := why_not_asked(self.name):
            return [Reply(error=error) for _ in questions]
        with noted(self.name):
            return self._answer(questions, k, contexts)

    def _answer(self, questions: Sequence[str], k: int, contexts: Contexts | None) -> list[Reply]:
        """Let it answer, or write from what it retrieves."""
        if contexts is not None and self.generator is not None:
            return self.generator.write(questions, contexts)
        if self.system.can_answer:
            replies = self.system.answer(questions, k, contexts)
            has_answer = any(reply.answer is not None for reply in replies)
            if contexts is not None or has_answer:
                return replies
        else:
            retrievals = self.system.retrieve(questions, k)
            replies = [Reply(None, each.hits, each.latency_ms, each.error) for each in retrievals]
        return self._write(questions, replies)

    def describe(self) -> str:
        """Say what the system is."""
        return self._description or self.system.describe()

    def _write(self, questions: Sequence[str], replies: list[Reply]) -> list[Reply]:
        """Write the answers to what was retrieved without an error."""
        rows = [row for row, reply in enumerate(replies) if not reply.error]
        writer = self.generator or self._make_generator()
        if rows:
            self.stand_ins = tuple(dict.fromkeys((*self.stand_ins, *writer.stand_ins)))
        written = writer.write(
            [questions[row] for row in rows], [replies[row].hits for row in rows]
        )
        for row, reply in zip(rows, written, strict=True):
            latency_ms = replies[row].latency_ms + reply.latency_ms
            replies[row] = replace(reply, latency_ms=latency_ms)
        return replies
