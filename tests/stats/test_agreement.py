"""Agreement: published numbers, four libraries, and what a user is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.stats.agreement import agreement, agreement_of_people

NONE = np.nan


def ratings_of(table):
    """people, judge: a pair of ratings for every count in the table."""
    counts = np.array(table).ravel()
    people, judge = np.indices(np.shape(table)).reshape(2, -1)
    return np.repeat(people, counts), np.repeat(judge, counts)


def values_of(judge, people, **options):
    """The value of every measure."""
    return agreement(judge, people, **options).set_index("measure")["value"]


@pytest.mark.parametrize(
    ("table", "measure", "expected"),
    [
        # Gwet 2002, Kappa statistic is not satisfactory, table 2
        ([[118, 5], [2, 0]], "kappa", -0.0234),
        ([[118, 5], [2, 0]], "ac1", 0.9408),
        # by hand: three of four agree; of the first level one of two
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], "accuracy", 0.75),
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], "bias", 0.25),
        ([[1, 1, 0], [0, 1, 0], [0, 0, 1]], "balanced_accuracy", 5 / 6),
    ],
)
def test_published_numbers(table, measure, expected):
    people, judge = ratings_of(table)
    assert values_of(judge, people)[measure] == pytest.approx(expected, abs=6e-5)


def test_reference_numbers(shared_data):
    cases = json.loads(shared_data("stats-reference/stats_reference.json").read_text())
    cases = {case["id"]: case for case in cases}
    case = cases["cohen-sas"]
    people, judge = ratings_of(case["input"])
    assert values_of(judge, people)["kappa"] == pytest.approx(
        case["expected"]["kappa"], abs=case["abs_tol"]
    )
    case = cases["krippendorff-strings"]
    frame = agreement_of_people(np.array(case["input"], dtype=object).T)
    assert frame["measure"].tolist() == ["alpha_nominal"]
    assert frame["value"][0] == pytest.approx(case["expected"]["alpha"], abs=case["abs_tol"])


def test_shrout_and_fleiss():
    # Shrout & Fleiss 1979, table 2, of whose four judges the first two; ICC(2,1) by their formula.
    first, second = [9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2]
    values = values_of(second, first)
    rows = np.array([first, second], dtype=float)
    between_answers = 2 * rows.mean(axis=0).var(ddof=1)
    between_judges = 6 * rows.mean(axis=1).var(ddof=1)
    residuals = rows - rows.mean(axis=0) - rows.mean(axis=1, keepdims=True) + rows.mean()
    error = (residuals**2).sum() / 5
    expected = (between_answers - error) / (
        between_answers + error + 2 * (between_judges - error) / 6
    )
    assert values["icc"] == pytest.approx(expected)


def test_four_libraries():
    import krippendorff
    from scipy import stats as scipy_stats
    from sklearn import metrics

    generator = np.random.default_rng(0)
    people = generator.integers(1, 6, 80).astype(float)
    judge = np.clip(people + generator.integers(-1, 3, 80), 1, 5)
    values = values_of(judge, people)
    expected = {
        "accuracy": metrics.accuracy_score(people, judge),
        "balanced_accuracy": metrics.balanced_accuracy_score(people, judge),
        "kappa": metrics.cohen_kappa_score(people, judge),
        "kappa_linear": metrics.cohen_kappa_score(people, judge, weights="linear"),
        "kappa_quadratic": metrics.cohen_kappa_score(people, judge, weights="quadratic"),
        "spearman": scipy_stats.spearmanr(people, judge).statistic,
        "kendall": scipy_stats.kendalltau(people, judge).statistic,
    }
    for level in ("nominal", "ordinal", "interval", "ratio"):
        expected[f"alpha_{level}"] = krippendorff.alpha([people, judge], level_of_measurement=level)
    for measure, value in expected.items():
        assert values[measure] == pytest.approx(value, abs=1e-12), measure
    # With many levels the same coefficients stay that need none.
    shares = people / 5 + generator.random(80).round(2)
    many = values_of(judge, shares)
    assert many["spearman"] == pytest.approx(scipy_stats.spearmanr(shares, judge).statistic)
    assert many["kendall"] == pytest.approx(scipy_stats.kendalltau(shares, judge).statistic)
    assert "kappa" not in many


def test_alpha_of_several_raters_with_gaps():
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, sections C and F
    raters = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
    frame = agreement_of_people(np.transpose(raters))
    assert (frame["n"] == 11).all()
    assert (frame["n_unmeasured"] == 1).all()
    values = frame.set_index("measure")["value"]
    assert values["alpha_nominal"] == pytest.approx(0.743, abs=5e-4)
    assert values["alpha_ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert values["alpha_interval"] == pytest.approx(0.849, abs=5e-4)


def test_an_interval_needs_units_that_vary():
    people, judge = ratings_of([[60, 10], [10, 40]])
    frame = agreement(judge, people).set_index("measure")
    assert frame["method"]["kappa"] == "jackknife"
    # Fleiss, Cohen & Everitt 1969, Psychol. Bull. 72: the error of kappa is .071 here.
    width = frame["high"]["kappa"] - frame["low"]["kappa"]
    assert width == pytest.approx(2 * 1.98 * 0.0706, rel=0.1)
    # Of a thousand units groups are left out.
    many = agreement(np.repeat(judge, 10), np.repeat(people, 10)).set_index("measure").loc["kappa"]
    assert many["high"] - many["low"] == pytest.approx(2 * 1.98 * 0.0706 / np.sqrt(10), rel=0.15)
    few = agreement(judge[::5][:29], people[::5][:29]).set_index("measure")
    assert few["method"]["kappa"] == "none"
    assert (
        agreement(judge[::4][:30], people[::4][:30]).set_index("measure")["method"]["kappa"]
        == "jackknife"
    )
    assert few["method"]["accuracy"] == "wilson"
    # Without a difference there is no error.
    assert agreement(people, people).set_index("measure")["method"]["kappa"] == "none"
    # Nearly all answers are of one level: no interval beyond chance.
    people, judge = ratings_of([[118, 2], [2, 3]])
    assert agreement(judge, people).set_index("measure")["method"]["kappa"] == "jackknife"
    people, judge = ratings_of([[118, 5], [2, 0]])
    assert agreement(judge, people).set_index("measure")["method"]["kappa"] == "none"
    # Of four differences among zeros no interval of the bias.
    for n_more, is_none in ((4, True), (5, False)):
        people, judge = ratings_of([[60, n_more], [0, 40]])
        method = agreement(judge, people).set_index("measure")["method"]["bias"]
        assert (method == "none") is is_none


def test_answers_of_one_unit_are_one_piece_of_evidence():
    people, judge = ratings_of([[24, 4], [4, 16]])
    units = np.arange(48)
    alone = agreement(judge, people, units).set_index("measure")
    repeated = agreement(np.tile(judge, 4), np.tile(people, 4), np.tile(units, 4))
    repeated = repeated.set_index("measure")
    assert (repeated["n"]["kappa"], repeated["n_units"]["kappa"]) == (192, 48)
    assert repeated["low"]["kappa"] == pytest.approx(alone["low"]["kappa"], abs=1e-9)


def test_a_rater_without_spread_agrees_with_nobody():
    values = values_of([1, 1, 1, 1], [1, 2, 1, 2])
    assert values["accuracy"] == 0.5
    assert values[["kappa", "icc", "spearman", "kendall"]].isna().all()


def test_words_are_rated_and_gaps_are_counted():
    judge = ["yes", "no", None, "yes", NONE]
    people = ["yes", "no", "yes", "no", "yes"]
    frame = agreement(judge, people)
    assert frame["measure"].tolist() == [
        "accuracy",
        "balanced_accuracy",
        "kappa",
        "ac1",
        "alpha_nominal",
    ]
    assert frame["value"][0] == pytest.approx(2 / 3)
    assert (frame["n_unmeasured"] == 2).all()
    ordered = agreement(judge, people, scale=["no", "yes"])
    assert "kappa_linear" in set(ordered["measure"])


def test_ratings_that_cannot_be_paired_are_refused():
    with pytest.raises(BenchError, match="rating 7 is not on the scale 1, 2, 3"):
        agreement([1, 7], [1, 2], scale=[1, 2, 3])
    with pytest.raises(BenchError, match="no answer has two ratings"):
        agreement([1, NONE], [NONE, 2])
    with pytest.raises(BenchError, match="501 different ratings, at most 500: round them"):
        agreement(range(501), range(501))
    assert len(agreement(range(500), range(500))) > 0
    with pytest.raises(BenchError, match="no answer has two ratings"):
        agreement_of_people([[1, NONE], [NONE, 2]])


def test_measures_of_classes_need_few_of_them():
    assert "kappa" in values_of(range(50), range(50))
    assert "kappa" not in values_of(range(51), range(51))
