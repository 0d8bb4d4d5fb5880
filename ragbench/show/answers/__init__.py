"""Written answers: who wrote and who judged them, what was decided on them, what a cache would serve."""

from ragbench.show.answers.caches import cache, hits
from ragbench.show.answers.corrected import corrected
from ragbench.show.answers.decisions import confusion, costs, pairs
from ragbench.show.answers.dialogues import dialogues
from ragbench.show.answers.judged_answers import verdicts
from ragbench.show.answers.side_by_side import side_by_side, unmeasured
from ragbench.show.answers.stages import stages
from ragbench.show.answers.who_judged import judges
from ragbench.show.answers.writers import lengths, refusals, writers

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
