"""What the page over all pages of a run shows."""

from __future__ import annotations

from ragbench.show.about import overview
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class OverseeingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def standing(self) -> View:
        """Is it good, is it better: what all pages of the run add up to, in a sentence each."""
        return self._view("standing", overview.standing)

    def overview(self, most: int = 4) -> View:
        """Pages down, systems across: values with interval, band and verdict, each leading to its page.

        most: how many metrics stand for a page, those with a threshold and the leading ones first.
        """
        if most < 1:
            raise ValueError(f"overview({most}): a count is a whole number from 1")
        return self._view("overview", lambda m, p: overview.draw(m, p, most), most=most)

    def limits(self) -> View:
        """The thresholds that the numbers were held to."""
        return self._view("limits", overview.limits)
