"""Judges: language models behind one interface, several at once, in pairs, and the offline one."""

import sys
from types import ModuleType
from typing import Any

from ragbench.judge.again import Again, Asking, Overheard, Reworded
from ragbench.judge.lexical import LexicalJudge, WordReader
from ragbench.judge.model import ModelJudge
from ragbench.judge.offline import OFFLINE_JUDGES, asks_nobody, legal_names
from ragbench.judge.opening import OpenJudges, Rehearsed, open_judges
from ragbench.judge.own import OwnJudge, own_judge
from ragbench.judge.pairwise import Choice, Duel, compare
from ragbench.judge.panel import (
    AGGREGATES,
    Attendance,
    Attended,
    Influence,
    Panel,
    Rule,
    attendance,
    leave_one_out,
)
from ragbench.judge.plan import PlanningJudge

__all__ = [
    "AGGREGATES",
    "OFFLINE_JUDGES",
    "Again",
    "Asking",
    "Attendance",
    "Attended",
    "Choice",
    "Duel",
    "Influence",
    "LexicalJudge",
    "ModelJudge",
    "OpenJudges",
    "Overheard",
    "OwnJudge",
    "Panel",
    "PlanningJudge",
    "Rehearsed",
    "Reworded",
    "Rule",
    "WordReader",
    "asks_nobody",
    "attendance",
    "compare",
    "leave_one_out",
    "legal_names",
    "open_judges",
    "own_judge",
]


class _Room(ModuleType):
    """This room, as `ragbench.judge(…)` finds it: Python puts a package's rooms in the place of its functions."""

    def __call__(self, *args: Any, **kwargs: Any) -> OwnJudge:
        """See `ragbench.judge`; its first name there."""
        return own_judge(*args, **kwargs)


sys.modules[__name__].__class__ = _Room
