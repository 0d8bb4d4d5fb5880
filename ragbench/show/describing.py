"""What pages show that describe texts, sources and users, and compare nothing."""

from __future__ import annotations

from ragbench.show.about import measures
from ragbench.show.basics.frame import Frame
from ragbench.show.retrieval import coverage, distances, neighbours, users
from ragbench.show.retrieval import neighbourhood_map as maps
from ragbench.show.view import View


class DescribingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def measures(self) -> View:
        """Values with intervals and meanings, of a page that describes and does not compare."""
        return self._view("measures", measures.draw)

    def distances(self) -> View:
        """How distances to nearest neighbours, and of all pairs, are spread."""
        return self._view(
            "distances", distances.distances, figure=self._figure("histograms", distances.distances_figure)
        )

    def spectrum(self) -> View:
        """How much of the variance the first principal components hold."""
        return self._view("spectrum", distances.spectrum, figure=self._figure("spectrum", distances.spectrum_figure))

    def closest(self, count: int = 10) -> View:
        """The closest pairs of texts of each embedder, near-duplicates marked."""
        return self._listed("closest", neighbours.closest, count)

    def outliers(self, count: int = 10) -> View:
        """The texts that lie farthest from their nearest neighbour."""
        return self._listed("outliers", neighbours.outliers, count)

    def map(self, dimensions: int = 2, colour: str = "auto") -> View:
        """The texts as points in 2 or 3 dimensions; colour: auto, page, folder, section, kind or cluster."""
        if dimensions not in maps.AXES or colour not in maps.COLOURS:
            known = ", ".join(maps.COLOURS)
            raise ValueError(f"map({dimensions}, {colour!r}): dimensions are 2 or 3, the colour is one of {known}")
        return self._view(
            "map",
            lambda m, p: maps.draw(m, p, dimensions, colour),
            figure=maps.notebook_figure(self._material, dimensions, colour),
            dimensions=dimensions,
            colour=colour,
        )

    def topics(self) -> View:
        """Topics of questions, with what was retrieved for each, and which of them are thin."""
        return self._view(
            "topics", coverage.topics, figure=self._figure("coverage", coverage.topics_figure, "topic_id")
        )

    def unused(self, count: int = 20) -> View:
        """The chunks that were never retrieved; those that a question needs come first."""
        return self._listed("unused", coverage.unused, count)

    def pages(self, count: int = 10) -> View:
        """The pages that are retrieved for most questions."""
        return self._listed("pages", coverage.pages, count)

    def proxy(self) -> View:
        """What the label of real questions is worth, and how many have none."""
        return self._view("proxy", users.proxy)

    def usage(self) -> View:
        """How long real questions are, how their answers were scored, and when they were asked."""
        return self._view("usage", users.usage, figure=self._figure("asked", users.notebook_figure))

    def repeats(self, count: int = 10) -> View:
        """Questions asked more than once, and the pages shown most."""
        return self._listed("repeats", users.repeats, count)
