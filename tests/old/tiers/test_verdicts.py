"""Where so few groups can show nothing, every output says so, with their number and how many it takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import ragbench.old
from ragbench.old import stats, views
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import COMPARISON_COLUMNS, Measurement, NamedComparison
from ragbench.old.core.metric import metric as declare
from ragbench.old.core.metric import withdraw
from ragbench.old.core.settings import ConfigurationError, DifferenceSettings
from ragbench.old.core.types import Comparison, IntervalNote, Sample, Score, Status, Verdict
from ragbench.old.core.types.reason import Reason
from ragbench.old.report import exports
from ragbench.old.tiers.basics import bands, verdict_tables
from ragbench.old.tiers.basics.session import chosen, told
from ragbench.old.tiers.run.overview import over
from ragbench.old.views import Page
from ragbench.old.views.basics.text import clean
from ragbench.old.views.view import View
from tests.old import small_project
from tests.old.views.measurements import measurement


def few(groups: int = 7) -> Comparison:
    """One measure of ten over seven articles, all of whose questions are won."""
    codes = np.repeat(np.arange(groups), 10)
    one = stats.compare(np.zeros(10 * groups), np.ones(10 * groups), clusters=codes, names=("ivfflat", "hnsw"))
    return stats.adjust([one] * 10)[0]


@pytest.fixture(scope="module")
def page() -> Measurement:
    made = measurement(metrics=("mrr", "recall"))
    return replace(made, comparisons=tuple(NamedComparison(each.metric, few()) for each in made.comparisons))


def test_the_words() -> None:
    english, russian = translator("en"), translator("ru")
    assert verdict_tables.said(few(), english) == "cannot be shown with 7 groups"
    assert verdict_tables.said(few(), russian) == "нельзя показать на 7 группах"
    assert (
        verdict_tables.needed(few(), english)
        == "8 independent groups or more are needed before a difference can be shown"
    )
    alone = stats.compare([0] * 5, [1] * 5)
    assert verdict_tables.said(alone, english) == "cannot be shown with 5 questions"
    assert verdict_tables.needed(alone, english) == "6 questions or more are needed before a difference can be shown"
    assert verdict_tables.needed(stats.compare([0] * 6, [1] * 6), english) == ""
    assert {verdict_tables.word(each, english) for each in Verdict} == {each.value for each in Verdict}


@pytest.mark.parametrize("note", [note for note in get_args(IntervalNote) if note])
def test_no_note_of_an_interval_is_printed_as_it_is(note: IntervalNote) -> None:
    """Where there is no interval, and where there is another one than the bootstrap's."""
    english, russian = (verdict_tables.noted(note, translator(language)) for language in ("en", "ru"))
    assert english not in ("", russian)
    assert "_" not in english
    one = stats.estimate([0.0, 1.0, 2.0])
    difference = stats.compare([0.0, 1.0, 2.0], [1.0, 1.0, 2.0])
    for value in (one.value, math.nan):
        gone = replace(one, value=value, low=None, high=None, note=note)
        less = replace(difference, difference=value, low=math.nan, high=math.nan, note=note)
        texts = [
            str(verdict_tables.interval(gone, translator("en"))),
            str(verdict_tables.comparisons([("m", less)], translator("en"))),
        ]
        assert all(re.search(r"[a-z]{3}", text) for text in texts)
        assert not [text for text in texts if re.search(r"[a-z]_[a-z]", text)]


@pytest.mark.parametrize("language", ["en", "ru"])
def test_pages_say_it_with_what_it_takes_and_name_no_smallest_difference(page: Measurement, language: str) -> None:
    text = translator(language)
    shown = Page(page, language=language)
    for view in (views.comparison.answer(shown), views.comparison.table(shown)):
        html = str(view.html())
        assert verdict_tables.said(few(), text) in html
        assert verdict_tables.needed(few(), text)[1:] in html
        assert "would have been shown" not in html
        assert "хватило бы" not in html
    assert verdict_tables.said(few(), text) in str(
        views.about.overview(Page(over({"tier": page}), language=language)).html()
    )
    assert verdict_tables.said(few(), text) in exports.summary({"notebooks": [{"name": "t"}]}, {"t": page}, None, text)


WITHHELD = Reason("{part} of {whole} pairs unmeasured", part=24, whole=60)


