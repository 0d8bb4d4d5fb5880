"""The model that writes drafts and grades passages: opened with its journal, and watched while it works."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from ragbench.core import trust
from ragbench.core.progress import Progress, is_watched
from ragbench.core.settings import Settings
from ragbench.llm import Journal

if TYPE_CHECKING:
    from ragbench.judge import OpenJudges


@contextlib.asynccontextmanager
async def watched(
    what: str, count: int, judge: str, known: Settings, journal: Journal, language: str
) -> AsyncIterator[tuple[OpenJudges, Progress]]:
    """The judge of this name alone, and the progress of `count` pieces of work; in a plan it asks nobody."""
    from ragbench.judge import open_judges
    from ragbench.tiers.scoring.measure import live_line

    with Progress(what, count if is_watched() else 0) as progress:
        opened = open_judges(
            known, [judge], journal=journal, language=language, on_change=live_line(progress),
            rehearsed=trust.only_planned(),
        )  # fmt: skip
        async with opened:
            yield opened, progress
