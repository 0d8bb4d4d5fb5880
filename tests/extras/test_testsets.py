"""draft and pool, as they are typed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

import ragbench as rb
from ragbench.cli.main import run
from tests.extras.conftest import NAMES

# One draft a passage: p0 has a quote that is not there, p1 copies eight words, p2 asks what the
# passage does not answer, p3 and p4 ask the same, p5 is good, p6 is as short as can be, p7 shorter.
JUDGE = """
DRAFTS = {
    "amber": ("who is let in?", "it opens at midnight"),
    "birch": ("why is it said that whoever brings the birch card of a student?", "is let in"),
    "cedar": ("what is the price of soup?", "is let in"),
    "daisy": ("whom does the guard admit?", "is let in"),
    "ebony": ("Whom does the guard admit?", "is let in"),
    "fennel": ("which card do I need?", "the fennel  CARD"),
    "ginger": ("what?", "i"),
    "hazel": ("why?", "is let in"),
}

def reply(prompt):
    if "Write one question" in prompt:
        name = prompt.split("Passage:")[1].split("The ")[1].split()[1]
        question, quote = DRAFTS.get(name, (f"how about {name}?", "is let in"))
        answer = "A" if name == "ginger" else "the student"
        return {"question": question, "answer": answer, "quote": quote}
    if "price of soup" in prompt:
        return {"reason": "nothing on soup", "rating": 1}
    return {"reason": "r", "rating": 3}
