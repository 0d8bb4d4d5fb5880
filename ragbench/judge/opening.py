"""The judges of a run, as ragbench.toml names them, with one journal, one budget and one count for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ragbench.judge.lexical import LexicalJudge
from ragbench.judge.model import ModelJudge
from ragbench.llm import Budget, Client, Journal, Providers, Tally
from ragbench.settings import Settings
from ragbench.types import Judge


@dataclass
class OpenJudges:
    """Open judges with what they share; an asynchronous context manager, or `await close()`.

    tally: how far the calls are. budget: what was spent, and what may be.
    """

    judges: tuple[Judge, ...]
    tally: Tally = field(default_factory=Tally)
    budget: Budget = field(default_factory=Budget)

    async def close(self) -> None:
        """Keep what was received, and let connections go."""
        for judge in self.judges:
            if isinstance(judge, ModelJudge):
                await judge.close()

    async def __aenter__(self) -> OpenJudges:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def open_judges(
    settings: Settings,
    names: Sequence[str] = (),
    *,
    journal: Journal | None = None,
    language: str | None = None,
    on_change: Callable[[Tally], None] | None = None,
) -> OpenJudges:
    """The judges of these names ("lexical", or tables [judges.NAME]); without names all configured ones, else lexical.

    journal: where paid replies are kept (`ragbench.store.journal.DatabaseJournal`); None keeps them for this process.
    Raises ConfigurationError for an unknown name and for a key that is not set.
    """
    tally = Tally(on_change=on_change)
    limits = settings.budget
    budget = Budget(limits.calls, limits.tokens, limits.money)
    providers = Providers()
    judges: list[Judge] = []
    for name in names or sorted(settings.judges) or ["lexical"]:
        if name == "lexical":
            judges.append(LexicalJudge())
            continue
        client = Client(name, settings.judge(name), journal=journal, budget=budget, tally=tally, providers=providers)
        judges.append(ModelJudge(client, language=language or settings.language))
    return OpenJudges(tuple(judges), tally, budget)
