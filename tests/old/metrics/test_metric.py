"""A metric is a value: declared once, bound, printed, found by its name."""

from __future__ import annotations

import pytest

from ragbench.old.core import metric as metrics
from ragbench.old.core.metric import called, metric, parse
from ragbench.old.metrics import catalogue, meant, published


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


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("mrr@10", ("mrr@10", "mrr")), ("mrr(level=2)@5", ("mrr(level=2)@5", "mrr(level=2)")), ("mrr", ("mrr",)),
        ("average_precision@10", ("average_precision@10", "map@10", "average_precision", "map")),
        ("recall@5", ("recall@5",)), ("rouge1_f(stem=True)", ("rouge1_f(stem=True)", "avg_rouge1_f(stem=True)")),
        ("decision_precision", ("decision_precision", "precision")),
    ],
)  # fmt: skip
def test_a_number_goes_by_every_name_that_is_published_of_it(label: str, names: tuple[str, ...]) -> None:
    catalogue()
    assert parse(label).names == names


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("avg_rouge1_f", "rouge1_f"), ("avg_rouge2_f", "rouge2_f"), ("avg_rougeL_f", "rougeL_f"), ("avg_bleu", "bleu"),
        ("avg_semantic_similarity", "semantic_similarity"), ("avg_dot_similarity", "dot_similarity"),
        ("avg_euclidean_distance", "euclidean_distance"), ("avg_e2e_score", "e2e_score"),
        ("avg_answer_relevance", "answer_relevance"), ("avg_answer_correctness", "answer_correctness_rating"),
        ("map@10", "average_precision@10"), ("avg_rouge1_f(stem=True)", "rouge1_f(stem=True)"),
        ("precision@5", "precision@5"),
    ],
)  # fmt: skip
def test_a_published_name_is_as_good_as_the_own_one(name: str, label: str) -> None:
    catalogue()
    assert parse(name).label == label


def test_a_name_means_the_label_that_is_there_else_all_that_go_by_it() -> None:
    assert meant("mrr", ["hit_rate@1", "mrr@10"]) == ("mrr@10",)
    assert meant("mrr", ["mrr@10", "mrr"]) == ("mrr",)
    assert meant("precision", ["precision@5", "decision_precision"]) == ("decision_precision",)
    assert meant("avg_faithfulness", ["faithfulness", "faithfulness_rating"]) == ("faithfulness_rating",)
    assert meant("recall", ["recall@5"]) == (), "a cut-off that the specification publishes is part of the name"
    assert meant("nobody's", ["nobody's", "mrr"]) == ("nobody's",)


def test_summaries_have_a_number_under_its_published_name_too() -> None:
    labels = ("rouge1_f", "mrr@10", "average_precision@10", "decision_recall", "hit_rate@1", "faithfulness", "nobody's")
    assert list(map(published, labels)) == [
        "avg_rouge1_f", "mrr", "map@10", "recall", "hit_rate@1", "faithfulness", "nobody's",
    ]  # fmt: skip


def test_one_name_has_one_scale() -> None:
    """`avg_faithfulness` is a metric of judges and the published name of a rating: whoever reads it reads one scale."""
    known = catalogue().values()
    for each in known:
        for other in called(each.published) if each.published else ():
            assert other.bounds == each.bounds, (each.label, other.label)
    assert len({each.published for each in known if each.published}) == sum(bool(each.published) for each in known)
    assert [each.label for each in called("avg_faithfulness")] == ["avg_faithfulness", "faithfulness_rating"]
