"""A page about itself: its method, its origin, its summary, and what its metrics mean."""

from ragbench.show.about.calibration import promise, simulations
from ragbench.show.about.measures import measures
from ragbench.show.about.method import method
from ragbench.show.about.overview import limits, overview
from ragbench.show.about.provenance import provenance
from ragbench.show.about.standing import blame_bars, differences, standing
from ragbench.show.about.summary import summary

__all__ = [
    "blame_bars",
    "differences",
    "limits",
    "measures",
    "method",
    "overview",
    "promise",
    "provenance",
    "simulations",
    "standing",
    "summary",
]
