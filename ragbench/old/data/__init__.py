"""Folders and foreign formats to questions and chunks: checked, normalised, with a hash over all of it."""

from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.data import answer_tables, beir, documents, foreign_sets
    from ragbench.old.data.brought import Brought, drawn
    from ragbench.old.data.doubts import doubts_of
    from ragbench.old.data.files import DatasetError, TooMuchError, normalise
    from ragbench.old.data.folder import (
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
    from ragbench.old.data.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, RatedAnswer
    from ragbench.old.data.writing import add, logged_files, require_free, write

__all__, __getattr__, __dir__ = offers(__name__)
