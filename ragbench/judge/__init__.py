"""Judges: language models, functions, objects, the offline judge, and panels of them.

>>> judge = open_judge("lexical", settings)
>>> async with judge:
...     reply = await judge.ask(CLAIMS, question="", text="It opens at 8.")
"""

import sys
from types import ModuleType
from typing import Any

from ragbench.judge.lexical import OfflineJudge
from ragbench.judge.model import ModelJudge
from ragbench.judge.opening import default_journal, open_judge, own_judge
from ragbench.judge.panel import Panel, Rule

__all__ = [
    "ModelJudge",
    "OfflineJudge",
    "Panel",
    "Rule",
    "default_journal",
    "open_judge",
    "own_judge",
]


class Room(ModuleType):
    """This module, which can be called: `rb.judge("small", base_url=…)` is `own_judge`."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return own_judge(*given, **named)


sys.modules[__name__].__class__ = Room
