"""People's labels in a table of answers: they try judges and correct means, and nobody writes a second file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import data, stats, tiers
from ragbench.old.cli.looks import marked
from ragbench.old.core import settings
from ragbench.old.data.cells import Forms
from ragbench.old.data.samples import read_samples
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.scoring import corrections
from tests.old.cli.command_line import one_line, ragbench
from tests.old.small_project import write_lines

N = 24


def table(folder: Path, name: str = "a.jsonl", **own: Any) -> Path:
    """Answers of one system, every third of which is wrong; own: further columns, by a function of the row."""
    rows = [
        {"id": f"q{n:02}", "question": f"When does hall {n} open?", "answer": f"It opens at {8 if n % 3 else 9}.",
         "ground_truth": "It opens at 8.", "contexts": ["The hall opens at 8. Ask at the desk."],
         **{column: cell(n) for column, cell in own.items()}}
        for n in range(N)
    ]  # fmt: skip
    path = folder / name
    write_lines(path, [{key: value for key, value in row.items() if value is not None} for row in rows])
    return path


def test_a_column_of_labels_tries_a_judge_without_a_second_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    table(project, label=lambda n: "Да" if n % 3 else "нет")
    done = ragbench("load", "answers", "a.jsonl", "--name", "pilot")
    assert done.returncode == 0, done.stderr
    assert "Then: ragbench run tier_judge -p people_scale=0,1 --dataset pilot" in one_line(done.stdout)
    rated = data.load("pilot", settings.load().data_folder).ratings
    assert [(one.question_id, one.ratings, len(one.context)) for one in rated][:3] == [
        ("q00", {"people": 0.0}, 1), ("q01", {"people": 1.0}, 1), ("q02", {"people": 1.0}, 1),
    ]  # fmt: skip
    made = tiers.tier_judge("pilot", people_scale="0,1", tempted=0, resamples=100)
    [accuracy] = [
        one.estimate for one in made.estimates_by("against")
        if (one.system, one.metric, one.where["against"]) == ("lexical", "accuracy", "mean")
    ]  # fmt: skip
    assert accuracy.n == N
    answers = made.extra["answers"].set_index("sample")
    assert answers["people"].tolist() == [float(n % 3 > 0) for n in range(N)]


@pytest.mark.parametrize(
    "form", ["rows", "columns", "Оценка асессора {}", "Expert {}", "rater_{}", "Балл эксперта №{}"]
)
def test_each_of_several_people_is_a_rater(bare: Path, form: str) -> None:
    """One row a label, with the person's name; or one column a person, which the command or a number names."""
    names = {"anna": "anna", "boris": "boris"}
    if form == "rows":
        rows = [{"id": f"q{n}", "question": "When?", "answer": "At 8.", "rating": 1 + (n + who) % 5, "annotator": name}
                for n in range(6) for who, name in enumerate(("anna", "boris")) if n or not who]  # fmt: skip
        write_lines(bare / "t.jsonl", rows)
        brought, _ = data.answer_tables.read(bare / "t.jsonl")
        forms = Forms()
        assert len(read_samples(bare / "t.jsonl", forms)) == 6, "an answer that two people labelled is one answer"
        assert not forms.left_out.counts
    else:
        if form != "columns":
            names = {name: form.format(number) for number, name in enumerate(names, 1)}
        rows = [{"id": f"q{n}", "question": "When?", "answer": "At 8.", names["anna"]: 1 + n % 5,
                 names["boris"]: 1 + (n + 1) % 5 if n else ""} for n in range(6)]  # fmt: skip
        write_lines(bare / "t.jsonl", rows)
        brought, _ = data.answer_tables.read(bare / "t.jsonl", {"label": "anna,boris"} if form == "columns" else None)
    found = {one.question_id: one.ratings for one in brought.ratings}
    assert found["q0"] == {names["anna"]: 1.0}
    assert found["q3"] == {names["anna"]: 4.0, names["boris"]: 5.0}
    assert "taken for a scale from 1 to 5" in " ".join(brought.notes)
    assert brought.runs[-1] == "tier_judge", "the scale that is asked for anyway is not said"


