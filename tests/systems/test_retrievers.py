"""The built-in systems: bm25, dense, hybrid, rerankers, and the user's own tables."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings
from ragbench.core.types import Dataset
from ragbench.data import from_objects
from ragbench.store import Store
from ragbench.systems import open_systems


def retrieve(dataset: Dataset, question: str, k: int = 4, **tables: Any) -> list[str]:
    """The ids that the system `mine` of these tables finds."""
    settings = Settings.model_validate(tables)
    system = open_systems("mine", settings, dataset)["mine"]
    [retrieval] = system.retrieve([question], k)
    assert retrieval.error == ""
    return [hit.id for hit in retrieval.hits]


def test_bm25_scores_are_those_of_lucene(library: Dataset) -> None:
    system = open_systems("bm25", Settings(), library)["bm25"]
    [retrieval] = system.retrieve(["opening of libraries"], 4)
    # Of 4 passages one has both stems, each once; it has 5 of on average 6 words that count:
    # library open 8:00 work day | park behind hall cost 1.500 roubl semest | retak exam februari
    # befor board teacher | lost card block phone replac within three day
    stems = np.array([5, 7, 6, 8])
    idf = np.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    expected = 2 * idf / (1 + 1.5 * (1 - 0.75 + 0.75 * 5 / stems.mean()))
    assert [hit.id for hit in retrieval.hits] == ["lib"]
    assert retrieval.hits[0].similarity == pytest.approx(expected)
    assert retrieval.hits[0].text.startswith("The library opens")
    assert retrieval.latency_ms > 0


@pytest.mark.parametrize(
    "question", ["библиоте\u0301ка", "БИБЛИО\u00adТЕКА", "библио\u200bтеки", "библиотекой\ufeff"]
)
def test_bm25_heeds_words_as_people_write_them(question: str) -> None:
    documents = {"a": "Столовая закрыта.", "b": "Библиотека открыта."}
    dataset = from_objects([question], documents, language="ru")
    [retrieval] = open_systems("bm25", Settings(), dataset)["bm25"].retrieve([question], 1)
    assert [hit.id for hit in retrieval.hits] == ["b"]


def test_equal_scores_are_ordered_by_id() -> None:
    dataset = from_objects(["cat?"], {"b": "A cat.", "a": "A cat.", "c": "A cat."})
    [retrieval] = open_systems("bm25", Settings(), dataset)["bm25"].retrieve(["cat"], 2)
    assert [hit.id for hit in retrieval.hits] == ["a", "b"]


def test_passages_without_words_are_never_found() -> None:
    dataset = from_objects(["cat?"], {"a": "…", "b": "the of"})
    [retrieval] = open_systems("bm25", Settings(), dataset)["bm25"].retrieve(["cat"], 2)
    assert retrieval.hits == ()


@pytest.mark.parametrize("question", ["zebra", "of the", "", "  "])
def test_what_shares_no_word_is_not_retrieved(library: Dataset, question: str) -> None:
    [retrieval] = open_systems("bm25", Settings(), library)["bm25"].retrieve([question], 3)
    assert (retrieval.hits, retrieval.error) == ((), "")


def test_dense_finds_nothing_for_nothing_and_in_nothing(library: Dataset) -> None:
    settings = Settings(embedder="hashing")
    for dataset, question in ((library, " "), (from_objects(["cat?"]), "cat?")):
        [retrieval] = open_systems("dense", settings, dataset)["dense"].retrieve([question], 3)
        assert (retrieval.hits, retrieval.error) == ((), "")


@pytest.mark.parametrize("index", ["exact", "hnsw", "ivfflat"])
def test_dense_searches_in_postgresql(library: Dataset, store: Store, index: str) -> None:
    tables = {"systems": {"mine": {"embedder": "hashing", "index": index, "probes": 10}}}
    system = open_systems("mine", Settings.model_validate(tables), library, store)["mine"]
    [retrieval] = system.retrieve(["library opening"], 4)
    assert retrieval.hits[0].id == "lib"
    assert {hit.id for hit in retrieval.hits} == {"lib", "park", "exam", "card"}
    assert 0 < retrieval.hits[1].similarity < retrieval.hits[0].similarity <= 1
    assert retrieval.latency_ms > 0
    assert "PostgreSQL" in system.describe()
    assert "embedder hashing" in system.stand_ins  # type: ignore[attr-defined]


def test_dense_tells_when_the_search_is_not_in_postgresql(
    library: Dataset, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = {"systems": {"mine": {"embedder": "hashing"}}}
    settings = Settings.model_validate(tables)
    in_database = open_systems("mine", settings, library, store)["mine"]
    monkeypatch.setattr("ragbench.systems.retrievers.MOST_IN_POSTGRESQL", 4)
    assert "PostgreSQL" in open_systems("mine", settings, library, store)["mine"].describe()
    monkeypatch.setattr("ragbench.systems.retrievers.MOST_IN_POSTGRESQL", 3)
    indexed = {"systems": {"mine": {"embedder": "hashing", "index": "hnsw"}}}
    system = open_systems("mine", Settings.model_validate(indexed), library, store)["mine"]
    assert "PostgreSQL" in system.describe()
    in_memory = open_systems("mine", settings, library, store)["mine"]
    assert "matrix products in this process" in in_memory.describe()
    assert in_memory.retrieve([" "], 3)[0].error == ""
    questions = library.questions["text"].tolist()
    found, expected = in_memory.retrieve(questions, 3), in_database.retrieve(questions, 3)
    for row, retrieval in enumerate(found):
        assert [hit.id for hit in retrieval.hits] == [hit.id for hit in expected[row].hits]
        assert np.isnan(retrieval.latency_ms)


def by_length(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def test_an_embedder_of_your_own_stands_in_for_none(library: Dataset, store: Store) -> None:
    table = {"embedders": {"own": {"callable": f"{__name__}:by_length"}}, "embedder": "own"}
    settings = Settings.model_validate({**table, "systems": {"mine": {"embedder": "own"}}})
    system = open_systems("mine", settings, library, store)["mine"]
    assert system.stand_ins == ("generator extractive",)  # type: ignore[attr-defined]


def test_hybrid_is_reciprocal_rank_fusion(library: Dataset, store: Store) -> None:
    systems = open_systems("bm25,dense,hybrid", Settings(embedder="hashing"), library, store)
    question = ["a lost exam card"]
    ranks: dict[str, float] = {}
    for name in ("bm25", "dense"):
        for rank, hit in enumerate(systems[name].retrieve(question, 100)[0].hits, start=1):
            ranks[hit.id] = ranks.get(hit.id, 0) + 1 / (60 + rank)
    hits = systems["hybrid"].retrieve(question, 4)[0].hits
    assert [hit.id for hit in hits] == sorted(ranks, key=lambda name: (-ranks[name], name))
    assert hits[0].similarity == pytest.approx(max(ranks.values()))


def test_weights_of_a_hybrid_count(library: Dataset, store: Store) -> None:
    retrievers = {"mine": {"kind": "hybrid", "retrievers": ["bm25", "dense"], "weights": [1, 0]}}
    settings = Settings.model_validate({"retrievers": retrievers, "embedder": "hashing"})
    systems = open_systems(["bm25", "mine"], settings, library, store)
    first = {name: each.retrieve(["exam card"], 1)[0].hits[0].id for name, each in systems.items()}
    assert first["bm25"] == first["mine"]


def test_a_question_that_is_asked_again_is_embedded_again(library: Dataset, store: Store) -> None:
    system = open_systems("dense", Settings(embedder="hashing"), library, store)["dense"]
    embedder = system.system.retriever._embedder  # type: ignore[attr-defined]
    fresh = []
    embed_timed = embedder.embed_timed

    def watch(texts: list[str], kind: str = "passage", **options: Any) -> Any:
        if kind == "query":
            fresh.append(options["fresh"])
        return embed_timed(texts, kind, **options)

    embedder.embed_timed = watch
    system.retrieve(["parking"], 1)
    system.retrieve(["parking"], 1)
    assert fresh == [False, True]


def backwards(question: str, texts: list[str]) -> list[float]:
    return [float(-len(text)) for text in texts]


def test_rerankers_order_the_first_passages_again(library: Dataset, store: Store) -> None:
    tables = {
        "rerankers": {
            "short": {"kind": "callable", "callable": f"{__name__}:backwards", "depth": 2},
            "cosine": {"kind": "embedder", "embedder": "hashing"},
        },
        "systems": {
            "plain": {"retriever": "bm25"},
            "mine": {"retriever": "bm25", "reranker": "short"},
            "cosine": {"retriever": "bm25", "reranker": "cosine"},
        },
    }
    systems = open_systems("", Settings.model_validate(tables), library, store)
    question = ["card exam library three"]
    plain = [hit.id for hit in systems["plain"].retrieve(question, 3)[0].hits]
    hits = systems["mine"].retrieve(question, 3)[0].hits
    by_length = sorted(plain[:2], key=lambda name: len(dict_of(library)[name]))
    assert [hit.id for hit in hits] == [*by_length, plain[2]]
    assert np.isnan(hits[2].similarity)
    assert "reranked: cosine of hashing" in systems["cosine"].describe()
    similarities = [hit.similarity for hit in systems["cosine"].retrieve(question, 3)[0].hits]
    assert len(similarities) == 3
    assert similarities == sorted(similarities, reverse=True)


def test_a_judge_grades_passages_by_their_relevance(library: Dataset) -> None:
    tables = {
        "rerankers": {"graded": {"kind": "judge", "judge": "lexical"}},
        "systems": {"mine": {"retriever": "bm25", "reranker": "graded"}},
    }
    system = open_systems("mine", Settings.model_validate(tables), library)["mine"]
    [retrieval] = system.retrieve(["When does the library open on working days of an exam?"], 4)
    assert retrieval.error == ""
    assert retrieval.hits[0].id == "lib"
    assert retrieval.hits[0].similarity in (1.0, 2.0, 3.0)
    assert "relevance graded by lexical" in system.describe()


class CrossEncoder:
    """As that of sentence-transformers."""

    def __init__(self, folder: str, **options: Any) -> None:
        assert options == {"num_labels": 1, "trust_remote_code": False, "local_files_only": True}

    def predict(self, pairs: list[tuple[str, str]], show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        return np.array([len(text) for question, text in pairs if question == "card exam"], "f4")


def test_a_cross_encoder_scores_pairs(
    library: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(CrossEncoder=CrossEncoder)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    tables = {
        "rerankers": {"cross": {"kind": "cross_encoder", "model": str(tmp_path)}},
        "systems": {"mine": {"retriever": "bm25", "reranker": "cross"}},
    }
    system = open_systems("mine", Settings.model_validate(tables), library)["mine"]
    [retrieval] = system.retrieve(["card exam"], 4)
    texts = dict_of(library)
    assert [hit.similarity for hit in retrieval.hits] == [len(texts["exam"]), len(texts["card"])]
    assert f"cross-encoder {tmp_path.name}" in system.describe()


def dict_of(dataset: Dataset) -> dict[str, str]:
    passages = dataset.passages
    return dict(zip(passages["passage_id"], passages["text"], strict=True))


def bad_scores(question: str, texts: list[str]) -> list[Any]:
    return [float("nan") if question == "library" else "high"]


def rewrite(question: str) -> str:
    time.sleep(0.02)
    return {"Where do I leave my car?": "parking"}.get(question, "")


def test_a_rewriter_says_what_is_searched_for(library: Dataset) -> None:
    tables = {"systems": {"mine": {"retriever": "bm25", "rewriter": f"{__name__}:rewrite"}}}
    assert retrieve(library, "Where do I leave my car?", **tables) == ["park"]
    system = open_systems("mine", Settings.model_validate(tables), library)["mine"]
    failed, found = system.retrieve(["Other", "Where do I leave my car?"], 2)
    assert failed.error == "rewriter: it returned str; a text is expected"
    assert system.describe().startswith("questions rewritten; BM25")
    assert [hit.id for hit in found.hits] == ["park"]
    assert found.latency_ms >= 20  # rewriting is part of what the user waits for


def test_scores_that_are_none_are_an_error_of_the_question(library: Dataset) -> None:
    tables = {
        "rerankers": {"bad": {"kind": "callable", "callable": f"{__name__}:bad_scores"}},
        "systems": {"mine": {"retriever": "bm25", "reranker": "bad"}},
    }
    system = open_systems("mine", Settings.model_validate(tables), library)["mine"]
    missing, worded = system.retrieve(["library", "park"], 2)
    assert "reranker: [nan] for 1 texts" in missing.error
    assert missing.hits == worded.hits == ()
    assert worded.error == "reranker: ValueError: could not convert string to float: 'high'"


def test_own_tables_are_searched_in_place(
    library: Dataset, store: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OWN_URL", database_url)
    with store.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE own_passages (id text PRIMARY KEY, body text, v vector(2));"
            "INSERT INTO own_passages VALUES ('lib', 'x', '[1,0]'), ('park', 'y', '[0,1]');"
            "CREATE TABLE own_questions (id text PRIMARY KEY, q text, v vector(2));"
            "INSERT INTO own_questions VALUES ('1', 'When?', '[0.1,1]'), ('2', 'Why?', NULL);"
        )
    database = {"url_variable": "TEST_OWN_URL", "passages": "own_passages", "text": "body"}
    database |= {"vector": "v", "questions": "own_questions", "question": "q"}
    tables: dict[str, Any] = {
        "databases": {"kb": {**database, "question_vector": "v"}},
        "retrievers": {"own": {"kind": "database", "database": "kb", "index": "own"}},
    }
    system = open_systems("own", Settings.model_validate(tables), library)["own"]
    assert system.retrieve(["Who?"], 2)[0].error == "the question has no stored vector"
    found, missing = system.retrieve(["When?", "Why?"], 2)
    assert [hit.id for hit in found.hits] == ["park", "lib"]
    assert found.hits[0].text.startswith("Parking is behind")
    assert missing.error == "the question has no stored vector"
    assert "ORDER BY <=> LIMIT k, every vector compared" in system.describe()

    tables["retrievers"]["both"] = {"kind": "hybrid", "retrievers": ["bm25", "own"]}
    both = open_systems("both", Settings.model_validate(tables), library)["both"]
    found, missing = both.retrieve(["When?", "Why?"], 2)
    assert [hit.id for hit in found.hits] == ["park", "lib"]
    assert (missing.hits, missing.error) == ((), "the question has no stored vector")
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE own_passages RENAME COLUMN v TO gone")
    assert "column" in system.retrieve(["When?"], 2)[0].error
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE own_passages RENAME COLUMN gone TO v")

    tables["retrievers"]["own"]["embedder"] = "hashing"
    system = open_systems("own", Settings.model_validate(tables), library)["own"]
    with pytest.raises(BenchError, match="those of the questions have 5"):
        system.retrieve(["When?"], 2)


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ("bm52", "no system 'bm52'; did you mean 'bm25'"),
        (["bm25", "bm25"], "two systems are called bm25"),
        ("own", "index = 'hnsw' does not go with kind = .*; write one of exact, own"),
        (
            "other",
            r"index = 'own' does not go with kind = 'dense'; write one of exact, hnsw, ivfflat",
        ),
        ("mine", "no reranker 'none'"),
        ("unweighted", r"weights = \[1\.0\]: one for each of the 2 retrievers"),
        ("crossed", r"rerankers\.cross\.model = 'absent': there is no folder"),
    ],
)
def test_what_is_no_system_is_refused(library: Dataset, systems: Any, message: str) -> None:
    tables = {
        "retrievers": {
            "unweighted": {"kind": "hybrid", "weights": [1]},
            "own": {"kind": "database", "database": "kb", "index": "hnsw"},
        },
        "rerankers": {"cross": {"kind": "cross_encoder", "model": "absent"}},
        "systems": {
            "mine": {"retriever": "bm25", "reranker": "none"},
            "crossed": {"retriever": "bm25", "reranker": "cross"},
            "other": {"embedder": "hashing", "index": "own"},
        },
    }
    with pytest.raises(BenchError, match=message):
        open_systems(systems, Settings.model_validate(tables), library)
