"""What pages show of written answers, from the ideal context or end to end."""

from __future__ import annotations

from ragbench.show.answers import stages, writers
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class AnsweringViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def writers(self) -> View:
        """Who answered, from what, what a limit on the context cut, what failed."""
        return self._view("writers", writers.writers)

    def lengths(self) -> View:
        """How long answers, references and contexts are; tokens where a model wrote."""
        return self._view("lengths", writers.lengths)

    def refusals(self, count: int = 10) -> View:
        """How often each system refused, rightly or wrongly, with `count` examples of each at most."""
        return self._listed("refusals", writers.refusals, count)

    def stages(self) -> View:
        """Latency by stage: embed, search, write, judge; empty where none was measured."""
        return self._view("stages", stages.draw)
