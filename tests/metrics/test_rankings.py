"""Ranking metrics of many questions: equal to trec_eval's, and what holds for every ranking."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from ragbench.core.metric import CATALOGUE
from ragbench.metrics import bpref, find_metric, inferred_ap, judged, mrr, ndcg, precision, recall
from ragbench.metrics.ranking_frames import (
    add_gains,
    arrange,
    collapse_pages,
    drop_copies,
    grade_pieces,
)
from ragbench.metrics.rankings import Rankings, measure_rankings

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
PEERS = {
    "mrr": "recip_rank",
    "average_precision": "map",
    "bpref": "bpref",
    "r_precision": "Rprec",
    "inferred_ap": "infAP",
    "ndcg": "ndcg",
}
for k in (1, 3, 5, 10):
    PEERS |= {f"recall@{k}": f"recall_{k}", f"precision@{k}": f"P_{k}"}
    PEERS |= {f"hit_rate@{k}": f"success_{k}", f"ndcg@{k}": f"ndcg_cut_{k}"}


def arrange_trec(qrels: Qrels, run: Run) -> Rankings:
    """Rankings of files in TREC's form; equal scores are ordered as trec_eval orders them."""
    retrieved = []
    for question, scores in run.items():
        order = sorted(scores, key=lambda passage: (scores[passage], passage), reverse=True)
        retrieved += [("run", question, rank, passage) for rank, passage in enumerate(order, 1)]
    columns = ["system", "question_id", "rank", "passage_id"]
    labels = pd.DataFrame(
        [(question, passage, float(grade)) for question, grades in qrels.items()
         for passage, grade in grades.items()],
        columns=["question_id", "passage_id", "grade"],
    )  # fmt: skip
    graded = add_gains(drop_copies(pd.DataFrame(retrieved, columns=columns)), labels)
    return arrange(graded, labels, list(qrels))


@pytest.mark.parametrize("level", [1, 2])
def test_random_rankings_have_the_values_of_pytrec_eval(level: int) -> None:
    generator = np.random.default_rng(level)
    names = np.array([f"d{number:02}" for number in range(40)])
    qrels: Qrels = {}
    run: Run = {}
    for number in range(500):
        labelled = generator.choice(names, generator.integers(1, 20), replace=False)
        # pytrec_eval does not come back from negative grades alone
        qrels[f"q{number}"] = {"never retrieved": 0}
        qrels[f"q{number}"] |= {str(name): int(generator.integers(-1, 4)) for name in labelled}
        found = generator.choice(names, generator.integers(1, 30), replace=False)
        scores = generator.choice([0.5, 1.0, 2.0, generator.normal()], len(found))
        run[f"q{number}"] = dict(zip(found.tolist(), scores.tolist(), strict=True))
    measures = {"map", "bpref", "ndcg", "Rprec", "recip_rank", "infAP"}
    measures |= {f"{name}.1,3,5,10" for name in ("recall", "P", "success", "ndcg_cut")}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level)
    peer = evaluator.evaluate(run)
    rankings = arrange_trec(qrels, run)
    for label, name in PEERS.items():
        metric = find_metric(label)
        if "level" in metric.option_names:
            metric = find_metric(f"{metric.name}(level={level}){label[len(metric.name) :]}")
        values = measure_rankings([metric], rankings)[metric.label]
        expected = [peer[question][name] for question in qrels]
        # trec_eval has 0 for a question without a relevant passage
        np.testing.assert_allclose(np.nan_to_num(values), expected, rtol=0, atol=1e-12)
        called = metric(rankings.gains, rankings.ideal, n_retrieved=rankings.n_retrieved)
        np.testing.assert_array_equal(called, values)