def test_labels_of_a_table_of_answers_correct_a_mean(bare: Path) -> None:
    path = table(bare, label=lambda n: None if n % 2 else 1.0 if n % 3 else 0.2)
    metric = "factual_correctness"
    made = tiers.corrected(tiers.rag_metrics(answers=str(path), metrics=metric, resamples=100), f"{metric}={path}")
    [label] = made.facts["corrected"]
    scores = made.scores[made.scores["metric"] == label].set_index("sample")["value"]
    given = {f"q{n:02}": 1.0 if n % 3 else 0.2 for n in range(0, N, 2)}
    rest = [name for name in scores.index if name not in given]
    expected = stats.prediction_powered(
        np.array([given[name] for name in scores.index if name in given]),
        scores[[name for name in scores.index if name in given]], scores[rest], bounds=(0.0, 1.0), seed=0,
    )  # fmt: skip
    [one] = [each.estimate for each in made.estimates if each.metric == label]
    assert (one.value, one.low, one.high) == pytest.approx((expected.value, expected.low, expected.high))
    with pytest.raises(BenchError, match=r"nothing says which metric its labels are of; say it: METRIC=a\.jsonl"):
        corrections.read(str(path))


def test_what_anybody_may_have_given_is_no_label(bare: Path) -> None:
    """A column `score` may be a metric's; classes of texts are none, and both are said."""
    table(bare, score=lambda n: n / N, label=lambda n: "comparison" if n else 1)
    forms = Forms()
    samples = read_samples(bare / "a.jsonl", forms)
    assert [one.labels for one in samples][:2] == [{"people": 1.0}, None]
    assert "not read, as no field is called so: score" in forms.told[0]
    assert f"label: {N - 1} cells are neither a number nor yes or no, and no labels" in forms.told
    assert "label: people's labels of 1 answer;" in forms.told[-1]


def test_lists_of_answers_without_a_reference_are_the_right_ones(bare: Path) -> None:
    rows = [{"question": "Who wrote Hamlet?", "answer": ["Shakespeare", "William Shakespeare"]},
            {"question": "Capital of France?", "answer": ["Paris"]}]  # fmt: skip
    write_lines(bare / "qa.jsonl", rows)
    done = ragbench("init", "qa.jsonl", "--force")
    assert "question = question, reference = answer" in one_line(done.stdout)
    assert "Next: ragbench load questions qa.jsonl" in done.stdout
    questions = {one.text: one for one in data.foreign_sets.questions(bare / "qa.jsonl").questions}
    assert questions["Who wrote Hamlet?"].references == ("Shakespeare", "William Shakespeare")
    assert questions["Capital of France?"].reference == "Paris"
    write_lines(bare / "both.jsonl", [{**rows[0], "answer": ["Shakespeare"], "reference": "William Shakespeare"}])
    [sample] = read_samples(bare / "both.jsonl")
    assert (sample.response, sample.reference) == ("Shakespeare", "William Shakespeare")
    (bare / "plain.jsonl").write_text(json.dumps({"question": "When?", "answer": "At 8."}) + "\n", encoding="utf-8")
    [question] = data.foreign_sets.questions(bare / "plain.jsonl").questions
    assert question.reference == "At 8.", "loaded as questions, the only answer there is, is the right one"


def test_cells_that_bars_part_are_cells(bare: Path) -> None:
    (bare / "a.csv").write_text("id|question|bot_reply|true_answer\n1|When?|At 9, sharp.|At 9.\n", encoding="utf-8")
    [sample] = read_samples(bare / "a.csv")
    assert (sample.user_input, sample.response, sample.reference) == ("When?", "At 9, sharp.", "At 9.")


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ("Yes да ДА 1 1.0 1,0 TRUE + ✓ ✔️ Correct. Верно relevant релевантно y ok", {1.0}),
        ("No нет 0 0,0 False - – ✗ incorrect Неверно irrelevant нерелевантно n незачет hallucinated", {0.0}),
    ],
)
def test_labels_are_read_however_they_are_spelled(bare: Path, words: str, labels: set[float]) -> None:
    rows = [{"question": "When?", "answer": "At 8.", "label": word} for word in words.split()]
    write_lines(bare / "t.jsonl", rows)
    assert {(one.labels or {}).get("people") for one in read_samples(bare / "t.jsonl", Forms())} == labels


def test_a_word_among_numbers_of_another_scale_is_no_lowest_grade(bare: Path) -> None:
    """A dash for a grade that is not there would be 0 on a scale from 1 to 5."""
    table(bare, label=lambda n: "-" if n == 3 else 1 + n % 5)
    with pytest.raises(data.DatasetError, match=r"label holds '-', which is 0 or 1, and the number 2: leave the cells"):
        read_samples(bare / "a.jsonl", Forms())
    table(bare, label=lambda n: "yes" if n == 3 else 0.5)
    assert read_samples(bare / "a.jsonl")[3].labels == {"people": 1.0}


