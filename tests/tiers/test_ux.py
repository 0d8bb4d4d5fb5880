"""The page of dialogues and the cache by its front: lists in, an embedder with known vectors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError

ROOT = Path(__file__).parents[2]
FEW = {"draws": 200}
# Angles in degrees: the cosine of two texts is that of the angle between them.
ANGLES = {"pool": 0, "the pool?": 10, "gym": 60, "library": 90, "at 9": 0, "at 10": 60, "at 11": 90}


def embed(texts: list[str]) -> np.ndarray:
    """Vectors with known angles."""
    radians = np.radians([ANGLES[text] for text in texts])
    return np.column_stack([np.cos(radians), np.sin(radians)])


DIALOGUES = [
    [("pool", "at 9"), ("gym", "at 10"), ("library", "at 11")],
    [("the pool?", "at 9"), ("gym", "at 10")],
    [{"question": "library"}],
]
HISTORY = [
    {"id": "h1", "question": "pool", "answer": "at 9", "score": 5, "url": "/pool"},
    {"id": "h2", "question": "library", "answer": "at 11", "score": 1, "url": "/library"},
    {"id": "h3", "question": "the pool?", "answer": "at 9", "score": 2, "url": "/pool"},
]


def values(result: Any) -> dict[str, float]:
    """The values of the only embedder by metric."""
    return result.estimates.set_index("metric")["value"].to_dict()


def cosine(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


def test_dialogues_hold_together_by_the_cosines_of_neighbours() -> None:
    result = rb.ux(DIALOGUES, HISTORY, embed, **FEW)
    value = values(result)
    first, second = (cosine(60) + cosine(30)) / 2, cosine(50)
    assert value["context_preservation"] == pytest.approx((first + second) / 2)
    assert value["multi_turn_consistency"] == value["context_preservation"]
    answers = (cosine(60) + cosine(30)) / 2, cosine(60)
    assert value["answer_consistency"] == pytest.approx(sum(answers) / 2)
    rows = result.estimates.set_index("metric")
    assert rows.loc["context_preservation", ["n", "n_unmeasured"]].tolist() == [2, 1]
    gaps = result.scores[result.scores["value"].isna()]
    assert set(gaps["reason"]) == {"fewer than two questions", "fewer than two answers"}


def test_the_finding_is_of_neighbouring_questions_and_of_both_rates() -> None:
    result = rb.ux(DIALOGUES, HISTORY, embed, **FEW)
    text = str(result.summary[0])
    # 0.663: the mean of cosines of 50 degrees, and of 60 and 30.
    assert text.count("a cosine of") == 1
    assert "Neighbouring questions have a cosine of 0.663" in text
    assert "of questions in dialogues (n = 6) a cache of liked answers (n = 1) would serve" in text


def test_a_cache_answers_above_its_threshold_and_is_judged_by_known_answers() -> None:
    result = rb.ux(DIALOGUES, HISTORY, embed, **FEW)
    # In the cache is h1 alone: "pool" and "the pool?" are near it, of six questions asked.
    assert values(result)["cache_hit_rate"] == 2 / 6
    assert result.request.primary == "cache_hit_rate"
    assert values(result)["wrong_hit_rate"] == 0.0
    caches = result.statement.caches.set_index(["asked", "metric"])["value"]
    # Past questions: h1 does not find itself; h3 does, with the answer that its user disliked.
    assert caches["history", "cache_hit_rate"] == 1 / 3
    assert caches["history", "wrong_hit_rate"] == 1 / 3
    strict = rb.ux(DIALOGUES, HISTORY, embed, threshold=cosine(10), **FEW)
    assert values(strict)["cache_hit_rate"] == 1 / 6, "a cosine that is the threshold is no hit"


def test_wrong_hits_are_a_part_of_the_hits_in_value_and_interval() -> None:
    wide = [{**row, "id": f"{n}{row['id']}"} for n in range(20) for row in HISTORY]
    result = rb.ux(DIALOGUES, wide, embed, **FEW)
    for _, pair in result.statement.caches.groupby(["system", "asked"]):
        hits, wrong = (
            pair.set_index("metric").loc[["cache_hit_rate", "wrong_hit_rate"]].itertuples()
        )
        assert not wrong.value > hits.value
        assert not wrong.high > hits.high


def test_a_hit_of_which_nobody_knows_is_a_hit_and_an_unmeasured_wrong_one() -> None:
    history = [{"question": "pool", "answer": "open", "score": 5}]
    result = rb.ux([["the pool?"], ["gym"]], history, embed, **FEW)
    rows = result.estimates.set_index("metric")
    assert rows.at["cache_hit_rate", "value"] == 0.5
    assert rows.loc["wrong_hit_rate", ["n", "n_unmeasured"]].tolist() == [0, 2]
    assert "an unknown share" in str(result.summary[0])


def test_without_a_cache_only_dialogues_are_measured() -> None:
    result = rb.ux(DIALOGUES, embedder=embed, **FEW)
    assert list(values(result)) == [
        "context_preservation",
        "multi_turn_consistency",
        "answer_consistency",
    ]
    assert result.figure is None
    assert "neighbouring questions" in str(result.page)


def test_sessions_of_a_history_are_what_one_user_asked_on_a_day() -> None:
    history = pd.DataFrame(
        {
            "question": ["pool", "the pool?", "gym", "library"],
            "answer": ["at 9", "at 9", "at 10", "at 11"],
            "score": [5, 5, 5, 4],
            "user": ["ann", "ann", "ann", "ben"],
            "asked_at": ["2025-01-01", "2025-01-01T09:00", "2025-01-02", "2025-01-02"],
        }
    )
    result = rb.ux(history=history, embedder=embed, **FEW)
    assert len(result.frames.questions) == 3
    assert result.frames.turns["turn"].tolist() == [1, 2, 1, 1]
    assert rb.ux(DIALOGUES, history, embed, **FEW).request.sessions == "dialogues"
    told = rb.ux(DIALOGUES, history, embed, sessions="history", **FEW)
    assert told.frames.turns["question"].tolist() == ["pool", "the pool?", "gym", "library"]
    assert values(result)["context_preservation"] == pytest.approx(cosine(10))
    assert values(result)["cache_hit_rate"] == 3 / 4, "gym does not find itself"
    units = result.statement.caches.set_index("metric")["n_units"]
    assert units["cache_hit_rate"] == 2


def test_times_are_in_order_as_people_write_them() -> None:
    rows = {"question": ["gym", "the pool?", "pool"], "answer": "at 9", "score": 5, "user": "ann"}
    for day in ("01.09.2025", "2025-09-01"):
        times = [f"{day} 11:00", f"{day} 10:05", f"{day} 9:05"]
        result = rb.ux(history=pd.DataFrame({**rows, "asked_at": times}), embedder=embed, **FEW)
        assert result.frames.turns["question"].tolist() == ["pool", "the pool?", "gym"]
        assert len(result.frames.questions) == 1
    times = ["1 Oct 2025 9:00", "1 Sep 2025 10:00", "1 Sep 2025 11:00"]
    result = rb.ux(history=pd.DataFrame({**rows, "asked_at": times}), embedder=embed, **FEW)
    assert len(result.frames.questions) == 2


def test_past_questions_and_others_may_have_the_same_ids(tmp_path: Path) -> None:
    past = {"answer": "at 9", "score": 5, "user": "ann", "asked_at": "2025"}
    rows = {
        "passages": [{"id": "p", "text": "library"}],
        "questions": [{"id": "1", "question": "gym"}],
        "history": [{**past, "id": n, "question": "pool"} for n in "12"],
    }
    for name, of_file in rows.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, of_file)))
    result = rb.ux(dataset=str(tmp_path), embedder=embed, **FEW)
    page = result.page.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "1. pool" in page


def test_a_frame_with_a_row_a_turn_is_read_as_dialogues() -> None:
    frame = pd.DataFrame({"dialogue_id": ["x", "x", "y"], "question": ["pool", "gym", "library"]})
    result = rb.ux(frame, embedder=embed, **FEW)
    assert values(result)["context_preservation"] == pytest.approx(0.5)
    assert result.frames.questions["question_id"].tolist() == ["x", "y"]
    turns = [{"question": "pool"}, {"question": "gym"}]
    rows = [{"id": "x", "turns": turns}, {"id": "y", "turns": turns[:1]}]
    assert values(rb.ux(rows, embedder=embed, **FEW)) == pytest.approx(values(result), nan_ok=True)


def test_turns_are_in_the_order_of_their_numbers() -> None:
    rows = [("x", 2, "gym"), ("y", 1, "library"), ("x", 3, "library"), ("x", 1, "pool")]
    frame = pd.DataFrame(rows, columns=["dialogue_id", "turn", "question"])
    expected = values(rb.ux([["pool", "gym", "library"], ["library"]], embedder=embed, **FEW))
    assert values(rb.ux(frame, embedder=embed, **FEW)) == pytest.approx(expected, nan_ok=True)
    texts = pd.DataFrame({"turn": [str(n) for n in range(1, 12)]})
    told = texts.assign(dialogue_id="x", question=["pool", "gym"] * 5 + ["library"])
    asked = rb.ux(told, embedder=embed, **FEW).frames.turns["question"].tolist()
    assert asked == told["question"].tolist(), "numbers that are texts stay as they are"
    folder = Path("data/desk")
    folder.mkdir(parents=True)
    told = frame.assign(answer="", relevant=[{}] * 4)
    told.to_json(folder / "dialogues.jsonl", orient="records", lines=True)
    found = rb.ux(dataset="desk", embedder=embed, **FEW)
    assert values(found) == pytest.approx(expected, nan_ok=True)
    assert found.frames.turns["question"].tolist() == ["pool", "gym", "library", "library"]


def test_answers_are_right_on_the_best_page_and_where_their_user_liked_them() -> None:
    folder = Path("data/desk")
    folder.mkdir(parents=True)
    passages = [
        {"id": "a", "text": "at 9", "url": "/pool"},
        {"id": "b", "text": "at 10", "url": "/gym"},
        {"id": "c", "text": "at 11"},
    ]
    questions = [
        {"id": "q1", "question": "the pool?", "relevant": {"a": 3, "b": 1}},
        {"id": "q2", "question": "pool", "relevant": {"a": 1, "b": 3}},
        {"id": "q3", "question": "pool", "answerable": False},
        {"id": "q4", "question": "pool"},
        {"id": "q5", "question": "pool", "relevant": "c"},
    ]
    past = [("pool", "at 9", 5), ("the pool?", "at 9", 4), ("pool", "at 9", 3), ("pool", "at 9", 2)]
    history = [
        {"id": f"h{n}", "question": question, "answer": answer, "score": score, "url": "/pool"}
        for n, (question, answer, score) in enumerate(past)
    ]
    given = {"chunks": passages, "questions": questions, "history": history}
    given["dialogues"] = [{"id": "d", "turns": [{"question": "gym"}]}]
    for name, rows in given.items():
        lines = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.en.jsonl").write_text(lines, encoding="utf-8")
    result: Any = rb.ux(embedder=embed, dataset="desk", **FEW)
    wrong = result.frames.lookups.set_index("question_id")["is_wrong"]
    # On the page of the best grade; on that of a lower one; there is none; nobody knows.
    assert wrong[["q1", "q2", "q3"]].tolist() == [0, 1, 1]
    assert math.isnan(wrong["q4"])
    assert math.isnan(wrong["q5"])  # of a passage without a page
    assert (wrong["h1"], wrong["h3"]) == (0, 1)
    assert math.isnan(wrong["h2"])
    curve = result.statement.curve["threshold"].unique()
    assert curve.tolist() == pytest.approx([0.5 + place / 50 for place in range(26)])


def test_the_page_lists_every_dialogue_with_its_turns_and_nearest_cached_questions() -> None:
    result = rb.ux(DIALOGUES, HISTORY, embed, **FEW)
    page = result.page.save(Path("page.html")).read_text(encoding="utf-8")
    assert "1. pool" in page
    assert "served from the cache" in page
    assert "The closest cached question of every question" in page


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"dialogues": [["pool"]]}, {"thresold": 0.9}, "did you mean 'threshold'"),
        ({"dialogues": [["pool"]]}, {"threshold": 2}, "threshold"),
        ({"dialogues": [[""]]}, {}, "no question"),
        ({"history": HISTORY}, {}, "nor a history with user and asked_at"),
    ],
)
def test_what_could_be_misread_is_refused(given: Any, options: Any, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        rb.ux(**given, embedder=embed, **options)


@pytest.mark.parametrize("option", ["systems", "baseline", "metrics", "primary", "slice_by"])
def test_options_of_tiers_that_ask_systems_are_refused(option: str) -> None:
    for measure in (rb.ux, rb.tier_judge, rb.tier0, rb.dataset):
        with pytest.raises(BenchError, match=option):
            measure(**{option: "bm25"})
