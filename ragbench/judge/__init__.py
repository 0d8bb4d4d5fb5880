"""Judges: language models behind one interface, several at once, in pairs, and the offline one."""

from ragbench.judge.again import Again
from ragbench.judge.lexical import LexicalJudge, WordReader
from ragbench.judge.model import ModelJudge
from ragbench.judge.offline import OFFLINE_JUDGES, asks_nobody, legal_names
from ragbench.judge.opening import OpenJudges, Rehearsed, open_judges
from ragbench.judge.pairwise import Choice, Duel, compare
from ragbench.judge.panel import (
    AGGREGATES,
    Aggregate,
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
    "Aggregate",
    "Attendance",
    "Attended",
    "Choice",
    "Duel",
    "Influence",
    "LexicalJudge",
    "ModelJudge",
    "OpenJudges",
    "Panel",
    "PlanningJudge",
    "Rehearsed",
    "Rule",
    "WordReader",
    "asks_nobody",
    "attendance",
    "compare",
    "leave_one_out",
    "legal_names",
    "open_judges",
]
