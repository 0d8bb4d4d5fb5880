"""What was found, how fast, and how the texts lie in their space."""

from ragbench.show.retrieval.coverage import pages, topic_coverage, topics, unused
from ragbench.show.retrieval.curves import curves
from ragbench.show.retrieval.distances import distances, spectrum
from ragbench.show.retrieval.neighbourhood_map import projection
from ragbench.show.retrieval.neighbours import closest, outliers
from ragbench.show.retrieval.reading import reading
from ragbench.show.retrieval.speed import speed
from ragbench.show.retrieval.users import proxy, repeats, usage

__all__ = [
    "closest",
    "curves",
    "distances",
    "outliers",
    "pages",
    "projection",
    "proxy",
    "reading",
    "repeats",
    "spectrum",
    "speed",
    "topic_coverage",
    "topics",
    "unused",
    "usage",
]
