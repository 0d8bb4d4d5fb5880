"""One client for models: journal, budget, plan, typed replies, plain text, vectors.

>>> model = resolve("judges.mine", settings.judges["mine"], settings.providers)
>>> async with Client(model, "replies.sqlite") as client:
...     reply = await client.ask(Request(messages, Verdict))
"""

from ragbench.llm.client import Client
from ragbench.llm.endpoints import resolve
from ragbench.llm.errors import BudgetSpentError, StopError
from ragbench.llm.journal import Journal
from ragbench.llm.limits import Spending
from ragbench.llm.types import Plan, Reply, Request

__all__ = [
    "BudgetSpentError",
    "Client",
    "Journal",
    "Plan",
    "Reply",
    "Request",
    "Spending",
    "StopError",
    "resolve",
]
