"""SQuAD 1.1 and 2.0: paragraphs become chunks, articles pages, questions keep the paragraph they were written for, and
the sentence in it that holds the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from ragbench.core import segmentation
from ragbench.data.brought import Brought
from ragbench.data.cells import several
from ragbench.data.files import DatasetError, parse_json, read_text
from ragbench.data.records import ChunkRecord, QuestionRecord
from ragbench.data.rows import checked, fault


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


def read(path: Path) -> Brought:
    """Chunks and questions of a SQuAD file, plain or gzipped, and what was left out, counted by reason.

    A question's only relevant chunk is its own paragraph; one marked impossible has none and is unanswerable. The first
    answer is the reference, all of them are where they differ, and the sentence in which the first stands is the
    labelled text of the paragraph; all of it is, where the answer does not stand where `answer_start` says. Questions
    of one article form a cluster: they share a text, so they are not independent.
    Raises DatasetError naming the file, the article and the field.
    """
    try:
        document = _File.model_validate(parse_json(read_text(path), path.name))
    except ValidationError as error:
        expected = "SQuAD JSON is expected: data[].paragraphs[].qas[]"
        raise DatasetError(f"{path.name}: {fault(error)}; {expected}") from None
    chunks: dict[tuple[str, str], ChunkRecord] = {}
    questions: dict[str, QuestionRecord] = {}
    brought = Brought()
    for number, article in enumerate(document.data):
        title, before = article.title, len(chunks)
        about = {"url": f"squad:{quote(title)}", "title": title.replace("_", " ")}
        for paragraph in article.paragraphs:
            key = title, paragraph.context.strip()
            if not key[1]:
                raise DatasetError(f"{path.name}, article {title!r}: a paragraph's context is empty")
            if key in chunks:
                brought.left_out["paragraph with a repeated text"] += 1
            else:
                made = {"id": f"{number:04d}-{len(chunks) - before:03d}", "text": key[1], **about}
                chunks[key] = checked(ChunkRecord, made, f"{path.name}, article {number + 1}")
            for item in paragraph.qas:
                place = f"{path.name}, question {item.id!r}"
                if item.id in questions:
                    raise DatasetError(f"{place}: the id stands there twice")
                answers = [answer for answer in item.answers if answer.text.strip()]
                if not item.question.strip():
                    brought.left_out["empty question"] += 1
                elif not answers and not item.is_impossible:
                    brought.left_out["answerable question without an answer"] += 1
                else:
                    fields = _of_question(item, answers, chunks[key], paragraph.context)
                    questions[item.id] = checked(QuestionRecord, fields, place)
    if not questions:
        raise DatasetError(f"{path.name}: holds no questions")
    brought.chunks, brought.questions = list(chunks.values()), list(questions.values())
    return brought


def _of_question(item: _Question, answers: list[_Answer], chunk: ChunkRecord, context: str) -> dict[str, Any]:
    about = {"id": item.id, "text": item.question, "cluster": chunk.url, "source": "squad"}
    if item.is_impossible:
        return {**about, "answerable": False}
    return {
        **about,
        "answerable": True,
        "reference": answers[0].text,
        "references": several(answer.text for answer in answers),
        "relevant": {chunk.id: 1.0},
        "spans": _labelled(chunk, answers[0], len(context) - len(context.lstrip())),
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
