"""Judges: language models behind one interface, several at once, in pairs, and the offline one."""

from ragbench.judge.lexical import LexicalJudge, WordReader
from ragbench.judge.model import ModelJudge
from ragbench.judge.opening import OpenJudges, open_judges
from ragbench.judge.pairwise import Choice, Duel, compare
from ragbench.judge.panel import AGGREGATES, Failures, Influence, Panel, Rule, failures, leave_one_out
from ragbench.judge.plan import Experience, Plan, PlanningJudge, experience
from ragbench.judge.waves import gather

__all__ = [
    "AGGREGATES",
    "Choice",
    "Duel",
    "Experience",
    "Failures",
    "Influence",
    "LexicalJudge",
    "ModelJudge",
    "OpenJudges",
    "Panel",
    "Plan",
    "PlanningJudge",
    "Rule",
    "WordReader",
    "compare",
    "experience",
    "failures",
    "gather",
    "leave_one_out",
    "open_judges",
]