def test_a_verdict_that_is_withheld_is_said_with_the_reason_on_every_output(tmp_path: Path) -> None:
    made = measurement(metrics=("mrr", "recall"))
    made = replace(
        made,
        comparisons=tuple(
            replace(one, comparison=stats.withheld(one.comparison, WITHHELD)) for one in made.comparisons
        ),
    )
    made.save(tmp_path)
    assert Measurement.load(tmp_path).comparisons == made.comparisons
    one = made.comparisons[0].comparison
    assert (one.verdict, one.verdict.unshown, one.questions_needed) == (Verdict.CANNOT_BE_TOLD, True, None)
    assert stats.with_margin(one, 0.1).questions_needed is None
    assert made.comparisons[0].summary()["withheld"] == WITHHELD
    for language, said in (
        ("en", f"cannot be told: {WITHHELD}"),
        ("ru", "нельзя сказать: пар без измерения 24 из 60"),
    ):
        text, shown = translator(language), Page(made, language=language)
        overview = Page(over({"tier": made}), language=language)
        outputs = [
            views.comparison.answer(shown).html(),
            views.comparison.table(shown).html(),
            views.about.overview(overview).html(),
            exports.summary({"notebooks": [{"name": "t"}]}, {"t": made}, None, text),
            exports.latex_table(made, text),
            repr(verdict_tables.comparisons([(each.metric, each.comparison) for each in made.comparisons], text)),
        ]
        assert [str(output).count(said) > 0 for output in outputs] == [True] * len(outputs), language


def test_what_has_no_p_has_no_verdict_to_withhold() -> None:
    nothing = stats.compare([math.nan], [1.0])
    assert (stats.withheld(nothing, WITHHELD).verdict, nothing.withheld) == (nothing.verdict, "")


def test_an_article_s_table_marks_it(page: Measurement) -> None:
    text = exports.latex_table(page, translator("en"))
    assert r"$\emptyset$ cannot be shown with 7 groups." in text
    assert text.count(r"} $\emptyset$") >= 2
    assert "emptyset" not in exports.latex_table(measurement(), translator("en"))


def test_the_summary_of_a_run_holds_it(page: Measurement, tmp_path: Path) -> None:
    page.save(tmp_path)
    assert Measurement.load(tmp_path).comparisons == page.comparisons
    named = {"clusters", "minimum_detectable", "margin", "questions_needed", "groups_needed"}
    assert named <= set(COMPARISON_COLUMNS)


def test_a_notebook_says_it() -> None:
    rows = [
        {"question": "Where?", "answer": answer, "contexts": ["Paris."], "id": str(n), "system": name}
        for name, answer in (("old", "Bananas fly."), ("new", "Paris."))
        for n in range(5)
    ]
    found = ragbench.old.score(rows, metrics=["faithfulness"], judge="lexical", resamples=200)
    assert "cannot be shown with 5 questions" in repr(found)
    assert "<td>cannot be shown with 5 questions</td>" in found._repr_html_()


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("mrr@10", 0.03), ("hit_rate@5", 0.02), ("hit_rate@1", 0.04), ("ndcg@10", 0.05),  # of a scale from 0 to 1
        ("faithfulness_rating", 0.2),  # of one from 1 to 5
        ("avg_latency_ms", 200.0), ("nobody's", None), ("blame", None),
    ],
)  # fmt: skip
def test_the_smallest_difference_of_interest_is_set_or_a_share_of_the_scale(label: str, expected: float | None) -> None:
    chosen = DifferenceSettings(metrics={"mrr": 0.03, "hit_rate@5": 0.02, "hit_rate": 0.04, "avg_latency_ms": 200.0})
    assert bands.of_interest(label, chosen) == pytest.approx(expected)
    assert bands.of_interest("avg_latency_ms", DifferenceSettings()) is None, "a scale without an end"
    assert bands.of_interest("mrr@10", DifferenceSettings(share_of_scale=0.1)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics = { mr = 0.03 }", "metrics.mr = 0.03: there is no such metric; did you mean 'mrr'?"),
        ("metrics = { mrr = 1.5 }", "metrics.mrr = 1.5: the scale of mrr goes from 0 to 1"),
        ("metrics = { faithfulness_rating = 4.5 }", "faithfulness_rating = 4.5: the scale of faithfulness_rating goes"),
        ("metrics = { mrr = 0 }", "smallest_difference.metrics.mrr = 0: "),
        ("share_of_scale = 5", "smallest_difference.share_of_scale = 5: "),
        ("share_of_scales = 0.05", "did you mean share_of_scale?"),
    ],
)
def test_a_difference_that_cannot_be_meant_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    small_project.enter(tmp_path, monkeypatch, f"[smallest_difference]\n{text}\n")
    with pytest.raises(ConfigurationError) as refused:
        chosen()
    assert message in str(refused.value)


