"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from ragbench.datasets import squad
from ragbench.datasets.files import DatasetError
from ragbench.datasets.folder import Dataset, available, load, write
from ragbench.datasets.records import Decision, Dialogue, PastQuestion, RatedAnswer

__all__ = [
    "Dataset",
    "DatasetError",
    "Decision",
    "Dialogue",
    "PastQuestion",
    "RatedAnswer",
    "available",
    "load",
    "squad",
    "write",
]
