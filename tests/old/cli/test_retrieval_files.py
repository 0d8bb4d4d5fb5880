"""What `ragbench init` makes of runs, judgements, and sets for retrieval, as their tools write them."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from ragbench.old.cli.beginnings import Beginning
from ragbench.old.data import documents
from ragbench.old.data.brought import Brought
from tests.old.small_project import write_lines

JUDGED = "q0 0 d0 1\nq1 0 d1 1\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("res.csv", "qid,docid,docno,rank,score,query\nq0,7,d0,0,3.5,What opens?\nq1,8,d1,0,2.5,Who?\n"),
        ("results.jsonl", '{"query_id": "q0", "query": "What?", "results": [{"corpus_id": "d0", "score": 0.5}]}\n'),
        ("dpr.json", '{"q0": {"question": "What?", "answers": ["x"], "contexts": [{"docid": "d0", "score": "1.5"}]}}'),
        ("прогон.csv", "id_запроса;id_документа;оценка\nq0;d0;3,5\n"),
    ],
)  # fmt: skip
def test_a_run_with_the_texts_of_its_queries_is_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "qrels.txt").write_text(JUDGED, encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert Beginning.there(tmp_path).next() == [f"ragbench trec qrels.txt {shlex.quote(name)}"]


def test_judgements_of_queries_by_their_texts_are_no_questions(tmp_path: Path) -> None:
    """A document that was judged irrelevant would be what is relevant."""
    (tmp_path / "ratings.csv").write_text("query,docid,rating\noak,d0,0\noak,d1,2\n", encoding="utf-8")
    (tmp_path / "bm25.run").write_text("oak Q0 d0 1 2.5 t\n", encoding="utf-8")
    assert Beginning.there(tmp_path).next() == ["ragbench trec ratings.csv bm25.run"]


def test_gold_passages_beside_questions_stay_questions(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(
        '{"id": "q", "question": "What?", "relevant_doc_ids": ["d0"]}\n', encoding="utf-8"
    )
    assert Beginning.there(tmp_path).next()[0] == "ragbench load questions gold.jsonl --name gold"


def test_what_is_wrong_with_judgements_is_said(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\nq,d,Highly relevant\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"qrels\.csv, line 2: 'Highly relevant' is not a grade, a finite number"):
        Beginning.there(tmp_path)


def test_a_corpus_and_queries_without_judgements_are_told_how_these_are_named(tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    write_lines(tmp_path / "hf" / "corpus.jsonl", [{"_id": "p", "text": "Oaks live long."}])
    write_lines(tmp_path / "hf" / "queries.jsonl", [{"_id": "q", "text": "oak age"}])
    with pytest.raises(ValueError, match="without judgements: ragbench load beir hf --name hf --qrels FILE"):
        Beginning.there(tmp_path)


def test_a_retrieval_set_of_any_names_is_one(tmp_path: Path) -> None:
    write_lines(tmp_path / "passages.jsonl", [{"id": "p", "text": "Oaks live long."}])
    write_lines(tmp_path / "questions.jsonl", [{"id": "q", "question": "How old are oaks?"}])
    (tmp_path / "labels.tsv").write_text("query_id\tdoc_id\trelevance\nq\tp\t1\n", encoding="utf-8")
    assert Beginning.there(tmp_path).next()[0].startswith("ragbench load beir . --name ")


@pytest.mark.parametrize(
    "row",
    [
        {"query_id": "1", "text": "how long oaks live"},
        {"query_id": "1", "text": "how long oaks live", "emb": [0.5, 0.25]},
        {"query_id": "1", "title": "how long oaks live", "description": "How old?", "narrative": "Ages in years."},
    ],
)
def test_queries_by_their_ids_alone_are_questions(tmp_path: Path, row: dict[str, object]) -> None:
    write_lines(tmp_path / "queries.jsonl", [row])
    found = Beginning.there(tmp_path)
    assert found.next()[0] == "ragbench load questions queries.jsonl --name queries"
    assert "question = text" in found.said[0] or "question = title" in found.said[0]


def test_a_passage_by_its_query_is_no_question(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "passages.jsonl", [{"query_id": "1", "doc_id": "d", "text": "Oaks live long, a thousand years."}]
    )
    with pytest.raises(ValueError, match="questions, or traces, to them are missing"):
        Beginning.there(tmp_path)


def test_runs_and_judgements_among_texts_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(JUDGED, encoding="utf-8")
    (tmp_path / "oaks.txt").write_text("Oaks live long, up to a thousand years.\n", encoding="utf-8")
    found = Beginning.there(tmp_path)
    assert "1 document (oaks.txt)" in found.said[0]
    left_out = Brought()
    assert [path.name for path in documents.paths(tmp_path, left_out)] == ["oaks.txt"]
    assert left_out.left_out == {"file that is no document (qrels of TREC)": 1}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("birds.txt", "<top>\n<num> Number: B7 </num>\n<title> owls at dusk </title>\n</top>\n", "topics of TREC"),
        ("birds", '<?xml version="1.0"?>\n<topics>\n<topic number="7"><title>owls</title></topic>\n', "topics of TREC"),
        ("queries.txt", "Q7 owls at dusk\nQ8 what herons eat\nQ9 nests of swifts\n", "each behind its id"),
        ("QUERIES_B.txt", "7:Owls at dusk\n8:What herons eat\n9:Nests of swifts\n", "each behind its id"),
        ("qrels.txt", "Q7 owl\nQ7 dusk\nQ8 heron\n", "judgements without grades"),
    ],
)
def test_what_tests_a_search_is_no_document(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "oaks.txt").write_text("Oaks live long, up to a thousand years.\n", encoding="utf-8")
    assert [path.name for path in documents.paths(tmp_path)] == ["oaks.txt"]
    [said] = Beginning.there(tmp_path).unused
    assert said.startswith(f"{name}: ")
    assert why in said


def test_a_text_with_other_lines_is_a_document_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text("1 Oaks live long.\nBirches do not.\nElms are rare.\n", encoding="utf-8")
    assert [path.name for path in documents.paths(tmp_path)] == ["topics.txt"]


def test_passages_alone_are_told_how_questions_to_them_are_loaded(tmp_path: Path) -> None:
    write_lines(tmp_path / "passages.jsonl", [{"doc_id": "d", "text": "Oaks live long, a thousand years."}])
    with pytest.raises(ValueError, match=r"load questions FILE --name asked --chunks-from passages[.]jsonl"):
        Beginning.there(tmp_path)
