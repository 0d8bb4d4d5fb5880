"""How judges are tried, part by part: texts, probes, and rivals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ragbench.old.core.settings import JudgeSettings
from ragbench.old.core.types import Verdict
from ragbench.old.judge import Rule
from ragbench.old.metrics.judging import Sitting
from ragbench.old.tiers.judges import items, numbers
from ragbench.old.tiers.judges.probes import (
    PROBES,
    Effect,
    Limits,
    disguise,
    effects,
    family,
    family_of_judge,
    in_order,
    judged,
    of_family,
    own_family,
    probed,
    probes,
    shared_level,
)
from tests.old.tiers.heard_judges import NAN, SURE, answers, heard, tried, verdicts


class TestTexts:
    def test_half_of_a_text_is_its_first_sentences_or_words(self) -> None:
        assert items.partial("One is here. Two is there. Three is gone. Four stays.") == "One is here. Two is there."
        assert items.partial("Bring a passport, and two photographs.") == "Bring a passport."
        assert items.partial("Yes") == "Yes."

    def test_a_contradiction_changes_every_number_and_keeps_their_length(self) -> None:
        made = items.contradiction("Open from 9:30 to 18:00, room 7, 3,400 roubles, 2007.", "en")
        assert made == "Open from 2:63 to 41:33, room 0, 6,733 roubles, 5330."
        assert "не" in items.contradiction("Никогда.", "ru")

    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_every_variant_differs_from_the_reference_and_is_always_the_same(self, language: str) -> None:
        made, again = (
            [items.variants("Open at 9. Ask {there}.", "No {food}.", None, language, n) for n in range(12)]
            for _ in range(2)
        )
        assert made == again
        for one in made:
            assert set(one) == set(items.VARIANTS)
            assert [name for name, text in one.items() if text == one["reference"]] == ["reference"]
            assert one["padded"].count("Open at 9.") == 3
            assert one["injected"].startswith("No {food}. ")
            assert "{{" not in one["injected"]
        assert len({one["injected"] for one in made}) == 4
        assert ":" in {one["key"] for one in made}

    def test_an_answer_that_people_liked_is_the_paraphrase(self) -> None:
        assert items.variants("At 9.", "No.", "From nine on.", "en", 0)["paraphrase"] == "From nine on."


class TestProbes:
    def test_a_verdict_needs_the_limit_not_only_zero(self) -> None:
        """A shift of 0.02 on 2000 answers is surely not zero, and surely nothing that anybody minds."""
        rng = np.random.default_rng(0)
        shifts = [Effect(rng.normal(mean, 0.1, n), None) for mean, n in ((0.02, 2000), (0.2, 100), (0.04, 12))]
        assert [one.verdict for one in verdicts(*shifts, probe="padding")] == ["passed", "found", "open"]

    def test_a_verdict_is_by_the_corrected_p(self) -> None:
        wide = replace(probed("j", "key", Effect(np.tile([0.0, 1.0], 20), None, "share"), (0.0, 0.6), SURE), p=0.04)
        assert judged([wide], 0.95)[0].verdict == "found"
        assert [(each.verdict, each.p_adjusted) for each in judged([wide, wide], 0.95)] == [("open", 0.08)] * 2

    def test_found_and_ruled_out_are_words_of_one_family(self) -> None:
        """Fourteen probes: 5 % in all, for either word. Twelve flips of 400 are 3 %: by itself ruled out at 5 %, among
        fourteen probes not; what is found, is at p × 14; and no word stands beside an interval that crosses a limit."""
        assert shared_level(0.95, 14) == pytest.approx(1 - 0.1 / 14)
        assert shared_level(0.95, 1) == shared_level(0.95, 0) == 0.95
        limits = replace(Limits(), flips=0.05)
        flips = Effect(np.repeat([1.0, 0.0], [12, 388]), None, "share")
        other = Effect(np.zeros(400), None, "share")
        quiet = {name: Effect(np.zeros(0), None, why="no_texts") for name in PROBES if not name.endswith("_changes")}
        [alone] = [one for one in probes({"a": {**quiet, "repeats": flips}}, limits, SURE) if not one.why]
        assert (alone.verdict, alone.effect.level) == ("passed", 0.95)
        many = {f"j{k}": {**quiet, "repeats": flips if k == 0 else other} for k in range(14)}
        first, *rest = [one for one in probes(many, limits, SURE) if not one.why]
        assert len(rest) == 13
        assert (first.verdict, first.effect.level) == ("open", pytest.approx(1 - 0.1 / 14))
        assert first.effect.high is not None
        assert first.effect.high > 0.05 > alone.effect.high  # type: ignore[operator]
        for one in (first, *rest):
            assert one.p_adjusted == pytest.approx(min(1.0, 14 * one.p))
            if one.verdict == "passed":
                assert one.effect.high is not None
                assert one.effect.high <= 0.05

    def test_what_a_judge_cannot_do_is_no_sample(self) -> None:
        """The lexical judge asked twice, with the scale turned and in two languages: no interval, no p, and no place in
        the family of what was tested; one that asks a model and was equal by luck has them."""
        given = np.repeat([0.25, 0.75], 20)
        judge = replace(
            heard(given), stand_in=True, turned=given.copy(), prompted=np.column_stack([given, given]),
            answers=Sitting(np.column_stack([given, given]), np.ones((40, 2), dtype=bool), None),
            statuses=np.full((40, 2), "ok", dtype=object),
        )  # fmt: skip
        known = tried(answers(given))
        for stand_in in (True, False):
            one = replace(judge, stand_in=stand_in)
            found = {each.probe: each for each in probes({"j": effects(one, known)}, Limits(), SURE)}
            for name in ("repeats", "scale_order", "scale_order_changes", "prompt_language", "prompt_language_changes"):
                probe = found[name]
                assert probe.effect.value == 0
                assert (probe.verdict == "constructed") == stand_in, name
                assert (probe.effect.low is None) == math.isnan(probe.p) == stand_in, name
            own = numbers.specified(one, [str(k) for k in range(40)], 0.0, SURE)
            for name in ("consistency_score", "error_rate"):
                assert (own[name].low is None) == stand_in
                assert (own[name].note == "by_construction") == stand_in
        moved = replace(judge, turned=given[::-1].copy())
        found = {each.probe: each for each in probes({"j": effects(moved, known)}, Limits(), SURE)}
        assert found["scale_order"].verdict != "constructed", "one that moves is not called unmoved"

    def test_equal_values_still_leave_room_for_what_was_not_seen(self) -> None:
        assert [verdicts(Effect(np.zeros(n), None), probe="padding")[0].verdict for n in (20, 200)] == [
            "open",
            "passed",
        ]

    def test_what_was_not_seen_could_have_moved_either_way_and_nothing_beyond_the_scale(self) -> None:
        """Twenty equal shifts of 0: as many as go unseen could be up or down, so that the ends are as far from 0."""
        far = np.repeat([1.0, 0.5, -1.0], [10, 2, 1])
        for values, end in ((far, 1.0), (-far, -1.0)):
            moved = probed("j", "padding", Effect(values, None), (-0.05, 0.05), SURE).effect
            assert end in (moved.low, moved.high), "nothing moves a score by more than the scale"
        one = probed("j", "padding", Effect(np.zeros(20), None), (-0.05, 0.05), SURE).effect
        assert one.low is not None
        assert one.high is not None
        assert one.low == pytest.approx(-one.high)
        assert one.high > 0.05

    def test_a_correlation_by_fisher_s_z(self) -> None:
        """Twelve ranks, three pairs exchanged: r = 1 − 6 · 6 / (12 · 143); the error of z is 1 / √(12 − 3)."""
        first = np.arange(12.0)
        second = first.copy()
        second[[0, 1, 4, 5, 8, 9]] = first[[1, 0, 5, 4, 9, 8]]
        r = 1 - 6 * 6 / (12 * 143)
        made = probed("j", "disguise", Effect(np.column_stack([first, second]), None, "correlation"), (-1, 0.5), SURE)
        assert made.effect.value == pytest.approx(r)
        ends = [math.tanh(math.atanh(r) + side * 1.959964 / 3) for side in (-1, 1)]
        assert [made.effect.low, made.effect.high] == pytest.approx(ends, abs=1e-6)
        assert made.p == pytest.approx(0.5 * math.erfc(3 * (math.atanh(r) - math.atanh(0.5)) / math.sqrt(2)))

    def test_too_few_and_nothing(self) -> None:
        limits = -math.inf, 0.05
        assert probed("j", "key", Effect(np.zeros(9), None, "share"), limits, SURE).why == "few"
        [nothing] = verdicts(Effect(np.zeros(0), None, why="no_texts"), probe="key", limits=limits)
        assert nothing.verdict == "unmeasured"
        assert judged([], 0.95) == []

    def test_rungs_in_order(self) -> None:
        columns = ([1, 1, 0.5, 0, 0], [0, 0.25, 0.5, 0.75, 1], [1, 1, 0.5, 0, 0.75], [1, 1, 1, 1, 1], [1, 1, NAN, 0, 0])
        ladder = dict(zip(items.LADDER, np.array(columns, dtype=float).T, strict=True))
        assert in_order(ladder).tolist() == pytest.approx([1.0, 0.0, 0.8, 0.2, NAN], nan_ok=True)

    def test_two_judges_that_follow_people_are_no_copies(self) -> None:
        """Both give what people give and errors of their own: raw scores go together, errors at one rating do not."""
        truth = np.repeat([0.0, 0.5, 1.0], 4)
        errors = np.tile([0.1, 0.1, -0.1, -0.1], 3), np.tile([0.1, -0.1, 0.1, -0.1], 3)
        given, baseline = (truth + each for each in errors)
        found, copy = (
            disguise(heard(given), given, tried(answers(truth), rival="rival", baseline=other))
            for other in (baseline, given / 2)
        )
        assert found.kind == "correlation"
        assert found.values == pytest.approx(np.column_stack(errors))
        assert np.corrcoef(given, baseline)[0, 1] > 0.9
        assert np.corrcoef(copy.values.T)[0, 1] == pytest.approx(1)


class TestFamilies:
    def test_the_family_of_a_model(self) -> None:
        known = {"gpt-4o-mini": "gpt", "mistralai/Mixtral-8x7B": "mistral", "T-lite-it-1.0": "t-lite"}
        names = [*known, "rag-system-2", None]
        assert [family(name) for name in names] == [*known.values(), None, None]

    def test_own_family_is_measured_against_people(self) -> None:
        systems = ["gpt-4", "llama-3"] * 12
        clusters = [f"q{place // 2}" for place in range(24)]
        given, people = np.array([0.75, 0.5] * 12), np.full(24, 0.5)
        one, known = heard(given, family="gpt"), answers(people, clusters, systems)
        assert own_family(one, known, given).values.tolist() == [0.25] * 12
        reasons = {
            "no_own_family": (replace(one, family="claude"), known),
            "no_judge_family": (replace(one, family=None), known),
            "no_model": (replace(one, stand_in=True), known),
            "no_systems": (one, answers(people, clusters)),
            "no_other_family": (one, answers(people, (), systems)),
            "no_people": (one, answers(np.full(24, NAN), clusters, systems)),
        }
        found = {why: own_family(judge, these, given).why for why, (judge, these) in reasons.items()}
        assert found == {why: why for why in reasons}

    def test_a_family_that_only_the_settings_know(self) -> None:
        named = JudgeSettings(base_url="http://x", model="ft-0425", family="Acme")
        families = [family_of_judge(named.model_copy(update={"family": own})) for own in ("Acme", "GPT-4", None)]
        assert families == ["acme", "gpt", None]
        assert [of_family(name, "acme") for name in ("Acme-7b", "gpt-4", "rag", None)] == [True, False, False, False]
        assert of_family("gpt-4o", "gpt")


class TestRivals:
    def test_concordance_is_the_area_under_the_curve(self) -> None:
        rng = np.random.default_rng(7)
        truth = rng.integers(0, 2, 60).astype(float)
        scores = np.round(truth + rng.normal(0, 1, 60), 1)
        each, area = numbers.concordances(scores, truth), roc_auc_score(truth, scores)
        assert 0 < truth.mean() < 1
        assert [each[truth == 1].mean(), each[truth == 0].mean(), np.nanmean(each)] == pytest.approx([area] * 3)

    def test_better_worse_and_neither(self) -> None:
        rng = np.random.default_rng(8)
        truth = rng.integers(0, 5, 120) / 4
        good, poor = np.clip(truth + rng.normal(0, 0.1, 120), 0, 1), rng.uniform(0, 1, 120)
        known = answers(truth)
        found = numbers.rivalries({"good": good, "same": poor, "words": poor}, "words", poor, known, SURE)
        said = {each.judge: each.difference.verdict for each in found}
        assert said == {"good": Verdict.BETTER, "same": Verdict.NOT_SHOWN}
        assert found[0].difference.low > 0.2
        copies = {f"copy {k}": np.clip(good + rng.normal(0, 0.002, 120), 0, 1) for k in range(5)}
        among = numbers.rivalries({"good": good, **copies}, "words", poor, known, SURE)
        assert {each.difference.family for each in among} == {"6, max-T"}
        assert among[0].difference.low == pytest.approx(numbers.rivalries({"good": good}, "words", poor, known, SURE)[
            0].difference.low, abs=0.02), "near-copies cost next to nothing"  # fmt: skip
        [lost] = numbers.rivalries({"poor": poor, "words": good}, "words", good, known, SURE)
        assert lost.difference.verdict is Verdict.WORSE
        assert lost.difference.difference == pytest.approx(-found[0].difference.difference)

    def test_a_share_ends_where_its_scale_does(self) -> None:
        """Of six answers one pair of fifteen is out of order: Student's interval would reach beyond 1."""
        truth = np.arange(6) / 5
        swapped = truth[[0, 1, 2, 3, 5, 4]]
        [found] = numbers.rivalries({"near": swapped, "words": truth[::-1]}, "words", truth[::-1], answers(truth), SURE)
        assert found.concordance.value == pytest.approx(14 / 15)
        assert found.concordance.high == 1.0
        assert 0.5 < (found.concordance.low or 0) < 14 / 15

    def test_nobody_rated_anything(self) -> None:
        [found] = numbers.rivalries({"j": np.zeros(5)}, "words", np.zeros(5), answers([NAN] * 5), SURE)
        assert math.isnan(found.difference.p)
        assert (found.difference.p_adjusted, found.difference.verdict) == (None, Verdict.NOT_SHOWN)

    def test_the_panel_without_one(self) -> None:
        three = [heard(np.full(4, value), name=name) for name, value in (("a", 0.0), ("b", 0.5), ("c", 1.0))]
        found = {each.judge: each.shift for each in numbers.influences(three, Rule("mean"))}
        assert found == {"a": 0.25, "b": 0.0, "c": -0.25}
        assert numbers.influences(three[:1], Rule("mean")) == []
        assert numbers.panel_scores(three, without="c").tolist() == [0.25] * 4

    def test_judges_that_are_equally_good_are_told_apart_as_rarely_as_the_level_says(self) -> None:
        rng = np.random.default_rng(11)
        rejected = 0
        for _ in range(200):
            truth = rng.integers(0, 5, 60) / 4
            one, other = (np.clip(np.round((truth + rng.normal(0, 0.35, 60)) * 4) / 4, 0, 1) for _ in range(2))
            [found] = numbers.rivalries({"one": one}, "other", other, answers(truth), SURE)
            rejected += found.difference.p < 0.05
        assert rejected / 200 <= 0.09
