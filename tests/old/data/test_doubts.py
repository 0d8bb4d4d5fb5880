"""What makes a data set's numbers doubtful is counted, said by `load`, and stands on the pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragbench.old import data, tiers, views
from ragbench.old.core.language import translator
from ragbench.old.data import ChunkRecord, QuestionRecord, doubts_of
from ragbench.old.views import Page
from ragbench.old.views.sentences.data_sets import doubts
from tests.old.small_project import CHUNKS, write_lines

BASE = [
    ChunkRecord(id="1", text="Где  находится\nКАФЕДРА №1?", url="/a"),
    ChunkRecord(id="2", text="Кафедра на втором этаже.", url="/a"),
    ChunkRecord(id="3", text="кафедра на втором этаже.", url="/b"),
    ChunkRecord(id="4", text="Столовая закрыта.", url="/c"),
]


def asked(text: str, *relevant: str, urls: tuple[str, ...] = ()) -> QuestionRecord:
    labels = dict.fromkeys(relevant, 1.0)
    return QuestionRecord(id="q", text=text, relevant=labels, relevant_urls=dict.fromkeys(urls, 1.0))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (asked("где находится кафедра No1?", "1"), {"question_is_passage": 1}),
        (asked("Где находится кафедра №1?", urls=("/a",)), {"question_is_passage": 1}),
        (asked("Где находится кафедра №1?", "4"), {}),
        (asked("Где кафедра?", "2"), {"passage_copied": 1}),
        (asked("Где кафедра?", "2", "3"), {"passage_copied": 1}),
        (asked("Где столовая?", "4", "9", urls=("/gone", "/c")), {"labels_nowhere": 2}),
        (asked("Где находится кафедра №1?"), {}),
        (asked("Где столовая?", "4"), {}),
    ],
)
def test_what_is_doubtful_is_counted(question: QuestionRecord, expected: dict[str, int]) -> None:
    found = doubts_of(BASE, [question])
    assert {name: count for name, count in found.items() if name not in ("labelled", "labels")} == expected
    if expected:
        assert found["labels"] == len(question.relevant) + len(question.relevant_urls)
        assert found["labelled"] == 1


def test_a_sentence_for_each_kind_with_its_share() -> None:
    found = {"question_is_passage": 2, "passage_copied": 1, "labels_nowhere": 3, "labelled": 40, "labels": 55}
    one, other, third = doubts(found, translator("en"))
    assert one.startswith("2 of 40 labelled questions are word for word their own relevant passages")
    assert other.startswith(
        "1 of 40 labelled questions has a relevant passage whose text the base holds more than once"
    )
    assert third.startswith("3 of 55 labels name passages or pages that the base does not have")
    assert doubts(found, translator("ru"))[2].startswith(
        "Меток, которые указывают на фрагмент или страницу, которых в базе нет: 3 из 55."
    )
    assert not doubts({}, translator("en"))


def test_the_page_warns_in_its_method(project: Path) -> None:
    questions = [
        {"id": "q1", "text": "TEXT of  a1.", "relevant": {"a1": 1}},
        {"id": "q2", "text": "What of b1?", "relevant": {"b1": 1}, "relevant_urls": {"/nowhere": 1}},
    ]
    write_lines(project / "data" / "small" / "questions.en.jsonl", questions)
    made = tiers.tier1_retrieval(systems="good", metrics="hit_rate@1", repeats=1, timed_questions=0, resamples=100)
    assert made.facts["doubts"] == {"question_is_passage": 1, "labels_nowhere": 1, "labelled": 2, "labels": 3}
    said = views.about.method(Page(made)).html().striptags()
    assert "1 of 2 labelled questions is word for word its own relevant passage" in said
    assert "1 of 3 labels names a passage or a page that the base does not have" in said
    assert "doubts" not in views.about.provenance(Page(made)).html().striptags()
    clean = replace(made, facts={**made.facts, "doubts": {}})
    assert "word for word" not in views.about.method(Page(clean)).html().striptags()


def test_the_last_tier_and_the_log_warn_too(project: Path) -> None:
    write_lines(project / "data" / "small" / "chunks.en.jsonl", [
        {"id": name, "text": "Text of a1." if name == "b1" else f"Text of {name}.", "url": url}
        for name, url in CHUNKS.items()
    ])  # fmt: skip
    write_lines(project / "data" / "small" / "history.en.jsonl", [{"id": "h", "question": "Text of d1.", "url": "/d"}])
    write_lines(project / "good.jsonl", [{"id": "h", "retrieved": ["d1"]}])
    users = tiers.real_users(systems="good", resamples=100)
    assert users.facts["doubts"] == {"question_is_passage": 1, "labelled": 1, "labels": 1}
    last = tiers.tier3_end_to_end(
        systems="ngrams", metrics="rougeL_f", resamples=100, timed_questions=0, perfect_parts=False
    )
    assert last.facts["doubts"] == {"passage_copied": 2, "labelled": 3, "labels": 4}


def test_what_was_left_out_stays_with_the_data_set(tmp_path: Path) -> None:
    about = {"title": "t", "licence": "CC0", "source": "s", "language": "ru"}
    left_out = {'label of "a" chunk': 2}
    data.write("desk", tmp_path, **about, chunks=BASE, questions=[asked("Где?", "4")], left_out=left_out)
    made = data.load("desk", tmp_path)
    assert made.left_out == left_out
    data.write("bare", tmp_path, **about, chunks=BASE, questions=[asked("Где?", "4")])
    plain = data.load("bare", tmp_path)
    assert (plain.left_out, plain.content_hash) == ({}, made.content_hash)
