"""Judges opened for scoring, and the journal that their replies are kept in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragbench.core import settings, trust
from ragbench.core.metric import Metric
from ragbench.judge import OwnJudge, asks_nobody
from ragbench.llm import Journal, Tally
from ragbench.tiers.scoring.judge_assignment import AnyJudge, asking

if TYPE_CHECKING:
    from ragbench.judge import OpenJudges


@contextlib.contextmanager
def kept_replies(judges: Sequence[AnyJudge], metrics: Sequence[Metric]) -> Iterator[Journal | None]:
    """The journal in the database where a model will be asked that is no object; None where nothing is paid for."""
    whom = asking(metrics, judges)
    if not any(
        judge.kept if isinstance(judge, OwnJudge) else isinstance(judge, str) and not asks_nobody(judge)
        for judge in whom
    ):
        yield None
        return
    with in_database(settings.load()) as journal:
        yield journal


@contextlib.contextmanager
def in_database(known: settings.Settings) -> Iterator[Journal]:
    """The journal in the project's database, in which every reply is kept."""
    from ragbench.store import Store, server
    from ragbench.store.journal import DatabaseJournal

    with Store.open(known) as store:
        yield DatabaseJournal(store.engine, revive=lambda: server.start(known))


def opened(
    names: Sequence[str | OwnJudge],
    journal: Journal | None,
    language: str | None,
    on_change: Callable[[Tally], None] | None,
    dry: bool,
) -> OpenJudges:
    """The judges of these names. dry: they ask nobody. Raises UntrustedError for those that nobody has trusted."""
    from ragbench.judge import open_judges

    known = settings.load()
    if not all(isinstance(judge, OwnJudge) or asks_nobody(judge) for judge in names):
        trust.require(*trust.named())
    return open_judges(known, names, journal=journal, language=language, on_change=on_change, rehearsed=dry)
