"""What a judge's decision takes: replies, tokens and money, on average over the cases that it was asked about."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from ragbench.llm import Price, Usage
from ragbench.tiers.scoring.judge_behaviour import ANSWERED, UNASKED

Unknown = Literal["", "offline", "function", "log", "nothing asked", "no tokens", "no price", "no price then"]


@dataclass(frozen=True)
class Expense:
    """Means of one judge over `decisions`.

    decisions: cases that were decided or failed with a reply, equal ones once; an empty answer is decided without one.
    unanswered: cases besides whose calls brought no reply, so that nobody knows what they took.
    replies, input_tokens, output_tokens, cost: of one decision, from 0; repairs count. Replies out of the journal cost
    what they cost when they were paid for. None: unmeasured, and `unknown` says why: nobody is asked (`offline`) or
    tells (`function`, `log`), no case was asked, the endpoint reported `no tokens` for `doubtful` replies, there is
    `no price`, or was none when `doubtful` replies were paid for.
    """

    decisions: int = 0
    unanswered: int = 0
    replies: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    cost: float | None = None
    unknown: Unknown = ""
    doubtful: int = 0


def expense(usage: Usage, asked: Iterable[tuple[Hashable, str, bool]], price: Price | None) -> Expense:
    """What the decisions of a model took.

    asked: of each case its texts, the status, and whether a reply came. price: as set today, None where none is.
    """
    statuses = {texts: (status, replied) for texts, status, replied in asked if status not in UNASKED}
    decisions = sum(replied or status in ANSWERED for status, replied in statuses.values())
    unanswered = len(statuses) - decisions
    if not decisions:
        return Expense(0, unanswered, unknown="nothing asked")
    replies = usage.replies / decisions
    if usage.estimated:
        return Expense(decisions, unanswered, replies, unknown="no tokens", doubtful=usage.estimated)
    tokens = usage.input_tokens / decisions, usage.output_tokens / decisions
    if usage.unpriced:
        why: Unknown = "no price" if price is None else "no price then"
        return Expense(decisions, unanswered, replies, *tokens, unknown=why, doubtful=usage.unpriced)
    return Expense(decisions, unanswered, replies, *tokens, cost=usage.cost / decisions)
