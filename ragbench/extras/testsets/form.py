"""A form in which people say whether questions, answers and labels are in order, and which comes back as a data set."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

from ragbench.data.cells import guarded
from ragbench.data.records import ChunkRecord, QuestionRecord

TOLD = ("id", "question", "ground_truth_answer", "source", "question_source", "chunk_id", "chunk_text",
        "confluence_url", "relevant_chunk_ids", "relevant_urls")  # fmt: skip
MARKS = ("is_question_ok", "is_answer_ok", "is_chunk_ok", "notes")
"""What people fill in: 1 or 0, or nothing while they have not said."""


def form(questions: Sequence[QuestionRecord], passages: Mapping[str, ChunkRecord]) -> str:
    """CSV with a row a question, the best labelled passage beside it, and no mark filled in.

    A text that a spreadsheet would take for a formula has an apostrophe before it; `ragbench load questions` takes it
    off again.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [*TOLD, *MARKS], restval="", lineterminator="\r\n")
    writer.writeheader()
    for question in questions:
        best = max(question.relevant, key=lambda name: question.relevant[name], default="")
        passage = passages.get(best)
        row = {
            "id": question.id,
            "question": question.text,
            "ground_truth_answer": question.reference or "",
            "source": question.source or "",
            "question_source": question.kind or "",
            "chunk_id": best,
            "chunk_text": passage.text if passage else "",
            "confluence_url": (passage.url if passage else None) or "",
            "relevant_chunk_ids": json.dumps([*question.relevant], ensure_ascii=False),
            "relevant_urls": json.dumps([*question.relevant_urls], ensure_ascii=False),
        }
        writer.writerow({name: guarded(value) for name, value in row.items()})
    return text.getvalue()
