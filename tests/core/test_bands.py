"""Which values are good and excellent, and frames that hold what they declare."""

from __future__ import annotations

import pandas as pd
import pytest

from ragbench.core.bands import Thresholds, choose_set, find_thresholds
from ragbench.core.errors import BenchError
from ragbench.core.frames import LABELS, check, frame_of
from ragbench.core.settings import Band, Settings


@pytest.mark.parametrize(
    ("thresholds", "levels"),
    [
        # Good from its value on, excellent above it.
        (Thresholds(0.5, 0.8), {0.49: 0, 0.5: 1, 0.8: 1, 0.81: 2}),
        (Thresholds(0.5), {0.49: 0, 0.5: 1, 9: 1}),
        (Thresholds(0.2, 0.1, is_lower_better=True), {0.21: 0, 0.2: 1, 0.1: 1, 0.09: 2}),
    ],
)
def test_the_band_of_a_value(thresholds: Thresholds, levels: dict[float, int]) -> None:
    assert {value: thresholds.level(value) for value in levels} == levels


BANDS = {
    "mrr": Band(good=0.5, excellent=0.8),
    "mrr@5": Band(good=0.1),
    "faithfulness": Band(good=4, excellent=4.5, scale=(1, 5)),
    "context_recall": Band(good=3, scale=(1, 5)),
    "wrong_hit_rate": Band(good=0.05),
    "avg_latency_ms": Band(good=100, scale=(0, 1)),
    "of nobody here": Band(good=0.2),
}


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("mrr", Thresholds(0.5, 0.8)),
        ("mrr@10", Thresholds(0.5, 0.8)),
        ("mrr@5", Thresholds(0.1)),
        ("faithfulness", Thresholds(0.75, 0.875)),
        ("context_recall", Thresholds(0.5)),
        ("wrong_hit_rate", Thresholds(0.05, is_lower_better=True)),
        ("avg_latency_ms", Thresholds(100, is_lower_better=True)),  # its scale has no end
        ("of nobody here", Thresholds(0.2)),
        ("ndcg@10", None),
        ("of nobody there", None),
    ],
)
def test_the_thresholds_of_a_metric(label: str, expected: Thresholds | None) -> None:
    assert find_thresholds(label, BANDS) == expected


def test_a_set_is_that_of_the_settings_or_named() -> None:
    settings = Settings(thresholds={"mine": {"mrr": Band(good=0.3)}}, threshold_set="mine")
    assert choose_set(settings)["mrr"].good == 0.3
    assert "ndcg@10" in choose_set(settings, "specification")
    for name, hint in (("specificatio", "did you mean 'specification'"), ("x", "there are spec")):
        with pytest.raises(BenchError, match=f"no threshold set '{name}'; {hint}"):
            choose_set(settings, name)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q", "p", "1")], "labels.grade holds .*, it should hold number"),
        ([("q", 1, 1.0)], "labels.passage_id holds int64, it should hold text"),
        ([("q", "p", 1.0), ("q", "r", 0.0), ("q", "p", 2.0)], "1 rows repeat .* 'passage_id': 'p'"),
    ],
)
def test_a_frame_holds_what_it_declares(rows: list[tuple], message: str) -> None:
    frame = pd.DataFrame(rows, columns=LABELS.names)
    with pytest.raises(BenchError, match=message):
        check(frame, LABELS)
    with pytest.raises(BenchError, match="labels: no column grade; columns seen: question_id"):
        check(frame.drop(columns="grade"), LABELS)
    assert check(pd.DataFrame(columns=LABELS.names), LABELS).empty


def test_a_frame_of_rows_has_the_declared_types() -> None:
    frame = frame_of([("q", "p", 1)], LABELS)
    assert frame["grade"].dtype == float
    assert frame_of([], LABELS).dtypes.tolist() == frame.dtypes.tolist()
    more = check(frame.assign(extra=1)[["extra", *LABELS.names]], LABELS)
    assert list(more.columns) == [*LABELS.names, "extra"]
