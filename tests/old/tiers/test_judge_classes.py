"""Judges on labels of more than two classes: every number against scikit-learn, cut points, and what the page says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sklearn_metrics

from ragbench.old import tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Estimate
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.judges import classes
from ragbench.old.tiers.judges.classes import Classes, classes_of, cut_points, decided, names_of
from ragbench.old.tiers.judges.items import Answers, Scale
from ragbench.old.views import Page
from tests.old.small_project import write_lines
from tests.old.tiers.heard_judges import NAN, SURE, UNIT, answers

THREE = Classes(("contradicted", "neutral", "supported"), (0.0, 0.5, 1.0))
WEIGHTS = {"cohen_kappa": None, "cohen_kappa_linear": "linear", "cohen_kappa_quadratic": "quadratic"}


def found(
    said: Any, people: Answers, of: Classes = THREE
) -> tuple[Mapping[tuple[str, str, str], Estimate], dict[str, pd.DataFrame]]:
    """By judge, class and name what a judge called j is worth; and the tables."""
    placed, tables = classes.found({"j": said}, people, of, UNIT, SURE)
    return {(one.system, str(one.where["class"]), one.metric): one.estimate for one in placed}, tables


def graded(n: int, seed: int, wrong: float = 0.3) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Classes 0, 1, 2 and a judge's, some of them wrong."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=(0.2, 0.3, 0.5))
    return truth, np.where(rng.random(n) < wrong, rng.integers(0, 3, n), truth)


class TestClasses:
    def test_levels_of_a_scale_of_whole_numbers_are_classes_used_or_not(self) -> None:
        found = classes_of(answers([[0.0], [0.25], [1.0]]), Scale(1, 5), ())
        assert found == Classes(("1", "2", "3", "4", "5"), (0.0, 0.25, 0.5, 0.75, 1.0))

    def test_ratings_that_are_no_classes(self) -> None:
        assert classes_of(answers(np.random.default_rng(0).random((50, 1))), UNIT, ()) is None
        assert classes_of(answers([[0.0], [1.0]]), UNIT, ()) is None, "two classes are the page's good and not good"
        assert classes_of(answers([[NAN], [NAN]]), Scale(1, 5), ()) is None
        assert classes_of(answers([[0.0], [1.0]]), UNIT, ("no", "yes")) is None

    def test_names_lie_evenly_on_the_scale(self) -> None:
        assert classes_of(answers([[0.5], [1.0]]), Scale(1, 5), THREE.names) == THREE
        with pytest.raises(BenchError, match=r"rated an answer 2, .* from 1 to 5 they are 1, 3, 5"):
            classes_of(answers([[0.25]]), Scale(1, 5), THREE.names)

    def test_one_name_is_no_classes(self) -> None:
        assert names_of("") == ()
        assert names_of("contradicted, neutral, supported") == THREE.names
        with pytest.raises(BenchError, match="classes = 'good'"):
            names_of("good")


class TestNumbers:
    def test_they_equal_scikit_learn(self) -> None:
        truth, said = graded(300, 1)
        rows, tables = found(said / 2, answers(truth / 2), THREE)
        precision, recall, f1, counts = sklearn_metrics.precision_recall_fscore_support(truth, said, labels=[0, 1, 2])
        expected = {
            ("", name): sklearn_metrics.cohen_kappa_score(truth, said, weights=w) for name, w in WEIGHTS.items()
        }
        expected |= {("", "accuracy"): np.mean(truth == said)}
        for place, name in enumerate(THREE.names):
            expected |= {
                (name, "precision"): precision[place],
                (name, "recall"): recall[place],
                (name, "f1"): f1[place],
            }
            assert rows["j", name, "recall"].n == counts[place]
        for (name, measure), value in expected.items():
            one = rows["j", name, measure]
            assert one.value == pytest.approx(value, abs=1e-12)
            assert one.low is not None
            assert one.high is not None
            assert one.low < value < one.high
        table = tables["confusion"].query("said != ''").pivot(index="people", columns="said", values="count")
        ordered = table.loc[list(THREE.names), list(THREE.names)].to_numpy(dtype=int)
        assert np.array_equal(ordered, sklearn_metrics.confusion_matrix(truth, said))
        assert not len(tables["cuts"])

    def test_weights_count_classes_that_nobody_used(self) -> None:
        truth, said = graded(200, 2)
        five = classes_of(answers(truth / 2), Scale(1, 5), ())
        assert five is not None
        rows, _ = found(said / 2, answers(truth / 2), five)
        expected = sklearn_metrics.cohen_kappa_score(2 * truth, 2 * said, labels=list(range(5)), weights="linear")
        assert rows["j", "", "cohen_kappa_linear"].value == pytest.approx(expected, abs=1e-12)

    def test_every_person_s_rating_counts_and_people_are_the_ceiling(self) -> None:
        truth, said = graded(120, 3)
        _, second = graded(120, 3, wrong=0.1)
        people = np.column_stack([truth, np.where(np.arange(120) % 4 == 0, NAN, second)]) / 2
        rows, tables = found(said / 2, answers(people))
        both = ~np.isnan(people[:, 1])
        laid = np.concatenate([truth, second[both]]), np.concatenate([said, said[both]])
        each_way = np.concatenate([truth[both], second[both]]), np.concatenate([second[both], truth[both]])
        for judge, pair in (("j", laid), ("people", each_way)):
            expected = sklearn_metrics.cohen_kappa_score(*pair)
            assert rows[judge, "", "cohen_kappa"].value == pytest.approx(expected, abs=1e-12)
        assert tables["confusion"]["count"].sum() == 120 + both.sum()
        assert all((one.clusters or 0) <= 120 for one in rows.values()), "an answer's two ratings belong together"

    def test_a_score_that_is_missing_is_counted_and_in_no_share(self) -> None:
        scores = np.tile([0.0, 0.5, 1.0], 10)
        scores[[0, 1]] = NAN
        rows, tables = found(scores, answers(np.tile([0.0, 0.5, 1.0], 10)))
        missing = tables["confusion"].query("said == ''").set_index("people")["count"]
        assert missing.to_dict() == {"contradicted": 1, "neutral": 1, "supported": 0}
        recall = [rows["j", name, "recall"] for name in THREE.names]
        assert [(one.value, one.n, one.n_unmeasured, one.floor, one.ceiling) for one in recall] == [
            (1.0, 9, 1, 0.9, 1.0), (1.0, 9, 1, 0.9, 1.0), (1.0, 10, 0, 1.0, 1.0),
        ]  # fmt: skip
        f1 = [rows["j", name, "f1"].floor for name in THREE.names]
        assert f1 == pytest.approx([1.8 / 1.9, 1.8 / 1.9, 1.0]), "2 J / (1 + J) of 9 in 10"

    def test_a_class_that_the_judge_never_names_has_no_precision(self) -> None:
        rows, _ = found(np.tile([0.0, 1.0, 1.0], 10), answers(np.tile([0.0, 0.5, 1.0], 10)))
        assert math.isnan(rows["j", "neutral", "precision"].value)
        assert rows["j", "neutral", "recall"].value == rows["j", "neutral", "f1"].value == 0.0


class TestCutPoints:
    def test_they_find_the_places_that_classes_were_made_with(self) -> None:
        scores = np.linspace(0, 1, 101)
        truth = np.searchsorted([0.305, 0.805], scores, side="right")
        assert cut_points(scores, truth, 3).tolist() == pytest.approx([0.305, 0.805])

    @pytest.mark.parametrize("seed", range(5))
    def test_no_pair_of_cut_points_is_better(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        truth = rng.choice(3, 80, p=(0.2, 0.5, 0.3))
        scores = np.round(np.clip(truth / 2 + rng.normal(0, 0.3, 80), 0, 1), 1)

        def kappa(*cuts: float) -> float:
            return float(sklearn_metrics.cohen_kappa_score(truth, np.searchsorted(cuts, scores, side="right")))

        grid = np.arange(-0.05, 1.1, 0.1)
        best = max(kappa(low, high) for low in grid for high in grid if low <= high)
        assert kappa(*cut_points(scores, truth, 3)) >= best - 0.02, "one at a time may stop a little below the best"

    def test_nobody_is_judged_by_cut_points_of_his_own_half(self) -> None:
        """Of noise, cut points of the same answers would find agreement; those of the other half find none."""
        kappas = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            truth, scores = rng.integers(0, 3, 60), rng.random(60)
            said, cuts = decided(scores, truth[:, None] / 1.0, [str(n) for n in range(60)], THREE, seed)
            assert said is not None
            assert len(cuts) == 2
            kappas.append(sklearn_metrics.cohen_kappa_score(truth, said))
        assert abs(np.mean(kappas)) < 0.05
        own = [
            sklearn_metrics.cohen_kappa_score(t, np.searchsorted(cut_points(s, t, 3), s, side="right"))
            for t, s in (
                (np.random.default_rng(n).integers(0, 3, 60), np.random.default_rng(n + 99).random(60))
                for n in range(40)
            )
        ]
        assert np.mean(own) > 0.15

    def test_too_few_or_equal_scores_are_no_classes(self) -> None:
        clusters = [str(n) for n in range(60)]
        truth = np.tile([0.0, 1.0, 2.0], 20)[:, None]
        assert decided(np.full(60, 0.3), truth, clusters, THREE, 0) == (None, [])
        assert decided(np.linspace(0, 0.9, 30) + 0.01, truth[:30], clusters[:30], THREE, 0) == (None, [])
        assert decided(np.full(60, NAN), truth, clusters, THREE, 0) == (None, [])

    @pytest.mark.parametrize(("answers", "enough"), [(40, True), (38, False)])
    def test_a_half_of_twenty_rated_answers_is_enough(self, answers: int, enough: bool) -> None:
        """Halves are of clusters: of 40 answers each has exactly 20, of 38 it has 19."""
        clusters = [str(n) for n in range(answers)]
        truth = np.resize([0.0, 1.0, 2.0], answers)[:, None]
        scores = truth[:, 0] / 2 * 0.9 + np.linspace(0.01, 0.02, answers)
        said, cuts = decided(scores, truth, clusters, THREE, 0)
        assert (said is not None, len(cuts)) == ((True, 2) if enough else (False, 0))


def drawn(measurement: Measurement, language: str = "en") -> str:
    return str(views.judges.classes(Page(measurement, language=language)).html(frozenset()))


def test_the_page_shows_them(project: Path, tmp_path: Path) -> None:
    truth, said = graded(120, 5)
    rng = np.random.default_rng(5)
    rows = [
        {"id": f"i{n:03}", "people": {"ann": int(truth[n])},
         "judges": {"levels": None if n == 7 else int(said[n]), "fine": float(np.clip(said[n] / 2 + rng.normal(0, .1),
                                                                                       0, 1) * 2)}}
        for n in range(120)
    ]  # fmt: skip
    write_lines(project / "three.jsonl", rows)
    how: dict[str, Any] = {"ratings": "three.jsonl", "people_scale": "0, 2", "judge_scale": "0, 2", "resamples": 200}
    plain = tiers.tier_judge("small", **how)
    assert plain.facts["classes"] == ["0", "1", "2"]
    found = tiers.tier_judge("small", classes=", ".join(THREE.names), **how)
    html = drawn(found)
    for text in (*THREE.names, "no score", "judge: neutral", "quadratic weights", "precision", "the other half"):
        assert text in html, text
    assert html.count("Its scores are finer") == 1
    kept = found.extra["confusion"]
    own = kept[(kept["judge"] == "levels") & (kept["said"] != "")]["count"].sum()
    assert own == 119
    found.save(tmp_path / "kept")
    assert drawn(Measurement.load(tmp_path / "kept")) == html
    russian = drawn(found, "ru")
    assert "нет оценки" in russian
    assert "точность" in russian


def test_a_class_that_no_score_tells_apart_is_never_said(project: Path) -> None:
    """Answers of the lowest class have the scores of the middle one: its cut point lies below everything."""
    rows = [
        {"id": f"i{n:03}", "people": {"ann": 2 if n % 4 > 1 else 0 if n % 60 == 0 else 1},
         "judges": {"j": (0.9 if n % 4 > 1 else 0.0) + n % 5 / 100}} for n in range(120)
    ]  # fmt: skip
    write_lines(project / "flat.jsonl", rows)
    found = tiers.tier_judge("small", ratings="flat.jsonl", people_scale="0, 2", resamples=100)
    assert np.isneginf(found.extra["cuts"]["value"]).any()
    assert "1 −∞" in drawn(found)
    assert "-inf" not in drawn(found)


def test_names_of_classes_are_shown_as_texts(project: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    rows = [{"id": str(n), "people": {"a": n % 3}, "judges": {"j": n * n % 3, "k": n % 7 / 4}} for n in range(60)]
    write_lines(project / "hostile.jsonl", rows)
    how: dict[str, Any] = {"people_scale": "0, 2", "judge_scale": "0, 2", "resamples": 100}
    found = tiers.tier_judge("small", ratings="hostile.jsonl", classes=[hostile, "b", f"{hostile}2"], **how)
    for language in ("en", "ru"):
        html = drawn(found, language)
        assert "<img" not in html
        assert html.count("&lt;img") > 6


def test_two_classes_or_none_have_no_table(project: Path) -> None:
    write_lines(project / "two.jsonl", [{"id": str(n), "people": {"a": n % 2}, "judges": {"j": 1}} for n in range(12)])
    found = tiers.tier_judge("small", ratings="two.jsonl", people_scale="0, 1", resamples=100)
    assert found.facts["classes"] == []
    assert "<table" not in drawn(found)
    assert "<p" not in drawn(found)