def test_every_output_of_what_is_not_shown_plans_for_the_smallest_difference_of_interest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project.enter(tmp_path, monkeypatch, "[smallest_difference]\nmetrics = { mrr = 0.04 }\n")
    rng = np.random.default_rng(0)
    one = stats.compare(rng.random(60), rng.random(60), names=("ivfflat", "hnsw"))
    made = measurement(metrics=("mrr", "recall"))
    pairs = tuple(NamedComparison(each.metric, one) for each in made.comparisons)
    found = told(replace(made, comparisons=pairs, placed=(replace(pairs[0], where={"slice": "all"}),)))
    planned = found.comparisons[0].comparison
    assert planned == stats.with_margin(one, 0.04)
    assert found.placed[0] == replace(found.comparisons[0], where={"slice": "all"})
    text = verdict_tables.planned(planned, translator("en"))
    assert planned.questions_needed is not None
    number = f"{planned.questions_needed:,}"
    assert text.endswith(f"of interest, 0.04, about {number} questions are needed; there were 60")
    page = Page(found)
    assert text in str(views.comparison.table(page).html())
    for written in (
        exports.latex_table(found, translator("en")),
        exports.summary({"notebooks": [{"name": "t"}]}, {"t": found}, None, translator("en")).replace("\\", ""),
    ):
        assert f"interest, 0.04 (there were 60 questions): mrr {number}" in written
    table = verdict_tables.comparisons(
        [("mrr", planned), ("x", replace(planned, verdict=Verdict.BETTER))], translator("en")
    )
    assert table.column("needed") == [planned.questions_needed, None]
    assert any("show a difference of 0.04, the smallest of interest" in note for note in table.notes)
    row = found.comparisons[0].summary()
    assert (row["margin"], row["questions_needed"]) == (0.04, planned.questions_needed)


@pytest.fixture
def picky() -> Iterator[str]:
    """A metric that refuses answers that are bad, and takes any other for its own value."""

    @declare(source="the test", fields=("response",))
    def picky(sample: Sample) -> Score:
        """What the answer says of itself; refused where it is bad."""
        text = sample.response or ""
        return Score.unmeasured(Status.REFUSED, "no") if text == "bad" else Score(float(text))

    yield picky.name
    withdraw(picky.name)


def test_a_judge_that_refuses_the_bad_answers_leaves_it_open_on_every_output(picky: str) -> None:
    """24 of 60 answers of v2 are refused: no output says better."""
    rows = [
        {"id": f"q{n}", "question": "?", "system": system, "answer": answer}
        for system in ("v1", "v2")
        for n in range(60)
        for answer in ["0.75" if system == "v1" else "0.95" if n < 36 else "bad"]
    ]
    found = ragbench.old.score(rows, metrics=[picky], resamples=500)
    [one] = found.differences
    assert (one.comparison.verdict, one.comparison.withheld) == (Verdict.CANNOT_BE_TOLD, WITHHELD)
    assert one.comparison.least == pytest.approx((36 * 0.2 - 24 * 0.75) / 60)
    for text in (repr(found), found._repr_html_()):
        assert f"cannot be told: {WITHHELD}" in text
        assert "better" not in text.replace("is better", "")
        assert "between −0.180 and +0.220" in text
    assert found.as_json()["comparisons"][0]["withheld"] == WITHHELD


def test_counts_of_better_leave_out_what_does_not_matter() -> None:
    """Two of three metrics are better, one of them by less than the smallest difference of interest."""
    rng = np.random.default_rng(3)
    base = rng.random((3, 80)) * 0.6
    moved = base + np.array([[0.3], [0.01], [0.0]]) + rng.normal(0, [[0.1], [0.01], [0.3]], (3, 80))
    names = ("mrr", "recall", "precision")
    made = measurement(metrics=names)
    compared = [
        stats.with_margin(stats.compare(a, b, names=("ivfflat", "hnsw")), 0.05)
        for a, b in zip(base, moved, strict=True)
    ]
    made = replace(
        made, comparisons=tuple(NamedComparison(name, one) for name, one in zip(names, compared, strict=True))
    )
    assert [one.verdict for one in compared] == [Verdict.BETTER, Verdict.SLIGHTLY_BETTER, Verdict.NOT_SHOWN]
    english, page = translator("en"), Page(made)

    def plain(view: View) -> str:
        return " ".join(re.sub(r"<[^>]+>", "", clean(str(view.html()))).split())

    tally = "better on 1 (mrr); better, by less than matters on 1 (recall); not shown on 1 (precision)"
    assert tally in plain(views.comparison.answer(page))
    assert "hnsw is better than ivfflat on 1 of 3 metrics" in plain(views.comparison.intervals(page))
    assert "better, by less than matters" in plain(views.comparison.table(page))
    assert r"$\nearrow$" in exports.latex_table(made, english)
    assert "(better, by less than matters)" in exports.markdown_table(made, english)
    assert "лучше, но меньше, чем важно" in exports.markdown_table(made, translator("ru"))
    slightly = replace(made, comparisons=made.comparisons[1:2], facts={**made.facts, "primary": "recall"})
    said = plain(views.comparison.answer(Page(slightly)))
    assert "On recall, hnsw is better than ivfflat, by less than matters (±0.050): +0.0" in said
    assert "No difference between hnsw and ivfflat that matters is shown" in plain(
        views.comparison.intervals(Page(slightly))
    )


