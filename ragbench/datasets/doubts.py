"""What in a data set makes retrieval look better or worse than it is: counted, so that load and page can warn of it."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

from ragbench.datasets.records import ChunkRecord, QuestionRecord
from ragbench.types import Chunk, Question


def doubts_of(chunks: Sequence[Chunk | ChunkRecord], questions: Sequence[Question | QuestionRecord]) -> dict[str, int]:
    """What to warn of, by kind; empty where nothing is to be warned of. Texts are compared by their words alone.

    question_is_passage: labelled questions that are, word for word, a passage that is relevant to them, or one of a
    page that is. passage_copied: labelled questions with a relevant passage whose text the base holds a second time,
    under another id. labels_nowhere: labels that name a chunk or a page that the base does not have. labelled, labels:
    of how many questions, and of how many labels.
    """
    plain = {chunk.id: hash(_plain(chunk.text)) for chunk in chunks}  # of a text itself, memory would hold them all
    copies = Counter(plain.values())
    pages: dict[str, set[int]] = defaultdict(set)
    for chunk in chunks:
        if chunk.url is not None:
            pages[chunk.url].add(plain[chunk.id])
    found: Counter[str] = Counter()
    labelled = labels = 0
    for one in questions:
        if not (one.relevant or one.relevant_urls):
            continue
        labelled += 1
        labels += len(one.relevant) + len(one.relevant_urls)
        own = {plain[name] for name in one.relevant if name in plain}
        of_pages = set().union(*(pages[url] for url in one.relevant_urls if url in pages))
        found["question_is_passage"] += hash(_plain(one.text)) in own | of_pages
        found["passage_copied"] += any(copies[text] > 1 for text in own)
        nowhere = sum(name not in plain for name in one.relevant) + sum(url not in pages for url in one.relevant_urls)
        found["labels_nowhere"] += nowhere
    if not +found:
        return {}
    return {**+found, "labelled": labelled, "labels": labels}


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
