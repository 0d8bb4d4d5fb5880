"""What a run's calls will take, before they cost anything: outlooks of single models, and their sums.

A process whose variable RAGBENCH_PLAN names a folder makes no call: it leaves there what it would have asked, as far
as the journal has not the answer. Who calls models takes part as a `DryRun`.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import TypeAdapter

from ragbench.old.core import folders
from ragbench.old.core.folders import write
from ragbench.old.core.settings import PLAN, JudgeSettings
from ragbench.old.core.types import JournalSize, Status
from ragbench.old.llm.budget import Price, Tally
from ragbench.old.llm.client import Client, Completion
from ragbench.old.llm.endpoint import Keep, Kept
from ragbench.old.llm.errors import CallFailed
from ragbench.old.llm.journal import Journal, MemoryJournal, Row
from ragbench.old.llm.request import Request, estimate_tokens

PLAN_FOLDER = PLAN
"""The variable that names the folder in which a process that only plans leaves what it met."""
SHARE_WRITTEN = 0.25
"""The share of `max_tokens` that a reply is assumed to have, where the journal knows none of this model's."""

SAMPLE = 2000
"""So many of a model's journaled calls are looked at for `asked_again`."""


@dataclass(frozen=True)
class Experience:
    """What the journal knows of a model's calls: the mean of tokens written; None if nothing.

    again: how many more calls were made for a question on average, see `asked_again`; None if nothing is known.
    """

    output_tokens: float | None = None
    again: float | None = None


@runtime_checkable
class Sized(Protocol):
    """A journal that can say what it holds, and show some of it."""

    def sizes(self) -> Sequence[JournalSize]: ...

    def sample(self, judge: str, model: str, rows: int) -> Sequence[Row]:
        """So many rows of one model under one name, or all if it has fewer, chosen without regard to what they say."""


def asked_again(rows: Sequence[Row]) -> float | None:
    """Calls that were made because the reply before them could not be used, per call that was not; None for no rows.

    Those are repairs of malformed replies, which go on after the model's own words, and askings with a greater length
    limit than the prompt has otherwise, where replies to it were truncated.
    """
    limits: dict[Any, list[int]] = {}
    for row in rows:
        limits.setdefault((row["prompt"], row["version"]), []).append(_limit(row))
    truncated = {(row["prompt"], row["version"]) for row in rows if row["finish"] == "length"}
    again = 0
    for row in rows:
        prompt = (row["prompt"], row["version"])
        repaired = any(message["role"] == "assistant" for message in row["request"]["messages"])
        again += repaired or (prompt in truncated and _limit(row) > min(limits[prompt]))
    return again / (len(rows) - again) if len(rows) > again else None


def _limit(row: Row) -> int:
    return int(row["request"].get("decoding", {}).get("max_tokens", 0))


def experience(journal: Journal | Iterable[JournalSize] | None, name: str, model: str) -> Experience:
    """What a journal, or its sizes, tells of the calls of one model under one name."""
    sizes: Any = journal.sizes() if isinstance(journal, Sized) else journal
    for size in sizes if isinstance(sizes, Iterable) else ():
        if (size.judge, size.model) == (name, model) and size.replies:
            again = asked_again(journal.sample(name, model, SAMPLE)) if isinstance(journal, Sized) else None
            return Experience(size.output_tokens / size.replies, again)
    return Experience()


@dataclass(frozen=True)
class Plan:
    """What one model's share of a run will take, about.

    calls: to be paid for; journaled: replies that the journal has. repairs: calls to expect besides, because some
    replies cannot be used and are asked for once more, by the journal's experience of this model; None for want of it.
    Tokens and money are of both. money and output_tokens are expected values, money_at_most holds if every reply has
    its full length. guessed: whether the tokens written are an assumption, for want of experience. unknown: calls whose
    number cannot be known, because they depend on an answer for which there is no stand-in. is_priced: else money is
    unknown, and 0 here.
    scale: of a sample of questions how many times as much all of them would take.
    """

    judge: str
    calls: int
    journaled: int
    input_tokens: int
    output_tokens: int
    money: float
    money_at_most: float
    guessed: bool
    unknown: int = 0
    repairs: int | None = None
    is_priced: bool = True
    scale: float = 1.0


