"""SQuAD 1.1 and 2.0: paragraphs become chunks, articles pages, questions keep the paragraph they were written for, and
the sentence in it that holds the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from ragbench.core import segmentation
from ragbench.core.expectations import expectation, shown
from ragbench.core.settings.secrets import excerpt
from ragbench.data.cells import several
from ragbench.data.files import DatasetError, parse_json, read_text
from ragbench.data.records import ChunkRecord, QuestionRecord
from ragbench.data.rows import checked


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Answer(_Lenient):
    text: str
    answer_start: int | None = None


class _Question(_Lenient):
    id: str
    question: str
    answers: list[_Answer] = []
    is_impossible: bool = False


class _Paragraph(_Lenient):
    context: str
    qas: list[_Question]


class _Article(_Lenient):
    title: str
    paragraphs: list[_Paragraph]


class _File(_Lenient):
    data: list[_Article]


def read(path: Path) -> tuple[list[ChunkRecord], list[QuestionRecord], dict[str, int]]:
    """Chunks and questions of a SQuAD file, plain or gzipped, and what was left out, counted by reason.

    A question's only relevant chunk is its own paragraph; one marked impossible has none and is unanswerable. The first
    answer is the reference, all of them are where they differ, and the sentence in which the first stands is the
    labelled text of the paragraph; all of it is, where the answer does not stand where `answer_start` says. Questions
    of one article form a cluster: they share a text, so they are not independent.
    Raises DatasetError naming the file, the article and the field.
    """
    document = _validate(parse_json(read_text(path), path.name), path.name)
    chunks: dict[tuple[str, str], ChunkRecord] = {}
    questions: dict[str, QuestionRecord] = {}
    left_out = {"empty question": 0, "answerable question without an answer": 0, "paragraph with a repeated text": 0}
    for number, article in enumerate(document.data):
        for paragraph in article.paragraphs:
            key = (article.title, paragraph.context.strip())
            if key in chunks:
                left_out["paragraph with a repeated text"] += 1
            elif not key[1]:
                raise DatasetError(f"{path.name}, article {article.title!r}: a paragraph's context is empty")
            else:
                count = sum(title == article.title for title, _ in chunks)
                chunks[key] = _chunk(number, count, article.title, key[1], path.name)
            cut_off = len(paragraph.context) - len(paragraph.context.lstrip())
            for item in paragraph.qas:
                _add_question(item, chunks[key], cut_off, questions, left_out, path.name)
    if not questions:
        raise DatasetError(f"{path.name}: holds no questions")
    return list(chunks.values()), list(questions.values()), {name: n for name, n in left_out.items() if n}


def _validate(document: Any, name: str) -> _File:
    try:
        return _File.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"]) or "the document"
        given = excerpt(shown(fault["input"]), 80)
        raise DatasetError(
            f"{name}: {place} = {given}: {expectation(fault)}; SQuAD JSON is expected: data[].paragraphs[].qas[]"
        ) from None


def _chunk(article: int, paragraph: int, title: str, text: str, name: str) -> ChunkRecord:
    fields = {"id": f"{article:04d}-{paragraph:03d}", "url": f"squad:{quote(title)}", "title": title.replace("_", " ")}
    return checked(ChunkRecord, {**fields, "text": text}, f"{name}, article {article + 1}")


def _add_question(
    item: _Question,
    chunk: ChunkRecord,
    cut_off: int,
    questions: dict[str, QuestionRecord],
    left_out: dict[str, int],
    name: str,
) -> None:
    """cut_off: characters of the paragraph before the chunk's text begins."""
    if item.id in questions:
        raise DatasetError(f"{name}: the question id {item.id!r} stands there twice")
    if not item.question.strip():
        left_out["empty question"] += 1
        return
    answers = [answer for answer in item.answers if answer.text.strip()]
    if not answers and not item.is_impossible:
        left_out["answerable question without an answer"] += 1
        return
    made = {
        "id": item.id,
        "text": item.question,
        "reference": None if item.is_impossible else answers[0].text,
        "references": () if item.is_impossible else several(answer.text for answer in answers),
        "relevant": {} if item.is_impossible else {chunk.id: 1.0},
        "spans": {} if item.is_impossible else _labelled(chunk, answers[0], cut_off),
        "answerable": not item.is_impossible,
        "cluster": chunk.url,
        "source": "squad",
    }
    questions[item.id] = checked(QuestionRecord, made, f"{name}, question {item.id!r}")


def _labelled(chunk: ChunkRecord, answer: _Answer, cut_off: int) -> dict[str, list[tuple[int, int]]]:
    """The sentences of the chunk that the answer stands in; nothing where it does not stand there."""
    start = -1 if answer.answer_start is None else answer.answer_start - cut_off
    end = start + len(answer.text)
    if start < 0 or chunk.text[start:end] != answer.text:
        return {}
    around = [(first, last) for first, last in segmentation.spans(chunk.text) if first < end and start < last]
    return {chunk.id: around} if around else {}
