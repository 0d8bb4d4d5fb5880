"""Parts before and after a search: pieces of passages, questions put anew, rankings looked at again."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.embed import wheels
from ragbench.settings import (
    ChunkerSettings,
    GeneratorSettings,
    RerankerSettings,
    RewriterSettings,
    Settings,
    SystemSettings,
)
from ragbench.store import Store
from ragbench.systems import Retrieval, RetrievalError, make, steps
from ragbench.systems.generation import Generation, Task
from ragbench.systems.parts import chunking
from ragbench.systems.parts.reranking import EndpointReranker, reranked
from ragbench.systems.parts.rewriting import FunctionRewriter, ModelRewriter, Rewritten
from ragbench.types import Chunk, Hit
from tests.chat_server import ChatServer
from tests.servers import embeddings_server
from tests.test_systems import CHUNKS, DATASET, QUESTIONS, dataset_of, ids

HERE = "tests.test_systems_parts"
CALLS: list[str] = []


def shorter(question: str, texts: list[str]) -> list[float]:
    """A reranker of somebody's own."""
    return [-len(text) for text in texts]


def choosy(question: str, texts: list[str]) -> list[float]:
    if "пароль" in question:
        raise RuntimeError("no passwords")
    return [0.0] * len(texts)


def none_at_all(question: str, texts: list[str]) -> list[float]:
    return []


def about_grants(question: str) -> str:
    CALLS.append(question)
    return "стипендия по итогам сессии"


def several(question: str) -> list[str]:
    return [question, "стипендию назначают"]


def mute(question: str) -> str:
    return "" if "пароль" in question else question


def halves(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])]


def ran(store: Store, k: int = 3, progress: Any = None, **given: Any) -> Retrieval:
    """Tables of parts by their kind's name, each called "it"; the system is of words."""
    tables = {f"{part}s": {"it": table} for part, table in given.items() if part != "generator"}
    generators = {"generators": {"model": given["generator"]}} if "generator" in given else {}
    named = {part: "it" for part in given if part != "generator"}
    settings = Settings(**tables, **generators, systems={"mine": SystemSettings(retriever="bm25", **named)})
    return make("mine", settings, store, DATASET).retrieve(QUESTIONS, k, progress=progress)


# --- pieces


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ChunkerSettings(size=3), ["a b c", "d e f", "go. He"]),
        (ChunkerSettings(size=4, overlap=2), ["a b c d", "c d e f", "e f go. He"]),
        (ChunkerSettings(kind="sentences", size=3), ["a b c d e f go.", "He"]),
        (ChunkerSettings(kind="sentences", size=100), ["a b c d e f go. He"]),
        (ChunkerSettings(kind="callable", callable=f"{HERE}:halves"), ["a b c d", "e f go. He"]),
    ],
)
def test_a_passage_is_cut_as_is_said(settings: ChunkerSettings, expected: list[str]) -> None:
    pieces = chunking.cut("it", settings, dataset_of([Chunk("c", "a b c d  e f\ngo. He", url="u")], ()))
    assert [piece.text for piece in pieces.dataset.chunks] == expected
    assert [piece.id for piece in pieces.dataset.chunks] == [f"c#{n:04}" for n in range(1, len(expected) + 1)]
    assert {piece.url for piece in pieces.dataset.chunks} == {"u"}


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(1, 8), st.randoms(use_true_random=False))
def test_as_many_passages_come_as_were_asked_for_whatever_pieces_are_found(
    numbers: list[int], k: int, random: Any
) -> None:
    chunks = [Chunk(f"c{n}", " ".join("w" * number)) for n, number in enumerate(numbers)]
    pieces = chunking.cut("it", ChunkerSettings(size=1), dataset_of(chunks, ()))
    assert len(pieces.dataset.chunks) == sum(numbers)
    found = [Hit(piece) for piece in pieces.dataset.chunks]
    random.shuffle(found)
    assert len(pieces.passages(found[: pieces.depth(k)])) >= min(k, len(chunks))


def test_a_passage_is_found_where_its_best_piece_is_and_read_as_that_piece(store: Store) -> None:
    done: list[int] = []
    found = ran(store, chunker=ChunkerSettings(size=4), progress=done.append)
    assert [row[0] for row in ids(found)] == ["c1", "c2", "c4"]
    assert all(len(set(row)) == len(row) for row in ids(found))
    assert found.hits[0][0].chunk.text == "Пароль от личного кабинета"
    assert found.facts["pieces"] == 8
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))


