"""Families of a page: the primary metric by itself, all others jointly, and what n could show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragbench.old import stats, views
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Measurement, without_nan
from ragbench.old.core.metric import parse
from ragbench.old.core.parts import Spoken, Style
from ragbench.old.core.settings import GateSettings, Settings
from ragbench.old.core.types import Verdict
from ragbench.old.metrics import catalogue
from ragbench.old.report import exports
from ragbench.old.stats import verdicts
from ragbench.old.tiers.basics import findings
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Group, Sureness, adjusted, compared, find, headed, leading, said
from ragbench.old.tiers.basics.verdict_tables import comparisons
from ragbench.old.tiers.run.gates import Outcome, decide
from ragbench.old.views import Page

SURE = Sureness(0.95, 2_000, 0)


def columns(*chances: float, n: int = 80, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    draws = rng.random(n)
    return {f"s{place}": (draws < chance).astype(float) for place, chance in enumerate(chances)}


def test_twins_alone_in_their_family_are_tested_as_one_and_the_family_is_named_beside_them() -> None:
    twin = columns(0.5, 0.7, seed=1)
    groups = {"m0": columns(0.5, 0.7), "m1": twin, "m2": {name: values.copy() for name, values in twin.items()}}
    found = compared({name: Group(one, "higher") for name, one in groups.items()}, None, SURE, primary="m0")
    alone = stats.compare(*twin.values(), resamples=2_000)
    for name in ("m1", "m2"):
        [one] = found[name]
        assert (one.p_adjusted, one.low, one.high, one.family) == (
            alone.p,
            alone.low,
            alone.high,
            "secondary: 1, max-T",
        )
    for code, words in (("en", "secondary metrics, a single"), ("ru", "вторичные метрики, единственное")):
        table = comparisons([(name, one) for name, [one] in found.items()], translator(code))
        assert any(words in note for note in table.notes)
        assert findings.merged([one for [one] in found.values()], translator(code)) in table.notes


def test_the_primary_metric_is_a_family_of_its_own() -> None:
    """However many others are beside it, its p and interval are those that it has by itself."""
    groups = {f"m{seed}": Group(columns(0.5, 0.7, seed=seed), "higher") for seed in range(6)}
    found = compared(groups, None, SURE, primary="m2")
    [first] = found["m2"]
    alone = stats.compare(*groups["m2"].values.values(), resamples=2_000)
    assert (first.p_adjusted, first.low, first.high, first.family) == (
        alone.p,
        alone.low,
        alone.high,
        "primary: 1, max-T",
    )
    assert {one.family for name in groups if name != "m2" for one in found[name]} == {"secondary: 5, max-T"}
    assert all((one.p_adjusted or 0) > one.p for name in groups if name != "m2" for one in found[name])


def test_challengers_on_the_primary_metric_share_their_family_and_keep_the_direction() -> None:
    groups = {"up": Group(columns(0.3, 0.7, 0.1), "higher"), "down": Group(columns(0.3, 0.7, 0.1), "lower")}
    found = compared(groups, None, SURE, primary="up")
    assert [one.verdict for one in found["up"]] == [Verdict.BETTER, Verdict.WORSE]
    assert [one.verdict for one in found["down"]] == [Verdict.WORSE, Verdict.BETTER]
    assert (found["up"][0].family, found["down"][0].family) == ("primary: 2, max-T", "secondary: 2, max-T")
    assert found["up"][0].baseline == "s0"


def test_slices_are_tested_jointly_each_on_its_own_questions() -> None:
    whole = columns(0.4, 0.6, n=90)
    slices = {"a": np.arange(60), "b": np.arange(60, 90)}
    found = compared({name: Group(whole, "higher", places) for name, places in slices.items()}, None, SURE)
    assert [one.n for [one] in found.values()] == [60, 30]
    assert {one.family for [one] in found.values()} == {"2, max-T"}
    for name, places in slices.items():
        alone = stats.compare(*(column[places] for column in whole.values()), resamples=2_000)
        assert found[name][0].p == alone.p
        assert alone.p <= found[name][0].p_adjusted <= 2 * alone.p + 0.02, "two that share no question: as by Šidák"


def test_a_system_without_values_is_not_compared_and_spoils_nothing() -> None:
    whole = columns(0.3, 0.7, 0.5)
    without = {**whole, "s2": np.full(80, np.nan)}
    found = compared({"m": Group(without, "higher"), "n": Group(whole, "higher")}, None, SURE)
    assert [one.challenger for one in found["m"]] == ["s1"]
    assert [one.challenger for one in found["n"]] == ["s1", "s2"]
    assert found["m"][0].n == 80


def test_a_system_that_is_far_off_does_not_hide_the_others() -> None:
    rng = np.random.default_rng(0)
    base = (rng.random(120) < 0.5).astype(float)
    good = np.clip(base + (rng.random(120) < 0.12), 0, 1)
    bad = np.where(rng.random(120) < 0.9, 0.0, base)
    found = compared({"m": Group({"base": base, "good": good, "bad": bad}, "higher")}, None, SURE)["m"]
    assert [one.verdict for one in found] == [Verdict.BETTER, Verdict.WORSE]


def test_hypotheses_that_were_made_elsewhere_are_of_the_same_family() -> None:
    """A measure of a whole set beside a metric of single questions, on the same questions in the same order."""
    rng = np.random.default_rng(1)
    first, second = (rng.integers(0, 3, (80, 2)).astype(float) + 1 for _ in range(2))
    ratio = stats.statistic_hypothesis(
        lambda t: t[..., 0] / t[..., 1], first, second, names=("s0", "s1"), resamples=500
    )
    found = compared({"m": Group(columns(0.5, 0.7), "higher")}, None, SURE, more={"ratio": [ratio]})
    assert {one.family for [one] in found.values()} == {"2, max-T"}
    assert found["ratio"][0].p == ratio.alone.p <= found["ratio"][0].p_adjusted


def test_a_measure_that_is_undefined_is_not_compared_and_not_counted() -> None:
    """Precision where nobody ever decides to show: 0 of 0 on both sides."""
    nothing = stats.statistic_hypothesis(lambda t: t[..., 0] / t[..., 1], np.zeros((80, 2)), np.zeros((80, 2)))
    assert (nothing.alone.n, np.isnan(nothing.alone.p)) == (80, True)
    found = compared({"m": Group(columns(0.5, 0.7), "higher")}, None, SURE, more={"undefined": [nothing]})
    assert found["undefined"] == []
    assert found["m"][0].p_adjusted == found["m"][0].p
    assert found["m"][0].family == "1, max-T"


def test_metrics_do_not_touch_each_other_s_p_nor_the_interval_that_each_has_alone() -> None:
    rng = np.random.default_rng(1)
    first, second = ({name: rng.random(40) for name in ("base", "a", "b")} for _ in range(2))
    both = compared({"m": Group(first, "higher"), "n": Group(second, "higher")}, None, SURE)["m"]
    alone = compared({"m": Group(first, "higher")}, None, SURE)["m"]
    for one, other in zip(both, alone, strict=True):
        assert (one.p, one.alone, one.intervals) == (other.p, other.alone, other.intervals)
        assert one.low < other.low < other.alone[0], "the more is said at once, the wider"


def test_few_groups_cannot_show_anything_and_near_copies_cost_them_nothing() -> None:
    """Six clusters allow .031, alone and in ten copies; five allow .0625."""
    for number, verdict in ((6, Verdict.BETTER), (5, Verdict.CANNOT_BE_SHOWN)):
        codes = [str(place // 10) for place in range(10 * number)]
        values = {"a": np.zeros(len(codes)), "b": np.ones(len(codes))}
        found = compared({f"m{k}": Group(values, "higher") for k in range(10)}, codes, SURE)
        assert {(one.verdict, one.p_adjusted, one.family) for [one] in found.values()} == {
            (verdict, 2 / 2**number, "1, max-T")
        }


def test_what_could_have_been_shown_is_said_for_the_level_that_the_family_leaves() -> None:
    values = {f"m{seed}": columns(0.5, 0.55, seed=seed) for seed in range(10)}
    alone = stats.compare(*values["m0"].values(), resamples=2_000)
    found = compared({name: Group(own, "higher") for name, own in values.items()}, None, SURE)["m0"][0]
    assert found.threshold is not None
    assert 0.05 / 20 < found.threshold < 0.05 / 5, "of ten that have little in common"
    assert found.minimum_detectable is not None
    assert alone.minimum_detectable is not None
    assert found.minimum_detectable > 1.2 * alone.minimum_detectable


@pytest.mark.parametrize(
    ("family", "english", "russian"),
    [
        ("primary: 1, max-T", "primary metric, tested by itself", "главная метрика, проверена отдельно"),
        (
            "primary: 3, max-T", "primary metric, adjusted for 3 comparisons (max-T)",
            "главная метрика, с поправкой на 3 сравнения (max-T)",
        ),
        (
            "secondary: 26, max-T", "secondary metrics, adjusted for 26 comparisons (max-T)",
            "остальные метрики, с поправкой на 26 сравнений (max-T)",
        ),
        ("5, holm", "adjusted for 5 comparisons (Holm)", "с поправкой на 5 сравнений (Holm)"),
        ("1, max-T", "", ""),
        ("9, max-T within metrics", "adjusted for 9 comparisons (max-T within metrics)", None),
        ("other", "other", "other"),
    ],
)  # fmt: skip
def test_a_family_says_what_it_is(family: str, english: str, russian: str | None) -> None:
    assert said(family, translator("en")) == english
    assert russian is None or said(family, translator("ru")) == russian


def test_a_headline_says_for_how_many_comparisons_it_is_adjusted() -> None:
    one = replace(stats.compare([0.0, 1.0], [1.0, 1.0]), family="primary: 3, max-T")
    assert adjusted(one.family, translator("en")) == "adjusted for 3 comparisons"
    assert adjusted("primary: 1, max-T", translator("en")) == adjusted("", translator("en")) == ""


def test_an_answer_about_another_metric_says_that_it_is_not_the_primary_one() -> None:
    english = translator("en")
    assert headed("primary: 3, max-T", english) == "adjusted for 3 comparisons"
    assert headed("secondary: 26, max-T", english) == "secondary metrics, adjusted for 26 comparisons (max-T)"


def test_the_primary_metric_is_one_that_is_measured_and_has_a_direction() -> None:
    catalogue()
    known = [parse(label) for label in ("ndcg@5", "ndcg@10", "mrr@10", "avg_spread")]
    assert leading("", known).label == "ndcg@5"
    assert leading("", known, "mrr").label == "mrr@10"
    assert leading(" ndcg@10 ", known, "mrr").label == "ndcg@10"
    assert leading("mrr", known).label == "mrr@10", "by any name that it goes by"
    for asked, why in (
        (
            "ngcd@10",
            r"primary = 'ngcd@10': it is not measured; did you mean 'ndcg@10'\?; legal: ndcg@5, ndcg@10, mrr@10$",
        ),
        ("avg_spread", "it only describes: no value of it is better than another; legal: ndcg@5, ndcg@10, mrr@10$"),
    ):
        with pytest.raises(BenchError, match=why):
            leading(asked, known)


class Told(NamedTuple):
    """What one output says of one comparison: where, the word, the interval and p as they are written."""

    where: str
    word: str
    interval: str
    p: str | None = None


METRICS = ("mrr", "ndcg@10", "hit_rate@5", "noise_sensitivity", "recall@5", "precision@5")
MARGIN = 0.05


def random_page(seed: int) -> Measurement:
    """A page of 1 to 4 challengers on 1 to 6 metrics: 0/1, graded, continuous, constant scores, ties, gaps, groups."""
    catalogue()
    rng = np.random.default_rng(seed)
    n, systems = int(rng.integers(2, 70)), [f"s{place}" for place in range(int(rng.choice([2, 2, 3, 4, 5])))]
    chosen = list(rng.permutation(METRICS)[: int(rng.integers(1, 7))])
    samples = [f"q{place:03}" for place in range(n)]
    rows = []
    for metric in chosen:
        kind, base = int(rng.integers(4)), rng.random(n)
        for place, system in enumerate(systems):
            drawn = np.clip(
                base + rng.normal(0.15 * place * rng.integers(-1, 2), rng.choice([0.0, 0.05, 0.4]), n), 0, 1
            )
            values = [drawn.round(), (4 * drawn).round() / 4, drawn, np.full(n, base[0])][kind]
            values[rng.random(n) < rng.choice([0.0, 0.0, 0.2])] = np.nan
            rows += [
                (system, metric, sample, value, "ok", "", None) for sample, value in zip(samples, values, strict=True)
            ]
    scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    groups = rng.integers(0, max(n // 3, 1), n)
    clusters = (
        {sample: str(group) for sample, group in zip(samples, groups, strict=True)} if rng.random() < 0.4 else None
    )
    sureness = Sureness(float(rng.choice([0.8, 0.87, 0.9, 0.95, 0.99])), 100, seed)
    primary = str(rng.choice(chosen))
    estimates, comparisons = find(scores, [parse(name) for name in chosen], systems, clusters, sureness, primary)
    facts = {"baseline": "s0", "systems": [{"name": name} for name in systems], "primary": primary,
             "level": sureness.level, "resamples": 100, "seed": seed}  # fmt: skip
    return Measurement("page", facts, scores, estimates=estimates, comparisons=comparisons)


def everything_told(made: Measurement) -> Iterator[Told]:
    """What the outputs say of all comparisons, each read as a reader does."""
    english, page = translator("en"), Page(made)
    for row in re.findall(r"<tr.*?</tr>", str(views.comparison.table(page).html())):
        cells = {name: unescape(re.sub(r"<sup>.*?</sup>|<[^>]+>", "", cell))
                 for name, cell in re.findall(r'<td data-label="([^"]+)"[^>]*>(.*?)</td>', row)}  # fmt: skip
        if "verdict" in cells and "[" in cells.get("difference", ""):
            [p] = [cell for name, cell in cells.items() if name.startswith("p (")]
            yield Told("table", cells["verdict"][2:], cells["difference"], p)
    text = unescape(re.sub(r"<[^>]+>", "", str(views.comparison.answer(page).html()).replace("</p>", "\n")))
    words = {
        "cannot be told": "cannot be told",
        "is better than": "better",
        "is worse than": "worse",
        "is not shown": "not shown",
        "cannot be shown": "cannot be shown",
    }
    for line in text.splitlines():
        if found := re.match(r"On .*?(\[.*?\]), p\N{NO-BREAK SPACE}(.*?)[,.](?!\d)", line):
            word = next(words[key] for key in words if key in line)
            assert "secondary" not in line, "the page speaks of its primary metric"
            yield Told("answer", word, found[1], found[2].removeprefix("=\N{NO-BREAK SPACE}"))
    table = comparisons([(one.metric, one.comparison) for one in made.comparisons], english, 4)
    for style, rows in (("terminal", Style().written(table)), ("notebook", Spoken(english).written(table))):
        for row in rows:
            yield Told(style, row[-1], row[-7], row[-5])
    if len(page.material.systems) == 2:
        for line in exports.latex_table(made, english).splitlines():
            parts = line.removesuffix(r" \\").split(" & ")
            if len(parts) == 5 and "[\\num" in parts[2]:
                signs = {
                    "uparrow": "better",
                    "nearrow": "better",
                    "downarrow": "worse",
                    "searrow": "worse",
                    "?": WITHHELD,
                }
                word = next((word for sign, word in signs.items() if sign in parts[2]), "not shown")
                interval, p = (re.sub(r"\\num\{([^}]*)\}", r"\1", part) for part in parts[2:4])
                yield Told("LaTeX", word, interval.split("{}")[-1].removesuffix(r"\end{tabular}").replace("$", ""), p)
        for line in exports.summary({"notebooks": [{"name": "page"}]}, {"page": made}, None, english).splitlines():
            parts = line.strip("| ").split(" | ")
            if len(parts) == 7 and "[" in parts[3]:
                yield Told("Markdown", re.findall(r"\(([^()]*)\)$", parts[2])[0], parts[3], parts[4].replace("\\", ""))


def ends(text: str) -> tuple[float, float]:
    """Both ends of a printed interval; one that is told apart from 0 by its sign alone is the least there is."""
    inside = text[text.index("[") + 1 : text.index("]")] if "[" in text else text
    low, high = re.split(r", | … ", inside)
    return tuple({">0": 5e-324, "<0": -5e-324}.get(end) or float(end.replace("−", "-")) for end in (low, high))  # type: ignore[return-value]


WITHHELD = "cannot be told"


def check_agreement(made: Measurement) -> None:
    """Intervals, p and words of all that is said of a page agree, in numbers and as they are written.

    Where a word is withheld because of what is unmeasured, interval and p of what was measured still agree.
    """
    limit = 1 - float(made.facts["level"])
    for told in everything_told(made):
        shown = told.word.startswith(("better", "worse"))
        if told.word.startswith(WITHHELD):
            assert told.interval.startswith("—") or not ends(told.interval)[0] <= 0 <= ends(told.interval)[1], told
            assert told.p is not None
            assert told.p.startswith("<") or float(told.p) <= round(limit, len(told.p.partition(".")[2])), told
            continue
        if told.interval.strip("—") and not told.interval.startswith("—"):
            low, high = ends(told.interval)
            assert (low <= 0 <= high) != shown, told
        assert told.p is not None
        if told.p.startswith("<"):
            assert shown, told
        else:
            decimals = len(told.p.partition(".")[2])
            assert float(told.p) <= round(limit, decimals) if shown else float(told.p) >= round(limit, decimals), told
    for one in json.loads(json.dumps(without_nan([each.summary() for each in made.comparisons]), allow_nan=False)):
        shown = one["verdict"].startswith(("better", "worse", WITHHELD))
        assert bool(one["withheld"]) == (one["verdict"] == WITHHELD), one
        assert one["p"] <= one["p_adjusted"] <= 1, one
        assert (one["p_adjusted"] <= limit + 1e-12) == shown or one["difference"] == 0, one
        if one["low"] is not None:
            assert (one["low"] <= 0 <= one["high"]) != shown, one
            assert one["low"] <= one["difference"] <= one["high"], one
            assert all(end == 0 or abs(end) > 1e-12 for end in (one["low"], one["high"])), one
    metric = made.facts["primary"]
    gate = {"g": GateSettings(metric=metric, not_worse_by=MARGIN, most_unmeasured=1.0)}
    found = decide({"page": made}, Settings(gate=gate))
    for check in found.checks:
        if check.low is None or check.high is None:
            continue
        sides = [-check.high, -check.low] if parse(metric).better == "lower" else [check.low, check.high]
        decided = "pairs unmeasured" not in check.why
        assert (sides[0] > -MARGIN and decided) == (check.outcome is Outcome.HOLDS), check
        assert (sides[1] < -MARGIN and decided) == (check.outcome is Outcome.FAILS), check
    xml = exports.junit({}, {}, found.as_json(), translator("en")).decode()
    assert xml.count("<failure ") == sum(check.outcome is Outcome.FAILS for check in found.checks)


def check_page(seed: int) -> None:
    """A random page, checked without what it could have shown, which takes ten times as long as all the rest."""

    def unknown(*_given: object, **_options: object) -> None: ...

    with mock.patch.multiple(verdicts, sample_size=unknown, minimum_detectable_difference=unknown):
        check_agreement(random_page(seed))


@settings(max_examples=6, deadline=None)
@example(959)  # equal differences, of more and of fewer questions
@given(st.integers(0, 10**9))
def test_interval_p_and_word_agree_in_every_output(seed: int) -> None:
    check_page(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 2000, 500))
def test_interval_p_and_word_agree_in_every_output_of_thousands_of_pages(start: int) -> None:
    for seed in range(start, start + 500):
        try:
            check_page(seed)
        except BaseException as error:
            error.add_note(f"the page of seed {seed}")
            raise
