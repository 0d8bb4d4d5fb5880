"""A metric is a value: declared once, bound, printed, found by its name."""

from __future__ import annotations

import pytest

from ragbench import metric as metrics
from ragbench.metric import metric, parse
from ragbench.metrics import catalogue


def test_a_cutoff_and_options_are_bound_without_changing_the_metric() -> None:
    ndcg = catalogue()["ndcg"]
    bound = ndcg.with_options(gain="exponential") @ 10
    assert bound.label == "ndcg(gain=exponential)@10"
    assert ndcg.label == "ndcg"
    assert bound == ndcg.with_options(gain="exponential") @ 10
    assert bound != ndcg @ 10
    assert len({ndcg @ 5, ndcg @ 5, ndcg @ 10}) == 2


@pytest.mark.parametrize("label", ["mrr", "ndcg@10", "ndcg(gain=exponential)@10", "rbp(p=0.5)", "recall@100"])
def test_a_label_names_its_metric(label: str) -> None:
    catalogue()
    assert parse(label).label == label


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("ndgc@10", "did you mean ndcg"),
        ("hit_rate@0", "a cut-off is a whole number from 1"),
        ("ndcg(gian=exponential)", "no option 'gian'; it has gain"),
        ("ndcg(exponential)", "name=value"),
        ("", "there is no metric ''"),
        ("mrr; drop table", "there is no metric"),
    ],
)
def test_a_label_that_names_nothing_is_an_error_that_helps(label: str, expected: str) -> None:
    catalogue()
    with pytest.raises(ValueError, match=expected):
        parse(label)


@pytest.mark.parametrize("cutoff", [0, -1, True, 2.5, "5"])
def test_only_whole_numbers_from_one_cut_off(cutoff: object) -> None:
    with pytest.raises(ValueError, match="whole number from 1"):
        catalogue()["recall"] @ cutoff  # type: ignore[operator]


def test_a_declaration_with_an_unknown_grain_is_refused() -> None:
    with pytest.raises(TypeError, match="first parameter is 'rows'"):

        @metric(source="nowhere")
        def strange(rows: list[int]) -> float:
            """Nothing."""
            return 0.0


def test_two_rooms_cannot_declare_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_registry", dict(metrics._registry))

    def mrr(ranking: object) -> None:
        """Another."""

    mrr.__module__ = "elsewhere"
    with pytest.raises(ValueError, match="mrr is declared in"):
        metric(source="nowhere")(mrr)
