"""Curves, slices, repeats and clock readings of Tier 1, against values made by hand."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import parse
from ragbench.old.core.progress import Progress
from ragbench.old.core.types import Chunk, Hit, Question
from ragbench.old.core.types.reason import kept
from ragbench.old.metrics import catalogue, ranking_arrays
from ragbench.old.systems import Retrieval
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.session import Session
from ragbench.old.tiers.retrieval import reading, timing
from ragbench.old.views import Page
from tests.old.small_project import write_lines
from tests.old.views.measurements import placed

SURE = Sureness(0.95, 1_000, 0)
BUILT = ("index", "m", "ef_construction", "ef_search")


def test_a_curve_is_the_metric_at_every_depth() -> None:
    ranking = ranking_arrays.from_lists([["a", "b", "c"], ["x", "y", "b"]], [{"a": 1, "c": 1}, {"b": 1}])
    table = placed(reading.by_depth({"one": ranking}, 3, None, SURE)).set_index(["metric", "k"])["value"]
    assert list(table["recall"]) == [0.25, 0.25, 1.0]
    assert list(table["ndcg"]) == pytest.approx(
        [0.5, (1 / (1 + 1 / np.log2(3))) / 2, ((1.5 / (1 + 1 / np.log2(3))) + 0.5) / 2]
    )


def test_a_ranking_of_one_has_no_curve_and_a_deep_one_few_points() -> None:
    ranking = ranking_arrays.from_lists([["a"]], [{"a": 1}])
    assert reading.by_depth({"one": ranking}, 1, None, SURE) == ()
    deep = reading.depths(1000)
    assert (deep[0], deep[-1]) == (1, 1000)
    assert len(deep) <= 25
    assert reading.depths(10) == list(range(1, 11))


def asked(kinds: list[str | None]) -> list[Question]:
    return [Question(f"q{n:03}", "?", relevant={"a": 1}, kind=kind, language="en") for n, kind in enumerate(kinds)]


def scores(values: dict[str, list[float]]) -> pd.DataFrame:
    rows = [
        (system, "mrr", f"q{n:03}", value, "ok", "", None)
        for system, column in values.items()
        for n, value in enumerate(column)
    ]
    return pd.DataFrame(rows, columns=["system", "metric", "sample", "value", "status", "reason", "judge"])


def sliced(kinds: list[str | None], base: list[float], new: list[float], **more: object) -> pd.DataFrame:
    catalogue()
    table = scores({"base": base, "new": new})
    systems, metric = ["base", "new"], parse("mrr")
    by = ("kind", "language")
    return placed(design.of_slices(table, metric, systems, asked(kinds), by, more.get("clusters"), SURE))


def test_a_slice_holds_its_questions_alone_and_small_ones_have_no_verdict() -> None:
    kinds = ["long"] * 30 + ["short"] * 20 + ["rare"] * 19 + [None] * 2
    base = [0.0] * 30 + [0.5] * 20 + [0.0] * 21
    new = [1.0] * 30 + [0.5] * 20 + [1.0] * 21
    table = sliced(kinds, base, new)
    own = table[table["system"] == "new"].set_index("slice")
    every = ["kind:long", "kind:short", "kind:rare", "kind"]
    assert list(own.index) == every, "the largest first; all are of one language: nothing to slice by"
    assert list(own["n"]) == [30, 20, 19, 2], "twenty questions are the fewest"
    assert list(own["value"]) == [1.0, 0.5, 1.0, 1.0]
    against = table[table["challenger"] == "new"].set_index("slice")["verdict"]
    assert against.to_dict() == {"kind:long": "better", "kind:short": "not shown"}
    assert set(table["family"].dropna()) == {"2, max-T"}, "the small ones are not in the family"
    assert design.FEWEST == 20, "as the page says"


def test_slices_respect_clusters() -> None:
    kinds = ["a"] * 40 + ["b"] * 40
    clusters = {f"q{n:03}": f"c{n // 2}" for n in range(80)}
    rng = np.random.default_rng(0)
    base, new = ([float(value) for value in rng.random(80)] for _ in range(2))
    table = sliced(kinds, base, new, clusters=clusters)
    assert table["system"].notna().sum() == 4
    assert table["challenger"].notna().sum() == 2
    assert set(table["clusters"]) == {20}


def test_only_the_largest_slices_are_shown_and_the_others_counted() -> None:
    kinds: list[str | None] = [f"kind {n % 15:02}" for n in range(60)]
    table = sliced(kinds, [0.0] * 60, [1.0] * 60)
    assert table["slice"].nunique() == design.MOST
    assert design.left_out(asked(kinds), ("kind", "language")) == {"kind": 3}


@pytest.mark.parametrize(("given", "expected"), [("kind, source", ("kind", "source")), ([], ()), ("", ())])
def test_slices_are_named_by_text_or_list(given: str | list[str], expected: tuple[str, ...]) -> None:
    assert design.chosen(given) == expected


def hits(*names: str) -> list[Hit]:
    return [Hit(Chunk(name, name, f"/{name[0]}")) for name in names]


def repeated(runs: list[list[Hit]], unit: str = "chunk", k: int = 2) -> tuple[float, str, str]:
    catalogue()
    found = [Retrieval([run]) for run in runs]
    [row] = timing.rows("s", parse("retrieval_consistency"), asked(["x"]), found, len(runs), unit, k)
    return row[3], row[4], row[5]


def test_repeats_are_compared_with_the_first_run_in_order() -> None:
    first = hits("a1", "b1", "c1")
    assert repeated([first, first, hits("b1", "a1"), hits("a1", "b1", "d1")])[0] == pytest.approx(2 / 3)
    assert repeated([hits("a1", "a2", "b1"), hits("a2", "b2", "a1")], "url")[0] == 1.0, "the same pages"


def test_one_run_is_no_repeat() -> None:
    value, status, reason = repeated([hits("a1")])
    assert np.isnan(value)
    assert (status, reason) == ("missing_field", kept(timing.ONCE))


def test_a_question_that_failed_in_one_run_is_unmeasured() -> None:
    catalogue()
    failed = Retrieval([[]], errors={"q000": "down"})
    runs = [Retrieval([hits("a1")]), failed]
    [row] = timing.rows("s", parse("retrieval_consistency"), asked(["x"]), runs, 2, "chunk", 1)
    assert np.isnan(row[3])


@pytest.fixture
def with_function(project: Path) -> Path:
    """The small project with a system that answers otherwise at every call, and questions of two kinds."""
    name = f"unsteady_{abs(hash(str(project)))}"
    (project / f"{name}.py").write_text(
        "calls = [0]\ndef search(text, k):\n    calls[0] += 1\n"
        "    return ['a1', 'b1'] if calls[0] % 2 else ['b1', 'a1']\n",
        encoding="utf-8",
    )
    path = project / "ragbench.toml"
    path.write_text(path.read_text() + f'[systems.unsteady]\ncallable = "{name}:search"\n', encoding="utf-8")
    questions = project / "data" / "small" / "questions.en.jsonl"
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    write_lines(questions, [{**row, "kind": "odd" if row["id"] in ("q1", "q3") else "even"} for row in rows])
    return project


def estimates(found: Measurement, metric: str) -> dict[str, float]:
    return {e.system: e.estimate.value for e in found.estimates if e.metric == metric}


@pytest.mark.usefixtures("with_function")
def test_every_system_is_asked_anew() -> None:
    found = tiers.tier1_retrieval(systems="poor,ngrams,unsteady", repeats=3, k=2)
    steady = estimates(found, "retrieval_consistency")
    assert steady["ngrams"] == 1.0
    assert steady["unsteady"] == 0.5, "three questions a run: the second run differs, the third does not"
    assert np.isnan(steady["poor"])
    reasons = found.scores.query("metric == 'retrieval_consistency' and system == 'poor'")["reason"]
    assert set(reasons) == {kept(timing.LOGGED)}
    assert {c.comparison.challenger for c in found.comparisons if c.metric == "retrieval_consistency"} == set()


def test_a_repeat_embeds_the_question_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old.embed.hashing import HashingEmbedder

    embedded: list[str] = []
    embed = HashingEmbedder.embed

    def counted(self: HashingEmbedder, texts: list[str], *, kind: str = "passage") -> np.ndarray:
        embedded.extend(texts if kind == "query" else [])
        return embed(self, texts, kind=kind)

    monkeypatch.setattr(HashingEmbedder, "embed", counted)
    tiers.tier1_retrieval(systems="ngrams", repeats=1, timed_questions=0, ef_searches=())
    embedded.clear()
    tiers.tier1_retrieval(systems="ngrams", repeats=4, timed_questions=0, ef_searches=())
    assert len(embedded) == 3 * 3, "three questions, three repeats; the first run reads what is stored"


@pytest.mark.usefixtures("with_function")
def test_clock_readings_are_taken_once_and_shown_again() -> None:
    how = {"systems": "ngrams,unsteady,poor", "repeats": 1, "k": 3, "ef_searches": [7]}
    first, again = tiers.tier1_retrieval(**how), tiers.tier1_retrieval(**how)
    for name in ("latencies", "misses"):
        pd.testing.assert_frame_equal(first.extra[name], again.extra[name])
    assert first.estimates_by("step", "probability") == again.estimates_by("step", "probability") != []
    assert set(map(tuple, first.extra["latencies"][["system", "part"]].to_numpy())) == {
        ("ngrams", "embed"), ("ngrams", "search"), ("unsteady", "call")
    }  # fmt: skip
    assert (first.extra["latencies"]["ms"] > 0).all()
    [exact], [median, recall] = first.estimates_by("index"), first.estimates_by(*BUILT)
    assert (exact.metric, exact.where) == ("median_latency", {"index": "exact"})
    assert (median.metric, median.where["ef_search"]) == ("median_latency", 7)
    assert median.where == recall.where
    assert (recall.metric, recall.estimate.value) == ("recall_against_exact", 1.0), "five chunks: the graph finds all"
    assert [*again.estimates_by("index"), *again.estimates_by(*BUILT)] == [exact, median, recall]
    fresh = tiers.tier1_retrieval(**how, fresh_timings=True)
    assert not fresh.extra["latencies"]["ms"].equals(first.extra["latencies"]["ms"])


@pytest.mark.usefixtures("with_function")
def test_the_clock_has_a_bar_while_it_measures_and_none_where_readings_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Progress] = []

    def watched(session: Session, label: str, total: int) -> Progress:
        begun.append(Progress(label, total, session.folder))
        return begun[-1]

    monkeypatch.setattr(Session, "progress", watched)
    how = {"systems": "ngrams,unsteady", "repeats": 1, "k": 3, "ef_searches": [7, 9]}
    tiers.tier1_retrieval(**how, fresh_timings=True)
    clocks = {one.label: (one.done, one.total) for one in begun[2:]}
    assert clocks == {
        "ngrams, indexes": (9, 9),
        "ngrams, timed one by one": (6, 6),
        "unsteady, timed one by one": (6, 6),
    }
    begun.clear()
    tiers.tier1_retrieval(**how)
    assert [one.label for one in begun] == ["ngrams", "unsteady"]


def test_what_embeds_within_a_hybrid_is_searched_both_ways_too(project: Path) -> None:
    parts = """
        [embedders.short]
        kind = "hashing"
        buckets = 64
        [retrievers.vectors]
        kind = "dense"
        embedder = "hashing"
        [retrievers.few]
        kind = "dense"
        embedder = "short"
        [retrievers.both]
        kind = "hybrid"
        retrievers = ["bm25", "vectors"]
        [retrievers.other]
        kind = "hybrid"
        retrievers = ["bm25", "few"]
        [systems.both]
        retriever = "both"
        [systems.other]
        retriever = "other"
    """
    with (project / "ragbench.toml").open("a", encoding="utf-8") as file:
        file.write(textwrap.dedent(parts))
    settings.load.cache_clear()
    found = tiers.tier1_retrieval(systems="both,ngrams,other", repeats=1, k=3, ef_searches=[7])
    assert [one.system for one in found.estimates_by("index")] == ["ngrams"], "which has the vectors of `both`, alone"
    [exact] = found.estimates_by("index", "part")
    assert (exact.system, exact.where) == ("other", {"index": "exact", "part": "few"})
    assert {(one.system, one.metric) for one in found.estimates_by(*BUILT, "part")} == {
        ("other", "median_latency"), ("other", "recall_against_exact")
    }  # fmt: skip
    page = str(views.retrieval.speed(Page(found)).html())
    assert [page.count(one) for one in ("ngrams, both; m = 16", "other · few", "both · vectors")] == [1, 1, 0]
    missed = pd.DataFrame([("other", "few", 7, "q1", 0.5)], columns=list(timing.MISSES))
    page = str(views.retrieval.speed(Page(replace(found, extra={**found.extra, "misses": missed}))).html())
    assert "other · few HNSW, ef_search = 7" in page


@pytest.mark.usefixtures("project")
def test_nothing_is_timed_where_nothing_is_wanted() -> None:
    found = tiers.tier1_retrieval(systems="ngrams", repeats=1, timed_questions=0)
    assert not len(found.extra["latencies"])
    assert found.estimates_by("step", "probability") == []
    assert found.estimates_by("index") == found.estimates_by(*BUILT) == []


def test_questions_are_timed_at_even_steps() -> None:
    clock = timing.Clock(3, (), False)
    assert timing.chosen(asked(["x"] * 9), clock) == [0, 4, 8]
    assert timing.chosen(asked(["x"] * 2), clock) == [0, 1]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("scanned", "exact"), [(1, 2), (10**9, 3)])
def test_exact_search_of_many_vectors_is_timed_on_some_questions(
    scanned: int, exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "SCANNED", scanned)
    monkeypatch.setattr(timing, "_evenly", lambda number, least: np.arange(0, number, 2))
    found = tiers.tier1_retrieval(systems="ngrams", k=2, slice_by="", repeats=1, ef_searches=[7], fresh_timings=True)
    [of_exact], of_index = found.estimates_by("index"), found.estimates_by(*BUILT)
    assert (of_exact.estimate.n, {one.estimate.n for one in of_index}) == (exact, {3})
    assert of_exact.estimate.value > 0
    page = str(views.retrieval.speed(Page(found)).html())
    assert ("timed on 2 of the questions" in page) == (exact == 2)


def test_few_are_taken_at_even_steps() -> None:
    assert timing._evenly(400, 100).tolist() == list(range(0, 400, 4))
    assert [len(timing._evenly(number, 100)) for number in (1, 99, 199, 200, 1000)] == [1, 99, 199, 100, 100]


def test_quantiles_are_of_both_parts_together_too() -> None:
    rows = [("s", f"q{n}", part, ms) for n in range(9) for part, ms in (("embed", 1.0 + n), ("search", 10.0))]
    table = placed(timing.quantiles(pd.DataFrame(rows, columns=list(timing.LATENCIES)), 0.95))
    median = table[table["probability"] == 0.5].set_index("step")["value"]
    assert dict(median) == {"embed": 5.0, "search": 10.0, "both": 15.0}
    assert set(table[table["probability"] == 0.99]["note"]) <= {"open_above", "open"}


def test_so_few_readings_that_all_ends_are_open_are_kept_and_drawn(project: Path) -> None:
    found = tiers.tier1_retrieval(systems="ngrams", k=2, slice_by="", timed_questions=3)
    index = [*found.estimates_by("index"), *found.estimates_by(*BUILT)]
    assert {one.estimate.low for one in index if one.metric == "median_latency"} == {None}
    found.save(project / "kept")
    for each in (found, Measurement.load(project / "kept")):
        assert "HNSW" in str(views.retrieval.speed(Page(each)).html())


def test_a_measurement_with_empty_parts_can_be_kept_and_read(project: Path) -> None:
    found = tiers.tier1_retrieval(systems="poor", k=1, slice_by="")
    found.save(project / "kept")
    again = Measurement.load(project / "kept")
    assert again.estimates_by("slice") == []
    assert again.estimates_by("k") == []


def test_names_of_slices_that_there_are_not_are_refused() -> None:
    with pytest.raises(BenchError, match="slice_by names 'author'"):
        design.chosen("kind, author")


@pytest.mark.parametrize("how", [{"index": "exact"}, {"index": "hnsw", "ef_search": 400}])
def test_a_question_by_itself_finds_what_it_finds_among_many(store, how: dict) -> None:
    from ragbench.old.core.settings import EmbedderSettings
    from ragbench.old.embed import make

    chunks = [Chunk(f"c{n:03}", f"Passage {n} tells of number {n * n} and of {n % 7}.") for n in range(120)]
    texts = [chunk.text for chunk in chunks]
    embedder = make("alone", EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=256), texts)
    store.load_chunks("hash-of-alone", "alone", chunks)
    store.embed(embedder, texts)
    queries = store.vectors(embedder, ["number 49", "passage 3", "of 5 and 25"], kind="query")
    together = store.search("hash-of-alone", embedder, queries, 8, **how)
    alone = store.search("hash-of-alone", embedder, queries, 8, batch=1, **how)
    assert alone.ids == together.ids
    np.testing.assert_allclose(alone.similarities, together.similarities, atol=1e-6)
    assert (alone.milliseconds > 0).all()
