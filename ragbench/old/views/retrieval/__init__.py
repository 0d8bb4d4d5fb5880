"""What was found, how fast, and how the texts lie in their space."""

from ragbench.old.views.retrieval.knowledge_base import pages, topic_coverage, topics, unused
from ragbench.old.views.retrieval.rankings import curves, reading, unjudged
from ragbench.old.views.retrieval.space import closest, distances, outliers, projection, spectrum
from ragbench.old.views.retrieval.speed import speed
from ragbench.old.views.retrieval.users import proxy, repeats, usage

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
