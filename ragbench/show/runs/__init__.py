"""Several runs side by side and over time."""

from ragbench.show.runs.compared import across, alike, effects, equal, fallen, refused, runs
from ragbench.show.runs.history import history
from ragbench.show.runs.numbers import numbers
from ragbench.show.runs.unpaired import summaries

__all__ = ["across", "alike", "effects", "equal", "fallen", "history", "numbers", "refused", "runs", "summaries"]
