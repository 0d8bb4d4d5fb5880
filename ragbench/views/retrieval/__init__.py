"""What was found, how fast, and how the texts lie in their space."""

from ragbench.views.retrieval.coverage import pages, topic_coverage, topics, unused
from ragbench.views.retrieval.curves import curves
from ragbench.views.retrieval.distances import distances, spectrum
from ragbench.views.retrieval.neighbourhood_map import projection
from ragbench.views.retrieval.neighbours import closest, outliers
from ragbench.views.retrieval.reading import reading
from ragbench.views.retrieval.speed import speed
from ragbench.views.retrieval.unjudged import unjudged
from ragbench.views.retrieval.users import proxy, repeats, usage

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
    "unjudged",
    "unused",
    "usage",
]
