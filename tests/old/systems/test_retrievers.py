"""Retrievers: BM25 against its formula and its library, hybrids against sums by hand, indexes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import bench_bm25
from ragbench.old.core.settings import EmbedderSettings, RetrieverSettings, Settings, SystemSettings
from ragbench.old.core.types import Chunk, Hit
from ragbench.old.store import Store, StoreError
from ragbench.old.systems import System, make, steps
from ragbench.old.systems.parts import retrievers
from ragbench.old.systems.parts.reranking import HybridRetriever, by_ranks, by_scores
from ragbench.old.systems.parts.retrievers import Bm25Retriever, tokens
from ragbench.old.systems.retrieval import Found
from tests.old.systems.test_systems import CHUNKS, DATASET, QUESTIONS, dataset_of, ids


def system_of(store: Store, retrievers: dict[str, Any], dataset: Any = DATASET, **system: Any) -> System:
    settings = Settings(
        embedders={"hashing": EmbedderSettings()},
        retrievers={name: RetrieverSettings(**one) for name, one in retrievers.items()},
        systems={"mine": SystemSettings(**system)},
    )
    return make("mine", settings, store, dataset)


# --- BM25


def by_hand(corpus: Sequence[Sequence[str]], query: Sequence[str], variant: str, k1: float, b: float) -> list[float]:
    """The formulas of Kamphuis et al. 2020, and of the package rank-bm25 (BM25Plus and BM25L), written out."""
    number, mean = len(corpus), sum(map(len, corpus)) / len(corpus)
    frequency = Counter(word for text in corpus for word in set(text))
    scores = []
    for text in corpus:
        counts, total = Counter(text), 0.0
        for word in query:
            df, tf = frequency[word], counts[word]
            if not df:
                continue
            length = 1 - b + b * len(text) / mean
            if variant == "lucene":
                total += math.log(1 + (number - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * length)
            elif variant == "atire":
                total += math.log(number / df) * tf * (k1 + 1) / (tf + k1 * length)
            elif variant == "robertson":
                total += max(0.0, math.log((number - df + 0.5) / (df + 0.5))) * tf / (tf + k1 * length)
            elif variant == "bm25+":
                total += math.log((number + 1) / df) * (1.0 + tf * (k1 + 1) / (k1 * length + tf))
            else:
                worth = tf / length + 0.5
                total += (math.log(number + 1) - math.log(df + 0.5)) * (k1 + 1) * worth / (k1 + worth)
        scores.append(total)
    return scores


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_scores_are_those_of_the_formula(variant: Any) -> None:
    chunks = [
        *CHUNKS,
        Chunk("c5", "Пароль, пароль и ещё раз пароль: сессия личного кабинета кончилась"),
        Chunk("c6", "и"),
    ]
    retriever = Bm25Retriever(RetrieverSettings(variant=variant), dataset_of(chunks, QUESTIONS, f"formula {variant}"))
    asked = ["пароли пароль", "сессия по будням", "совсем другое", "и на"]
    found = retriever.search(asked, 6)
    for text, hits in zip(asked, found.hits, strict=True):
        scores = by_hand([tokens(one.text) for one in chunks], tokens(text), variant, 1.5, 0.75)
        shared = [set(tokens(one.text)) & set(tokens(text)) for one in chunks]
        wanted = {c.id: s for c, s, words in zip(chunks, scores, shared, strict=True) if words and s > 0}
        assert [hit.chunk.id for hit in hits] == sorted(wanted, key=lambda name: (-wanted[name], name))
        assert [hit.similarity for hit in hits] == pytest.approx(sorted(wanted.values(), reverse=True), abs=1e-9)
    assert [len(hits) for hits in found.hits][2:] == [0, 0], "what shares no word that counts is not found"


def test_words_of_both_languages_are_stemmed_by_their_own() -> None:
    assert tokens("Как восстановить пароли от the libraries?") == ["восстанов", "парол", "librari"]
    assert tokens("и the на of") == []


@pytest.fixture(
    params=[
        "mtrag-un fiqa",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("xquad.ru", "xquad.en", "mtrag-un clapnq")),
    ]
)
def collection(request: pytest.FixtureRequest, shared_data: Any) -> bench_bm25.Collection:
    name, _, part = request.param.partition(" ")
    if part:
        return bench_bm25.multi_turn(shared_data("mtrag-un/mtragun_reference_clapnq_fiqa.jsonl.gz"), part)
    return bench_bm25.xquad(shared_data(f"xquad/{name}.json.gz"))


def test_ndcg_is_that_of_bm25s_by_hand_with_the_same_tokens(collection: bench_bm25.Collection) -> None:
    corpus = [tokens(chunk.text) for chunk in collection.chunks]
    for variant in bench_bm25.VARIANTS if "mtrag" in collection.name else ("lucene", "bm25+"):
        theirs = bench_bm25.ndcg(collection, corpus, bench_bm25.of_bm25s(corpus, variant))
        ours = bench_bm25.ours(collection, variant)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=bench_bm25.SAME)
        assert ours.mean() > 0.75


def test_ndcg_is_that_of_rank_bm25_with_the_same_tokens(collection: bench_bm25.Collection) -> None:
    """What is different by definition, and therefore left out or set, stands in benchmarks/bench_bm25.py."""
    pytest.importorskip("rank_bm25", reason="the peer rank-bm25 is not installed: pip install rank-bm25")
    corpus = [tokens(chunk.text) for chunk in collection.chunks]
    for variant in bench_bm25.VARIANTS:
        peer = bench_bm25.of_rank_bm25(corpus, variant)
        if peer is not None:
            theirs = bench_bm25.ndcg(collection, corpus, peer)
            np.testing.assert_allclose(bench_bm25.ours(collection, variant), theirs, rtol=0, atol=bench_bm25.SAME)


def test_bm25_is_a_system_without_a_table_and_no_stand_in(store: Store) -> None:
    system = system_of(store, {}, retriever="bm25")
    done: list[int] = []
    found = system.retrieve(QUESTIONS, 3, progress=done.append)
    assert [row[0] for row in ids(found)] == ["c1", "c2", "c4"]
    assert not found.is_stand_in
    assert (found.embed_ms, found.search_ms.shape) == (None, (3,))  # type: ignore[union-attr]
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))
    assert found.facts["retriever"] == "bm25"
    json.dumps([system.description, found.facts], allow_nan=False)


def test_an_index_is_made_once_for_what_it_is_made_of_and_finds_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = retrievers._made
    monkeypatch.setattr(
        retrievers, "_made", lambda settings, texts: made.append(settings.variant) or real(settings, texts)
    )

    def found(name: str, chunks: Sequence[Chunk] = CHUNKS, **settings: Any) -> Any:
        retrievers._KEPT.clear()  # as in another process
        kept_in = None if name == "alone" else store
        return Bm25Retriever(RetrieverSettings(**settings), dataset_of(chunks, QUESTIONS, name), kept_in).search(
            [question.text for question in QUESTIONS], 3
        )

    for variant in ("lucene", "bm25+"):
        assert found("first", variant=variant).hits == found("alone", variant=variant).hits
        made.clear()
        assert found("other questions", variant=variant).hits == found("first", variant=variant).hits
        assert made == []
    found("first", k1=1.2)
    found("first", b=0.5)
    found("first", variant="atire")
    found("one more", [*CHUNKS, Chunk("c5", "Что-то ещё")])
    found("other texts", [Chunk(chunk.id, chunk.text + "!") for chunk in CHUNKS])
    monkeypatch.setattr(retrievers, "version", lambda _: "another")
    found("first")
    assert len(made) == 6
    nothing = [Chunk("c1", "и"), Chunk("c2", "на")]
    assert [found(name, nothing).hits for name in ("nothing", "alone", "nothing")] == [[[]] * len(QUESTIONS)] * 3


# --- hybrids


def hits(**scores: float) -> list[Hit]:
    return [Hit(Chunk(name, name), score) for name, score in scores.items()]


def test_ranks_are_fused_by_hand() -> None:
    found = by_ranks([hits(a=9, b=8, c=7), hits(c=0.9, a=0.5, d=0.1)])
    wanted = {"a": 1 / 61 + 1 / 62, "c": 1 / 63 + 1 / 61, "b": 1 / 62, "d": 1 / 63}
    assert {hit.chunk.id: hit.similarity for hit in found} == pytest.approx(wanted)
    assert [hit.chunk.id for hit in found] == ["a", "c", "b", "d"]


def test_scores_are_fused_by_hand() -> None:
    found = by_scores([hits(a=9, b=8, c=5), hits(c=0.9, a=0.5, d=0.1)], (1.0, 2.0))
    assert {hit.chunk.id: hit.similarity for hit in found} == pytest.approx({"a": 2.0, "c": 2.0, "b": 0.75, "d": 0.0})
    assert [hit.chunk.id for hit in found] == ["a", "c", "b", "d"], "a tie goes by the id"
    assert [hit.similarity for hit in by_scores([hits(b=3, a=3), []], (1.0, 1.0))] == [1.0, 1.0]


def test_a_hybrid_is_fused_by_what_its_table_says(store: Store) -> None:
    tables: dict[str, Any] = {"bm25": {}, "dense": {"kind": "dense", "embedder": "hashing"}}
    parts = [system_of(store, tables, retriever=name).retrieve(QUESTIONS, 4).hits for name in tables]

    def fused(**how: Any) -> list[list[Hit]]:
        both = {"kind": "hybrid", "retrievers": tuple(tables), **how}
        return system_of(store, {**tables, "both": both}, retriever="both").retrieve(QUESTIONS, 4).hits

    rows = list(zip(*parts, strict=True))
    assert fused(constant=1.0) == [by_ranks(row, 1.0)[:4] for row in rows]
    assert fused(fusion="weighted", weights=(1.0, 5.0)) == [by_scores(row, (1.0, 5.0))[:4] for row in rows]
    assert [len(row) for row in fused(depth=1)] == [4] * len(QUESTIONS), "never fewer than are asked for"


class Told:
    """A retriever that finds what it is told, and takes as long as it is told."""

    is_stand_in = False
    description: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, found: list[Hit], errors: dict[int, str] | None = None, **milliseconds: float) -> None:
        self.found, self.milliseconds, self.errors = found, milliseconds, errors or {}

    def prepare(self, progress: Any = None) -> None:
        pass

    def search(self, texts: Sequence[str], k: int, **_: Any) -> Found:
        each = {stage: np.full(len(texts), ms) for stage, ms in self.milliseconds.items()}
        return Found([self.found[:k] for _ in texts], each, errors=self.errors)


def test_a_hybrid_takes_as_long_as_its_parts_together() -> None:
    settings = RetrieverSettings(kind="hybrid", retrievers=("a", "b"))
    parts = {"a": Told(hits(a=1), search=2.0), "b": Told(hits(b=1), embed=5.0, search=3.0)}
    found = HybridRetriever(settings, parts).search(["x", "y"], 3)
    assert {stage: list(ms) for stage, ms in found.milliseconds.items()} == {"search": [5.0] * 2, "embed": [5.0] * 2}


def test_a_hybrid_keeps_the_errors_of_all_its_parts() -> None:
    settings = RetrieverSettings(kind="hybrid", retrievers=("a", "b", "c"))
    parts = {
        "a": Told(hits(a=1), {2: "a is down", 0: "no vector"}),
        "b": Told(hits(b=1), {1: "b timed out", 2: "b is down"}),
        "c": Told(hits(c=1), {3: "c is down"}),
    }
    found = HybridRetriever(settings, parts).search(["w", "x", "y", "z"], 3)
    assert found.errors == {0: "no vector", 1: "b timed out", 2: "a: a is down; b: b is down", 3: "c is down"}


def test_a_passage_is_read_as_the_first_ranking_has_it_and_one_without_a_score_is_last() -> None:
    [found] = by_ranks([[Hit(Chunk("a", "its first piece"), 1.0)], [Hit(Chunk("a", "another"), 1.0)]])
    assert found.chunk.text == "its first piece"
    rest = [Hit(Chunk("a", "a"), 4.0), Hit(Chunk("b", "b"), 2.0), Hit(Chunk("c", "c"), None)]
    assert [hit.similarity for hit in by_scores([rest], (1.0,))] == [1.0, 0.5, 0.0]


@given(st.lists(st.integers(0, 3), max_size=12) | st.lists(st.integers(0, 99), min_size=220), st.integers(1, 6))
def test_the_best_are_the_first_of_all_in_order(scores: list[int], k: int) -> None:
    wanted = sorted((place for place, score in enumerate(scores) if score), key=lambda place: (-scores[place], place))
    assert retrievers.best(np.array(scores, float), k).tolist() == wanted[:k]


def test_passages_that_score_alike_come_by_their_ids_and_few_indexes_stay_in_memory() -> None:
    chunks = [Chunk(name, "пароль") for name in ("c10", "c9", "a1", "b")]
    done: list[int] = []
    for number in range(retrievers.MOST_KEPT + 2):
        retriever = Bm25Retriever(RetrieverSettings(), dataset_of(chunks, QUESTIONS, f"alike {number}"))
        found = retriever.search(["пароль", "пароль"], 3, progress=done.append)
    assert [[hit.chunk.id for hit in row] for row in found.hits] == [["a1", "b", "c10"]] * 2
    assert len(retrievers._KEPT) <= retrievers.MOST_KEPT
    assert sum(done) == 2 * 2 * (retrievers.MOST_KEPT + 2), "two steps a text"


def test_what_names_an_index_tells_where_a_text_ends() -> None:
    first, second = (retrievers._about(RetrieverSettings(), texts) for texts in (["ab", "c"], ["a", "bc"]))
    assert first != second


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6), min_size=2, max_size=3))
def test_fused_rankings_hold_each_passage_once_and_what_all_rank_first_stays_first(names: list[list[str]]) -> None:
    given_ones = [hits(**{name: -place for place, name in enumerate(one)}) for one in names]
    for found in (by_ranks(given_ones), by_scores(given_ones, (1.0,) * len(names))):
        fused = [hit.chunk.id for hit in found]
        assert sorted(fused) == sorted({name for one in names for name in one})
        firsts = {one[0] if one else None for one in names}
        if len(firsts) == 1 and None not in firsts:
            assert fused[0] in firsts


@pytest.mark.parametrize("fusion", ["rrf", "weighted"])
def test_a_hybrid_ranks_what_its_parts_rank(store: Store, fusion: str) -> None:
    tables = {
        "bm25": {}, "dense": {"kind": "dense", "embedder": "hashing"},
        "both": {"kind": "hybrid", "retrievers": ("bm25", "dense"), "fusion": fusion, "depth": 4},
    }  # fmt: skip
    done: list[int] = []
    system = system_of(store, tables, retriever="both")
    found = system.retrieve(QUESTIONS, 3, progress=done.append)
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))
    parts = [system_of(store, tables, retriever=name).retrieve(QUESTIONS, 4).hits for name in ("bm25", "dense")]
    for place, row in enumerate(found.hits):
        rows = [part[place] for part in parts]
        assert row == (by_ranks(rows) if fusion == "rrf" else by_scores(rows, (1.0, 1.0)))[:3]
    assert found.is_stand_in, "half of it is"
    assert found.facts["embedder"] == "hashing"
    alone = system.retrieve_one(QUESTIONS[0], 3).hits[0]  # type: ignore[attr-defined]
    assert [hit.chunk for hit in alone] == [hit.chunk for hit in found.hits[0]]
    near = [hit.similarity for hit in found.hits[0]]
    assert [hit.similarity for hit in alone] == pytest.approx(near, abs=1e-6), "PostgreSQL rounds another way"
    assert set(system.timed(QUESTIONS[0], 3)) == {"embed", "search"}  # type: ignore[attr-defined]
    json.dumps([system.description, found.facts], allow_nan=False)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({"a": {"kind": "dense"}}, "'dense', and no other, needs `embedder`"),
        ({"a": {"embedder": "hashing"}}, "'dense', and no other, needs `embedder`"),
        ({"a": {"kind": "hybrid"}}, "'hybrid', and no other, needs `retrievers`"),
        ({"a": {"kind": "hybrid", "retrievers": ["bm25", "bm25"]}}, "two or more, each once"),
        (
            {"a": {"kind": "hybrid", "retrievers": ["bm25", "none"]}},
            "there is no .retrievers.none.: legal are bm25",
        ),
        (
            {"a": {"kind": "dense", "embedder": "none"}},
            r"retrievers.a.embedder = 'none': .* embedders are auto, hashing",
        ),
        ({"a": {"kind": "hybrid", "retrievers": ["bm25", "b"], "weights": [1, 2]}}, "one for each of the 2"),
        (
            {"a": {"kind": "dense", "embedder": "hashing", "k1": 2}},
            "k1 = 2.0 is of kind 'bm25'; this is 'dense', which takes embedder, index, m, ",
        ),
        ({"a": {"depth": 9}}, "depth = 9 is of kind 'hybrid'; this is 'bm25', which takes variant, k1, b"),
        ({"a": {"index": "hnsw"}}, "index = 'hnsw' is of kind 'dense'; this is 'bm25'"),
        (
            {"a": {"kind": "hybrid", "retrievers": ["bm25", "b"], "fusion": "weighted", "constant": 1}},
            "constant = 1.0 is of fusion 'rrf'; this is 'weighted', which takes weights",
        ),
        (
            {"a": {"kind": "dense", "embedder": "hashing", "ef_search": 9}},
            "ef_search = 9 is of index 'hnsw' or 'own'; this is 'exact', which takes nothing of its own",
        ),
    ],
)
def test_retrievers_that_cannot_be_are_refused(tables: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Settings(retrievers=tables)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        (
            {"systems": {"a": {"retriever": "bm25", "index": "hnsw"}}},
            r"index = 'hnsw' is of the table .retrievers.bm25.; this system has retriever",
        ),
        ({"systems": {"a": {"embedder": "hashing", "index": "ivfflat", "m": 4}}}, "m = 4 is of index 'hnsw'"),
        (
            {"rerankers": {"a": {"kind": "endpoint", "base_url": "http://a", "model": "m", "batch": 2}}},
            "batch = 2 is of",
        ),
        ({"rewriters": {"a": {"kind": "hyde", "generator": "g", "number": 3}}}, "number = 3 is of kind 'queries'"),
        ({"chunkers": {"a": {"kind": "callable", "callable": "m:f", "size": 3}}}, "size = 3 is of kind 'words' or"),
        ({"chunkers": {"a": {"kind": "sentences", "overlap": 1}}}, "overlap = 1 is of kind 'words'"),
    ],
)
def test_options_of_another_kind_of_part_are_refused(tables: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Settings(**tables)


# --- indexes


def test_ivfflat_finds_what_exact_search_finds_when_it_looks_everywhere(store: Store) -> None:
    chunks = [Chunk(f"c{n:03}", f"{CHUNKS[n % 4].text} номер {n}") for n in range(60)]
    dataset = dataset_of(chunks, QUESTIONS, "many for lists")
    exact = system_of(store, {}, dataset, embedder="hashing").retrieve(QUESTIONS, 5)
    found = system_of(store, {}, dataset, embedder="hashing", index="ivfflat", lists=4, probes=4).retrieve(QUESTIONS, 5)
    assert found.facts["recall_against_exact"] == 1.0
    assert (found.facts["lists"], found.facts["probes"]) == (4, 4)
    near = [[round(hit.similarity, 5) for hit in row] for row in exact.hits]  # type: ignore[arg-type]
    assert [[round(hit.similarity, 5) for hit in row] for row in found.hits] == near  # type: ignore[arg-type]


@pytest.mark.parametrize("lists", [None, 2])
def test_an_index_for_too_few_passages_is_refused_before_anything_is_embedded(store: Store, lists: int | None) -> None:
    with pytest.raises(StoreError, match=r'index = "ivfflat".* 4 passages: .* set index = "exact"'):
        system_of(store, {}, embedder="hashing", index="ivfflat", lists=lists)
