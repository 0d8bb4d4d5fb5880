"""Tier 1 from a folder of data to a measurement, in the real database, against values computed by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Verdict
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics.choices import parted
from ragbench.old.tiers.run.overview import over
from ragbench.old.views import Page
from tests.old.small_project import add, write_lines
from tests.old.views.measurements import value, values


@pytest.mark.usefixtures("project")
def test_the_values_are_those_computed_by_hand_and_what_is_not_averaged_is_counted() -> None:
    found = tiers.tier1_retrieval(systems="good,poor")
    assert values(found, "good", "mrr@10") == {"q1": 1.0, "q2": 1.0, "q3": 0.5}
    assert values(found, "poor", "mrr@10") == {"q1": 1 / 3, "q2": 0.5, "q3": 0.0}
    assert values(found, "poor", "precision@5") == {"q1": 0.2, "q2": 0.4, "q3": 0.0}
    ideal = 2 + 1 / math.log2(3)
    poor = 1 / math.log2(3) + 2 / math.log2(4)
    assert values(found, "poor", "ndcg@5")["q2"] == pytest.approx(poor / ideal, abs=1e-12)
    assert value(found, "good", "mrr@10") == pytest.approx(2.5 / 3)
    assert value(found, "good", "hit_rate@1") == pytest.approx(2 / 3)
    assert found.facts["n_questions"] == 3
    assert found.facts["n_without_relevant"] == 1
    assert found.facts["unanswered"] == {"poor": 1, "good": 0}
    assert set(found.scores["sample"]) == {"q1", "q2", "q3"}
    assert {e.estimate.n for e in found.estimates if e.metric != "retrieval_consistency"} == {3}
    missed = found.scores.query("system == 'poor' and sample == 'q3' and metric == 'mrr@10'")
    assert list(missed["value"]) == [0.0]
    assert missed["reason"].iloc[0] == "not in poor.jsonl"


def test_who_answers_and_does_not_tell_what_it_retrieved_is_not_measured(project: Path) -> None:
    """Without a list there is no ranking; an empty list, and a question that is not in the file, are zero."""
    lines = [{"id": "q1", "answer": "At 8."}, {"id": "q2", "answer": "No.", "retrieved": []}]
    write_lines(project / "good.jsonl", lines)
    found = tiers.tier1_retrieval(systems="good", metrics="mrr")
    assert values(found, "good", "mrr@10") == {"q1": pytest.approx(math.nan, nan_ok=True), "q2": 0.0, "q3": 0.0}
    untold = found.scores.query("sample == 'q1'")
    assert set(untold["status"]) == {"missing_field"}
    assert set(untold["reason"]) == {"the system answers, and does not tell what it retrieved (`retrieved`)"}
    assert [(one.estimate.n, one.estimate.n_unmeasured) for one in found.estimates if one.metric == "mrr@10"] == [
        (2, 1)
    ]


@pytest.mark.usefixtures("project")
def test_the_baseline_comes_first_and_every_other_system_is_compared_with_it() -> None:
    found = tiers.tier1_retrieval(systems="good,poor,ngrams", metrics="mrr,ndcg@5")
    assert [s["name"] for s in found.facts["systems"]] == ["poor", "good", "ngrams"]
    assert [(c.metric, c.comparison.baseline, c.comparison.challenger) for c in found.comparisons] == [
        ("mrr@10", "poor", "good"),
        ("ndcg@5", "poor", "good"),
        ("mrr@10", "poor", "ngrams"),
        ("ndcg@5", "poor", "ngrams"),
    ]
    assert all(c.comparison.p_adjusted is not None for c in found.comparisons)
    assert {c.comparison.verdict for c in found.comparisons} == {Verdict.CANNOT_BE_SHOWN}, "of three questions"
    assert found.facts["stand_ins"] == [{"part": "retrieval", "name": "ngrams", "systems": ["ngrams"]}]


@pytest.mark.usefixtures("project")
def test_another_primary_metric_heads_all_that_is_said() -> None:
    found = tiers.tier1_retrieval(systems="good,poor,ngrams", metrics="mrr,ndcg@5", primary="ndcg@5", slice_by="kind")
    families = {c.metric: c.comparison.family.partition(":")[0] for c in found.comparisons}
    assert families == {"ndcg@5": "primary", "mrr@10": "secondary"}
    assert found.facts["primary"] == "ndcg@5"
    assert {one.metric for one in found.estimates_by("slice")} <= {"ndcg@5"}
    assert str(views.comparison.answer(Page(found)).html()).count("On ndcg@5, a difference between") == 2
    assert views.about.summary(Page(found)).html().index("ndcg@5") < views.about.summary(Page(found)).html().index(
        "mrr@10"
    )
    standing = str(views.about.standing(Page(over({"tier1_retrieval": found}))).html())
    assert "ndcg@5" in standing
    assert "mrr@10" not in standing


@pytest.mark.usefixtures("project")
def test_pages_are_ranked_where_the_unit_is_the_url() -> None:
    found = tiers.tier1_retrieval(systems="poor", unit="url", metrics="mrr,recall@3,ndcg@3")
    assert values(found, "poor", "mrr@10") == {"q1": 0.5, "q2": 0.5, "q3": 0.0}
    rows = found.retrieved.query("sample == 'q1'")
    assert list(zip(rows["rank"], rows["url"], rows["gain"], strict=True)) == [(1, "/b", 0.0), (2, "/a", 1.0)]
    assert list(found.questions.set_index("sample")["relevant"]["q2"]) == ["/b", "/c"]


def test_pieces_are_held_to_the_labels_of_passages_and_compared_at_the_same_words(project: Path) -> None:
    """Two words a piece: of `lake moon star dust` and of `lake moon rain wind` the second halves are found first."""
    place = project / "data" / "small"
    texts = {"a": "lake moon star dust", "b": "lake moon rain wind", "c": "tide tide tide tide"}
    write_lines(place / "chunks.en.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    asked = [
        {"id": "q1", "text": "star dust", "relevant": {"a": 1}, "spans": {"a": [[10, 14]]}},
        {"id": "q2", "text": "rain wind", "relevant": {"b": 1}},
    ]
    write_lines(place / "questions.en.jsonl", asked)
    add(project, "[systems.whole]\nretriever = 'bm25'\n[systems.cut]\nretriever = 'bm25'\nchunker = 'two'\n")
    add(project, "[chunkers.two]\nsize = 2\n")
    how: dict[str, Any] = {"systems": "whole,cut", "baseline": "whole", "timed_questions": 0, "repeats": 2}
    found = tiers.tier1_retrieval(metrics="mrr,recall@1,retrieval_consistency", words=[2, 4], **how)
    assert values(found, "whole", "recall@1") == {"q1": 1.0, "q2": 1.0}
    assert values(found, "cut", "recall@1") == {"q1": 1.0, "q2": 0.5}
    assert values(found, "cut", "mrr@10") == {"q1": 1.0, "q2": 1.0}
    at = {(one.system, one.where["words"]): one.estimate.value for one in found.estimates_by("words")}
    assert (at["whole", 2], at["cut", 2]) == (0.25, 0.75)
    assert (at["whole", 4], at["cut", 4]) == (1.0, 0.75)
    assert {one.where["words"] for one in found.comparisons_by("words")} == {2, 4}
    first = found.retrieved.query("system == 'cut' and rank == 1").set_index("sample")
    assert first["chunk"].to_dict() == {"q1": "a#00010-00019", "q2": "b#00010-00019"}
    assert first["passage"].to_dict() == {"q1": "a", "q2": "b"}
    assert first["gain"].to_dict() == {"q1": 1.0, "q2": 0.5}
    assert found.facts["labelled_text"] == {"chunkers": {"cut": "two"}, "found_from": 0.5, "n_with_spans": 1}
    strict = tiers.tier1_retrieval(metrics="mrr", found_from=0.6, words=[], **how)
    assert values(strict, "cut", "mrr@10") == {"q1": 1.0, "q2": 0.0}
    assert not strict.estimates_by("words")
    alone = tiers.tier1_retrieval(metrics="mrr", **how | {"systems": "whole"})
    assert values(alone, "whole", "mrr@10") == values(found, "whole", "mrr@10")
    assert "labelled_text" not in alone.facts
    assert "passage" not in alone.retrieved


@pytest.mark.usefixtures("project")
def test_a_short_ranking_leaves_out_the_cutoffs_beyond_it() -> None:
    found = tiers.tier1_retrieval(systems="good", k=3)
    labels = list(dict.fromkeys(found.scores["metric"]))
    assert labels == ["hit_rate@1", "hit_rate@3", "mrr@3", "recall@1", "recall@3", "precision@1", "precision@3",
                      "ndcg@3", "retrieval_consistency"]  # fmt: skip
    assert found.retrieved["rank"].max() == 3


def test_every_metric_with_a_cutoff_looks_as_deep_as_is_retrieved() -> None:
    def labels(k: int) -> list[str]:
        return [each.label for each in tiers.tier1_retrieval.request(k=k).chosen]

    published = ["hit_rate@1", "hit_rate@5", "hit_rate@10", "mrr@10", "recall@1", "recall@3", "recall@5", "recall@10"]
    assert labels(10)[:8] == published
    deep = labels(20)
    assert {"hit_rate@20", "mrr@20", "recall@20", "precision@20", "ndcg@20"} <= set(deep)
    assert set(labels(10)) - {"mrr@10"} <= set(deep), "the specification's are there too"


@pytest.mark.usefixtures("project")
def test_what_is_cut_says_so() -> None:
    """Only the first two of each list are looked at: every metric is that of two documents, and its name says it."""
    wanted = "mrr,map,bpref,rbp(p=0.5),r_precision,recall,hit_rate@1"
    found = tiers.tier1_retrieval(systems="poor", k=2, metrics=wanted, repeats=1, timed_questions=0)
    assert list(dict.fromkeys(found.scores["metric"])) == [
        "mrr@2", "average_precision@2", "bpref@2", "rbp(p=0.5)@2", "r_precision@2", "recall@2", "hit_rate@1",
    ]  # fmt: skip
    assert values(found, "poor", "mrr@2") == {"q1": 0.0, "q2": 0.5, "q3": 0.0}, "a1 stands third for q1"
    assert values(found, "poor", "r_precision@2") == {"q1": 0.0, "q2": 0.5, "q3": 0.0}
    deep = tiers.tier1_retrieval(systems="poor", k=10, metrics=wanted, repeats=1, timed_questions=0)
    for label in ("mrr", "average_precision", "bpref", "rbp(p=0.5)", "r_precision", "recall"):
        cut = parse(f"{label}@2")
        same = tiers.tier1_retrieval(systems="poor", metrics=cut.label, repeats=1, timed_questions=0)
        assert values(found, "poor", cut.label) == values(same, "poor", cut.label), label
    assert value(deep, "poor", "mrr@10") > value(found, "poor", "mrr@2")
    assert deep.facts["primary"] == "mrr@10"


WRONG: dict[str, list[tuple[dict[str, Any], str]]] = {
    "tier1_retrieval": [
        ({"systems": "none"}, "no system 'none' in ragbench.toml; there are good, poor, ngrams"),
        ({"systems": "good", "baseline": "poor"}, "baseline = 'poor' is not among the systems measured: good"),
        ({"k": 0}, "k = 0: a whole number from 1"),
        ({"k": 5, "metrics": "ndcg@10"}, "ndcg@10 looks at more than the k = 5"),
        ({"unit": "page"}, "unit = 'page': chunk or url is expected"),
        ({"cluster_by": "x"}, "cluster_by = 'x'"),
        ({"metrics": "avg_spread"}, "does not read a ranking"),
        ({"metrics": "mmr"}, "did you mean mrr"),
        ({"repeats": 0}, "repeats = 0: a whole number from 1 to 100"),
        ({"timed_questions": -1}, "timed_questions = -1: a whole number from 0"),
        ({"ef_searches": [0]}, "each of ef_searches = 0: a whole number from 1 to 1000"),
        ({"slice_by": "length"}, "slice_by names 'length'; questions are sliced by kind, language, source"),
    ],
    "tier0_embeddings": [
        ({"embedders": "none"}, "no embedder 'none'; there are"),
        ({"texts": "pages"}, "texts = 'pages': chunks or questions is expected"),
        ({"distance": "manhattan"}, "euclidean or cosine is expected"),
        ({"neighbors": 0}, "neighbors = 0: a whole number from 1"),
        ({"near": 1.5}, "near = 1.5: a number from 0 and below 1 is expected"),
        ({"projected": -1}, "projected = -1"),
    ],
    "sources": [
        ({"k": 0}, "k = 0: a whole number from 1 to 1000"),
        ({"n_topics": 5}, "n_topics = 5: small:en has only 4 questions"),
        ({"fewest_topics": 1}, "fewest_topics = 1: a whole number from 2"),
        ({"fewest_topics": 5, "most_topics": 4}, "most_topics = 4: a whole number from 5"),
        ({"thin": 0.0}, "thin = 0.0: a number above 0 to 1 is expected"),
        ({"embedder": "none"}, "no embedder 'none'; there are"),
        ({"systems": "none"}, "no system 'none'"),
    ],
    "real_users": [({"cluster_by": "x"}, "cluster_by = 'x': user or none is expected"), ({"k": 0}, "k = 0")],
}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("tier", "wrong", "expected"), [(tier, *one) for tier, rows in WRONG.items() for one in rows])
def test_a_request_that_cannot_be_followed_names_what_can(tier: str, wrong: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected) as caught:
        getattr(tiers, tier)(**wrong)
    assert isinstance(caught.value, BenchError) or "metric" in str(caught.value)


def test_questions_of_one_cluster_are_drawn_together(project: Path) -> None:
    path = project / "data" / "small" / "questions.en.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    write_lines(path, [{**row, "cluster": "one"} if row["id"] in ("q1", "q2") else row for row in rows])
    together = tiers.tier1_retrieval(systems="poor", metrics="mrr")
    assert together.facts["n_clusters"] == 2
    assert together.estimates[0].estimate.clusters == 2
    apart = tiers.tier1_retrieval(systems="poor", metrics="mrr", cluster_by="none")
    assert apart.facts["n_clusters"] is None
    assert apart.estimates[0].estimate.value == together.estimates[0].estimate.value


def test_a_run_keeps_what_it_measured_and_draws_from_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(project / "run"))
    first = tiers.tier1_retrieval(systems="good,poor")
    (project / "good.jsonl").unlink()
    again = tiers.tier1_retrieval(systems="good,poor")
    assert again.estimates == first.estimates
    assert (project / "run" / "parts" / "tier1_retrieval" / "scores.parquet").is_file()


BYTES = pytest.mark.fault("determinism", tried="two runs to the byte", count=1)
TWICE: dict[str, dict[str, Any]] = {
    "tier1_retrieval": {"systems": "ngrams,poor"},
    "tier0_embeddings": {"projected": 0, "resamples": 500},
    "sources": {"systems": "ngrams,good"},
    "real_users": {"systems": "ngrams,good"},
}


@pytest.mark.parametrize(
    "tier",
    [
        "tier1_retrieval",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("tier0_embeddings", "sources")),
        pytest.param("real_users", marks=BYTES),
    ],
)
def test_two_measurements_are_equal_to_the_byte(tier: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (("h0", "Where is a?", "/a"), ("h1", "Where is b?", "/b"))
    rows = [{"id": name, "question": text, "url": page, "user": "u"} for name, text, page in asked]
    write_lines(project / "data" / "small" / "history.en.jsonl", rows)
    write_lines(project / "good.jsonl", [{"id": name, "retrieved": ["b1"]} for name in ("h0", "h1", "q1", "q2", "q3")])
    for name in ("one", "two"):
        monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(project / name))
        getattr(tiers, tier)(**TWICE[tier])
    files = sorted((project / "one" / "parts" / tier).iterdir())
    assert len(files) > 5
    for path in files:
        assert path.read_bytes() == (project / "two" / "parts" / tier / path.name).read_bytes(), path.name
    made = Measurement.load(files[0].parent)
    if tier == "tier0_embeddings":
        assert made.facts["distance"] == "euclidean"
        assert not any(math.isnan(one.estimate.value) for one in made.estimates)


@pytest.mark.slow
def test_xquad_in_russian_is_retrieved_far_above_chance(project: Path, shared_data: Callable[[str], Path]) -> None:
    from ragbench.old import data as datasets

    brought = datasets.foreign_sets.questions(shared_data("xquad/xquad.ru.json.gz"))
    chunks, questions = brought.chunks, brought.questions
    about = {"title": "XQuAD", "licence": "CC BY-SA 4.0", "source": "xquad.ru.json.gz", "language": "ru"}
    datasets.write("xquad-ru", project / "data", chunks=chunks, questions=questions, **about)
    found = tiers.tier1_retrieval("xquad-ru", "ngrams", metrics="hit_rate@1,mrr", resamples=1000)
    estimate = {e.metric: e.estimate for e in found.estimates}["mrr@10"]
    assert estimate.n == 894
    assert estimate.clusters == 36
    assert estimate.low is not None
    assert estimate.low > 0.5, "180 passages: chance is below 0.04"


def test_as_many_pages_are_ranked_as_were_asked_for_however_many_chunks_the_first_one_has(project: Path) -> None:
    data = project / "data" / "small"
    oak = [{"id": f"a{i}", "url": "/a", "text": f"The old oak stands in yard number {i}."} for i in range(6)]
    write_lines(data / "chunks.en.jsonl", [*oak, {"id": "b", "url": "/b", "text": "Salaries are paid monthly."}])
    asked = {"id": "q", "text": "Where does the old oak stand in the yard?", "relevant": {"b": 1}}
    write_lines(data / "questions.en.jsonl", [asked])
    found = tiers.tier1_retrieval(systems="ngrams", unit="url", k=2, metrics="mrr,recall@2", repeats=1)
    assert list(found.retrieved["url"]) == ["/a", "/b"]
    assert values(found, "ngrams", "mrr@2") == {"q": 0.5}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a, b,,a", ("a", "b")),
        (["a", " b "], ("a", "b")),
        ("", ()),
        ("ndcg(gain=exponential,ideal=graded)@10, mrr", ("ndcg(gain=exponential,ideal=graded)@10", "mrr")),
    ],
)
def test_names_stand_between_commas_outside_parentheses(given: str | list[str], expected: tuple[str, ...]) -> None:
    assert parted(given) == expected


@pytest.mark.usefixtures("project")
def test_a_metric_with_options_can_be_asked_for() -> None:
    made = tiers.tier1_retrieval(metrics="ndcg(gain=exponential)@3, mrr", repeats=1, timed_questions=0)
    assert {one.metric for one in made.estimates} == {"ndcg(gain=exponential)@3", "mrr@10"}


def test_questions_of_two_sources_are_sliced_by_them_and_listed(project: Path) -> None:
    rows = [
        {"id": name, "text": f"What of {name}?", "relevant": {"a1": 1}, "source": source}
        for name, source in (("q1", "real"), ("q2", "synthetic"), ("q3", "real"))
    ]
    write_lines(project / "data" / "small" / "questions.en.jsonl", rows)
    made = tiers.tier1_retrieval(systems="good", metrics="mrr", repeats=1, timed_questions=0, resamples=100)
    said = views.comparison.slices(Page(made)).html().striptags()
    assert "Source: real, 2 questions" in said
    assert "Source: synthetic, 1 question" in said
