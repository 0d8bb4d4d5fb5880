"""What is stated of a frame of scores: estimates, families, slices, and names that are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ragbench.core.errors import BenchError
from ragbench.stats import Confidence, Scale, compare, mean_intervals, state, state_slices

NONE = np.nan
SCALES = {
    "hits": Scale("higher", 0, 1),
    "latency": Scale("lower", 0),
    "words": Scale("describes", 0),
}
QUICK = Confidence(draws=1_000)


def make_scores(n=60, systems=("old", "new", "other"), metrics=tuple(SCALES)):
    """Scores of systems of which each is a little better and faster than the one before."""
    generator = np.random.default_rng(0)
    rows = []
    for place, system in enumerate(systems):
        for metric in metrics:
            for question in range(n):
                hit = float(generator.random() < 0.4 + 0.3 * place)
                value = hit if metric == "hits" else 100 - 20 * place + 5 * generator.normal()
                rows.append((system, metric, f"q{question:03}", f"u{question // 2}", value))
    columns = ["system", "metric", "question_id", "unit", "value"]
    return pd.DataFrame(rows, columns=columns)


def test_the_frames_hold_what_the_arrays_give():
    scores = make_scores()
    stated = state(scores, scales=SCALES, confidence=QUICK)
    hits = scores[scores["metric"] == "hits"].pivot(
        index="question_id", columns="system", values="value"
    )
    units = np.arange(60) // 2
    means = mean_intervals(hits[["old", "new", "other"]].to_numpy(), units, (0, 1), QUICK)
    rows = stated.estimates[stated.estimates["metric"] == "hits"].reset_index(drop=True)
    assert rows["system"].tolist() == ["old", "new", "other"]
    assert rows["low"].tolist() == pytest.approx(means["low"].tolist())
    family = compare(
        hits[["old", "old"]].to_numpy(),
        hits[["new", "other"]].to_numpy(),
        units,
        bounds=(0, 1),
        confidence=QUICK,
    )
    primary = stated.comparisons[stated.comparisons["family"] == "primary"]
    assert primary["challenger"].tolist() == ["new", "other"]
    assert primary["low"].tolist() == pytest.approx(family["low"].tolist())
    assert primary["word"].tolist() == family["word"].tolist()


def test_families_directions_and_metrics_that_only_describe():
    stated = state(make_scores(), scales=SCALES, confidence=QUICK)
    keys = stated.comparisons[["metric", "challenger", "baseline", "family"]].to_numpy().tolist()
    assert keys == [
        ["hits", "new", "old", "primary"],
        ["hits", "other", "old", "primary"],
        ["latency", "new", "old", "secondary"],
        ["latency", "other", "old", "secondary"],
    ]
    assert stated.comparisons["difference"].iloc[2] == pytest.approx(-20, abs=3)
    assert stated.comparisons["word"].iloc[2] == "better"
    assert set(stated.estimates["metric"]) == {"hits", "latency", "words"}


def test_a_primary_metric_is_not_made_to_pay_for_the_others():
    scores = make_scores()
    copies = [scores.assign(metric=f"m{number}") for number in range(5)]
    many = pd.concat([scores[scores["metric"] == "hits"], *[c[c.index < 120] for c in copies]])
    scales = dict.fromkeys([f"m{number}" for number in range(5)], Scale("higher"))
    alone = state(scores, metrics=["hits"], scales=SCALES, confidence=QUICK).comparisons
    stated = state(
        many.drop_duplicates(["system", "metric", "question_id"]),
        primary="hits",
        scales={**SCALES, **scales},
        confidence=QUICK,
    ).comparisons
    assert stated["p_adjusted"].iloc[:2].tolist() == alone["p_adjusted"].tolist()


def test_rows_may_stand_in_any_order():
    scores = make_scores()
    shuffled = scores.sample(frac=1, random_state=0)
    options = {"systems": ["old", "new"], "metrics": ["latency", "hits"], "scales": SCALES}
    first = state(scores, confidence=QUICK, **options)
    second = state(shuffled, confidence=QUICK, **options)
    pd.testing.assert_frame_equal(first.estimates, second.estimates)
    pd.testing.assert_frame_equal(first.comparisons, second.comparisons)


def test_what_nobody_asked_is_not_unmeasured():
    scores = make_scores(metrics=("hits",))
    scores.loc[scores["question_id"] == "q000", "value"] = NONE
    asked = scores[~((scores["system"] == "new") & (scores["question_id"] == "q001"))]
    stated = state(asked, systems=["old", "new"], scales=SCALES, confidence=QUICK)
    assert stated.estimates[["n", "n_unmeasured"]].to_numpy().tolist() == [[59, 1], [58, 1]]
    assert stated.comparisons[["n", "n_unmeasured"]].to_numpy().tolist() == [[58, 1]]


def test_one_system_is_estimated_and_compared_with_nothing():
    stated = state(make_scores(systems=("only",)), scales=SCALES, confidence=QUICK)
    assert len(stated.estimates) == 3
    assert stated.comparisons.empty


def test_slices_are_one_family():
    scores = make_scores(metrics=("hits",))
    questions = [f"q{number:03}" for number in range(60)]
    slices = pd.DataFrame(
        {
            "question_id": questions + questions[:20],
            "slice": ["first"] * 40 + ["rest"] * 20 + ["few"] * 20,
        }
    )
    stated = state_slices(scores, slices, scales=SCALES, confidence=QUICK)
    keys = stated.estimates[["slice", "system"]].to_numpy().tolist()
    assert keys[:4] == [["first", "old"], ["first", "new"], ["first", "other"], ["rest", "old"]]
    assert stated.estimates["n"].tolist() == [40] * 3 + [20] * 6
    assert stated.estimates["n_unmeasured"].sum() == 0
    assert stated.comparisons["family"].unique().tolist() == ["slices"]
    assert len(stated.comparisons) == 6
    part = scores[scores["question_id"].isin(questions[:40])]
    expected = state(part, scales=SCALES, confidence=QUICK).estimates
    assert stated.estimates["value"].tolist()[:3] == pytest.approx(expected["value"].tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "odl"}, r"baseline 'odl' is none of old, new, other; did you mean 'old'\?"),
        ({"metrics": ["hit"]}, "metric 'hit' is none of hits, latency, words"),
        ({"primary": "recall"}, "primary 'recall' is none of hits, latency, words"),
        ({"scales": {}}, "is higher or lower better"),
    ],
)
def test_names_that_no_score_has_are_refused(options, message):
    with pytest.raises(BenchError, match=message):
        state(make_scores(), **{"scales": SCALES, "confidence": QUICK, **options})


def test_a_question_has_one_unit():
    scores = make_scores(metrics=("hits",))
    scores.loc[scores.index[-1], "unit"] = "elsewhere"
    with pytest.raises(BenchError, match="question 'q059' has two units, 'u29' and 'elsewhere'"):
        state(scores, scales=SCALES)
    with pytest.raises(BenchError, match="there are no scores to state"):
        state(scores.iloc[:0], scales=SCALES)


def test_a_margin_is_of_a_metric_at_every_cutoff():
    scores = make_scores(systems=("old", "new"), metrics=("hits",)).assign(metric="hits@3")
    options = {"scales": {"hits@3": SCALES["hits"]}, "confidence": QUICK}
    stated = state(scores, margins={"hits": 0.9}, **options)
    assert stated.comparisons["word"].tolist() == ["the same"]
    stated = state(scores, margins={"hits": 0.9, "hits@3": 0.001}, **options)
    assert stated.comparisons["word"].tolist() == ["not shown"]