@dataclass(frozen=True)
class Outlook:
    """What one model would be asked; outlooks of the same model add up (`|`), and equal questions count once.

    missing: journal key → (tokens read, most tokens written) of every call to be paid for. journaled: the keys that
    the journal has. unknown, scale: see `Plan`.
    """

    name: str
    settings: JudgeSettings
    missing: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    journaled: frozenset[str] = frozenset()
    unknown: int = 0
    experience: Experience = Experience()
    scale: float = 1.0

    def __or__(self, other: Outlook) -> Outlook:
        sizes = [len(outlook.missing) + len(outlook.journaled) for outlook in (self, other)]
        scales = (self.scale * sizes[0] + other.scale * sizes[1]) / (sum(sizes) or 1)
        return replace(
            self,
            missing={**self.missing, **other.missing},
            journaled=self.journaled | other.journaled,
            unknown=self.unknown + other.unknown,
            scale=scales if sum(sizes) else max(self.scale, other.scale),
        )

    def plan(self) -> Plan:
        """The numbers of it."""
        known = self.experience
        calls = len(self.missing)
        read = sum(tokens for tokens, _ in self.missing.values())
        longest = sum(tokens for _, tokens in self.missing.values())
        written = calls * known.output_tokens if known.output_tokens is not None else longest * SHARE_WRITTEN
        again = known.again or 0.0
        read += round(again * (read + written))  # a repair repeats the question and the reply that could not be used
        written, longest = written * (1 + again), round(longest * (1 + again))
        price = Price(self.settings.input_price, self.settings.output_price)
        return Plan(
            judge=self.name,
            calls=calls,
            journaled=len(self.journaled),
            input_tokens=read,
            output_tokens=round(written),
            money=price.of(read, written),
            money_at_most=price.of(read, longest),
            is_priced=self.settings.is_priced,
            guessed=calls > 0 and known.output_tokens is None,
            unknown=self.unknown,
            repairs=None if known.again is None else round(calls * known.again),
            scale=self.scale,
        )


def folder() -> Path | None:
    """Where this process leaves its outlooks; None where calls are to be made."""
    named = os.environ.get(PLAN_FOLDER)
    return Path(named) if named else None


_stands_for = 1.0  # until a sample is taken, a call stands for itself


def stand_for(taken: Mapping[str, Any] | None) -> None:
    """What this process plans from now on is of a sample of questions, `n` `of` all; None: of all."""
    global _stands_for
    _stands_for = 1.0 if taken is None or folder() is None else taken["of"] / taken["n"]


def keep(outlooks: Iterable[Outlook]) -> None:
    """Leave outlooks in `folder()`, for the process that adds them up with `kept`."""
    place = folder()
    assert place is not None, f"{PLAN_FOLDER} names no folder"
    nameless = [
        replace(outlook, settings=outlook.settings.model_copy(update={"provider": None}), scale=_stands_for)
        for outlook in outlooks
    ]
    place.mkdir(parents=True, exist_ok=True)
    write(place / f"{secrets.token_hex(8)}.json", TypeAdapter(list[Outlook]).dump_json(nameless))


def kept(place: Path) -> list[Outlook]:
    """The outlooks that processes left in a folder, added up, one a model, by name."""
    read = TypeAdapter(list[Outlook]).validate_json
    outlooks = [outlook for path in sorted(place.glob("*.json")) for outlook in read(folders.content(path))]
    return together(outlooks)


def together(outlooks: Iterable[Outlook]) -> list[Outlook]:
    """Outlooks added up, one a model, by name."""
    whole: dict[tuple[str, str], Outlook] = {}
    for outlook in outlooks:
        place = (outlook.name, json.dumps(outlook.settings.model_dump(mode="json"), sort_keys=True))
        whole[place] = whole[place] | outlook if place in whole else outlook
    return [whole[place] for place in sorted(whole)]


_MISSING = "planned, not asked"


class DryRun:
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
