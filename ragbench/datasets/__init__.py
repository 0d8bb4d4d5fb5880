"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from ragbench.datasets import squad
from ragbench.datasets.files import DatasetError, normalise
from ragbench.datasets.folder import Dataset, available, load, write
from ragbench.datasets.records import Decision, Dialogue, PastQuestion, RatedAnswer
from ragbench.datasets.script import language_of

__all__ = [
    "Dataset",
    "DatasetError",
    "Decision",
    "Dialogue",
    "PastQuestion",
    "RatedAnswer",
    "available",
    "language_of",
    "load",
    "normalise",
    "squad",
    "write",
]
