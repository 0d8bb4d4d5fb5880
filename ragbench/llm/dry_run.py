"""Clients that look up and never send: how whoever calls a model takes part in a plan (`ragbench run --plan`).

if planning.folder() is not None:
    rehearsal = Rehearsal(name, settings, journal)      # instead of Client(name, settings, journal=journal)
    completion = await rehearsal.client.complete(request)
    ...                                                 # if Rehearsal.is_missing(completion): a stand-in's answer
    planning.keep([rehearsal.outlook(planning.experience(journal, name, settings.model))])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragbench.core.settings import JudgeSettings
from ragbench.core.types import Status
from ragbench.llm.client import Client, Completion
from ragbench.llm.endpoint import Keep, Kept
from ragbench.llm.errors import CallFailed
from ragbench.llm.journal import Journal, MemoryJournal, Row
from ragbench.llm.planning import Experience, Outlook
from ragbench.llm.pricing import Tally
from ragbench.llm.request import Request, estimate_tokens

_MISSING = "planned, not asked"


class Rehearsal:
    """One model's client that looks up in the journal and never sends; it needs no key.

    Close `client` at the end, on the event loop that it was used on.
    """

    def __init__(self, name: str, settings: JudgeSettings, journal: Journal | None = None) -> None:
        self._missing: dict[str, tuple[int, int]] = {}
        self._watched = _Watched(journal) if journal is not None else None
        keyless = settings.model_copy(update={"key_variable": None})
        self.name, self.settings = name, settings
        self.client = Client(name, keyless, journal=self._watched, tally=Tally(), sender=self)

    @staticmethod
    def is_missing(completion: Completion) -> bool:
        """Whether the call would have been sent; go on with a stand-in's answer, so that what follows counts too."""
        return completion.status is Status.JUDGE_ERROR and completion.reason == _MISSING

    def outlook(self, known: Experience | None = None, unknown: int = 0) -> Outlook:
        """What was asked so far."""
        journaled = frozenset(self._watched.found if self._watched is not None else ())
        return Outlook(self.name, self.settings, dict(self._missing), journaled, unknown, known or Experience())

    async def send(self, request: Request, keep: Keep[Kept]) -> Kept:
        """Count a request that would have been sent, once."""
        read = sum(estimate_tokens(text) for _, text in request.messages)
        self._missing[self.client.key(request)] = (read, request.decoding.max_tokens)
        raise CallFailed(Status.JUDGE_ERROR, _MISSING)

    async def close(self) -> None:
        """Nothing is open."""


class _Watched(MemoryJournal):
    """A journal that remembers what it was found to have, and claims nothing: who plans is not waited for."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.found: set[str] = set()

    def on_loop(self) -> _Watched:
        self._open = self._journal.on_loop()
        return self

    async def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        rows = await self._open.find(keys)
        self.found.update(rows)
        return rows

    async def close(self) -> None:
        await self._open.close()
