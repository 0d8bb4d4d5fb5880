"""The part that failed first."""

from ragbench.views.blame.failed_questions import questions
from ragbench.views.blame.perfect_parts import perfect_parts
from ragbench.views.blame.waterfall import changes, table, waterfall

__all__ = ["changes", "perfect_parts", "questions", "table", "waterfall"]
