"""Whether to believe a judge."""

from ragbench.views.judges.classes import classes
from ragbench.views.judges.probes import disagreements, ladder, probes, reliability
from ragbench.views.judges.replies import pairwise, panel, people, repeatability, replies, rivals

__all__ = [
    "classes",
    "disagreements",
    "ladder",
    "pairwise",
    "panel",
    "people",
    "probes",
    "reliability",
    "repeatability",
    "replies",
    "rivals",
]
