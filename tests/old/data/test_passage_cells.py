"""Passages as they stand in cells: what programs print them as, what only names them, and what is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError
from ragbench.old.data.samples import read_samples, samples_of
from tests.old.small_project import write_lines

ASKED = {"question": "When?", "answer": "At 8."}
PRINTED = {
    "LangChain's pairs with NumPy's scores": "[(Document(page_content='c1', metadata={}), np.float32(0.83))]",
    "NumPy's texts": "[np.str_('c1')]",
    "LangChain 1": "[Document(id='n1', metadata={'a': [1, None]}, page_content='c1')]",
    "LlamaIndex": "[NodeWithScore(node=TextNode(id_='n1', metadata={}, text='c1'), score=0.8)]",
    "LlamaIndex's document": "[Document(id_='n1', metadata={}, text_resource=MediaResource(data=None, text='c1'))]",
    "Qdrant": "[ScoredPoint(id='n1', version=3, score=0.83, payload={'text': 'c1'}, vector=None)]",
    "Weaviate": "[Object(uuid=_WeaviateUUIDInt('1'), metadata=MetadataReturn(), properties={'text': 'c1'})]",
    "Chroma": "{'ids': [['a']], 'documents': [['c1']], 'metadatas': [[None]], 'distances': [[0.1]]}",
    "Pinecone": "{'matches': [{'id': 'v1', 'score': 0.8, 'metadata': {'text': 'c1'}}], 'namespace': ''}",
    "Azure Search": '{"documents": [{"content": "c1", "id": "d1"}]}',
    "Elasticsearch": '{"hits": {"total": 1, "hits": [{"_id": "d1", "_score": 1.2, "_source": {"text": "c1"}}]}}',
    "a tuple with nothing in it": "(None, 'c1')",
    "nothing in a list": '[[null, "c1"]]',
    "a document of nothing": '[{"page_content": null, "metadata": {}}, {"page_content": "c1", "metadata": {}}]',
    "Haystack's components": '[{"type": "haystack.Document", "init_parameters": {"content": "c1"}}]',
    "Milvus": '[{"id": 1, "distance": 0.5, "entity": {"text": "c1"}}]',
    "Vespa": '[{"id": "a", "relevance": 0.5, "fields": {"text": "c1"}}]',
    "Cohere": '[{"id": "a", "data": {"text": "c1"}}]',
    "Russian": '[{"ид": "1", "содержимое": "c1"}]',
    "None": None,
    "NULL": None,
}


@pytest.mark.parametrize("form", PRINTED)
def test_passages_are_read_as_programs_print_them(bare: Path, form: str) -> None:
    cell = PRINTED[form]
    write_lines(bare / "a.jsonl", [{**ASKED, "contexts": form if cell is None else cell}])
    [sample] = read_samples(bare / "a.jsonl")
    assert (sample.contexts and [context.text for context in sample.contexts]) == (None if cell is None else ["c1"])


@pytest.mark.parametrize(
    "cell",
    [
        "[Document(id=3f2abc, content: 'c1', meta: {'source': 'a'}, score: 0.83)]",
        "[<Document: {'content': 'c1', 'id': 'd1'}>]",
        "Node ID: 3f2a\nText: c1\nScore:  0.830\n",
        "[Document(page_content='c1' + 'c2')]",
        "['c1', ..., 'c9']",
        "['c1', 'c",
        "[Document(metadata={'tags': ['x']}, page_content='c1'), Document(page_content='c",
    ],
)
def test_passages_that_were_cut_for_people_are_no_passage(bare: Path, cell: str) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, "contexts": cell}])
    with pytest.raises(
        DatasetError, match=r"no row can be used: 1 × row with contexts: [^:]*(as a list in |as )JSON \("
    ):
        read_samples(bare / "a.jsonl", Forms())


@pytest.mark.parametrize(
    ("more", "contexts"),
    [
        ({"source": "a.pdf"}, None),
        ({"sources": ["a.pdf", "https://kb.example/x"]}, None),
        ({"sources": [{"title": "T", "url": "https://kb.example/x"}]}, None),
        ({"source": "It opens at 8."}, ["It opens at 8."]),
        ({"results": [{"id": "d", "text": "c1"}]}, ["c1"]),
        ({"contexts": "a.pdf"}, ["a.pdf"]),
    ],
)
def test_where_a_passage_is_from_is_no_passage(bare: Path, more: dict[str, Any], contexts: list[str] | None) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, **more}])
    forms = Forms()
    [sample] = read_samples(bare / "a.jsonl", forms)
    assert sample.response == "At 8."
    assert (sample.contexts and [context.text for context in sample.contexts]) == contexts
    assert (contexts is None) == (f"not read, as no field is called so: {next(iter(more))}" in " ".join(forms.told))


@pytest.mark.parametrize("name", ["expected_sources", "evidence_chunk_ids"])
def test_ids_of_what_is_right_are_of_right_passages(name: str) -> None:
    [sample] = samples_of([{"question": "Who?", name: ["s1", "s2"]}])
    assert [context.id for context in sample.reference_contexts or ()] == ["s1", "s2"]


@pytest.mark.parametrize(
    ("passages", "ids"),
    [
        ([{"chunk_id": "c1", "rank": 1}, {"chunk_id": "c2", "filename": "Rules of the house.pdf"}], ["c1", "c2"]),
        ([{"document_name": "rules", "page_number": 7}], ["rules:7"]),
        ([{"filename": "rules.pdf", "rank": 1}], ["rules.pdf"]),
        ([{"chunk_id": "c1", "covers": [{"from": [0, 4]}]}], ["c1"]),
    ],
)
def test_objects_that_name_passages_are_their_ids(passages: list[dict[str, Any]], ids: list[str]) -> None:
    [sample] = samples_of([{**ASKED, "retrieved_contexts": passages, "relevant_chunks": passages}])
    assert [(own.id, own.text) for own in sample.contexts or ()] == [(name, "") for name in ids]
    assert [own.id for own in sample.reference_contexts or ()] == ids


def test_an_object_with_a_text_that_nobody_knows_is_refused_with_its_names() -> None:
    with pytest.raises(DatasetError, match=r"it has chunk_id, Inhalt"):
        samples_of([{**ASKED, "contexts": [{"chunk_id": "c1", "Inhalt": "Um acht."}]}])


def test_ids_beside_one_text_of_all_passages_are_left_out_and_said(bare: Path) -> None:
    write_lines(bare / "a.jsonl", [{**ASKED, "retrieved_context": "One.\n\nTwo.", "retrieved_chunk_ids": [4, 7]}])
    [sample] = read_samples(bare / "a.jsonl", forms := Forms())
    assert [own.text for own in sample.contexts or ()] == ["One.\n\nTwo."]
    assert "1 × list of ids beside one text of all passages in contexts" in forms.left_out.said
    with pytest.raises(DatasetError, match="1 texts and 2 identifiers"):
        read_samples(bare / "a.jsonl")


def test_a_number_is_the_id_of_a_passage() -> None:
    [sample] = samples_of([{**ASKED, "expected_chunk_id": 0}])
    assert [own.id for own in sample.reference_contexts or ()] == ["0"]


def test_three_bars_between_passages_part_them() -> None:
    for text, expected in (("One.|||Two.", ["One.", "Two."]), ("|a|||b|", ["|a|||b|"])):
        [sample] = samples_of([{**ASKED, "context": text}])
        assert [own.text for own in sample.contexts or ()] == expected


@pytest.mark.parametrize("name", ["survey_en", "rules-2024", "rules.pdf"])
def test_a_document_that_is_named_is_no_passage(name: str) -> None:
    [sample] = samples_of([{**ASKED, "document": name}])
    assert sample.contexts is None
