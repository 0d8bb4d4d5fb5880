"""One vocabulary: what people call the fields of their tables, and what is said of columns that nobody knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core import settings
from ragbench.old.data import DatasetError, foreign_sets
from ragbench.old.data.cells import Forms
from ragbench.old.data.columns import AmbiguousError, Columns
from ragbench.old.data.joined_tables import read_all
from ragbench.old.data.samples import read_samples, samples_of
from ragbench.old.data.vocabulary import FIELDS, FORMATS, RARELY, field_of, key
from tests.old.small_project import write_lines, written

NAMED = {
    "user_input": (
        "question query user_query input_question input_text Question обращение вопрос «Вопрос пользователя» userInput"
    ),
    "response": (
        "answer model_answer bot_answer prediction predicted_answer generated_answer output result actual_output "
        "actualOutput pred_answer gen_answer model_prediction response_text llm_response chatbot_reply Response "
        "modelAnswer ответ «Ответ бота» «ответ модели» "
        "«Ответ чат-бота»"
    ),
    "reference": (
        "gold gold_answer gt_answer ground_truth ground_truths target ideal expected_answer expected_output "
        "expectedOutput golden_answers answers answer_gt response_gold reference_answer correct_answer "
        "Эталон «Эталонный ответ» «Правильный ответ» «ожидаемый ответ»"
    ),
    "contexts": (
        "retrieved_context retrieved_contexts retrievedContexts docs documents Document contents source_documents "
        "passages retrieval_context search_results chunks context_list context_texts "
        "чанки Контекст контексты «Найденные фрагменты» «извлеченные документы»"
    ),
    "reference_contexts": "reference_contexts gold_contexts ground_truth_context relevant_documents oracle_passages",
    "reference_context_ids": "relevant_doc_ids gold_context_ids relevant_ids relevant_chunk_ids",
    "context_ids": "retrieved_doc_ids doc_ids retrieved_context_ids context_ids",
    "id": "id _id qid question_id sample_id query-id ид",
    "system": "system model Model_Name система",
    "rater": "rater annotator annotator_id annotator_name rated_by разметчик «ID асессора» «Кто оценил»",
    "value": "value label rating score human_judgment majority_vote оценка «Итоговая оценка»",
    "shown": "shown should_show gold_show answer_shown «Можно показать» «Показывать ответ»",
    "session": "session_id sessionId thread_id conversation_id",
    "time": "timestamp created_at время",
    "language": "language lang язык",
}  # fmt: skip


ALONE = {
    "shown": "decision visible approved Решение",
    "system": "llm_name model_id experiment_name Конфигурация «Название модели»",
    "user_input": (
        "prompt claim queries original_question customer_query standalone_question «Текст запроса» «Исходный вопрос» "
        "«Реплика пользователя»"
    ),
    "response": (
        "y_pred raw_output sys_answer answer_llm answer_by_rag AnswerText prediction_text candidate decoded "
        "«Предсказанный ответ» «Ответ агента» «Вывод модели» Генерация"
    ),
    "reference": (
        "y_true gold_label canonical_answer standard_answer valid_answers model_solution answer_expected "
        "desired_output «Золотой ответ» «Образец ответа» Референс «Ответ (ожидаемый)» «Допустимые ответы»"
    ),
    "contexts": (
        "top_k_docs reranked_documents docs_retrieved used_context prompt_context retriever_output "
        "Отрывки «Поисковая выдача» «Найденные чанки» «Использованный контекст» «Контекст из базы»"
    ),
}  # fmt: skip
"""Field → names that mean it where nothing with one of its usual names is there."""


def names(words: str) -> list[str]:
    """The names of a line, those of several words in angle quotes."""
    found, rest = [], words
    while "«" in rest:
        before, _, more = rest.partition("«")
        inside, _, rest = more.partition("»")
        found += [*before.split(), inside]
    return [*found, *rest.split()]


@pytest.mark.parametrize(("field", "name"), [(field, name) for field, own in NAMED.items() for name in names(own)])
def test_a_name_that_people_use_is_known(field: str, name: str) -> None:
    assert field_of(name) == field


@pytest.mark.parametrize(("field", "name"), [(field, name) for field, own in ALONE.items() for name in names(own)])
def test_a_name_that_means_a_field_where_no_other_does(field: str, name: str) -> None:
    usual = {"user_input": "q", "response": "a", "reference": "r", "contexts": ["c"], "shown": False, "system": "s"}
    told: Any = {"contexts": ["Where we are, and why."], "shown": True, "system": "gpt"}.get(
        field, "Where we are, and why."
    )
    rest = {own: value for own, value in usual.items() if own != field}
    known = Columns()
    assert known.of({**rest, name: told}, "row")[field] == told
    assert not known.notes()
    assert Columns().of({**usual, name: told}, "row")[field] == usual[field]


def test_a_history_is_a_dialogue_where_nothing_asks() -> None:
    history = [{"role": "user", "content": "When?"}]
    assert Columns().of({"id": 1, "chat_history": history}, "row")["messages"] == history
    for asked in ("question", "prompt"):
        assert "messages" not in Columns().of({asked: "Who?", "chat_history": history}, "row")


def test_a_is_the_answer_unless_it_is_one_of_two() -> None:
    assert [samples_of([{asked: "When?", "A": "At 8"}])[0].response for asked in ("Q", "question")] == ["At 8"] * 2
    forms = Forms()
    [sample] = samples_of([{"question": "When?", "reference": "8", "A": "At 8 it is", "B": "At 9 it is"}], forms=forms)
    assert sample.response is None
    assert forms.told == [
        "not read, as no field is called so: A, B (are these answers of several systems? --column answer=A,B)"
    ]


@pytest.mark.parametrize("cell", [5, "5", ["a.md", "правила.pdf"], True, ["doc-17"], "https://example.com/kb"])
def test_what_counts_or_names_passages_is_none(cell: Any) -> None:
    known = Columns()
    assert "contexts" not in known.of({"question": "q", "background": cell}, "row")
    assert known.notes()[0].startswith("not read, as no field is called so: background")


@pytest.mark.parametrize("cell", ["lecture-7 | 90.0", ["Staff handbook, page 3", "Rules of the pool"]])
def test_a_source_of_few_words_is_a_title_and_no_passage(cell: Any) -> None:
    row = {"question": "When?", "answer": "At 8", "source": cell}
    assert samples_of([row])[0].contexts is None
    assert samples_of([{**row, "source": "The pool opens at 8."}])[0].contexts


def test_names_of_files_with_blanks_are_no_passages_beside_these() -> None:
    row = {
        "question": "When?",
        "answer": "At 8",
        "retrieved_doc1": "Rules of the pool.pdf",
        "retrieved_cont1": "Opens at 8",
    }
    assert [one.text for one in samples_of([row])[0].contexts or ()] == ["Opens at 8"]


def test_an_empty_cell_is_no_id(bare: Path) -> None:
    (bare / "a.csv").write_text("id,question,answer\n,When?,At 8\n,Where?,Here\n")
    assert [one.id for one in read_samples(bare / "a.csv", Forms())] == ["1", "2"]


def test_beside_what_a_model_answered_a_response_may_be_the_judges() -> None:
    row = {"question": "When?", "Model answer": "At 8", "Response": "The candidate is right: yes"}
    with pytest.raises(AmbiguousError, match="--column 'answer=Model answer'"):
        samples_of([row])


def test_where_an_answer_is_from_is_no_right_answer() -> None:
    [sample] = samples_of([{"question": "When?", "expected": {"source": "invented"}}])
    assert sample.reference is None
    [sample] = samples_of([{"question": "When?", "expected": {"time": "At 8"}}])
    assert sample.reference == "At 8"


def test_what_is_expected_and_how_hard_it_is_are_no_systems() -> None:
    forms = Forms()
    row = {"question": "When?", "expected_pages": "3 and 4", "difficulty": "hard", "must_contain": ["8"]}
    samples_of([row], forms=forms)
    assert "several systems" not in forms.told[0]


def test_a_question_with_its_id_that_begins_like_a_total_is_none(bare: Path) -> None:
    (bare / "a.csv").write_text("id,question,answer\n1,Total fees due,Five\n2,сумма поступила,Да\n,Total,2\n")
    forms = Forms()
    assert len(read_samples(bare / "a.csv", forms)) == 2
    assert "1 × row of totals" in forms.left_out.said


def test_snippets_in_russian_are_passages_and_a_person_passes_an_answer() -> None:
    row = {"Вопрос": "Когда?", "Ответ": "В 8", "ИзвлеченныйСниппет": "Открыто с 8 утра.", "human_pass": True}
    [sample] = samples_of([row])
    assert [one.text for one in sample.contexts or ()] == ["Открыто с 8 утра."]
    assert sample.labels == {"people": 1.0}


def test_no_name_is_two_fields() -> None:
    seen: dict[str, str] = {}
    for field, own in FIELDS.items():
        for name in own:
            assert seen.setdefault(key(name), field) == field, name
    assert all(field in FIELDS for field in RARELY)
    rare: dict[str, str] = {}
    for field, own in RARELY.items():
        for name in own:
            assert rare.setdefault(key(name), field) == field, name
    assert {field for one in FORMATS for field in one.takes.values()} <= {*FIELDS, ""}


@given(st.sampled_from([name for own in FIELDS.values() for name in own]), st.sampled_from([" ", "-", "_", "", "."]))
def test_spelling_does_not_tell_two_names_apart(name: str, joint: str) -> None:
    """Case, blanks, hyphens, underscores and humps are no part of a name."""
    field, words = field_of(name), name.split("_")
    assert field_of(joint.join(words)) == field_of(joint.join(words).upper()) == field
    assert field_of(words[0] + "".join(word.capitalize() for word in words[1:])) == field


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "q", "gold_answer": "g", "model_answer": "m"}, ("q", "m", "g")),
        ({"Вопрос": "q", "Эталонный ответ": "g", "Ответ бота": "m"}, ("q", "m", "g")),
        ({"financebench_id": "f", "question": "q", "answer": "g", "model_answer": "m"}, ("q", "m", "g")),
        ({"interaction_id": 1, "query": "q", "answer": "g", "prediction": "m"}, ("q", "m", "g")),
        ({"query": "q", "ans": ["g"], "prediction": "m", "docs": ["d"], "label": [1]}, ("q", "m", "g")),
        ({"question": "q", "golden_answers": ["g"], "output": {"pred": "m", "retrieval_result": []}}, ("q", "m", "g")),
        ({"qid": 1, "query": "q", "generation_gt": ["g"], "generated_texts": "m"}, ("q", "m", "g")),
        (
            {"id": 1, "epoch": 1, "input": "q", "target": "g", "messages": [{"role": "user", "content": "z"}],
             "output": {"model": "x", "completion": "m", "choices": []}},
            ("q", "m", "g"),
        ),
        ({"inputs": {"query": "q"}, "outputs": {"answer": "m"}, "reference_outputs": {"answer": "g"}}, ("q", "m", "g")),
        ({"inputs": {"query": "q"}, "outputs": "m", "expectations": {"expected_response": "g"}}, ("q", "m", "g")),
        ({"User": "q", "Assistant": "m", "gold": "g"}, ("q", "m", "g")),
        ({"q": "q", "bot": "m", "gold": "g"}, ("q", "m", "g")),
        ({"question": "q", "bot": "x", "user": "u", "answer": "m", "gold": "g"}, ("q", "m", "g")),
        ({"input": '{"question": "q"}', "output": '{"answer": "m"}', "expected": "g"}, ("q", "m", "g")),
    ],
)  # fmt: skip
def test_a_known_format_says_which_is_which(row: dict[str, Any], expected: tuple[str, ...]) -> None:
    [sample] = samples_of([row])
    assert (sample.user_input, sample.response, sample.reference) == expected


def test_promptfoo_names_systems_and_pairs_their_rows() -> None:
    row = {"id": "x", "provider": {"id": "gpt"}, "prompt": {"raw": "p"}, "vars": {"query": "q", "context": "c"},
           "response": {"output": "a", "tokenUsage": {}}, "testIdx": 3, "success": True}  # fmt: skip
    found = samples_of([row, {**row, "id": "y", "provider": "llama", "response": {"output": "b"}}])
    assert [(one.id, one.system, one.user_input, one.response) for one in found] == [
        ("3", "gpt", "q", "a"), ("3", "llama", "q", "b"),
    ]  # fmt: skip


def test_repeats_of_inspect_are_samples_that_are_drawn_together() -> None:
    row = {"id": 7, "epoch": 1, "input": "q", "target": "g", "output": {"completion": "a"}, "scores": {}}
    found = samples_of([row, {**row, "epoch": 2, "output": {"completion": "b"}}])
    assert [(one.id, one.cluster, one.response) for one in found] == [("7", "7", "a"), ("7-2", "7", "b")]


def test_deepevals_cells_hold_passages_between_bars() -> None:
    row = {"input": "q", "actual_output": "a", "retrieval_context": "p|r", "context": "s"}
    [sample] = samples_of([row])
    assert [[chunk.text for chunk in part or ()] for part in (sample.contexts, sample.reference_contexts)] == [
        ["p", "r"], ["s"],
    ]  # fmt: skip


def test_a_prompt_beside_a_question_is_no_second_question() -> None:
    [sample] = samples_of([{"question": "q", "prompt": "Answer the question: q", "answer": "a"}])
    assert sample.user_input == "q"
    assert samples_of([{"prompt": "q", "answer": "a"}])[0].user_input == "q"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "q", "answer": "gold", "prediction": "wrong"}, "answer and prediction differ, .* the answer: "
         "say which, --column answer=prediction or --column answer=answer"),
        ({"question": "q", "bot_answer": "a", "model_answer": "b"}, "bot_answer and model_answer differ"),
        ({"question": "q", "query": "r", "answer": "a"}, "question and query differ, .* the question"),
        ({"question": "q", "answer": "a", "gold": "a", "ground_truth": "b"}, "gold and ground_truth differ"),
        ({"question": "q", "answer": "a", "docs": ["a"], "passages": ["b"]}, "docs and passages differ"),
        ({"вопрос": "q", "Ответ бота": "a", "Ответ модели": "b"}, "Ответ бота and Ответ модели differ"),
    ],
)  # fmt: skip
def test_two_columns_of_one_field_are_refused(row: dict[str, Any], said: str) -> None:
    with pytest.raises(AmbiguousError, match=said):
        samples_of([row])


def test_numbered_columns_are_parts_of_one_field_and_two_labels_are_two_people() -> None:
    row = {"question": "q", "answer": "a", "context_1": "b", "Context 2": "c", "context_3": "", "gold_answer_1": "x",
           "gold_answer_2": "y", "human_label": "да", "expert_label": 0}  # fmt: skip
    [sample] = samples_of([row])
    assert [chunk.text for chunk in sample.contexts or ()] == ["b", "c"]
    assert sample.references == ("x", "y")
    assert sample.labels == {"human_label": 1.0, "expert_label": 0.0}


def test_an_answer_that_is_an_object_is_read_whole_where_no_part_of_it_is_called_an_answer() -> None:
    output = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "a"}}]}
    [sample] = samples_of([{"id": 1, "input": "q", "target": "g", "epoch": 1, "output": output, "choices": None}])
    assert (sample.response, sample.system, sample.reference) == ("a", "m", "g")
    message = {"role": "assistant", "content": "a", "id": "chatcmpl-1", "model": "m"}
    [sample] = samples_of([{"question": "q", "answer": message, "contexts": ["c"]}])
    assert (sample.response, sample.id, sample.system) == ("a", "1", None)


SEARCHED = {"interaction_id": 1, "query": "q", "answer": "a", "search_results": [{"page_snippet": "b"}]}
FACTS = {"question": "q", "answer": "a", "context": [["T", ["b ", "c"]], ["U", ["d"]]], "supporting_facts": [["T", 1]]}
MARKED = {"question": "q", "answer": "a", "answer_aliases": [], "paragraphs": [
    {"title": "T", "paragraph_text": "b c", "is_supporting": True},
    {"title": "U", "paragraph_text": "d", "is_supporting": False}]}  # fmt: skip
ASKED_OF_WEB = {"query": "q", "answers": ["a"], "passages": {"is_selected": [1, 0], "passage_text": ["b c", "d"]}}


@pytest.mark.parametrize(
    ("row", "relevant", "all_texts"),
    [
        (SEARCHED, set(), {"b"}),
        ({"question": "q", "reference": "a", "retrieved_contexts": ["b"]}, set(), {"b"}),
        ({"question": "q", "reference": "a", "contexts": ["b"]}, {"b"}, {"b"}),
        (FACTS, {"b c"}, {"b c", "d"}),
        ({**FACTS, "supporting_facts": {"title": ["U"], "sent_id": [0]}}, {"d"}, {"b c", "d"}),
        (MARKED, {"b c"}, {"b c", "d"}),
        (ASKED_OF_WEB, {"b c"}, {"b c", "d"}),
        ({"query": "q", "answer": [["a"]], "positive": ["b"], "negative": ["c"]}, {"b"}, {"b", "c"}),
    ],
    ids=["CRAG", "retrieved", "contexts", "HotpotQA", "HotpotQA of Hugging Face", "MuSiQue", "MS MARCO", "RGB"],
)
def test_what_a_search_found_labels_nothing_and_marks_label_alone(
    tmp_path: Path, row: dict[str, Any], relevant: set[str], all_texts: set[str]
) -> None:
    write_lines(tmp_path / "q.jsonl", [row])
    brought = foreign_sets.questions(tmp_path / "q.jsonl")
    texts = {chunk.id: chunk.text for chunk in brought.chunks}
    assert {*texts.values()} == all_texts
    assert {texts[name] for name in brought.questions[0].relevant} == relevant
    assert brought.questions[0].reference == "a"


NATURAL = {"question": "q", "short_answers": ["a"], "long_answer": "b c", "yes_no_answer": "NONE"}
SUPPORTED = {"id": "1", **MARKED, "answer": "a", "answer_aliases": ["b"]}
PUBLISHED = {
    "Natural Questions": (NATURAL, ("a",), {"b c"}),
    "Natural Questions, yes or no": ({**NATURAL, "short_answers": [], "yes_no_answer": "YES"}, ("YES",), {"b c"}),
    "a short and a long answer": ({"question": "q", "short_answer": "a", "long_answer": "b c"}, ("a",), set()),
    "PubMedQA": ({"pubid": 1, "question": "q", "context": {"contexts": ["b", "c"], "labels": ["x", "y"]},
                  "long_answer": "a", "final_decision": "yes"}, ("a",), {"b", "c"}),
    "FreshQA": ({"question": "q", "effective_year": "2022", "answer_0": "a", "answer_1": "b", "source": "s"},
                ("a", "b"), set()),
    "NarrativeQA": ({"document_id": "d", "question": "q", "answer1": "a", "answer2": "b"}, ("a", "b"), set()),
    "SQuAD, flat": ({"question": "q", "context": "b c", "answer_text": "c", "answer_start": 2}, ("c",), {"b c"}),
    "BoolQ": ({"question": "is it so", "title": "t", "answer": True, "passage": "b"}, ("yes",), {"b"}),
    "TopiOCQA": ({"Conversation_no": 1, "Turn_no": 1, "Question": "q", "Answer": "a", "Rationale": "b", "Context": []},
                 ("a",), {"b"}),
    "of a language model": ({"context": "b", "question": "q", "answer": "a", "source_doc": "hub/a.md"}, ("a",), {"b"}),
    "a passage and its file": ({"question": "q", "ground_truth": "a", "source_chunk": "b c", "source_doc": "a.md"},
                               ("a",), {"b c"}),
    "MuSiQue": (SUPPORTED, ("a", "b"), {"b c"}),
    "ASQA": ({"ambiguous_question": "q", "qa_pairs": [], "wikipages": [],
              "annotations": [{"knowledge": [], "long_answer": "a"}]}, ("a",), set()),
    "LegalBench-RAG": ({"query": "q", "snippets": [{"file_path": "a.txt", "span": [0, 3], "answer": "b c"}]},
                       (), {"b c"}),
    "a number as the label": ({"question": "q", "gold_chunk_id": 7, "chunks": [{"id": 7, "text": "a"}]}, (), {"a"}),
    "tests of promptfoo": ({"vars": {"question": "q"}, "assert": [{"type": "contains", "value": "a"}]}, (), set()),
}  # fmt: skip
LAYOUTS = {
    "rows": lambda row: ("q.json", json.dumps([row, row])),
    "columns": lambda row: ("q.json", json.dumps({name: [value] * 2 for name, value in row.items()})),
    "pandas": lambda row: ("q.json", json.dumps({name: {"0": own, "1": own} for name, own in row.items()})),
    "cells": lambda row: ("q.csv", pd.DataFrame([
        {name: json.dumps(own) if isinstance(own, list | dict) else own for name, own in row.items()}
    ]).to_csv(index=False)),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sets_have_their_references_and_labels(tmp_path: Path, name: str, layout: str) -> None:
    row, references, relevant = PUBLISHED[name]
    if layout in ("columns", "pandas") and name == "tests of promptfoo":
        pytest.skip("nothing in its columns tells them")
    file, text = LAYOUTS[layout](row)
    brought = foreign_sets.questions(written(tmp_path / file, text))
    texts = {chunk.id: chunk.text for chunk in brought.chunks}
    [question] = brought.questions
    assert (question.references or ((question.reference,) if question.reference else ())) == references
    assert {texts[name] for name in question.relevant if name in texts} == relevant


def test_what_the_passages_do_not_answer_has_no_answer_and_no_labels(tmp_path: Path) -> None:
    none = {**ASKED_OF_WEB, "answers": ["No Answer Present."], "passages": {"is_selected": [0], "passage_text": ["d"]}}
    write_lines(tmp_path / "q.jsonl", [none])
    [question] = foreign_sets.questions(tmp_path / "q.jsonl").questions
    assert (question.reference, question.answerable, question.relevant) == (None, False, {})


def test_papers_of_Qasper_are_no_questions(tmp_path: Path) -> None:
    write_lines(tmp_path / "q.jsonl", [{"id": "1", "title": "t", "abstract": "a", "full_text": {}, "qas": {}}])
    with pytest.raises(DatasetError, match="its rows are papers: write a row a question"):
        foreign_sets.questions(tmp_path / "q.jsonl")


def test_a_column_that_is_not_read_is_named_once_with_a_guess(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"question": "q", "the_bots_answer": "a", "expected": "e", "mood": 1}] * 3)
    forms = Forms()
    read_samples(tmp_path / "a.jsonl", forms)
    assert forms.unread == [
        "not read, as no field is called so: the_bots_answer, mood "
        "(is the_bots_answer the answer? --column answer=the_bots_answer)"
    ]
    [sample, *_] = read_samples(tmp_path / "a.jsonl", columns={"answer": "the_bots_answer"})
    assert (sample.response, sample.reference) == ("a", "e")


def test_what_no_table_has_is_said_with_what_it_has(tmp_path: Path) -> None:
    write_lines(tmp_path / "q.jsonl", [{"question_id": 1, "text": "How do I renew?", "category": "generic"}])
    with pytest.raises(DatasetError, match=r"none of its columns \(question_id, text, category\) .*"
                                           r"is text the question\? --column question=text"):  # fmt: skip
        read_samples(tmp_path / "q.jsonl")


class TestColumnsByTheUser:
    def test_every_reader_heeds_them(self, tmp_path: Path) -> None:
        asked = {"question": "frage", "reference": "soll", "reference_contexts": "stelle"}
        write_lines(tmp_path / "q.jsonl", [{"frage": "q", "soll": "g", "stelle": ["p"]}])
        brought = foreign_sets.questions(tmp_path / "q.jsonl", columns=asked)
        assert [(one.text, one.reference) for one in brought.questions] == [("q", "g")]
        assert len(brought.questions[0].relevant) == len(brought.chunks) == 1
        write_lines(tmp_path / "d.jsonl", [{"talk": [{"role": "user", "content": "q"}]}])
        [dialogue] = foreign_sets.dialogues(tmp_path / "d.jsonl", columns={"messages": "talk"}).dialogues
        assert [turn.question for turn in dialogue.turns] == ["q"]
        write_lines(tmp_path / "s.jsonl", [{"frage": "q", "said": "a", "ok": "да"}])
        columns = {"question": "frage", "answer": "said", "shown": "ok"}
        [decision] = foreign_sets.decisions(tmp_path / "s.jsonl", columns=columns).decisions
        assert (decision.question, decision.answer, decision.show) == ("q", "a", True)

    def test_of_ragbench_toml_they_hold_where_the_column_is_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "ragbench.toml").write_text('[columns]\nanswer = "reply_42"\n', encoding="utf-8")
        monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
        settings.load.cache_clear()
        assert samples_of([{"question": "q", "reply_42": "a"}])[0].response == "a"
        assert samples_of([{"question": "q", "answer": "b"}])[0].response == "b"
        with pytest.raises(DatasetError, match="there is no column 'no_such'"):
            samples_of([{"question": "q", "reply_42": "a"}], columns={"answer": "no_such"})
        monkeypatch.undo()
        settings.load.cache_clear()

    def test_a_column_may_have_a_comma_in_its_name(self) -> None:
        [one] = samples_of([{"question": "q", "Reply, in full": "a"}], columns={"answer": "Reply, in full"})
        assert one.response == "a"

    def test_several_columns_are_several_systems(self) -> None:
        row = {"question": "q", "GPT-4": "a", "Claude": "b", "gold": "a"}
        found = samples_of([row], columns={"answer": "GPT-4, Claude"})
        assert [(one.system, one.response, one.id) for one in found] == [("GPT-4", "a", "1"), ("Claude", "b", "1")]


class TestSeveralSystems:
    @pytest.mark.parametrize(
        "row",
        [
            {"question": "q", "gold": "g", "alpha_answer": "a", "beta_answer": "b"},
            {"question": "q", "gold": "g", "answer_alpha": "a", "answer_beta": "b"},
            {"question": "q", "gold": "g", "response alpha": "a", "response beta": "b"},
            {"Вопрос": "q", "Эталон": "g", "Ответ alpha": "a", "Ответ beta": "b"},
        ],
    )
    def test_a_wide_table_has_one_a_column(self, row: dict[str, Any]) -> None:
        found = samples_of([row, {**row, next(iter(row)): "r"}])
        assert [(one.system, one.response, one.id) for one in found] == [
            ("alpha", "a", "1"), ("beta", "b", "1"), ("alpha", "a", "2"), ("beta", "b", "2"),
        ]  # fmt: skip

    def test_their_numbers_may_follow_at_once(self) -> None:
        found = samples_of([{"question": "q", "answer1": "at 8", "answer2": "at 9"}])
        assert [(one.system, one.response) for one in found] == [("1", "at 8"), ("2", "at 9")]

    @pytest.mark.parametrize("first", [{"a_answer": "8", "b_answer": "9"}, {"a_answer": None, "b_answer": "9"}])
    def test_answers_that_are_numbers_or_missing_are_of_a_wide_table_like_others(self, first: dict[str, Any]) -> None:
        rows = [
            {"question": "q", "gold": "8", **first},
            {"question": "r", "gold": "g", "a_answer": "x", "b_answer": "y"},
        ]
        assert [(one.system, one.response) for one in samples_of(rows)] == [
            ("a", first["a_answer"]), ("b", "9"), ("a", "x"), ("b", "y"),
        ]  # fmt: skip

    def test_columns_of_marks_are_no_answers(self) -> None:
        [one] = samples_of([{"question": "q", "gold": "8", "answer_relevancy": 0.5, "answer_correctness": 1}])
        assert (one.system, one.response) == (None, None)

    def test_a_wide_table_may_have_passages_of_each(self) -> None:
        row = {"question": "q", "a_answer": "x", "a_contexts": ["p"], "b_answer": "y", "b_contexts": ["r"]}
        assert [[chunk.text for chunk in one.contexts or ()] for one in samples_of([row])] == [["p"], ["r"]]

    def test_numbers_beside_an_answer_are_no_systems(self) -> None:
        [one] = samples_of([{"question": "q", "answer": "a", "answer_length": 4, "answer_relevancy": 0.5}])
        assert one.system is None

    def test_several_files_have_one_each(self, tmp_path: Path) -> None:
        for name, said in (("v1", "x"), ("v2", "y")):
            write_lines(tmp_path / f"{name}.jsonl", [{"question": "q", "answer": said}])
        found = read_all([tmp_path / "v1.jsonl", tmp_path / "v2.jsonl"])
        assert [(one.system, one.id, one.response) for one in found] == [("v1", "1", "x"), ("v2", "1", "y")]


class TestOneOddRow:
    def test_it_is_left_out_counted_and_named(self, tmp_path: Path) -> None:
        rows: list[Any] = [{"question": "a", "answer": "b", "contexts": ["c"]}, {"question": "a", "answer": ["x", "y"]},
                           {"question": "d", "answer": "e", "contexts": 7}, 5]  # fmt: skip
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n{broken", encoding="utf-8")
        forms = Forms()
        assert [one.user_input for one in read_samples(tmp_path / "a.jsonl", forms)] == ["a"]
        assert dict(forms.left_out.told) == {
            "row with response: a text is expected, found a list (first: a.jsonl, line 2)": 1,
            "row with contexts: a list of texts is expected (first: a.jsonl, line 3, contexts = 7)": 1,
            "a whole number where an object is expected (first: a.jsonl, line 4)": 1,
            "line that is not JSON (first: a.jsonl, line 5)": 1,
        }

    def test_a_file_of_which_nothing_can_be_used_is_refused_with_the_reasons(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "a.jsonl", [{"answer": ["x", "y"]}, {"answer": ["z", "y"]}])
        with pytest.raises(DatasetError, match=r"a\.jsonl: no row can be used: 2 × row with response: a text"):
            read_samples(tmp_path / "a.jsonl", Forms())

    def test_passages_without_a_text_are_left_out_and_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("question,answer,contexts\nq,a,\"[None, 'p', '']\"\nr,b,['s']\n", encoding="utf-8")
        forms = Forms()
        assert [[chunk.text for chunk in one.contexts or ()] for one in read_samples(path, forms)] == [["p"], ["s"]]
        assert dict(forms.left_out.told) == {"passage without a text in contexts (first: a.csv, line 2)": 2}

    def test_ids_go_with_the_passages_that_stay(self) -> None:
        [one] = samples_of([{"contexts": ["p", None, "r"], "context_ids": ["1", "2", "3"]}])
        assert [(chunk.id, chunk.text) for chunk in one.contexts or ()] == [("1", "p"), ("3", "r")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "samples = None: a data frame, a list of mappings or a mapping of lists is expected"),
        ([], "samples: no rows; at least one answer is expected"),
        ("nowhere.csv", "samples = 'nowhere.csv': there is no such file; answers are expected"),
        (5, "samples = 5: a data frame, a list of mappings or a mapping of lists is expected"),
    ],
)
def test_what_is_no_table_at_all_gets_one_sentence(given: Any, said: str) -> None:
    with pytest.raises(DatasetError) as error:
        samples_of(given)
    assert str(error.value).startswith(said)


def test_a_path_is_a_table(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"question": "q", "answer": "a"}])
    assert samples_of(tmp_path / "a.jsonl") == samples_of(str(tmp_path / "a.jsonl")) == samples_of(
        [{"question": "q", "answer": "a"}]
    )  # fmt: skip


def test_columns_are_told_as_they_are_read() -> None:
    known = Columns()
    known.of({"question": "q", "bot_answer": "a", "gold": "g", "x": 1}, "here")
    assert known.read == {"user_input": "question", "response": "bot_answer", "reference": "gold"}
    assert list(known.unread) == ["x"]


def test_what_pandas_writes_for_nothing_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,answer,contexts,reference\nWhen?,At 8,nan,NaN\n", encoding="utf-8")
    [sample] = read_samples(path)
    assert (sample.response, sample.contexts, sample.reference) == ("At 8", None, None)


def test_columns_that_name_no_field_are_told() -> None:
    with pytest.raises(AmbiguousError, match=r"columns = .*answer.*: fields with their columns are expected"):
        samples_of([{"question": "When?", "answer": "At 8"}], columns=["answer"])  # type: ignore[arg-type]


def test_a_column_that_is_named_as_it_stands_is_meant_before_one_of_nearly_its_name() -> None:
    [sample] = samples_of([{"question": "When?", "Answer": "At 7", "answer": "At 8"}], columns={"answer": "answer"})
    assert sample.response == "At 8"


def test_what_a_system_says_of_itself_is_no_label_and_what_people_say_of_a_row_is() -> None:
    row = {"inputs.question": "When?", "outputs.answer": "At 8"}
    assert [samples_of([row | {name: 1}])[0].labels for name in ("outputs.rating", "inputs.rating")] == [
        None, {"people": 1.0},
    ]  # fmt: skip


def test_who_rates_is_not_guessed_to_be_the_rating(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("question,answer,annotator\nWhen?,At 8,Ann\n", encoding="utf-8")
    read_samples(tmp_path / "a.csv", forms := Forms())
    assert forms.told == ["not read, as no field is called so: annotator"]
