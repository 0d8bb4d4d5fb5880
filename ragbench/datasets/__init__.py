"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from ragbench.datasets import (
    answer_tables,
    beir,
    decision_sets,
    dialogue_sets,
    documents,
    known_items,
    question_sets,
    squad,
    traces,
)
from ragbench.datasets.brought import Brought, drawn
from ragbench.datasets.doubts import doubts_of
from ragbench.datasets.files import DatasetError, TooMuchError, normalise
from ragbench.datasets.folder import Dataset, Records, Written, available, language_in, load, load_folder, place_of
from ragbench.datasets.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, RatedAnswer
from ragbench.datasets.russian import language_of
from ragbench.datasets.writing import add, logged_files, require_free, write
