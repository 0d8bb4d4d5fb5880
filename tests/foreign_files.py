"""Files of the shapes that people bring from elsewhere, made for the tests: no real person's question is in them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

NEW_ITEMS: list[dict[str, Any]] = [
    {
        "id": "i1",
        "source": "synthetic",
        "question_source": "generated",
        "question": "Когда открыта библиотека?",
        "ground_truth_answer": "С 9 до 21 часа.",
        "chunk_id": 11,
        "chunk_text": "Библиотека открыта с 9 до 21 часа, ёлку ставят у входа.",
        "confluence_url": "https://wiki.example/library",
        "relevant_chunk_ids": [11, 12],
        "relevant_urls": ["https://wiki.example/library"],
        "user_score": None,
        "question_answer_id": None,
        "is_relevant_chunk_matched": True,
    },
    {
        "id": "i2",
        "source": "real",
        "question_source": "users",
        "question": "Где взять справку?",
        "ground_truth_answer": "В деканате.",
        "chunk_id": 12,
        "chunk_text": "Справки выдаёт деканат по средам.",
        "confluence_url": "https://wiki.example/papers",
        "relevant_chunk_ids": [12],
        "relevant_urls": [],
        "user_score": 5,
        "question_answer_id": 701,
        "is_relevant_chunk_matched": True,
    },
    {
        "id": "i3",
        "source": "real",
        "question_source": "users",
        "question": "Есть ли парковка?",
        "ground_truth_answer": None,
        "chunk_id": 12,
        "chunk_text": "Справки выдаёт деканат по средам.",
        "confluence_url": "https://wiki.example/papers",
        "relevant_chunk_ids": [],
        "relevant_urls": [],
        "user_score": 1,
        "question_answer_id": 702,
        "is_relevant_chunk_matched": False,
    },
]

OLD_FIELDS = ("chunk_id", "chunk_text", "question", "ground_truth_answer", "confluence_url")
OLD_ITEMS = [{name: item[name] for name in OLD_FIELDS} for item in NEW_ITEMS[:2]]

MARKS: list[dict[str, Any]] = [
    {"is_question_ok": 1, "is_answer_ok": 0, "is_chunk_ok": 1, "notes": "ответ устарел"},
    {"is_question_ok": "", "is_answer_ok": "", "is_chunk_ok": "", "notes": ""},
    {"is_question_ok": 0, "is_answer_ok": 1, "is_chunk_ok": 1, "notes": "не вопрос"},
]
ANNOTATED_ITEMS = [{**item, **marks} for item, marks in zip(NEW_ITEMS, MARKS, strict=True)]

DECISIONS: list[dict[str, Any]] = [
    {
        "question": "Когда открыта библиотека?",
        "answer": "С 9 до 21 часа.",
        "context": "Библиотека открыта с 9 до 21 часа.",
        "ground_truth_show": True,
        "rationale": "Есть в контексте.",
    },
    {
        "question": "Когда открыта библиотека?",
        "answer": "Круглосуточно.",
        "context": "Библиотека открыта с 9 до 21 часа.",
        "ground_truth_show": "no",
        "rationale": "Выдумано.",
    },
    {"question": "Есть ли парковка?", "answer": "", "context": "", "ground_truth_show": "No", "rationale": None},
]

DIALOGUES = [
    {"questions": ["Когда сессия?", "А у заочников?"], "expected_answers": ["В июне.", "В мае."]},
    {"questions": ["Где деканат?"], "expected_answers": ["На втором этаже."]},
]

ANSWERS = [
    {
        "user_input": "Когда открыта библиотека?",
        "response": "С 9 до 21.",
        "reference": "С 9 до 21 часа.",
        "retrieved_contexts": ["Библиотека открыта с 9 до 21 часа.", "Справки выдаёт деканат."],
        "reference_contexts": ["Библиотека открыта с 9 до 21 часа."],
    },
    {
        "user_input": "Где взять справку?",
        "response": "Не знаю.",
        "reference": "В деканате.",
        "retrieved_contexts": ["Столовая работает до 18 часов."],
        "reference_contexts": ["Справки выдаёт деканат."],
    },
]
OLDER_NAMES = {
    "user_input": "question",
    "response": "answer",
    "reference": "ground_truth",
    "retrieved_contexts": "contexts",
}
OLD_ANSWERS = [{OLDER_NAMES.get(name, name): value for name, value in row.items()} for row in ANSWERS]


def as_json(rows: Any) -> str:
    """A JSON document as the tools of that field write it."""
    return json.dumps(rows, ensure_ascii=False, indent=2)


def as_lines(rows: list[dict[str, Any]]) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> str:
    """CSV; lists as JSON, None as an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            json.dumps(value, ensure_ascii=False) if isinstance(value, list) else "" if value is None else value
            for value in row.values()
        )
    return text.getvalue()