def test_a_chunker_that_gives_no_texts_is_refused(store: Store) -> None:
    with pytest.raises(RetrievalError, match=r"chunkers.it.callable = .*:shorter' failed at the passage 'Пароль"):
        ran(store, chunker=ChunkerSettings(kind="callable", callable=f"{HERE}:shorter"))


# --- questions put anew


def test_what_a_function_says_is_searched_for(store: Store) -> None:
    found = ran(store, rewriter=RewriterSettings(kind="callable", callable=f"{HERE}:about_grants"))
    assert [row[0] for row in ids(found)] == ["c3"] * 3
    assert found.part_ms["rewrite"].shape == (3,)
    assert CALLS[-3:] == [question.text for question in QUESTIONS]


def test_rankings_of_several_texts_are_fused(store: Store) -> None:
    done: list[int] = []
    rewriter = RewriterSettings(kind="callable", callable=f"{HERE}:several")
    found = ran(store, rewriter=rewriter, progress=done.append)
    assert [set(row) for row in ids(found)] == [{"c1", "c3"}, {"c2", "c3"}, {"c4", "c3"}]
    assert found.hits[0][0].similarity == pytest.approx(1 / 61)
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))


@pytest.mark.parametrize("part", ["rewriter", "reranker"])
def test_a_question_at_which_a_part_fails_is_counted(store: Store, part: str) -> None:
    tables = {
        "rewriter": RewriterSettings(kind="callable", callable=f"{HERE}:mute"),
        "reranker": RerankerSettings(kind="callable", callable=f"{HERE}:choosy"),
    }
    done: list[int] = []
    found = ran(store, **{part: tables[part]}, progress=done.append)
    assert list(found.errors) == ["q1"]
    assert {"rewriter": "none of them empty", "reranker": "RuntimeError: no passwords"}[part] in found.errors["q1"]
    assert [bool(row) for row in found.hits] == [False, True, True]
    assert found.facts["errors"] == 1
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))


def test_a_part_that_fails_at_every_question_is_an_error(store: Store) -> None:
    with pytest.raises(RetrievalError, match=r"its reranker failed for all 3 questions: .* one finite score"):
        ran(store, reranker=RerankerSettings(kind="callable", callable=f"{HERE}:none_at_all"))


@pytest.mark.parametrize(
    ("kind", "reply", "first"),
    [("rewrite", "Когда заселяют общежитие?", {"c2"}), ("hyde", "Стипендию назначают по итогам", {"c3"}),
     ("queries", "1. когда общежитие\n2) стипендия\n", {"c1", "c2", "c3", "c4"})],
)  # fmt: skip
def test_a_model_is_asked_once_for_a_question_and_its_words_are_searched_for(
    store: Store, kind: Any, reply: str, first: set[str]
) -> None:
    with ChatServer(answer=lambda body: reply).running() as server:
        model = GeneratorSettings(kind="openai", model=f"m-{kind}", base_url=server.url)
        parts = {"generator": model, "rewriter": RewriterSettings(kind=kind, generator="model")}
        found, again = ran(store, **parts), ran(store, **parts)
        assert server.calls == len(QUESTIONS), "the second run reads the journal"
    assert again.hits == found.hits
    assert {name for row in ids(found) for name in row} == first
    assert (found.part_ms["rewrite"] > 0).all()
    assert found.facts["rewriter"]["model"] == f"m-{kind}"


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        ("rewrite", "  Когда?\n", ("Когда?",)),
        ("rewrite", " \n ", ()),
        ("queries", "1. a\n\n- b\n2) b\n• c\n3. d", ("?", "a", "b", "c")),
        ("queries", "1. ?\n", ("?",)),
        ("queries", "", ()),
    ],
)
def test_a_reply_is_read_as_what_to_search_for(kind: Any, reply: str, expected: tuple[str, ...]) -> None:
    table = RewriterSettings(kind=kind, generator="model", number=4)
    model = GeneratorSettings(kind="openai", model="m", base_url="http://localhost:1/v1")
    rewriter = ModelRewriter("it", table, model)
    assert rewriter._texts("?", reply) == expected
    assert rewriter.request(Task(QUESTIONS[0], ())).prompt == kind


def test_a_functions_texts_are_searched_for_once_each_and_none_is_empty() -> None:
    def given(texts: Any) -> Rewritten:
        rewriter = FunctionRewriter("it", RewriterSettings(kind="callable", callable=f"{HERE}:several"))
        rewriter._function = lambda _: texts
        return rewriter.rewrite(QUESTIONS[:1])[0]

    assert given(["a", "b", "a"]).texts == ("a", "b")
    assert [given(texts).texts for texts in (["a", " "], [], ["a", 1])] == [(), (), ()]