"""


@pytest.fixture
def judged(office: Path) -> Path:
    (office / "scripted_judge.py").write_text(JUDGE)
    return office


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_without_a_model_queries_are_the_words_of_a_passage_alone(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["draft", "office", "--questions", "5", "--name", "drafted"]
    assert run(line) == 0
    captured = capsys.readouterr()
    assert "5 questions more, 29 in all" in captured.out
    assert "no model" in captured.err
    drafted = rows_of(office / "data" / "drafted" / "questions.en.jsonl")[-5:]
    labels = rows_of(office / "data" / "drafted" / "labels.en.jsonl")[-5:]
    for question, label in zip(drafted, labels, strict=True):
        number = int(str(label["passage_id"])[1:])
        assert NAMES[number] in str(question["text"]).split()
        assert question["source"] == "known item"
        assert not any(word.isdigit() for word in str(question["text"]).split())
        assert question["unit"] == f"http://x.y/{number}"
    settings = office / "ragbench.toml"
    settings.write_text('language = "ru"\n' + settings.read_text())
    assert run(line) == 4
    assert "office has no passages" in capsys.readouterr().err, "none in Russian"
    assert run([*line, "--language", "en"]) == 0


def test_a_plan_writes_nothing(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (judged / "data" / "office" / "questions.en.jsonl").read_text()
    assert run(["draft", "office", "--questions", "5", "--plan"]) == 0
    assert run(["draft", "office", "--questions", "5", "--judge", "lexical", "--plan"]) == 0
    assert capsys.readouterr().out == ""
    assert run(["draft", "office", "--questions", "5", "--judge", "script", "--plan"]) == 0
    assert "script" in capsys.readouterr().out
    assert (judged / "data" / "office" / "questions.en.jsonl").read_text() == before


def test_two_filters_turn_drafts_down_and_people_have_the_last_word(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["draft", "office", "--questions", "24", "--judge", "script", "--review", "drafts.csv"]
    assert run(line) == 0
    table = pd.read_csv(judged / "drafts.csv", keep_default_na=False).set_index("passage_id")
    assert table.loc["p0", "filter"] == "its quote is not in the passage"
    assert table.loc["p1", "filter"] == "8 words in a row are the passage's"
    assert table.loc["p2", "filter"] == "the passage does not answer it: nothing on soup"
    assert sorted(table.loc[["p3", "p4"], "filter"]) == ["", "asked already"]
    assert table.loc["p5", "filter"] == ""
    assert table.loc["p6", "filter"] == ""
    assert table.loc["p7", "filter"].startswith("no draft: ")
    assert table["keep"].sum() == 19
    printed = capsys.readouterr()
    assert "ragbench draft office --take drafts.csv" in printed.out
    assert "1 turned down: no draft" in printed.err
    # A passage that answers in part will do.
    (judged / "scripted_judge.py").write_text(JUDGE.replace('"rating": 3', '"rating": 2'))
    sys.modules.pop("scripted_judge")
    assert run([*line[:-1], "again.csv"]) == 0
    assert pd.read_csv(judged / "again.csv")["keep"].sum() == 19

    table["keep"] = "no"
    table.loc["p5", ["text", "keep"]] = ["may I enter?", "да"]
    table.loc["p0", "keep"] = "yes"
    table.reset_index().to_csv(judged / "drafts.csv", index=False, sep=";")
    assert run(["draft", "office", "--take", "drafts.csv"]) == 0
    folder = judged / "data" / "office"
    questions = rows_of(folder / "questions.en.jsonl")
    assert [row["question_id"] for row in questions][:24] == [f"q{n}" for n in range(24)]
    assert questions[7]["text"] == "when does the dormitory hazel open?"
    assert {row["text"] for row in questions[24:]} == {"may I enter?", "who is let in?"}
    assert {row["reference"] for row in questions[24:]} == {"the student"}
    labels = rows_of(folder / "labels.en.jsonl")
    assert {row["passage_id"] for row in labels if row["grade"] == 3} == {"p0", "p5"}
    assert len(labels) == 26
    assert "библиотека" in (folder / "questions.ru.jsonl").read_text()
    # Taken again, nothing is there twice.
    assert run(["draft", "office", "--take", "drafts.csv"]) == 0
    assert len(rows_of(folder / "questions.en.jsonl")) == 26


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"keep": "maybe"}, "write yes or no"),
        ({"keep": "yes", "passage_id": "p99"}, "no passage 'p99'"),
        ({"keep": "yes", "text": " "}, "without a question"),
        ({"keep": "no"}, "no draft is kept"),
        ({}, "has no column keep; `ragbench draft` writes one"),
    ],
)
def test_a_review_is_refused_in_a_sentence(
    judged: Path, change: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"question_id": "d", "passage_id": "p1", "text": "t", "reference": "", "quote": ""}
    row |= {"source": "drafted", "filter": ""}
    pd.DataFrame([row | change]).to_csv(judged / "drafts.csv", index=False)
    assert run(["draft", "office", "--take", "drafts.csv"]) in (3, 4)
    assert said in capsys.readouterr().err


def test_a_data_set_is_never_written_beside_tables_that_double_it(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = office / "data" / "mine"
    folder.mkdir()
    for name in ("chunks", "questions"):
        text = (office / "data" / "office" / f"{name}.en.jsonl").read_text()
        (folder / f"{name}.jsonl").write_text(text)
    assert run(["draft", "mine", "--questions", "3"]) == 3
    assert "--name NAME" in capsys.readouterr().err
    assert run(["draft", "mine", "--questions", "3", "--name", "new"]) == 0


def test_short_passages_have_no_drafts(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = office / "data" / "short"
    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxy"
    texts = [" ".join(a + letter for letter in letters[:n]) for a, n in (("k", 24), ("z", 25))]
    passages = [{"id": text[0], "text": text} for text in texts]
    (folder / "chunks.en.jsonl").write_text("\n".join(map(json.dumps, passages)))
    (folder / "questions.en.jsonl").write_text('{"id": "q", "text": "b?", "relevant": [["z"]]}')
    (folder / "notes.md").write_text("Of mine.")
    assert run(["draft", "short", "--questions", "9"]) == 0
    assert "1 questions more, 2 in all" in capsys.readouterr().out
    label = rows_of(folder / "labels.en.jsonl")[-1]
    assert (label["passage_id"], label["group"]) == ("z", 0)
    # Of words of the same weight the first four by the alphabet.
    assert rows_of(folder / "questions.en.jsonl")[-1]["text"] == "za zb zc zd"


def retrieve_by_word(question: str, k: int) -> list[str]:
    """Return the passage that a question names: of every second name at the second rank."""
    place = next(NAMES.index(word) for word in question.split() if word in NAMES)
    return [f"p{place}"] if place % 2 else [f"p{(place + 1) % 24}", f"p{place}"]


def retrieve_first(question: str, k: int) -> list[str]:
    """Return the same passages whatever is asked."""
    return [f"p{n}" for n in range(k)]


def save_run(folder: Path, dataset: str, k: int = 3) -> None:
    systems = {"first": retrieve_first, "word": retrieve_by_word}
    options = {"repeats": 1, "index_questions": 0, "draws": 2_000, "baseline": "first"}
    result = rb.tier1(systems, dataset=dataset, k=k, **options)
    result.save_frames(folder)


def test_drafts_stand_beside_questions_pair_by_pair(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["draft", "office", "--questions", "20", "--name", "drafted"]) == 0
    save_run(office / "reports" / "one", "drafted")
    capsys.readouterr()
    assert run(["draft", "--beside", "one"]) == 0
    said = capsys.readouterr().out
    assert "On mrr@3 20 drafts order 1 of 1 pairs of systems as 24 questions do" in said
    assert "on 0 they contradict, on 0 the order is not shown" in said
    assert "word − first" in said
    assert run(["draft", "--beside", "one", "--primary", "mrr"]) == 3
    assert "did you mean 'mrr@3'" in capsys.readouterr().err
    save_run(office / "reports" / "two", "office")
    assert run(["draft", "--beside", "two"]) == 3
    assert "drafted questions and others" in capsys.readouterr().err
    assert run(["draft", "--beside", "one", "--primary", "x"]) == 3
    assert "no metric 'x'; there are hit_rate@1" in capsys.readouterr().err


def test_a_run_without_rankings_has_no_pool_and_no_order(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "q", "question": "?", "answer": "a", "reference": "a"}]
    rb.score(rows, ["token_f1"]).save_frames(office / "reports" / "scored")
    for line in (["draft", "--beside", "scored"], ["pool", "scored"]):
        assert run(line) == 3
        assert "scored has no page tier1_retrieval" in capsys.readouterr().err


def test_what_is_judged_already_makes_no_pool(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = {"right": lambda question, k: retrieve_by_word(question, k)[-1:]}
    rb.tier1(right, dataset="office", k=1, repeats=1, index_questions=0).save_frames(
        office / "reports" / "right"
    )
    assert run(["pool", "right", "--sheet", "sheet.csv"]) == 4
    assert "everything that was retrieved is judged" in capsys.readouterr().err


def test_people_grade_a_pool_and_grades_become_labels_of_a_copy(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_run(office / "reports" / "one", "office", k=2)
    assert run(["pool", "one", "--sheet", "sheet.csv"]) == 0
    sheet = pd.read_csv(office / "sheet.csv", dtype=str, keep_default_na=False)
    # p0 and p1 of 24 questions less the answers of two, and the next of eleven more even names.
    assert len(sheet) == 24 * 2 - 2 + 11
    for more, n in ((["--depth", "1"], 23 + 12), (["--limit", "2"], 1 + 1)):
        assert run(["pool", "one", "--sheet", "few.csv", *more]) == 0
        assert len(pd.read_csv(office / "few.csv")) == n
    assert sheet["question"][0] == "when does the library amber open?"
    sheet.loc[0, "grade"], sheet.loc[1, "grade"], sheet.loc[2, "grade"] = "3", "2", "1"
    sheet.to_csv(office / "sheet.csv", index=False)
    assert run(["pool", "one", "--take", "sheet.csv", "--name", "pooled"]) == 0
    captured = capsys.readouterr()
    assert "3 grades, 2 of them relevant" in captured.out
    assert "54 pairs stay without a grade" in captured.err
    labels = pd.DataFrame(rows_of(office / "data" / "pooled" / "labels.en.jsonl"))
    assert labels["grade"].value_counts().to_dict() == {-1.0: 54, 1.0: 24, 3.0: 1, 2.0: 1, 0.0: 1}
    assert not (office / "data" / "office" / "labels.en.jsonl").exists()
    mixed = office / "data" / "mixed"
    mixed.mkdir()
    (mixed / "chunks.jsonl").write_text("{}")
    assert run(["pool", "one", "--take", "sheet.csv", "--name", "mixed"]) == 3
    assert "would be read beside the new" in capsys.readouterr().err
    sheet.loc[0, "grade"] = "4"
    sheet.to_csv(office / "sheet.csv", index=False)
    assert run(["pool", "one", "--take", "sheet.csv"]) == 3
    assert "none of 0, 1, 2, 3" in capsys.readouterr().err
    line = ["pool", "one", "--take", "sheet.csv", "--name", "russian", "--language", "ru"]
    sheet.loc[0, "grade"] = "3"
    sheet.to_csv(office / "sheet.csv", index=False)
    assert run(line) == 0
    assert (office / "data" / "russian" / "labels.ru.jsonl").is_file()
    # A grade of 0 is a grade, in a table of numbers too.
    row = sheet.loc[3, ["question_id", "passage_id"]].to_dict() | {"grade": 0}
    (office / "sheet.jsonl").write_text(json.dumps(row) + "\n")
    assert run(["pool", "one", "--take", "sheet.jsonl", "--name", "graded"]) == 0
    assert "1 grades, 0 of them relevant" in capsys.readouterr().out
    sheet.drop(columns="grade").to_csv(office / "sheet.csv", index=False)
    assert run(["pool", "one", "--take", "sheet.csv"]) == 3
    assert "has no column grade; --sheet writes one" in capsys.readouterr().err


def test_a_judge_grades_a_draw_of_a_pool_and_infap_reads_the_rest(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_run(judged / "reports" / "one", "office", k=2)
    assert run(["pool", "one", "--judge", "script", "--plan"]) == 0
    assert not (judged / "data" / "office-pooled").exists()
    assert run(["pool", "one", "--judge", "script", "--sample", "0.5"]) == 0
    labels = pd.DataFrame(rows_of(judged / "data" / "office-pooled" / "labels.en.jsonl"))
    assert labels["grade"].value_counts().to_dict() == {1.0: 24, -1.0: 29, 3.0: 28}
    result = rb.tier1(
        {"first": retrieve_first}, dataset="office-pooled", k=2, metrics="inferred_ap", repeats=1
    )
    # Of its own question p0 is relevant at rank 1, and what follows is relevant or left out.
    value = result.scores.set_index("question_id")["value"]["q0"]
    assert value == pytest.approx(1.0, abs=1e-3)
    assert run(["pool", "one"]) == 3
    assert "--sheet FILE for people" in capsys.readouterr().err
    assert run(["draft", "office", "--judge", "script,script"]) == 3
    assert "one model drafts" in capsys.readouterr().err


def test_a_pair_that_a_judge_does_not_grade_stays_without_a_grade(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_run(judged / "reports" / "one", "office", k=2)
    unusable = JUDGE.replace('"r", "rating": 3', '"r", "rating": 3 if "amber" in prompt else 9')
    (judged / "scripted_judge.py").write_text(unusable)
    assert run(["pool", "one", "--judge", "script", "--depth", "1", "--name", "part"]) == 0
    captured = capsys.readouterr()
    assert "24 grades, 24 of them relevant" in captured.out
    assert "11 pairs stay without a grade" in captured.err
