"""Runs and judgements of other forms than TREC's: fewer columns, a header, JSON, Parquet."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.data import DatasetError, trec
from tests.old.data.trec.trec_files import written

SHORT = {
    "five columns": "q1 Q0 b 1 3.0\nq1 Q0 a 2 2.0\n",
    "no placeholder": "q1 b 1 3.0 t\nq1 a 2 2.0 t\n",
    "no placeholder, no tag": "q1\tb\t1\t3.0\nq1\ta\t2\t2.0\n",
    "MS MARCO": "q1\tb\t1\nq1\ta\t2\n",
    "scores alone": "q1 a 2.0\nq1 b 3.0\n",
    "header": "qid Q0 docno rank score tag\nq1 Q0 b 1 3.0 t\nq1 Q0 a 2 2.0 t\n",
    "header in another order": "score\tdoc_id\tquery_id\n3.0\tb\tq1\n2.0\ta\tq1\n",
    "header with ranks": "query-id,doc-id,rank\nq1,a,2\nq1,b,1\n",
    "commas, an index": ",query_id,doc_id,score\n0,q1,b,3.0\n1,q1,a,2.0\n",
    "quoted": 'query_id,doc_id,score\n"q1","a",2.0\n"q1","b",3.0\n',
    "commas, no header": "q1,Q0,b,1,3.0,t\nq1,Q0,a,2,2.0,t\n",
    "tabs, blanks in a tag": "q1\tQ0\tb\t1\t3.0\tmy tag\nq1\tQ0\ta\t2\t2.0\tmy tag\n",
    "a number of its own beside the name": "qid,docid,docno,rank,score,query\nq1,7,b,0,3.0,b?\nq1,9,a,1,2.0,b?\n",
    "an object a query": '{"qid": "q1", "results": [{"docid": "b", "score": 3}, {"docid": "a", "score": 2}]}\n',
    "dictionary": '{"q1": {"a": 2.0, "b": 3}}',
    "numbers as texts": '{"q1": {"a": "2.5", "b": "3"}}',
    "objects": '{"q1": [{"docid": "a", "score": 2.0}, {"docid": "b", "score": 3}]}',
    "candidates": '{"query": {"qid": "q1"}, "candidates": [{"docid": "b", "score": 3}, {"docid": "a", "score": 2}]}',
    "lists": '{"q1": ["b", "a"]}',
    "pairs": '{"q1": [["b", 3], ["a", 2]]}',
    "rows": '[{"query_id": "q1", "doc_id": "a", "score": 2.0}, {"query_id": "q1", "doc_id": "b", "score": 3.0}]',
    "semicolons, Russian, a decimal comma": "id_запроса;id_документа;оценка\nq1;a;2,5\nq1;b;3,25\n",
    "six columns, a decimal comma": "q1\tQ0\tb\t1\t3,25\tmmr\nq1\tQ0\ta\t2\t2,5\tmmr\n",
    "lists beside each other": '{"qid": "q1", "docids": ["a", "b"], "scores": [2, 3]}',
    "ids alone": '{"query": "b?", "query_id": "q1", "retrieved_ids": ["b", "a"]}',
    "columns of pandas": '{"qid": {"0": "q1", "1": "q1"}, "docno": {"0": "a", "1": "b"}, "score": {"0": 2, "1": 3}}',
    "sentence-transformers": '{"query_id": "q1", "query": "?", "results": [{"corpus_id": "b", "score": 3},'
    ' {"corpus_id": "a", "score": 2}]}',
    "MTEB": '{"mteb_model_meta": {"model_name": "m", "revision": "1"}, "default": {"test": {"q1": {"a": 2, "b": 3}}}}',
    "FlagEmbedding": '{"eval_name": "e", "split": "test", "search_results": {"q1": {"a": 2, "b": 3}}}',
    "DPR of pyserini": '{"q1": {"question": "?", "answers": ["x"], "contexts": [{"docid": "b", "score": "3"},'
    ' {"docid": "a", "score": "2", "text": "t"}]}}',
    "KILT of pyserini": '{"id": "q1", "input": "?", "output": [{"provenance": [{"wikipedia_id": "b"},'
    ' {"wikipedia_id": "a"}]}]}',
    "documents of retriv": '{"q1": [{"id": "b", "text": "t", "score": 3}, {"id": "a", "text": "t", "score": 2}]}',
    "replies of Elasticsearch": '{"q1": {"took": 1, "hits": {"total": {"value": 2}, "hits":'
    ' [{"_id": "b", "_score": 3}, {"_id": "a", "_score": 2}]}}}',
    "JSON Lines": '{"qid": "q1", "docid": "a", "score": 2}\n{"qid": "q1", "docid": "b", "score": 3}\n',
    "no rank, no tag": "q1 Q0 a 2.0\nq1 Q0 b 3.0\n",
    "ranks from 0": "q1\tb\t0\nq1\ta\t1\n",
    "whole scores before their ranks": "q1 b 30 1\nq1 a 20 2\n",
    "a dictionary a row": '[{"query_id": "q1", "documents": {"a": 2, "b": 3}}]',
    "pairs in a row": '{"query_id": "q1", "query": "b?", "results": [["b", 3], ["a", 2]]}',
    "its name before its words": '{"_id": "q1", "query": "b?", "documents": ["b", "a"]}',
    "its name above its words": '{"q1": {"query": "b?", "documents": ["b", "a"]}}',
    "an envelope of one query": '{"data": {"q1": {"documents": ["b", "a"]}}}',
    "an envelope beside others": '{"name": "n", "metadata": {"k": 10}, "results": {"q1": [{"id": "b"}, {"id": "a"}]}}',
    "hits": '{"q1": {"hits": ["b", "a"]}}',
    "replies of Elasticsearch, a row each": '{"query_id": "q1", "hits": {"hits": [{"_id": "b"}, {"_id": "a"}]}}',
    "similarities beside": '{"q1": {"documents": ["a", "b"], "similarities": [2, 3]}}',
    "names without a number": '{"query_id": "q1", "documents": {"a": 2, "b": 3, "c": null}}',
    "ids that are numbers, in a ranking": '{"query_id": "q1", "ranking": ["b", "a"]}',
    "pandas, split": '{"columns": ["qid", "docno", "score"], "index": [0, 1], "data": [["q1", "a", 2],'
    ' ["q1", "b", 3]]}',
    "documents beside their scores": '{"q1": {"id": "r", "results": [{"index": 1, "relevance_score": 2, "document":'
    ' {"id": "a", "text": "t"}}, {"index": 0, "relevance_score": 3, "document": {"id": "b"}}]}}',
    "nodes beside their scores": '{"q1": [{"node": {"id_": "a", "text": "t"}, "score": 2}, {"node": {"id_": "b"},'
    ' "score": 3}]}',
    "documents within objects": '{"q1": [{"document": {"id": "b"}}, {"document": {"id": "a"}}]}',
    "a reply of Solr": '{"q1": {"responseHeader": {"status": 0, "QTime": 1}, "response": {"numFound": 2,'
    ' "docs": [{"id": "b", "score": 3}, {"id": "a", "score": 2}]}}}',
    "a result of Vespa": '{"q1": {"root": {"id": "toplevel", "relevance": 1, "fields": {"totalCount": 2}, "children":'
    ' [{"id": "b", "relevance": 3, "fields": {}}, {"id": "a", "relevance": 2, "fields": {}}]}}}',
    "pandas, index": '{"0": {"qid": "q1", "docno": "a", "score": 2}, "1": {"qid": "q1", "docno": "b", "score": 3}}',
}  # fmt: skip


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("text", SHORT.values(), ids=SHORT)
def test_runs_of_other_forms_have_the_same_order(tmp_path: Path, text: str, zipped: bool, mark: bytes) -> None:
    content = mark + text.encode()
    run = trec.read_run(written(tmp_path, "r", gzip.compress(content) if zipped else content))
    assert list(run.queries) == ["q1"]
    assert trec.listed_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]
    assert trec.trec_eval_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]


JUDGED = {
    "BEIR": "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
    "three columns": "q1 a 1\nq1 b 0\nq2 c 2\n",
    "header": "query_id iteration doc_id relevance\nq1 0 a 1\nq1 0 b 0\nq2 0 c 2\n",
    "commas": "qid,docno,label\nq1,a,1\nq1,b,0\nq2,c,2\n",
    "commas, no header": "q1,0,a,1\nq1,0,b,0\nq2,0,c,2\n",
    "dictionary": '{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}',
    "a grade by its long name": "search_id,item_id,relevance_grade\nq1,a,1\nq1,b,0\nq2,c,2\n",
    "in Russian": "Номер запроса,ID документа,Балл\nq1,a,1\nq1,b,0\nq2,c,2\n",
    "yes and no": "query_id,doc_id,relevant\nq1,a,да\nq1,b,нет\nq2,c,2\n",
    "ratings of Elasticsearch": '{"requests": [{"id": "q1", "ratings": [{"_id": "a", "rating": 1},'
    ' {"_id": "b", "rating": 0}]},'
    ' {"id": "q2", "ratings": [{"_id": "c", "rating": 2}]}], "metric": {"dcg": {"k": 10}}}',
    "a row a query": '{"qid": "q1", "qrels": {"a": 1, "b": 0}}\n{"qid": "q2", "qrels": {"c": 2}}\n',
    "with their questions": '{"q1": {"question": "?", "qrels": {"a": 1, "b": 0}},'
    ' "q2": {"question": "?", "qrels": {"c": 2}}}',
    "a list a query": '[{"query_id": "q1", "judgements": [{"doc": "a", "grade": 1}, {"doc": "b", "grade": 0}]},'
    ' {"query_id": "q2", "judgements": [{"doc": "c", "grade": 2}]}]',
    "Quepid": "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\nT,C,1,q1,a,1,x,1\n"
    "T,C,1,q1,b,2,y,0\nT,C,1,q2,c,1,z,2\n",
    "a case of Quepid": '{"case_name": "c", "scorer": {}, "queries": ['
    '{"query_text": "q1", "ratings": {"a": 1.0, "b": 0.0}},'
    ' {"query_text": "q2", "ratings": {"c": 2.0}}]}',
    "ratings": '{"ratings": [{"qid": "q1", "did": "a", "rating": 1}, {"qid": "q1", "did": "b", "rating": 0},'
    ' {"qid": "q2", "did": "c", "rating": 2}]}',
    "words by their documents": '{"q1": {"a": "да", "b": "нет"}, "q2": {"c": 2}}',
    "a query without any": '{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {}}',
    "an object a line": '{"q1": {"a": 1, "b": 0}}\n{"q2": {"c": 2}}\n',
    "documents beside their grades": '{"queries": [{"query": "q1", "documents": [{"document": {"id": "a"}, "rating":'
    ' 1}, {"document": {"id": "b"}, "rating": 0}]}, {"query": "q2", "documents": [{"document": {"id": "c"}, "rating":'
    " 2}]}]}",
    "what nobody judged": "qid,docid,rating\nq1,a,1\nq1,x,\nq1,b,0\nq2,c,2\n",
    "what nobody judged, in rows": '[{"qid": "q1", "docid": "x"}, {"qid": "q1", "docid": "a", "rating": 1},'
    ' {"qid": "q1", "docid": "b", "rating": 0}, {"qid": "q2", "docid": "c", "rating": 2},'
    ' {"qid": "q2", "docid": "y", "rating": null}]',
    "what nobody judged, in objects": '{"q1": {"a": 1, "b": 0, "x": null}, "q2": {"c": 2}}',
    "a request of Elasticsearch's for each": '{"requests": [{"id": "q1", "request": {"query": {"match": {"t": "x"}}},'
    ' "ratings": [{"_index": "i", "_id": "a", "rating": 1}, {"_index": "i", "_id": "b", "rating": 0}]},'
    ' {"id": "q2", "request": {"query": {"match": {"t": "y"}}}, "ratings": [{"_id": "c", "rating": 2}]}],'
    ' "metric": {"precision": {"k": 10}}}',
    "lists of what is relevant and how much": '{"q1": {"relevant": ["a", "b"], "scores": [1, 0]},'
    ' "q2": {"relevant": ["c"], "scores": [2]}}',
}


@pytest.mark.parametrize("text", JUDGED.values(), ids=JUDGED)
def test_judgements_of_other_forms_are_the_same(tmp_path: Path, text: str) -> None:
    assert trec.read_qrels(written(tmp_path, "q", text)) == {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 2.0}}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        *((f"{'run' if text[0] in '{[' else 'r'}{number}", text, "run") for number, text in enumerate(SHORT.values())),
        *((f"q{number}", text, "qrels") for number, text in enumerate(JUDGED.values())),
        ("q", "q1 0 a 1\n", "qrels"), ("r", "q1 Q0 a 1 2.5 t\n", "run"), ("mine.run", "q1 a 7\n", "run"),
        ("x.csv", "question,answer\nq,a\n", ""), ("x.txt", "The library opens at 8.\n", ""), ("x", "", ""),
        ("x.txt", "Chapter the 1\nIt was night.\n", ""), ("x.json", '{"question": "q"}', ""),
        ("x.json", '{"name": "n", "settings": {"parts": [{"id": "a"}]}, "facts": [{"id": "b"}]}', ""),
        ("x.json", '{"query": "q", "passages": {"is_selected": [1], "passage_text": ["t"]}, "answers": ["a"]}', ""),
        ("x.json", '{"facts": {"faithfulness": {"score": "higher"}}}', ""),
    ],
)  # fmt: skip
def test_a_file_is_told_by_how_it_begins(tmp_path: Path, name: str, text: str, kind: str) -> None:
    assert trec.told(written(tmp_path, name, text)) == kind


RRE = """{"id_field": "id", "index": "i", "topics": [{"description": "t", "query_groups": [{"name": "n",
    "queries": [{"template": "t.json", "placeholders": {"$query": "q"}}], "relevant_documents": {"3": ["a"]}}]}]}"""
WRITE = "write a line a judgement: QUERY 0 DOCUMENT GRADE"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("ratings.json", RRE, f"judgements of RRE: {WRITE}"),
        ("rre.json", '{"queries": [{"placeholders": {"$query": "q"}, "relevant_documents": {"a": {"gain": 3}}}]}',
         f"judgements of RRE: {WRITE}"),
        ("book.json", '{"query_doc_pairs": [{"query_text": "q", "doc_id": "a", "judgements": [{"rating": 1.0}]}]}',
         f"a book of Quepid: {WRITE}"),
        ("letor.txt", "2 qid:10 1:0.5 2:0.1 #docid = GX008 inc = 1\n", f"features for learning .*: {WRITE}"),
        ("ltr.txt", "3\tqid:1\t# 11\tstar wars\n", f"features for learning .*: {WRITE}"),
        ("prels", "1 GX000 1 1 0.5\n1 GX001 0 1 0.25\n", "prels, judgements of a sample"),
        ("diversity", "1 1 a 1\n1 2 a 0\n", "judged 1 before and 0 here; keep one grade a pair, of several subtopics"),
        ("esci.csv", "query,query_id,product_id,esci_label\nq,0,B0,E\n", "'E' is not a grade, .*0 for not relevant"),
        ("wands.csv", "id\tquery_id\tproduct_id\tlabel\n0\t0\t25434\tPartial\n", "'Partial' is not .*yes and no"),
        ("q.csv", "запрос,документ,релевантность\nкогда,d1,релевантно\nкогда,d2,частично\n", "'частично' is not a gr"),
    ],
)  # fmt: skip
def test_judgements_that_are_not_read_say_what_to_write(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(DatasetError, match=said):
        trec.read_qrels(path)
    if name == "prels":
        assert trec.told(path) == ""  # its columns are those of a run whose tag is a number


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (trec.read_qrels, '{"Вопрос": ["q1", "q1"], "Статья": ["a", "b"], "Релевантность": [1, 0]}',
         "the columns Вопрос"),
        (trec.read_qrels, '{"query": {"0": "q1", "1": "q1"}, "file": {"0": "a", "1": "b"}, "rel": {"0": 1, "1": 0}}',
         "the columns query, file, rel"),
        (trec.read_qrels, '{"0": {"question": "q1", "document": "a", "rel": 1}, "1": {"question": "q2", "document":'
         ' "a", "rel": 0}}', "the columns 0, 1"),
        (trec.read_qrels, '{"q1": [{"doc_id": "a", "annotated": 1}, {"doc_id": "b", "annotated": 0}]}',
         "query q1: is annotated = 0 the grade"),
        (trec.read_qrels, '{"q1": {"answers": ["a", "b"], "scores": [1, 0]}, "q2": {"answers": ["a"], "scores": [1]}}',
         "the columns q1, q2"),
        (trec.read_qrels, '{"queries": [{"mine": "q", "relevant_documents": {"a": {"gain": 3}, "b": {"gain": 0}}}]}',
         "the columns queries"),
        (trec.read_qrels, '{"components": [{"name": "n", "licenses": [{"license": {"id": "MIT"}}]}], "metadata": {}}',
         "the columns components, metadata"),
        (trec.read_qrels, '{"train": {"q1": {"a": 1}}, "test": {"q2": {"a": 1}}}', "the columns train, test"),
        (trec.read_run, '{"query_id": {"0": "q"}, "doc_id": {"0": "a"}, "weight": {"0": 2.5}}', "the columns query_id"),
        (trec.read_run, '{"q1": {"documents": ["a", "b"], "weights": [2, 3]}}', r"mine.json, query q1: is weights"),
        (trec.read_qrels, '{"q1": {"a": 1}, "q2": {"a": "hm"}}', "query q2: names no documents with their grades"),
        (trec.read_qrels, '{"foo": ["What is it?"], "bar": ["A man"]}', "foo, bar: lists of texts; are they columns"),
        (trec.read_run, '[{"qid": "q", "docids": ["a"]}, {"qid": "p", "mine": ["b"]}]', "item 2: names no document"),
        (trec.read_run, '{"0": {"query_id": "q", "id": "a", "relevance": 2}, "1": {"query_id": "q", "id": "b",'
         ' "relevance": 3}}', "the columns 0, 1"),
        (trec.read_qrels, '{"id": "a", "question_id": "q", "answer": "t", "context": [], "ratings": {"ann": 1}}',
         "mine.json: ratings of a data set"),
        (trec.read_qrels, '{"id": "d", "turns": [{"question": "q", "answer": "t", "relevant": {"a": 1}}]}',
         "mine.json: dialogues of a data set"),
        (trec.read_run, "q1 Q0 Page Title 9 20.5\n", "a number behind the score, and 'Title' is not a rank; is there"),
        (trec.read_run, '# mine\n[{"query_id": "q", "documents": [{"id": "a", "score": 2}]}]', "not JSON"),
    ],
)  # fmt: skip
def test_what_could_be_read_as_another_thing_is_refused(
    tmp_path: Path, reader: Callable[[Path], Any], text: str, said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        reader(written(tmp_path, "mine.json" if text[0] in "#{[" else "mine.txt", text))


def test_tabs_part_names_that_have_blanks(tmp_path: Path) -> None:
    judged = trec.read_qrels(written(tmp_path, "q.tsv", "q1\tPage 9\t1\nq1\tPage 10\t0\n"))
    assert judged == {"q1": {"Page 9": 1.0, "Page 10": 0.0}}
    run = trec.read_run(written(tmp_path, "r.txt", "q1\tQ0\tTop 10\t1\t20.5\tt\nq1\tQ0\tTop 9\t2\t19.5\tt\n"))
    assert trec.listed_order(run.queries["q1"]).documents.to_pylist() == ["Top 10", "Top 9"]


def test_pairs_are_judgements_where_nothing_else_is_there(tmp_path: Path) -> None:
    assert trec.read_qrels(written(tmp_path, "q.csv", "query_id,doc_id\nq1,a\n")) == {"q1": {"a": 1.0}}
    with pytest.raises(DatasetError, match="the columns query_id, doc_id, mine"):
        trec.read_qrels(written(tmp_path, "m.csv", "query_id,doc_id,mine\nq1,a,0\n"))


@pytest.mark.parametrize("name", ["qrels.json", "judgments.jsonl", "relevance.json"])
def test_the_name_tells_what_a_file_is_where_its_numbers_do_not(tmp_path: Path, name: str) -> None:
    assert trec.told(written(tmp_path, name, '{"q1": {"a": 0.5, "b": 1}}')) == "qrels"
    assert trec.told(written(tmp_path, name, '{"q1": ["a", "b"], "q2": ["c"]}')) == "qrels"


def test_a_text_without_an_end_of_line_in_another_encoding(tmp_path: Path) -> None:
    text = "query_id,doc_id,rel\rq1,a,1".encode("utf-16")
    assert trec.read_qrels(written(tmp_path, "q.csv", text)) == {"q1": {"a": 1.0}}


def test_parquet_is_read_by_its_columns(tmp_path: Path) -> None:
    from pyarrow import parquet

    table = {"query-id": [1, 1, 2], "corpus-id": ["a", "b", "c"], "score": [1, 0, 2]}
    parquet.write_table(pa.table(table), tmp_path / "q.parquet")
    assert trec.read_qrels(tmp_path / "q.parquet") == {"1": {"a": 1.0, "b": 0.0}, "2": {"c": 2.0}}
    parquet.write_table(pa.table({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.5, 2.5]}), tmp_path / "r")
    assert trec.listed_order(trec.read_run(tmp_path / "r").queries["q"]).documents.to_pylist() == ["b", "a"]
    parquet.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "other")
    with pytest.raises(DatasetError, match="has the columns a, b; expected columns like query_id, doc_id, score"):
        trec.read_run(tmp_path / "other")
    twice = pa.table({"query-id": ["q", "q"], "corpus-id": ["a", "a"], "score": [1, 2]})
    parquet.write_table(twice, tmp_path / "twice")
    with pytest.raises(DatasetError, match="query q and document a were judged 1 before and 2 here"):
        trec.read_qrels(tmp_path / "twice")


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (trec.read_run, "q1\tb\t1\nq1\ta\n", "line 2: 2 columns instead of 3; expected QUERY DOCUMENT SCORE"),
        (trec.read_run, "q1 0 a 1\n", "line 1: 4 columns instead of 6"),
        (trec.read_run, "qid,docid,score\nq1,a,x\n", "line 2: 'x' is not a score"),
        (trec.read_run, '{"q1": {"a": null}}', "query q1: None is not a score, a finite number"),
        (trec.read_run, '{"q1": {"a": true}}', "query q1: True is not a score, a finite number"),
        (trec.read_run, '{"q\\ud800": {"a": 1}}', "a text holds half of a character"),
        (trec.read_run, "qid,docid,score\nq1,,1\n", "line 2: the document '' is no name; expected a text"),
        (trec.read_run, '{"q1": 7}', r"columns q1; expected .* or an object like \{query: \{document: score\}\}"),
        (trec.read_run, '{"q1": {', "line 1: not JSON"),
        (trec.read_run, "[1, 2]", "item 1: 1: a JSON object is expected"),
        (trec.read_qrels, "query-id\tcorpus-id\tscore\nq\ta\t1\nq\ta\t2\n", "line 3: query q and document a were"),
    ],
)  # fmt: skip
def test_other_forms_that_do_not_fit(tmp_path: Path, reader: Callable[[Path], Any], text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        reader(written(tmp_path, "broken", text))


@settings(max_examples=20, deadline=None)
@given(
    st.dictionaries(st.sampled_from([("q1", "a"), ("q1", "b"), ("q2", "a")]), st.floats(-9, 9), min_size=1),
    st.permutations(["query_id", "doc_id", "score"]),
)
def test_no_order_of_columns_or_lines_changes_a_run(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[tuple[str, str], float], order: list[str]
) -> None:
    rows = [(query, document, score) for (query, document), score in scores.items()]
    folder = tmp_path_factory.mktemp("forms")
    plain = trec.read_run(
        written(folder, "r", "".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in rows))
    )
    named = [dict(zip(("query_id", "doc_id", "score"), row, strict=True)) for row in rows]
    lines_ = [order, *([str(row[name]) for name in order] for row in named)]
    tabs = trec.read_run(written(folder, "t", "".join("\t".join(line) + "\n" for line in lines_)))
    nested: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        nested.setdefault(query, {})[document] = score
    for other in (tabs, trec.read_run(written(folder, "j", json.dumps(nested)))):
        assert list(other.queries) == list(plain.queries)
        for query, row in plain.queries.items():
            assert trec.listed_order(other.queries[query]).documents.equals(trec.listed_order(row).documents)


@pytest.mark.parametrize(
    ("lines", "form"),
    [
        ("q d2 9.5 1\nq d1 8.5 2\n", "QUERY DOCUMENT SCORE RANK"),
        ("q d2 1 9.5\nq d1 2 8.5\n", "QUERY DOCUMENT RANK SCORE"),
        ("q d2 0 9\nq d1 1 8\n", "QUERY DOCUMENT RANK SCORE"),
    ],
)
def test_a_score_before_its_rank_is_no_rank(tmp_path: Path, lines: str, form: str) -> None:
    run = trec.read_run(written(tmp_path, "mine.run", lines))
    assert (trec.listed_order(run.queries["q"]).documents.to_pylist(), run.form) == (["d2", "d1"], form)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_that_count_in_another_order_than_the_lines_are_told_by_a_header_alone(
    tmp_path: Path, first: int
) -> None:
    lines = "".join(f"{query} d{number} {number + first}\n" for number in (2, 0, 1) for query in "pq")
    with pytest.raises(DatasetError, match="if they are ranks, write the line query_id doc_id rank above them"):
        trec.read_run(path := written(tmp_path, "mine.run", lines))
    assert trec.told(path) == "run"
    for name, order in (("rank", ["d0", "d1", "d2"]), ("score", ["d2", "d1", "d0"])):
        run = trec.read_run(written(tmp_path, "r", f"query_id doc_id {name}\n{lines}"))
        assert [trec.listed_order(row).documents.to_pylist() for row in run.queries.values()] == [order, order]
    down = trec.read_run(written(tmp_path, "d", "".join(f"q d{number} {number + first}\n" for number in (2, 1, 0))))
    assert trec.listed_order(down.queries["q"]).documents.to_pylist() == ["d2", "d1", "d0"]


def test_ranks_behind_whole_scores_are_ranks_in_any_order_of_lines(tmp_path: Path) -> None:
    run = trec.read_run(written(tmp_path, "mine.run", "q a 20 2\np a 7 1\nq b 30 1\np b 5 2\n"))
    assert {query: trec.listed_order(row).documents.to_pylist() for query, row in run.queries.items()} == {
        "q": ["b", "a"], "p": ["a", "b"],
    }  # fmt: skip


def test_an_empty_cell_of_parquet_is_no_judgement(tmp_path: Path) -> None:
    from pyarrow import parquet

    table = {"qid": ["q", "q", "q"], "docid": ["x", "a", "b"], "rel": [None, 1.0, 0.0]}
    for number, more in enumerate(({}, {"title": ["t", "t", "t"]})):
        parquet.write_table(pa.table(table | more), path := tmp_path / f"q{number}.parquet")
        assert trec.read_qrels(path) == {"q": {"a": 1.0, "b": 0.0}}


def test_a_table_of_scores_that_lacks_one_is_no_table_of_grades(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="item 2: None is not a score"):
        trec.told(
            written(
                tmp_path,
                "x.json",
                '[{"qid": "q", "docid": "a", "score": 1.5}, {"qid": "q", "docid": "b", "score": null}]',
            )
        )


def test_what_a_figure_is_called_is_no_query(tmp_path: Path) -> None:
    mine = '{"requests": [{"id": "q", "mine": 1}], "metric": {"precision": {"k": 10}}}'
    with pytest.raises(DatasetError, match="the columns requests, metric"):
        trec.read_qrels(written(tmp_path, "q.json", mine))


def test_scores_that_rise_with_their_ranks_are_said(tmp_path: Path) -> None:
    run = trec.read_run(written(tmp_path, "r", "q Q0 a 1 0.1 t\nq Q0 b 2 0.3 t\np Q0 a 1 7 t\n"))
    assert "the highest score first, where the ranks say the lowest" in run.form
    assert trec.listed_order(run.queries["q"]).documents.to_pylist() == ["b", "a"]
    for text in ("q Q0 a 1 0.3 t\nq Q0 b 2 0.1 t\n", "q Q0 a 1 5 t\nq Q0 b 2 5 t\n", "q Q0 a x 1 t\nq Q0 b x 2 t\n"):
        assert trec.read_run(written(tmp_path, "r", text)).form == ""


def test_judgements_under_the_heading_relevant(tmp_path: Path) -> None:
    assert trec.read_qrels(written(tmp_path, "q.csv", "query_id,doc_id,relevant\nq,d,1\n")) == {"q": {"d": 1.0}}


@pytest.mark.parametrize(
    "text",
    [
        '{"queries": {"q1": "oak?", "q2": "pine?"}, "corpus": {"a": "Oak."},'
        ' "relevant_docs": {"q1": ["a"], "q2": ["c"]}}',
        '{"qid": "q1", "query": "oak?", "answer_pids": ["a"]}\n{"qid": "q2", "query": "pine?", "answer_pids": ["c"]}',
        '{"id": "q1", "query": "oak?", "excluded_ids": ["x"], "gold_ids_long": [], "gold_ids": ["a"]}\n'
        '{"id": "q2", "query": "pine?", "excluded_ids": ["x"], "gold_ids_long": [], "gold_ids": ["c"]}',
    ],
)
def test_what_is_relevant_may_be_listed(tmp_path: Path, text: str) -> None:
    assert trec.read_qrels(written(tmp_path, "q.json", text)) == {"q1": {"a": 1.0}, "q2": {"c": 1.0}}


@pytest.mark.parametrize("query", ["0", '"q"'])
def test_numbers_are_names_too(tmp_path: Path, query: str) -> None:
    run = trec.read_run(written(tmp_path, "r.json", f'[{{"qid": {query}, "docids": [0, 7]}}]'))
    assert [row.documents.to_pylist() for row in run.queries.values()] == [["0", "7"]]


@pytest.mark.parametrize(
    "text",
    [
        "query_id,retrieved_ids\nq1,\"['b', 'a']\"\n",
        'query_id,documents,scores\nq1,"[""a"", ""b""]","[2, 3]"\n',
        "query_id,doc_ids\nq1,b;a\n",
        'query_id,doc_ids\nq1,"b, a"\n',
    ],
)
def test_lists_may_stand_in_cells(tmp_path: Path, text: str) -> None:
    run = trec.read_run(written(tmp_path, "r.csv", text))
    assert trec.listed_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]


def test_judgements_in_another_encoding(tmp_path: Path) -> None:
    assert trec.read_qrels(written(tmp_path, "q.txt", "q1 0 дуб 1\n".encode("utf-16"))) == {"q1": {"дуб": 1.0}}


def test_a_table_with_grades_in_words_is_told_what_is_wrong(tmp_path: Path) -> None:
    table = written(tmp_path, "q.csv", "query_id,doc_id,relevance\nq1,a,Highly relevant\n")
    with pytest.raises(DatasetError, match="line 2: 'Highly relevant' is not a grade"):
        trec.told(table)


@pytest.mark.parametrize(
    "text", ['{"ndcg": {"NDCG@1": 0.5}}', '{"dataset_revision": "1", "scores": {"test": [{"map": 0.5}]}}']
)
def test_figures_of_BEIR_and_MTEB_are_no_run(tmp_path: Path, text: str) -> None:
    with pytest.raises(DatasetError, match="BEIR or MTEB computed: `ragbench trec QRELS RUN` reads"):
        trec.read_run(written(tmp_path, "r.json", text))


def test_names_that_pandas_made_numbers_are_whole(tmp_path: Path) -> None:
    run = written(tmp_path, "run.csv", "query_id,doc_id,score\n1.0,11.0,2\n1.0,12.0,1\n")
    assert {name: own.documents.to_pylist() for name, own in trec.read_run(run).queries.items()} == {"1": ["11", "12"]}
    versions = written(tmp_path, "v.csv", "query_id,doc_id,score\n1,1.0,2\n1,1.5,1\n")
    assert trec.read_run(versions).queries["1"].documents.to_pylist() == ["1.0", "1.5"]


def test_queries_may_be_letters(tmp_path: Path) -> None:
    given = {"q": {"1": 1, "2": 1}, "d": {"1": 1, "2": 0}}
    assert trec.read_qrels(written(tmp_path, "q.json", json.dumps(given))) == given


def test_a_query_beside_what_is_none_is_not_read_with_it(tmp_path: Path) -> None:
    lines = "".join(f'{{"metadata": {{"n": 1}}, "q{n}": {{"d1": 1}}}}\n' for n in range(2))
    with pytest.raises(DatasetError, match="has the columns metadata, q0"):
        trec.read_qrels(written(tmp_path, "q.jsonl", lines))


@pytest.mark.parametrize("given", [{"0": {"d1": 1}, "1": {"d2": 1}}, {"0": {"docid": ["d1"]}, "1": {"docid": ["d2"]}}])
def test_numbers_from_zero_may_be_queries(tmp_path: Path, given: dict[str, Any]) -> None:
    assert trec.read_qrels(written(tmp_path, "q.json", json.dumps(given))) == {"0": {"d1": 1}, "1": {"d2": 1}}


def test_of_two_numbers_that_are_no_ranks_the_last_is_the_score(tmp_path: Path) -> None:
    run = trec.read_run(written(tmp_path, "r.run", "q1 a 7 0.8\nq1 b 9 0.9\n"))
    assert trec.listed_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]
