"""Judges: language models, functions, objects, the offline judge, and panels of them.

>>> judge = open_judge("lexical", settings)
>>> async with judge:
...     reply = await judge.ask(CLAIMS, question="", text="It opens at 8.")
"""

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
