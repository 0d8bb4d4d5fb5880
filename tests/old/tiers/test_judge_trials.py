"""What each probe saw of each answer, by hand: shifts, flips, rungs out of order, choices that go with the place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from ragbench.old.core.types import Question, Sample
from ragbench.old.tiers.judges import probes
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.items import LADDER, VARIANTS, Scale, Temptations
from ragbench.old.tiers.judges.probes import Limits, Tried, in_order
from tests.old.tiers.heard_judges import answers, heard, of_probe, tried

SCORES = {"reference": 2.0, "paraphrase": 2.0, "partial": 1.0, "off_topic": 0.0, "contradiction": 1.2, "padded": 1.8,
          "injected": 0.05, "blank": 1.6, "key": math.nan}  # fmt: skip
SCALE = Scale(0.0, 2.0)
MADE = {name: (Sample("q1", user_input="Asked?", response=f"A {name}.", reference="R."),) for name in VARIANTS}
TEMPTED = Temptations((Question("q1", "Asked?"),), MADE, ((MADE["reference"][0], MADE["partial"][0]),))
TWO = tried(answers(np.zeros((2, 0))), TEMPTED, SCALE)
JUDGE = heard(
    [[2.0, 0.0], [1.0, 1.0]],
    turned=np.array([2.0, 1.9]),
    variants={name: np.array([value]) for name, value in SCORES.items()},
    choices=np.array([[1.0, 1.0]]),
    variant_reasons={name: (f"so {name}",) for name in SCORES},
)


def effects(one: Heard = JUDGE, known: Tried = TWO, **limits: float) -> pd.DataFrame:
    return probes.effect_table({one.name: probes.effects(one, known)}, [one], known, Limits(**limits))


def hundred(**more: Any) -> tuple[Heard, Tried]:
    return heard(np.ones(100), **more), tried(answers(np.zeros((100, 0))), scale=SCALE)


def test_every_probe_says_which_answers_it_moved() -> None:
    found = {(row.probe, row.id): (row.before, row.after, row.value, row.failed) for row in effects().itertuples()}
    assert found["repeats", "s000"] == (0.0, 1.0, 1.0, True)
    assert found["repeats", "s001"] == (0.5, 0.5, 0.0, False)
    assert found["scale_order", "s000"] == (1.0, 1.0, 0.0, False)
    assert found["scale_order", "s001"] == pytest.approx((0.5, 0.95, 0.45, True))
    assert found["padding", "q1.padded"] == pytest.approx((0.5, 0.9, 0.4, True))
    assert found["injected", "q1.injected"] == pytest.approx((0.0, 0.025, 0.025, False)), "within the limit"
    assert found["blank", "q1.blank"][2:] == (1.0, True)
    assert ("key", "q1.key") not in found, "what was not measured fell to nothing"
    assert found["place", "q1.pair"] == (1.0, 1.0, 1.0, True)
    assert ("language", "s000") not in found


def test_rungs_out_of_order_are_named() -> None:
    """The contradiction stands above half of the answer, and as good as off topic may be."""
    ladder = {row.id: row.value for row in effects().itertuples() if row.probe == "ladder"}
    assert ladder == {
        "q1.reference": 1.0, "q1.paraphrase": 1.0, "q1.partial": 0.75, "q1.off_topic": 0.75, "q1.contradiction": 0.5
    }  # fmt: skip
    tempted = {name: SCALE.share(JUDGE.variants[name]) for name in LADDER}
    assert np.mean(list(ladder.values())) == pytest.approx(in_order(tempted)[0]), "together they are the probe's effect"


def test_choices_that_contradict_each_other_are_found_though_their_mean_is_nothing() -> None:
    """72 of 100 pairs have another winner in the other order: 36 the first place twice, 36 the second."""
    choices = np.array([[1.0, 1.0]] * 36 + [[-1.0, -1.0]] * 36 + [[1.0, -1.0]] * 20 + [[0.0, 0.0]] * 8)
    judged = hundred(choices=choices)
    signed, share = (of_probe(*judged, name) for name in ("place", "place_changes"))
    assert (signed.effect.value, signed.verdict) == (0.0, "open")
    assert (share.effect.value, share.limits, share.verdict) == (0.72, (-math.inf, 0.25), "found")
    assert share.p == pytest.approx(binom.sf(71, 100, 0.25))
    assert share.p_adjusted >= share.p, "one family with every other probe of the page"
    assert of_probe(*judged, "place_changes", changes=0.9).verdict == "passed"


@pytest.mark.parametrize(("probe", "said"), [("language", "twins"), ("scale_order", "turned")])
def test_scores_that_move_both_ways_are_found(probe: str, said: str) -> None:
    """85 of 100 scores move by a quarter of the scale, one up and the next down; three by less than the limit."""
    moves = np.array([0.5 if n % 2 else -0.5 for n in range(84)] + [0.5] + [0.08] * 3 + [0.0] * 12)
    judged = hundred(**{said: 1.0 + moves})
    signed, share = (of_probe(*judged, name) for name in (probe, f"{probe}_changes"))
    assert signed.verdict == "passed", "the mean stands still"
    assert (share.effect.value, share.verdict) == (0.85, "found")
    table = effects(*judged)
    assert table[table["probe"] == probe]["failed"].mean() == share.effect.value, "the answers behind the number"


def test_what_was_not_tried_has_no_share() -> None:
    for probe, why in (("language", "one_language"), ("place", "no_pairs")):
        untried = of_probe(replace(JUDGE, choices=None), TWO, f"{probe}_changes")
        assert (untried.verdict, untried.why) == ("unmeasured", why)


def test_limits_decide_who_fell() -> None:
    lenient = effects(bias=0.5)
    assert not lenient[lenient["probe"] == "padding"]["failed"].any()


def test_made_answers_keep_text_score_and_reason() -> None:
    table = probes.trial_table([JUDGE], TWO).set_index("id")
    assert len(table) == len(VARIANTS) + 1
    assert table.loc["q1.padded", ["text", "score", "reason"]].tolist() == ["A padded.", 0.9, "so padded"]
    assert math.isnan(table.loc["q1.key", "score"])
    pair = table.loc["q1.pair"]
    assert (pair["text"], pair["other"]) == ("A reference.", "A partial.")
    assert (pair["first"], pair["second"]) == (1.0, -1.0), "the first place both times: each answer once"
