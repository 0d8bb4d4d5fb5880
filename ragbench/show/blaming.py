"""What pages show of the part that failed first."""

from __future__ import annotations

from ragbench.show.basics.frame import Frame
from ragbench.show.blame import failed_questions, perfect_parts, shares, waterfall
from ragbench.show.view import View


class BlameViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def blame(self) -> View:
        """The waterfall from all questions down to the good answers; empty where nothing was blamed."""
        return self._view("blame", waterfall.draw, figure=waterfall.notebook_figure(self._material))

    def blame_table(self) -> View:
        """The share of every part with its interval, system by system, and comparisons with the baseline."""
        return self._view("blame_table", shares.draw)

    def blame_changes(self) -> View:
        """How the parts of two systems go together, question by question; empty for one system."""
        return self._view("blame_changes", shares.changes)

    def perfect_parts(self) -> View:
        """What the whole would be worth if one part were perfect; empty where nothing was measured again."""
        return self._view("perfect_parts", perfect_parts.draw)

    def blame_questions(self, count: int = 10) -> View:
        """The first `count` questions of every part that failed, with answer, passages and reason."""
        return self._listed("blame_questions", failed_questions.draw, count)
