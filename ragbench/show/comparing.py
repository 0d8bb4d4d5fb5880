"""What pages of every kind show, and those that compare systems with a baseline."""

from __future__ import annotations

from functools import cached_property

from ragbench.show.about import method, provenance, summary
from ragbench.show.basics.frame import Frame
from ragbench.show.comparison import answer, intervals, slices, verdict_table, worst_questions
from ragbench.show.items import table
from ragbench.show.retrieval import curves, speed
from ragbench.show.view import View


class ComparingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def answer(self) -> View:
        """The answer in a sentence for each challenger, and the facts it stands on."""
        return self._view("answer", answer.draw)

    def intervals(self) -> View:
        """Means with their intervals, system by system, under the finding as a title."""
        return self._view("intervals", intervals.draw, figure=intervals.notebook_figure(self._material))

    def table(self) -> View:
        """Values, differences, corrected p and verdict words, metric by metric."""
        return self._view("table", verdict_table.draw)

    def curves(self) -> View:
        """Recall and NDCG by depth, with an interval at each; empty for rankings of depth 1."""
        return self._view("curves", curves.draw, figure=curves.notebook_figure(self._material))

    def slices(self) -> View:
        """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
        return self._view("slices", slices.draw)

    def speed(self) -> View:
        """Latency, index against exact search, and what repeats gave; empty where none was measured."""
        return self._view("speed", speed.draw)

    def worst(self, count: int = 10) -> View:
        """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
        if count < 1:
            raise ValueError(f"worst({count}): a count is a whole number from 1")
        return self._view("worst", lambda m, p: worst_questions.draw(m, p, count), count=count)

    def questions(self, limit: int = 2000) -> View:
        """Every question with its values and what each system retrieved; the first `limit` of them."""
        return self._view("questions", lambda m, p: table.draw(m, p, limit), limit=limit)

    def method(self) -> View:
        """What was done to the numbers: intervals, tests, corrections, clusters, and what the metrics mean."""
        return self._view("method", method.draw)

    def provenance(self) -> View:
        """Where the numbers come from: data, systems, parameters, seeds, versions, commit."""
        return self._view("provenance", provenance.draw)

    def summary(self, brief: bool = False) -> View:
        """What an index says of the page: the answer and a few metrics with verdicts; if brief, the answer."""
        return self._view("summary", lambda m, p: summary.draw(m, p, brief), brief=brief)

    @cached_property
    def finding(self) -> str:
        """The figure's title: who is better on how many metrics."""
        return answer.finding(self._material)
