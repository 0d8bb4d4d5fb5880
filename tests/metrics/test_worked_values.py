"""Every metric without a judge on plain values, worked out by hand: called as a user calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragbench.metrics import find_metric
from ragbench.metrics.decisions import CELLS

NAN = np.nan
NINE, TEN = "the library opens at nine", "the library opens at ten"
SET = ([NINE, "at ten"], [TEN, "at ten"])
# Vectors of the texts that stand for them.
VECTORS = {"a": (3.0, 4.0), "b": (4.0, 3.0), "c": (0.0, 0.0)}
TURNS = [(1.0, 0.0), (0.6, 0.8), (0.6, 0.8)]
LINE = [[0.0], [1.0], [3.0]]
BASE = ("abcde", "aab")


def embedder(texts: list[str]) -> list[tuple[float, ...]]:
    return [VECTORS[text] for text in texts]


def tokens(texts: list[str]) -> list[np.ndarray]:
    """A vector a word: (1, 0) for a, (0, 1) for b, (−1, 0) for c, (0, 0) for others."""
    places = {"a": (1, 0), "b": (0, 1), "c": (-1, 0)}
    return [np.array([places.get(word, (0, 0)) for word in text.split()], float) for text in texts]


def decided(**counts: int) -> tuple[list[bool], list[bool | None]]:
    """Labels and decisions of which so many fall into each cell."""
    cells = {
        "tp": (True, True),
        "fp": (False, True),
        "fn": (True, False),
        "tn": (False, False),
        "failed_positive": (True, None),
        "failed_negative": (False, None),
    }
    assert tuple(cells) == CELLS
    pairs = [cells[name] for name, count in counts.items() for _ in range(count)]
    return [label for label, _ in pairs], [decision for _, decision in pairs]


WORKED: list[tuple[str, tuple[Any, ...], float]] = [
    # gains of the ranks; then grades of all judged passages
    ("hit_rate@3", ([0, 1, 0],), 1.0),
    ("hit_rate@1", ([0, 1, 0],), 0.0),
    ("mrr", ([0, 0, 1],), 1 / 3),
    ("mrr@2", ([0, 0, 1],), 0.0),
    ("precision@5", ([1, 0, 1, 0, 0],), 0.4),
    ("precision@10", ([1, 0, 1, 0, 0],), 0.2),
    ("precision", ([1, 0, 1, 0, 0],), 0.4),
    ("recall@5", ([1, 0, 1, 0, 0], [1, 1, 1, 1]), 0.5),
    ("ndcg@3", ([1, 0, 2],), 0.7601875334318685),
    ("ndcg(gain=exponential)@3", ([1, 0, 2],), 0.6885288),
    ("ndcg@5", ([1, 0, 1, 0, 0],), 0.9197207891481876),
    ("average_precision", ([1, 0, 1, 0],), (1 + 2 / 3) / 2),
    ("average_precision@3", ([0, 1, 0, 1, 0], [1, 1, 1]), 0.5 / 3),
    ("r_precision", ([1, 0, 1, 1],), 2 / 3),
    ("rbp", ([1, 0, 1],), 0.2 * (1 + 0.64)),
    ("rbp(p=0.5)", ([1, 0, 1],), 0.5 * (1 + 0.25)),
    ("judged@4", ([1, None, None, None],), 0.25),
    ("bpref", ([1, 0, 1],), 0.5),
    # two relevant, three others: one of them above the first, two above the second
    ("bpref", ([None, 0, 1, 0, 1], [1, 1, 0, 0, 0]), (1 - 1 / 2 + 1 - 2 / 2) / 2),
    ("inferred_ap", ([1, 0, 1],), (1 + 1 / 3 + 2 / 3 * 1 / 2) / 2),
    ("mrr(level=2)", ([1, 2, 0],), 0.5),
    ("recall(level=2)@2", ([1, 2, 0], [1, 2, 3]), 0.5),
    ("retrieval_consistency", (["ab", "ab", "ba"],), 0.5),
    ("retrieval_consistency@1", (["abc", "acb", "abd"],), 1.0),
    # answer, reference
    ("rouge1_f", (NINE, TEN), 0.8),
    ("rouge2_f", (NINE, TEN), 0.75),
    ("rougeL_f", (NINE, TEN), 0.8),
    ("rougeL_f", ("cat the sat", "the cat sat down"), 4 / 7),
    ("rouge1_f(mode=precision)", ("the cat slept", "the cat sat down"), 2 / 3),
    ("rouge1_f(mode=recall)", ("the cat slept", "the cat sat down"), 1 / 2),
    ("rouge1_f(stem=True)", ("столицей страны", "столица страна"), 1.0),
    ("bleu", (NINE, TEN), 66.87403049764218),
    ("bleu", ("красная площадь", "красная площадь"), 100.0),
    ("bleu(lowercase=True)", ("МОСКВА ГОРОД", "москва город"), 100.0),
    ("chrf", ("the library", "the library"), 100.0),
    ("token_f1", ("the library opens", "library opens today"), 0.8),
    ("exact_match", ("At  Nine", "at nine"), 1.0),
    ("exact_match", ("at nine.", "at nine"), 0.0),
    ("exact_match(squad=True)", ("The end.", "end"), 1.0),
    ("exact_match(within=True)", ("It opens at nine.", "at nine"), 1.0),
    ("exact_match(within=True)", ("It opens at ten.", "at nine"), 0.0),
    ("exact_match(case=True)", ("At nine", "at nine"), 0.0),
    ("exact_match(squad=True,case=True)", ("The END.", "end"), 1.0),
    ("token_f1", ("Ёлка!", "елка"), 1.0),
    ("token_f1", ("图书馆。", "图书馆"), 1.0),
    ("token_f1", ("«x»", "x"), 0.0),  # of Latin texts SQuAD's script knows ASCII's marks alone
    ("string_similarity(case=True)", ("A", "a"), 0.0),
    ("string_similarity", ("librery", "library"), 1 - 1 / 7),
    ("string_similarity(measure=hamming)", ("hello", "hello world"), 1 - 6 / 11),
    ("string_similarity(measure=jaro)", ("МАРТЫН", "мартны"), 17 / 18),
    ("string_similarity(measure=jaro_winkler)", ("МАРТЫН", "мартны"), 17 / 18 + 0.4 / 18),
    ("corpus_rouge1_f", SET, 6 / 7),
    ("corpus_rouge2_f", SET, 0.8),
    ("corpus_rougeL_f", SET, 6 / 7),
    ("corpus_bleu", SET, 69.14415692838818),
    # vectors
    ("semantic_similarity", ("a", "b", embedder), 0.96),
    ("semantic_similarity(threshold=0.96)", ("a", "b", embedder), 1.0),
    ("semantic_similarity(threshold=0.97)", ("a", "b", embedder), 0.0),
    ("dot_similarity", ("a", "b", embedder), 24.0),
    ("euclidean_distance", ("a", "b", embedder), 2**0.5),
    ("euclidean_distance", ("", "b", embedder), 50**0.5),
    ("bert_score", ("a b", "a", tokens), 2 / 3),
    ("bert_score(part=precision)", ("a b", "a", tokens), 0.5),
    ("bert_score", ("a", "a c c", tokens), 0.0),  # F1 of 1 and −1/3 means nothing
    ("bert_score", ("a c c", "a", tokens), 0.0),
    ("bert_score", ("a", "b", tokens), 0.0),
    ("bert_score", ("of nobody", "a", tokens), 0.0),
    ("response_exact_match_rate", (["a", "a", "b", "a"],), 2 / 3),
    ("response_semantic_consistency", ([(1, 0), (1, 0), (0.6, 0.8)],), 0.8),
    ("context_preservation", (TURNS,), 0.8),
    ("multi_turn_consistency", (TURNS,), 0.8),
    ("answer_consistency", (TURNS,), 0.8),
    # vectors of a whole set
    ("total_samples", (LINE,), 3.0),
    ("avg_nn_distance", (LINE,), 4 / 3),
    ("std_nn_distance", (LINE,), 2**0.5 / 3),
    ("density_score", (LINE,), 0.75),
    ("avg_spread", ([[0.0], [1.0], [5.0]],), 2.0),
    ("max_spread", ([[0.0], [1.0], [5.0]],), 3.0),
    ("spread_std", ([[0.0], [1.0], [5.0]],), (2 / 3) ** 0.5),
    ("effective_dimensionality", ([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]],), 1.0),
    ("effective_dimensionality", ([[1.0, 1.0], [1.0, 1.0]],), 0.0),
    ("avg_pairwise_distance", (LINE,), 2.0),
    ("std_pairwise_distance", ([[0.0], [2.0]],), 0.0),
    ("std_pairwise_distance", (LINE,), (2 / 3) ** 0.5),
    ("min_pairwise_distance", (LINE,), 1.0),
    ("max_pairwise_distance", (LINE,), 3.0),
    # labels and decisions
    ("accuracy", decided(tp=6, tn=2, fp=1, fn=1), 0.8),
    ("accuracy", decided(tp=6, tn=2, failed_positive=2), 0.8),
    ("decision_precision", decided(tp=6, tn=2, fp=1, fn=1), 6 / 7),
    ("decision_recall", decided(tp=6, tn=2, fp=1, fn=1, failed_positive=1), 0.75),
    ("f1_score", decided(tp=6, tn=2, fp=1, fn=2), 0.8),
    ("balanced_accuracy", decided(tp=6, tn=2, fp=1, fn=2), (0.75 + 2 / 3) / 2),
    ("decision_cost(cost_shown=3)", decided(tp=5, tn=2, fp=1, fn=2), 0.5),
    # a judge's scores, and its choices in both orders
    ("consistency_score", ([[4, 4, 5], [3, 3, 3]],), 2 / 3),
    ("consistency_score", ([[1.1, 0.6]],), 1.0),  # 1.1 − 0.6 is .5 on paper
    ("error_rate", ([[4, 5], [NAN, 3]],), 0.25),
    ("error_rate", ([[4, 5], [NAN, NAN]], [[True, True], [False, True]]), 1 / 3),
    ("avg_latency_ms", ([[200, 400], [100, NAN]],), 200.0),
    ("avg_faithfulness", ([[4, 5], [3, NAN]],), 3.75),
    ("pairwise_accuracy", ([(1, -1), (1, 0), (1, 1), (-1, 1)], [1] * 4), 0.5),
    ("pairwise_accuracy", ([(1, 1)] * 3, [1, -1, 1]), 0.0),  # always the first place
    ("pairwise_accuracy", ([(1, -1), (NAN, NAN), (-1, 1)], [NAN, 1, -1]), 1.0),
    ("position_consistency", ([(1, -1), (1, 1), (-1, 1), (0, 0), (1, NAN)],), 0.75),
    # cosines to the nearest cached question; whether its answer is wrong
    ("cache_hit_rate", ([0.9, 0.8, 0.86, 0.5],), 0.5),
    ("cache_hit_rate", ([0.85, 0.85 + 2**-23, NAN],), 0.0),  # strictly above, but for precision
    ("cache_hit_rate(threshold=0)", ([0.1, -0.1],), 0.5),
    ("wrong_hit_rate", ([0.99] * 4, [0, 0, 1, NAN]), 1 / 3),
    ("wrong_hit_rate", ([0.99, 0.5], [1, 1]), 0.5),  # what is not served is not served wrongly
    # ids of a base, ids that were retrieved
    ("utilization_rate", BASE, 0.4),
    ("total_chunks", BASE, 5.0),
    ("used_chunks", BASE, 2.0),
    ("unused_chunks", BASE, 3.0),
]


@pytest.mark.parametrize(("label", "arguments", "expected"), WORKED)
def test_plain_values_give_the_number_worked_out_by_hand(
    label: str, arguments: tuple[Any, ...], expected: float
) -> None:
    assert find_metric(label)(*arguments) == pytest.approx(expected, abs=1e-5)


UNMEASURED: list[tuple[str, tuple[Any, ...]]] = [
    ("ndcg", ([0, 0],)),
    ("mrr", ([0, None], [0, -1])),
    ("judged", ([None, None],)),
    ("retrieval_consistency", (["ab"],)),
    ("retrieval_consistency", ([],)),
    ("response_exact_match_rate", ([],)),
    ("rouge1_f", ("да", "—")),
    ("rouge2_f", ("да да", "да")),
    ("token_f1", ("a", "the")),
    ("rouge1_f", (None, "a")),
    ("bleu", ("a", " ")),
    ("corpus_bleu", ([None], ["a"])),
    ("semantic_similarity", ("a", "c", embedder)),  # a vector of zeros
    ("response_exact_match_rate", (["a"],)),
    ("response_semantic_consistency", (["a"], embedder)),
    ("context_preservation", (["a"], embedder)),
    ("context_preservation", ([], embedder)),
    ("min_pairwise_distance", ([[1.0, 2.0]],)),
    ("accuracy", ([], [])),
    ("decision_precision", decided(fn=2)),
    ("balanced_accuracy", decided(tp=2, fn=1)),
    ("consistency_score", ([[1.0], [2.0]],)),
    ("error_rate", ([[NAN]], [[False]])),
    ("pairwise_accuracy", ([(1, -1)], [0])),
    ("cache_hit_rate", ([],)),
    ("wrong_hit_rate", ([0.9], [NAN])),
    ("utilization_rate", ((), "a")),
    ("agent_turns", ([],)),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("label", "arguments"), UNMEASURED)
def test_where_nothing_can_be_measured_there_is_no_value(
    label: str, arguments: tuple[Any, ...]
) -> None:
    assert np.isnan(find_metric(label)(*arguments))


@pytest.mark.parametrize(
    "label",
    ["rouge1_f", "rougeL_f", "bleu", "chrf", "token_f1", "exact_match", "string_similarity"],
)
def test_an_empty_answer_counts_0_and_the_best_of_several_references_counts(label: str) -> None:
    metric = find_metric(label)
    assert metric("", "a reference") == 0.0
    values = metric(["a b c", None, "x"], [["x", "a b c"], "a", []])
    assert values[0] == metric("a b c", "a b c") > 0
    assert np.isnan(values[1:]).all()


def test_vectors_are_asked_for_once_for_equal_texts_and_checked() -> None:
    asked: list[list[str]] = []

    def count(texts: list[str]) -> list[tuple[float, ...]]:
        asked.append(texts)
        return embedder(texts)

    values = find_metric("semantic_similarity")(["a", "", "b"], ["b", "b", ["a", "b"]], count)
    assert values == pytest.approx([0.96, 0.0, 1.0])
    assert asked == [["b", "a"]]
    for wrong in ([[NAN], [1.0]], [[1.0]], [1.0, 2.0]):
        with pytest.raises(ValueError, match="should return a finite vector each"):
            find_metric("dot_similarity")("a", "b", lambda texts, wrong=wrong: wrong)
    with pytest.raises(ValueError, match="texts need an embedder"):
        find_metric("answer_consistency")(["a", "b"])
    with pytest.raises(ValueError, match="needs vectors of tokens"):
        find_metric("bert_score")("a", "b", object())
