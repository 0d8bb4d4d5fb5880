"""Passages that systems return as ids, texts, texts behind titles, or pieces of a splitter of their own."""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.settings import ChunkerSettings
from ragbench.old.core.types import Chunk, Piece
from ragbench.old.data import load
from ragbench.old.systems.frameworks import adapted
from ragbench.old.systems.parts.pre_retrieval import cut
from ragbench.old.systems.passages import How, ItemReader, Passages, letters
from ragbench.old.systems.retrieval import RetrievalError

DATA = Path(__file__).parents[3] / "data"
CAMPUS = {name: load(f"campus:{name}", DATA) for name in ("en", "ru")}
BASE = CAMPUS["en"].chunks


def read(items: Sequence[Any], chunks: Sequence[Chunk] = BASE, wanted: Sequence[str] = ()) -> tuple[Any, ItemReader]:
    reader = ItemReader(Passages.of(chunks))
    return reader.hits(items, len(items), wanted), reader


def found(items: Sequence[Any], chunks: Sequence[Chunk] = BASE) -> list[str]:
    """The passages that the items are known as."""
    return [hit.chunk.passage for hit in read(items, chunks)[0]]


AS: dict[str, tuple[Callable[[Chunk], Any], How]] = {
    "id": (lambda one: one.id, How.ID),
    "id in a record": (lambda one: {"id": f" {one.id}\n", "text": "another wording"}, How.ID),
    "its store's id": (lambda one: {"id": "3f1c", "stored_id": one.id}, How.ID),
    "text": (lambda one: one.text, How.TEXT),
    "one newline more": (lambda one: one.text + "\n", How.TEXT),
    "title and text": (lambda one: f"{one.title}\n{one.text}", How.TEXT),
    "title, section, text": (lambda one: f"# {one.title}\n\n## {one.section}\n\n{one.text}", How.TEXT),
    "title: text in a record": (lambda one: {"id": "9", "text": f"{one.title}: {one.text}"}, How.TEXT),
    "broken lines": (lambda one: textwrap.fill(one.text, 40), How.TEXT),
    "another form of Unicode": (lambda one: unicodedata.normalize("NFD", one.text).replace(" ", "\u00a0"), How.TEXT),
    "soft hyphens": (lambda one: one.text.replace("e", "e\u00ad"), How.TEXT),
    "quotes turned": (lambda one: one.text.replace("'", "’").replace(" - ", " — "), How.TEXT),
    "its address below": (lambda one: f"{one.text}\n\nSource: {one.url}", How.OVERLAP),
    "all but its first letters": (lambda one: one.text[9:], How.OVERLAP),
    "an excerpt of a dozen words": (lambda one: " ".join(one.text.split()[15:40]), How.OVERLAP),
    "an excerpt in another form of Unicode": (
        lambda one: unicodedata.normalize("NFD", " ".join(one.text.split()[15:40])),
        How.OVERLAP,
    ),
    "an edited word": (lambda one: one.text.replace("the", "a", 1), How.OVERLAP),
    "of a passage with its id": (lambda one: {"id": "u", "text": "reworded by a model", "source_id": one.id}, How.ID),
}


@pytest.mark.parametrize("how", AS)
@pytest.mark.parametrize("language", CAMPUS)
def test_a_passage_is_known_however_it_is_returned(language: str, how: str) -> None:
    chunks, (write, known) = CAMPUS[language].chunks, AS[how]
    items = [write(one) for one in chunks]
    hits, reader = read(items, chunks)
    assert [hit.chunk.passage for hit in hits] == [one.id for one in chunks]
    if how not in (
        "quotes turned",
        "an edited word",
        "soft hyphens",
    ):  # where there is nothing to change, it is the text
        assert reader.known == {known: len(chunks)}
    if known is not How.OVERLAP and how != "an edited word":
        assert [hit.chunk for hit in hits] == list(chunks), "a known passage comes as the base has it"


@pytest.mark.parametrize("language", CAMPUS)
@pytest.mark.parametrize("how", [{"size": 20, "overlap": 5}, {"size": 50}, {"kind": "sentences", "size": 30}])
def test_a_foreign_piece_is_the_piece_that_a_chunker_would_have_cut(language: str, how: dict[str, Any]) -> None:
    """Place by place; but for pieces of a few letters, which may stand in several passages or cannot be looked for."""
    data = CAMPUS[language]
    pieces = cut("own", ChunkerSettings(**how), data).dataset.chunks
    long = [one for one in pieces if len(letters(one.text)) >= 23]
    assert len(long) > 0.98 * len(pieces)
    hits, _ = read([{"text": one.text} for one in long], data.chunks)
    for hit, piece in zip(hits, long, strict=True):
        if isinstance(hit.chunk, Piece):
            assert hit.chunk == piece
        else:
            assert (hit.chunk.id, len(hit.chunk.text)) == (piece.passage, len(piece.text)), "the whole is no piece"


