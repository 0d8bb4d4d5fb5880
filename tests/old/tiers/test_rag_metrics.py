"""Tables of answers by all metrics: where they come from, what is compared, what goes together."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import ragbench.old
from ragbench.old import tiers, views
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import load
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.data import DatasetError
from ragbench.old.data.samples import samples_of
from ragbench.old.metrics import catalogue
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.answers.rag_metrics import PEOPLE, RagMetricsRequest, correlations, side_by_side
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.session import dataset_of
from ragbench.old.tiers.scoring.table_sources import digest, find_answers
from tests.old.small_project import write_lines
from tests.old.views.measurements import measurement, placed

SURENESS = Sureness(0.95, 200, 0)
QUICK = {"resamples": 200, "judges": "lexical"}
CONTEXT = "Paris is the capital of France. The tower is 330 metres high."
RIGHT, HALF, WRONG = "Paris is the capital of France.", "Paris is the capital of France. Bananas fly.", "Bananas fly."


def rows(answers: dict[str, list[str]]) -> list[dict[str, Any]]:
    """One answer of each system to each question, in one context."""
    return [
        {
            "id": f"s{n}",
            "system": system,
            "question": f"Q{n}?",
            "answer": text,
            "contexts": [CONTEXT],
            "cluster": f"k{n}",
        }
        for system, texts in answers.items()
        for n, text in enumerate(texts)
    ]


def value(found: Measurement, metric: str, system: str = "answers") -> float:
    [estimate] = [e.estimate.value for e in found.estimates if (e.system, e.metric) == (system, metric)]
    return estimate


@pytest.fixture
def table(project: Path) -> str:
    answers = {"old": [HALF, WRONG, WRONG, HALF] * 3, "new": [RIGHT, RIGHT, HALF, RIGHT] * 3}
    write_lines(project / "answers.jsonl", rows(answers))
    return "answers.jsonl"


class TestAFile:
    def test_every_metric_that_its_fields_allow(self, table: str) -> None:
        found = tiers.rag_metrics(table, **QUICK)
        measured = {e.metric for e in found.estimates}
        assert {"faithfulness", "response_relevancy", "hallucination", "context_relevance"} <= measured
        assert not measured & {"context_recall", "factual_correctness", "rubrics_score", "aspect_critique"}
        assert found.facts["primary"] == "faithfulness"
        assert found.facts["dataset"] == "answers.jsonl"
        assert [(one["part"], one["name"]) for one in found.facts["stand_ins"]] == [
            ("judge", "lexical"), ("embedder", "hashing"),
        ]  # fmt: skip
        assert value(found, "faithfulness", "old") == pytest.approx(0.25)
        assert value(found, "faithfulness", "new") == pytest.approx(0.875)

    def test_its_systems_are_compared_question_by_question(self, table: str) -> None:
        found = tiers.rag_metrics(table, metrics="faithfulness, hallucination", **QUICK)
        assert found.facts["baseline"] == "old"
        [one] = [c.comparison for c in found.comparisons if c.metric == "faithfulness"]
        assert (one.baseline, one.challenger, one.n) == ("old", "new", 12)
        assert one.difference == pytest.approx(0.625)
        assert one.verdict == "better"
        turned = tiers.rag_metrics(table, metrics="faithfulness", baseline="new", **QUICK)
        assert [c.comparison.difference for c in turned.comparisons] == [pytest.approx(-0.625)]

    def test_a_system_that_did_not_answer_is_not_unmeasured(self, project: Path) -> None:
        """Its mean is of its own answers; only pairs that both gave are compared."""
        write_lines(project / "some.jsonl", rows({"old": [RIGHT] * 4, "new": [RIGHT, HALF]}))
        found = tiers.rag_metrics("some.jsonl", metrics="faithfulness", **QUICK)
        by_system = {e.system: e.estimate for e in found.estimates}
        assert (by_system["new"].n, by_system["new"].n_unmeasured) == (2, 0)
        assert found.comparisons[0].comparison.n == 2

    def test_values_and_reasons_are_those_of_scoring(self, table: str, project: Path) -> None:
        lines = (project / table).read_text(encoding="utf-8").splitlines()
        scored = ragbench.old.score([json.loads(line) for line in lines], ["faithfulness"], "lexical", resamples=200)
        found = tiers.rag_metrics(table, metrics="faithfulness", **QUICK)
        assert {(e.system, e.metric): e.estimate for e in found.estimates} == dict(scored.means)
        assert found.comparisons == scored.differences
        assert list(found.scores["reason"]) == [row.score.reason for row in scored.rows]

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"answers": "nowhere.jsonl"}, "there is no such file"),
            ({"baseline": "best"}, "not among the systems of the table: old, new"),
            ({"metrics": "context_recall"}, "needs reference"),
            ({"judges": "nobody"}, "there is no judge 'nobody'"),
            ({"embedder": "hashing, nothing"}, "there is no embedder 'nothing'"),
            ({"aggregate": "best"}, "aggregate = 'best': mean, median, minimum"),
        ],
    )
    def test_what_cannot_be_is_named(self, table: str, given: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            tiers.rag_metrics(**{"answers": table, **QUICK, **given})

    def test_it_survives_the_disk(self, table: str, tmp_path: Path) -> None:
        found = tiers.rag_metrics(table, metrics="faithfulness", **QUICK)
        found.save(tmp_path)
        again = Measurement.load(tmp_path)
        assert again.estimates == found.estimates
        assert again.facts == json.loads(json.dumps(found.facts))
        for name, kept in found.extra.items():
            pd.testing.assert_frame_equal(again.extra[name], kept, check_dtype=False)


class TestADataSet:
    def test_rated_answers_with_what_people_thought(self, project: Path) -> None:
        folder = project / "data" / "small"
        rated = [
            {"id": f"r{n}", "question_id": "q1", "answer": text, "context": ["a1"], "ratings": ratings}
            for n, (text, ratings) in enumerate(
                [("Text of a1.", {"a": 5, "b": 4}), ("Something else.", {"a": 1, "b": None}), ("Text.", {"a": None})]
            )
        ]
        write_lines(folder / "ratings.en.jsonl", rated)
        found = find_answers("", "", load())
        assert [sample.response for sample in found.samples] == ["Text of a1.", "Something else.", "Text."]
        assert found.samples[0].contexts == (Chunk("a1", "Text of a1.", "/a"),)
        assert {sample.cluster for sample in found.samples} == {"q1"}, "answers to one question belong together"
        assert found.people["answers", "r0"] == 4.5
        assert found.people["answers", "r1"] == 1.0
        assert math.isnan(found.people["answers", "r2"])
        measured = tiers.rag_metrics(metrics="faithfulness", **QUICK)
        assert [one.where["one"] for one in measured.estimates_by("one", "other")] == [PEOPLE]

    def test_logged_answers_with_what_people_thought_of_them(self, project: Path) -> None:
        folder = project / "data" / "small"
        log = [{"id": "q1", "retrieved": ["a1", "gone"], "answer": "Text of a1."}, {"id": "q2", "error": "no reply"}]
        write_lines(folder / "answers.logged.jsonl", log)
        rated = {"id": "q1", "question_id": "q1", "context": []}
        write_lines(
            folder / "ratings.en.jsonl",
            [{**rated, "answer": "Text of a1.", "ratings": {"user": 5, "other": None}},
             {**rated, "id": "r", "answer": "Of another system.", "ratings": {"user": 1}}],
        )  # fmt: skip
        found = find_answers("", "", load())
        [sample] = found.samples
        assert (sample.id, sample.response) == ("q1", "Text of a1.")
        assert [chunk.id for chunk in sample.contexts or ()] == ["a1"], "nobody knows what the other one says"
        assert found.facts["answers"] == "logged answers"
        assert found.people == {("answers", "q1"): 5.0}
        write_lines(folder / "answers.second.jsonl", log)
        assert [one.system for one in find_answers("", "", load()).samples] == ["small-logged", "small-second"]

    def test_a_reference_is_no_answer(self, project: Path) -> None:
        """Scored against itself it would be excellent by every metric."""
        folder = project / "data" / "small"
        questions = [{"id": "q1", "text": "What?", "reference": "Text of b1.", "relevant": {"a1": 1, "b1": 2}}]
        write_lines(folder / "questions.en.jsonl", questions)
        with pytest.raises(BenchError, match="small:en has no logged or rated answers"):
            find_answers("", "", load())
        known = load()
        [needed] = RagMetricsRequest().needed(known)
        lack = needed.lack("rag_metrics", dataset_of("small", known), "small:en")
        assert lack is not None
        assert lack.sentence(translator("en")) == "needs logged answers or rated answers; small:en has none"

    @pytest.mark.usefixtures("project")
    def test_neither(self) -> None:
        with pytest.raises(BenchError, match=r"small:en has no logged or rated answers; name a file"):
            tiers.rag_metrics(**QUICK)
        with pytest.raises(DatasetError, match="there is no data set 'none'"):
            tiers.rag_metrics(dataset="none", **QUICK)


class TestARun:
    def keep(self, project: Path, *notebooks: str) -> None:
        made = measurement(("one", "two"), ("mrr",), 3)
        answers = [("one", "q0", RIGHT), ("two", "q0", WRONG), ("one", "q1", None)]
        kept = replace(made, extra={"answers": pd.DataFrame(answers, columns=["system", "sample", "response"])})
        for notebook in notebooks:
            kept.save(project / "reports" / "latest" / "parts" / notebook)

    def test_its_answers_with_their_contexts(self, project: Path) -> None:
        self.keep(project, "tier2_generation")
        found = find_answers("run:latest", "", load())
        assert [(s.system, s.id, s.response) for s in found.samples] == [
            ("one", "q0", RIGHT), ("two", "q0", WRONG), ("one", "q1", None)
        ]  # fmt: skip
        assert found.samples[0].reference == "the answer"
        assert [chunk.id for chunk in found.samples[0].contexts or ()] == ["c1", "c2", "c0", "c1", "c2"]
        measured = tiers.rag_metrics("run:latest", metrics="faithfulness", **QUICK)
        unmeasured = {e.system: e.estimate.n_unmeasured for e in measured.estimates}
        assert unmeasured == {"one": 1, "two": 0}

    def test_only_the_contexts_that_an_answer_was_written_from(self, project: Path) -> None:
        """A ranking may go deeper than what the generator was given; an answer may also have been given nothing."""
        made = measurement(("one",), ("mrr",), 3)
        lines = [("one", "q0", RIGHT, ["c2", "c1"]), ("one", "q1", RIGHT, []), ("one", "q0", WRONG, ["c1"])]
        table = pd.DataFrame(lines, columns=["system", "sample", "response", "contexts"])
        replace(made, extra={"answers": table}).save(project / "reports" / "latest" / "parts" / "tier3_end_to_end")
        found = find_answers("run:latest", "", load()).samples
        assert [[chunk.id for chunk in sample.contexts or ()] for sample in found] == [["c2", "c1"], [], ["c1"]]
        measured = tiers.rag_metrics("run:latest", metrics="rouge1_f", **QUICK)
        own = measured.extra["repeated"]
        assert own["sample"].tolist() == ["q0", "q0"], "q1 was answered once"
        value = measured.scores.set_index("sample")["value"]["q0"]
        assert value == pytest.approx(own["value"].mean())
        assert measured.extra["answers"]["response"].tolist() == [RIGHT, RIGHT], "of repeats the first is shown"
        assert measured.facts["repeats"] == 2

    def test_a_judge_that_always_says_the_same_shows_no_chance(self, table: str) -> None:
        found = tiers.rag_metrics(table, metrics="faithfulness", repeats=3, **QUICK)
        once = tiers.rag_metrics(table, metrics="faithfulness", **QUICK)
        assert [e.estimate for e in found.estimates] == [e.estimate for e in once.estimates]
        assert found.comparisons == once.comparisons
        assert set(found.extra["variance"]["error_of_repeats"]) == {0.0}
        assert "asking again adds no spread" in views.comparison.answer(views.Page(found)).html()
        [difference] = found.comparisons
        first = found.extra["variance"].iloc[0]
        assert (first["system"], first["baseline"]) == ("new", "old")
        assert first["error"] == pytest.approx(difference.comparison.error), "of whole clusters"

    def test_one_notebook_of_several_is_named(self, project: Path) -> None:
        self.keep(project, "tier2_generation", "tier3_end_to_end")
        with pytest.raises(BenchError, match="name one of them: tier2_generation, tier3_end_to_end"):
            find_answers("run:latest", "", load())
        assert len(find_answers("run:latest/tier3_end_to_end", "", load()).samples) == 3
        with pytest.raises(BenchError, match="answers are kept by tier2_generation, tier3_end_to_end"):
            find_answers("run:latest/tier1_retrieval", "", load())

    def test_no_run_and_no_answers(self, project: Path) -> None:
        with pytest.raises(BenchError, match="there is no such run"):
            find_answers("run:yesterday", "", load())
        measurement().save(project / "reports" / "latest" / "parts" / "tier1_retrieval")
        with pytest.raises(BenchError, match="it kept no answers"):
            find_answers("run:latest", "", load())


class TestCorrelations:
    def scores(self, **columns: list[float]) -> pd.DataFrame:
        lines = [("s", metric, str(n), x) for metric, values in columns.items() for n, x in enumerate(values)]
        return pd.DataFrame(lines, columns=["system", "metric", "sample", "value"])

    def test_every_pair_by_spearman(self) -> None:
        rng = np.random.default_rng(0)
        first, second = rng.normal(size=(2, 40))
        table = self.scores(a=list(first), b=list(second + first), c=[1.0] * 40)
        clusters = {str(n): str(n) for n in range(40)}
        people = {("s", str(n)): float(n) for n in range(39)}
        found = placed(correlations(table, people, clusters, SURENESS)).set_index(["one", "other"])
        assert set(found.index) == {(PEOPLE, "a"), (PEOPLE, "b"), (PEOPLE, "c"), ("a", "b"), ("a", "c"), ("b", "c")}
        expected = scipy.stats.spearmanr(first, second + first).statistic
        assert found.loc[("a", "b"), "value"] == pytest.approx(expected)
        assert found.loc[("a", "b"), "low"] < expected < found.loc[("a", "b"), "high"]
        assert tuple(found.loc[(PEOPLE, "a"), ["n", "n_unmeasured"]]) == (39, 1)
        assert math.isnan(found.loc[("a", "c"), "value"]), "a metric that says the same of all goes with nothing"

    def test_answers_to_one_question_go_together(self) -> None:
        rng = np.random.default_rng(1)
        question = np.repeat(rng.normal(size=12), 5)
        table = self.scores(a=list(question + rng.normal(size=60) / 9), b=list(question + rng.normal(size=60) / 9))
        width = {}
        for name, size in (("alone", 1), ("together", 5)):
            clusters = {str(n): str(n // size) for n in range(60)}
            [row] = placed(correlations(table, {}, clusters, SURENESS)).to_dict("records")
            width[name] = row["high"] - row["low"]
        assert width["together"] > 1.5 * width["alone"]

    def test_one_metric_has_no_pairs(self) -> None:
        assert correlations(self.scores(a=[1.0, 2.0]), {}, {"0": "0", "1": "1"}, SURENESS) == ()


class TestSideBySide:
    def judgements(self, values: dict[tuple[str, str], list[float]], detail: str = "{}") -> pd.DataFrame:
        lines = [
            ("s", metric, str(n), judge, x, "ok", "", None, detail)
            for (metric, judge), column in values.items()
            for n, x in enumerate(column)
        ]
        columns = ["system", "metric", "sample", "judge", "value", "status", "reason", "seconds", "detail"]
        return pd.DataFrame(lines, columns=columns)

    def test_each_judges_own_mean(self) -> None:
        table = self.judgements({("faithfulness", "a"): [1.0, 0.0, math.nan], ("faithfulness", "b"): [1.0, 1.0, 0.5]})
        clusters = {str(n): str(n) for n in range(3)}
        made = side_by_side(table, [catalogue()["faithfulness"]], clusters, SURENESS)
        assert {(one.system, one.metric) for one in made} == {("s", "faithfulness")}
        found = placed(made).set_index("judge")
        assert found["value"].to_dict() == {"a": 0.5, "b": pytest.approx(2.5 / 3)}
        assert found["n_unmeasured"].to_dict() == {"a": 1, "b": 0}

    def test_one_judge_stands_beside_nobody(self) -> None:
        table = self.judgements({("faithfulness", "a"): [1.0, 0.0], ("hallucination", "b"): [1.0, 0.0]})
        assert side_by_side(table, [catalogue()["faithfulness"]], {"0": "0", "1": "1"}, SURENESS) == ()

    def test_each_embedders_own_mean(self, project: Path) -> None:
        config = project / "ragbench.toml"
        more = '[embedders.other]\nkind = "hashing"\ntfidf = false\ndimensions = 0\nbuckets = 512\n'
        config.write_text(config.read_text(encoding="utf-8") + more, encoding="utf-8")
        load.cache_clear()
        lines = [{"id": str(n), "response": text, "reference": RIGHT} for n, text in enumerate([RIGHT, HALF, WRONG])]
        write_lines(project / "some.jsonl", lines)
        found = tiers.rag_metrics("some.jsonl", metrics="semantic_similarity", embedder="hashing, other", **QUICK)
        own = placed(found.estimates_by("embedder")).set_index("embedder")["value"]
        assert set(own.index) == {"hashing", "other"}
        assert value(found, "semantic_similarity") == pytest.approx(own.mean())
        assert found.facts["embedder"] == "hashing, other"
        alone = tiers.rag_metrics("some.jsonl", metrics="semantic_similarity", embedder="other", **QUICK)
        assert value(alone, "semantic_similarity") == pytest.approx(own["other"])


def test_the_hash_is_of_all_that_is_read() -> None:
    base = Sample("s", "Q?", "A.", contexts=(Chunk("c", "C."),))
    changed = [
        replace(base, id="t"), replace(base, user_input="R?"), replace(base, response="B."),
        replace(base, contexts=(Chunk("c", "D."),)), replace(base, contexts=(Chunk("d", "C."),)),
        replace(base, rubric={1: "a", 2: "b"}), replace(base, system="x"), replace(base, contexts=None),
    ]  # fmt: skip
    hashes = {digest([one]) for one in [base, *changed]}
    assert len(hashes) == 1 + len(changed)
    assert digest([base]) == digest(samples_of([base]))


def scored(*systems: tuple[str, range]) -> Any:
    """Systems that answered questions of these numbers, the first of them wrong where the number is even."""
    table = [
        {"id": f"q{n}", "system": name, "response": "a" if name != systems[0][0] or n % 2 else "b", "reference": "a"}
        for name, numbers in systems
        for n in numbers
    ]
    return ragbench.old.score(table, ["exact_match"], resamples=200)


def test_questions_that_neither_of_two_systems_was_asked_are_no_loss_of_their_comparison() -> None:
    """Of a and b: 20 common, 5 that only a answered; those of c are no pairs of theirs."""
    found = scored(("a", range(25)), ("b", range(20)), ("c", range(24, 100)))
    pairs = {one.comparison.challenger: one.comparison for one in found.differences}
    assert (pairs["b"].n, pairs["b"].n_dropped) == (20, 5)
    assert (pairs["c"].n, pairs["c"].n_dropped) == (1, 24 + 75)
    alone = scored(("a", range(25)), ("b", range(20))).differences[0].comparison
    assert (alone.n, alone.n_dropped, alone.difference) == (20, 5, pairs["b"].difference)


def test_systems_without_a_common_question_are_named() -> None:
    found = scored(("a", range(10)), ("b", range(8)), ("c", range(50, 60)), ("d", range(90, 99)))
    assert [one.comparison.challenger for one in found.differences] == ["b"]
    said = "Not compared with a, as both answered no question of the same id: c and d."
    assert said in found.tables()[0].notes
    assert "Не сравнивались с a" in " ".join(found.tables("ru")[0].notes)
    assert not any("Not compared" in note for note in scored(("a", range(9)), ("b", range(8))).tables()[0].notes)
