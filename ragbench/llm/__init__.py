"""One asynchronous client for any OpenAI-compatible model: it never loses a reply, and never invents a value."""

from ragbench.llm.client import Client, Completion, Providers
from ragbench.llm.endpoint import Keep, Kept, Received
from ragbench.llm.errors import BudgetSpent, CallFailed, ModelError, ProviderRefused, ProviderUnreachable
from ragbench.llm.journal import Entry, Journal, MemoryJournal
from ragbench.llm.loop import run, submit
from ragbench.llm.pricing import Budget, Price, Tally
from ragbench.llm.request import Decoding, Request, estimate_tokens, key_of

__all__ = [
    "Budget",
    "BudgetSpent",
    "CallFailed",
    "Client",
    "Completion",
    "Decoding",
    "Entry",
    "Journal",
    "Keep",
    "Kept",
    "MemoryJournal",
    "ModelError",
    "Price",
    "ProviderRefused",
    "ProviderUnreachable",
    "Providers",
    "Received",
    "Request",
    "Tally",
    "estimate_tokens",
    "key_of",
    "run",
    "submit",
]
