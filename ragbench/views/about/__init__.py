"""A page about itself: its method, its origin, its summary, and what its metrics mean."""

from ragbench.views.about.measures import measures
from ragbench.views.about.method import method
from ragbench.views.about.overview import limits, overview
from ragbench.views.about.provenance import provenance
from ragbench.views.about.standing import blame_bars, differences, standing, summary

__all__ = [
    "blame_bars",
    "differences",
    "limits",
    "measures",
    "method",
    "overview",
    "provenance",
    "standing",
    "summary",
]