def test_what_was_cut_across_passages_is_the_one_that_it_shows_most_of_or_a_relevant_one() -> None:
    first, second = BASE[0], BASE[1]
    item = first.text[-200:] + "\n\n" + second.text[:120]
    [most], _ = read([item])
    assert (most.chunk.passage, most.chunk.start) == (first.id, len(first.text) - 200)
    assert most.chunk.text == item, "whoever judges an answer reads what was shown"
    [relevant], _ = read([item], wanted=[second.id])
    assert (relevant.chunk.passage, relevant.chunk.start, relevant.chunk.end) == (second.id, 0, 120)
    page = "\n".join(one.text for one in BASE[:5])
    [third], _ = read([page], wanted=[BASE[2].id])
    assert (third.chunk.passage, third.chunk.start, third.chunk.end) == (BASE[2].id, 0, len(BASE[2].text))


def test_a_heading_alone_shows_nothing_of_its_passage() -> None:
    one = BASE[0]
    [hit], reader = read([{"text": f"# {one.title}\n\n## {one.section}"}])
    assert (hit.chunk.passage, hit.chunk.start, hit.chunk.end) == (one.id, 0, 0)
    assert reader.known == {How.OVERLAP: 1}
    assert read([one.title])[1].known == {How.UNKNOWN: 1}, "a plain text may be somebody else's id"


@pytest.mark.parametrize(
    "item",
    [
        "doc-17",
        {"id": "doc-17", "text": ""},
        {"id": "x", "text": "The tram to the harbour leaves every twenty minutes, and on Sundays every hour."},
        "the library",
        "the",
        BASE[0].text[:30] + " but the rest of this text is about something that nobody here has ever heard of",
        " ",
    ],
)
def test_what_is_of_another_world_is_unknown_and_keeps_its_rank(item: Any) -> None:
    hits, reader = read([BASE[3].id, item, BASE[4].id])
    assert [hit.chunk.passage for hit in hits][::2] == [BASE[3].id, BASE[4].id]
    assert reader.known == {How.ID: 2, How.UNKNOWN: 1}
    assert reader.facts()["unknown_ids"] == 1
    json.dumps(reader.facts())


def test_a_page_of_the_base_is_known_as_one() -> None:
    url = str(BASE[0].url)
    for item in (url, {"id": "x", "url": url, "text": "a summary that nobody has written into the base"}):
        [hit], reader = read([item])
        assert (hit.chunk.url, reader.known) == (url, {How.URL: 1})


def test_of_equal_texts_the_address_tells_then_the_label_then_the_order() -> None:
    same = "The office is open from nine to five on all working days."
    chunks = [Chunk("a", same, "/a"), Chunk("b", same, "/b"), Chunk("c", same, "/c", "Hours")]
    assert found([same], chunks) == ["a"]
    assert found([{"text": same, "url": "/b"}], chunks) == ["b"]
    assert found([{"text": same, "title": "Hours"}], chunks) == ["c"]
    assert [hit.chunk.id for hit in read([same + " "], chunks, ["c"])[0]] == ["c"]


def test_a_window_that_all_passages_share_hides_none_of_them() -> None:
    boilerplate = "This document belongs to the university and may not be copied without a permission of the rector. "
    chunks = [
        Chunk(f"c{n}", f"{boilerplate}Room {n} of house {n * 7919 % 1000} is cleaned on day {n}.") for n in range(300)
    ]
    assert found([chunks[n].text[60:] for n in (0, 77, 299)], chunks) == ["c0", "c77", "c299"]
    assert read([boilerplate], chunks)[1].known.total() == 1


def test_words_that_a_passage_says_twice_stand_where_the_piece_is_cut() -> None:
    [chunk] = [chunk for chunk in BASE if chunk.id == "payments-03"]  # "the semester is returned", and once more later
    [hit], _ = read([chunk.text[:283]], BASE, [chunk.id])
    assert isinstance(hit.chunk, Piece)
    assert (hit.chunk.start, hit.chunk.end) == (0, 283)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_where_a_piece_stands_is_told_to_the_character(data: st.DataObject) -> None:
    chunk = data.draw(st.sampled_from(CAMPUS["ru"].chunks + BASE))
    start = data.draw(st.integers(0, len(chunk.text) - 60))
    end = data.draw(st.integers(start + 60, len(chunk.text)))
    piece = chunk.text[start:end]
    spaced = data.draw(st.sampled_from([piece, f"\n{piece} ", piece.replace(" ", "\n\n"), textwrap.fill(piece, 30)]))
    base = CAMPUS["ru"].chunks if chunk in CAMPUS["ru"].chunks else BASE
    [hit], _ = read([spaced], base, [chunk.id])
    if isinstance(hit.chunk, Piece):
        assert chunk.text[hit.chunk.start : hit.chunk.end] == piece.strip()
    else:
        ends = (re.sub(r"\W", "", letters(one)) for one in (piece, chunk.text))  # a mark at an end may be missing
        assert len(set(ends)) == 1
    assert hit.chunk.passage == chunk.id


