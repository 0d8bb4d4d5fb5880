"""What the page over all pages of a run shows."""

from __future__ import annotations

from ragbench.show import overview
from ragbench.show.frame import Frame
from ragbench.show.view import View


class OverseeingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def standing(self) -> View:
        """Is it good, is it better: what all pages of the run add up to, in a sentence each."""
        return self._view("standing", overview.standing)

    def overview(self) -> View:
        """Pages down, systems across: values with interval, band and verdict, each leading to its page."""
        return self._view("overview", overview.draw)

    def limits(self) -> View:
        """The thresholds that the numbers were held to."""
        return self._view("limits", overview.limits)
