"""One asynchronous client for any OpenAI-compatible model: it never loses a reply, and never invents a value."""

from ragbench.llm.budget import Budget, open_budget
from ragbench.llm.client import Client, Completion, Providers
from ragbench.llm.endpoint import Keep, Kept, Received
from ragbench.llm.errors import BudgetSpent, CallFailed, ModelError, ProviderRefused, ProviderUnreachable
from ragbench.llm.function import FunctionEndpoint
from ragbench.llm.journal import Entry, Journal, MemoryJournal
from ragbench.llm.loop import run, submit
from ragbench.llm.planning import Experience, Outlook, Plan, experience
from ragbench.llm.pricing import Price, Replies, Tally, Usage
from ragbench.llm.rehearsal import Rehearsal
from ragbench.llm.request import Decoding, Request, estimate_tokens, key_of
