"""Several runs side by side and over time."""

from ragbench.old.extras.runs.views.side_by_side import across, alike, effects, equal, fallen, history, refused, runs
from ragbench.old.extras.runs.views.unpaired import numbers, summaries

__all__ = ["across", "alike", "effects", "equal", "fallen", "history", "numbers", "refused", "runs", "summaries"]