def test_a_models_words_take_as_long_as_its_reply_took(monkeypatch: pytest.MonkeyPatch) -> None:
    model = GeneratorSettings(kind="openai", model="m", base_url="http://localhost:1/v1")
    rewriter = ModelRewriter("it", RewriterSettings(kind="hyde", generator="model"), model)
    monkeypatch.setattr(rewriter, "generate", lambda _: [Generation("a passage", seconds=0.25)])
    assert rewriter.rewrite(QUESTIONS[:1]) == [Rewritten(("a passage",), "", 250.0)]


# --- looked at again


def test_the_first_passages_are_put_in_the_order_of_their_scores(store: Store) -> None:
    done: list[int] = []
    chunks = RerankerSettings(kind="callable", callable=f"{HERE}:shorter", depth=2)
    settings = Settings(rerankers={"it": chunks}, systems={"mine": SystemSettings(embedder="hashing", reranker="it")})
    plain = Settings(systems={"mine": SystemSettings(embedder="hashing")})
    before = make("mine", plain, store, DATASET).retrieve(QUESTIONS, 4).hits
    system: Any = make("mine", settings, store, DATASET)
    found = system.retrieve(QUESTIONS, 4, progress=done.append)
    for row, old in zip(found.hits, before, strict=True):
        assert [hit.chunk.id for hit in row[2:]] == [hit.chunk.id for hit in old[2:]]
        wanted = sorted(old[:2], key=lambda hit: len(hit.chunk.text))
        assert [hit.chunk.id for hit in row[:2]] == [hit.chunk.id for hit in wanted]
        assert [hit.similarity for hit in row] == [-len(hit.chunk.text) for hit in wanted] + [None, None]
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))
    assert set(system.timed(QUESTIONS[0], 4)) == {"embed", "search", "rerank"}
    assert system.dense is None
    json.dumps([system.description, found.facts], allow_nan=False)


class Scorer:
    """A reranker that counts its calls; `wanted` are its scores."""

    description: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, wanted: list[float], identity: str, asks_elsewhere: bool = False, depth: int = 9) -> None:
        self.name, self.identity, self.asks_elsewhere, self.wanted = "it", identity, asks_elsewhere, wanted
        self.settings = RerankerSettings(kind="callable", callable="m:f", depth=depth)
        self.calls: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        time.sleep(0.002)
        self.calls.append(question)
        return self.wanted[: len(texts)]


def test_scores_that_are_alike_leave_the_order_and_those_below_are_left_alone(store: Store) -> None:
    found = [Hit(Chunk(name, name), 9.0) for name in "abcd"]
    again, milliseconds = reranked(Scorer([1.0, 2.0, 1.0, 5.0], "", depth=3), store, "?", found, False)
    assert [hit.chunk.id for hit in again] == ["b", "a", "c", "d"]
    assert [hit.similarity for hit in again] == [2.0, 1.0, 1.0, None]
    assert milliseconds >= 2
    assert reranked(Scorer([], ""), store, "?", [], False) == ([], 0.0)


def test_a_score_is_kept_by_who_gave_it_to_what_and_read_anew_where_it_costs_nothing(store: Store) -> None:
    found = [Hit(Chunk(name, f"kept by {name}"), 1.0) for name in "ab"]
    local, paid = Scorer([1.0, 2.0], "kept by 1"), Scorer([2.0, 1.0], "kept by 2", asks_elsewhere=True)
    for question, fresh in (("one", False), ("one", False), ("two", False), ("one", True)):
        assert [hit.chunk.id for hit in reranked(local, store, question, found, fresh)[0]] == ["b", "a"]
        assert [hit.chunk.id for hit in reranked(paid, store, question, found, fresh)[0]] == ["a", "b"]
    reranked(local, store, "one", found[:1], False)
    assert (local.calls, paid.calls) == (["one", "two", "one", "one"], ["one", "two"])


@pytest.mark.parametrize("wanted", [[1.0], [1.0, float("inf")], [float("nan"), 1.0]])
def test_scores_that_are_none_are_refused(store: Store, wanted: list[float]) -> None:
    found = [Hit(Chunk(name, name), 1.0) for name in "ab"]
    with pytest.raises(ValueError, match="one finite score is expected for each of 2 texts"):
        reranked(Scorer(wanted, ""), store, "?", found, False)


