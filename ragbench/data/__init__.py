"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from typing import TYPE_CHECKING

from ragbench.core.annexes import offers

if TYPE_CHECKING:  # what _PLACES says, for whoever reads types
    from ragbench.data import answer_tables, beir, decision_sets, dialogue_sets, documents, question_sets, squad
    from ragbench.data.brought import Brought, drawn
    from ragbench.data.doubts import doubts_of
    from ragbench.data.files import DatasetError, TooMuchError, normalise
    from ragbench.data.folder import (
        Dataset,
        Records,
        Written,
        available,
        language_in,
        load,
        load_folder,
        place_of,
        records_named,
    )
    from ragbench.data.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, RatedAnswer
    from ragbench.data.writing import add, logged_files, require_free, write

_PLACES = {
    "Brought": "brought",
    "ChunkRecord": "records",
    "Dataset": "folder",
    "DatasetError": "files",
    "Decision": "records",
    "Dialogue": "records",
    "PastQuestion": "records",
    "QuestionRecord": "records",
    "RatedAnswer": "records",
    "Records": "folder",
    "TooMuchError": "files",
    "Written": "folder",
    "add": "writing",
    "answer_tables": "",
    "available": "folder",
    "beir": "",
    "decision_sets": "",
    "dialogue_sets": "",
    "documents": "",
    "doubts_of": "doubts",
    "drawn": "brought",
    "language_in": "folder",
    "load": "folder",
    "load_folder": "folder",
    "logged_files": "writing",
    "normalise": "files",
    "place_of": "folder",
    "records_named": "folder",
    "question_sets": "",
    "require_free": "writing",
    "squad": "",
    "write": "writing",
}
__all__, __getattr__, __dir__ = offers(__name__, _PLACES)
