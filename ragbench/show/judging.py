"""What pages show of judges: their verdicts on single answers, and how judges and metrics go together."""

from __future__ import annotations

from ragbench.show import verdicts
from ragbench.show.frame import Frame
from ragbench.show.view import View


class JudgedViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def verdicts(self, count: int = 10, metric: str = "") -> View:
        """The `count` worst answers of each system, with every statement's verdict, reason, passages and the formula.

        metric: the judged metric that says which are the worst; empty for the page's primary one.
        """
        if count < 1:
            raise ValueError(f"verdicts({count}): a count is a whole number from 1")
        verdicts.ranked_by(self._material, metric)
        return self._view("verdicts", lambda m, p: verdicts.draw(m, p, count, metric), count=count, metric=metric)
