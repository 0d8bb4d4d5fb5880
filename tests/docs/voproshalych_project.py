"""The files and the database of the benchmark that docs/from-voproshalych.md is about, as its code writes them.

Made up for the tests: nobody asked these questions. After generate_dataset.py, run_comprehensive_benchmark.py and the
migrations of Konscig/voproshalych, and generate_hard_dataset.py, run_benchmark.py of arjjia/voproshalych.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import psycopg

from ragbench import embed
from ragbench.core import settings
from ragbench.core.settings import EmbedderSettings
from ragbench.store import server
from ragbench.store.database_tables import written

SITE = "https://confluence.example"
LONG = f"{SITE}/download/attachments/105/{'%D0%9F%D0%BE%D1%80%D1%8F%D0%B4%D0%BE%D0%BA-' * 12}2026.pdf?version=3&api=v2"
PAGES = [*(f"{SITE}/pages/viewpage.action?pageId={number}" for number in range(101, 105)), LONG]
TEXTS = [
    ("Библиотека открыта по будням с девяти до двадцати одного часа.", "когда открыта библиотека", "С 9 до 21."),
    ("Читательский билет выдают в холле библиотеки за пять минут.", "где взять читательский билет", "В холле."),
    ("Справку об обучении выдаёт деканат по средам и пятницам.", "кто выдаёт справку об обучении", "Деканат."),
    ("Академический отпуск оформляют заявлением на имя директора.", "как оформить академ", "Заявлением."),
    ("Стипендия приходит на карту двадцать пятого числа месяца.", "когда приходит стипуха", "25 числа."),
    ("Материальную помощь назначает комиссия раз в семестр.", "как часто дают матпомощь", "Раз в семестр."),
    ("Общежитие закрывают в полночь, опоздавших пускает комендант.", "до скольки открыта общага", "До полуночи."),
    ("Пропуск в общежитие восстанавливает комендант за день.", "потерял пропуск что делать", "Идти к коменданту."),
    ("Практику засчитывают по отчёту с печатью предприятия.", "как зачесть практику", "По отчёту с печатью."),
    ("Темы выпускных работ утверждают до первого декабря.", "когда утверждают темы вкр", "До 1 декабря."),
]
"""A chunk, what is asked of it, and the answer; two chunks a page."""
STOPPED = (1, 3)
"""Places in TEXTS: in the log a dialogue ends with each question of theirs."""
FIRST = 92_459
WIDTH = 1024
ENCODER = EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=WIDTH)
"""What the assistant of the tests made its vectors by."""


def page(number: int) -> str:
    """The page of a chunk."""
    return PAGES[number // 2]


def asked_at(place: int) -> datetime:
    """When the question at this place of the log was asked: ten a day, a minute apart."""
    return datetime(2026, 3, 1, 9, tzinfo=UTC) + timedelta(days=place // 10, minutes=place % 10)


def _id(prefix: str, question: str) -> str:
    return prefix + hashlib.md5(question.encode()).hexdigest()[:12]


def dataset() -> list[dict[str, Any]]:
    """As generate_dataset.py writes it."""
    return [
        {
            "id": _id("syn_", question),
            "source": "synthetic",
            "question_source": "synthetic",
            "question": question,
            "ground_truth_answer": answer,
            "chunk_id": FIRST + number,
            "chunk_text": text[:500],
            "confluence_url": page(number),
        }
        for number, (text, question, answer) in enumerate(TEXTS)
    ]


def hard_dataset() -> list[dict[str, Any]]:
    """As generate_hard_dataset.py writes it: `relevant_urls` are ids of documents, two chunks for some questions."""
    found = []
    for number, (text, question, answer) in enumerate(TEXTS[:6]):
        several = [number, number + 2] if number % 3 == 0 else [number]
        found.append(
            {
                "id": _id("v2_", question),
                "source": "synthetic_v2",
                "category": "cross_document" if len(several) > 1 else ("direct", "conditional")[number % 2],
                "question": question,
                "ground_truth_answer": answer,
                "chunk_id": f"chunk-{FIRST + number}",
                "relevant_chunk_ids": [f"chunk-{FIRST + one}" for one in several],
                "relevant_urls": [f"doc-{one // 2}" for one in several],
                "confluence_url": page(number),
                "chunk_text": text[:500],
                "clean_question": f"{question.capitalize()}?",
            }
        )
    return found


def annotations() -> list[dict[str, Any]]:
    """As `--mode export-annotation` writes it, and two people's marks after that."""
    found = []
    for item in dataset():
        asked = {name: item[name] for name in ("id", "question", "ground_truth_answer", "source", "question_source")}
        labels = {name: item[name] for name in ("chunk_id", "chunk_text", "confluence_url")}
        found.append(
            {
                **asked,
                "question_answer_id": None,
                **labels,
                "relevant_chunk_ids": [],
                "relevant_urls": [],
                "user_score": None,
                "is_relevant_chunk_matched": None,
                "is_question_ok": 1,
                "is_answer_ok": 1,
                "is_chunk_ok": 1,
                "notes": "",
            }
        )
    found[1] |= {"is_question_ok": 0, "notes": "не вопрос, а просьба"}
    found[2] |= {"is_answer_ok": 0, "relevant_chunk_ids": [FIRST + 2, FIRST + 3]}
    return found


