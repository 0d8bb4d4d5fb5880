"""What pages show of judges: their verdicts on single answers, and how judges and metrics go together."""

from __future__ import annotations

from ragbench.show.answers import judged_answers, side_by_side, who_judged
from ragbench.show.basics.frame import Frame
from ragbench.show.comparison import correlations
from ragbench.show.view import View


class JudgedViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def judges(self) -> View:
        """Who judged, how often each gave no score, what its replies took, and how much each sways a panel."""
        return self._view("judges", who_judged.draw)

    def correlations(self) -> View:
        """Spearman's ρ of every two metrics over the answers, with intervals; with people's scores where known."""
        return self._view("correlations", correlations.draw, figure=correlations.notebook_figure(self._material))

    def side_by_side(self) -> View:
        """Each judge's and each embedder's own means; empty where there is one of each."""
        return self._view("side_by_side", side_by_side.draw)

    def unmeasured(self) -> View:
        """What could not be measured, why, and the means with all of it at the worst and at the best end."""
        return self._view("unmeasured", side_by_side.missing)

    def verdicts(self, count: int = 10, metric: str = "") -> View:
        """The `count` worst answers of each system, with every statement's verdict, reason, passages and the formula.

        metric: the judged metric that says which are the worst; empty for the page's primary one.
        """
        if count < 1:
            raise ValueError(f"verdicts({count}): a count is a whole number from 1")
        judged_answers.ranked_by(self._material, metric)
        return self._view("verdicts", lambda m, p: judged_answers.draw(m, p, count, metric), count=count, metric=metric)
