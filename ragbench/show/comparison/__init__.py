"""Systems beside each other: the answer, intervals, verdicts, slices, and the questions where they differ most."""

from ragbench.show.comparison.correlations import correlations
from ragbench.show.comparison.headline import answer
from ragbench.show.comparison.intervals import intervals
from ragbench.show.comparison.paired_differences import forest
from ragbench.show.comparison.slices import slices
from ragbench.show.comparison.verdict_table import table
from ragbench.show.comparison.worst_questions import ways, worst

__all__ = ["answer", "correlations", "forest", "intervals", "slices", "table", "ways", "worst"]