def decisions() -> list[dict[str, Any]]:
    """The set that run_tier_judge_pipeline reads."""
    made = []
    for number, (text, question, answer) in enumerate(TEXTS):
        shown = number % 3 != 1
        made.append(
            {
                "question": question,
                "answer": answer if shown else "Не знаю, обратитесь в деканат.",
                "context": text,
                "ground_truth_show": shown if number % 2 else ("yes" if shown else "no"),
                "rationale": "Есть в контексте." if shown else "Не отвечает.",
            }
        )
    return made


DIALOGUES = [
    {"questions": [TEXTS[n][1], TEXTS[n + 1][1]], "expected_answers": [TEXTS[n][2], TEXTS[n + 1][2]]} for n in (0, 4, 8)
]


def history() -> list[dict[str, Any]]:
    """As `save_results` appends to benchmark_runs.json: a run as it came out, and its retrieval corrected."""
    unmeasured = dict.fromkeys(
        ("tier_3_metrics", "tier_judge_metrics", "utilization_metrics", "topic_coverage_metrics",
         "domain_analysis_metrics", "model_runs")
    )  # fmt: skip
    run = {
        "id": "20260223_190000",
        "timestamp": "2026-02-23T19:00:00.123456",
        "git_branch": "feat/benchmark-rag-quality",
        "git_commit_hash": "ac64eec",
        "run_author": "team",
        "schema_version": "2.0",
        "dataset_file": "dataset_synthetic_20260223_183530.json",
        "dataset_type": "synthetic",
        "judge_model": "judge",
        "production_judge_model": "judge",
        "generation_model": "open-mistral-nemo",
        "embedding_model": "saved_models/multilingual-e5-large-wikiutmn",
        "judge_eval_mode": "direct",
        "consistency_runs": 1,
        "generation_api_key_var": None,
        "production_judge_api_key_var": None,
        "benchmark_judge_api_key_var": None,
        "tier_0_metrics": {"tier_code": 0.0, "avg_nn_distance": 0.08, "density_score": 12.4, "avg_spread": 0.5,
                           "effective_dimensionality": 77},
        "tier_1_metrics": {"tier": 1, "total_queries": 10, "hit_rate@1": 0.3, "hit_rate@5": 0.6, "hit_rate@10": 0.7,
                           "mrr": 0.55, "retrieval_consistency": 1.0, "recall@1": 0.4, "recall@5": 0.8,
                           "precision@1": 0.4, "ndcg@5": 0.87, "ndcg@10": 1.0923},
        "tier_2_metrics": {"tier": 2, "total_queries": 10, "errors": 1, "avg_faithfulness": 4.4,
                           "avg_answer_relevance": 4.6, "response_exact_match_rate": 1.0, "avg_rouge1_f": 0.03},
        "tier_judge_pipeline_metrics": {"tier_code": -6.0, "total_evaluations": 10, "accuracy": 0.9, "precision": 0.88,
                                        "recall": 0.92, "f1_score": 0.9, "avg_latency_ms": 812.0},
        "tier_ux_metrics": {"cache_hit_rate": 0.2, "context_preservation": 0.7, "multi_turn_consistency": 0.7},
        **unmeasured,
        "executive_summary": "## Executive Summary",
        "overall_status": "critical",
    }  # fmt: skip
    corrected = {
        **run,
        "id": "corrected",
        "timestamp": "2026-05-05T10:00:00",
        "evaluation_level": "url",
        "tier_0_metrics": None,
        "tier_1_metrics": {"tier": 1, "total_queries": 10, "top_k": 10, **BASELINE},
        "tier_2_metrics": None,
        "tier_judge_pipeline_metrics": None,
        "tier_ux_metrics": None,
    }
    return [run, corrected]


