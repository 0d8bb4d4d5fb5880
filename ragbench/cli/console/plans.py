"""The tables of `--plan`: what models would be asked, and what that would take.

And of what systems would ask of endpoints: texts to embed, rankings, and requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragbench.core import terminal

if TYPE_CHECKING:
    from ragbench.core.settings import BudgetSettings
    from ragbench.llm import Outlook, Plan
    from ragbench.systems.work import Task, Work


COLUMNS = ("calls", "in the journal", "repairs, about", "tokens read", "tokens written", "cost", "at most")


def show(outlooks: Sequence[Outlook], budget: BudgetSettings) -> None:
    """Print one line a model, their sum, and what of it is assumed."""
    if not outlooks:
        terminal.say("no model would be asked: no call, no cost")
        return
    plans = [outlook.plan() for outlook in outlooks]
    rows = [
        (plan.judge, str(outlook.settings.model), *_numbers([plan]))
        for outlook, plan in zip(outlooks, plans, strict=True)
    ]
    if len(plans) > 1:
        rows.append(("all", "", *_numbers(plans)))
    whole = {len(plans)} if len(plans) > 1 else ()
    terminal.table(("name", "model", *COLUMNS), rows, left=("name", "model"), firm=COLUMNS, bold=whole)
    for line in _remarks(plans, budget):
        terminal.say(line)


def _numbers(plans: Sequence[Plan]) -> list[str]:
    counts = ("calls", "journaled", "repairs", "input_tokens", "output_tokens")
    known = [[count for plan in plans if (count := getattr(plan, name)) is not None] for name in counts]
    whole = [f"{sum(some):,}" if some else "—" for some in known]
    priced = [plan for plan in plans if plan.is_priced or not plan.calls]
    money = [sum(plan.money for plan in priced), sum(plan.money_at_most for plan in priced)]
    return [*whole, *(f"{amount:,.4f}" if priced else "—" for amount in money)]


def _remarks(plans: Sequence[Plan], budget: BudgetSettings) -> list[str]:
    from ragbench.llm.planning import SHARE_WRITTEN

    said = ["No call was made. Tokens are estimated; later questions are counted by what the lexical judge answers."]
    said += [
        f"Of a sample of questions: all of them would ask {plan.judge} about {plan.scale * plan.calls:,.0f} times"
        + (f", for about {plan.scale * plan.money:,.4f}." if plan.is_priced else ".")
        for plan in plans
        if plan.scale > 1
    ]
    if guessed := [plan.judge for plan in plans if plan.guessed]:
        assumed = f"{SHARE_WRITTEN:.0%} of max_tokens are assumed to be written"
        said.append(f"The journal knows no call of {', '.join(guessed)}: {assumed}, and repairs are not foreseen.")
    if unpriced := [plan.judge for plan in plans if plan.calls and not plan.is_priced]:
        said.append(f"No price is set for {', '.join(unpriced)} (input_price, output_price): the cost is unknown.")
    if any(plan.repairs for plan in plans):
        by_share = "estimated by the share of such calls in the journal, and contained in tokens and cost"
        said.append(f"Repairs ask once more where a reply cannot be used: {by_share}.")
    said += [
        f"{plan.judge}: {plan.unknown} answers have no stand-in; the questions that follow from them are not counted."
        for plan in plans
        if plan.unknown
    ]
    limits = (
        ("calls", sum(plan.calls + (plan.repairs or 0) for plan in plans), budget.calls),
        ("tokens", sum(plan.input_tokens + plan.output_tokens for plan in plans), budget.tokens),
        ("money", sum(plan.money for plan in plans), budget.money),
    )
    said += [
        f"The budget will not do: {name} = {limit:g} in [budget], {needed:g} expected. The run would stop there, and "
        "go on once it is raised."
        for name, needed, limit in limits
        if limit is not None and needed > limit
    ]
    return said


LEFT = ("system", "endpoint")
WORK_COLUMNS = ("passages", "questions", "timed", "to rerank", "at every run", "requests")
ALL = "all, what is shared once"


def show_work(works: Sequence[Work]) -> None:
    """Print one line a system that asks anybody, and their sum with what they share counted once."""
    asking = [work for work in works if any(task.left for task in (*work.tasks, *work.anew))]
    if not asking:
        return
    rows = [(work.name, *_cells(work.tasks, work.anew)) for work in asking]
    bold = {len(rows)} if len(rows) > 1 else ()
    if bold:
        tasks = shared(task for work in works for task in work.tasks)
        rows.append((ALL, *_cells(tasks, shared(task for work in works for task in work.anew))))
    terminal.table(("system", "endpoint", *WORK_COLUMNS), rows, left=LEFT, firm=WORK_COLUMNS, bold=bold)
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
