"""Answers of several systems: whose they are, to which questions, and what follows when they are loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core import settings
from ragbench.old.data import answer_tables, foreign_sets
from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError
from ragbench.old.data.joined_tables import read_all
from ragbench.old.data.samples import read_samples, samples_of, streamed
from tests.old.small_project import write_lines


def test_one_id_of_two_questions_pairs_nothing(bare: Path) -> None:
    (bare / "a.csv").write_text("id,question,answer\n1,When?,At 8\n2,Where?,Here\n")
    (bare / "b.csv").write_text("id,question,answer\n1,Where?,There\n2,  where? ,There\n3,Who?,Ann\n")
    (bare / "c.csv").write_text("question,answer\nWhere?,There\n")
    forms = Forms()
    found = read_all([bare / "a.csv", bare / "b.csv"], forms)
    assert [(one.system, one.id) for one in found] == [("a", "1"), ("a", "2"), ("b", "2"), ("b", "3")]
    assert forms.told[0].startswith("left out: 1 × row with an id that names another question before; answers are")
    numbered = read_all([bare / "c.csv", bare / "a.csv"], Forms())
    assert [(one.system, one.id, one.user_input) for one in numbered] == [("c", "1", "Where?"), ("a", "2", "Where?")]
    rows = [{"system": name, "id": 1, "question": "When?" if name == "x" else "Where?", "answer": ""} for name in "xy"]
    with pytest.raises(DatasetError, match="names another question"):
        samples_of(rows)


class TestTwoFiles:
    """Answers, and the questions that they are to."""

    @staticmethod
    def read(folder: Path, answers: list[dict[str, Any]], asked: list[dict[str, Any]], **columns: str) -> list[Any]:
        paths = [write_lines(folder / "system.jsonl", answers), write_lines(folder / "gold.jsonl", asked)]
        samples = read_all(paths, Forms(), columns)
        return [(one.id, one.user_input, one.response, one.reference, one.system) for one in samples]

    def test_right_answers_that_are_called_answers_are_named(self, bare: Path) -> None:
        files = [{"id": 1, "prediction": "At 8"}], [{"id": 1, "question": "When?", "answer": "8"}]
        with pytest.raises(DatasetError, match=r"system\.jsonl: has no questions, .* --column reference=answer"):
            self.read(bare, *files)
        assert self.read(bare, *files, reference="answer") == [("1", "When?", "At 8", "8", "system")]

    def test_one_name_is_the_answers_here_and_the_right_ones_there(self, bare: Path) -> None:
        files = [{"id": 1, "answer": "At 8"}], [{"id": 1, "question": "When?", "answer": "8"}]
        assert self.read(bare, *files, reference="answer") == [("1", "When?", "At 8", "8", "system")]

    def test_a_column_that_no_file_has_is_named(self, bare: Path) -> None:
        with pytest.raises(DatasetError, match=r"system\.jsonl, gold\.jsonl: none has a column right"):
            self.read(bare, [{"id": 1, "answer": "8"}], [{"id": 1, "question": "When?"}], reference="right")

    def test_rows_without_ids_are_joined_in_their_order(self, bare: Path) -> None:
        asked = [{"query": "When?", "reference_answer": "8"}, {"query": "Who?", "reference_answer": "Ann"}]
        answers = [{"response": "At 8"}, {"response": "Bob"}]
        told = [("1", "When?", "At 8", "8", "system"), ("2", "Who?", "Bob", "Ann", "system")]
        assert [own[1:] for own in self.read(bare, answers, asked)] == [own[1:] for own in told]
        with pytest.raises(DatasetError, match=r"2 answers and 1 questions of gold\.jsonl that nothing joins"):
            self.read(bare, answers, asked[:1])

    def test_numbers_of_rows_are_no_ids(self, bare: Path) -> None:
        """The first row of the answers is not the question that is called 1."""
        asked = [{"id": 0, "question": "When?", "reference": "8"}, {"id": 1, "question": "Who?", "reference": "Ann"}]
        with pytest.raises(DatasetError, match="that nothing joins: ids are expected in both, or in neither"):
            self.read(bare, [{"response": "At 8"}, {"response": "Bob"}], asked)

    def test_questions_may_stand_beside_what_another_system_answered(self, bare: Path) -> None:
        asked = [{"id": 1, "question": "When?", "reference": "8", "answer": "9"}]
        assert self.read(bare, [{"id": 1, "prediction": "At 8"}], asked) == [
            ("1", "When?", "At 8", "8", "system"), ("1", "When?", "9", "8", "gold"),
        ]  # fmt: skip

    def test_of_questions_with_answers_of_their_own_the_questions_alone_are_taken(self, bare: Path) -> None:
        asked = [{"id": 1, "question": "When?", "answer": "Nine", "reference": "8", "contexts": ["Open from 9."]}]
        answers = write_lines(bare / "a.jsonl", [{"id": 1, "answer": "At 8"}])
        found, _ = read_all([answers, write_lines(bare / "b.jsonl", asked)], Forms())
        assert (found.user_input, found.response, found.reference, found.contexts) == ("When?", "At 8", "8", None)

    def test_answers_without_questions_are_joined_whatever_stands_beside(self, bare: Path) -> None:
        paths = [
            write_lines(bare / "a.jsonl", [{"id": 1, "answer": "At 8"}]),
            write_lines(bare / "b.jsonl", [{"id": 1, "question": "When?", "answer": "Nine"}]),
            write_lines(bare / "q.jsonl", [{"id": 1, "question": "When?", "contexts": ["Open from 8."]}]),
        ]
        found = {one.system: (one.user_input, one.response) for one in read_all(paths, Forms())}
        assert found == {"a": ("When?", "At 8"), "b": ("When?", "Nine")}


class TestRightAnswers:
    """A column `answer` that holds the right ones: beside what a system answered, or in a set of questions."""

    RIGHT = ("8", "Eight")

    def test_beside_what_a_system_answered_in_every_row(self) -> None:
        rows = [{"question": asked, "answer": [*self.RIGHT], "prediction": "At 8"} for asked in ("When?", "Since?")]
        assert [(one.response, one.references) for one in samples_of(rows)] == [("At 8", self.RIGHT)] * 2

    def test_beside_others_that_are_called_right_it_is_asked_which_is_the_answer(self) -> None:
        row = {"question": "When?", "answer": [*self.RIGHT], "prediction": "At 8", "gold": "9"}
        with pytest.raises(DatasetError, match=r"--column answer=prediction or --column answer=answer"):
            samples_of(row)

    def test_for_a_reader_without_right_answers_it_is_the_answer(self, bare: Path) -> None:
        rows = [{"question": "When?", "answer": ["At 8"], "ground_truth_show": 1}]
        (made,) = foreign_sets.decisions(write_lines(bare / "d.jsonl", rows)).decisions
        assert made.answer == "At 8"


def test_instructions_to_a_model_name_no_system() -> None:
    long = "Keep every reply under three lines and mention the opening hours when guests ask about them"
    (found,) = samples_of({"question": "When?", "answer": "At 8", "system": long})
    assert found.system is None


def test_columns_that_several_systems_answered_in_are_guessed(bare: Path) -> None:
    (bare / "a.csv").write_text("question,gold,gpt-4o,claude-3,seconds\nWhen?,8,At 8,At nine,1.5\n")
    forms = Forms()
    read_samples(bare / "a.csv", forms)
    assert "are these answers of several systems? --column answer=gpt-4o,claude-3" in forms.unread[0]


def test_prompts_of_promptfoo_with_names_are_systems() -> None:
    row = {"provider": {"id": "gpt", "label": "mine"}, "vars": {"question": "When?"}, "testIdx": 0}
    found = samples_of([
        {**row, "prompt": {"raw": f"{name} it", "label": name}, "response": {"output": "At 8."}} for name in ("a", "b")
    ])  # fmt: skip
    assert [one.system for one in found] == ["mine, a", "mine, b"]


def test_prompts_of_promptfoo_without_names_are_systems_too() -> None:
    """promptIdx counts all pairs of a provider and a prompt; in concurrent runs they stand in any order."""
    asked = [("gpt", "Say:"), ("gpt", "Tell:"), ("llama", "Say:")]
    rows = [
        {"provider": {"id": name}, "vars": {"question": f"{test}?"}, "testIdx": test, "promptIdx": place,
         "prompt": {"raw": raw, "label": raw}, "response": {"output": f"{name} {raw}"}}
        for test in (0, 1)
        for place, (name, raw) in sorted(enumerate(asked), reverse=bool(test))
    ]  # fmt: skip
    forms = Forms()
    read = {(one.id, one.system): one.response for one in samples_of(rows, forms=forms)}
    said = {"gpt": "gpt Say:", "gpt, prompt 1": "gpt Tell:", "llama": "llama Say:"}
    assert read == {(test, system): text for test in "01" for system, text in said.items()}
    assert not forms.left_out.said


def test_rows_of_several_systems_with_ids_of_their_own_are_compared_by_their_questions(bare: Path) -> None:
    rows = [("Where?", "gpt"), ("Where?", "llama"), ("When?", "llama"), ("When?", "gpt"), ("Who?", "gpt")]
    lines = [f"{number},{system},{asked},a,r" for number, (asked, system) in enumerate(rows, 1)]
    (bare / "long.csv").write_text("\n".join(["№,model,question,answer,reference", *lines]), encoding="utf-8")
    forms = Forms()
    assert [(one.system, one.id) for one in read_samples(bare / "long.csv", forms)] == [
        ("gpt", "1"), ("llama", "1"), ("llama", "3"), ("gpt", "3"), ("gpt", "5"),
    ]  # fmt: skip
    assert "2 × row with an id of its own: it is compared by its question" in forms.told
    twice = [{"system": name, "id": own, "question": "Yes?", "answer": "a"} for name in "xy" for own in "pq"]
    assert [one.id for one in samples_of([*twice[:2], *reversed(twice[2:])])] == ["p", "q", "q", "p"]
    apart = [{"system": n, "id": n, "question": "Total?", "reference": n, "answer": "a"} for n in "xy"]
    assert [one.id for one in samples_of(apart)] == ["x", "y"], "two questions, as their references say"
    write_lines(
        bare / "rated.jsonl",
        [{"id": n, "question": "q?", "answer": "a", "rater": f"r{n}", "rating": n} for n in (1, 2)],
    )
    found = [one for _, one in streamed(bare / "rated.jsonl", ratings=True)]
    assert [(one.id, one.labels) for one in found] == [("1", {"r1": 1.0}), ("1", {"r2": 2.0})]


def test_answers_of_several_systems_may_be_numbers(bare: Path) -> None:
    rows = ["17,17,When?", "It is 5,6,Where?", "8,It is 9,Who?"]
    (bare / "wide.csv").write_text("\n".join(["answer_hybrid,answer_dense,question", *rows]), encoding="utf-8")
    found = read_samples(bare / "wide.csv", forms := Forms())
    assert [(one.system, one.response) for one in found] == [
        ("hybrid", "17"), ("dense", "17"), ("hybrid", "It is 5"), ("dense", "6"), ("hybrid", "8"), ("dense", "It is 9"),
    ]  # fmt: skip
    assert not forms.told
    (bare / "marks.csv").write_text("question,reference,answer_relevance,answer_cost\nWhen?,8,0.9,0.1\n")
    assert [one.system for one in read_samples(bare / "marks.csv")] == [None], "marks are no answers"


@pytest.mark.parametrize("first", [{}, {"answer_rag": None}, {"answer_rag": ""}])
def test_the_columns_of_all_rows_tell_which_systems_there_are(bare: Path, first: dict[str, Any]) -> None:
    """`answer_rag` alone is an answer; beside `answer_baseline` it is one of two, whatever the first row holds."""
    others = [
        {"question": "Where?", "answer_rag": "b", "answer_baseline": "c"},
        {"question": "Who?", "answer_rag": "d"},
    ]
    rows: list[dict[str, Any]] = [{"question": "When?", **first, "answer_baseline": "a"}, *others]
    for given in (rows, rows[::-1]):
        forms = Forms()
        read = {(one.system, one.user_input): one.response for one in samples_of(given, forms=forms)}
        told = {("baseline", "When?"): "a", ("rag", "Where?"): "b", ("baseline", "Where?"): "c", ("rag", "Who?"): "d"}
        assert {asked: said for asked, said in read.items() if said} == told
        assert forms.told == []
    assert [(one.system, one.response) for one in samples_of(others[1:])] == [(None, "d")]
    table = [{"question": "When?", "answer_rag": "a", "answer_type": "date"}]
    assert [(one.system, one.response) for one in samples_of(table)] == [(None, "a")], "a type is no system's name"


def test_passages_of_several_systems_may_be_arrays() -> None:
    texts = [np.array(["It opens.", "It closes."]), np.array(["Anna.", "Boris."])]
    columns = {
        "question": ["When?", "Who?"],
        "answer_rag": ["8", "Anna"],
        "answer_gpt": ["9", "Boris"],
        "contexts": texts,
    }
    found = samples_of(pd.DataFrame(columns))
    assert [(one.system, len(one.contexts or ())) for one in found] == [("rag", 2), ("gpt", 2)] * 2


def test_a_system_whose_object_a_row_lacks_is_one_of_several() -> None:
    rows = [
        {"question": name, "gpt": {"answer": "a"}, "llama": {"answer": "b"}} for name in ("When?", "Where?", "Who?")
    ]
    rows[0]["llama"], rows[1]["gpt"] = None, None  # type: ignore[call-overload]
    read = [(one.id, one.system) for one in samples_of(rows)]
    assert read == [("1", "gpt"), ("2", "llama"), ("3", "gpt"), ("3", "llama")]


def test_the_next_command_names_the_systems_that_were_loaded(bare: Path) -> None:
    for names, words in {
        "gpt llama": "{dataset}-gpt,{dataset}-llama",
        "a,b {x}": "'{dataset}-a;b,{dataset}-{{x}}'",
    }.items():
        rows = [{"question": "When?", "answer": "At 8", "system": name} for name in names.split()]
        write_lines(bare / "a.jsonl", rows)
        found, _ = answer_tables.read(bare / "a.jsonl")
        assert found.runs == [f"rag_metrics -s {words}"]
    write_lines(bare / "a.jsonl", [{"question": "When?", "answer": "At 8"}])
    assert answer_tables.read(bare / "a.jsonl")[0].runs == ["rag_metrics -s {dataset}-logged"]


def test_a_number_under_the_name_of_a_system_is_its_rating_whatever_the_system_is_called(bare: Path) -> None:
    (bare / "a.csv").write_text(
        "question,answer_low_cost,answer_high_cost,rating_low_cost,rating_high_cost\nWhen?,At 8,At 9,5,2\n"
    )
    assert [(one.system, one.labels) for one in read_samples(bare / "a.csv")] == [
        ("low_cost", {"people": 5.0}), ("high_cost", {"people": 2.0}),
    ]  # fmt: skip


def test_an_answer_with_one_part_that_nobody_knows_is_of_no_system() -> None:
    [sample] = samples_of([{"question": "Why?", "answers": {"thought": "So."}}])
    assert sample.system is None


def test_answers_beside_a_system_without_a_name_are_right_ones() -> None:
    [sample] = samples_of([{"question": "When?", "answers": [{"model": None, "answer": at} for at in ("8", "At 8")]}])
    assert (sample.system, sample.response, sample.references) == (None, None, ("8", "At 8"))


def test_a_word_in_brackets_is_the_verdict_of_promptfoo_alone() -> None:
    found = samples_of([{"question": "What does it print?", "answer_a": "[ERROR] and a line", "answer_b": "Nothing"}])
    assert [one.response for one in found] == ["[ERROR] and a line", "Nothing"]


def test_columns_of_the_settings_need_not_be_in_several_tables(bare: Path) -> None:
    (bare / "ragbench.toml").write_text('[columns]\nanswer = "reply"\nreference = "gold"\n')
    settings.load.cache_clear()
    for name in "ab":
        (bare / f"{name}.csv").write_text("question,answer\nWhen?,At 8\n")
    assert [one.system for one in read_all([bare / "a.csv", bare / "b.csv"])] == ["a", "b"]
    with pytest.raises(DatasetError, match=r"a\.csv, b\.csv: none has a column reply"):
        read_all([bare / "a.csv", bare / "b.csv"], columns={"contexts": "reply"})


def test_a_file_of_the_ground_truth_beside_answers_holds_the_right_ones(bare: Path) -> None:
    (bare / "answers.csv").write_text("question,answer\nWhich owl?,The barn owl\nWhich oak?,The red one\n")
    (bare / "ground_truth.csv").write_text(
        "question,answer,documents\nWhich owl?,A barn owl,b.pdf\nWhich oak?,Red,o.pdf\n"
    )
    found = read_all([bare / "answers.csv", bare / "ground_truth.csv"], Forms())
    assert [(own.response, own.reference, own.contexts) for own in found] == [
        ("The barn owl", "A barn owl", None), ("The red one", "Red", None),
    ]  # fmt: skip
    (alone,) = {own.system for own in read_all([bare / "ground_truth.csv"], Forms())}
    assert alone is None