BASELINE = {"hit_rate@1": 0.4, "hit_rate@5": 0.8, "mrr": 0.55, "recall@5": 0.8, "precision@5": 0.16, "ndcg@10": 0.6123}
"""Version 1 as it was corrected: by page, each page once: hit rate and recall are equal."""
RANKS = (1, 1, 1, 2, 1, 1, 3, 1, 1, None)
"""At which rank version 2 finds the page of each question."""


def result(ranks: tuple[int | None, ...] = RANKS) -> dict[str, Any]:
    """As run_benchmark.py writes it: by page, pages shortened to their number, one of them found twice."""
    from ragbench.extras.runs.past_runs import page_key

    details = []
    for item, rank in zip(dataset(), ranks, strict=True):
        wanted = page_key(item["confluence_url"])
        found = [page_key(one) for one in PAGES if page_key(one) != wanted]
        if rank is not None:
            found.insert(rank - 1, wanted)
        details.append(
            {
                "id": item["id"],
                "question": item["question"],
                "chunk_id": item["chunk_id"],
                "ground_truth_urls": [wanted],
                "retrieved_urls": [*found, found[0]],
                "metrics": {"mrr": round(1 / rank, 4) if rank else 0.0},
                "search_time_sec": 0.41,
            }
        )
    gains = [1 / rank if rank else 0.0 for rank in ranks]
    hits = {k: sum(rank is not None and rank <= k for rank in ranks) / len(ranks) for k in (1, 5)}
    log = {1: 1.0, 2: 0.6309, 3: 0.5, None: 0.0}
    metrics = {
        "hit_rate@1": hits[1],
        "hit_rate@5": hits[5],
        "mrr": round(sum(gains) / len(ranks), 4),
        "recall@5": hits[5],
        "precision@5": round(hits[5] / 5, 4),
        "ndcg@10": round(sum(log[rank] for rank in ranks) / len(ranks), 4),
    }
    return {
        "benchmark_metadata": {
            "version": "v2-lightrag",
            "timestamp": "2026-05-20T12:00:00.000001",
            "dataset_size": len(ranks),
            "evaluated_queries": len(ranks),
            "errors": 0,
            "top_k": 10,
            "search_mode": "mix",
            "cosine_threshold": "0.2",
            "query_expansion": False,
            "reranker": False,
            "reranker_candidates": None,
            "evaluation_level": "url",
            "embedding_model": "nizamovtimur-multilingual-e5-large-wikiutmn",
            "llm_model": "mistral",
        },
        "metrics": metrics,
        "confidence_intervals_95": {
            name: {"mean": value, "ci_low": max(0.0, value - 0.1), "ci_high": min(1.0, value + 0.1)}
            for name, value in metrics.items()
        },
        "comparison_v1_v2": [
            {
                "metric": name,
                "v1_naive_rag": BASELINE[name],
                "v2_lightrag": value,
                "delta": round(value - BASELINE[name], 4),
            }
            for name, value in metrics.items()
        ],
        "timing": {"avg_search_time_sec": 0.41, "total_search_time_sec": 4.1},
        "per_query_details": details,
    }


