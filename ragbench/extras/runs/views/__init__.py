"""Several runs side by side and over time."""

from ragbench.extras.runs.views.compared import across, alike, effects, equal, fallen, refused, runs
from ragbench.extras.runs.views.history import history
from ragbench.extras.runs.views.numbers import numbers
from ragbench.extras.runs.views.unpaired import summaries

__all__ = ["across", "alike", "effects", "equal", "fallen", "history", "numbers", "refused", "runs", "summaries"]
