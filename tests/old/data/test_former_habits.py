"""What people write who come from ragas: its names, its samples, its tables, and what they do with a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

import ragbench.old as rb
from ragbench.old.core.metric import parse
from ragbench.old.data import DatasetError
from ragbench.old.data.samples import samples_of
from ragbench.old.metrics import catalogue

pytestmark = pytest.mark.usefixtures("bare")
FIELDS = ("user_input", "response", "retrieved_contexts", "reference")
ROWS: list[dict[str, Any]] = [
    dict(zip(FIELDS, ("When?", "At nine.", ["It opens at nine."], "At nine."), strict=True)),
    dict(zip(FIELDS, ("Where?", "Here.", ["In the hall.", "There."], "There."), strict=True)),
]


class SingleTurn(BaseModel):
    """As ragas declares its own: every field may be missing."""

    user_input: str | None = None
    response: str | None = None
    retrieved_contexts: list[str] | None = None
    reference: str | None = None
    rubrics: dict[str, str] | None = None


class DataSet:
    """An evaluation data set: it can be iterated, and gives a list of dictionaries."""

    def to_list(self) -> list[dict[str, Any]]:
        return ROWS


class Document:
    """As LangChain's."""

    def __init__(self, page_content: str) -> None:
        self.page_content, self.metadata = page_content, {"source": "a"}


def table() -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(ROWS)


@pytest.mark.parametrize(
    "given",
    [
        lambda: [SingleTurn(**row) for row in ROWS], DataSet, table,
        lambda: [{**row, "retrieved_contexts": list(map(Document, row["retrieved_contexts"]))} for row in ROWS],
        lambda: [{**row, "contexts": [{"page_content": text} for text in row["retrieved_contexts"]],
                  "retrieved_contexts": None} for row in ROWS],
    ],
    ids=["models", "data set", "pyarrow", "documents", "documents as JSON"],
)  # fmt: skip
def test_what_holds_samples_there_holds_them_here(given: Callable[[], Any]) -> None:
    assert samples_of(given()) == samples_of(ROWS)


def test_one_model_is_one_sample_and_what_is_no_sample_is_refused() -> None:
    assert samples_of(SingleTurn(**ROWS[0])) == samples_of(ROWS[:1])
    with pytest.raises(DatasetError, match="row 1: a sample is a Sample or a mapping, not a text"):
        samples_of(["a text"])


@pytest.mark.parametrize(
    ("former", "now"),
    [("answer_relevancy", "response_relevancy"), ("answer_similarity", "semantic_similarity"),
     ("nv_accuracy", "answer_accuracy"), ("bleu_score", "bleu"), ("rouge_score", "rougeL_f"),
     ("aspect_critic(aspect=harmfulness)", "aspect_critique(aspect=harmfulness)")],
)  # fmt: skip
def test_a_former_name_means_the_metric_of_today(former: str, now: str) -> None:
    catalogue()
    assert parse(former).label == now


def test_no_former_name_is_another_metrics_own() -> None:
    own = {name for each in catalogue().values() for name in (each.name, each.published)}
    former = [name for each in catalogue().values() for name in each.former]
    assert len(former) == len(set(former)) > 10
    assert not own & set(former)


def test_a_result_is_indexed_iterated_and_laid_out_wide() -> None:
    found = rb.score(ROWS, metrics=["exact_match", "bleu_score"])
    assert found["exact_match"] == [1.0, 0.0]
    assert found["bleu"][0] == pytest.approx(100.0)
    assert [(row.sample.id, row.metric.label) for row in found] == [
        (sample, metric) for sample in ("1", "2") for metric in ("exact_match", "bleu")
    ]
    assert found[0].score.value == 1.0
    with pytest.raises(KeyError, match="'mrr' was not measured; measured: exact_match, bleu"):
        found["mrr"]
    wide = found.to_pandas("wide")
    assert list(wide.columns) == [
        "system", "id", "user_input", "response", "reference", "contexts", "suspected_injection", "exact_match", "bleu",
    ]  # fmt: skip
    assert wide["contexts"].tolist() == [row["retrieved_contexts"] for row in ROWS]
    assert wide["exact_match"].tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="form = 'tall': 'long' or 'wide' is expected"):
        found.to_pandas("tall")  # type: ignore[arg-type]


def test_what_was_not_measured_is_nan_in_a_column_too() -> None:
    bare = [{**ROWS[0]}, {"user_input": "Where?", "response": "Here."}]
    found = rb.score(bare, metrics=["exact_match"])
    assert found["exact_match"][0] == 1.0
    assert math.isnan(found["exact_match"][1])