def write(folder: Path) -> None:
    """All files, under the names that the page gives them."""
    as_json = {
        "dataset.json": dataset(),
        "hard.json": hard_dataset(),
        "judge_pipeline.json": decisions(),
        "multi_turn.json": DIALOGUES,
        "benchmark_runs.json": history(),
        "benchmark_v2.json": result(),
        "annotated.json": annotations(),
    }
    for name, content in as_json.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
    table = {"user_input": [one[1] for one in TEXTS], "response": [one[2] for one in TEXTS],
             "retrieved_contexts": [[one[0]] for one in TEXTS], "reference": [one[2] for one in TEXTS]}  # fmt: skip
    pd.DataFrame(table).to_parquet(folder / "table.parquet")
    rows = annotations()
    with (folder / "annotated.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


@contextmanager
def database(schema: str, logged: int = 10, embedded: int | None = None) -> Iterator[str]:
    """The address of a database that has the tables of the assistant in a schema of its own, dropped afterwards.

    logged: rows of question_answer, of which the first `embedded` (None: all) have a vector.
    """
    server.start(settings.load())
    address = written(server.address(settings.load()))
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path TO {schema}, public")
        try:
            _fill(connection, logged, logged if embedded is None else embedded)
            yield address
        finally:
            connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def _fill(connection: psycopg.Connection, logged: int, embedded: int) -> None:
    encoder = embed.make("encoder", ENCODER)
    connection.execute(
        'CREATE TABLE "user" (id serial PRIMARY KEY, vk_id bigint UNIQUE, telegram_id bigint UNIQUE, '
        "is_subscribed boolean NOT NULL, created_at timestamptz DEFAULT now(), updated_at timestamptz)"
    )
    connection.execute(
        "CREATE TABLE chunk (id int PRIMARY KEY, confluence_url text NOT NULL, text text NOT NULL, "
        f"embedding vector({WIDTH}) NOT NULL, created_at timestamptz DEFAULT now(), updated_at timestamptz)"
    )
    connection.execute(
        "CREATE TABLE question_answer (id serial PRIMARY KEY, question text NOT NULL, answer text, "
        'confluence_url text, score int, user_id int NOT NULL REFERENCES "user"(id), '
        f"created_at timestamptz DEFAULT now(), updated_at timestamptz, stop_point boolean, embedding vector({WIDTH}))"
    )
    for number in (1, 2, 3):
        connection.execute(
            'INSERT INTO "user" (id, telegram_id, is_subscribed) VALUES (%s, %s, true)', (number, number)
        )
    vectors = encoder.embed([text for text, _, _ in TEXTS])
    for number, (text, _, _) in enumerate(TEXTS):
        row = (FIRST + number, page(number), text, str(vectors[number].tolist()))
        connection.execute("INSERT INTO chunk (id, confluence_url, text, embedding) VALUES (%s, %s, %s, %s)", row)
    again = (logged + len(TEXTS) - 1) // len(TEXTS)
    asked = [(f"{question}{'?' * turn}" if turn < 2 else f"{question} {turn}", n) for turn in range(again)
             for n, (_, question, _) in enumerate(TEXTS)][:logged]  # fmt: skip
    made = encoder.embed([question for question, _ in asked[:embedded]], kind="query") if embedded else []
    columns = "id, question, answer, confluence_url, score, user_id, created_at, stop_point, embedding"
    copied = f"COPY question_answer ({columns}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(copied) as rows:
        for place, (question, n) in enumerate(asked):
            vector = str(made[place].tolist()) if place < embedded else None
            told = (place + 1, question, TEXTS[n][2], page(n), 5 - n % 5, 1 + n % 3)
            rows.write_row((*told, asked_at(place), n in STOPPED, vector))
