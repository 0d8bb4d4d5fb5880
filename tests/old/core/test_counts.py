"""Every mean stands with how many values it is made of, how many it lacks, and what it would be with those."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old import stats, views
from ragbench.old.core.gaps import brackets, counted, missing
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import ESTIMATE_COLUMNS, Measurement, NamedEstimate
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Estimate, Sample, Score, Status
from ragbench.old.metrics import catalogue
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from ragbench.old.tiers.run.overview import over
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.scored_answers import Scores
from ragbench.old.views import Page
from tests.old.views.measurements import measurement

VALUES = np.array([1.0] * 24 + [0.0] * 24 + [np.nan] * 12)
"""48 of 60 measured, their mean one half: 24/60 with all others at 0, 36/60 with all others at 1."""
HALF = stats.estimate(VALUES, bounds=(0.0, 1.0), resamples=200, seed=0)
WHOLE = stats.estimate(np.arange(60) % 2, bounds=(0.0, 1.0), resamples=200, seed=0)


def made(estimate: Estimate = HALF, **facts: Any) -> Measurement:
    """A page of one system and one number, as every page has it, a judge's tables among its own."""
    base = measurement(systems=("one",), metrics=("faithfulness",), questions=60, facts=facts)
    coverage = pd.DataFrame([("one", "valid", 48, 60)], columns=["judge", "outcome", "count", "asked"])
    parts = (
        *(NamedEstimate("one", "faithfulness", estimate, {"judge": name}) for name in "ab"),
        NamedEstimate("one", "context_preservation", estimate, {"over": "pairs"}),
        NamedEstimate("one", "flip_rate", estimate, {"trial": "repeatability"}),
        NamedEstimate("one", "valid", estimate, {"trial": "coverage"}),
    )
    turns = pd.DataFrame([("d", number, "?", "!") for number in (1, 2)],
                         columns=["sample", "turn", "question", "answer"])  # fmt: skip
    near = pd.DataFrame([("one", "d", "question", 1, 2, 0.5)],
                        columns=["system", "sample", "what", "first", "second", "similarity"])  # fmt: skip
    return replace(
        base, estimates=(NamedEstimate("one", "faithfulness", estimate),), comparisons=(), placed=parts,
        extra={"coverage": coverage, "turns": turns, "similarities": near},
    )  # fmt: skip


def scores() -> Scores:
    metric = catalogue()["faithfulness"]
    rows = [
        Row(Sample(f"q{n}"), metric, Score(value) if value == value else Score.unmeasured(Status.TIMEOUT, ""))
        for n, value in enumerate(VALUES)
    ]
    return Scores(tuple(rows), resamples=200)


def printed() -> str:
    with contextlib.redirect_stdout(io.StringIO()) as said:
        scores().tables("en", 4)[0].say()
    return said.getvalue()


def text(html: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(html))).split())


def view(name: str) -> Callable[[], str]:
    return lambda: text(Page(made()).view(name).html())


OUTPUTS: dict[str, tuple[Callable[[], str], str]] = {
    "answer": (view("answer"), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "table": (view("table"), "48 12 (0.400 … 0.600)"),
    "measures": (view("measures"), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "summary": (view("summary"), "12 unmeasured: 0.400 to 0.600 with them"),
    "a judge's replies": (view("replies"), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "a judge's repeats": (view("repeatability"), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "judges side by side": (view("side_by_side"), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "dialogues": (view("dialogues"), "12 unmeasured: 0.400 to 0.600 with them"),
    "overview": (
        lambda: text(views.about.overview(Page(over({"tier": made()}))).html()),
        "n 48, 12 unmeasured: 0.400 to 0.600 with them",
    ),
    "LaTeX": (lambda: exports.latex_table(made(), translator("en")), r"48 of 60\\{}[\num{0.400}, \num{0.600}]"),
    "summary.md": (
        lambda: exports.summary({"notebooks": [{"name": "t"}]}, {"t": made()}, None, translator("en")),
        "| 48 | 12 (0.400 … 0.600) |",
    ),
    "repr": (lambda: repr(scores()), "n 48, 12 unmeasured: 0.400 to 0.600 with them"),
    "_repr_html_": (lambda: text(scores()._repr_html_()), "48 12 (0.400 … 0.600)"),
    "ragbench score": (printed, "48  12 (0.4000 … 0.6000)"),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_mean_stands_with_what_it_is_made_of_and_what_it_lacks(output: str) -> None:
    written, expected = OUTPUTS[output]
    assert expected in written()


def test_of_60_rated_answers_those_that_the_judge_scored_count() -> None:
    agreed = NamedEstimate("one", "spearman", HALF, {"against": "mean"})
    said = text(views.judges.people(Page(replace(made(), placed=(agreed,)))).html())
    assert "60 answers were rated by people." in said
    assert "Of one 48 of them count: to the others it gave no score." in said


@pytest.mark.parametrize("name", ["answer", "measures", "table", "summary"])
def test_where_nothing_is_missing_no_bounds_are_said(name: str) -> None:
    said = text(Page(made(WHOLE)).view(name).html())
    assert "with them" not in said
    assert " … " not in said
    assert "60" in said


def test_the_summary_holds_the_same_numbers_as_the_page_and_the_estimate() -> None:
    class Kept(dict[str, Measurement]):
        def names(self) -> list[str]:
            return list(self)

    [row] = results.summary(Kept(t=made()))["estimates"]  # type: ignore[arg-type]
    assert row.items() >= NamedEstimate("one", row["metric"], HALF).summary().items()
    assert (row["n"], row["n_unmeasured"], row["floor"], row["ceiling"]) == (48, 12, 0.4, 0.6)
    [scored] = scores().as_json()["estimates"]
    assert (scored["n"], scored["n_unmeasured"], scored["floor"], scored["ceiling"]) == (48, 12, 0.4, 0.6)


def test_a_number_without_a_scale_has_no_bounds() -> None:
    times = stats.estimate(VALUES * 1000, resamples=200, seed=0)
    english, russian = translator("en"), translator("ru")
    assert counted(times, english) == "n 48, 12 unmeasured"
    assert missing(times, english) == "12"
    assert brackets([times, WHOLE], english) == ""
    assert counted(HALF, russian) == "n 48, не измерено 12: с ними от 0,400 до 0,600"
    assert brackets([HALF], russian).startswith("В скобках")


def test_metrics_of_nothing_lie_anywhere_on_their_scale() -> None:
    nothing = stats.estimate([np.nan] * 3, bounds=(0.0, 1.0))
    assert counted(nothing, translator("en")) == "n 0, 3 unmeasured: 0.000 to 1.000 with them"
    assert parse("faithfulness").bounds == (0.0, 1.0)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.one_of(st.just(float("nan")), st.floats(0, 1)), min_size=1, max_size=30),
    st.booleans(),
)
def test_a_summary_says_what_the_estimate_says_and_bounds_hold_its_mean(values: list[float], bounded: bool) -> None:
    found = stats.estimate(values, bounds=(0.0, 1.0) if bounded else None, resamples=100, seed=0)
    said, whole = NamedEstimate("one", "mrr", found).summary(), NamedEstimate("one", "mrr", found).row()
    assert list(said) == ["system", "metric", *ESTIMATE_COLUMNS]
    for name, value in said.items():
        assert value == whole[name] or (value != value and whole[name] != whole[name]), name
    if found.floor is not None and found.n_unmeasured:
        assert found.floor <= found.ceiling
        assert found.n == 0 or found.floor - 1e-9 <= found.value <= found.ceiling + 1e-9
