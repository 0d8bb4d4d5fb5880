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
from ragbench.llm import BudgetSpentError
from ragbench.store import Store
from tests.llm.chat_server import Raw, serving

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
        ([1.0, 2.0], r"shape \(2,\) for 2 texts"),
        ([[], []], r"shape \(2, 0\) for 2 texts"),
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


def test_without_a_corpus_texts_are_runs_of_three_to_five_letters() -> None:
    one, other = open_embedder("hashing", Settings()).embed(["abcd", "abce"])
    assert one @ other == pytest.approx(3 / 9)  # " ab", "abc", " abc"


def test_a_folder_of_the_name_of_an_embedder_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hashing").mkdir()
    monkeypatch.chdir(tmp_path)
    assert open_embedder("hashing", Settings()).is_stand_in


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
    assert abs(vectors[0][-2]) > 0, "without a corpus nothing is taken out"
    # Unknown words count for nothing, and a text of them is alone in the last number.
    assert embedder.embed(["ъыьэ"])[0][-1] == 1.0
    compound, parts = embedder.embed(["кошка-мышка", "Кошка, мышка!"])
    assert compound == pytest.approx(parts, abs=1e-6)
    with_dots, without = embedder.embed(["чёрный", "черный"])
    assert with_dots == pytest.approx(without, abs=1e-6)
    assert embedder.embed(["рёр"])[0][-1] == 0.0, "a word that Navec knows by ё alone"
    # What all texts of a corpus share is taken out: of a single one, everything.
    fitted = open_embedder("navec", Settings(), corpus=["кошка спит", " "])
    assert fitted.embed(["кошка спит"])[0][-1] == 1.0
    assert fitted.model != embedder.model


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
    prefixed = Settings.model_validate(
        {"embedders": {"mine": {**table, "query_prefix": "parking "}}}
    )
    with_prefix = open_embedder("mine", prefixed, store=store)
    assert with_prefix.embed(["library"], "query")[0] == pytest.approx([0, 0.5**0.5, 0, 0.5**0.5])
    assert with_prefix.embed(["library"])[0] == pytest.approx([0, 1, 0, 0])
    # Without prefixes, the prompts that it was saved with.
    model.prompts = {"query": "parking ", "document": "opens "}
    model.save(str(tmp_path / "prompted"))
    prompted = open_embedder(str(tmp_path / "prompted"), Settings())
    assert prompted.embed(["library"], "query")[0] == pytest.approx([0, 0.5**0.5, 0, 0.5**0.5])
    assert prompted.embed(["library"])[0] == pytest.approx([0, 0.5**0.5, 0.5**0.5, 0])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchError, match=r"the model in .*empty cannot be loaded"):
        open_embedder(str(tmp_path / "empty"), Settings()).embed(["a"])


def test_another_file_of_a_model_makes_other_vectors_and_its_description_does_not(
    tmp_path: Path,
) -> None:
    def model_of(place: str, files: dict[str, str]) -> str:
        folder = tmp_path / place / "mine"
        (folder / "inner").mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        return open_embedder(str(folder), Settings()).model

    weights = model_of("a", {"weights": "1"})
    assert model_of("b", {"weights": "1", "README.md": "mine"}) == weights
    assert model_of("c", {"weights": "2"}) != weights


def test_tokens_have_vectors_without_those_of_the_ends(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "library", "opens", "parking"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=7, intermediate_size=8, **sizes)
    transformers.BertModel(config).save_pretrained(tmp_path)
    embedder = open_embedder(str(tmp_path), Settings())
    two, one = embedder.tokens(["library opens", "parking"])
    assert (two.shape, one.shape) == ((2, 8), (1, 8))
    assert embedder.tokens(["parking"])[0] == pytest.approx(one, abs=1e-5)
    # Whatever the batches are.
    many = embedder.tokens(["library opens", "parking"] * 64)
    assert [len(vectors) for vectors in many] == [2, 1] * 64
    assert many[-1] == pytest.approx(one, abs=1e-5)
    with pytest.raises(BenchError, match="hashing gives no vectors of tokens"):
        open_embedder("hashing", Settings()).tokens(["a"])


