"""Embedders: the offline default, and models of sentence-transformers."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer

from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import Embedder
from ragbench.old.embed import hashing, make
from ragbench.old.embed.hashing import Arrays, HashingEmbedder, normalised
from ragbench.old.store import EmbeddingError, Store

CORPUS = [
    "Как восстановить пароль от личного кабинета студента",
    "Общежитие: заселение первокурсников и стоимость проживания",
    "Расписание занятий публикуется за неделю до начала семестра",
    "Ёлка и ёжик стоят у входа в библиотеку",
    "Стипендия назначается по итогам сессии",
    "The library is open on weekdays from nine to six",
]
PLAIN = EmbedderSettings(tfidf=False, dimensions=0, buckets=4096)


def test_it_finds_russian_despite_endings_case_and_misspelling() -> None:
    embedder = make("hashing", EmbedderSettings(), CORPUS)
    passages = embedder.embed(CORPUS)
    questions = ["ВОССТАНОВЛЕНИЕ ПАРОЛЕЙ", "сколько стоит общежитее", "распесание занятия", "елкa ежика", "стипендию"]
    found = (embedder.embed(questions, kind="query") @ passages.T).argmax(axis=1)
    assert found.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "settings",
    [EmbedderSettings(), EmbedderSettings(tfidf=False), PLAIN, EmbedderSettings(dimensions=0, buckets=16_000)],
)
def test_vectors_are_float32_of_length_one(settings: EmbedderSettings) -> None:
    vectors = make("h", settings, CORPUS).embed([*CORPUS, "зачёт", "?!", "x"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_cosines_of_plain_ngrams_by_hand() -> None:
    """' ab ' has the 3-grams ' ab', 'ab '; ' abc ' has ' ab', 'abc', 'bc ': cos = 1 / √(2·3)."""
    settings = EmbedderSettings(ngrams=(3, 3), tfidf=False, dimensions=0, buckets=16_000)
    one, other = make("h", settings).embed(["ab", "abc"])
    assert float(one @ other) == pytest.approx(1 / np.sqrt(6), abs=1e-6)
    assert (one > 0).sum() == 2


def test_tfidf_weighs_rare_ngrams_more_by_hand() -> None:
    """3 texts; 'a' stands in all (idf 1), 'b' in one (idf ln(4/2) + 1): tf-idf of 'a b' is their ratio."""
    settings = EmbedderSettings(ngrams=(3, 3), tfidf=True, dimensions=0, buckets=16_000)
    vector = make("h", settings, ["a", "a b", "a c"]).embed(["a b"])[0]
    weights = np.sort(vector[vector > 0])
    assert weights[-1] / weights[0] == pytest.approx(np.log(4 / 2) + 1, rel=1e-6)


def test_without_reduction_of_rank_svd_keeps_all_cosines() -> None:
    """Every text of the corpus lies in the span of the axes, so their cosines are those of the weighted n-grams."""
    wide = make("w", EmbedderSettings(dimensions=0, buckets=16_000), CORPUS).embed(CORPUS)
    reduced = make("r", EmbedderSettings(dimensions=256, buckets=16_000), CORPUS).embed(CORPUS)
    assert reduced.shape == (6, 7), "as many axes as the corpus has texts, and the one for strangers"
    np.testing.assert_allclose(reduced @ reduced.T, wide @ wide.T, atol=1e-6)


def test_texts_that_share_nothing_with_the_corpus_are_at_right_angles_not_zero() -> None:
    embedder = make("h", EmbedderSettings(), CORPUS)
    stranger = embedder.embed(["漢字", "ωψφ"])
    np.testing.assert_array_equal(stranger @ embedder.embed(CORPUS).T, 0)
    np.testing.assert_array_equal(stranger[:, -1], 1)


def test_a_large_corpus_is_reduced_by_random_projections_with_nearly_the_same_cosines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [f"{word} {other}" for word in ["кафедра", "деканат", "сессия", "зачёт", "экзамен"] for other in CORPUS]
    settings = EmbedderSettings(dimensions=9)
    exact = make("e", settings, texts).embed(texts)
    monkeypatch.setattr("ragbench.old.embed.hashing.EXACT_UP_TO", 0)
    random = make("r", settings, texts)
    assert random.embed(texts).shape == exact.shape
    np.testing.assert_allclose(random.embed(texts) @ random.embed(texts).T, exact @ exact.T, atol=1e-4)
    assert make("r", settings, texts).identity == random.identity


@pytest.mark.fault("determinism", tried="rows in another order", count=1)
def test_the_fit_knows_no_order_and_no_repetition_of_texts() -> None:
    one = make("h", EmbedderSettings(), CORPUS)
    other = make("h", EmbedderSettings(), [*reversed(CORPUS), CORPUS[2]])
    assert one.identity == other.identity
    np.testing.assert_array_equal(one.embed(CORPUS), other.embed(CORPUS))


@pytest.mark.fault("changed", tried="options of an embedder", count=6)
@pytest.mark.parametrize(
    "change",
    [
        {"ngrams": (2, 4)}, {"tfidf": False}, {"buckets": 2**17}, {"dimensions": 4}, {"query_prefix": "q: "},
        {"passage_prefix": "p: "},
    ],
)  # fmt: skip
def test_identity_covers_every_option_and_the_corpus(change: dict[str, Any]) -> None:
    base = make("h", EmbedderSettings(), CORPUS).identity
    assert make("h", EmbedderSettings(**change), CORPUS).identity != base
    assert make("h", EmbedderSettings(), CORPUS[1:]).identity != base
    assert make("another name", EmbedderSettings(batch=3), CORPUS).identity == base


@pytest.mark.fault("determinism", tried="processes with other hash seeds and numbers of threads", count=1)
@pytest.mark.slow
def test_the_same_bytes_in_every_process_and_with_any_threads() -> None:
    program = (
        "import hashlib\nfrom ragbench.old.embed import make\nfrom ragbench.old.core.settings import EmbedderSettings\n"
        "texts = [f'{n * 7919 % 1000} слово {n} текст {n * n % 97}' for n in range(400)]\n"
        "e = make('h', EmbedderSettings(dimensions=64), texts)\n"
        "print(e.identity, hashlib.sha256(e.embed(texts).tobytes()).hexdigest())"
    )
    said = set()
    for threads, seed in (("1", "0"), ("2", "1"), ("4", "77")):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
            "PYTHONHASHSEED": seed,
        }
        said.add(subprocess.check_output([sys.executable, "-c", program], env=environment, text=True))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("settings", "corpus", "said"),
    [
        (EmbedderSettings(dimensions=0, buckets=16_001), CORPUS, "set buckets = 16000 or fewer, or dimensions above 0"),
        (EmbedderSettings(dimensions=0, buckets=16_000), None, "takes its weights from a corpus"),
        (EmbedderSettings(tfidf=False), [], "takes its weights from a corpus"),
        (EmbedderSettings(dimensions=1), CORPUS, "dimensions = 1"),
        (EmbedderSettings(), [*CORPUS, "  "], "1 of 7 texts are empty"),
    ],
)
def test_settings_that_give_no_vectors_are_named(
    settings: EmbedderSettings, corpus: list[str] | None, said: str
) -> None:
    with pytest.raises(EmbeddingError, match=said):
        make("h", settings, corpus)


def test_empty_and_over_long_texts_are_named_with_their_places() -> None:
    embedder = make("h", PLAIN.model_copy(update={"max_characters": 10}))
    with pytest.raises(
        EmbeddingError, match=r"2 of 4 texts are empty and cannot be embedded by h; the first is number 2"
    ):
        embedder.embed(["x", "", "y", "\n\t "])
    with pytest.raises(EmbeddingError, match=r"1 of 2 texts are longer than max_characters = 10") as caught:
        embedder.embed(["x", "y" * 11])
    assert caught.value.positions == (1,)


@given(st.text(min_size=1, max_size=30))
def test_what_people_do_not_tell_apart_is_one_text(text: str) -> None:
    forms = {normalised(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert len(forms) == 1
    assert normalised(normalised(text)) == normalised(text)


def test_normalisation_by_hand() -> None:
    assert normalised("  ЁЖ \n и\u00a0ёж ") == "еж и еж"
    assert normalised("ﬁnal Straße ①") == "final strasse 1"


# --- sentence-transformers


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model made in place: static embeddings over a tokenizer trained on the corpus. No download."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(tokenizer.get_vocab_size(), 24, generator=generator)
    folder = tmp_path_factory.mktemp("models") / "static"
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights.numpy())]).save(str(folder))
    return folder


def model(folder: Path, **more: Any) -> Embedder:
    return make("model", EmbedderSettings(kind="sentence_transformers", model=str(folder), **more))


@pytest.mark.slow
def test_a_model_is_loaded_from_its_folder(saved_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # as HF_HUB_OFFLINE=1 sets it on import
    one = model(saved_model)
    vectors = one.embed(CORPUS)
    assert vectors.shape == (6, 24)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (one.embed(CORPUS, kind="query") @ vectors.T).argmax(axis=1).tolist() == list(range(6))
    prefixed = model(saved_model, query_prefix="расписание ")
    np.testing.assert_allclose(
        prefixed.embed(["сессия"], kind="query"), one.embed(["расписание сессия"], kind="passage"), atol=1e-6
    )
    with pytest.raises(EmbeddingError, match="1 of 1 texts are empty"):
        one.embed([""])


@pytest.mark.fault("changed", tried="files of a model", count=1)
@pytest.mark.slow
def test_a_models_identity_is_its_files(saved_model: Path, tmp_path: Path) -> None:
    import shutil

    one = model(saved_model).identity
    copy = tmp_path / "static"
    shutil.copytree(saved_model, copy)
    assert model(copy).identity == one, "the same files elsewhere are the same model"
    weights = next(copy.rglob("*.safetensors"))
    raw = bytearray(weights.read_bytes())
    raw[-1] ^= 1
    weights.write_bytes(raw)
    assert model(copy).identity != one
    assert model(saved_model, query_prefix="q: ").identity != one


@pytest.mark.slow
def test_a_model_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # as HF_HUB_OFFLINE=1 sets it on import
    with pytest.raises(EmbeddingError, match=r"embedders\.model\.model = 'no-such-model-anywhere' cannot be loaded"):
        make("model", EmbedderSettings(kind="sentence_transformers", model="no-such-model-anywhere"))


@pytest.mark.parametrize("options", [{}, {"tfidf": False}, {"dimensions": 0, "buckets": 512}])
def test_a_text_has_the_same_vector_to_the_last_bit_whatever_is_embedded_with_it(options: dict[str, Any]) -> None:
    """By itself, with so many that they are gone through by columns, and with more than one product takes."""
    corpus = [f"passage {number} of {number % 7} on {'cats' if number % 2 else 'mats'}" for number in range(60)]
    embedder = HashingEmbedder("hashing", EmbedderSettings(kind="hashing", **options), corpus)
    texts = [
        "нигде",
        "a cat, a cat, a CAT on passage 7",
        *(f"{number} mats or {number + 1} cats" for number in range(600)),
    ]
    assert len(texts) > embedder.together > hashing.MANY
    together = embedder.embed(texts)
    for number in (0, 1, 2, 511, 512, 601):
        assert embedder.embed([texts[number]]).tobytes() == together[number].tobytes()
    assert embedder.embed(texts[500:530]).tobytes() == together[500:530].tobytes()


@pytest.mark.parametrize(
    ("options", "held"),
    [
        ({"dimensions": 4}, {"active", "axes", "weights"}),
        ({"dimensions": 4, "tfidf": False}, {"active", "axes"}),
        ({"dimensions": 0, "buckets": 512}, {"weights"}),
    ],
)
def test_a_fit_that_was_kept_gives_the_same_vectors_to_the_last_bit(
    options: dict[str, Any], held: set[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = EmbedderSettings(kind="hashing", **options)
    corpus = [f"passage {number} of {number % 7} on {'cats' if number % 2 else 'mats'}" for number in range(40)]
    alone = HashingEmbedder("hashing", settings, corpus)
    fits: list[set[str]] = []

    def keep(about: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
        def made() -> Arrays:
            found = make()
            fits.append(set(found))
            return found

        return store.arrays(about, made)

    few = HashingEmbedder("hashing", settings, corpus, keep)
    assert not fits, "a small corpus is not kept"
    monkeypatch.setattr(hashing, "KEPT_FROM", len(corpus))
    first, second, other = (
        HashingEmbedder("hashing", one, texts, keep)
        for one, texts in (
            (settings, corpus),
            (settings, corpus[::-1]),
            (settings, [*corpus[1:], "another"]),
        )
    )
    assert fits == [held, held], "fitted once to each corpus, in whatever order it comes"
    asked = ["cats on mats", "passage 3", "щётка"]
    for one in (few, first, second):
        assert one.identity == alone.identity
        assert one.embed(asked).tobytes() == alone.embed(asked).tobytes()
    assert other.identity != alone.identity
    HashingEmbedder("hashing", settings.model_copy(update={"ngrams": (2, 3)}), corpus, keep)
    assert len(fits) == 3, "other options are another fit"


def test_a_fit_takes_so_many_texts_at_most_the_same_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [f"Passage {number} tells of {word} and of page {number * 7}." for number in range(40)
              for word in ("bread", "wine", "the harbour")]  # fmt: skip
    whole = HashingEmbedder("all", EmbedderSettings(dimensions=8), corpus)
    monkeypatch.setattr(hashing, "MOST_FITTED", 50)
    part = HashingEmbedder("some", EmbedderSettings(dimensions=8), corpus)
    assert part.identity != whole.identity
    assert HashingEmbedder("some", EmbedderSettings(dimensions=8), corpus[::-1]).identity == part.identity
    drawn = hashing.drawn(set(corpus))
    assert len(drawn) == 50
    assert HashingEmbedder("some", EmbedderSettings(dimensions=8), drawn).identity == part.identity
    assert np.allclose(np.linalg.norm(part.embed(corpus), axis=1), 1)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=4), st.sampled_from([0, 9999]))
def test_words_of_before_are_counted_as_scikit_learn_counts_them(drawn: list[str], held: int) -> None:
    texts = ["straße ab", *(text for text in drawn if normalised(text)), "ab straße  ab ё"]
    options = EmbedderSettings(kind="hashing", tfidf=False, dimensions=0, buckets=64)
    own = HashingEmbedder("own", options, None)
    counts = HashingVectorizer(
        analyzer="char_wb", ngram_range=options.ngrams, n_features=64, preprocessor=normalised, alternate_sign=False,
        norm=None,
    ).transform(texts).toarray()  # fmt: skip
    expected = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "MOST_HELD", held)
        for _ in range(2):
            assert np.allclose(own.embed(texts), expected, rtol=1e-6, atol=0)
