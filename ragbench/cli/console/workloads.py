"""The table of `--plan` of what systems would ask of endpoints: texts to embed, rankings, and requests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragbench.core import terminal

if TYPE_CHECKING:
    from ragbench.systems.work import Task, Work

LEFT = ("system", "endpoint")
COLUMNS = ("passages", "questions", "timed", "to rerank", "at every run", "requests")
ALL = "all, what is shared once"


def show(works: Sequence[Work]) -> None:
    """Print one line a system that asks anybody, and their sum with what they share counted once."""
    asking = [work for work in works if any(task.left for task in (*work.tasks, *work.anew))]
    if not asking:
        return
    rows = [(work.name, *_cells(work.tasks, work.anew)) for work in asking]
    bold = {len(rows)} if len(rows) > 1 else ()
    if bold:
        tasks = shared(task for work in works for task in work.tasks)
        rows.append((ALL, *_cells(tasks, shared(task for work in works for task in work.anew))))
    terminal.table(("system", "endpoint", *COLUMNS), rows, left=LEFT, firm=COLUMNS, bold=bold)
    terminal.say(
        "Texts to embed, and questions to rerank, of which nothing is kept. At every run the repeats are asked anew, "
        "to see whether the same is found."
    )


def shared(tasks: Iterable[Task]) -> list[Task]:
    """All that is to be asked, once each: of equal tasks the one with most left, and of those on texts all texts."""
    equal: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        equal.setdefault(task.key, []).append(task)
    return [_one_of(same) for same in equal.values()]


def _one_of(same: Sequence[Task]) -> Task:
    most = max(same, key=lambda task: task.left)
    texts = frozenset[str]().union(*(task.texts for task in same))
    if not texts:
        return most
    return replace(most, left=len(texts), calls=math.ceil(most.calls * len(texts) / most.left), texts=texts)


def _cells(tasks: Sequence[Task], anew: Sequence[Task]) -> list[str]:
    names = dict.fromkeys(task.who for task in (*tasks, *anew) if task.what != "timed")
    parts = ("passages", "questions", "timed", "reranker")
    counts = [_sum([task for task in tasks if task.what == what]) for what in parts]
    calls = sum(task.calls for task in (*tasks, *anew))
    return [", ".join(names) or "—", *counts, _sum(anew), f"{calls:,}"]


def _sum(tasks: Sequence[Task]) -> str:
    return f"{sum(task.left for task in tasks):,}" if tasks else "—"
