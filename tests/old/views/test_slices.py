"""Slices by any dimension with any values: every page that has them draws them, each with its own questions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Question
from ragbench.old.tiers.basics import design
from ragbench.old.views import Page
from tests.old.views.test_parts import SURE, full
from tests.old.views.test_statuses import deaths

VALUES: dict[str, list[Any]] = {
    "missing": ["one", None, ""],
    "numbers": [7, 0, 2.5, None],
    "long": ["x" * 5000, "слово " * 500],
    "brackets": ["[a]", "{b}", "(c)", "%s", "{0.__class__}"],
    "HTML": ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "&amp;"],
    "Cyrillic": ["разговорный", "Ёлка", "ёлка"],
    "words of our own": ["not given", None, "None", "nan", "well_formed"],
    "one": ["only"],
    "one a question": [f"value {n}" for n in range(60)],
    "links": ["a:b", "a&b=c", "#q", "a/b?c"],
}


SLOW = pytest.mark.slow
"""Each kind of values is tried on one dimension, and slowly on the others."""


def sliced(dimension: str, values: list[Any]) -> Measurement:
    """60 questions, whose dimension takes the values in turn."""
    made = full()
    column = [values[n % len(values)] for n in range(len(made.questions))]
    asked = [
        Question(row["sample"], row["text"], **{dimension: value})
        for row, value in zip(made.questions.to_dict("records"), column, strict=True)
    ]
    parts = design.of_slices(made.scores, parse("mrr"), ["base", "new"], asked, (dimension,), None, SURE)
    left_out = design.left_out(asked, (dimension,))
    questions = made.questions.assign(**{dimension: [None if value is None else str(value) for value in column]})
    facts = {**made.facts, "slices_left_out": left_out}
    return replace(made, facts=facts, questions=questions, placed=parts)


@pytest.mark.fault("garbage", tried="slices by three dimensions with values of every kind", count=30)
@pytest.mark.parametrize(
    ("dimension", "values"),
    [
        pytest.param(each, values, id=f"{each}-{name}", marks=() if turn % len(design.DIMENSIONS) == place else SLOW)
        for turn, (name, values) in enumerate(VALUES.items())
        for place, each in enumerate(design.DIMENSIONS)
    ],
)
def test_slices_with_any_values(dimension: str, values: list[Any], tmp_path: Path) -> None:
    sliced(dimension, values).save(tmp_path)
    made = Measurement.load(tmp_path)
    text = str(views.comparison.slices(Page(made)).html())
    assert "<script>" not in text
    assert "<img" not in text
    ids = re.findall(r'<details class="rb-fold" id="(slice-[^"]+)"', text)
    parted = len({None if value in (None, "") else str(value) for value in values})
    assert len(ids) == len(set(ids)) == (min(parted, design.MOST) if parted > 1 else 0)
    assert set(re.findall(r'<a href="#(slice-(?!note)[^"]+)"', text)) == set(ids)
    counts = [int(n) for n in re.findall(r"(\d+) questions?</summary>", text)]
    listed = [len(re.findall("<li>", part)) for part in text.split('<details class="rb-fold"')[1:]]
    assert counts == listed
    assert 0 not in counts
    assert (
        str(views.comparison.slices(Page(made, language="ru")).html(frozenset({"questions", "slices"}))) or parted == 1
    )


def test_questions_without_the_column_have_no_list_of_that_slice(tmp_path: Path) -> None:
    made = sliced("source", ["a", "b"])
    assert deaths(replace(made, questions=made.questions.drop(columns="source"))) == []


def test_the_page_says_which_slices_are_too_small() -> None:
    text = str(views.comparison.slices(Page(sliced("kind", ["a", "b"]))).html())
    assert "A slice with fewer than 20 questions gets no verdict." in text
