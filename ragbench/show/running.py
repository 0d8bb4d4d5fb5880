"""What pages over several runs show."""

from __future__ import annotations

from ragbench.show.basics.frame import Frame
from ragbench.show.runs import compared, history
from ragbench.show.view import View


class RunViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def runs(self) -> View:
        """The runs that are compared: dates, data, code, status."""
        return self._view("runs", compared.draw_runs)

    def changes(self) -> View:
        """What differs between two runs besides their numbers."""
        return self._view("changes", compared.draw_changes)

    def refused(self) -> View:
        """What was not compared, and what would make it comparable; empty where everything was."""
        return self._view("refused", compared.draw_refused)

    def fallen(self) -> View:
        """How many questions fell out of the pairing of two runs."""
        return self._view("fallen", compared.draw_fallen)

    def effects(self) -> View:
        """Effect sizes of the comparisons, and the smallest difference that each could have shown."""
        return self._view("effects", compared.draw_effects)

    def summaries(self) -> View:
        """Numbers of two runs that nothing pairs; empty where every number is paired."""
        return self._view("summaries", compared.draw_summaries)

    def history(self) -> View:
        """Values with intervals over runs, and marks of what changed."""
        return self._view("history", history.draw)
