"""The part that failed first."""

from ragbench.show.blame.failed_questions import questions
from ragbench.show.blame.perfect_parts import perfect_parts
from ragbench.show.blame.shares import changes, table
from ragbench.show.blame.waterfall import waterfall

__all__ = ["changes", "perfect_parts", "questions", "table", "waterfall"]
