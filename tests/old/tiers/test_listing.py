"""Very many questions: a page lists the ends of every metric and a draw, says so, and its numbers are of all."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.judge import Rule
from ragbench.old.llm import run
from ragbench.old.tiers.answers import rag_metrics
from ragbench.old.tiers.answers.rag_metrics import Made, measurement_of
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.scoring import measure, table_sources
from ragbench.old.tiers.scoring.scored_answers import Scores
from ragbench.old.tiers.scoring.table_sources import of_samples
from ragbench.old.views import Page

ROWS = 60
WORDS = [f"w{number}" for number in range(ROWS)]


def samples(systems: tuple[str, ...] = ("a",)) -> list[Sample]:
    """Answers that share with their references as many words as their number says; every tenth has no reference."""
    return [
        Sample(
            f"q{number:02d}",
            f"Question {number}?",
            " ".join(WORDS[: number + 1]),
            None if number % 10 == 5 else " ".join(WORDS),
            (Chunk("c", f"passage {number}"),),
            cluster=f"k{number // 2}",
            system=system,
        )
        for number in range(ROWS)
        for system in systems
    ]


def scores(given: list[Sample], *metrics: str) -> Scores:
    chosen = measure.applicable(given, metrics or ("rouge1_f",))
    return run(measure.measure(given, chosen, measure.Asked(("lexical",), resamples=200)))


def measured(given: list[Sample], *metrics: str) -> Measurement:
    return measurement_of(scores(given, *metrics), of_samples(given, "made"), Made(("lexical",), Rule(), ("hashing",)))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 20 are all listed; of more 6 are drawn, and of one metric and system 3 at each end."""
    for name, value in {"MOST": 20, "DRAWN": 6, "ENDS": 9, "LEAST": 1}.items():
        monkeypatch.setattr(rag_metrics, name, value)


def test_the_ends_of_a_metric_and_a_draw_are_listed(few: None) -> None:
    found = rag_metrics.chosen(scores(samples()))
    assert found is not None
    ends = {name for name, why in found.why.items() if why == rag_metrics.AT_ENDS}
    drawn = {name for name, why in found.why.items() if why == rag_metrics.AT_RANDOM}
    order = [f"q{number:02d}" for number in range(ROWS) if number % 10 != 5]
    assert len(drawn) == 6
    assert set(order[:3] + order[-3:]) <= ends | drawn
    unmeasured = {name for name in ends if name not in order}
    assert len(unmeasured | {name for name in drawn if name not in order}) >= 3
    assert len(ends) <= 9
    assert ends <= set(order[:3] + order[-3:]) | {f"q{number:02d}" for number in range(5, ROWS, 10)}
    assert found.fact == {"n": len(found.why), "of": ROWS, "each": 3, "drawn": 6, "seed": 0}
    assert rag_metrics.chosen(scores(samples())) == found, "the same seed lists the same"


def test_questions_that_a_browser_holds_are_all_listed(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag_metrics, "MOST", ROWS)
    assert rag_metrics.chosen(scores(samples())) is None
    assert "listed" not in measured(samples()).questions


def test_equal_values_are_taken_by_the_seed_and_not_by_their_order() -> None:
    values = np.zeros(1000)
    taken = list(rag_metrics._ends(values, 10, np.random.default_rng(0)))
    assert len(taken) == 20
    assert max(taken) > 500
    assert taken != list(rag_metrics._ends(values, 10, np.random.default_rng(1)))


def test_every_number_of_the_page_is_of_all_questions(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    given = samples(("a", "b"))
    names = ("rouge1_f", "exact_match")
    some = measured(given, *names)
    monkeypatch.setattr(rag_metrics, "MOST", 10**6)
    every = measured(given, *names)
    columns = ["system", "metric", "sample", "value", "status", "judge"]
    pd.testing.assert_frame_equal(some.scores[columns], every.scores[columns])
    pd.testing.assert_frame_equal(some.questions.drop(columns="listed"), every.questions)
    assert [one.row() for one in some.estimates] == [one.row() for one in every.estimates]
    assert repr(some.comparisons) == repr(every.comparisons)
    assert repr(some.placed) == repr(every.placed)
    one, other = Page(some), Page(every)
    for view in ("answer", "intervals", "table", "unmeasured", "correlations", "method"):
        assert one.view(view).html() == other.view(view).html(), view
    assert 0 < len(one.material.question_rows) < ROWS
    listed = set(one.material.question_rows)
    assert set(some.extra["answers"]["sample"]) == set(some.retrieved["sample"]) == listed
    assert set(some.extra["judgements"]["sample"]) == listed
    told = some.scores["sample"].isin(listed) | (some.scores["status"] != "ok")
    assert (some.scores["reason"][told] != "").all()
    assert (some.scores["reason"][~told] == "").all()


def test_the_page_says_how_many_of_how_many_are_listed(few: None) -> None:
    found = measured(samples())
    n = found.questions["listed"].notna().sum()
    html = Page(found).view("questions").html()
    said = re.search(r'class="rb-listing">([^<]*)<', html)
    assert said is not None
    assert said[1].startswith(f"{n} of 60 questions are listed; all other numbers of this page are of all 60. They are")
    assert "the 3 lowest values" in said[1]
    assert "6 drawn at random (seed 0)" in said[1]
    assert said[1].endswith("in scores.parquet and scores.csv.")
    assert "вопросов" in Page(found, language="ru").view("questions").html()


def test_parts_of_such_a_page_are_of_all_of_their_questions(few: None) -> None:
    page = Page(measured(samples()))
    part = page.subset("cluster < 'k2'")  # k0, k1, k10 to k19
    (estimate,) = (one.estimate for one in part.measurement.estimates)
    assert estimate.n + estimate.n_unmeasured == 24
    unlisted = page.measurement.questions.query("listed.isna()")["sample"].tolist()
    assert page.subset(unlisted[:3]).measurement.facts["n_questions"] == 3
    assert "listing" not in part.measurement.facts


def test_answers_of_such_a_run_are_not_taken_for_all(few: None, tmp_path: Any) -> None:
    found = measured(samples())
    found.save(tmp_path / "parts" / "rag_metrics")
    with pytest.raises(BenchError, match=r"keeps the answers to \d+ of 60 questions"):
        table_sources._of_run(str(tmp_path), tmp_path)