@given(st.lists(st.text(max_size=60), max_size=8), st.lists(st.text(max_size=80), max_size=6))
def test_no_text_breaks_it_and_the_same_is_said_twice(texts: list[str], items: list[str]) -> None:
    chunks = [Chunk(f"c{n}", text) for n, text in enumerate(texts)]
    first, again = ([hit.chunk.id for hit in read(items, chunks)[0]] for _ in range(2))
    assert first == again
    if any(letters(text) for text in texts):
        one = next(chunk for chunk in chunks if letters(chunk.text))
        [hit], reader = read([{"text": f" {one.text}"}], chunks)
        assert (letters(hit.chunk.text), reader.known) == (letters(one.text), {How.TEXT: 1})


@pytest.mark.slow
class TestRealSplitters:
    """With the packages themselves, offline; skipped where they are not installed."""

    def test_langchain(self) -> None:
        pytest.importorskip("langchain_text_splitters")
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(chunk_size=100, chunk_overlap=20)
        documents = splitter.split_documents([Document(page_content=one.text) for one in BASE])

        class Retriever(BaseRetriever):
            def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
                return documents

        hits, reader = read(adapted(Retriever())("how?", 10))
        assert reader.known == {How.OVERLAP: len(documents)}
        assert {hit.chunk.passage for hit in hits} == {one.id for one in BASE}

    def test_llama_index(self) -> None:
        pytest.importorskip("llama_index.core")
        from llama_index.core import Document
        from llama_index.core.node_parser import SentenceSplitter

        documents = [Document(text=one.text, doc_id=one.id) for one in BASE]
        nodes = SentenceSplitter(chunk_size=64, chunk_overlap=10).get_nodes_from_documents(documents)
        engine = type("Retriever", (), {"__module__": "llama_index.core", "retrieve": lambda self, question: nodes})()
        hits, reader = read(adapted(engine)("how?", 10))
        assert reader.known == {How.OVERLAP: len(nodes)}
        assert [hit.chunk.passage for hit in hits] == [node.ref_doc_id for node in nodes]

    def test_haystack(self) -> None:
        pytest.importorskip("haystack")
        from haystack import Document, Pipeline
        from haystack.components.preprocessors import DocumentSplitter
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        splitter = DocumentSplitter(split_by="word", split_length=30, split_overlap=5)
        splitter.warm_up()
        store = InMemoryDocumentStore()
        store.write_documents(splitter.run([Document(content=one.text) for one in BASE])["documents"])
        search = Pipeline()
        search.add_component("retriever", InMemoryBM25Retriever(store, top_k=20))
        hits, reader = read(adapted(search)("the library opens at", 10))
        assert reader.known == {How.OVERLAP: 20}
        assert all(hit.chunk.text in next(one.text for one in BASE if one.id == hit.chunk.passage) for hit in hits[:1])


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("The library opens at nine.", "The library opens at nine."),
        (
            "図書館は九時に開いて夜の八時に閉まります、日曜日は休みです。",
            "図書館は九時に開いて夜の八時に閉まります、日曜日は休みです。",
        ),
        ("c7", ""),
        ("документ-7", ""),
        ("https://example.com/a/very/long/address/of/a/page", ""),
    ],
)
def test_a_bare_text_that_nobody_knows_is_read_by_judges_and_an_id_is_none(item: str, text: str) -> None:
    [hit] = ItemReader(Passages(())).hits([item], 5)
    assert (hit.chunk.id, hit.chunk.text) == (item, text)


def test_texts_by_their_ids_are_passages() -> None:
    hits = ItemReader(Passages(())).hits({"hours": "It opens at eight.", "p2": {"text": "It closes at six."}}, 5)
    assert [(hit.chunk.id, hit.chunk.text) for hit in hits] == [
        ("hours", "It opens at eight."),
        ("p2", "It closes at six."),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"title": "Rules of the library", "author": "The council"},
        {"a": "two words", "b": "one"},
        {"a": "two words", "b": 1},
    ],
)
def test_of_an_object_that_has_no_ids_nothing_is_a_passage(given: dict[str, Any]) -> None:
    with pytest.raises(RetrievalError, match="a score is a number"):
        ItemReader(Passages(())).hits(given, 5)
