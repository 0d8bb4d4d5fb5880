"""Parts before and after a search: pieces of passages, questions put anew, rankings looked at again."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core import gaps
from ragbench.old.core.language import translator
from ragbench.old.core.settings import (
    ChunkerSettings,
    EmbedderSettings,
    GeneratorSettings,
    RerankerSettings,
    RewriterSettings,
    Settings,
    SystemSettings,
)
from ragbench.old.core.types import Chunk, EmbeddingError, Hit
from ragbench.old.embed import wheels
from ragbench.old.embed.hashing import HashingEmbedder
from ragbench.old.store import Store
from ragbench.old.systems import Retrieval, RetrievalError, make, once, steps
from ragbench.old.systems.generation import Generation, Task
from ragbench.old.systems.parts import pre_retrieval
from ragbench.old.systems.parts.pre_retrieval import FunctionRewriter, ModelRewriter, Rewritten
from ragbench.old.systems.parts.reranking import EndpointReranker, reranked
from tests.old.embed.servers import embeddings_server
from tests.old.llm.chat_server import ChatServer
from tests.old.systems.test_systems import CHUNKS, DATASET, QUESTIONS, dataset_of, ids

HERE = "tests.old.systems.test_parts"
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


def louder(text: str) -> list[str]:
    return [text.upper()]


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
        (ChunkerSettings(size=3), {(0, 5): "a b c", (6, 12): "d  e f", (13, 19): "go. He"}),
        (ChunkerSettings(size=4, overlap=2), {(0, 7): "a b c d", (4, 12): "c d  e f", (9, 19): "e f\ngo. He"}),
        (ChunkerSettings(kind="sentences", size=3), {(0, 16): "a b c d  e f\ngo.", (17, 19): "He"}),
        (ChunkerSettings(kind="sentences", size=100), {(0, 19): "a b c d  e f\ngo. He"}),
        (ChunkerSettings(kind="callable", callable=f"{HERE}:halves"), {(0, 7): "a b c d", (9, 19): "e f go. He"}),
    ],
)
def test_a_passage_is_cut_as_is_said_and_each_piece_knows_its_place(
    settings: ChunkerSettings, expected: dict[tuple[int, int], str]
) -> None:
    pieces: Any = pre_retrieval.cut("it", settings, dataset_of([Chunk("c", "a b c d  e f\ngo. He", url="u")], ()))
    assert {(piece.start, piece.end): piece.text for piece in pieces.dataset.chunks} == expected
    assert [piece.id for piece in pieces.dataset.chunks] == [f"c#{start:05}-{end:05}" for start, end in expected]
    assert {(piece.url, piece.passage) for piece in pieces.dataset.chunks} == {("u", "c")}


@given(st.text("ab. \n", min_size=1, max_size=40).filter(str.strip), st.integers(1, 5), st.integers(0, 4))
def test_all_words_of_a_passage_are_in_its_pieces_where_they_say(text: str, size: int, overlap: int) -> None:
    settings = ChunkerSettings(size=size, overlap=min(overlap, size - 1))
    pieces: Any = pre_retrieval.cut("it", settings, dataset_of([Chunk("c", text)], ()))
    seen = set[int]()
    for piece in pieces.dataset.chunks:
        assert piece.text == text[piece.start : piece.end]
        seen |= set(range(piece.start, piece.end))
    assert all(text[place].isspace() for place in set(range(len(text))) - seen)


@pytest.mark.parametrize(
    ("pieces", "places"),
    [
        (["one two", "two three"], [(0, 7), (4, 14)]),  # they overlap
        (["one", "one"], [(0, 3), (15, 18)]),  # the second is behind the first
        (["two  three\none"], [(4, 18)]),  # white space differs
        ([" one "], [(0, 3)]),
    ],
)
def test_a_text_is_found_behind_the_one_before_it(pieces: list[str], places: list[tuple[int, int]]) -> None:
    assert [one[:2] for one in pre_retrieval.located("one two  three one", pieces)] == places


@pytest.mark.parametrize("pieces", [["one TWO"], ["three", "one two"]])
def test_a_text_that_is_not_there_or_not_in_order_is_found_nowhere(pieces: list[str]) -> None:
    with pytest.raises(LookupError):
        list(pre_retrieval.located("one two three", pieces))


def test_pieces_are_what_is_ranked_and_read(store: Store) -> None:
    done: list[int] = []
    found = ran(store, chunker=ChunkerSettings(size=4), progress=done.append)
    assert [row[0].chunk.passage for row in found.hits] == ["c1", "c2", "c4"]
    assert all(len(set(row)) == len(row) for row in ids(found))
    assert found.hits[0][0].chunk.text == "Пароль от личного кабинета"
    assert found.facts["pieces"] == 8
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))


def test_a_chunker_that_gives_no_texts_is_refused(store: Store) -> None:
    with pytest.raises(RetrievalError, match=r":shorter': it takes .*, and is called with a text"):
        ran(store, chunker=ChunkerSettings(kind="callable", callable=f"{HERE}:shorter"))
    with pytest.raises(RetrievalError, match=r"louder' gave 'ПАРОЛЬ .* does not stand in the passage c1, 'Пароль"):
        ran(store, chunker=ChunkerSettings(kind="callable", callable=f"{HERE}:louder"))


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
    table = RewriterSettings(kind=kind, generator="model", **({"number": 4} if kind == "queries" else {}))
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


# --- what fails at some questions


def picky(text: str) -> list[str]:
    if "общежитие" in text.lower():
        raise RuntimeError("no halls")
    return text.split(". ")


def test_a_passage_at_which_a_chunker_fails_stays_whole_and_is_counted(store: Store) -> None:
    found = ran(store, chunker=ChunkerSettings(kind="callable", callable=f"{HERE}:picky"))
    refused = [chunk for chunk in CHUNKS if "общежитие" in chunk.text.lower()]
    assert 0 < len(refused) < len(CHUNKS)
    assert (found.facts["uncut"], found.facts["uncut_of"]) == (len(refused), len(CHUNKS))
    assert "RuntimeError: no halls" in found.facts["uncut_first"][0]
    assert any(row[0].chunk.text == refused[0].text for row in found.hits if row)
    [one] = gaps.raised({"systems": [{"name": "mine", **found.facts}], "n_questions": 3})
    said = gaps.raised_sentence(one, translator("en"))
    assert said.startswith(f"the chunker of mine failed at {len(refused)} of {len(CHUNKS)} passages, searched whole: ")
    assert gaps.raised({"raised": [one.fact]}) == (one,)


@pytest.mark.parametrize("value", [float("nan"), 0.0])
@pytest.mark.parametrize("again", [False, True])
def test_a_question_whose_vector_cannot_be_used_is_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch, value: float, again: bool
) -> None:
    """Also where questions are embedded anew; the others find what they found."""
    settings = Settings(embedders={"e": EmbedderSettings(max_characters=9_000 + again + 2 * (value == 0))},
                        systems={"mine": SystemSettings(embedder="e")})  # fmt: skip
    system: Any = make("mine", settings, store, DATASET)
    whole = system.retrieve(QUESTIONS[1:], 2)
    embedder = system.retriever.embedder
    right = embedder.embed
    wrong = QUESTIONS[0].text

    def embed(texts: Any, *, kind: Any = "passage") -> Any:
        vectors = right(texts, kind=kind).copy()
        vectors[[place for place, text in enumerate(texts) if text == wrong]] = value
        return vectors

    monkeypatch.setattr(embedder, "embed", embed)
    done: list[int] = []
    found = system.retrieve(QUESTIONS, 2, progress=done.append, fresh=again)
    assert list(found.errors) == [QUESTIONS[0].id]
    assert ("NaN" if value != 0 else "zero") in found.errors[QUESTIONS[0].id]
    assert found.hits == [[], *whole.hits]
    assert found.facts["errors"] == 1
    assert sum(done) == steps(0 if again else len(CHUNKS), len(QUESTIONS))
    monkeypatch.setattr(embedder, "embed", lambda texts, kind="passage": right(texts, kind=kind) * value)
    with pytest.raises(EmbeddingError, match="for 3 of 3 texts"):
        system.retrieve(QUESTIONS, 2, fresh=True)


def test_an_endpoint_that_dies_is_asked_no_more_and_the_rest_is_counted(store: Store) -> None:
    many = [replace(QUESTIONS[0], id=f"m{n}", text=f"{QUESTIONS[0].text} {n}") for n in range(16)]
    with embeddings_server() as server:
        url = server.url
        it = RerankerSettings(kind="endpoint", model="dies", base_url=url, attempts=1, connect_seconds=1)
        settings = Settings(rerankers={"it": it}, systems={"mine": SystemSettings(retriever="bm25", reranker="it")})
        system = make("mine", settings, store, DATASET)
        server.script = []
        first = system.retrieve(many[:10], 2)
        assert not first.errors
        server.script = [(503, {}, "down")] * 50
        asked = len(server.requests)
        found = system.retrieve(many, 2)
        assert len(server.requests) - asked == 3
    assert [bool(row) for row in found.hits] == [True] * 10 + [False] * 6
    assert found.facts["errors"] == 6
    reasons = " ".join(found.facts["errors_first"])
    assert "HTTP 503" in reasons
    assert "not asked: the calls before it failed one after the other; run again to go on" in reasons


def test_an_endpoint_that_is_busy_for_a_while_loses_nothing(store: Store) -> None:
    with embeddings_server() as server:
        server.script = [(429, {"Retry-After": "0"}, "slow down")] * 2
        found = ran(store, reranker=RerankerSettings(kind="endpoint", model="busy", base_url=server.url))
    assert not found.errors
    assert all(found.hits)


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
@pytest.mark.skipif(bool(wheels.lacking("minilm")), reason="the extra `models` is not installed")
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


def test_retrievers_of_one_embedder_embed_a_repeat_once_and_each_repeat_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        embedders={"e": EmbedderSettings(kind="hashing")},
        systems={"one": SystemSettings(embedder="e"), "two": SystemSettings(embedder="e")},
    )
    opened = once(store)
    one, two = (make(name, settings, store, DATASET, opened) for name in ("one", "two"))
    asked: list[int] = []
    right = HashingEmbedder.embed

    def embed(self: Any, texts: Any, *, kind: Any = "passage") -> Any:
        asked.append(len(texts))
        return right(self, texts, kind=kind)

    first = [system.retrieve(QUESTIONS, 2).hits for system in (one, two)]
    monkeypatch.setattr(HashingEmbedder, "embed", embed)
    for _ in range(2):
        assert one.retrieve(QUESTIONS, 2, fresh=True).hits == first[0]
    assert asked == [len(QUESTIONS)] * 2, "a repeat that only read what another one made would show nothing"
    done: list[int] = []
    for _ in range(3):
        assert two.retrieve(QUESTIONS, 2, progress=done.append, fresh=True).hits == first[1]
    assert asked == [len(QUESTIONS)] * 3
    assert sum(done) == 3 * steps(0, len(QUESTIONS))
    two.timed(QUESTIONS[0], 2)
    assert asked[3:] == [1], "what is timed is done"
    apart = make("two", settings, store, DATASET)
    apart.retrieve(QUESTIONS, 2, fresh=True)
    assert asked[4:] == [len(QUESTIONS)], "another embedder's are another's"
