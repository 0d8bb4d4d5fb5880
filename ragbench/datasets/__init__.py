"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from ragbench.datasets import beir, squad
from ragbench.datasets.files import DatasetError, normalise
from ragbench.datasets.folder import Dataset, available, load, write
from ragbench.datasets.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, RatedAnswer
from ragbench.datasets.script import language_of

__all__ = [
    "ChunkRecord",
    "Dataset",
    "DatasetError",
    "Decision",
    "Dialogue",
    "PastQuestion",
    "QuestionRecord",
    "RatedAnswer",
    "available",
    "beir",
    "language_of",
    "load",
    "normalise",
    "squad",
    "write",
]
