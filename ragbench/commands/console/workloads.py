"""The table of `--plan` of what is computed here: texts to embed, rows, indexes, and about how many minutes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragbench import terminal

if TYPE_CHECKING:
    from ragbench.systems.work import Task, What, Work

LEFT = ("system", "embedder", "index")
COLUMNS = ("passages", "stored", "to embed", "questions", "timed", "rewriter", "reranker", "rows", "MB", "minutes")
ALL = "all, what is shared once"
AGAIN: dict[What, str] = {
    "rewriter": "questions put anew", "questions": "texts embedded once more", "reranker": "rankings looked at again",
}  # fmt: skip


def show(found: Sequence[Work]) -> None:
    """Print one line a system, their sum with what they share counted once, and where the minutes come from."""
    if not found:
        return
    whole = shared(task for one in found for task in one.tasks)
    if not any(task.left for task in whole):
        terminal.say("nothing to compute: all vectors, rows and indexes of the systems are stored")
    else:
        titles = ("system", "embedder", *COLUMNS, "index")
        rows = [(one.name, *_cells(one.tasks)) for one in found]
        bold = {len(rows)} if len(rows) > 1 else ()
        if bold:
            rows.append((ALL, *_cells(whole)))
        terminal.table(titles, rows, left=LEFT, firm=COLUMNS, bold=bold)
        for line in _sources(whole):
            terminal.say(line)
    for line in _anew(found):
        terminal.say(line)


def shared(tasks: Iterable[Task]) -> list[Task]:
    """All that is to be done, once each: of equal tasks the one with most left, and never with less time than another;
    of equal ones on texts, all of these.

    What is done once for all, such as fitting an embedder, is in the time of one of them.
    """
    equal: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        equal.setdefault(task.key, []).append(task)
    return [_one_of(same) for same in equal.values()]


def _one_of(same: Sequence[Task]) -> Task:
    most = max(same, key=lambda task: task.left)
    texts = frozenset[str]().union(*(task.texts for task in same))
    times = len(texts) / most.left if texts else 1.0
    known = [task.seconds for task in same if task.seconds is not None]
    return replace(
        most,
        whole=sum({task.data: task.whole for task in same}.values()),
        left=round(most.left * times),
        rows=round(most.rows * times),
        bytes=None if most.bytes is None else most.bytes * times,
        seconds=max(known) * times if len(known) == len(same) else None,
        calls=math.ceil(most.calls * times),
        texts=texts,
    )


def _cells(tasks: Sequence[Task]) -> list[str]:
    embedded = [task for task in tasks if task.what == "passages"]
    names = list(dict.fromkeys(task.who for task in embedded))
    indexes = dict.fromkeys(task.who for task in tasks if task.what == "index" and task.left)
    passages = _sum(embedded, lambda task: task.whole)
    stored = sum(task.whole - task.left for task in embedded)
    left = [
        _sum([task for task in tasks if task.what == what], lambda task: task.left)
        for what in ("passages", "questions", "timed", "rewriter", "reranker")
    ]
    size = None if any(task.bytes is None for task in tasks) else sum(task.bytes or 0.0 for task in tasks) / 1e6
    return [
        ", ".join(names) or "—", passages, f"{stored:,}" if embedded else "—", *left,
        f"{sum(task.rows for task in tasks):,}", "—" if size is None else f"{size:,.1f}", _minutes(tasks),
        ", ".join(indexes) or "—",
    ]  # fmt: skip


def _sum(tasks: Sequence[Task], of: Callable[[Task], int]) -> str:
    return f"{sum(map(of, tasks)):,}" if tasks else "—"


def _minutes(tasks: Iterable[Task]) -> str:
    """At least so many, where those of one part are not known."""
    seconds = [task.seconds for task in tasks]
    known = sum(one for one in seconds if one is not None) / 60
    return f"{'≥ ' if None in seconds else ''}{known:,.1f}"


def _sources(tasks: Sequence[Task]) -> list[str]:
    said = ["Minutes are an estimate, without those of searching itself; rows and MB are those that PostgreSQL gets."]
    for task in tasks:
        if task.left and task.source:
            unknown = " minutes not known:" if task.seconds is None else ""
            requests = f" {task.calls:,} requests," if task.calls else ""
            said.append(f"{task.what} {task.who}:{unknown}{requests} {task.source}")
    return list(dict.fromkeys(said))


def _anew(found: Sequence[Work]) -> list[str]:
    """What every run does, however much is stored."""
    said = [_at_every_run(one.name, one.anew) for one in found]
    whole = shared(task for one in found for task in one.anew)
    if len(whole) < sum(len(one.anew) for one in found):
        said.append(_at_every_run(ALL, whole))
    return [line for line in said if line]


def _at_every_run(name: str, tasks: Sequence[Task]) -> str:
    """Empty where it costs nobody anything, and next to no time."""
    seconds = [task.seconds for task in tasks]
    calls = sum(task.calls for task in tasks)
    if not calls and None not in seconds and sum(one or 0.0 for one in seconds) < 1:
        return ""
    parts = [
        f"{sum(task.left for task in own):,} {done}"
        for what, done in AGAIN.items()
        if (own := [task for task in tasks if task.what == what])
    ]
    asked = f" in {calls:,} requests" if calls else ""
    what = f"{', '.join(parts)}{asked}, to see whether the same is found"
    return f"{name}, at every run: {what}: {_minutes(tasks)} minutes"
