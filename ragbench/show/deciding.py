"""What pages show of judges that decide whether an answer is shown."""

from __future__ import annotations

from ragbench.show.answers import decisions
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class DecidingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def confusion(self, count: int = 10) -> View:
        """Labels against decisions for each judge, with at most `count` cases behind each cell, surest errors first."""
        return self._listed("confusion", decisions.confusion, count)

    def pairs(self) -> View:
        """Every two judges by McNemar's test: the cases that only one of them decided rightly."""
        return self._view("pairs", decisions.pairs)

    def costs(self) -> View:
        """The score from which on to show an answer, chosen on one half of the cases and held to the other."""
        return self._view("costs", decisions.costs)
