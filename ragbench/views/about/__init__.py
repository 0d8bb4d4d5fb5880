"""A page about itself: its method, its origin, its summary, and what its metrics mean."""

from ragbench.views.about.method import method, provenance
from ragbench.views.about.metric_page import measures
from ragbench.views.about.run_summary import blame_bars, differences, limits, overview, standing, summary

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
