"""Written answers: who wrote and who judged them, what was decided on them, what a cache would serve."""

from ragbench.old.views.answers.caches import cache, dialogues, hits
from ragbench.old.views.answers.confusion import confusion, costs, pairs
from ragbench.old.views.answers.judged_answers import corrected, verdicts
from ragbench.old.views.answers.writers import judges, lengths, refusals, side_by_side, stages, unmeasured, writers

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
