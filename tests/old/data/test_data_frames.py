"""Everything that is a number leaves as a data frame, every figure as Plotly's, and nothing floods a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench.old as rb
from ragbench.old.core.parts import Column, Table, Value
from ragbench.old.core.types import Estimate
from tests.old.views.measurements import measurement

ANSWERS = [
    {"id": name, "system": system, "question": f"When does {name} open?", "answer": answer, "reference": "At 8:00.",
     "contexts": ["It opens at 8:00."]}
    for name in ("a", "b", "c") for system, answer in (("v1", "It opens at 8:00."), ("v2", "Nobody knows, at noon."))
]  # fmt: skip


@pytest.fixture(scope="module")
def scores() -> Any:
    return rb.score(ANSWERS, ["faithfulness", "rouge1_f"], judge="lexical", resamples=200)


@pytest.fixture(scope="module")
def page() -> Any:
    return rb.Page(measurement(("v1", "v2", "v3")))


def test_scores_come_as_data_frames_with_their_caveat(scores: Any) -> None:
    estimates, comparisons = scores.estimates, scores.comparisons
    assert list(estimates[["system", "metric"]].itertuples(index=False, name=None)) == list(scores.means)
    assert estimates["value"].tolist() == pytest.approx([one.value for one in scores.means.values()])
    assert comparisons["difference"].tolist() == [one.comparison.difference for one in scores.differences]
    assert "lexical" in estimates.attrs["caveat"]
    assert estimates.attrs == comparisons.attrs
    alone = rb.score(ANSWERS[:1], ["rouge1_f"], resamples=200).comparisons
    assert (len(alone), "verdict" in alone) == (0, True), "no rows, and the columns that there would be"


def test_a_page_of_scores_is_the_page_of_the_notebook(scores: Any, tmp_path: Path) -> None:
    page = scores.page()
    assert isinstance(page, rb.Page)
    assert page.measurement.notebook == "rag_metrics"
    pd.testing.assert_frame_equal(page.estimates[["system", "metric", "value", "n"]].iloc[:4].reset_index(drop=True),
                                  scores.estimates[["system", "metric", "value", "n"]])  # fmt: skip
    html = page.save(tmp_path / "out")
    text = html.read_text(encoding="utf-8")
    assert html == tmp_path / "out" / "rag_metrics.html"
    assert "rb-verdict" in text or "faithfulness" in text
    assert (tmp_path / "out" / "manifest.json").is_file(), "it can be drawn again"


def test_values_of_a_page_name_question_system_metric_and_why(page: Any) -> None:
    assert list(page.scores)[:7] == ["question", "system", "metric", "value", "status", "reason", "judge"]
    assert len(page.scores) == len(page.measurement.scores)
    assert page.estimates["value"].tolist() == [one.estimate.value for one in page.measurement.estimates]
    assert set(page.comparisons["challenger"]) == {"v2", "v3"}
    assert {"questions", "retrieved"} <= page.tables.keys()


def test_reasons_are_said_in_the_language_of_the_page() -> None:
    answers = [{"question": "When?", "answer": "At 8:00.", "reference": text} for text in ("At 8:00.", None)]
    page = rb.score(answers, ["answer_accuracy"], resamples=200).page("ru")
    for reasons in (page.scores["reason"], page.to_pandas()["reason"]):
        assert reasons.tolist()[1] == "у примера нет поля reference"


def test_figures_are_plotlys_and_their_numbers_frames(page: Any) -> None:
    figure = page.figure("intervals")
    assert type(figure).__module__.startswith("plotly.graph_objs")
    assert figure.update_layout(width=600).layout.width == 600
    numbers = rb.views.comparison.intervals(page).to_pandas()
    known = {round(one.estimate.value, 9) for one in page.measurement.estimates}
    assert {round(value, 9) for value in numbers["x"]} <= known
    assert len(numbers) == len(page.material.key_metrics) * 3, "the key metrics of three systems"
    first = next(e.estimate for e in page.measurement.estimates if e.metric == page.material.key_metrics[0])
    row = numbers[(numbers["x"] - first.value).abs() < 1e-12].iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((first.low, first.high))
    assert (
        rb.views.comparison.forest(page).to_pandas()["difference"].tolist() == page.comparisons["difference"].tolist()
    )
    with pytest.raises(ValueError, match=r"no figure 'interval'; did you mean 'intervals'.*there are .*intervals"):
        page.figure("interval")


def test_a_table_is_a_frame_with_a_column_an_end() -> None:
    estimate = Estimate(0.5, 0.4, 0.6, 0.95, "bca", 7)
    columns = (Column("name"), Column("value", "interval"), Column("n", "count"))
    table = Table(columns, (("a", Value(0.5, 0.4, 0.6), (estimate,)), ("b", None, (3, 4))), "Title", ("A note.",))
    frame = table.to_pandas()
    assert list(frame) == ["name", "value", "value low", "value high", "n"]
    assert frame.iloc[0].tolist() == ["a", 0.5, 0.4, 0.6, 7]
    assert frame.iloc[1]["n"] == "3 / 4"
    assert frame.attrs == {"title": "Title", "notes": ["A note."]}


def test_nothing_takes_more_than_ten_lines(page: Any, scores: Any) -> None:
    rows = tuple((f"row {place}", place) for place in range(50))
    many = rb.score(ANSWERS, judge="lexical", resamples=200)
    table = Table((Column("a"), Column("b", "count")), rows, "T", ("N.",) * 9)
    views = (rb.views.comparison.table(page), page.explain("q1"), page.questions())
    for one in (page, scores, many, page.measurement, table, *views, rb.load("campus:en")):
        assert len(repr(one).splitlines()) <= 10, type(one)
        assert len(repr(one)) <= 3000, type(one)


def test_the_names_of_the_package_are_those_for_people() -> None:
    assert dir(rb) == sorted([*rb.__all__, "__version__"])
    assert {"tier1", "score", "load", "Page"} <= set(dir(rb))
    assert all(getattr(rb, name) is not None for name in rb.__all__)


@pytest.mark.parametrize("jedi", [True, False])
def test_completion_offers_the_public_names_and_nothing_else(jedi: bool) -> None:
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns["rb"] = rb
    shell.Completer.use_jedi = jedi
    with provisionalcompleter():
        found = {one.text.lstrip(".") for one in shell.Completer.completions("rb.", 3)}
    assert found == set(rb.__all__)
