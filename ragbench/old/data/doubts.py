"""What in a data set makes retrieval look better or worse than it is: counted, so that load and page can warn of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ragbench.old.core.segmentation import plain, stands_in
from ragbench.old.core.types import Chunk, Question
from ragbench.old.data.records import ChunkRecord, QuestionRecord

FEWEST_WORDS = 4
"""Of a question that stands in a passage: fewer are words that people look for, and that passages rightly hold."""


class Doubt(NamedTuple):
    """A question that is doubtful, and what it is so for: a passage's id, or a label's; its text, if it has one."""

    kind: str
    question: str
    other: str
    text: str = ""


def doubts(
    chunks: Sequence[Chunk | ChunkRecord], questions: Sequence[Question | QuestionRecord], known: Plain | None = None
) -> Iterator[Doubt]:
    """What `doubts_of` counts, one by one: a doubt a question and kind, one a label that leads nowhere.

    known: the plain texts of the passages, where they are needed for more.
    """
    known = Plain(chunks) if known is None else known
    texts, copies = known.texts, copies_of(known, questions)
    pages: dict[str, list[str]] = defaultdict(list)
    for chunk in chunks:
        if chunk.url is not None:
            pages[chunk.url].append(chunk.id)
    for question in labelled(questions):
        own, asked = [name for name in question.relevant if name in texts], plain(question.text)
        reached = dict.fromkeys([*own, *(name for url in question.relevant_urls for name in pages.get(url, ()))])
        if same := next((name for name in reached if asked and known[name] == asked), None):
            yield Doubt("question_is_passage", question.id, same, texts[same])
        elif len(asked.split()) >= FEWEST_WORDS and (
            around := next((name for name in reached if stands_in(asked, known[name])), None)
        ):
            yield Doubt("question_in_passage", question.id, around, texts[around])
        if twice := next((name for name in own if copies[known[name]] > 1), None):
            yield Doubt("passage_copied", question.id, twice, texts[twice])
        for label in [
            *(n for n in question.relevant if n not in texts),
            *(u for u in question.relevant_urls if u not in pages),
        ]:
            yield Doubt("labels_nowhere", question.id, label)


class Plain(dict[str, str]):
    """Id → plain text of a passage, made once and when it is asked for. texts: id → text as it is."""

    def __init__(self, chunks: Iterable[Chunk | ChunkRecord]) -> None:
        self.texts = {chunk.id: chunk.text for chunk in chunks}

    def __missing__(self, name: str) -> str:
        self[name] = plain(self.texts[name])
        return self[name]


def copies_of(known: Plain, questions: Iterable[Question | QuestionRecord]) -> Counter[str]:
    """Plain text → how many passages have it, of the texts of passages that are labelled."""
    wanted = {known[name] for question in questions for name in question.relevant if name in known.texts}
    return Counter(text for name in known.texts if (text := known[name]) in wanted) if wanted else Counter()


def labelled(questions: Iterable[Question | QuestionRecord]) -> Iterator[Question | QuestionRecord]:
    """The questions that have a relevant passage or page."""
    return (question for question in questions if question.relevant or question.relevant_urls)


def doubts_of(chunks: Sequence[Chunk | ChunkRecord], questions: Sequence[Question | QuestionRecord]) -> dict[str, int]:
    """What to warn of, by kind; empty where nothing is to be warned of. Texts are compared by their words alone.

    question_is_passage: labelled questions that are, word for word, a passage that is relevant to them, or one of a
    page that is. question_in_passage: those of FEWEST_WORDS that stand in one, beside other words. passage_copied:
    labelled questions with a relevant passage whose text the base holds a second time, under another id.
    labels_nowhere: labels that name a chunk or a page that the base does not have. labelled, labels: of how many
    questions, and of how many labels.
    """
    counts = Counter(doubt.kind for doubt in doubts(chunks, questions))
    if not counts:
        return {}
    labels = [len(question.relevant) + len(question.relevant_urls) for question in labelled(questions)]
    return {**counts, "labelled": len(labels), "labels": sum(labels)}
