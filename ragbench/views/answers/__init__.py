"""Written answers: who wrote and who judged them, what was decided on them, what a cache would serve."""

from ragbench.views.answers.caches import cache, hits
from ragbench.views.answers.corrected import corrected
from ragbench.views.answers.decisions import confusion, costs, pairs
from ragbench.views.answers.dialogues import dialogues
from ragbench.views.answers.judged_answers import verdicts
from ragbench.views.answers.side_by_side import side_by_side, unmeasured
from ragbench.views.answers.who_judged import judges
from ragbench.views.answers.writers import lengths, refusals, stages, writers

__all__ = [
    "cache",
    "confusion",
    "corrected",
    "costs",
    "dialogues",
    "hits",
    "judges",
    "lengths",
    "pairs",
    "refusals",
    "side_by_side",
    "stages",
    "unmeasured",
    "verdicts",
    "writers",
]
