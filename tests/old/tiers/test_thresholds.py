"""Thresholds of a judge's score: the cheapest one, chosen on one half and held to the other."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from ragbench.old import tiers, views
from ragbench.old.core.measurement import NamedComparison, NamedEstimate
from ragbench.old.core.types import Verdict
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges.deciders import Costs, candidates, cheapest, chosen_and_scored, halves, mean_costs
from ragbench.old.views import Page
from tests.old.tiers.decided_project import ROWS


def test_halves_never_part_a_cluster_and_are_even() -> None:
    clusters = [f"c{place // 2}" for place in range(40)] + ["big"] * 9
    for seed in range(20):
        first = halves(clusters, seed)
        for label in set(clusters):
            places = [n for n, each in enumerate(clusters) if each == label]
            assert len({bool(first[n]) for n in places}) == 1
        assert abs(int(first.sum()) - int((~first).sum())) <= 9
    assert halves(clusters, 1).tolist() == halves(clusters, 1).tolist()
    assert halves(clusters, 1).tolist() != halves(clusters, 2).tolist()


def test_the_cheapest_threshold_by_hand() -> None:
    scores = np.array([0.1, 0.4, 0.6, 0.9, np.nan])
    truth = np.array([False, True, False, True, True])
    costs = Costs(shown=1.0, hidden=1.0)
    assert candidates(scores).tolist() == pytest.approx([-math.inf, 0.25, 0.5, 0.75, math.inf])
    assert mean_costs(scores, truth, costs, candidates(scores)) == pytest.approx([0.6, 0.4, 0.6, 0.4, 0.6])
    assert cheapest(scores, truth, costs) == (pytest.approx(0.25), pytest.approx(0.4))
    at = mean_costs(scores, truth, costs, np.array([0.4]))
    assert at == pytest.approx([0.4]), "a score that equals the threshold is shown"
    dear = Costs(shown=10.0, hidden=1.0)
    assert cheapest(scores, truth, dear) == (pytest.approx(0.75), pytest.approx(0.4))
    plateau = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.1])  # 0.2, 0.6 and 1.0 cost two errors of six each: the middle one
    assert cheapest(plateau, np.array([False, True] * 3), costs) == (pytest.approx(0.6), pytest.approx(2 / 6))
    assert cheapest(scores, truth, Costs(shown=1.0, hidden=100.0))[0] == pytest.approx(0.25)


def test_a_threshold_is_scored_where_it_was_not_chosen(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky")
    [row] = made.extra["thresholds"].to_dict("records")
    assert row["n_chosen"] + row["n_scored"] == ROWS
    assert row["threshold"] == pytest.approx(0.8)
    table = made.extra["decisions"].query("system == 'own_judge:shaky'").reset_index(drop=True)
    first = halves([f"question {n // 2} ?" for n in range(ROWS)], 0)
    rest = table[~first]
    shown = (rest["score"] >= row["threshold"]) & rest["decision"].notna()
    cost = {one.where["threshold"]: one.estimate.value for one in made.estimates_by("threshold")}
    assert cost["chosen"] == pytest.approx(float((shown != rest["label"]).mean()))
    assert cost["own"] > cost["chosen"]
    [gain] = [one.comparison for one in made.comparisons_by("threshold")]
    assert gain.difference == pytest.approx(cost["chosen"] - cost["own"])
    assert "0.800" in views.answers.costs(Page(made)).html()


def test_a_chosen_threshold_beside_both_constants_by_hand() -> None:
    """Of 40 cases 28 should be shown: showing all of the other half costs 1 for each of its others, showing none 10."""
    truth = np.arange(40) % 10 < 7
    scores = np.where(truth, 0.8, 0.2)
    costs, clusters = Costs(shown=1.0, hidden=10.0), [str(place) for place in range(40)]
    made = chosen_and_scored("j", scores, np.zeros(40, dtype=bool), truth, clusters, costs, Sureness(0.95, 500, 0))
    assert made is not None
    share = float(truth[~halves(clusters, 0)].mean())
    assert 0 < share < 1
    name, threshold, n_chosen, n_scored, least, show_all, show_none = made.row
    assert (name, n_chosen, n_scored, least) == ("j", 20, 20, 0.0)
    assert threshold == pytest.approx(0.5)
    assert (show_all, show_none) == (pytest.approx(1 - share), pytest.approx(10 * share))
    own, chosen = (one.estimate for one in made.findings if isinstance(one, NamedEstimate))
    assert (own.value, chosen.value) == (pytest.approx(10 * share), 0.0)
    assert own.high is not None
    assert own.value < own.high <= 10
    [gain] = [one.comparison for one in made.findings if isinstance(one, NamedComparison)]
    assert (gain.difference, gain.better, gain.verdict) == (pytest.approx(-10 * share), "lower", Verdict.BETTER)


@pytest.mark.parametrize(("number", "is_enough"), [(20, True), (18, False)])
def test_ten_cases_of_a_half_are_enough_to_choose_a_threshold(number: int, is_enough: bool) -> None:
    scores = np.tile([0.1, 0.9], number // 2)
    truth, clusters = scores > 0.5, [str(place) for place in range(number)]
    made = chosen_and_scored("j", scores, truth, truth, clusters, Costs(1.0, 1.0), Sureness(0.95, 200, 0))
    assert (made is not None) == is_enough


def test_noise_chosen_on_one_half_shows_no_gain_on_the_other() -> None:
    """What looks cheaper than showing all on the half of choice is not so on the other, on the average."""
    chosen, scored = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores, truth = rng.random(60), rng.random(60) < 0.5
        first = halves(list(range(60)), seed)
        threshold, least = cheapest(scores[first], truth[first], Costs(1.0, 1.0))
        chosen.append(least)
        scored.append(mean_costs(scores[~first], truth[~first], Costs(1.0, 1.0), np.array([threshold]))[0])
    assert np.mean(chosen) < 0.42
    assert np.mean(scored) == pytest.approx(0.5, abs=0.02)
