"""Data sets: folders, files and objects in, frames out, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.core.types import Dataset, Passage, Question
from ragbench.data import (
    from_objects,
    read_dataset,
    write_dataset,
)

DATA = Path(__file__).parents[2] / "data"


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8"
    )
    return path


def labels_of(dataset: Dataset) -> list[tuple[str, str, float, int]]:
    return list(dataset.labels.itertuples(index=False, name=None))


@pytest.mark.parametrize(("name", "language"), [("campus", "en"), ("campus:ru", "ru")])
def test_the_sample_data(tmp_path: Path, name: str, language: str) -> None:
    dataset = read_dataset(name, data_folder=DATA)
    assert (dataset.language, dataset.notes) == (language, ())
    counts = {key: len(frame) for key, frame in dataset.extras.items()}
    assert (len(dataset.passages), len(dataset.questions), len(dataset.labels)) == (105, 157, 193)
    assert counts == {"dialogues": 53, "decisions": 120, "history": 119, "ratings": 117}
    assert dataset.questions["answerable"].sum() == 129
    decision = dataset.extras["decisions"].iloc[0]
    texts = dict(zip(dataset.passages["passage_id"], dataset.passages["text"], strict=True))
    assert decision["context_ids"] == ("card-04",)
    assert decision["contexts"] == (texts["card-04"],)
    # What is written is read again as it was.
    write_dataset([dataset], tmp_path / "copy")
    again = read_dataset(tmp_path / "copy")
    assert again.fingerprint == dataset.fingerprint
    for frame in ("passages", "questions", "labels"):
        pd.testing.assert_frame_equal(getattr(again, frame), getattr(dataset, frame))
    for key, extra in dataset.extras.items():
        pd.testing.assert_frame_equal(again.extras[key], extra)


def test_a_preferred_language_is_no_demand(tmp_path: Path) -> None:
    write(tmp_path / "d" / "questions.en.jsonl", {"id": 1, "text": "When?"})
    assert read_dataset("d", language="ru", data_folder=tmp_path).language == "en"
    with pytest.raises(BenchError, match="is there in en, not in ru"):
        read_dataset("d:ru", data_folder=tmp_path)


def test_an_unknown_name_is_refused_with_those_that_are_there() -> None:
    with pytest.raises(BenchError, match=r"no data set 'campsu'.*did you mean 'campus'"):
        read_dataset("campsu", data_folder=DATA)


ITEM = {
    "id": "1",
    "source": "s",
    "question_source": "real",
    "question": "Когда открыто?",
    "ground_truth_answer": "С 8.",
    "chunk_id": 5,
    "chunk_text": "Открыто с 8.",
    "confluence_url": "https://x/1",
    "relevant_chunk_ids": [5, 6],
    "relevant_urls": ["https://x/1"],
    "is_question_ok": 1,
    "is_answer_ok": "",
}


def test_voproshalych(tmp_path: Path) -> None:
    old = {key: ITEM[key] for key in ("chunk_id", "chunk_text", "question", "ground_truth_answer")}
    path = tmp_path / "set.json"
    path.write_text(json.dumps([ITEM, {**old, "question": "До скольки?"}]), encoding="utf-8")
    dataset = read_dataset(path)
    assert dataset.passages[["passage_id", "text", "url"]].values.tolist() == [
        ["5", "Открыто с 8.", "https://x/1"]
    ]
    assert dataset.questions["source"].tolist() == ["real", ""]
    assert labels_of(dataset) == [("1", "5", 1.0, 0), ("1", "6", 1.0, 1), ("2", "5", 1.0, 0)]
    assert "1 labelled ids are not in the base, such as 6" in dataset.notes
    write(
        tmp_path / "d" / "dialogues.jsonl", {"questions": ["а?", "б?"], "expected_answers": ["в"]}
    )
    decision = {"question": "а?", "answer": "в", "context": "г", "ground_truth_show": "no"}
    write(tmp_path / "d" / "decisions.jsonl", decision, {**decision, "ground_truth_show": "maybe"})
    dataset = read_dataset(tmp_path / "d")
    assert dataset.extras["dialogues"]["answer"].tolist() == ["в", ""]
    assert dataset.extras["decisions"]["show"].tolist() == [False]
    assert dataset.notes[0].startswith("1 rows left out, the first row 2: show is 'maybe'; write")


def test_squad(tmp_path: Path) -> None:
    paragraph = {
        "context": "It opens at 8.",
        "qas": [
            {"id": "a", "question": "When?", "answers": [{"text": "at 8"}, {"text": "8"}]},
            {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
        ],
    }
    path = tmp_path / "squad.json"
    path.write_text(
        json.dumps({"version": "2", "data": [{"title": "T", "paragraphs": [paragraph]}]})
    )
    dataset = read_dataset(path)
    assert dataset.questions["references"].tolist() == [("at 8", "8"), ()]
    assert dataset.questions["answerable"].tolist() == [True, False]
    assert dataset.questions["unit"].tolist() == ["T", "T"]
    assert [label[0] for label in labels_of(dataset)] == ["a"]


def test_beir_takes_the_question_out_of_its_own_results(tmp_path: Path) -> None:
    write(
        tmp_path / "corpus.jsonl",
        {"_id": 1, "title": "Hours", "text": "At 8."},
        {"_id": 2, "text": "Hall."},
    )
    write(
        tmp_path / "queries.jsonl", {"_id": "1", "text": "At 8."}, {"_id": "train", "text": "Who?"}
    )
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\t1\t1\n1\t2\t2\n9\t2\t1\n"
    )
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n1\t2\t1\n")
    dataset = read_dataset(tmp_path)
    assert dataset.passages["text"].tolist() == ["Hours At 8.", "Hall."]
    assert dataset.questions["question_id"].tolist() == ["1"]
    assert labels_of(dataset) == [("1", "2", 2.0, 0)]
    assert dataset.notes == ("1 questions are passages themselves, which are no answer to them",)


DOCUMENTS = {
    "texts": ["At 8.", "Hall 2."],
    "columns": {"text": ["At 8.", "Hall 2."]},
    "mapping": {"0": "At 8.", "1": "Hall 2."},
    "frame": pd.DataFrame({"text": ["At 8.", "Hall 2."]}),
    "passages": [Passage("At 8.", "0"), Passage("Hall 2.", "1", url="u")],
}


@pytest.mark.parametrize("documents", DOCUMENTS.values(), ids=DOCUMENTS)
def test_objects(documents: Any) -> None:
    dataset = from_objects([{"question": "Where?", "relevant": 1}], documents)
    assert dataset.passages["text"].tolist() == ["At 8.", "Hall 2."]
    assert labels_of(dataset) == [("1", "1", 1.0, 0)]


def test_files_stand_for_what_they_hold(tmp_path: Path) -> None:
    passages, questions = tmp_path / "p.csv", tmp_path / "q.csv"
    passages.write_text("id,text\n0,At 8.\n1,Hall 2.\n")
    questions.write_text("question,relevant\nWhere?,1\n")
    result = rb.tier1({"v1": "bm25"}, str(questions), documents=passages, draws=1000)
    assert result.frames.questions["text"].tolist() == ["Where?"]
    assert result.frames.labels["passage_id"].tolist() == ["1"]
    rows = [{"question": "Where?", "answer": "In hall 2."}]
    assert rb.score(rb.read(rows), ["answer_relevance"]).scores["question_id"].tolist() == ["1"]


RELEVANT: dict[str, tuple[Any, list[tuple[str, float, int]]]] = {
    "id": ("a", [("a", 1.0, 0)]),
    "list": (["a", "b"], [("a", 1.0, 0), ("b", 1.0, 1)]),
    "grades": ({"a": 2, "b": 0}, [("a", 2.0, 0), ("b", 0.0, 1)]),
    "groups": ([["a", "b"], ["c"]], [("a", 1.0, 0), ("b", 1.0, 0), ("c", 1.0, 1)]),
    "page": ("u", [("b", 1.0, 1000), ("c", 1.0, 1000)]),
}


@pytest.mark.parametrize(("relevant", "labels"), RELEVANT.values(), ids=RELEVANT)
def test_labels_of_objects(relevant: Any, labels: list[tuple[str, float, int]]) -> None:
    documents = [
        {"id": "a", "text": "At 8."},
        {"id": "b", "text": "Hall.", "url": "u"},
        {"id": "c", "text": "Door.", "url": "u"},
    ]
    dataset = from_objects([{"id": "q", "question": "Where?", "relevant": relevant}], documents)
    assert [label[1:3] for label in labels_of(dataset)] == [label[:2] for label in labels]
    assert dataset.questions["answerable"].tolist() == [True]
    groups = [label[3] for label in labels_of(dataset)]
    assert len(set(groups)) == len({label[2] for label in labels})


def test_a_folder_of_documents_and_questions_that_bring_passages(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n***\n# B\nIt opens at 8.")
    assert from_objects(["When?"], tmp_path / "docs").passages["text"].tolist() == [
        "It opens at 8."
    ]
    passage = {"id": "c", "text": "At 8.", "url": "u"}
    carried = {"question": "When?", "contexts": [passage, {"id": "d"}]}
    dataset = from_objects([carried])
    assert dataset.passages[["passage_id", "url"]].to_numpy().tolist() == [["c", "u"]]
    assert labels_of(dataset) == []


def test_what_a_folder_holds(tmp_path: Path) -> None:
    write(tmp_path / "one" / "mine.jsonl", {"question": "When?"})
    assert read_dataset(tmp_path / "one").questions["text"].tolist() == ["When?"]
    write(tmp_path / "one" / "other.jsonl", {"question": "Where?"})
    with pytest.raises(BenchError, match=r"holds mine.jsonl, other.jsonl; name one chunks.jsonl"):
        read_dataset(tmp_path / "one")
    titled = {"id": 1, "title": "T", "text": "a"}
    write(tmp_path / "two" / "chunks.jsonl", titled, {"id": 1, "text": "b"})
    dataset = read_dataset(tmp_path / "two")
    assert dataset.passages[["title", "text"]].to_numpy().tolist() == [["T", "a"]]
    notes = dataset.notes
    assert notes == (
        "1 rows left out, the first row 2: the passage '1' has two texts; give each its own id",
    )
    write(tmp_path / "two" / "questions.jsonl", *[{"id": 1, "text": text} for text in "ab"])
    with pytest.raises(BenchError, match="questions: 1 rows repeat the question_id of another"):
        read_dataset(tmp_path / "two")


def test_of_a_question_that_is_left_out_nothing_stays() -> None:
    row = {"question": "", "contexts": ["A passage."], "relevant": "p1"}
    dataset = from_objects([{"question": "Where?"}, row], {"p1": "Text."})
    assert len(dataset.questions) == 1
    assert dataset.labels.empty
    assert dataset.passages["text"].tolist() == ["Text."]


def test_questions_alone_and_as_objects() -> None:
    assert from_objects(["When?", "Where?"]).questions["text"].tolist() == ["When?", "Where?"]
    # An empty list of relevant passages says that there is no answer, where none is given.
    told = [{"question": "When?", "relevant": [], "reference": "8"}, {"question": "Where?"}]
    told.append({"question": "Who?", "relevant": []})
    assert from_objects(told).questions["answerable"].tolist() == [True, True, False]
    # Without passages nobody knows which labels name none.
    assert from_objects([{"question": "When?", "relevant": "a"}]).notes == ()
    assert from_objects(None, ["Там зал."]).language == "ru"
    question = Question("q", "Где?", ("Там.",), {"0": 2.0}, cluster="c", answerable=False)
    dataset = from_objects([question], ["Там зал."])
    row = dataset.questions.iloc[0]
    assert (row["question_id"], row["reference"], row["unit"]) == ("q", "Там.", "c")
    assert (dataset.language, row["answerable"]) == ("ru", False)


def test_the_language_is_that_of_questions_from_beginning_to_end() -> None:
    assert from_objects(["Where?"] * 3 + ["Сколько стоит комната?"] * 4).language == "ru"


@pytest.mark.parametrize("documents", [[{"text": ""}], []])
def test_objects_that_say_nothing_are_refused(documents: Any) -> None:
    with pytest.raises(BenchError, match=r"no row|no rows"):
        from_objects([{"question": ""}], documents)


def test_a_set_is_written_in_place_of_its_older_files_alone(tmp_path: Path) -> None:
    write(tmp_path / "notes.en.jsonl", {"note": "mine"})
    for question in ("When?", "Where?"):
        write_dataset([from_objects([question])], tmp_path)
    assert read_dataset(tmp_path).questions["text"].tolist() == ["Where?"]
    assert (tmp_path / "notes.en.jsonl").exists()


def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset([from_objects(["When?"], ["At 8."])], tmp_path / "d")

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_json", fail)
    with pytest.raises(OSError, match="No space"):
        write_dataset([from_objects(["Where?"], ["There."])], tmp_path / "d")
    assert read_dataset(tmp_path / "d").questions["text"].tolist() == ["When?"]


def test_a_line_of_beir_that_shares_no_more_than_a_number_is_no_copy(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": 1, "title": "", "text": "It opens at 8."}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": 1, "text": "When does it open?"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t1\t1\n")
    dataset = read_dataset(tmp_path)
    assert len(dataset.labels) == 1
    assert dataset.notes == ()
