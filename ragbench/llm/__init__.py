"""One asynchronous client for any OpenAI-compatible model: it never loses a reply, and never invents a value."""

from typing import TYPE_CHECKING

from ragbench.core.annexes import offers

if TYPE_CHECKING:  # what _PLACES says, for whoever reads types
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

_PLACES = {
    "Budget": "budget",
    "BudgetSpent": "errors",
    "CallFailed": "errors",
    "Client": "client",
    "Completion": "client",
    "Decoding": "request",
    "Entry": "journal",
    "Experience": "planning",
    "FunctionEndpoint": "endpoint",
    "Journal": "journal",
    "Keep": "endpoint",
    "Kept": "endpoint",
    "MemoryJournal": "journal",
    "ModelError": "errors",
    "Outlook": "planning",
    "Plan": "planning",
    "Price": "budget",
    "ProviderRefused": "errors",
    "ProviderUnreachable": "errors",
    "Received": "endpoint",
    "DryRun": "planning",
    "Replies": "budget",
    "RepliesUnusable": "errors",
    "Request": "request",
    "Tally": "budget",
    "Usage": "budget",
    "estimate_tokens": "request",
    "experience": "planning",
    "key_of": "request",
    "open_budget": "budget",
    "run": "client",
    "submit": "client",
}
__all__, __getattr__, __dir__ = offers(__name__, _PLACES)
