"""What a page about judges shows: whether to believe them."""

from __future__ import annotations

from ragbench.show.basics.frame import Frame
from ragbench.show.judges import classes, probes, replies
from ragbench.show.view import View


class JudgeQualityViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def replies(self) -> View:
        """How the judges' replies ended: valid, unparseable, refused, cut off, failed; counts add up to all asked."""
        return self._view("replies", replies.replies)

    def repeatability(self) -> View:
        """How far each judge agrees with itself, and the smallest difference that means anything."""
        return self._view("repeatability", replies.repeatability)

    def people(self) -> View:
        """How far each judge agrees with people, beside how far people agree with each other."""
        return self._view("people", replies.people)

    def classes(self) -> View:
        """Which class each judge takes for which, where people have more than two; empty otherwise."""
        return self._view("classes", classes.draw)

    def reliability(self) -> View:
        """Share of answers that people call good by the judge's score, with sensitivity, specificity, Brier score."""
        return self._view(
            "reliability", probes.reliability, figure=self._figure("reliability", probes.reliability_figure)
        )

    def probes(self) -> View:
        """What sways each judge: effect, limit and verdict of every probe."""
        return self._view("probes", probes.probes)

    def ladder(self) -> View:
        """Scores of answers from the best to the worst, and how the answers were made; empty where none were."""
        return self._view("ladder", probes.ladder, figure=self._figure("ladder", probes.ladder_figure))

    def pairwise(self) -> View:
        """Which of two answers is better, asked in both orders."""
        return self._view("pairwise", replies.pairwise)

    def rivals(self) -> View:
        """Each judge against the lexical baseline at ordering answers as people do."""
        return self._view("rivals", replies.rivals)

    def panel(self) -> View:
        """What the panel becomes without each of its judges; empty for a single one."""
        return self._view("panel", replies.panel)

    def disagreements(self, count: int = 5) -> View:
        """The `count` answers on which each judge and people are furthest apart."""
        return self._listed("disagreements", probes.disagreements, count)
