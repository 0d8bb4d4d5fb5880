"""The judges of a run, as ragbench.toml names them, with one journal, one budget and one count for all.

Beside them those that ask no model, and those that stand in no file: a model at an address, or a function.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ragbench.old.core import names
from ragbench.old.core.expectations import expectation
from ragbench.old.core.names import unknown_judge
from ragbench.old.core.settings import OFFLINE, ConfigurationError, JudgeSettings, Settings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Answer, Judge, Prompt, Shape
from ragbench.old.core.types.reason import Reason
from ragbench.old.judge.lexical import LexicalJudge
from ragbench.old.judge.model_judge import ModelJudge, Texts
from ragbench.old.llm import Budget, DryRun, Journal, Outlook, Replies, Tally, Usage, open_budget
from ragbench.old.llm.planning import Experience

if TYPE_CHECKING:  # what asks a model is imported where one will be asked
    from ragbench.old.judge.model_judge import ModelJudge


class PlanningJudge:
    """Stands in for one model judge in a dry run; see `ragbench.old.core.types.Judge`."""

    def __init__(
        self, name: str, settings: JudgeSettings, journal: Journal | None = None, language: str = "en"
    ) -> None:
        self.name, self.model = name, settings.model
        self._dry_run = DryRun(name, settings, journal)
        self._judge = ModelJudge(self._dry_run.client, language=language)
        self._lexical = LexicalJudge()
        self._unknown = 0

    @property
    def identity(self) -> str:
        """The identity of the judge that it stands in for."""
        return self._judge.identity

    async def ask(
        self, prompt: Prompt[Shape], texts: Texts, *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """The journal's answer, or the lexical judge's in its place."""
        request = self._judge.request(prompt, texts, language, repeat)
        completion = await self._dry_run.client.complete(request)
        if not DryRun.is_missing(completion):
            return self._judge.answer(completion, texts)
        if prompt.offline is None:
            self._unknown += 1
        return await self._lexical.ask(prompt, texts, language=language, repeat=repeat)

    def outlook(self, experience: Experience | None = None) -> Outlook:
        """What was asked so far, to be added to other outlooks."""
        return self._dry_run.outlook(experience, self._unknown)

    async def close(self) -> None:
        """Let the journal go."""
        await self._dry_run.client.close()


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
        """What they would be asked, where this is a dry run."""
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
class DryRunJudges(OpenJudges):
    """The judges of a dry run: what would be asked is in their outlooks."""

    planning: Sequence[PlanningJudge] = ()
    journal: Journal | None = None

    async def outlooks(self) -> list[Outlook]:
        """One of each judge with a model, with what the journal knows of its calls."""
        from ragbench.old.llm import experience

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
    dry_run: bool = False,
) -> OpenJudges:
    """The judges of these names (offline ones, or tables [judges.NAME], or described where they are used); without
    names all configured ones, else the offline one.

    journal: where paid replies are kept (`ragbench.old.store.reply_journal.DatabaseJournal`); None keeps them for this
    process.
    dry_run: for a dry run, as `DryRunJudges`: they need no key, look up in the journal, and never ask, so that nothing
    changes. Raises ConfigurationError for an unknown name and for a key that is not set.
    """
    legal = legal_names(settings)
    chosen = [_found(name, settings, legal) for name in (names or settings.judge_names())]
    models, spoken = [judge for judge in chosen if isinstance(judge, OwnJudge)], language or settings.language
    shared = Tally(on_change=on_change), Budget() if dry_run else open_budget(settings.budget, journal)
    if dry_run:
        planning = _planning(models, journal, spoken) if models else []
        return DryRunJudges(_all(chosen, planning), (), *shared, planning, journal)
    asking = _asking(models, journal, spoken, *shared) if models else []
    return OpenJudges(_all(chosen, asking), asking, *shared)


def _found(name: str | OwnJudge, settings: Settings, legal: Sequence[str]) -> Judge | OwnJudge:
    if isinstance(name, OwnJudge):
        return name
    if name not in legal:
        raise ConfigurationError(unknown_judge(name, legal))
    return OFFLINE_JUDGES[name]() if name in OFFLINE_JUDGES else OwnJudge(name, settings.judge(name))


def _all(chosen: Sequence[Judge | OwnJudge], models: Sequence[Judge]) -> tuple[Judge, ...]:
    made = iter(models)
    return tuple(next(made) if isinstance(judge, OwnJudge) else judge for judge in chosen)


def _planning(models: Sequence[OwnJudge], journal: Journal | None, language: str) -> list[PlanningJudge]:

    return [PlanningJudge(model.name, model.settings, journal if model.kept else None, language) for model in models]


def _asking(
    models: Sequence[OwnJudge], journal: Journal | None, language: str, tally: Tally, budget: Budget
) -> list[ModelJudge]:
    from ragbench.old.judge.model_judge import ModelJudge
    from ragbench.old.llm import Client, FunctionEndpoint

    def client(own_judge: OwnJudge) -> Client:
        known, kept, sender = own_judge.settings, journal if own_judge.kept else None, None
        if own_judge.function is not None:
            sender = FunctionEndpoint(
                Reason("judge {name}", name=repr(own_judge.name)), own_judge.function, known, budget, tally, journal
            )
        return Client(
            own_judge.name, known, journal=kept, budget=budget, tally=tally, sender=sender, official=own_judge.client
        )

    return [ModelJudge(client(model), language=language) for model in models]


FUNCTION = "function"


@dataclass(frozen=True)
class OwnJudge:
    """A judge as ragbench.toml would have it, to be named wherever a judge is.

    client: an AsyncOpenAI of the user's own that is asked. function: asked instead of an endpoint, with a prompt's
    text. kept: whether its replies are kept in the journal; of a function only where it says which model answers, since
    another version of it is not seen.
    """

    name: str
    settings: JudgeSettings
    function: Callable[[str], Any] | None = field(default=None, compare=False)
    kept: bool = True
    client: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name


def own_judge(
    function: Callable[[str], Any] | None = None, *, name: str = "", client: Any = None, **table: Any
) -> OwnJudge:
    """A judge from what a table [judges.NAME] would say, from a client, or from a function. Raises ValueError, naming
    the key."""
    if isinstance(client, str):
        table["client"] = client
    elif client is not None:
        if function is not None:
            raise ValueError("judge: client goes with a model, not with a function")
        if both := {"base_url", "provider", "key_variable"} & set(table):
            raise ValueError(f"judge: {min(both)} goes with an address, and a client has its own")
        from ragbench.old.llm import official

        try:
            table["base_url"] = str(official.checked(client).base_url).rstrip("/")
        except ValueError as error:
            raise ValueError(f"judge: client: {error}") from None
    if function is not None and not callable(function):
        raise ValueError(
            f"judge: {excerpt(repr(function), 80)} is no function of a prompt's text; name a model by "
            "model=…, base_url=…"
        )
    if function is None and "model" not in table:
        raise ValueError("judge: give model=… and base_url=… or client=…, or a function of a prompt's text")
    model = str(table.get("model") or FUNCTION)
    called = name or (getattr(function, "__name__", FUNCTION) if function is not None else model)
    called = called.replace(",", " ")
    if why := names.fault(called):
        raise ValueError(f"judge: name = {called!r}: the name {why}")
    if called in OFFLINE_JUDGES:
        raise ValueError(f"judge: name = {called!r}: this name belongs to the offline judge; choose another")
    place = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', FUNCTION)}"
    given = dict(table)
    if function is not None:
        for key in ("base_url", "key_variable", "provider", "client", "replies"):
            if key in given:
                raise ValueError(f"judge: {key} goes with a model at an address, not with a function")
        given |= {"model": model, "base_url": "http://function.invalid"}
        given.setdefault("concurrency", 16 if inspect.iscoroutinefunction(function) else 1)
        given.setdefault("attempts", 1)
    try:
        settings = JudgeSettings.model_validate(given)
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            legal = sorted(JudgeSettings.model_fields)
            raise ValueError(
                f"judge: there is no key {key!r}{names.meant(key, legal)} Legal: {', '.join(legal)}"
            ) from None
        said = f"{key} = {fault['input']!r}: " if key and fault["type"] not in ("missing", "value_error") else ""
        raise ValueError(f"judge: {said or (key + ': ' if key else '')}{expectation(fault)}") from None
    if function is None:
        return OwnJudge(called, settings, client=None if isinstance(client, str) else client)
    settings = settings.model_copy(update={"base_url": f"{FUNCTION}:{place}"})
    return OwnJudge(called, settings, function, kept="model" in table)


def _lexical() -> Judge:
    from ragbench.old.judge.lexical import LexicalJudge

    return LexicalJudge()


OFFLINE_JUDGES: dict[str, Callable[[], Judge]] = {OFFLINE: _lexical}
"""By name, which no table [judges.NAME] may have."""


def asks_nobody(judge: Judge | str) -> bool:
    """Whether a judge, or that of this name, asks no model. One of your own says so by `is_stand_in = True`."""
    return judge in OFFLINE_JUDGES if isinstance(judge, str) else bool(getattr(judge, "is_stand_in", False))


def legal_names(settings: Settings) -> tuple[str, ...]:
    """The judges that can be named. Raises ConfigurationError where a table has the name of an offline judge."""
    for name in OFFLINE_JUDGES:
        if name in settings.judges:
            raise ConfigurationError(f"judges.{name}: this name belongs to an offline judge; choose another")
    return (*OFFLINE_JUDGES, *sorted(settings.judges))
