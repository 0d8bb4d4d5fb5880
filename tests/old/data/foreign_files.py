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


HISTORY: list[dict[str, Any]] = [
    {
        "id": "20260216_101423",
        "timestamp": "2026-02-16T10:14:23",
        "git_branch": "main",
        "git_commit_hash": "abc1234",
        "run_author": "nobody",
        "schema_version": "2.0",
        "dataset_file": "dataset_20260216.json",
        "dataset_type": "synthetic",
        "judge_model": "judge-a",
        "generation_model": "writer-a",
        "embedding_model": "models/e5",
        "judge_eval_mode": "direct",
        "consistency_runs": 1,
        "tier_0_metrics": {"tier": 0, "avg_nn_distance": 0.12, "effective_dimensionality": 77},
        "tier_1_metrics": {
            "tier": 1,
            "total_queries": 150,
            "hit_rate@1": 0.6,
            "hit_rate@5": 0.8,
            "mrr": 0.71,
            "recall@5": 0.75,
            "ndcg@10": 1.0923,
        },
        "tier_2_metrics": {
            "tier": 2,
            "total_queries": 150,
            "errors": 10,
            "avg_faithfulness": 4.4,
            "avg_answer_relevance": 4.1,
            "avg_rougeL_f": 0.02,
            "avg_bleu": 11.5,
            "response_exact_match_rate": 1.0,
        },
        "tier_3_metrics": {"tier": 3, "total_queries": 150, "avg_e2e_score": 4.9, "avg_semantic_similarity": 0.81},
        "tier_judge_metrics": {"error_rate": 1.0, "consistency_score": 0.0, "avg_latency_ms": 0.0},
        "tier_judge_pipeline_metrics": {"total_queries": 40, "accuracy": 0.9, "precision": 0.88, "recall": 0.92},
        "tier_ux_metrics": {"cache_hit_rate": 0.4, "context_preservation": 0.7, "multi_turn_consistency": 0.7},
        "real_user_metrics": None,
        "utilization_metrics": {
            "total_chunks": 1000,
            "used_chunks": 400,
            "unused_chunks": 600,
            "utilization_rate": 0.4,
            "questions_source": "real",
            "question_count": 500,
            "top_k": 10,
            "used_chunk_ids": [1, 2],
        },
        "topic_coverage_metrics": {
            "n_topics": 2,
            "topic_coverage": [
                {"topic_id": 0, "question_count": 3, "unique_chunks": 9, "unique_urls": 4, "sample_questions": ["?"]},
                {"topic_id": 1, "question_count": 2, "unique_chunks": 5, "unique_urls": 1, "sample_questions": ["?"]},
            ],
            "total_questions": 5,
            "avg_chunks_per_topic": 7.0,
            "top_k": 5,
        },
        "executive_summary": "…",
        "overall_status": "ok",
    },
    {
        "id": "20260301_090000",
        "timestamp": "2026-03-01T09:00:00+03:00",
        "git_commit_hash": "def5678",
        "schema_version": "2.0",
        "dataset_file": "dataset_20260216.json",
        "embedding_model": "models/e5-tuned",
        "consistency_runs": 5,
        "tier_1_metrics": {"total_queries": 150, "hit_rate@1": 0.7, "ndcg@10": 0.93},
        "tier_2_metrics": {"total_queries": 150, "response_exact_match_rate": 0.8},
    },
]

RESULT: dict[str, Any] = {
    "benchmark_metadata": {
        "version": "v2",
        "timestamp": "2026-05-02T12:00:00",
        "dataset_size": 4,
        "evaluated_queries": 3,
        "errors": 1,
        "top_k": 10,
        "search_mode": "mix",
        "evaluation_level": "chunk_id",
        "embedding_model": "e5",
    },
    "metrics": {"hit_rate@1": 0.3333, "mrr": 0.5, "recall@5": 0.6667, "ndcg@10": 0.9},
    "confidence_intervals_95": {"mrr": {"mean": 0.5, "ci_low": 0.1, "ci_high": 0.9}},
    "per_query_details": [
        {"id": "q1", "question": "What of q1?", "ground_truth_chunk_ids": ["a1"], "retrieved_chunk_ids": ["a1", "b1"]},
        {
            "id": "q2",
            "question": "What of q2?",
            "ground_truth_chunk_ids": ["b1", "c1"],
            "retrieved_chunk_ids": ["a2", "b1", "d1"],
        },
        {"id": "q3", "question": "What of q3?", "ground_truth_chunk_ids": ["d1"], "retrieved_chunk_ids": ["a1", "a2"]},
    ],
}
