"""One asynchronous client for any OpenAI-compatible model: it never loses a reply, and never invents a value."""

from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.llm.budget import Budget, Price, Replies, Tally, Usage, open_budget
    from ragbench.old.llm.client import Client, Completion, run, submit
    from ragbench.old.llm.endpoint import FunctionEndpoint, Keep, Kept, Received
    from ragbench.old.llm.errors import (
        BudgetSpent,
        CallFailed,
        ModelError,
        ProviderRefused,
        ProviderUnreachable,
        RepliesUnusable,
    )
    from ragbench.old.llm.journal import Entry, Journal, MemoryJournal
    from ragbench.old.llm.planning import DryRun, Experience, Outlook, Plan, experience
    from ragbench.old.llm.request import Decoding, Request, estimate_tokens, key_of

__all__, __getattr__, __dir__ = offers(__name__)
