"""BERTScore by hand over fixed vectors of tokens, and by a small model that is saved to the disk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import ragbench.old as rb
from ragbench.old import embed
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import EmbeddingError, Vectors
from ragbench.old.metrics.bert_score import bert_score, matched

SPACE = {"cat": [1.0, 0.0], "dog": [0.6, 0.8], "sun": [0.0, 1.0], "two": [2.0, 0.0]}
ROW = {"question": "?", "answer": "cat sun", "ground_truth": "dog cat cat"}


class Fixed:
    """Words to the vectors above; a layer is their number of quarter turns."""

    name = identity = "fixed"

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> Vectors:
        raise AssertionError("whole texts are not asked for")

    def tokens(self, texts: Sequence[str], *, layer: int | None = None) -> list[Vectors]:
        if layer is not None and layer > 1:
            raise EmbeddingError("the layer is not there")
        return [np.array([SPACE[word] for word in text.split()], dtype=np.float32) for text in texts]


def scored(*rows: dict[str, Any], metric: Any = "bert_score", **more: Any) -> Any:
    return rb.score(list(rows), metrics=[metric], embedder=more.pop("embedder", Fixed()), resamples=100, **more)


def test_each_token_is_matched_with_the_nearest_of_the_other_side() -> None:
    """cat–dog .6, cat–cat 1, sun–dog .8, sun–cat 0: P = (1 + .8) / 2, R = (.8 + 1 + 1) / 3."""
    precision, recall = 0.9, 2.8 / 3
    [row] = scored(ROW).rows
    assert row.score.value == pytest.approx(2 * precision * recall / (precision + recall))
    assert row.score.detail["precision"] == pytest.approx(precision)
    assert row.score.detail["recall"] == pytest.approx(recall)
    assert "precision 0.900, recall 0.933" in row.score.reason
    for part, value in (("precision", precision), ("recall", recall)):
        assert scored(ROW, metric=bert_score.with_options(part=part)).rows[0].score.value == pytest.approx(value)
    lengths = {"question": "?", "answer": "two", "ground_truth": "cat"}
    assert scored(lengths).rows[0].score.value == pytest.approx(1.0), "a vector's length says nothing"


def test_an_empty_answer_is_worth_nothing_and_an_empty_reference_is_unmeasured() -> None:
    empty, unknown = scored({**ROW, "answer": " "}, {**ROW, "ground_truth": " "}).rows
    assert (empty.score.value, empty.score.reason) == (0.0, "empty answer")
    assert math.isnan(unknown.score.value)
    assert unknown.score.status == "empty_input"


def test_without_a_model_it_is_unmeasured_and_says_what_to_type() -> None:
    [row] = scored(ROW, embedder="hashing").rows
    assert math.isnan(row.score.value)
    assert row.score.status == "embedding_error"
    assert "hashing has no vectors of tokens (it embeds whole texts): name a model, --embedder NAME" in row.score.reason
    [row] = scored(ROW, embedder="hashing", language="ru").rows
    assert "нет векторов токенов" in row.score.reason
    assert not [one for one in rb.score([ROW], resamples=100).metrics if one.name == "bert_score"], "off unless named"
    [row] = scored(ROW, metric=bert_score.with_options(layer=2)).rows
    assert "the layer is not there" in row.score.reason


@pytest.mark.parametrize(("option", "said"), [({"part": "f2"}, "part = 'f2'"), ({"layer": -1}, "layer = -1")])
def test_options_that_there_are_not_are_refused(option: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        scored(ROW, metric=bert_score.with_options(**option))


SIDES = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.floats(-9, 9).filter(lambda x: abs(x) > 0.1)
)


@given(SIDES, SIDES)
def test_precision_is_recall_the_other_way_round_and_order_says_nothing(one: Any, other: Any) -> None:
    precision, recall, f1 = matched(one, other)
    again = matched(other[::-1], one)
    assert (again[1], again[0], again[2]) == pytest.approx((precision, recall, f1))
    assert matched(one, one) == pytest.approx((1, 1, 1))
    assert -1 <= f1 <= max(precision, recall, 0) + 1e-12


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with weights of chance, made in place."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizer

    plain, folder = (tmp_path_factory.mktemp("bert") / name for name in ("plain", "model"))
    plain.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SPACE]
    (plain / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    torch.manual_seed(0)
    shape: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=16, **shape)).save_pretrained(plain)
    BertTokenizer(str(plain / "vocab.txt")).save_pretrained(plain)
    SentenceTransformer(str(plain)).save(str(folder))
    return folder


@pytest.mark.slow
def test_a_model_of_a_folder_gives_the_vectors_of_its_tokens_in_context(saved: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    one = embed.make("own", EmbedderSettings(kind="sentence_transformers", model=str(saved)))
    found = one.tokens(["cat sun", "dog cat cat sun two"])  # type: ignore[attr-defined]
    assert [each.shape for each in found] == [(2, 16), (5, 16)], "without padding, [CLS] and [SEP]"
    bare = AutoModel.from_pretrained(saved).eval()
    with torch.inference_mode():
        states = bare(**AutoTokenizer.from_pretrained(saved)("cat sun", return_tensors="pt"), output_hidden_states=True)
    for layer, place in ((None, -1), (1, 1), (0, 0)):
        own = one.tokens(["cat sun", "dog cat cat sun two"], layer=layer)[0]  # type: ignore[attr-defined]
        assert own == pytest.approx(states.hidden_states[place][0, 1:-1].numpy(), abs=1e-5)
    with pytest.raises(EmbeddingError, match=r"layer = 3; its model has 0 to 2"):
        one.tokens(["cat"], layer=3)  # type: ignore[attr-defined]
    [same, other] = scored({**ROW, "answer": ROW["ground_truth"]}, ROW, embedder=one).rows
    assert same.score.value == pytest.approx(1.0)
    assert other.score.value < 0.999
    both = scored(ROW, embedder=[one, Fixed()]).rows[0].score
    assert set(both.detail["embedders"]) == {"own", "fixed"}
    assert both.value == pytest.approx(sum(both.detail["embedders"].values()) / 2)