def test_an_endpoints_scores_go_by_the_index_that_it_gives() -> None:
    it = RerankerSettings(kind="endpoint", model="m", base_url="http://localhost:1/v1")
    endpoint = EndpointReranker("it", it)
    rows = [
        {"index": 2, "relevance_score": 3},
        {"index": 0, "relevance_score": 1.5},
        {"index": 1, "relevance_score": 0},
    ]
    assert endpoint._read(json.dumps({"results": rows}).encode(), 3) == [1.5, 0.0, 3.0]
    with pytest.raises(ValueError, match="one finite score"):
        endpoint._read(json.dumps({"results": [*rows, rows[0]]}).encode(), 3)


def test_scores_of_an_endpoint_are_paid_for_once(store: Store) -> None:
    with embeddings_server() as server:
        it = RerankerSettings(kind="endpoint", model="rank-1", base_url=server.url)
        found, again = ran(store, reranker=it), ran(store, reranker=it)
        asked = [request for request in server.requests if "documents" in request]
    assert len(asked) == sum(bool(row) for row in found.hits)
    assert asked[0]["query"] == QUESTIONS[0].text
    assert again.hits == found.hits
    assert (again.part_ms["rerank"] == found.part_ms["rerank"]).all(), "the milliseconds are those of the first time"


@pytest.mark.parametrize(
    "change",
    [lambda reply: {}, lambda reply: {"results": [{"index": 0}]}, lambda reply: {"results": []}, lambda reply: [],
     lambda reply: {"results": [{**one, "relevance_score": "high"} for one in reply["results"]]},
     lambda reply: {"results": [{**one, "relevance_score": float("nan")} for one in reply["results"]]},
     lambda reply: {"results": [{**one, "index": 7} for one in reply["results"]]}],
)  # fmt: skip
def test_a_reply_that_is_no_score_a_passage_is_never_one(store: Store, change: Any) -> None:
    with embeddings_server() as server:
        server.change = change
        with pytest.raises(RetrievalError, match="reply that cannot be read"):
            ran(store, reranker=RerankerSettings(kind="endpoint", model="bad", base_url=server.url))


def test_an_endpoint_that_refuses_is_asked_no_more(store: Store) -> None:
    with embeddings_server() as server:
        server.script = [(401, {}, "{}")] * 9
        with pytest.raises(RetrievalError, match=r"rerankers.it \(none at .*HTTP 401"):
            ran(store, reranker=RerankerSettings(kind="endpoint", model="none", base_url=server.url))
        assert len(server.requests) == 1


@pytest.mark.slow
@pytest.mark.skipif(not wheels.is_installed("minilm"), reason="the extra `models` is not installed")
def test_a_cross_encoder_of_a_folder_is_read_and_its_scores_are_kept(store: Store, tmp_path: Path) -> None:
    """Its last layer is drawn at random: what is tried is the way to it."""
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(wheels.place("it", "minilm")), num_labels=1).save_pretrained(str(tmp_path / "ranker"))
    it = RerankerSettings(kind="cross_encoder", model=str(tmp_path / "ranker"))
    found, again = ran(store, reranker=it), ran(store, reranker=it)
    assert again.hits == found.hits
    assert (again.part_ms["rerank"] == found.part_ms["rerank"]).all()
    for row in found.hits:
        assert [hit.similarity for hit in row] == sorted((hit.similarity for hit in row), reverse=True)  # type: ignore


# --- tables


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"systems": {"a": {"callable": "m:f", "reranker": "it"}}}, "reranker = 'it' goes with embedder or retriever"),
        (
            {"systems": {"a": {"retriever": "bm25", "reranker": "it"}}},
            "systems.a.reranker = 'it': .*rerankers are none",
        ),
        ({"rewriters": {"a": {"kind": "hyde"}}}, "needs `generator`"),
        ({"rewriters": {"a": {"kind": "hyde", "generator": "extractive"}}}, "'extractive': it asks no model"),
        ({"rerankers": {"a": {"kind": "endpoint", "model": "m"}}}, "needs `base_url`"),
        ({"rerankers": {"a": {"kind": "cross_encoder"}}}, "needs `model`"),
        ({"rerankers": {"a": {"kind": "callable"}}}, "needs `callable`"),
        ({"chunkers": {"a": {"size": 5, "overlap": 5}}}, "overlap = 5 is not below size = 5"),
    ],
)
def test_parts_that_cannot_be_are_refused(given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Settings(**given)
