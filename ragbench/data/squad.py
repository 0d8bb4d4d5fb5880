"""SQuAD 1.1 and 2.0: paragraphs become chunks, articles pages, questions keep the paragraph they were written for, and
the sentence in it that holds the answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, StrictBool, StrictStr

from ragbench.core import segmentation
from ragbench.data.brought import Brought
from ragbench.data.cells import several
from ragbench.data.files import DatasetError, LeftOut
from ragbench.data.records import ChunkRecord, Identifier, QuestionRecord
from ragbench.data.rows import checked, columns_to_rows, read_rows


class _Answer(BaseModel):
    text: StrictStr
    answer_start: int | None = None


def _rows(given: Any) -> Any:
    is_table = isinstance(given, Mapping) and all(isinstance(column, list) for column in given.values())
    return columns_to_rows(given) if is_table else given


class _Item(BaseModel):
    """A paragraph with a question, or without any. As a table of its own it has answers as a list a column."""

    title: StrictStr
    context: StrictStr
    id: Identifier = ""
    question: StrictStr = ""
    answers: Annotated[list[_Answer], BeforeValidator(_rows)] = []
    is_impossible: StrictBool = False


def read(path: Path) -> Brought:
    """Chunks and questions of a SQuAD file, also as a table of a row a question, and what was left out, counted.

    A question's only relevant chunk is its own paragraph; one marked impossible, or in a table one without an answer,
    has none and is unanswerable. The first answer is the reference, all of them are where they differ, and the sentence
    in which the first stands is the labelled text of the paragraph; all of it is, where the answer does not stand where
    `answer_start` says. Questions of one article form a cluster: they share a text, so they are not independent.
    Raises DatasetError where no question can be used.
    """
    chunks: dict[tuple[str, str], ChunkRecord] = {}
    questions: dict[str, QuestionRecord] = {}
    brought, left_out, articles = Brought(), LeftOut(), dict[str, list[str]]()
    for place, row in read_rows(path, held=False, left_out=left_out):
        try:
            item = checked(_Item, row, place)
            key = item.title, item.context.strip()
            own = articles.setdefault(item.title, [])
            if key not in chunks:
                about = {"url": f"squad:{quote(item.title)}", "title": item.title.replace("_", " ")}
                made = {"id": f"{len(articles) - 1:04d}-{len(own):03d}", "text": key[1], **about}
                chunks[key] = checked(ChunkRecord, made, place)
                own.append(key[1])
            if not item.id:
                continue
            if item.id in questions:
                raise DatasetError(f"{place}: question whose id stands there twice")
            answers = [answer for answer in item.answers if answer.text.strip()]
            is_impossible = item.is_impossible or (not answers and isinstance(row.get("answers"), Mapping))
            if not item.question.strip():
                left_out.add("empty question")
            elif not answers and not is_impossible:
                left_out.add("answerable question without an answer")
            else:
                asked = _of_question(item, [] if is_impossible else answers, chunks[key])
                questions[item.id] = checked(QuestionRecord, asked, place)
        except DatasetError as error:
            left_out.fault(error, place)
    if not questions:
        raise DatasetError(
            f"{path.name}: holds no questions of SQuAD, with id, question, answers, context and title"
            f"{f': {left_out.said}' if left_out.counts else ''}; ragbench load questions reads any others"
        )
    brought.chunks, brought.questions, brought.left_out = list(chunks.values()), list(questions.values()), left_out.told
    return brought


def _of_question(item: _Item, answers: list[_Answer], chunk: ChunkRecord) -> dict[str, Any]:
    about = {"id": item.id, "text": item.question, "cluster": chunk.url, "source": "squad"}
    if not answers:
        return {**about, "answerable": False}
    return {
        **about,
        "answerable": True,
        "reference": answers[0].text,
        "references": several(answer.text for answer in answers),
        "relevant": {chunk.id: 1.0},
        "spans": _labelled(chunk, answers[0], len(item.context) - len(item.context.lstrip())),
    }


def _labelled(chunk: ChunkRecord, answer: _Answer, cut_off: int) -> dict[str, list[tuple[int, int]]]:
    """The sentences of the chunk that the answer stands in; nothing where it does not stand there. cut_off: characters
    of the paragraph before the chunk's text begins."""
    start = -1 if answer.answer_start is None else answer.answer_start - cut_off
    end = start + len(answer.text)
    if start < 0 or chunk.text[start:end] != answer.text:
        return {}
    around = [(first, last) for first, last in segmentation.spans(chunk.text) if first < end and start < last]
    return {chunk.id: around} if around else {}