def test_what_as_many_questions_as_are_needed_show_is_not_said_to_need_more() -> None:
    english = translator("en")
    assert verdict_tables.planned_of(0.05, 100, 100, english) == (
        "the smallest difference of interest, 0.05, would likely have been shown"
    )
    assert verdict_tables.planned_of(0.05, 100, 99, english) == (
        "to show the smallest difference of interest, 0.05, about 100 questions are needed; there were 99"
    )
    assert verdict_tables.decision(0.05, 100, 100, english) == (
        "so many questions would likely decide it for a value 0.05 from the limit"
    )
    assert verdict_tables.decision(0.05, 100, 99, english) == (
        "for a value 0.05 from the limit, about 100 questions decide; there were 99"
    )


def test_groups_are_planned_as_large_as_they_are() -> None:
    """80 questions in 20 groups, 4 each: 80 questions are the 20 groups that there are, 84 are 21."""
    one = stats.compare(np.tile([0.0, 1.0], 40), np.tile([1.0, 0.0], 40), clusters=np.repeat(np.arange(20), 4))
    enough = replace(one, margin=0.05, questions_needed=80)
    assert (enough.n, enough.clusters) == (80, 20)
    assert (
        verdict_tables.groups_planned(enough),
        verdict_tables.groups_planned(replace(one, questions_needed=84)),
    ) == (20, 21)
    uneven = replace(one, n=115, clusters=20, questions_needed=558)  # 97 groups of 5.75, rounded up to whole questions
    assert verdict_tables.groups_planned(uneven) == 97
    assert verdict_tables.planned(enough, translator("en")) == (
        "the smallest difference of interest, 0.05, would likely have been shown"
    )
    assert verdict_tables.planned(replace(one, margin=0.05, questions_needed=84), translator("en")) == (
        "to show the smallest difference of interest, 0.05, about 21 independent groups are needed (84 questions); "
        "there were 20"
    )


def test_where_no_pair_was_measured_no_end_is_said() -> None:
    one = stats.compare([math.nan] * 4, [math.nan] * 4, bounds=(0.0, 1.0))
    assert (one.n, one.n_dropped) == (0, 4)
    assert verdict_tables.lacking(replace(one, least=-1.0, most=1.0), translator("en"), 3) == ""


@pytest.mark.parametrize(
    ("method", "who"),
    [("prediction_powered", "labelled questions"), ("people", "labelled questions"), ("t", "questions")],
)
def test_what_would_have_been_shown_names_whose_questions_it_took(method: str, who: str) -> None:
    one = stats.compare(np.tile([0.0, 1.0], 20), np.tile([1.0, 0.0], 20))
    said = verdict_tables.beside(replace(one, method=method, minimum_detectable=0.25), translator("en"), 3)
    assert f"with 40 {who}, a difference of 0.250 or more would have been shown" in said


@pytest.mark.parametrize(
    ("least", "most", "said"),
    [
        (0.01, 0.2, "+0.010 and +0.200; at the end nearer to 0 it is not shown (p\u00a0=\u00a00.400)"),
        (-0.2, -0.01, "−0.200 and −0.010; at the end nearer to 0 it is not shown (p\u00a0=\u00a00.400)"),
        (-0.01, 0.2, "−0.010 and +0.200"),
    ],
)
def test_only_ends_on_one_side_of_zero_are_not_shown_at_the_nearer_one(least: float, most: float, said: str) -> None:
    one = stats.compare([0.2] * 20 + [math.nan], [0.3] * 10 + [0.35] * 10 + [0.5], bounds=(0.0, 1.0))
    held = replace(stats.withheld(one, WITHHELD), least=least, most=most, p_worst=0.4)
    assert held.n_dropped == 1
    assert verdict_tables.lacking(held, translator("en"), 3) == (
        f"with what is unmeasured, the difference lies between {said}"
    )
