"""Texts become vectors of length 1, once; what is no embedder or no vector is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import Settings
from ragbench.embed import TextEmbedder, open_embedder
from ragbench.store import Store

TEXTS = ["red", "green", "blue light"]


def by_length(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


class SentenceModel:
    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.array(by_length(sentences), np.float64)


class LangChainEmbeddings:
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return by_length(texts)

    def embed_query(self, text: str) -> list[float]:
        return [0.0, float(len(text))]


class LlamaIndexEmbedding:
    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return by_length(texts)

    def get_query_embedding(self, text: str) -> list[float]:
        return [1.0, 0.0]


@pytest.mark.parametrize(
    "given", [by_length, SentenceModel(), LangChainEmbeddings(), LlamaIndexEmbedding()]
)
def test_functions_and_objects_of_frameworks_embed(given: Any) -> None:
    vectors = open_embedder(given, Settings()).embed(["abc"])
    assert vectors.dtype == np.float32
    assert vectors[0] == pytest.approx([3 / np.sqrt(10), 1 / np.sqrt(10)])


@pytest.mark.parametrize(
    ("given", "expected"),
    [(by_length, [3, 1]), (LangChainEmbeddings(), [0, 1]), (LlamaIndexEmbedding(), [1, 0])],
)
def test_questions_have_a_method_of_their_own(given: Any, expected: list[float]) -> None:
    vector = open_embedder(given, Settings()).embed(["abc"], "query")[0]
    assert vector == pytest.approx(np.array(expected) / np.linalg.norm(expected))


def test_a_text_is_embedded_once_ever(store: Store) -> None:
    embedder = open_embedder("hashing", Settings(), corpus=TEXTS, store=store)
    first = embedder.embed([*TEXTS, "red"])
    calls: list[Any] = []
    again = open_embedder("hashing", Settings(), corpus=TEXTS, store=store)
    again._encode = calls.append  # type: ignore[assignment]
    assert np.array_equal(again.embed([*TEXTS, "red"]), first)
    assert calls == []


@pytest.mark.parametrize(("is_constant", "calls"), [(False, 2), (True, 1)])
def test_a_repeat_is_embedded_anew_unless_the_model_is_constant(
    is_constant: bool, calls: int, store: Store
) -> None:
    made = []

    def encode(texts: list[str], kind: str) -> list[list[float]]:
        made.append(texts)
        return [[1.0, 0.0]] * len(texts)

    model = f"model {is_constant}"
    embedder = TextEmbedder("mine", encode, model=model, is_constant=is_constant, store=store)
    embedder.embed(TEXTS, "query")
    embedder.embed(TEXTS, "query", fresh=True)
    assert len(made) == calls


def test_models_of_this_machine_are_constant(store: Store) -> None:
    embedder = open_embedder("hashing", Settings(), corpus=TEXTS, store=store)
    vectors, first_ms = embedder.embed_timed(TEXTS, "query")
    again, again_ms = embedder.embed_timed(TEXTS, "query", fresh=True)
    assert np.array_equal(vectors, again)
    assert first_ms.astype(np.float32).tolist() == again_ms.astype(np.float32).tolist()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([[1.0, 0.0]], r"shape \(1, 2\) for 2 texts"),
        ([[1.0, 0.0], [0.0, 0.0]], "1 of 2 texts a zero vector"),
        ([[1.0, float("nan")], [1.0, 0.0]], "1 of 2 texts"),
        ([[1.0, 2.0], [1.0]], "no table of numbers"),
        ("text", "no table of numbers"),
    ],
)
def test_what_is_no_vector_is_refused_with_counts(returned: Any, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        open_embedder(lambda texts: returned, Settings()).embed(["a", "b"])


def test_empty_texts_are_refused_by_their_place() -> None:
    with pytest.raises(BenchError, match=r"1 of 2 texts are empty .* the first is number 2"):
        open_embedder("hashing", Settings()).embed(["a", " "])


def test_the_stand_in_knows_spelling_case_and_what_nobody_sees() -> None:
    corpus = [
        "Стоянка для студентов за домом 4",
        "Библиотека открыта с восьми утра",
        "Пересдача зимней сессии в феврале",
    ]
    embedder = open_embedder("hashing", Settings(), "ru", corpus=corpus)
    assert embedder.is_stand_in
    passages = embedder.embed(corpus)
    similarities = passages @ embedder.embed(["когда открывают библиотеку"])[0]
    assert similarities.argmax() == 1
    # Stress marks, soft hyphens and a word joiner change nothing.
    plain, marked = embedder.embed(["библиотека", "БИБЛИО\u0301\u00adТЕ\u2060КА"])
    assert plain == pytest.approx(marked, abs=1e-6)


def test_texts_without_anything_of_the_corpus_are_alone() -> None:
    embedder = open_embedder("hashing", Settings(), corpus=["alpha", "beta", "gamma"])
    vectors = embedder.embed(["alpha", "ЖЖЖЖ"])
    assert vectors[1][-1] == 1.0
    assert vectors[0] @ vectors[1] == 0.0


def test_navec_tells_russian_texts_apart() -> None:
    pytest.importorskip("navec", reason="the extra `models` is not installed")
    embedder = open_embedder("auto", Settings(), "ru")
    assert not embedder.is_stand_in
    vectors = embedder.embed(["кошка спит", "кот дре\u0301млет", "расписание ъыьэ поездов"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_a_model_of_a_folder_is_loaded_without_a_hub(tmp_path: Path, store: Store) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["[UNK]", "library", "opens", "parking"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.eye(4, dtype=np.float32)
    static = StaticEmbedding(tokenizer, embedding_weights=weights)
    model = sentence_transformers.SentenceTransformer(modules=[static], device="cpu")
    model.save(str(tmp_path / "own-model"))
    table = {"kind": "sentence_transformers", "model": str(tmp_path / "own-model")}
    settings = Settings.model_validate({"embedders": {"mine": table}})
    embedder = open_embedder("mine", settings, store=store)
    vectors = embedder.embed(["library opens", "parking"])
    assert vectors[0] == pytest.approx([0, np.sqrt(0.5), np.sqrt(0.5), 0])
    assert embedder.describe() == "own-model"
    with pytest.raises(BenchError, match="no vectors of tokens"):
        embedder.tokens(["library"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hashng", "no embedder 'hashng'; did you mean 'hashing'"),
        ("bge", "embedders.bge.model = 'BAAI/nowhere' is no folder"),
    ],
)
def test_an_embedder_that_is_not_here_is_named(name: str, message: str) -> None:
    table = {"kind": "sentence_transformers", "model": "BAAI/nowhere"}
    settings = Settings.model_validate({"embedders": {"bge": table}})
    with pytest.raises(BenchError, match=message):
        open_embedder(name, settings)


def test_an_object_without_a_known_method_is_refused() -> None:
    with pytest.raises(BenchError, match="int is no embedder"):
        open_embedder(3, Settings())


def test_torch_is_loaded_only_by_a_model_that_needs_it() -> None:
    code = (
        "import sys; from ragbench.embed import open_embedder; "
        "from ragbench.core.settings import Settings; open_embedder('auto', Settings(), 'en'); "
        "open_embedder('hashing', Settings(), corpus=['a b c', 'd e f', 'g h i']).embed(['abc']); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
