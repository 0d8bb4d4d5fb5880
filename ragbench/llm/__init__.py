"""One asynchronous client for any OpenAI-compatible model: it never loses a reply, and never invents a value."""

from typing import TYPE_CHECKING

from ragbench.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.llm.budget import Budget, Price, Replies, Tally, Usage, open_budget
    from ragbench.llm.client import Client, Completion, run, submit
    from ragbench.llm.endpoint import FunctionEndpoint, Keep, Kept, Received
    from ragbench.llm.errors import (
        BudgetSpent,
        CallFailed,
        ModelError,
        ProviderRefused,
        ProviderUnreachable,
        RepliesUnusable,
    )
    from ragbench.llm.journal import Entry, Journal, MemoryJournal
    from ragbench.llm.planning import DryRun, Experience, Outlook, Plan, experience
    from ragbench.llm.request import Decoding, Request, estimate_tokens, key_of

__all__, __getattr__, __dir__ = offers(__name__)
