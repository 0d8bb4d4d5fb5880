"""What a run will cost, before it costs anything: the run itself, with a judge that looks up and never asks.

Where the journal has a reply, it is used. Where it has none, the call is counted and the lexical judge stands in for
the answer, so that the calls that depend on it can be counted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragbench.judge.lexical import LexicalJudge
from ragbench.judge.model import ModelJudge
from ragbench.llm import CallFailed, Client, Journal, Keep, Kept, Price, Request, Tally, estimate_tokens
from ragbench.settings import JudgeSettings
from ragbench.types import Answer, Prompt, Shape, Status

if TYPE_CHECKING:
    from ragbench.store.journal import JournalSize

SECONDS_A_CALL = 2.0
"""Assumed where the journal knows none of this judge's calls."""
SHARE_WRITTEN = 0.25
"""The share of `max_tokens` that a reply is assumed to have, where the journal knows none of this judge's."""


@dataclass(frozen=True)
class Experience:
    """What the journal knows of a judge's calls: means of seconds and of tokens written; None if nothing."""

    seconds: float | None = None
    output_tokens: float | None = None


def experience(sizes: Iterable[JournalSize], judge: str, model: str) -> Experience:
    """What the journal's sizes (`DatabaseJournal.sizes`) tell of one judge's calls."""
    for size in sizes:
        if (size.judge, size.model) == (judge, model) and size.replies:
            return Experience(size.seconds / size.replies, size.output_tokens / size.replies)
    return Experience()


@dataclass(frozen=True)
class Plan:
    """What one judge's share of a run will take, about.

    calls: to be paid for; journaled: questions that the journal answers. money and output_tokens are expected values,
    money_at_most holds if every reply has its full length. minutes: at the judge's concurrency and its provider's
    rates. guessed: whether seconds or tokens are assumptions, for want of experience. unknown: calls whose number
    cannot be known, because they depend on an answer for which there is no stand-in.
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


class _NeverSends:
    """Counts each request that would have been sent, once."""

    def __init__(self) -> None:
        self.planned: dict[str, tuple[int, int]] = {}
        self.key_of: Callable[[Request], str] = lambda request: ""

    async def send(self, request: Request, keep: Keep[Kept]) -> Kept:
        read = sum(estimate_tokens(text) for _, text in request.messages)
        self.planned[self.key_of(request)] = (read, request.decoding.max_tokens)
        raise CallFailed(Status.JUDGE_ERROR, "planned, not asked")

    async def close(self) -> None:
        """Nothing is open."""


class PlanningJudge:
    """Stands in for one model judge in a dry run; see `ragbench.types.Judge`."""

    def __init__(
        self, name: str, settings: JudgeSettings, journal: Journal | None = None, language: str = "en"
    ) -> None:
        self.name = name
        self._settings = settings.model_copy(update={"key_variable": None})  # a plan needs no key
        self._sender = _NeverSends()
        self._tally = Tally()
        self._client = Client(name, self._settings, journal=journal, tally=self._tally, sender=self._sender)
        self._sender.key_of = self._client.key
        self._judge = ModelJudge(self._client, language=language)
        self._lexical = LexicalJudge()
        self._unknown = 0

    @property
    def identity(self) -> str:
        """The identity of the judge that it stands in for."""
        return self._judge.identity

    async def ask(
        self,
        prompt: Prompt[Shape],
        texts: Mapping[str, str | Sequence[str]],
        *,
        language: str | None = None,
        repeat: int = 0,
    ) -> Answer[Shape]:
        """The journal's answer, or the lexical judge's in its place."""
        request = self._judge.request(prompt, texts, language, repeat)
        completion = await self._client.complete(request)
        if completion.status is not Status.JUDGE_ERROR:
            return self._judge.answer(completion, texts)
        if prompt.offline is None:
            self._unknown += 1
        return await self._lexical.ask(prompt, texts, language=language, repeat=repeat)

    def plan(self, experience: Experience | None = None) -> Plan:
        """The plan of everything asked so far."""
        known = experience or Experience()
        planned = list(self._sender.planned.values())
        calls = len(planned)
        read = sum(tokens for tokens, _ in planned)
        longest = sum(tokens for _, tokens in planned)
        written = calls * known.output_tokens if known.output_tokens is not None else longest * SHARE_WRITTEN
        price = Price(self._settings.input_price, self._settings.output_price)
        return Plan(
            judge=self.name,
            calls=calls,
            journaled=self._tally.journaled,
            input_tokens=read,
            output_tokens=round(written),
            money=price.of(read, written),
            money_at_most=price.of(read, longest),
            minutes=self._minutes(calls, read + written, known.seconds or SECONDS_A_CALL),
            guessed=calls > 0 and (known.seconds is None or known.output_tokens is None),
            unknown=self._unknown,
        )

    def _minutes(self, calls: int, tokens: float, seconds: float) -> float:
        limits = [calls * seconds / self._settings.concurrency / 60]
        if self._settings.requests_per_minute:
            limits.append(calls / self._settings.requests_per_minute)
        if self._settings.tokens_per_minute:
            limits.append(tokens / self._settings.tokens_per_minute)
        return max(limits)

    async def close(self) -> None:
        """Let the journal's threads end."""
        await self._client.close()
