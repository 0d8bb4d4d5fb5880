"""Lists in the cells of a table: as pandas, numpy and JSON write them, read wherever answers are read."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragbench.old import data
from ragbench.old.__main__ import application
from ragbench.old.core.settings import Settings
from ragbench.old.data import DatasetError, normalise
from ragbench.old.data.cells import MAX_CHARACTERS, MAX_VALUES, Forms, held
from ragbench.old.data.samples import read_samples, samples_of
from ragbench.old.tiers.scoring.table_sources import find_answers
from tests.old.small_project import write_lines

TEXTS = [
    ["Библиотека открыта с 9 до 21.", 'It\'s “open”: "now".'],
    ["A line\nand another", "[1] as cited", "a, 'b', c"],
    ["Один."],
]
PRINTED: dict[str, tuple[Any, str]] = {
    "lists": (list, "Python lists"),
    "tuples": (tuple, "Python lists"),
    "numpy arrays of objects": (lambda texts: np.array(texts, dtype=object), "numpy arrays"),
    "numpy arrays of texts": (np.array, "numpy arrays"),
    "JSON": (lambda texts: json.dumps(texts), "JSON lists"),
}


def frame(make: Any) -> pd.DataFrame:
    """A table of RAGAS with its own names of columns."""
    return pd.DataFrame(
        {
            "user_input": ["Когда открыта библиотека?", "What is cited?", "Сколько?"],
            "retrieved_contexts": [make(texts) for texts in TEXTS],
            "reference_contexts": [make(texts[:1]) for texts in TEXTS],
            "response": ["С 9.", "[1]", "Один."],
            "reference": ["С 9 до 21.", "It.", "Один."],
            "faithfulness": [1.0, 0.5, float("nan")],
        }
    )


@pytest.mark.parametrize("form", PRINTED)
def test_what_pandas_writes_is_read_as_the_lists_that_were_there(tmp_path: Path, form: str) -> None:
    make, origin = PRINTED[form]
    frame(make).to_csv(tmp_path / "table.csv")
    forms = Forms()
    samples = read_samples(tmp_path / "table.csv", forms)
    assert [[chunk.text for chunk in sample.contexts or ()] for sample in samples] == TEXTS
    assert [[chunk.text for chunk in sample.reference_contexts or ()] for sample in samples] == [t[:1] for t in TEXTS]
    assert [sample.response for sample in samples] == ["С 9.", "[1]", "Один."], "only fields of lists are read as lists"
    assert origin in forms.notes[0]
    brought, logged = data.answer_tables.read(tmp_path / "table.csv")
    assert {chunk.text for chunk in brought.chunks} == {text for texts in TEXTS for text in texts}
    assert [len(line["retrieved"]) for line in logged["logged"]] == [2, 3, 1]
    assert forms.notes[0] in brought.notes
    again = samples_of(pd.read_csv(tmp_path / "table.csv"))
    assert [sample.contexts for sample in again] == [sample.contexts for sample in samples]
    assert list(find_answers(str(tmp_path / "table.csv"), "", Settings()).samples) == samples


def test_the_preview_says_how_many_lists_of_how_many_texts(tmp_path: Path) -> None:
    table = frame(list).assign(retrieved_contexts=[["a", "b", "c"]] * 3, reference_contexts=["a (plain)", "", "c"])
    table.to_csv(tmp_path / "table.csv", index=False)
    forms = Forms()
    read_samples(tmp_path / "table.csv", forms)
    assert forms.notes == [
        "contexts: 3 lists of 3 texts, read from Python lists",
        "reference_contexts: 2 plain texts, each taken as one, 1 empty",
    ]


def test_the_plan_of_a_score_says_what_was_understood(project: Path) -> None:
    frame(np.array).to_csv(project / "table.csv", index=False)
    words = ["score", str(project / "table.csv"), "-m", "rouge1_f", "--plan"]
    done = CliRunner().invoke(application, words, catch_exceptions=False)
    assert "contexts: 3 lists of 1 to 3 texts, read from numpy arrays" in done.output


def test_a_mapping_of_contexts_gives_its_texts(tmp_path: Path) -> None:
    mapping = {"doc-1": "Первый.", "doc-2": "Второй."}
    rows = [{"question": "a", "contexts": mapping}, {"question": "b", "contexts": {"id": "c7", "text": "Один."}}]
    write_lines(tmp_path / "t.jsonl", rows)
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    for samples in (read_samples(tmp_path / "t.jsonl"), read_samples(tmp_path / "t.csv"), samples_of(rows)):
        assert [[chunk.text for chunk in sample.contexts or ()] for sample in samples] == [
            ["Первый.", "Второй."],
            ["Один."],
        ]
        assert [chunk.id for chunk in samples[1].contexts or ()] == ["c7"]
    [sample] = samples_of([{"question": "a", "contexts": '{"name": "pump", "price": 3}'}])
    assert [chunk.text for chunk in sample.contexts or ()] == ['{"name": "pump", "price": 3}'], "a context as JSON"


def test_older_columns_hold_a_list_of_ground_truths() -> None:
    table = pd.DataFrame({"question": ["a", "b"], "ground_truths": [["Да."], []], "answer": ['["x"]', "y"]})
    for given_table in (table, pd.read_csv(io.StringIO(table.to_csv(index=False)))):
        found = samples_of(given_table)
        assert [(sample.reference, sample.response) for sample in found] == [("Да.", '["x"]'), (None, "y")]


def test_a_rubric_as_python_prints_it() -> None:
    [sample] = samples_of(
        [{"question": "a", "rubrics": str({"score1_description": "Плохо", "score5_description": "Ok"})}]
    )
    assert sample.rubric == {1: "Плохо", 5: "Ok"}


@pytest.mark.fault("parameters-code", tried="cells that look like code", count=7)
@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (str(np.array([f"passage {n}" for n in range(2000)])), "was cut when it was printed"),
        ("['a', 'b' oops]", "begins as a list of texts, and is none in JSON or in Python"),
        ("[" + "'a', " * (MAX_VALUES + 1) + "]", "more than 100,000 values"),
        ("['" + "a" * MAX_CHARACTERS + "']", "more than 4,194,304 characters"),
        (("[" * 20 + "'a'" + "]" * 20), "8 deep"),
        ("['a', 7]", r"contexts\[1\] = 7: a text"),
        ("['a', {'url': 'u'}]", r"contexts\[1\] = .*is expected; it has url"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused_and_never_taken_for_a_context(cell: str, expected: str) -> None:
    with pytest.raises(DatasetError, match=expected):
        samples_of([{"question": "a", "contexts": cell}])


@pytest.mark.parametrize(
    "cell",
    [
        "[1] According to the report [2]",
        "[citation needed]",
        "[...]",
        "(см. также)",
        "[[Link]](https://x.example)",
        "{braces}",
        "array(x)",
        "__import__('os').system('echo')",
        "[__import__('os')]",
        "[" * 10_000,
    ],
)
def test_a_text_that_only_looks_like_a_list_stays_one_text(cell: str) -> None:
    assert held(cell) is None
    [sample] = samples_of([{"question": "a", "contexts": cell}])
    assert [chunk.text for chunk in sample.contexts or ()] == [cell]


@pytest.mark.fault("parameters-code", tried="random texts written as lists and read back", count=25)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_whatever_the_texts_hold_they_come_back(texts: list[str]) -> None:
    expected = [normalise(text) for text in texts]
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    assert held(repr(texts)) is not None
    for printed in (repr(texts), repr(tuple(texts)), str(array), repr(array), json.dumps(texts)):
        found = held(printed)
        assert found is not None
        assert found[0] == expected