def test_real_runs_have_the_values_of_trec_eval(shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec-cast-2021")
    expected = pd.read_csv(folder / "expected_trec_eval.tsv.gz", sep="\t", dtype=str)
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        qrels: Qrels = pytrec_eval.parse_qrel(lines)
    with gzip.open(folder / "org_convdr.run.gz", "rt") as lines:
        run: Run = pytrec_eval.parse_run(lines)
    rankings = arrange_trec(qrels, {name: run[name] for name in run if name in qrels})
    values = measure_rankings(["ndcg@5", "average_precision", "mrr"], rankings)
    means = {label: np.nan_to_num(column).mean() for label, column in values.items()}
    rows = expected[(expected["run"] == "org_convdr") & (expected["qid"] == "all")]
    published = dict(zip(rows["measure"], rows["value"].astype(float), strict=True))
    for label, name in (
        ("ndcg@5", "ndcg_cut_5"),
        ("average_precision", "map"),
        ("mrr", "recip_rank"),
    ):
        assert means[label] == pytest.approx(published[name], abs=5.1e-5)


def test_awkward_cases_follow_the_decisions(shared_data: Callable[[str], Path]) -> None:
    oracle = json.loads((shared_data("retrieval-oracle") / "oracle.json").read_text("utf-8"))
    names = {"hit": "hit_rate"}
    for case in oracle["cases"]:
        rows = []
        for question, ranking in case["input"]["run"].items():
            ordered = sorted(ranking, key=lambda pair: -pair[1])
            rows += [("s", question, rank, pair[0]) for rank, pair in enumerate(ordered, 1)]
        qrels = case["input"]["qrels"]
        labels = pd.DataFrame(
            [(q, p, float(g)) for q, grades in qrels.items() for p, g in grades.items()],
            columns=["question_id", "passage_id", "grade"],
        )
        frame = pd.DataFrame(rows, columns=["system", "question_id", "rank", "passage_id"])
        rankings = arrange(add_gains(drop_copies(frame), labels), labels, list(qrels))
        for name, mean in case["expected"]["ragbench"]["mean"].items():
            head, _, cutoff = name.partition("@")
            label = "@".join(filter(None, [names.get(head, head), cutoff]))
            values = measure_rankings([label], rankings)[label]
            assert np.nanmean(values) == pytest.approx(mean, abs=1e-9), (case["name"], name)


def test_a_grade_of_minus_1_is_no_judgement_and_one_of_minus_2_is() -> None:
    assert bpref([-1, 1]) == 1.0
    assert bpref([-2, 1]) == 0.0
    assert judged([-1, 0, -2, None]) == 0.5
    # b at rank 3: 1/3 + 2/3 · 0 of 1 judged above; c at rank 5: 1/5 + 4/5 · 1 of 2
    assert inferred_ap([-1, 0, 2, -1, 1]) == pytest.approx(
        (1 / 3 + 1 / 5 + 4 / 5 / 2) / 2, abs=1e-4
    )
    assert ndcg([-2, 1]) == ndcg([0, 1])


@pytest.mark.parametrize("name", [name for name, m in CATALOGUE.items() if m.kind == "ranking"])
def test_a_question_that_found_nothing_has_0_and_one_without_labels_no_value(name: str) -> None:
    gains = np.array([[np.nan, np.nan], [1.0, 0.0], [2.0, 1.0]])
    ideal = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 1.0]])
    values = CATALOGUE[name](gains, ideal, n_retrieved=[0, 2, 2])
    assert np.isnan(values[1])
    assert np.isnan(values[0]) if name == "judged" else values[0] == 0.0
    assert 0 < values[2] <= 1
    assert CATALOGUE[name](np.empty((1, 0)), ideal[:1], n_retrieved=[0]) in (
        0.0,
        pytest.approx(np.nan, nan_ok=True),
    )
    with pytest.raises(ValueError, match="a cut-off is a rank from 1"):
        CATALOGUE[name]([1, 0], k=0)


def test_what_is_no_ranking_is_refused() -> None:
    with pytest.raises(ValueError, match="are no grades; write"):
        mrr("abc")
    with pytest.raises(ValueError, match="gains of 1 questions, ideal of 2"):
        recall([1, 0], [[1], [1]])
    with pytest.raises(ValueError, match="shape"):
        precision(np.zeros((2, 2, 2)))


RETRIEVED = pd.DataFrame(
    [
        ("s", "q1", 1, "p1"), ("s", "q1", 2, "p2"), ("s", "q1", 3, "p1"), ("s", "q1", 4, "p3"),
        ("s", "q3", 1, "p2"),
    ],
    columns=["system", "question_id", "rank", "passage_id"],
)  # fmt: skip
LABELS = pd.DataFrame(
    [("q1", "p3", 2.0), ("q1", "p2", 0.0), ("q2", "p1", 1.0)],
    columns=["question_id", "passage_id", "grade"],
)


def test_a_passage_counts_once_and_questions_keep_their_order() -> None:
    graded = add_gains(drop_copies(RETRIEVED), LABELS)
    assert graded["passage_id"].tolist() == ["p1", "p2", "p3", "p2"]
    rankings = arrange(graded, LABELS, ["q3", "q2", "q1"])
    expected = [[np.nan] * 3, [np.nan] * 3, [np.nan, 0.0, 2.0]]
    np.testing.assert_array_equal(rankings.gains, expected)
    np.testing.assert_array_equal(rankings.ideal, [[np.nan] * 2, [1.0, np.nan], [2.0, 0.0]])
    assert rankings.n_retrieved.tolist() == [1, 0, 3]


def test_pairs_of_many_questions_and_many_passages_are_kept_apart() -> None:
    # More pairs than 32 bits can number: 65,000 · 70,000 + 50,940 is 2³² more than that of q3644
    # and d3644.
    numbers = range(70_000)
    labels = pd.DataFrame(
        {"question_id": [f"q{n}" for n in numbers], "passage_id": [f"d{n}" for n in numbers]}
    ).assign(grade=1.0)
    pairs = pd.DataFrame({"question_id": ["q65000"] * 2, "passage_id": ["d50940", "d65000"]})
    gains = add_gains(pairs.assign(system="a"), labels)["gain"]
    np.testing.assert_array_equal(gains, [np.nan, 1.0])


