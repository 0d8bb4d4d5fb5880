"""Systems beside each other: the answer, intervals, verdicts, slices, and the questions where they differ most."""

from ragbench.views.comparison.correlations import correlations
from ragbench.views.comparison.intervals import intervals
from ragbench.views.comparison.slices import slices
from ragbench.views.comparison.verdict_table import answer, forest, table
from ragbench.views.comparison.worst_questions import ways, worst

__all__ = ["answer", "correlations", "forest", "intervals", "slices", "table", "ways", "worst"]
