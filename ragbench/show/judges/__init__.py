"""Whether to believe a judge."""

from ragbench.show.judges.classes import classes
from ragbench.show.judges.probes import disagreements, ladder, probes, reliability
from ragbench.show.judges.replies import pairwise, panel, people, repeatability, replies, rivals

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
