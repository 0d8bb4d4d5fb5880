"""What a run's calls will take, before they cost anything: outlooks of single models, and their sums.

A process whose variable RAGBENCH_PLAN names a folder makes no call: it leaves there what it would have asked, as far
as the journal has not the answer. How to take part: `ragbench.llm.dry_run`.
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

from ragbench.core import folders
from ragbench.core.folders import write
from ragbench.core.settings import PLAN, JudgeSettings
from ragbench.core.types import JournalSize
from ragbench.llm.journal import Journal, Row
from ragbench.llm.pricing import Price

PLAN_FOLDER = PLAN
"""The variable that names the folder in which a process that only plans leaves what it met."""
SECONDS_A_CALL = 2.0
"""Assumed where the journal knows none of this model's calls."""
SHARE_WRITTEN = 0.25
"""The share of `max_tokens` that a reply is assumed to have, where the journal knows none of this model's."""

SAMPLE = 2000
"""So many of a model's journaled calls are looked at for `asked_again`."""


@dataclass(frozen=True)
class Experience:
    """What the journal knows of a model's calls: means of seconds and of tokens written; None if nothing.

    again: how many more calls were made for a question on average, see `asked_again`; None if nothing is known.
    """

    seconds: float | None = None
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
            return Experience(size.seconds / size.replies, size.output_tokens / size.replies, again)
    return Experience()


@dataclass(frozen=True)
class Plan:
    """What one model's share of a run will take, about.

    calls: to be paid for; journaled: replies that the journal has. repairs: calls to expect besides, because some
    replies cannot be used and are asked for once more, by the journal's experience of this model; None for want of it.
    Tokens, money and minutes are of both. money and output_tokens are expected values, money_at_most holds if every
    reply has its full length. minutes: at the model's concurrency and its provider's rates. guessed: whether seconds
    or tokens are assumptions, for want of experience. unknown: calls whose number cannot be known, because they depend
    on an answer for which there is no stand-in. is_priced: else money is unknown, and 0 here.
    scale: of a sample of questions how many times as much all of them would take.
    """

    judge: str
    calls: int
    journaled: int
    input_tokens: int
    output_tokens: int
    money: float
    money_at_most: float
    minutes: float
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

    @property
    def provider(self) -> tuple[str, str | None]:
        """Those with the same one wait in one line."""
        return self.settings.address, self.settings.key_variable

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
            minutes=self._minutes(
                calls * (1 + again), read + written, SECONDS_A_CALL if known.seconds is None else known.seconds
            ),
            guessed=calls > 0 and (known.seconds is None or known.output_tokens is None),
            unknown=self.unknown,
            repairs=None if known.again is None else round(calls * known.again),
            scale=self.scale,
        )

    def _minutes(self, calls: float, tokens: float, seconds: float) -> float:
        limits = [calls * seconds / self.settings.concurrency / 60]
        if self.settings.requests_per_minute:
            limits.append(calls / self.settings.requests_per_minute)
        if self.settings.tokens_per_minute:
            limits.append(tokens / self.settings.tokens_per_minute)
        return max(limits)


def folder() -> Path | None:
    """Where this process leaves its outlooks; None where calls are to be made."""
    named = os.environ.get(PLAN_FOLDER)
    return Path(named) if named else None


_stands_for = 1.0


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


def minutes(outlooks: Sequence[Outlook]) -> float:
    """How long all of them take together: models of one provider share its line, providers work side by side."""
    lines: dict[tuple[str, str | None], float] = {}
    for outlook in outlooks:
        lines[outlook.provider] = lines.get(outlook.provider, 0.0) + outlook.plan().minutes
    return max(lines.values(), default=0.0)
