"""What each probe saw of each answer, by hand: shifts, flips, rungs out of order, choices that go with the place."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binom

from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.biases import in_order, probes
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.probes import Limits, Probe
from ragbench.bench.judges.texts import LADDER, VARIANTS
from ragbench.bench.judges.trials import effects, trials
from ragbench.metrics.judging import Sitting
from ragbench.types import Question, Sample

SCORES = {"reference": 2.0, "paraphrase": 2.0, "partial": 1.0, "off_topic": 0.0, "contradiction": 1.2, "padded": 1.8,
          "injected": 0.05, "blank": 1.6, "key": math.nan}  # fmt: skip
SCALE = Scale(0.0, 2.0)


@pytest.fixture
def temptations() -> Temptations:
    made = {name: (Sample("q1", user_input="Asked?", response=f"A {name}.", reference="R."),) for name in VARIANTS}
    return Temptations((Question("q1", "Asked?"),), made, ((made["reference"][0], made["partial"][0]),))


@pytest.fixture
def answers() -> Answers:
    return Answers((Sample("r1", "One?"), Sample("r2", "Two?")), ("r1", "r2"), (), np.zeros((2, 0)))


@pytest.fixture
def heard() -> Heard:
    return Heard(
        "judge",
        Sitting(np.array([[2.0, 0.0], [1.0, 1.0]]), np.ones((2, 2), dtype=bool)),
        np.full((2, 2), "ok", dtype=object),
        turned=np.array([2.0, 1.9]),
        variants={name: np.array([value]) for name, value in SCORES.items()},
        choices=np.array([[1.0, 1.0]]),
        variant_reasons={name: (f"so {name}",) for name in SCORES},
    )


def test_every_probe_says_which_answers_it_moved(heard: Heard, answers: Answers, temptations: Temptations) -> None:
    table = effects([heard], answers, temptations, SCALE, 0.7, Limits())
    found = {(row.probe, row.id): (row.before, row.after, row.value, row.failed) for row in table.itertuples()}
    assert found["repeats", "r1"] == (0.0, 1.0, 1.0, True)
    assert found["repeats", "r2"] == (0.5, 0.5, 0.0, False)
    assert found["scale_order", "r1"] == (1.0, 1.0, 0.0, False)
    assert found["scale_order", "r2"] == pytest.approx((0.5, 0.95, 0.45, True))
    assert found["padding", "q1.padded"] == pytest.approx((0.5, 0.9, 0.4, True))
    assert found["injected", "q1.injected"] == pytest.approx((0.0, 0.025, 0.025, False)), "within the limit"
    assert found["blank", "q1.blank"][2:] == (1.0, True)
    assert ("key", "q1.key") not in found, "what was not measured fell to nothing"
    assert found["place", "q1.pair"] == (1.0, 1.0, 1.0, True)
    assert ("language", "r1") not in found


def test_rungs_out_of_order_are_named(heard: Heard, answers: Answers, temptations: Temptations) -> None:
    """The contradiction stands above half of the answer, and as good as off topic may be."""
    table = effects([heard], answers, temptations, SCALE, 0.7, Limits())
    ladder = {row.id: row.value for row in table.itertuples() if row.probe == "ladder"}
    assert ladder == {
        "q1.reference": 1.0, "q1.paraphrase": 1.0, "q1.partial": 0.75, "q1.off_topic": 0.75, "q1.contradiction": 0.5
    }  # fmt: skip
    tempted = {name: SCALE.share(heard.variants[name]) for name in LADDER}
    assert np.mean(list(ladder.values())) == pytest.approx(in_order(tempted)[0]), "together they are the probe's effect"


def of_probe(heard: Heard, answers: Answers, probe: str, **limits: float) -> Probe:
    sure = Sureness(0.95, 200, 0)
    found = probes([heard], answers, Temptations((), {}, ()), "none", None, SCALE, 0.7, Limits(**limits), sure)
    return next(each for each in found if each.probe == probe)


def many(number: int) -> Answers:
    samples = tuple(Sample(f"r{n:03}", "One?") for n in range(number))
    return Answers(samples, tuple(one.id for one in samples), (), np.zeros((number, 0)))


def given(scores: np.ndarray, **more: np.ndarray) -> Heard:
    asked = np.ones((len(scores), 1), dtype=bool)
    return Heard("judge", Sitting(scores[:, None], asked), np.full((len(scores), 1), "ok", dtype=object), **more)


def test_choices_that_contradict_each_other_are_found_though_their_mean_is_nothing() -> None:
    """72 of 100 pairs have another winner in the other order: 36 the first place twice, 36 the second."""
    choices = np.array([[1.0, 1.0]] * 36 + [[-1.0, -1.0]] * 36 + [[1.0, -1.0]] * 20 + [[0.0, 0.0]] * 8)
    heard = given(np.ones(100), choices=choices)
    signed, share = (of_probe(heard, many(100), name) for name in ("place", "place_changes"))
    assert (signed.effect.value, signed.verdict) == (0.0, "open")
    assert (share.effect.value, share.limits, share.verdict) == (0.72, (-math.inf, 0.25), "found")
    assert share.p == pytest.approx(binom.sf(71, 100, 0.25))
    assert share.p_adjusted >= share.p, "one family with every other probe of the page"
    assert of_probe(heard, many(100), "place_changes", changes=0.9).verdict == "passed"


@pytest.mark.parametrize(("probe", "said"), [("language", "twins"), ("scale_order", "turned")])
def test_scores_that_move_both_ways_are_found(probe: str, said: str) -> None:
    """85 of 100 scores move by a quarter of the scale, one up and the next down; three by less than the limit."""
    moves = np.array([0.5 if n % 2 else -0.5 for n in range(84)] + [0.5] + [0.08] * 3 + [0.0] * 12)
    heard = given(np.ones(100), **{said: 1.0 + moves})
    signed, share = (of_probe(heard, many(100), name) for name in (probe, f"{probe}_changes"))
    assert signed.verdict == "passed", "the mean stands still"
    assert (share.effect.value, share.verdict) == (0.85, "found")
    table = effects([heard], many(100), Temptations((), {}, ()), SCALE, 0.7, Limits())
    assert table[table["probe"] == probe]["failed"].mean() == share.effect.value, "the answers behind the number"


def test_what_was_not_tried_has_no_share(heard: Heard, answers: Answers) -> None:
    for probe in ("language", "place"):
        untried = of_probe(dataclasses.replace(heard, choices=None), answers, f"{probe}_changes")
        assert (untried.verdict, untried.why) == ("unmeasured", "one_language" if probe == "language" else "no_pairs")


def test_limits_decide_who_fell(heard: Heard, answers: Answers, temptations: Temptations) -> None:
    lenient = effects([heard], answers, temptations, SCALE, 0.7, Limits(bias=0.5))
    assert not lenient[lenient["probe"] == "padding"]["failed"].any()


def test_made_answers_keep_text_score_and_reason(heard: Heard, temptations: Temptations) -> None:
    table = trials([heard], temptations, SCALE).set_index("id")
    assert len(table) == len(VARIANTS) + 1
    assert table.loc["q1.padded", ["text", "score", "reason"]].tolist() == ["A padded.", 0.9, "so padded"]
    assert math.isnan(table.loc["q1.key", "score"])
    pair = table.loc["q1.pair"]
    assert (pair["text"], pair["other"]) == ("A reference.", "A partial.")
    assert (pair["first"], pair["second"]) == (1.0, -1.0), "the first place both times: each answer once"
