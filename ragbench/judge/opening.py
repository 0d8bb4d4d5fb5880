"""The judges of a run, as ragbench.toml names them, with one journal, one budget and one count for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragbench.judge.model import ModelJudge
from ragbench.judge.offline import OFFLINE_JUDGES, legal_names
from ragbench.judge.own import OwnJudge
from ragbench.judge.plan import PlanningJudge
from ragbench.llm import (
    Budget,
    Client,
    FunctionEndpoint,
    Journal,
    Outlook,
    Providers,
    Replies,
    Tally,
    Usage,
    experience,
    open_budget,
)
from ragbench.settings import ConfigurationError, Settings
from ragbench.types import Judge


@dataclass
class OpenJudges:
    """Open judges with what they share; an asynchronous context manager, or `await close()`.

    tally: how far the calls are. budget: what was spent, and what may be.
    """

    judges: tuple[Judge, ...]
    tally: Tally = field(default_factory=Tally)
    budget: Budget = field(default_factory=Budget)

    def used(self) -> dict[str, Replies]:
        """The replies used so far, by the name of their judge; none of a judge without a model."""
        return {judge.name: judge.client.used for judge in self.judges if isinstance(judge, ModelJudge)}

    def usage(self) -> dict[str, Usage]:
        """What they took."""
        return {name: replies.usage for name, replies in self.used().items()}

    async def close(self) -> None:
        """Keep what was received, and let connections go."""
        for judge in self.judges:
            if isinstance(judge, ModelJudge | PlanningJudge):
                await judge.close()

    async def __aenter__(self) -> OpenJudges:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass
class Rehearsed(OpenJudges):
    """The judges of a dry run: what would be asked is in their outlooks."""

    settings: Settings = field(default_factory=Settings)
    journal: Journal | None = None

    async def outlooks(self) -> list[Outlook]:
        """One of each judge with a model, with what the journal knows of its calls."""
        found = []
        for judge in self.judges:
            if isinstance(judge, PlanningJudge):
                model = judge.model
                found.append(judge.outlook(await asyncio.to_thread(experience, self.journal, judge.name, model)))
        return found


def open_judges(
    settings: Settings,
    names: Sequence[str | OwnJudge] = (),
    *,
    journal: Journal | None = None,
    language: str | None = None,
    on_change: Callable[[Tally], None] | None = None,
    rehearsed: bool = False,
) -> OpenJudges:
    """The judges of these names (offline ones, or tables [judges.NAME], or described where they are used); without
    names all configured ones, else the offline one.

    journal: where paid replies are kept (`ragbench.store.journal.DatabaseJournal`); None keeps them for this process.
    rehearsed: for a dry run, as `Rehearsed`: they need no key, look up in the journal, and never ask, so that nothing
    changes. Raises ConfigurationError for an unknown name and for a key that is not set.
    """
    budget = Budget() if rehearsed else open_budget(settings.budget, journal)
    tally, providers = Tally(on_change=on_change), Providers(journal)
    spoken, legal = language or settings.language, legal_names(settings)

    def opened(name: str | OwnJudge) -> Judge:
        if isinstance(name, OwnJudge):
            return described(name)
        if name not in legal:
            raise ConfigurationError(
                f"there is no judge {name!r}; judges are {', '.join(legal)} (tables [judges.NAME])"
            )
        if name in OFFLINE_JUDGES:
            return OFFLINE_JUDGES[name]()
        return described(OwnJudge(name, settings.judge(name)))

    def described(one: OwnJudge) -> Judge:
        name, known, kept = one.name, one.settings, journal if one.kept else None
        if rehearsed:
            return PlanningJudge(name, known, kept, spoken)
        sender = None
        if one.function is not None:
            limiter = providers.limiter(known)
            sender = FunctionEndpoint(f"judge {name!r}", one.function, known, limiter, budget, tally)
        client = Client(name, known, journal=kept, budget=budget, tally=tally, providers=providers, sender=sender)
        return ModelJudge(client, language=spoken)

    judges = tuple(opened(name) for name in (names or settings.judge_names()))
    return Rehearsed(judges, tally, budget, settings, journal) if rehearsed else OpenJudges(judges, tally, budget)