def test_what_could_be_a_label_or_another_systems_answer_is_guessed(bare: Path) -> None:
    for columns, guess in {
        "human,expert": "not read, as no field is called so: human, expert (is human the label? --column label=human)",
        "is_correct,x": "(is is_correct the label? --column label=is_correct)",
        "rag_answer,baseline_answer": "(is baseline_answer what another system answered? --column "
        "answer=rag_answer,baseline_answer)",
    }.items():
        (bare / "t.csv").write_text(f"question,reference,{columns}\nWhen?,8,1,0\n", encoding="utf-8")
        forms = Forms()
        read_samples(bare / "t.csv", forms)
        assert guess in " ".join(forms.told)
    (bare / "t.csv").write_text("Вопрос,Ответ бота,Ответ оператора\nКогда?,В 8,В 9\n", encoding="utf-8")
    read_samples(bare / "t.csv", forms := Forms())
    assert forms.told[0].endswith(
        "(is Ответ оператора the reference? --column 'reference=Ответ оператора', or what another system answered? "
        "--column 'answer=Ответ бота,Ответ оператора')"
    )


_ASKED = {"question": "When?", "answer": "At 8"}
EXPORTS: dict[str, tuple[list[dict[str, Any]], dict[str, float]]] = {
    "Argilla": (
        [{"id": "a", "fields": _ASKED, "metadata": {}, "suggestions": {"ok": {"value": "bad"}}, "responses": {"ok": [
            {"value": "good", "user_id": "u", "status": "submitted"}, {"value": "bad", "user_id": "v"},
            {"value": "bad", "user_id": "w", "status": "discarded"}]}}],
        {"u": 1.0, "v": 0.0},
    ),
    "Argilla, before its version 2": (
        [{"id": "a", "fields": {"prompt": "When?", "response": "At 8"}, "responses": [
            {"user_id": "u", "status": "submitted", "values": {"rating": {"value": 4}, "why": {"value": "so"}}}]}],
        {"u": 4.0},
    ),
    "Label Studio": (
        [{"id": 1, "data": _ASKED, "predictions": [], "annotations": [
            {"completed_by": 7, "was_cancelled": False, "result": [{"value": {"choices": ["Correct"]}}]},
            {"completed_by": {"email": "b@example.org"}, "result": [{"value": {"choices": ["Incorrect"]}}]},
            {"completed_by": 9, "was_cancelled": True, "result": []}]}],
        {"7": 1.0, "b@example.org": 0.0},
    ),
    "Label Studio, stars": (
        [{"id": 1, "data": _ASKED, "annotations": [{"completed_by": 7, "result": [{"value": {"rating": 5}}]}]}],
        {"7": 5.0},
    ),
    "Label Studio, a row each": (
        [{**_ASKED, "id": 1, "annotator": who, "annotation_id": n, "lead_time": 3.2, "correctness": said}
         for n, (who, said) in enumerate({"7": "Correct", "8": "Incorrect"}.items())],
        {"7": 1.0, "8": 0.0},
    ),
    "Prodigy": (
        [{**_ASKED, "response": "At 8", "answer": said, "_input_hash": 1, "_task_hash": 2, "_annotator_id": who}
         for who, said in (("db-a", "accept"), ("db-b", "reject"))],
        {"db-a": 1.0, "db-b": 0.0},
    ),
    "Prodigy, choices": (
        [{"question": "When?", "response": "At 8", "accept": ["bad"], "answer": "accept", "options": [{"id": "bad"}],
          "_input_hash": 1, "_task_hash": 2, "_session_id": "db-a"}],
        {"db-a": 0.0},
    ),
    "Toloka": (
        [{"INPUT:question": "When?", "INPUT:answer": "At 8", "OUTPUT:result": said, "GOLDEN:result": "",
          "ASSIGNMENT:task_id": "t", "ASSIGNMENT:worker_id": who} for who, said in (("w", "OK"), ("x", "BAD"))],
        {"w": 1.0, "x": 0.0},
    ),
    "Toloka, without names of tasks": (
        [{"INPUT:question": "When?", "INPUT:answer": "At 8", "OUTPUT:score": said, "ASSIGNMENT:worker_id": who}
         for who, said in (("w", "5"), ("x", "4"))],
        {"w": 5.0, "x": 4.0},
    ),
    "people who are asked a question": (
        [{**_ASKED, "annotator": who, "is_correct": said} for who, said in (("7", "yes"), ("8", "no"))],
        {"7": 1.0, "8": 0.0},
    ),
    "doccano": ([{"id": 1, "text": "At 8", "question": "When?", "label": ["correct"], "Comments": []}],
                {"people": 1.0}),
}  # fmt: skip
"""What people said of one answer, as the programs write it that asked them, and what each gave."""


