"""The overview over a run: what it takes from the pages, which bands and verdicts it states, and what it leads to."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.cli.run import standing
from ragbench.old.core import settings
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.types import BY_CONSTRUCTION, Estimate, Verdict
from ragbench.old.core.types.reason import Reason, kept
from ragbench.old.report import exports
from ragbench.old.report.keeping.results import scores as all_scores
from ragbench.old.report.keeping.results import summary
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.run.overview import NAME, keep, over, overview
from ragbench.old.views import Page
from ragbench.old.views.about.run_summary import Overview, cost, size_and_cost
from ragbench.old.views.basics.interpretation import limits, reached
from tests.old.views.measurements import measurement

pytestmark = pytest.mark.usefixtures("bare")


def mrr(system: str, value: float, low: float | None, high: float | None, unmeasured: int = 0) -> NamedEstimate:
    return NamedEstimate(system, "mrr", Estimate(value, low, high, 0.95, "bca", 100, unmeasured))


def tier(*estimates: NamedEstimate, notebook: str = "tier1_retrieval") -> Measurement:
    return replace(measurement(("a", "b"), ("mrr",), 20, notebook=notebook), estimates=estimates)


@pytest.mark.parametrize(
    ("low", "high", "bands"),
    [
        (0.81, 0.9, "excellent"), (0.8, 0.9, "good excellent"), (0.5, 0.8, "good"), (0.1, 0.49, "attention"),
        (0.4, 0.6, "attention good"), (0.4, 0.9, "attention good excellent"), (None, None, ""),
    ],
)  # fmt: skip
def test_a_band_is_stated_where_the_whole_interval_lies_in_it(low: float, high: float, bands: str) -> None:
    found = over({"tier1_retrieval": tier(mrr("a", 0.6, low, high))})
    [one] = found.estimates_by("page")
    assert (one.system, one.metric, one.where) == ("a", "mrr", {"page": "tier1_retrieval"})
    met = reached(Page(found).material, "mrr", one.estimate)
    assert [each.word for each in met.stretches] == bands.split()


def test_the_page_says_which_bands_an_interval_spans() -> None:
    found = over({"tier1_retrieval": tier(mrr("a", 0.9, 0.85, 0.95), mrr("b", 0.7, 0.45, 0.85))})
    html = str(views.about.overview(Page(found)).html())
    assert re.search(r'rb-band-excellent">excellent<', html)
    assert re.search(r'rb-band-spanned">attention … excellent<', html)
    assert "Of 2 numbers with a threshold: 1 excellent, 1 between bands." in str(
        views.about.standing(Page(found)).html()
    )


@pytest.mark.parametrize(
    ("scale", "printed"),
    [(1, "0.123 [0.101, 0.149]"), (100, "12.35 [10.12, 14.88]"), (1000, "123.5 [101.2, 148.8]"),
     (10_000, "1,235 [1,012, 1,488]")],
)  # fmt: skip
def test_larger_numbers_have_fewer_decimals(scale: float, printed: str) -> None:
    one = Estimate(0.12346 * scale, 0.10123 * scale, 0.14877 * scale, 0.95, "bca", 100, 0)
    html = str(
        views.about.overview(Page(over({"tier1_retrieval": tier(NamedEstimate("a", "corpus_bleu", one))}))).html()
    )
    assert printed in re.sub(r"<[^>]+>|\u2060", "", html).replace("\u00a0", " ")


def test_verdicts_and_differences_are_the_page_s_own() -> None:
    made = measurement(("a", "b"), ("mrr", "hit_rate@1"), 40)
    found = over({"tier1_retrieval": made})
    assert [(one.metric, one.comparison) for one in found.comparisons_by("page")] == [
        (one.metric, one.comparison) for one in made.comparisons
    ]
    assert Page(found).material.comparison("a", "mrr", page="tier1_retrieval") is None


def test_what_was_not_measured_is_counted() -> None:
    found = over({"tier1_retrieval": tier(mrr("a", math.nan, None, None, 100), mrr("b", 0.6, 0.55, 0.65))})
    html = re.sub(r"<[^>]+>", " ", str(views.about.overview(Page(found)).html()))
    assert "not measured   n 100, 100 unmeasured" in html
    assert "33.3% of all values could not be measured" in str(views.about.standing(Page(found)).html())
    many = NamedEstimate("b", "mrr", Estimate(0.6, 0.55, 0.65, 0.95, "bca", 9_000, 0))
    few = over({"tier1_retrieval": tier(mrr("a", 0.5, 0.4, 0.6, 1), many)})
    assert "&lt;0.1% of all values could not be measured" in str(views.about.standing(Page(few)).html())


def test_a_share_of_what_is_missing_is_printed_where_it_can_be() -> None:
    """1 of 1,000 is 0.1 %, and no less than that; 2 of 3 numbers lie between bands."""
    many = NamedEstimate("b", "mrr", Estimate(0.6, 0.4, 0.9, 0.95, "bca", 899, 0))
    few = over({"tier1_retrieval": tier(mrr("a", 0.9, 0.85, 0.95, 1), many, mrr("c", 0.5, 0.4, 0.6))})
    assert few.facts["pages"][0]["wanted"] == 100 + 1 + 899 + 100
    few.facts["pages"][0]["wanted"] = 1_000
    said = str(views.about.standing(Page(few)).html()).replace("\u2060", "")
    assert " 0.1% of all values could not be measured" in f" {re.sub('<[^>]+>', ' ', said)}"
    assert "&lt;0.1%" not in said
    assert "Of 3 numbers with a threshold: 1 excellent, 2 between bands." in said


def test_three_challengers_are_each_spoken_of_and_four_are_counted() -> None:
    words = (Verdict.BETTER, Verdict.WORSE, Verdict.NOT_SHOWN, Verdict.SAME)
    for number in (3, 4):
        made = measurement(("base", *"vwxy"[:number]), ("mrr",), 40)
        own = tuple(
            replace(one, comparison=replace(one.comparison, verdict=word))
            for one, word in zip(made.comparisons, words, strict=False)
        )
        said = re.sub(
            "<[^>]+>",
            "",
            str(views.about.standing(Page(over({"tier1_retrieval": replace(made, comparisons=own)}))).html()),
        )
        assert ("v against base: better (Tier 1: mrr)." in said.replace("\u00a0", " ")) == (number == 3), said
        assert ("mrr, 4 systems against base" in said) == (number == 4), said


def test_a_page_s_latency_is_the_median_of_both_parts_or_of_all_there_are() -> None:
    """Embedding 5, search 10 and both together 14 (a median of sums); of a hybrid without it 5 + 10; the 90th
    percentile is none of it."""

    def took(system: str, step: str, probability: float, ms: float) -> NamedEstimate:
        one = Estimate(ms, None, None, 0.95, "order", 9, 0)
        return NamedEstimate(system, "latency", one, {"step": step, "probability": probability})

    placed = [took("a", *each) for each in (("embed", 0.5, 5.0), ("search", 0.5, 10.0), ("both", 0.5, 14.0))]
    placed += [took("b", *each) for each in (("embed", 0.5, 5.0), ("search", 0.5, 10.0), ("search", 0.9, 90.0))]
    found = over({"tier1_retrieval": replace(tier(mrr("a", 0.5, 0.4, 0.6)), placed=tuple(placed))})
    assert found.facts["pages"][0]["milliseconds"] == {"a": 14.0, "b": 15.0}


def test_limits_are_said_the_way_that_is_good() -> None:
    english = translator("en")
    assert limits(english, settings.Band(good=0.5, excellent=0.8)) == ("0.5 or more", "above 0.8")
    assert limits(english, settings.Band(good=0.3, excellent=0.1, better="lower")) == ("0.3 or less", "below 0.1")
    assert limits(english, settings.Band(good=0.3, better="lower")) == ("0.3 or less", "—")


def test_why_nothing_was_measured_is_said_with_counts_by_page_and_overview(tmp_path: Path) -> None:
    """Six reasons, of which the five most frequent are named: 5 + 4 + 3 + 2 + 2 of 17, and one of another kind."""
    why = [f"reason {letter}" for letter, count in zip("abcdef", (5, 4, 3, 2, 2, 1), strict=True) for _ in range(count)]
    made = measurement(("only",), ("mrr",), 17, facts={"primary": "mrr"})
    scores = made.scores.assign(value=math.nan, status="missing_field", reason=why)
    bare = replace(made, scores=scores, estimates=(mrr("only", math.nan, None, None, 17),), comparisons=())
    bare = replace(bare, estimates=tuple(replace(e, estimate=replace(e.estimate, n=0)) for e in bare.estimates))
    said = "not measured 17: reason a (5); reason b (4); reason c (3); reason d (2); reason e (2); others (1)."
    assert f"On mrr, only: {said}" in re.sub("<[^>]+>", "", str(views.comparison.answer(Page(bare)).html()))
    found = over({"tier1_retrieval": bare})
    assert f"Tier 1: {said}" in str(views.about.standing(Page(found)).html())
    found.save(tmp_path / "parts" / "overview")
    assert f"Tier 1: {said}" in standing(Measurements(tmp_path), translator("en")).notes


def test_why_nothing_was_measured_is_said_in_the_page_s_language() -> None:
    lacking = kept(Reason("the sample has no field {field}", field="reference"))
    why = [lacking, lacking, kept(Reason("the reference names no entity"))]
    made = measurement(("only",), ("mrr",), 3, facts={"primary": "mrr"})
    scores = made.scores.assign(value=math.nan, status="missing_field", reason=why)
    bare = replace(made, scores=scores, estimates=(mrr("only", math.nan, None, None, 3),), comparisons=())
    said = "не измерено 3: у примера нет поля reference (2); в эталоне нет сущностей (1)."
    page = Page(over({"tier1_retrieval": bare}), language="ru")
    assert f"Tier 1: {said}" in str(views.about.standing(page).html())


def test_the_terminal_says_what_the_overview_s_page_says(tmp_path: Path) -> None:
    made = measurement(("a", "<b> & co"), ("mrr",), 20, facts={"primary": "mrr", "baseline": "a"})
    found = over({"tier1_retrieval": made})
    found.save(tmp_path / "parts" / "overview")
    text = translator("en")
    page = re.findall("<p[^>]*>(.*?)</p>", str(views.about.standing(Page(found)).html()))
    said = tuple(unescape(re.sub("<[^>]+>", "", one)) for one in page)
    assert any(one.startswith("<b> & co against a:") for one in said)
    assert standing(Measurements(tmp_path), text).notes[: len(said)] == said


@pytest.mark.parametrize(("language", "said"), [
    ("en", "by the judge lexical, a stand-in"), ("ru", "по судье lexical, автономному заменителю"),
])  # fmt: skip
@pytest.mark.parametrize(("more", "alone"), [
    ({}, True), ({"corrected": ["mrr"]}, False), ({"judged": ["recall"]}, False),
    ({"judges": [{"name": "lexical", "stand_in": True}, {"name": "model", "stand_in": False}]}, False),
])  # fmt: skip
def test_a_verdict_away_from_its_page_names_the_stand_in_that_alone_judged(
    more: dict[str, object], alone: bool, language: str, said: str, tmp_path: Path
) -> None:
    judged = {"judges": [{"name": "lexical", "stand_in": True}], "judged": ["mrr"], **more}
    made = measurement(("a", "b"), ("mrr",), 20, facts={"primary": "mrr", "baseline": "a", **judged})
    found = over({"tier3_end_to_end": made})
    found.save(tmp_path / "parts" / "overview")
    made.save(tmp_path / "parts" / "tier3_end_to_end")
    page, text = Page(found, language=language), translator(language)
    [row] = [row for row in standing(Measurements(tmp_path), text).rows if row[2] == "b"]
    sentence = views.about.standing(page).html()
    outputs = (sentence, views.about.overview(page).html(), views.about.differences(page).html(), row[4],
               exports.markdown_table(made, text))  # fmt: skip
    assert [said in str(output) for output in outputs] == [alone] * len(outputs)
    whole = summary(Measurements(tmp_path))
    judges = {one.get("judged_by") for one in (*whole["estimates"], *whole["comparisons"]) if one["metric"] == "mrr"}
    assert judges == ({"lexical"} if alone else {None})


@pytest.mark.parametrize(("language", "said"), [("en", "by construction"), ("ru", "по построению")])
def test_a_number_that_could_not_have_been_otherwise_says_so_wherever_it_stands(
    language: str, said: str, tmp_path: Path
) -> None:
    """The consistency of a judge that asks no model: no interval, and no dash that leaves open why."""
    known = Estimate(1.0, None, None, 0.95, "none", 60, note=BY_CONSTRUCTION)
    facts = {"primary": "consistency_score", "describes": "judges", "baseline": None, "systems": [{"name": "lexical"}]}
    made = replace(measurement(("lexical",), ("consistency_score",), 20, facts=facts),
                   estimates=(NamedEstimate("lexical", "consistency_score", known),), comparisons=())  # fmt: skip
    found = over({"tier_judge": made})
    found.save(tmp_path / "parts" / "overview")
    made.save(tmp_path / "parts" / "tier_judge")
    text = translator(language)
    table = standing(Measurements(tmp_path), text)
    [row] = table.rows
    assert row[3].why == said
    assert f"— {said}" in repr(table)
    assert said in views.about.overview(Page(found, language=language)).html()
    assert said in exports.markdown_table(made, text)


def test_pages_stand_in_their_order_and_lead_to_their_rows() -> None:
    pages = {
        "sources": measurement(("a", "b"), ("mrr",), 20, notebook="sources"),
        "tier1_retrieval": measurement(("a", "b"), ("mrr",), 20),
        "tier_judge": measurement(("lexical",), ("mrr",), 20, notebook="tier_judge"),
    }
    found = over(pages)
    assert [page["name"] for page in found.facts["pages"]] == ["tier1_retrieval", "tier_judge", "sources"]
    html = str(views.about.overview(Page(found)).html())
    assert html.count("<table") == 2, "judges are no systems: they stand in a table of their own"
    assert 'href="tier1_retrieval.html#metric-mrr"' in html
    assert 'id="metric-mrr"' in str(views.comparison.table(Page(pages["tier1_retrieval"])).html())


def test_the_part_to_blame_is_named_with_its_interval() -> None:
    shares = {"good": (0.6, 0.5, 0.7), "not_used": (0.1, 0.05, 0.17), "not_retrieved": (0.3, 0.22, 0.39)}
    parts = tuple(
        NamedEstimate("a", "blame", Estimate(*share, 0.95, "bca", 100), {"part": part})
        for part, share in shares.items()
    )
    made = replace(measurement(("a", "b"), ("mrr",), 20, notebook="tier3_end_to_end"), placed=parts)
    page = Page(over({"tier3_end_to_end": made}))
    said = re.sub(r"<[^>]+>|\u2060", "", str(views.about.standing(page).html()))
    assert "Most frequent first failure in Tier 3: not retrieved (a 30% [22%, 39%])." in said
    drawn = str(views.about.blame_bars(page).html())
    pieces = re.findall(r'class="rb-part-([a-z-]+)"><rect x="([\d.]+)%" width="([\d.]+)%"', drawn)
    assert pieces == [("good", "0.0", "60.0"), ("not-used", "60.0", "10.0"), ("not-retrieved", "70.0", "30.0")]
    assert "60% [50%, 70%]" in re.sub(r"<[^>]+>|\u2060", "", drawn)


def test_a_run_keeps_its_overview_and_an_empty_one_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path / "run")
    assert not (tmp_path / "run").exists()
    measurement().save(tmp_path / "run" / "parts" / "tier1_retrieval")
    keep(tmp_path / "run")
    kept = Measurement.load(tmp_path / "run" / "parts" / NAME)
    assert (
        views.about.overview(Page(kept)).html()
        == views.about.overview(Page(over({"tier1_retrieval": measurement()}))).html()
    )
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(tmp_path / "empty"))
    with pytest.raises(BenchError, match="executes it last"):
        overview()


def test_an_unknown_set_of_thresholds_is_refused() -> None:
    with pytest.raises(ValueError, match="there are specification, voproshalych"):
        over({"tier1_retrieval": measurement()}, "mine")


def test_the_cost_is_that_of_the_replies_used(tmp_path: Path) -> None:
    (tmp_path / "ragbench.toml").write_text(
        '[generators.writer]\nkind = "openai"\nbase_url = "http://localhost/v1"\nmodel = "m"\n'
        "input_price = 2.0\noutput_price = 10.0\n"
        '[generators.dear]\nkind = "openai"\nbase_url = "https://models.example/v1"\nmodel = "m"\n',
        encoding="utf-8",
    )
    settings.load.cache_clear()
    usage = {"replies": 7, "input_tokens": 70, "output_tokens": 7, "cost": 0.5, "estimated": 0, "unpriced": 2}
    answers = pd.DataFrame(
        [
            ("a", "q1", 1_000_000.0, 100_000.0),
            ("a", "q2", float("nan"), float("nan")),
            ("b", "q1", 10.0, 10.0),
            ("b", "q2", 10.0, 10.0),
            ("c", "q1", 10.0, 10.0),
        ],
        columns=["system", "sample", "input_tokens", "output_tokens"],
    )
    made = tier(mrr("a", 0.5, 0.4, 0.6))
    facts = {
        **made.facts,
        "judges": [{"name": "model", "usage": usage}, {"name": "lexical", "stand_in": True}],
        "generators": {"a": {"name": "writer"}, "b": {"name": "elsewhere"}, "c": {"name": "dear"}},
    }
    paid = replace(made, facts=facts, extra={**made.extra, "answers": answers})
    found = over({"tier1_retrieval": paid})
    assert found.facts["pages"][0]["spent"] == {"calls": 11, "money": 3.5, "unpriced": 5}
    known = "cost 3.50 at least, 5 calls have no price · 11 calls"
    for one, told in ((found, known), (over({"tier1_retrieval": made}), "no paid call")):
        whole = Overview(Page(one).material)
        assert " · ".join(size_and_cost(whole, whole.pages[0])).endswith(told)
    unpriced = {"calls": 9, "money": 0.0, "unpriced": 9}
    assert cost(unpriced, translator("en")) == "cost unknown: no price is set"
    assert cost({"calls": 9, "money": 0.0}, translator("en")) == "cost 0.00"


def test_the_table_of_all_scores_reads_as_sentences() -> None:
    """What a measurement keeps apart, to be said in any language, no reader of a file has to put together."""
    lacking = Reason("the sample has no field {field}", field="reference")
    made = measurement(("only",), ("mrr",), 3)
    scores = made.scores.assign(value=math.nan, status="missing_field", reason=[kept(lacking), "its own words", ""])
    table = all_scores({"tier1_retrieval": replace(made, scores=scores)})
    assert table["reason"].tolist() == ["the sample has no field reference", "its own words", ""]
