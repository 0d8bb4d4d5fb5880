"""BEIR folders: read strictly, with everything that is left out counted."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from ragbench.old import data
from ragbench.old.data import DatasetError
from tests.old.small_project import write_lines

CORPUS = [
    {"_id": "p1", "title": "Oak", "text": "Oaks live long.", "metadata": {"url": "https://x.example/oak"}},
    {"_id": "p2", "title": "", "text": "Pines grow fast.", "metadata": {}},
]
QUERIES = [
    {"_id": "s1::1", "text": "oak age"},
    {"_id": "s1::2", "text": "pine speed"},
    {"_id": "s2::1", "text": "fir?"},
]
QRELS = "query-id\tcorpus-id\tscore\ns1::1\tp1\t2\ns1::1\tp2\t0\ns1::2\tp2\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    lines(tmp_path / "corpus.jsonl", CORPUS)
    lines(tmp_path / "queries.jsonl", QUERIES)
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS, encoding="utf-8")
    return tmp_path


def lines(path: Path, rows: list[dict]) -> None:
    write_lines(path, rows)


def test_a_folder_becomes_chunks_questions_and_grades(folder: Path) -> None:
    brought = data.beir.read(*data.beir.files(folder), clusters=re.compile("^(.+)::"))
    chunks, questions, left_out = brought.chunks, brought.questions, brought.left_out
    assert [(c.id, c.title, c.url) for c in chunks] == [("p1", "Oak", "https://x.example/oak"), ("p2", None, None)]
    assert [(q.id, dict(q.relevant), q.answerable, q.cluster) for q in questions] == [
        ("s1::1", {"p1": 2.0}, True, "s1"),
        ("s1::2", {"p2": 1.0}, True, "s1"),
        ("s2::1", {}, None, "s2"),
    ]
    assert left_out == {}


def test_questions_of_another_split_are_left_out_and_those_of_none_stay(folder: Path) -> None:
    queries = [*QUERIES, {"_id": "s3::1", "text": "birch bark"}]
    lines(folder / "queries.jsonl", queries)
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\ns3::1\tp1\t1\ns1::1\tp1\t1\n")
    (folder / "qrels" / "train.tsv").write_text("nothing that can be read")
    brought = data.beir.read(*data.beir.files(folder))
    assert [question.id for question in brought.questions] == ["s1::1", "s1::2", "s2::1"]
    assert brought.left_out == {"question of qrels/dev.tsv": 1}
    dev = data.beir.read(*data.beir.files(folder, "dev"))
    assert [question.id for question in dev.questions] == ["s1::1", "s2::1", "s3::1"]
    assert dev.left_out == {"question of qrels/test.tsv": 1}


def test_gzipped_files_are_the_same(folder: Path) -> None:
    plain = data.beir.read(*data.beir.files(folder))
    for path in [*folder.glob("*.jsonl"), *folder.glob("qrels/*.tsv")]:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert data.beir.read(*data.beir.files(folder)) == plain


def test_tables_may_lie_in_folders_of_their_names(folder: Path) -> None:
    for name in ("corpus", "queries"):
        (folder / name).mkdir()
        (folder / f"{name}.jsonl").rename(folder / name / f"{name}.jsonl")
    assert data.beir.is_folder(folder)
    assert [path.parent.name for [path] in data.beir.files(folder)[:3]] == ["corpus", "queries", "qrels"]


def test_a_judgement_of_a_passage_that_is_not_there_is_left_out_and_counted(folder: Path) -> None:
    whole = {q.id: q.relevant for q in data.beir.read(*data.beir.files(folder)).questions}
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.write("s1::2\tp9\t1\nzz\tp1\t1\n")
    brought = data.beir.read(*data.beir.files(folder))
    questions, left_out = brought.questions, brought.left_out
    assert {q.id: q.relevant for q in questions} == whole
    assert left_out == {
        "judged question that is not among the queries": 1,
        "judgement of a passage that is not in the corpus (its question stays)": 1,
    }
    (folder / "qrels" / "test.tsv").write_text(QRELS.split("\n")[0] + "\ns1::2\tp9\t1\ns1::2\tp1\t0\ns2::1\tp9\t0\n")
    brought = data.beir.read(*data.beir.files(folder))
    questions, left_out = brought.questions, brought.left_out
    assert [q.id for q in questions] == ["s1::1", "s2::1"], "only an irrelevant passage of s2::1 is missing"
    assert left_out == {
        "question none of whose relevant passages is in the corpus": 1,
        "judgement of a passage that is not in the corpus (its question stays)": 1,
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "queries.jsonl",
            '{"_id": "q"}\n',
            r"no question is left: 1 × line of queries\.jsonl without an",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\ns1::1\tp1\tnan\n", r"test\.tsv, line 2: .*finite"),
        ("qrels/test.tsv", QRELS + "s1::1\tp1\t1\n", "were judged 2 before and 1 here"),
    ],
)
def test_a_fault_is_named(folder: Path, name: str, text: str, expected: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match=expected):
        data.beir.read(*data.beir.files(folder))


def test_a_missing_file_is_named_with_those_there_are(folder: Path) -> None:
    with pytest.raises(DatasetError, match=r"dev\.tsv: there is no such file; .* qrels/test\.tsv: --split"):
        data.beir.files(folder, "dev")


def test_a_pattern_that_finds_no_cluster_is_refused(folder: Path) -> None:
    with pytest.raises(DatasetError, match="finds no cluster"):
        data.beir.read(*data.beir.files(folder), clusters=re.compile("^(x+)"))


def test_all_parts_of_a_table_are_read(folder: Path) -> None:
    """As Hugging Face parts a large corpus."""
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus").mkdir()
    for number, row in enumerate(CORPUS):
        lines(folder / "corpus" / f"corpus-{number:05}-of-00002.jsonl", [row])
    assert [chunk.id for chunk in data.beir.read(*data.beir.files(folder)).chunks] == ["p1", "p2"]


@pytest.mark.parametrize(
    ("corpus", "queries", "qrels"),
    [
        ("collection.tsv", "queries.dev.small.tsv", "qrels.dev.small.tsv"),
        ("msmarco-docs.tsv", "msmarco-docdev-queries.tsv", "msmarco-docdev-qrels.tsv"),
        ("corpus/docs-0.tsv", "topics/topics.miracl-ru-dev.tsv", "qrels/qrels.miracl-ru-dev.tsv"),
        ("collection.tsv", "questions.search.tsv", "qas.search.jsonl"),
    ],
)
def test_tables_without_names_of_columns(tmp_path: Path, corpus: str, queries: str, qrels: str) -> None:
    """As MS MARCO, MIRACL and LoTTE have them; a quotation mark is a letter there."""
    judged = '{"qid": 0, "query": "oak age", "answer_pids": [7]}\n' if qrels.endswith("l") else "0\t0\t7\t1\n"
    passage = '"Oaks" live long.\n'
    passage = f"7\thttp://oak.example\tOak\t{passage}" if "docs." in corpus else f"7\t{passage}"
    for name, text in ((corpus, f"{passage}8\tPines.\n"), (queries, "0\toak age\n"), (qrels, judged)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    split = data.beir.split_option(tmp_path).removeprefix(" --split ") or "test"
    brought = data.beir.read(*data.beir.files(tmp_path, split))
    assert (brought.chunks[0].id, brought.chunks[0].text) == ("7", '"Oaks" live long.')
    assert [(asked.id, asked.text, asked.relevant) for asked in brought.questions] == [("0", "oak age", {"7": 1.0})]


def test_texts_by_their_ids_and_judgements_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "corpus.json").write_text('{"p1": "Oaks.", "p2": {"title": "Pine", "text": "Pines."}}')
    (tmp_path / "queries.json").write_text('{"s1": "oak age", "s2": "pine"}')
    (tmp_path / "relevant_docs.json").write_text('{"s1": ["p1"], "s2": ["p2", "p1"]}')
    brought = data.beir.read(*data.beir.files(tmp_path))
    assert [(chunk.id, chunk.title, chunk.text) for chunk in brought.chunks] == [
        ("p1", None, "Oaks."),
        ("p2", "Pine", "Pines."),
    ]
    assert [(asked.id, asked.relevant) for asked in brought.questions] == [
        ("s1", {"p1": 1.0}),
        ("s2", {"p2": 1.0, "p1": 1.0}),
    ]


def test_sets_beside_each_other_are_told_by_a_word_of_their_names(tmp_path: Path) -> None:
    for name, text in (("NanoNQ", "Oaks."), ("NanoFiQA", "Pines.")):
        for part, row in (
            ("corpus", {"_id": "p", "text": text}),
            ("queries", {"_id": "s", "text": "which?"}),
            ("qrels", {"query-id": "s", "corpus-id": "p", "score": 1}),
        ):
            (tmp_path / part).mkdir(exist_ok=True)
            lines(tmp_path / part / f"{name}-00000-of-00001.jsonl", [row])
    assert data.beir.split_option(tmp_path) == " --split nanofiqa"
    assert [chunk.text for chunk in data.beir.read(*data.beir.files(tmp_path, "NanoNQ")).chunks] == ["Oaks."]
    with pytest.raises(DatasetError, match=r"qrels/NanoFiQA.*qrels/NanoNQ.*--split names which"):
        data.beir.files(tmp_path)


def test_a_file_and_its_packed_copy_are_one(folder: Path) -> None:
    plain = data.beir.read(*data.beir.files(folder))
    for path in folder.glob("*.jsonl"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert data.beir.read(*data.beir.files(folder)) == plain


def test_ids_that_pandas_made_numbers_are_whole(folder: Path) -> None:
    lines(folder / "corpus.jsonl", [{"_id": number, "text": "Oaks."} for number in (1.0, 2.0)])
    lines(folder / "queries.jsonl", [{"_id": 7, "text": "oak age"}])
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n7.0\t1.0\t1.0\n")
    brought = data.beir.read(*data.beir.files(folder))
    assert [(q.id, dict(q.relevant)) for q in brought.questions] == [("7", {"1": 1.0})]
    assert [chunk.id for chunk in brought.chunks] == ["1", "2"]


def test_topics_of_TREC_and_passages_of_many_names(tmp_path: Path) -> None:
    lines(tmp_path / "knowledge_base.jsonl", [
        {"ID": "p1", "Текст": "Oaks live long.", "metadata": {"url": "https://x.example/oak"}},
        {"corpus_id": "p2", "content": "Pines grow fast."},
    ])  # fmt: skip
    (tmp_path / "topics.json").write_text('[{"number": "1", "title": "oak age"}, {"number": "2", "title": "pine"}]')
    (tmp_path / "gold.txt").write_text("1 0 p1 2\n2 0 p2 1\n")
    brought = data.beir.read(*data.beir.files(tmp_path))
    assert [(chunk.id, chunk.text) for chunk in brought.chunks] == [
        ("p1", "Oaks live long."), ("p2", "Pines grow fast."),
    ]  # fmt: skip
    assert [(asked.id, asked.text, asked.relevant) for asked in brought.questions] == [
        ("1", "oak age", {"p1": 2.0}), ("2", "pine", {"p2": 1.0}),
    ]  # fmt: skip


def test_judgements_may_lie_below_the_folder_of_their_split(folder: Path) -> None:
    (folder / "qrels" / "test").mkdir()
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "test" / "part-0.tsv")
    assert data.beir.is_folder(folder)
    assert len(data.beir.read(*data.beir.files(folder)).questions) == 3


def test_judgements_of_numbers_alone_are_no_run(tmp_path: Path) -> None:
    from ragbench.old.data import trec

    (tmp_path / "gold.txt").write_text("1 0 10 1\n1 0 12 0\n")
    assert trec.told(tmp_path / "gold.txt") == "qrels"


def test_texts_are_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "oak.txt").write_text("Oaks live long.\n")
    lines(tmp_path / "questions.jsonl", QUERIES)
    assert not list(data.beir.found([tmp_path / "docs" / "oak.txt", tmp_path / "questions.jsonl"], tmp_path))


def test_blank_lines_of_a_table_without_names_of_columns_are_none(tmp_path: Path) -> None:
    (tmp_path / "corpus.tsv").write_text("d1\tOaks live long.\n\nd2\tPines grow.\n\n")
    (tmp_path / "queries.tsv").write_text("q1\toak age\n")
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\n")
    brought = data.beir.read(*data.beir.files(tmp_path))
    assert [chunk.text for chunk in brought.chunks] == ["Oaks live long.", "Pines grow."]
    assert not brought.left_out