def test_what_a_model_said_of_an_answer_is_no_label_of_a_person(tmp_path: Path) -> None:
    judged = {"context.span_id": "s", "input": "When?", "output": "At 8", "reference": "c", "label": "correct"}
    [sample] = read_samples(write_lines(tmp_path / "a.jsonl", [{**judged, "score": 1, "explanation": "so"}]))
    assert (sample.response, sample.labels) == ("At 8", None)


@pytest.mark.parametrize("names", [("{} answer", "{} rating"), ("Ответ {}", "Оценка {}")])
def test_each_system_of_a_wide_table_has_labels_of_its_own(tmp_path: Path, names: tuple[str, str]) -> None:
    head = ",".join(name.format(system) for system in ("gpt", "llama") for name in names)
    (tmp_path / "a.csv").write_text(f"question,{head},mistral rating\nWhen?,At 8,1,At 9,5,3\n", encoding="utf-8")
    given = [(one.system, one.response, one.labels) for one in read_samples(tmp_path / "a.csv", Forms())]
    assert given == [("gpt", "At 8", {"people": 1.0}), ("llama", "At 9", {"people": 5.0})]


def test_several_marks_in_a_list_are_of_as_many_people(tmp_path: Path) -> None:
    row = {"id": "a", "question": "When?", "answer": "At 8", "quality.responses": [5, 4]}
    path, forms = write_lines(tmp_path / "a.jsonl", [row]), Forms()
    read_samples(path, forms)
    assert "is quality.responses the label? --column label=quality.responses" in forms.unread[0]
    [sample] = read_samples(path, forms, {"label": "quality.responses"})
    assert sample.labels == {"1": 5.0, "2": 4.0}


@pytest.mark.parametrize("name", EXPORTS)
def test_what_people_said_in_a_program_of_labels_is_read(tmp_path: Path, name: str) -> None:
    rows, labels = EXPORTS[name]
    path = write_lines(tmp_path / "a.jsonl", rows)
    brought, _ = data.answer_tables.read(path)
    [rated] = brought.ratings
    assert (rated.answer, rated.ratings) == ("At 8", labels)
    assert [question.text for question in brought.questions] == ["When?"]
    [sample] = read_samples(path, Forms())
    assert (sample.user_input, sample.response, sample.reference, sample.cluster) == ("When?", "At 8", None, None)


def test_texts_in_a_column_of_labels_may_be_the_right_answers(bare: Path) -> None:
    (bare / "t.csv").write_text("question,answer,label\nCapital of France?,Lyon,Paris\n", encoding="utf-8")
    read_samples(bare / "t.csv", forms := Forms())
    assert forms.told == [
        "label: 1 cells are neither a number nor yes or no, and no labels (the right answers? --column reference=label)"
    ]
    (bare / "some.csv").write_text("question,answer,label\nWhen?,At 8,Paris\nWho?,Ann,1\n", encoding="utf-8")
    read_samples(bare / "some.csv", forms := Forms())
    assert "label: 1 cells are neither a number nor yes or no, and no labels" in forms.told, "others are labels"
    [sample] = read_samples(bare / "t.csv", Forms(), {"reference": "label"})
    assert (sample.reference, sample.labels) == ("Paris", None)


def test_columns_that_share_a_word_are_no_raters() -> None:
    flights = [("Riga", "Oslo"), ("Oslo", "Bonn"), ("Kyiv", "Rome"), ("Bern", "Nice")]
    assert marked([{"id": n, "from": start, "to": end} for n, (start, end) in enumerate(flights)]) == []
    said = [("good", "poor"), ("good", "good"), ("poor", "poor"), ("poor", "good")]
    assert marked([{"id": n, "ann": one, "bob": other} for n, (one, other) in enumerate(said)]) == ["ann", "bob"]