def test_a_model_behind_an_endpoint_is_asked_with_its_prefixes() -> None:
    def answer(body: dict[str, Any], number: int) -> Raw:
        rows = [{"embedding": vector} for vector in by_length(body["input"])]
        return Raw({"data": rows})

    with serving(answer) as server:
        table = {"kind": "openai", "base_url": server.url, "model": "m", "dimensions": 2}
        table |= {"query_prefix": "q: ", "passage_prefix": "p: ", "batch": 2}
        embedder = open_embedder("far", Settings.model_validate({"embedders": {"far": table}}))
        vectors = embedder.embed(["abc", "de", "abc", "f"])
        embedder.embed(["abc"], "query")
    assert vectors[0] == pytest.approx([6 / np.sqrt(37), 1 / np.sqrt(37)])
    bodies = [request.body for request in server.requests]
    assert [body["input"] for body in bodies] == [["p: abc", "p: de"], ["p: f"], ["q: abc"]]
    assert {body["dimensions"] for body in bodies} == {2}
    assert embedder.describe() == "m"


def test_the_budget_holds_for_models_that_embed() -> None:
    reply = Raw({"data": [{"embedding": [1.0, 2.0]}]})
    with serving(lambda body, number: reply) as server:
        table = {"kind": "openai", "base_url": server.url, "model": "m", "batch": 1}
        settings = {"embedders": {"far": table}, "budget": {"calls": 3}}
        embedder = open_embedder("far", Settings.model_validate(settings))
        with pytest.raises(BudgetSpentError):
            embedder.embed(["a", "b", "c", "d", "e"])
        assert len(server.requests) == 3


def test_of_many_texts_some_are_fitted_the_same_in_any_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ragbench.embed.hashing.MOST_FITTED", 4)
    corpus = ["alpha one", "beta two", "gamma three", "delta four", "epsilon five"]
    first, second = (
        open_embedder("hashing", Settings(), corpus=texts) for texts in (corpus, corpus[::-1])
    )
    assert first.model == second.model
    assert np.array_equal(first.embed(corpus), second.embed(corpus))
    assert first.embed(corpus).shape == (5, 5), "an axis a text that is fitted, and the last one"
    few = open_embedder("hashing", Settings(), corpus=["a b", "a b", " ", "c d"])
    assert (few.model, few.embed(["x"]).shape) == ("hashing", (1, 257))


def test_a_function_is_given_64_texts_at_once() -> None:
    batches = []

    def encode(texts: list[str]) -> list[list[float]]:
        batches.append(len(texts))
        return by_length(texts)

    open_embedder(encode, Settings()).embed([str(number) for number in range(65)])
    assert batches == [64, 1]


def test_texts_share_the_milliseconds_of_their_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1.0, 1.5])
    monkeypatch.setattr("ragbench.embed.embedder.time.perf_counter", lambda: next(clock))
    assert open_embedder(by_length, Settings()).embed_timed(["a", "bb"])[1].tolist() == [250, 250]


@pytest.mark.parametrize(
    ("chosen", "set_", "expected"),
    [("", "", "auto"), ("", "hashing", "hashing"), ("auto", "hashing", "auto")],
)
def test_the_embedder_of_nobody_s_choice(chosen: str, set_: str, expected: str) -> None:
    assert open_embedder(chosen, Settings(embedder=set_), "de").name == expected


def test_an_embedder_of_ours_stays_what_it_is() -> None:
    embedder = open_embedder("hashing", Settings())
    assert open_embedder(embedder, Settings()) is embedder
    mine = open_embedder(by_length, Settings())
    assert (mine.name, mine.describe()) == ("by_length", "by_length")
    vectors, milliseconds = embedder.embed_timed([])
    assert (vectors.shape, milliseconds.shape) == ((0, 0), (0,))


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


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragbench.embed.opening.find_spec", lambda package: None)
    assert open_embedder("auto", Settings(), "ru").is_stand_in
    with pytest.raises(BenchError, match=r"natasha is not installed: pip install ragbench"):
        open_embedder("navec", Settings())


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
