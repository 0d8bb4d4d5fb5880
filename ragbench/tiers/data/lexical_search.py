"""What searching by words alone finds first: how much a question that stands in its passage is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragbench.core.types import Chunk, Question
from ragbench.data.records import ChunkRecord, QuestionRecord
from ragbench.data.wording import plain


def found_first(chunks: Sequence[Chunk | ChunkRecord], questions: Sequence[Question | QuestionRecord]) -> list[bool]:
    """For each question whether the passage that BM25 puts first is relevant to it, or on a page that is.

    Words are taken as they are written, unstemmed; of passages that score alike the first of the base stands first.
    Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
    """
    if not chunks or not questions:
        return [False] * len(questions)
    import bm25s

    index: Any = bm25s.BM25()
    index.index([plain(chunk.text).split() for chunk in chunks], show_progress=False)
    known = set(index.vocab_dict)
    flags = []
    for question in questions:
        words = [word for word in plain(question.text).split() if word in known]
        scores = index.get_scores(words) if words else None
        if scores is None or not scores.max() > 0:
            flags.append(False)
            continue
        first = chunks[int(scores.argmax())]
        flags.append(first.id in question.relevant or (first.url is not None and first.url in question.relevant_urls))
    return flags
