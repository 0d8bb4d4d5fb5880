"""Real users by their front: a folder with a log in, Tier 1 on it and how people ask out."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.core.trust import trust
from ragbench.tiers import real_users

FEW = {"draws": 200, "dataset": "log"}
PAGES = ["pool", "library", "garage"]
ASKED = [
    ("pool", "Where is the swimming pool?", 5, "ann", "2026-01-03"),
    ("pool", "where can i swim", 2, "ann", "2026-01-09"),
    ("library", "Where are library books?", 5, "ben", "2026-02-01"),
    ("garage", "сколько стоит гараж", None, "", ""),
    ("", "How much is the parking garage?", 3, "cat", "2026-02-02"),
    ("gone", "Is there a library garage gym, 24 h tv in 2025?", 4, "dan", "2026-02-03"),
]


@pytest.fixture(autouse=True)
def log(empty_folder: Path) -> Path:
    """A data set of two passages a page and six logged questions."""
    folder = empty_folder / "data" / "log"
    folder.mkdir(parents=True)
    passages = [
        {"id": f"{page}-{n}", "text": f"Passage {n} of {page}.", "url": f"https://x/{page}"}
        for page in PAGES
        for n in range(2)
    ]
    history = [
        {
            "id": f"h{n}",
            "question": question,
            "answer": "so",
            "url": f"https://x/{page}" if page else None,
            "score": score,
            "user": user or None,
            "asked_at": date or None,
        }
        for n, (page, question, score, user, date) in enumerate(ASKED)
    ]
    for name, rows in (("chunks", passages), ("history", history)):
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / f"{name}.en.jsonl").write_text(text, encoding="utf-8")
    return folder


def second_page(question: str, k: int) -> list[str]:
    """Both passages of the library, then those of the pool."""
    return ["library-0", "library-1", "pool-1", "pool-0"][:k]


def test_pages_are_ranked_against_the_page_that_was_shown() -> None:
    result: Any = rb.real_users({"v1": second_page}, **FEW)
    scores = result.scores[result.scores["metric"] == "mrr@10"].set_index("question_id")["value"]
    # The pool's page is the second, behind the library's two passages.
    assert scores.to_dict() == {"h0": 0.5, "h1": 0.5, "h2": 1.0, "h3": 0.0}
    asked = result.frames.questions[["score", "reference", "month"]].iloc[2:]
    assert asked.to_numpy().tolist() == [["5", "so", "2026-02"], ["", "so", ""]]
    metrics = set(result.estimates["metric"])
    assert {"hit_rate@1", "recall@10", "precision@5", "ndcg@10"} <= metrics
    assert "average_precision@10" not in metrics


def test_no_index_is_timed_on_what_users_asked(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    table = '[retrievers.near]\nkind = "dense"\nembedder = "hashing"\n'
    Path("ragbench.toml").write_text(table, encoding="utf-8")
    trust(Path())
    result: Any = rb.real_users("near", **FEW)
    assert len(result.frames.asked) == 4
    assert result.frames.indexes.empty


def test_rows_without_a_page_of_the_base_are_counted_and_users_are_units() -> None:
    result: Any = rb.real_users({"v1": second_page}, **FEW)
    text = str(result.page)
    assert "Of 6 logged questions 1 have no page and 1 a page that the data set does not" in text
    assert "The label is a proxy" in text
    row = result.estimates.set_index("metric").loc["mrr@10"]
    assert (row["n"], row["n_units"]) == (4, 3)
    alone = rb.real_users({"v1": second_page}, cluster_by="none", **FEW)
    assert alone.estimates.set_index("metric").loc["mrr@10", "n_units"] == 4


def test_scores_are_told_by_month_and_words_are_those_that_say_a_subject() -> None:
    result: Any = rb.real_users({"v1": second_page}, **FEW)
    months = result.statement.months.set_index("month")
    assert months["value"].round(9).to_dict() == {"": 3.8, "2026-01": 3.5, "2026-02": 4.0}
    assert months["questions"].to_dict() == {"": 6, "2026-01": 2, "2026-02": 3}
    words = result.statement.words.set_index("word")["questions"]
    assert words["garage"] == 2
    assert words["library"] == 2
    assert words["gym"] == 1
    assert not {"tv", "24", "2025"} & set(words.index)
    # Of one score nobody knows: between 1 and 5.
    ends = months.loc["", ["at_lowest", "at_highest"]].tolist()
    assert ends == pytest.approx([(19 + 1) / 6, (19 + 5) / 6])
    assert len(result.frames.asked) == 4
    assert not {"where", "the", "much", "there", "сколько"} & set(words.index)
    pages = result.statement.pages.set_index("url")
    assert pages.loc["https://x/pool", ["questions", "score"]].tolist() == [2, 3.5]


def test_dates_with_points_have_the_day_first(log: Path) -> None:
    file = log / "history.en.jsonl"
    text = file.read_text(encoding="utf-8")
    for iso, dotted in (("2026-01-03", "03.01.2026 9:05"), ("2026-02-01", "1.2.2026")):
        text = text.replace(iso, dotted)
    file.write_text(text, encoding="utf-8")
    result: Any = rb.real_users({"v1": second_page}, **FEW)
    months = result.statement.months.set_index("month")["questions"].to_dict()
    assert months == {"": 6, "2026-01": 2, "2026-02": 3}


def test_margins_are_those_that_are_given() -> None:
    systems = {"v1": second_page, "v2": second_page}
    margins = {"mrr": 0.1}
    result: Any = rb.real_users(systems, margins=margins, **FEW)
    assert result.request.margins == margins
    request = real_users.retrieval_request(result.request)
    assert request.margins == margins


def test_where_somebody_scores_on_a_wider_scale_it_ends_where_the_scores_do(log: Path) -> None:
    file = log / "history.en.jsonl"
    text = file.read_text(encoding="utf-8").replace('"score": 2', '"score": 0')
    file.write_text(text.replace('"score": 5', '"score": 10'), encoding="utf-8")
    result: Any = rb.real_users({"v1": second_page}, **FEW)
    months = result.statement.months.set_index("month")
    ends = months.loc["", ["at_lowest", "at_highest"]].tolist()
    assert ends == pytest.approx([27 / 6, (27 + 10) / 6])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "rouge1_f"}, "rouge1_f reads no ranking"),
        ({"primary": "ndcg@5", "metrics": "mrr"}, "primary 'ndcg@5' is none of mrr"),
    ],
)
def test_what_cannot_be_measured_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BenchError, match=message):
        rb.real_users({"v1": second_page}, **{**FEW, **options})


def test_a_log_without_a_page_of_the_base_is_refused(log: Path) -> None:
    file = log / "history.en.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("https://x", "https://y"), "utf-8")
    with pytest.raises(BenchError, match="of 6 logged questions none names a page"):
        rb.real_users({"v1": second_page}, **FEW)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (rb.tier1, "no question of log has a relevant passage"),
        (rb.tier2, "no question has a relevant passage"),
        (rb.tier3, "no question has a right answer"),
        (rb.sources, "lacks questions or passages"),
        (rb.real_users, "has no log of users' questions"),
        (rb.ux, "has neither dialogues nor a history"),
        (rb.tier_judge, "has no answers of its own"),
        (rb.tier_judge_pipeline, "has no decisions"),
        (rb.rag_metrics, "has no answers of its own"),
        (partial(rb.rag_metrics, ""), "has no answers of its own"),
        (partial(rb.tier_judge, answers=""), "has no answers of its own"),
    ],
)
def test_what_a_set_of_passages_alone_cannot_be_asked_is_refused(
    log: Path, measure: Any, message: str
) -> None:
    (log / "history.en.jsonl").unlink()
    with pytest.raises(BenchError, match=message):
        measure(**FEW)
