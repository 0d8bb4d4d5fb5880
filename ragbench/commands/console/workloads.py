"""The table of `--plan` of what is computed here: texts to embed, rows, indexes, and about how many minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragbench import terminal

if TYPE_CHECKING:
    from ragbench.systems.work import Task, Work

LEFT = ("system", "embedder", "index")
COLUMNS = ("passages", "stored", "to embed", "questions", "rewriter", "reranker", "rows", "MB", "minutes")


def show(found: Sequence[Work]) -> None:
    """Print one line a system, their sum with what they share counted once, and where the minutes come from."""
    if not found:
        return
    whole = shared(found)
    if not any(task.left for task in whole):
        terminal.say("nothing to compute: all vectors, rows and indexes of the systems are stored")
    else:
        titles = ("system", "embedder", *COLUMNS, "index")
        rows = [(one.name, *_cells(one.tasks)) for one in found]
        bold = {len(rows)} if len(rows) > 1 else ()
        if bold:
            rows.append(("all, what is shared once", *_cells(whole)))
        terminal.table(titles, rows, left=LEFT, firm=COLUMNS, bold=bold)
        for line in _sources(whole):
            terminal.say(line)
    for line in _anew(found):
        terminal.say(line)


def shared(found: Iterable[Work]) -> list[Task]:
    """All that is to be done, once each: of equal tasks the one with most left, and never with less time than another.

    What is done once for all, such as fitting an embedder, is in the time of one of them.
    """
    equal: dict[tuple[str, ...], list[Task]] = {}
    for one in found:
        for task in one.tasks:
            equal.setdefault(task.key, []).append(task)
    made = []
    for tasks in equal.values():
        known = [task.seconds for task in tasks if task.seconds is not None]
        seconds = max(known) if len(known) == len(tasks) else None
        made.append(replace(max(tasks, key=lambda task: task.left), seconds=seconds))
    return made


def _cells(tasks: Sequence[Task]) -> list[str]:
    embedded = [task for task in tasks if task.what == "passages"]
    names = list(dict.fromkeys(task.who for task in embedded))
    indexes = dict.fromkeys(task.who for task in tasks if task.what == "index" and task.left)
    passages = _sum(embedded, lambda task: task.whole)
    stored = sum(task.whole - task.left for task in embedded)
    left = [
        _sum([task for task in tasks if task.what == what], lambda task: task.left)
        for what in ("passages", "questions", "rewriter", "reranker")
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
            said.append(f"{task.what} {task.who}:{unknown} {task.source}")
    return list(dict.fromkeys(said))


def _anew(found: Sequence[Work]) -> list[str]:
    """What every run does, however much is stored."""
    said = []
    for one in found:
        if one.anew_seconds is None or one.anew_seconds >= 1:
            taken = "minutes not known" if one.anew_seconds is None else f"about {one.anew_seconds / 60:,.1f} minutes"
            again = "words of passages counted"
            if one.anew:
                again = f"{one.anew:,} questions once more, to see whether the same is found"
            said.append(f"{one.name}, at every run: {again}: {taken}")
    return said
