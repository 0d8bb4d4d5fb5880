"""A page about itself: its method, its origin, its summary, and what its metrics mean."""

from ragbench.old.views.about.method import method, provenance
from ragbench.old.views.about.metric_page import measures
from ragbench.old.views.about.run_summary import blame_bars, differences, limits, overview, standing, summary

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
