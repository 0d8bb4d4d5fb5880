"""The judges of a run, as ragbench.toml names them, with one journal, one budget and one count for all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragbench.core.settings import ConfigurationError, Settings
from ragbench.core.types import Judge
from ragbench.judge.offline import OFFLINE_JUDGES, legal_names
from ragbench.judge.own import OwnJudge
from ragbench.llm import Budget, Journal, Outlook, Replies, Tally, Usage, open_budget

if TYPE_CHECKING:  # what asks a model is imported where one will be asked
    from ragbench.judge.model import ModelJudge
    from ragbench.judge.plan import PlanningJudge


@dataclass
class OpenJudges:
    """Open judges with what they share; an asynchronous context manager, or `await close()`.

    asking: those of them that ask a model. tally: how far the calls are. budget: what was spent, and what may be.
    """

    judges: tuple[Judge, ...]
    asking: Sequence[ModelJudge] = ()
    tally: Tally = field(default_factory=Tally)
    budget: Budget = field(default_factory=Budget)

    def used(self) -> dict[str, Replies]:
        """The replies used so far, by the name of their judge; none of a judge without a model."""
        return {judge.name: judge.client.used for judge in self.asking}

    def usage(self) -> dict[str, Usage]:
        """What they took."""
        return {name: replies.usage for name, replies in self.used().items()}

    async def outlooks(self) -> list[Outlook]:
        """What they would be asked, where this is a rehearsal."""
        return []

    async def close(self) -> None:
        """Keep what was received, and let connections go."""
        for judge in self.asking:
            await judge.close()

    async def __aenter__(self) -> OpenJudges:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


@dataclass
class Rehearsed(OpenJudges):
    """The judges of a dry run: what would be asked is in their outlooks."""

    planning: Sequence[PlanningJudge] = ()
    journal: Journal | None = None

    async def outlooks(self) -> list[Outlook]:
        """One of each judge with a model, with what the journal knows of its calls."""
        from ragbench.llm import experience

        known = [await asyncio.to_thread(experience, self.journal, judge.name, judge.model) for judge in self.planning]
        return [judge.outlook(met) for judge, met in zip(self.planning, known, strict=True)]

    async def close(self) -> None:
        """Let go of what the journal was asked with."""
        for judge in self.planning:
            await judge.close()


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
    legal = legal_names(settings)
    chosen = [_found(name, settings, legal) for name in (names or settings.judge_names())]
    models, spoken = [judge for judge in chosen if isinstance(judge, OwnJudge)], language or settings.language
    shared = Tally(on_change=on_change), Budget() if rehearsed else open_budget(settings.budget, journal)
    if rehearsed:
        planning = _planning(models, journal, spoken) if models else []
        return Rehearsed(_all(chosen, planning), (), *shared, planning, journal)
    asking = _asking(models, journal, spoken, *shared) if models else []
    return OpenJudges(_all(chosen, asking), asking, *shared)


def _found(name: str | OwnJudge, settings: Settings, legal: Sequence[str]) -> Judge | OwnJudge:
    if isinstance(name, OwnJudge):
        return name
    if name not in legal:
        raise ConfigurationError(f"there is no judge {name!r}; judges are {', '.join(legal)} (tables [judges.NAME])")
    return OFFLINE_JUDGES[name]() if name in OFFLINE_JUDGES else OwnJudge(name, settings.judge(name))


def _all(chosen: Sequence[Judge | OwnJudge], models: Sequence[Judge]) -> tuple[Judge, ...]:
    made = iter(models)
    return tuple(next(made) if isinstance(judge, OwnJudge) else judge for judge in chosen)


def _planning(models: Sequence[OwnJudge], journal: Journal | None, language: str) -> list[PlanningJudge]:
    from ragbench.judge.plan import PlanningJudge

    return [PlanningJudge(model.name, model.settings, journal if model.kept else None, language) for model in models]


def _asking(
    models: Sequence[OwnJudge], journal: Journal | None, language: str, tally: Tally, budget: Budget
) -> list[ModelJudge]:
    from ragbench.judge.model import ModelJudge
    from ragbench.llm import Client, FunctionEndpoint

    def client(own_judge: OwnJudge) -> Client:
        known, kept, sender = own_judge.settings, journal if own_judge.kept else None, None
        if own_judge.function is not None:
            sender = FunctionEndpoint(f"judge {own_judge.name!r}", own_judge.function, known, budget, tally, journal)
        return Client(
            own_judge.name, known, journal=kept, budget=budget, tally=tally, sender=sender, official=own_judge.client
        )

    return [ModelJudge(client(model), language=language) for model in models]
