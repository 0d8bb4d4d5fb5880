"""context_precision_by_label and context_recall_by_label."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.core.types import Chunk, Sample, Score
from ragbench.metrics.contexts import context_precision_by_label, context_recall_by_label
from tests.judge.scripted_judge import score


def sample(retrieved: list[str], labelled: list[str]) -> Sample:
    """Chunks "id:text"."""

    def chunks(items: list[str]) -> tuple[Chunk, ...]:
        return tuple(Chunk(*item.split(":")) for item in items)

    return Sample("s", contexts=chunks(retrieved), reference_contexts=chunks(labelled))


def both(one: Sample, **options: Any) -> tuple[Score, Score]:
    return score(context_precision_by_label(one, **options)), score(context_recall_by_label(one, **options))


def test_by_identifier() -> None:
    precision, recall = both(sample(["a:x", "b:x", "c:x"], ["a:y", "d:y"]))
    assert (precision.value, recall.value) == (1 / 3, 0.5)
    assert precision.detail["matched"] == ["a"]
    assert recall.detail["missing"] == ["d"]
    assert "1 / 3 = 0.333" in precision.reason


def test_copies_count_once() -> None:
    precision, recall = both(sample(["a:x", "a:x", "a:x", "b:x"], ["a:y", "a:y"]))
    assert (precision.value, recall.value) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("retrieved", "labelled", "threshold", "expected"),
    [
        ("Москва — столица.", "МОСКВА — СТОЛИЦА", 0.9, 1.0),
        ("kitten", "sitting", 0.57, 1.0),
        ("kitten", "sitting", 0.58, 0.0),
        ("ab", "ax", 0.5, 1.0),
        ("same", "same", 1.0, 1.0),
        ("short", "a very much longer text", 0.5, 0.0),
    ],
)
def test_by_text(retrieved: str, labelled: str, threshold: float, expected: float) -> None:
    found = both(sample([f"a:{retrieved}"], [f"z:{labelled}"]), by="text", threshold=threshold)
    assert [each.value for each in found] == [expected, expected]
    assert [each.value for each in both(sample([f"a:{retrieved}"], [f"z:{labelled}"]))] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"by": "url"}, "id or text is expected"), ({"threshold": 0.0}, "above 0"), ({"threshold": 2}, "1")],
)
def test_wrong_options(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        both(sample(["a:x"], ["a:x"]), **wrong)


def test_by_text_one_of_several_is_enough() -> None:
    """One of the two retrieved texts is labelled, and one of the three labelled texts was retrieved."""
    precision, recall = both(sample(["a:same", "b:other"], ["x:far away", "y:same", "z:unlike"]), by="text")
    assert (precision.value, recall.value) == (0.5, pytest.approx(1 / 3))
    assert precision.detail["matched"] == ["a"]
    assert recall.detail["missing"] == ["x", "z"]
