"""How judges are tried, part by part: texts, numbers, probes, rivals, and what was logged elsewhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, cohen_kappa_score, roc_auc_score

from ragbench.bench import BenchError
from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges import logged, numbers, rivals, texts
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.biases import disguise, family, family_of_judge, in_order, of_family, own_family
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.probes import Effect, Limits, judged, probed
from ragbench.judge import Rule
from ragbench.metrics.judging import Sitting
from ragbench.settings.tables import JudgeSettings
from ragbench.types import Sample, Verdict
from tests.small_project import write_lines

NAN = math.nan
SURE = Sureness(0.95, 300, 0)
UNIT = Scale(0.0, 1.0)
NONE = Temptations((), {}, ())


def heard(scores: Any, statuses: Any = None, **more: Any) -> Heard:
    matrix = np.array(scores, dtype=float)
    words = np.where(np.isnan(matrix), "parse_error", "ok") if statuses is None else np.array(statuses, dtype=object)
    return Heard("judge", Sitting(matrix, words != "empty_input"), words, **more)


def answers(people: Any, clusters: list[str] | None = None, systems: list[str | None] | None = None) -> Answers:
    matrix = np.array(people, dtype=float)
    number = len(matrix)
    samples = tuple(
        Sample(f"s{place}", "?", "An answer.", system=systems[place] if systems else None) for place in range(number)
    )
    labels = tuple(clusters or [f"c{place}" for place in range(number)])
    return Answers(samples, labels, tuple("abcdef"[: matrix.shape[1]]), matrix)


class TestTexts:
    def test_half_of_a_text_is_its_first_sentences_or_words(self) -> None:
        assert texts.partial("One is here. Two is there. Three is gone. Four stays.") == "One is here. Two is there."
        assert texts.partial("Bring a passport, and two photographs.") == "Bring a passport."
        assert texts.partial("Yes") == "Yes."

    def test_a_contradiction_changes_every_number_and_keeps_their_length(self) -> None:
        made = texts.contradiction("Open from 9:30 to 18:00, room 7, 3,400 roubles, 2007.", "en")
        assert made == "Open from 2:63 to 41:33, room 0, 6,733 roubles, 5330."
        assert "не" in texts.contradiction("Никогда.", "ru")

    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_every_variant_differs_from_the_reference_and_is_always_the_same(self, language: str) -> None:
        made = [texts.variants("Open at 9. Ask {there}.", "No {food}.", None, language, n) for n in range(12)]
        assert made == [texts.variants("Open at 9. Ask {there}.", "No {food}.", None, language, n) for n in range(12)]
        for one in made:
            assert set(one) == set(texts.VARIANTS)
            assert [name for name, text in one.items() if text == one["reference"]] == ["reference"]
            assert one["padded"].count("Open at 9.") == 3
            assert one["injected"].startswith("No {food}. ")
            assert "{{" not in one["injected"]
        assert len({one["injected"] for one in made}) == 4
        assert ":" in {one["key"] for one in made}

    def test_an_answer_that_people_liked_is_the_paraphrase(self) -> None:
        assert texts.variants("At 9.", "No.", "From nine on.", "en", 0)["paraphrase"] == "From nine on."


class TestNumbers:
    def test_repeatability_by_hand(self) -> None:
        one = heard([[1.0, 1.0], [0.5, 0.75], [0.25, 0.25], [0.0, 0.5]])
        rows = {row[1]: row[2] for row in numbers.repeatability(one, list("abcd"), UNIT, 0.7, SURE)}
        assert rows["exact_agreement"] == 0.5
        assert rows["flip_rate"] == 0.25  # the second item: 0.5 is not good, 0.75 is
        deviation = math.sqrt((0.25**2 / 2 + 0.5**2 / 2) / 4)
        assert rows["within_item_deviation"] == pytest.approx(deviation)
        assert rows["smallest_difference"] == pytest.approx(1.96 * math.sqrt(2) * deviation, rel=1e-4)
        ratings = np.array(one.answers.scores)
        expected = krippendorff.alpha(ratings.T, level_of_measurement="interval")
        assert rows["krippendorff_alpha"] == pytest.approx(expected, abs=1e-12)

    def test_one_repeat_measures_nothing(self) -> None:
        assert numbers.repeatability(heard([[1.0], [0.0]]), ["a", "b"], UNIT, 0.7, SURE) == []

    def test_agreement_equals_the_field_s_packages(self) -> None:
        rng = np.random.default_rng(5)
        truth = rng.integers(0, 5, 80) / 4
        judge = np.clip(truth + rng.choice([-0.5, -0.25, 0, 0, 0.25], 80), 0, 1)
        rows = {row[2]: row[3] for row in numbers.agreement("j", judge, answers(truth[:, None]), 0.7, SURE)}
        assert rows["spearman"] == pytest.approx(scipy_stats.spearmanr(truth, judge).statistic, abs=1e-12)
        assert rows["kendall"] == pytest.approx(scipy_stats.kendalltau(truth, judge).statistic, abs=1e-12)
        assert rows["pearson"] == pytest.approx(scipy_stats.pearsonr(truth, judge).statistic, abs=1e-12)
        good = truth >= 0.7, judge >= 0.7
        assert rows["cohen_kappa"] == pytest.approx(cohen_kappa_score(*good), abs=1e-12)
        assert rows["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(*good), abs=1e-12)
        assert rows["accuracy"] == np.mean(good[0] == good[1])
        assert rows["bias"] == pytest.approx(np.mean(judge - truth))
        expected = krippendorff.alpha(np.array([truth, judge]), level_of_measurement="interval")
        assert rows["krippendorff_alpha"] == pytest.approx(expected, abs=1e-12)

    def test_a_judge_that_is_one_of_the_people_reaches_the_ceiling(self) -> None:
        rng = np.random.default_rng(6)
        truth = rng.uniform(0, 1, 60)
        people = np.clip(truth[:, None] + rng.normal(0, 0.1, (60, 3)), 0, 1)
        people[rng.random((60, 3)) < 0.2] = NAN
        known = answers(people)
        third = np.clip(truth + rng.normal(0, 0.1, 60), 0, 1)
        own = {row[2]: row for row in numbers.agreement("j", third, known, 0.7, SURE) if row[1] == "person"}
        ceiling = {row[2]: row for row in numbers.ceiling(known, 0.7, SURE)}
        assert "bias" not in ceiling
        for name in ("spearman", "icc", "krippendorff_alpha"):
            assert own[name][3] == pytest.approx(ceiling[name][3], abs=0.05)
            assert own[name][4] <= ceiling[name][3] <= own[name][5]

    def test_two_judges_that_follow_people_are_no_copies(self) -> None:
        """Both give what people give and errors of their own: raw scores go together, errors at one rating do not."""
        truth = np.repeat([0.0, 0.5, 1.0], 4)
        errors = np.tile([0.1, 0.1, -0.1, -0.1], 3), np.tile([0.1, -0.1, 0.1, -0.1], 3)
        given, baseline = (truth + each for each in errors)
        found = disguise(heard(given[:, None]), given, "rival", baseline, answers(truth[:, None]))
        assert found.kind == "correlation"
        assert found.values == pytest.approx(np.column_stack(errors))
        assert np.corrcoef(given, baseline)[0, 1] > 0.9
        copy = disguise(heard(given[:, None]), given, "rival", given / 2, answers(truth[:, None]))
        assert np.corrcoef(copy.values.T)[0, 1] == pytest.approx(1)

    def test_one_person_has_no_ceiling(self) -> None:
        assert numbers.ceiling(answers([[1.0], [0.0], [0.5]]), 0.7, SURE) == []

    def test_calibration_by_hand(self) -> None:
        judge = np.array([1.0, 1.0, 0.75, 0.5, 0.0, 0.0])
        known = answers([[1.0], [0.0], [0.75], [1.0], [0.0], [0.25]])
        rows, bins = numbers.calibration("j", judge, known, 0.7, SURE)
        found = {row[1]: row[2] for row in rows}
        assert found["sensitivity"] == pytest.approx(2 / 3)
        assert found["specificity"] == pytest.approx(2 / 3)
        truth = [1, 0, 1, 1, 0, 0]
        assert found["brier"] == pytest.approx(brier_score_loss(truth, judge))
        assert found["expected_calibration_error"] == pytest.approx((1.0 + 0.25 + 0.5 + 0.0) / 6)
        assert [(row[1], row[2], row[3]) for row in bins] == [
            (0, 0.0, 0.0), (5, 0.5, 1.0), (7, 0.75, 1.0), (9, 1.0, 0.5)
        ]  # fmt: skip

    def test_nobody_s_ratings_calibrate_nothing(self) -> None:
        assert numbers.calibration("j", np.zeros(3), answers([[NAN]] * 3), 0.7, SURE) == ([], [])


class TestProbes:
    def test_a_verdict_needs_the_limit_not_only_zero(self) -> None:
        """A shift of 0.02 on 2000 answers is surely not zero, and surely nothing that anybody minds."""
        rng = np.random.default_rng(0)
        limits = Limits().of("padding")
        small, large, few = (rng.normal(m, 0.1, n) for m, n in ((0.02, 2000), (0.2, 100), (0.04, 12)))
        found = judged([probed("j", "padding", Effect(each, None), limits, SURE) for each in (small, large, few)], 0.95)
        assert [each.verdict for each in found] == ["passed", "found", "open"]

    def test_a_verdict_is_by_the_corrected_p(self) -> None:
        wide = replace(probed("j", "key", Effect(np.tile([0.0, 1.0], 20), None, "share"), (0.0, 0.6), SURE), p=0.04)
        assert judged([wide], 0.95)[0].verdict == "found"
        assert [each.verdict for each in judged([wide, wide], 0.95)] == ["open", "open"]
        assert [each.p_adjusted for each in judged([wide, wide], 0.95)] == [0.08, 0.08]

    def test_equal_values_still_leave_room_for_what_was_not_seen(self) -> None:
        [few], [many] = (
            judged([probed("j", "padding", Effect(np.zeros(n), None), Limits().of("padding"), SURE)], 0.95)
            for n in (20, 200)
        )
        assert (few.verdict, many.verdict) == ("open", "passed")

    def test_too_few_and_nothing(self) -> None:
        assert probed("j", "key", Effect(np.zeros(9), None, "share"), (-math.inf, 0.05), SURE).why == "few"
        nothing = judged([probed("j", "key", Effect(np.zeros(0), None, why="no_texts"), (-math.inf, 0.05), SURE)], 0.95)
        assert nothing[0].verdict == "unmeasured"
        assert judged([], 0.95) == []

    def test_rungs_in_order(self) -> None:
        columns = ([1, 1, 0.5, 0, 0], [0, 0.25, 0.5, 0.75, 1], [1, 1, 0.5, 0, 0.75], [1, 1, 1, 1, 1], [1, 1, NAN, 0, 0])
        ladder = dict(zip(texts.LADDER, np.array(columns, dtype=float).T, strict=True))
        found = in_order(ladder)
        assert found[:4].tolist() == pytest.approx([1.0, 0.0, 0.8, 0.2])
        assert np.isnan(found[4])

    def test_the_family_of_a_model(self) -> None:
        assert family("gpt-4o-mini") == "gpt"
        assert family("mistralai/Mixtral-8x7B") == "mistral"
        assert family("T-lite-it-1.0") == "t-lite"
        assert family("rag-system-2") is None
        assert family(None) is None

    def test_own_family_is_measured_against_people(self) -> None:
        systems = ["gpt-4", "llama-3"] * 12
        clusters = [f"q{place // 2}" for place in range(24)]
        people = np.full((24, 1), 0.5)
        given = np.array([0.75, 0.5] * 12)
        one = heard(given[:, None], family="gpt")
        effect = own_family(one, answers(people, clusters, systems), given)
        assert effect.values.tolist() == [0.25] * 12
        known = answers(people, clusters, systems)
        reasons = {
            "no_own_family": (replace(one, family="claude"), known),
            "no_judge_family": (replace(one, family=None), known),
            "no_model": (replace(one, name="lexical"), known),
            "no_systems": (one, answers(people, clusters)),
            "no_other_family": (one, answers(people, None, systems)),
            "no_people": (one, answers(np.full((24, 1), NAN), clusters, systems)),
        }
        assert {why: own_family(judge, these, given).why for why, (judge, these) in reasons.items()} == {
            why: why for why in reasons
        }

    def test_a_family_that_only_the_settings_know(self) -> None:
        named = JudgeSettings(base_url="http://x", model="ft-0425", family="Acme")
        assert family_of_judge(named) == "acme"
        assert family_of_judge(named.model_copy(update={"family": "GPT-4"})) == "gpt"
        assert family_of_judge(named.model_copy(update={"family": None})) is None
        assert [of_family(name, "acme") for name in ("Acme-7b", "gpt-4", "rag", None)] == [True, False, False, False]
        assert of_family("gpt-4o", "gpt")


class TestRivals:
    def test_concordance_is_the_area_under_the_curve(self) -> None:
        rng = np.random.default_rng(7)
        truth = rng.integers(0, 2, 60).astype(float)
        scores = np.round(truth + rng.normal(0, 1, 60), 1)
        found = np.nanmean(rivals.concordances(scores, truth))
        shares = truth.mean()
        each = rivals.concordances(scores, truth)
        area = roc_auc_score(truth, scores)
        assert each[truth == 1].mean() == pytest.approx(area)
        assert each[truth == 0].mean() == pytest.approx(area)
        assert found == pytest.approx(area)
        assert 0 < shares < 1

    def test_better_worse_and_neither(self) -> None:
        rng = np.random.default_rng(8)
        truth = rng.integers(0, 5, 120) / 4
        good, poor = np.clip(truth + rng.normal(0, 0.1, 120), 0, 1), rng.uniform(0, 1, 120)
        known = answers(truth[:, None])
        found = rivals.rivalries({"good": good, "same": poor, "words": poor}, "words", poor, known, SURE)
        assert {each.judge: each.verdict for each in found} == {"good": Verdict.BETTER, "same": Verdict.NOT_SHOWN}
        assert found[0].difference.low is not None
        assert found[0].difference.low > 0.2
        [lost] = rivals.rivalries({"poor": poor, "words": good}, "words", good, known, SURE)
        assert lost.verdict is Verdict.WORSE
        assert lost.difference.value == pytest.approx(-found[0].difference.value)

    def test_nobody_rated_anything(self) -> None:
        known = answers([[NAN]] * 5)
        [found] = rivals.rivalries({"j": np.zeros(5)}, "words", np.zeros(5), known, SURE)
        assert found.verdict is None

    def test_the_panel_without_one(self) -> None:
        three = [
            replace(heard(np.full((4, 1), value)), name=name) for name, value in (("a", 0.0), ("b", 0.5), ("c", 1.0))
        ]
        found = {each.judge: each.shift for each in rivals.influences(three, Rule("mean"))}
        assert found == {"a": 0.25, "b": 0.0, "c": -0.25}
        assert rivals.influences(three[:1], Rule("mean")) == []
        assert rivals.panel_scores(three, without="c").tolist() == [0.25] * 4


class TestLogged:
    def test_a_file_is_read(self, tmp_path: Path) -> None:
        write_lines(tmp_path / "j.jsonl", [
            {"id": "b", "people": {"x": 1, "y": None}, "judges": {"m": [0.5, None]}, "system": "gpt-4"},
            {"id": "a", "people": {"x": 5}, "judges": {"m": 1, "n": None}, "cluster": "q",
             "choices": {"k": ["A", "Tie"]}, "label": "A"},
        ])  # fmt: skip
        found = logged.read(tmp_path / "j.jsonl", Scale(1, 5), UNIT)
        by_name = {one.name: one for one in found.heard}
        assert [one.id for one in found.answers.samples] == ["a", "b"]
        assert found.answers.clusters == ("q", "b")
        assert found.answers.mean_people.tolist() == [1.0, 0.0]
        assert np.array_equal(by_name["m"].answers.scores, [[1.0, NAN], [0.5, NAN]], equal_nan=True)
        assert by_name["m"].answers.asked.tolist() == [[True, False], [True, True]]
        assert by_name["n"].statuses[:, 0].tolist() == ["parse_error", "missing_field"]
        assert by_name["k"].choices is not None
        assert by_name["k"].choices[0].tolist() == [1.0, 0.0]
        assert found.labels[0] == 1.0
        assert len(found.content_hash) == 64

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([], "holds no judgements"),
            ([{"id": "a"}, {"id": "a"}], "line 2: the id 'a' stands there twice"),
            ([{"id": "a", "judge": {}}], "line 1: there is no field 'judge'; legal: id, people, judges"),
            ([{"id": "a", "judges": {"m": 2}}], "2 is not on the scale from 0 to 1"),
            ([{"id": "a", "people": {"x": 0}}], "0 is not on the scale from 1 to 5"),
            ([{"id": "a", "choices": {"k": ["A>B", "A"]}}], "line 1: choices"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
        write_lines(tmp_path / "j.jsonl", rows)
        with pytest.raises(BenchError, match=message):
            logged.read(tmp_path / "j.jsonl", Scale(1, 5), UNIT)

    @pytest.mark.parametrize("text", ["", "1", "5, 1", "1, x", "nan, 1", "1,2,3"])
    def test_a_scale_has_two_ends(self, text: str) -> None:
        with pytest.raises(BenchError, match="scale"):
            Scale.read(text)


def test_a_line_of_the_file_is_json(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_text(json.dumps({"id": "a"}) + "\nno\n", encoding="utf-8")
    with pytest.raises(BenchError, match="line 2"):
        logged.read(tmp_path / "j.jsonl", Scale(1, 5), UNIT)


def test_judges_that_are_equally_good_are_told_apart_as_rarely_as_the_level_says() -> None:
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(200):
        truth = rng.integers(0, 5, 60) / 4
        one, other = (np.clip(np.round((truth + rng.normal(0, 0.35, 60)) * 4) / 4, 0, 1) for _ in range(2))
        known = answers(truth[:, None])
        [found] = rivals.rivalries({"one": one}, "other", other, known, SURE)
        rejected += found.p < 0.05
    assert rejected / 200 <= 0.09