def test_pages_stand_at_the_place_of_their_first_passage_with_the_highest_grade() -> None:
    urls = {"p1": "u", "p2": "", "p3": "u"}
    pages, labels = collapse_pages(RETRIEVED, LABELS, urls)
    first = pages[pages["question_id"] == "q1"]
    assert first[["passage_id", "gain"]].to_numpy().tolist() == [["u", 2.0], ["p2", 0.0]]
    assert labels["grade"].tolist() == [0.0, 2.0, 1.0]


TEXT = "aaaa bbbb cccc dddd eeee ffff gggg hhhh"  # words of four letters, at 0, 5, 10, …


def measure_pieces(
    pieces: list[tuple[str, float, float]],
    labels: pd.DataFrame,
    enough: float = 0.5,
    metrics: tuple[str, ...] = ("recall@1", "recall", "mrr", "precision@2", "ndcg"),
) -> list[float]:
    """pieces: passage, first word, last word (not included), in rank order."""
    rows = [
        ("s", "q", rank, passage, int(5 * first), int(5 * last) - 1)
        for rank, (passage, first, last) in enumerate(pieces, 1)
    ]
    columns = ["system", "question_id", "rank", "passage_id", "start", "end"]
    texts = dict.fromkeys(("one", "two", "three"), TEXT)
    graded = grade_pieces(pd.DataFrame(rows, columns=columns), labels, texts, enough)
    values = measure_rankings(metrics, arrange(graded, labels, ["q"]))
    return [float(column[0]) for column in values.values()]


def label_pieces(*labels: tuple[str, float]) -> pd.DataFrame:
    rows = [("q", *label) for label in labels]
    return pd.DataFrame(rows, columns=["question_id", "passage_id", "grade"])


def test_a_piece_counts_by_what_it_newly_shows_and_a_passage_once() -> None:
    labels = label_pieces(("one", 1.0))
    pieces = [("one", 0, 2), ("two", 0, 8), ("one", 1, 4), ("one", 0, 2), ("one", 4, 8)]
    # a quarter, nothing, another quarter, (the copy is dropped,) half
    expected = [0.25, 1.0, 1 / 3, 0.0, 0.25 + 0.25 / 2 + 0.5 / np.log2(5)]
    assert measure_pieces(pieces, labels) == pytest.approx(expected)


def test_a_passage_is_found_once_whatever_is_shown_between() -> None:
    # all but one word, then nothing new, then that word
    pieces = [("one", 0, 7), ("one", 1, 3), ("one", 7, 8)]
    names = ("precision@3", "hit_rate@1")
    assert measure_pieces(pieces, label_pieces(("one", 1.0)), metrics=names) == [1 / 3, 1.0]


def test_a_passage_that_is_not_relevant_is_met_once() -> None:
    labels = [("one", 1.0), ("two", 1.0), ("three", 0.0), ("four", 0.0)]
    pieces = [("three", 0, 4), ("three", 4, 8), ("one", 0, 8)]
    # one of two others stands above the first of two relevant ones
    assert measure_pieces(pieces, label_pieces(*labels), metrics=("bpref",)) == [0.25]


def test_a_passage_is_found_from_a_share_of_its_text_on() -> None:
    labels = label_pieces(("one", 1.0))
    pieces = [("one", 0, 4), ("one", 4, 5)]
    for enough, found in ((0.0, [1.0, 1.0]), (0.5, [1.0, 1.0]), (0.6, [0.0, 1.0])):
        assert measure_pieces(pieces, labels, enough, ("hit_rate@1", "hit_rate@2")) == found
    # white space alone shows nothing, even where any of it will do
    assert measure_pieces([("one", 0.8, 1.2)], labels, 0.0, ("hit_rate@1",)) == [0.0]


def test_labelled_passages_weigh_the_same_and_whole_ones_count_as_ever() -> None:
    labels = label_pieces(("one", 3.0), ("two", 1.0), ("three", 0.0))
    pieces = [("one", 0, 4), ("two", 0, 8), ("three", 0, 8)]
    best = 3 + 1 / np.log2(3)
    expected = [0.25, 0.75, 1.0, 1.0, (1.5 + 1 / np.log2(3)) / best]
    assert measure_pieces(pieces, labels) == pytest.approx(expected)
    whole = [(passage, 0, 8) for passage in ("three", "one", "two")]
    names = ("recall@2", "bpref", "ndcg", "judged", "average_precision")
    plain = [find_metric(name)([0, 3, 1]) for name in names]
    assert measure_pieces(whole, labels, 1.0, names) == pytest.approx(plain)
