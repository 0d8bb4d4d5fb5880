"""What other tools export, and public sets of questions: each as it is written there, read as what it is."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import data as datasets
from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError
from ragbench.old.data.samples import read_samples
from tests.old.small_project import write_lines, written


def test_messages_beside_a_list_of_right_answers_are_one_question(tmp_path: Path) -> None:
    asked = [{"role": "system", "content": "Be short"}, {"role": "user", "content": "When?"}]
    path = write_lines(tmp_path / "samples.jsonl", [{"input": asked, "ideal": ["8", "8:00"]}] * 1)
    [question] = datasets.foreign_sets.questions(path).questions
    assert (question.text, question.references) == ("When?", ("8", "8:00"))


def test_a_batch_is_joined_by_the_names_that_were_given_to_its_requests(tmp_path: Path) -> None:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "At 8"}}]}
    reply = {"id": "batch_req_1", "custom_id": "q1", "response": {"status_code": 200, "body": body}, "error": None}
    [sample] = read_samples(write_lines(tmp_path / "out.jsonl", [reply]), Forms())
    assert (sample.id, sample.response) == ("q1", "At 8")


def test_an_archive_of_inspect_ai_is_told_how_it_is_written_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(DatasetError, match="inspect log dump FILE"):
        read_samples(tmp_path / "log.eval", Forms())


def test_aliases_of_an_answer_are_references_too(tmp_path: Path) -> None:
    path = tmp_path / "trivia.json"
    answer = {"Value": "8", "Aliases": ["8:00", "eight"]}
    path.write_text(json.dumps({"Data": [{"Question": "When?", "Answer": answer}]}), encoding="utf-8")
    [question] = datasets.foreign_sets.questions(path).questions
    assert (question.reference, question.references) == ("8", ("8", "8:00", "eight"))


EXPORTS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "Bedrock": (
        {"conversationTurns": [{
            "prompt": {"content": [{"text": "When?"}]}, "referenceResponses": [{"content": [{"text": "8"}]}],
            "output": {"text": "At 8", "modelIdentifier": "m", "citations": [], "retrievedPassages": {
                "retrievalResults": [{"name": "d", "content": {"text": "Opens at 8."}, "metadata": {}}]}},
        }]},
        ("When?", "At 8", "8", ["Opens at 8."], "m"),
    ),
    "Bedrock, as a job writes it": (
        {"conversationTurns": [{
            "inputRecord": {"prompt": {"content": [{"text": "When?"}]},
                            "referenceResponses": [{"content": [{"text": "8"}]}]},
            "output": {"text": "At 8", "retrievedPassages": {
                "retrievalResults": [{"content": {"text": "Opens at 8."}, "metadata": {"source": "d"}}]}},
        }]},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "Dify": (
        {"event": "message", "message_id": "m", "conversation_id": "c", "query": "When?", "answer": "At 8",
         "metadata": {"usage": {"prompt_tokens": 9}, "retriever_resources": [
             {"position": 1, "document_name": "d", "segment_id": "s", "score": 0.9, "content": "Opens at 8."}]}},
        ("When?", "At 8", None, ["Opens at 8."], None),
    ),
    "Flowise": (
        {"question": "When?", "text": "At 8", "chatId": "c", "sourceDocuments": [
            {"pageContent": "Opens at 8.", "metadata": {"source": "d"}}]},
        ("When?", "At 8", None, ["Opens at 8."], None),
    ),
    "RAGFlow": (
        {"question": "When?", "answer": "At 8", "reference": {"total": 1, "doc_aggs": [], "chunks": [
            {"chunk_id": "c1", "content_with_weight": "Opens at 8.", "doc_name": "d.pdf", "similarity": 0.8}]}},
        ("When?", "At 8", None, ["Opens at 8."], None),
    ),
    "Azure AI": (
        {"inputs.query": "When?", "inputs.response": "At 8", "inputs.context": "Opens at 8.",
         "inputs.ground_truth": "8", "outputs.groundedness.groundedness": 5, "line_number": 0},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "LangSmith, columns of paths": (
        {"inputs.question": "When?", "outputs.answer": "At 8", "reference.answer": "8", "feedback.correct": 1},
        ("When?", "At 8", "8", None, None),
    ),
    "Weave": (
        {"inputs": {"example": {"question": "When?", "expected": "8"}, "model": "m"},
         "output": {"output": "At 8", "scores": {"match": {"correct": True}}}},
        ("When?", "At 8", "8", None, None),
    ),
    "Weave, columns of paths": (
        {"inputs.example.question": "When?", "output.output": "At 8", "output.scores.match": "true"},
        ("When?", "At 8", None, None, None),
    ),
    "lm-evaluation-harness": (
        {"doc_id": 0, "doc": {"question": "When?", "answer": ["8"]}, "target": "8", "resps": [["At 8 o'clock"]],
         "arguments": {"gen_args_0": {"arg_0": "Q: When?"}}, "filtered_resps": ["At 8"], "exact_match": 0.0},
        ("When?", "At 8", "8", None, None),
    ),
    "OpenAI evals": (
        {"item": {"question": "When?", "expected": "8"}, "sample": {"output_text": "At 8", "model": "m"}},
        ("When?", "At 8", "8", None, "m"),
    ),
    "HELM": (
        {"request_states": [{
            "instance": {"input": {"text": "When?"}, "references": [
                {"output": {"text": "9"}, "tags": []}, {"output": {"text": "8"}, "tags": ["correct"]}]},
            "result": {"success": True, "completions": [{"text": "At 8"}]}}]},
        ("When?", "At 8", "8", None, None),
    ),
    "MT-RAG, the last turn of a history": (
        {"task_id": "c<::>2", "contexts": [{"document_id": "d", "text": "Opens at 8."}],
         "input": [{"speaker": "user", "text": "Hi"}, {"speaker": "agent", "text": "Hello"},
                   {"speaker": "user", "text": "When?"}],
         "targets": [{"speaker": "agent", "text": "8"}], "predictions": [{"text": "At 8"}]},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "Argilla": (
        {"id": "1", "fields": {"question": "When?", "answer": "At 8"}, "responses": {"quality": [{"value": "yes"}]}},
        ("When?", "At 8", None, None, None),
    ),
    "Label Studio": (
        {"id": 1, "data": {"question": "When?", "answer": "At 8"}, "annotations": [{"result": []}]},
        ("When?", "At 8", None, None, None),
    ),
    "promptfoo's CSV": (
        'question,context,[openai:gpt-4] Answer {{question}}\nWhen?,Opens at 8.,[PASS] At 8\n',
        ("When?", "At 8", None, ["Opens at 8."], "openai:gpt-4"),
    ),
    "the log of OpenAI evals": (
        [{"spec": {"eval_name": "e"}}, {"final_report": {"accuracy": 1}},
         {"sample_id": "e.0", "type": "sampling", "data": {
             "prompt": [{"role": "system", "content": "Be short"}, {"role": "user", "content": "When?"}],
             "sampled": ["At 8"]}},
         {"sample_id": "e.0", "type": "match", "data": {"correct": False, "expected": "8", "sampled": "At 8"}}],
        ("When?", "At 8", "8", None, None),
    ),
    "Haystack's answers": (
        {"type": "GeneratedAnswer", "init_parameters": {
            "data": "At 8", "query": "When?", "documents": [{"id": "d", "content": "Opens at 8."}], "meta": {}}},
        ("When?", "At 8", None, ["Opens at 8."], None),
    ),
    "Haystack's evaluation": (
        {"run_name": "r", "results": {"f1": {"score": 1, "individual_scores": [1]}}, "inputs": {
            "questions": ["When?"], "contexts": [["Opens at 8."]], "answers": ["8"], "predicted_answers": ["At 8"]}},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "BERGEN": (
        {"q_id": "1", "question": "When?", "response": "At 8", "label": ["8"], "ranking_label": ["d"],
         "instruction": "Answer: When?"},
        ("When?", "At 8", "8", None, None),
    ),
    "ALCE": (
        {"args": {}, "data": [{"question": "When?", "answer": "8", "output": "At 8", "qa_pairs": None,
                               "docs": [{"id": "d", "title": "A", "text": "Opens at 8."}]}]},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "Phoenix's experiment": (
        {"example_id": "1", "input": {"question": "When?"}, "output": {"answer": "At 8"}, "expected": {"answer": "8"}},
        ("When?", "At 8", "8", None, None),
    ),
    "LangChain's evaluation": (
        {"query": "When?", "answer": "8", "result": "At 8", "results": "CORRECT"}, ("When?", "At 8", "8", None, None)),
    "items of OpenAI evals": (
        {"object": "list", "data": [{
            "id": "o", "datasource_item_id": 0, "datasource_item": {"question": "When?", "correct_answer": "8"},
            "results": [{"name": "m", "sample": None, "passed": True, "score": 1.0}],
            "sample": {"input": [{"role": "user", "content": "When?"}], "model": "m",
                       "output": [{"role": "assistant", "content": "At 8"}]}}]},
        ("When?", "At 8", "8", None, "m"),
    ),
    "EvalScope's reviews": (
        {"index": 0, "input": "When?", "target": "8", "sample_score": {"score": {"prediction": "At 8"}}},
        ("When?", "At 8", "8", None, None),
    ),
    "OpenCompass": (
        {"0": {"origin_prompt": [{"role": "HUMAN", "prompt": "When?"}], "prediction": "At 8", "gold": "8"}},
        ("When?", "At 8", "8", None, None),
    ),
    "Vertex AI": (
        "prompt,reference,response,instruction,context\nAnswer: When?,8,At 8,When?,Opens at 8.\n",
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "Opik's experiment": (
        {"id": "x", "experiment_id": "e", "dataset_item_id": "d",
         "input": {"input": "When?", "context": ["Opens at 8."]},
         "output": {"output": "At 8"}, "dataset_item_data": {"input": "When?", "expected_output": "8"}},
        ("When?", "At 8", "8", ["Opens at 8."], None),
    ),
    "Azure AI, a conversation": (
        {"conversation": {"messages": [
            {"role": "user", "content": "When?"},
            {"role": "assistant", "content": "At 8", "context": "Opens at 8."}]}},
        ("When?", "At 8", None, ["Opens at 8."], None),
    ),
    "Phoenix's experiment, a table": (
        'example_id,input,reference_output,output\ne,"{""question"": ""When?""}","{""answer"": ""8""}",At 8\n',
        ("When?", "At 8", "8", None, None),
    ),
    "a turn a row": ({"user": "When?", "assistant": "At 8", "turn": 1}, ("When?", "At 8", None, None, None)),
    "MLflow, judged": (
        'request,response,expected_response/value,correctness/value\n"{""question"": ""When?""}",At 8,8,yes\n',
        ("When?", "At 8", "8", None, None),
    ),
    "Weave's evaluation": (
        {"id": "c", "op_name": "weave:///p/op/Evaluation.predict_and_score:1", "trace_id": "t", "parent_id": "e",
         "inputs": {"model": "weave:///m", "example": {"question": "When?", "expected": "8"}},
         "output": {"model_output": "At 8", "scores": {"match": True}}},
        ("When?", "At 8", "8", None, None),
    ),
    "lists below their names": ([["question", "answer"], ["When?", "At 8"]], ("When?", "At 8", None, None, None)),
    "one row of objects": (
        {"inputs": {"question": "When?"}, "outputs": {"response": "At 8"}, "expectations": {"expected_response": "8"}},
        ("When?", "At 8", "8", None, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_of_other_tools_are_answers(tmp_path: Path, name: str) -> None:
    content, (asked, answer, reference, contexts, system) = EXPORTS[name]
    ending = "csv" if isinstance(content, str) else "json"
    lines = content if isinstance(content, list) and "spec" in content[0] else [content]
    text = content if isinstance(content, str) else "".join(json.dumps(line) + "\n" for line in lines)
    path = written(tmp_path / f"a.{ending}", text)
    [sample] = read_samples(path, Forms())
    assert (sample.user_input, sample.response, sample.reference, sample.system) == (asked, answer, reference, system)
    assert [chunk.text for chunk in sample.contexts or ()] == (contexts or [])


def test_steps_of_a_trace_are_no_answers_of_their_own(tmp_path: Path) -> None:
    """What the whole was asked and answered is one; its steps are left out, counted, and told who reads them."""
    root = {"id": "a", "span_id": "a", "root_span_id": "a", "input": "When?", "output": "At 8", "expected": "8"}
    step = {"id": "b", "span_id": "b", "root_span_id": "a", "input": "Answer: When?", "output": "At 8"}
    forms = Forms()
    [sample] = read_samples(write_lines(tmp_path / "a.jsonl", [root, step]), forms)
    assert (sample.id, sample.response, sample.reference) == ("a", "At 8", "8")
    assert "1 × row with a step of a trace: `ragbench load traces` reads all of them" in forms.left_out.said


def test_what_quac_cannot_answer_has_no_reference(tmp_path: Path) -> None:
    asked = {"title": "T", "context": "Opens at 8. CANNOTANSWER", "followup": "y", "yesno": "x"}
    rows = [
        {**asked, "id": "a", "question": "When?", "answers": [{"text": "8", "answer_start": 9}]},
        {**asked, "id": "b", "question": "Why?", "answers": [{"text": "CANNOTANSWER", "answer_start": 12}]},
    ]
    path = write_lines(tmp_path / "quac.jsonl", rows)
    assert [sample.reference for sample in read_samples(path)] == ["8", None]
    assert [one.answerable for one in datasets.foreign_sets.questions(path).questions] == [True, False]


@pytest.mark.parametrize("content", ["<html><table></table></html>", '<?xml version="1.0"?><W/>'])
def test_a_page_that_is_called_a_workbook_is_told_to_be_saved_as_one(tmp_path: Path, content: str) -> None:
    with pytest.raises(DatasetError, match=r"a\.xls: a page that is called a workbook; open it in Excel"):
        read_samples(written(tmp_path / "a.xls", content))


def test_public_sets_of_questions_keep_what_is_right(tmp_path: Path) -> None:
    context = [["A", ["Opens at 8."]], ["B", ["No."]]]
    rows: list[tuple[Any, list[str], list[str]]] = [
        ({"question": "When?", "supporting_facts": [["A", 0]], "evidences": [["A", "opens", "8"]], "answer": "8",
          "context": context}, ["8"], ["A Opens at 8."]),
        ({"Data": [{"Question": "When?", "Answer": {"Value": "8", "Aliases": ["8:00"]}, "SearchResults": []}]},
         ["8", "8:00"], []),
        ({"question": "When?", "possible_answers": '["8", "8:00"]'}, ["8", "8:00"], []),
        ({"Question": "When?", "Best Answer": "8", "Correct Answers": "8; 8:00", "Incorrect Answers": "9"},
         ["8", "8:00"], []),
        ({"question": "When?", "answers": ["8"], "ctxs": [{"id": "1", "text": "Opens at 8.", "has_answer": True}]},
         ["8"], []),
        ({"queries": {"q1": "When?"}, "corpus": {"d1": "Opens at 8.", "d2": "No."}, "relevant_docs": {"q1": ["d1"]}},
         [], ["Opens at 8."]),
        ({"input": "When?", "output": [{"answer": "8", "provenance": [{"title": "A"}]}, {"meta": 0}]}, ["8"], []),
        ({"question": "Is it open?", "answer": True, "passage": "Opens at 8."}, ["yes"], ["Opens at 8."]),
        ({"question": "Открыто?", "answer": False, "passage": "Нет."}, ["нет"], ["Нет."]),
        ({"dev": {"-7": {"ambiguous_question": "When?", "annotations": [{"long_answer": "8", "knowledge": []}],
                         "qa_pairs": [{"question": "When on Sunday?", "short_answers": ["9"]}]}}}, ["8"], []),
        ({"q_id": "1", "title": "When?", "answers": {"a_id": ["x", "y"], "text": ["8", "8:00"], "score": [3, 1]}},
         ["8", "8:00"], []),
        ({"Prompt": "When?", "Answer": "8", "reasoning_types": "n", "wiki_links": "['https://a.example']"}, ["8"], []),
        ({"question_text": "When?", "answer_text": "8", "query": "SELECT", "answers": [{"value": "http://w/Q8"}]},
         ["8"], []),
        ({"query": "When?", "answers": {"en": [{"text": "8", "aliases": ["8:00"]}], "ru": []}, "queries": {}},
         ["8", "8:00"], []),
        ({"query": "When?", "answer": [["8"]], "positive": [["Opens at 8."]], "negative": ["No."]},
         ["8"], ["Opens at 8."]),
        ({"question": "When?", "targets": [{"text": "8"}], "Question Type": ["Factoid", "Time"]}, ["8"], []),
    ]  # fmt: skip
    for number, (row, references, relevant) in enumerate(rows):
        brought = datasets.foreign_sets.questions(written(tmp_path / f"{number}.json", json.dumps(row)))
        [question] = brought.questions
        texts = {chunk.id: chunk.text for chunk in brought.chunks}
        given = question.references or ((question.reference,) if question.reference else ())
        assert list(given) == references
        assert question.text in ("When?", "Is it open?", "Открыто?")
        assert [texts[name].removeprefix("A ") for name in question.relevant] == [
            text.removeprefix("A ") for text in relevant
        ]


def test_a_corpus_beside_questions_is_the_base_and_nothing_that_was_retrieved(tmp_path: Path) -> None:
    whole = {"queries": {"q1": "When?"}, "corpus": {"d1": "Opens at 8.", "d2": "No."}, "relevant_docs": {"q1": ["d1"]}}
    path = written(tmp_path / "a.json", json.dumps(whole))
    assert sorted(chunk.id for chunk in datasets.foreign_sets.questions(path).chunks) == ["d1", "d2"]
    [sample] = read_samples(path)
    assert (sample.contexts, [chunk.text for chunk in sample.reference_contexts or ()]) == (None, ["Opens at 8."])


ARENA = [
    {"question_id": "q1", "model_a": "gpt", "model_b": "llama", "winner": "model_a", "judge": "human_1", "turn": 1,
     **{f"conversation_{side}": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": said}]
        for side, said in (("a", "8"), ("b", "9"))}},
    {"id": 1, "model_a": "gpt", "model_b": "llama", "prompt": '["When?"]', "response_a": '["8"]', "response_b": '["9"]',
     "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0},
]  # fmt: skip


@pytest.mark.parametrize("row", ARENA)
def test_pairs_of_an_arena_are_the_answers_of_two_systems(tmp_path: Path, row: dict[str, Any]) -> None:
    samples = read_samples(write_lines(tmp_path / "a.jsonl", [row]), forms := Forms())
    assert [(one.user_input, one.response, one.system) for one in samples] == [
        ("When?", "8", "gpt"), ("When?", "9", "llama"),
    ]  # fmt: skip
    assert "winner" in str(forms.unread)
    assert not forms.left_out.said


def test_multiwoz_2_1_is_a_talk_under_each_name(tmp_path: Path) -> None:
    log = [{"text": text, "metadata": {}} for text in ("When?", "At 8.", "And on Sunday?", "Closed.")]
    talks = {name: {"goal": {"message": ["x"]}, "log": log} for name in ("SNG1.json", "PMUL2.json")}
    (tmp_path / "data.json").write_text(json.dumps(talks), encoding="utf-8")
    made = datasets.foreign_sets.dialogues(tmp_path / "data.json").dialogues
    said = {own.id: [(turn.question, turn.answer) for turn in own.turns] for own in made}
    assert said == {name: [("When?", "At 8."), ("And on Sunday?", "Closed.")] for name in talks}


def test_drop_has_numbers_dates_and_spans_of_a_passage(tmp_path: Path) -> None:
    blank = {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": []}
    right = {
        "3": {**blank, "number": "3"}, "9 June 2007": {**blank, "date": {"day": "9", "month": "June", "year": "2007"}},
        "Lions, Bears": {**blank, "spans": ["Lions", "Bears"]},
    }  # fmt: skip
    pairs = [{"question": f"{said}?", "answer": own, "query_id": said} for said, own in right.items()]
    pairs[0]["validated_answers"] = [{**blank, "number": "3.0"}]
    (tmp_path / "drop.json").write_text(json.dumps({"nfl_1": {"passage": "The Lions won.", "qa_pairs": pairs}}))
    brought = datasets.foreign_sets.questions(tmp_path / "drop.json")
    assert {own.text: own.reference for own in brought.questions} == {f"{said}?": said for said in right}
    assert ("3", "3.0") in [own.references for own in brought.questions]
    [passage] = brought.chunks
    assert passage.text == "The Lions won."
    assert {*brought.questions[0].relevant} == {passage.id}


def test_the_table_of_drop_has_its_answers(tmp_path: Path) -> None:
    row = {"section_id": "n", "query_id": "u", "passage": "The Lions won.", "question": "Who?",
           "answers_spans": {"spans": ["Lions"], "types": ["span"]}}  # fmt: skip
    [question] = datasets.foreign_sets.questions(write_lines(tmp_path / "a.jsonl", [row])).questions
    assert (question.reference, question.cluster) == ("Lions", "n")


def test_whole_pages_of_natural_questions_say_where_their_passages_are(tmp_path: Path) -> None:
    row = {"question_text": "when", "document_text": "<P> At 8 </P>", "annotations": [{}],
           "long_answer_candidates": [{"start_token": 0, "end_token": 4}]}  # fmt: skip
    with pytest.raises(DatasetError, match=r"Natural Questions: it holds whole pages.*BEIR \(nq\)"):
        datasets.foreign_sets.questions(write_lines(tmp_path / "a.jsonl", [row]))
