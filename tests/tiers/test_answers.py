"""Tiers 2 and 3 by their fronts: functions as systems, metrics of words, scripted judges."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.trust import trust
from ragbench.llm import BudgetSpentError
from ragbench.views import comparison
from tests.llm.chat_server import GOOD, serving
from tests.tiers.answered import (
    BY_WORDS,
    PASSAGES,
    QUESTIONS,
    WORDS,
    Dead,
    Scripted,
    counts,
    from_contexts,
    good,
    means,
    number_of,
    page_text,
    passage,
    right_answer,
)

FEW = {"draws": 200, "repeats": 1}
MANY = [
    {**QUESTIONS[0], "id": f"q{n}", "text": f"When does subject{n} open?"}
    | {"reference": right_answer(n), "relevant": {f"p{n}": 1, f"p{(n + 1) % 20}": 0}}
    for n in range(20)
]


NO_BREAK = "\N{NO-BREAK SPACE}"


def wrong_below(limit: int) -> Any:
    """A system whose answers to the first questions are wrong."""

    def answer(question: str) -> dict[str, Any]:
        is_wrong = number_of(question) < limit
        return {**good(question), "answer": "At noon." if is_wrong else good(question)["answer"]}

    return answer


def always_noon(question: str, contexts: list[str]) -> str:
    """Answers without reading."""
    return "At noon."


def tier2(systems: Any, questions: Any = QUESTIONS, **options: Any) -> Any:
    """Tier 2 by words."""
    usual = {"metrics": WORDS, "primary": "token_f1", **FEW}
    return rb.tier2(systems, questions, PASSAGES, **usual | options)


def test_answers_from_the_right_passages_are_scored_and_compared() -> None:
    nought = {**QUESTIONS[0], "id": "nought", "relevant": {"p0": 0}}  # grade 0 is no label
    result = tier2({"noon": always_noon, "reads": from_contexts}, [*MANY, nought])
    # "It opens at 3 in the morning." and "At noon.": without articles of 6 and 2 words one agrees.
    assert means(result)["noon", "token_f1"] == pytest.approx(0.25)
    assert means(result)["reads", "token_f1"] == 1.0
    row = result.comparisons.set_index("metric").loc["token_f1"]
    assert (row["word"], row["n"]) == ("better", 20)
    assert row["difference"] == pytest.approx(0.75)
    given = result.frames.answers.set_index(["system", "question_id"])["contexts"]
    assert given["reads", "q3"] == (passage(3),)


def test_one_system_alone_is_stated_without_a_comparison() -> None:
    result = tier2({"reads": from_contexts})
    assert result.comparisons.empty
    assert "On token_f1 reads reaches 1.000 [0.589, 1.000] (n = 8)." in str(result)


def test_without_contexts_the_writer_gets_none() -> None:
    result = tier2({"reads": from_contexts}, context="none")
    assert means(result)["reads", "token_f1"] == 0.0
    assert set(result.frames.answers["contexts"]) == {()}


def test_both_tiers_usually_show_what_is_made_up_and_how_like_the_right_answer_it_is() -> None:
    asked = {"judges": "lexical", "embedder": "hashing", **FEW}
    written = rb.tier2({"reads": from_contexts}, QUESTIONS, PASSAGES, **asked)
    asked_as_users_do = rb.tier3({"good": good}, QUESTIONS, PASSAGES, **asked)
    assert means(written)["reads", "hallucination"] == 0.0
    assert means(written)["reads", "semantic_similarity"] == pytest.approx(1.0)
    assert means(asked_as_users_do)["good", "hallucination"] == 0.0


def test_a_judge_rates_what_it_is_shown_and_gives_its_reason() -> None:
    judge = Scripted(lambda values: 1 if "noon" in values["answer"] else 4)
    systems = {"noon": always_noon, "reads": from_contexts}
    result = rb.tier2(
        systems, QUESTIONS, PASSAGES, judge=judge, metrics="answer_correctness_rating", **FEW
    )
    value = means(result)
    assert value["reads", "answer_correctness_rating"] == 4.0
    assert value["noon", "answer_correctness_rating"] == 1.0
    assert {"question", "reference", "answer"} <= set(judge.asked[0])
    assert result.scores["explanation"].iloc[0] == "Rated 1 of 5: so it is"


def test_an_empty_answer_is_worth_the_least_where_it_is_compared() -> None:
    judge = Scripted()
    result = rb.tier2(
        {"mute": lambda question, contexts: ""},
        QUESTIONS,
        PASSAGES,
        judge=judge,
        metrics="answer_correctness_rating, token_f1, bleu",
        **FEW,
    )
    assert set(result.scores["status"]) == {"ok"}
    assert means(result).tolist() == [1.0, 0.0, 0.0]
    assert judge.asked == []
    assert "mute returned nothing at 8 of 8 questions." in str(result)


def test_repeats_are_joined_and_their_rates_stated() -> None:
    n_asked: dict[str, int] = {}

    def every_other(question: str, contexts: list[str]) -> str:
        n_asked[question] = n_asked.get(question, 0) + 1
        return right_answer(number_of(question)) if n_asked[question] % 2 else "None."

    labels = "exact_match, response_exact_match_rate"
    systems = {"steady": from_contexts, "fickle": every_other}
    result = tier2(systems, metrics=labels, primary="exact_match", repeats=4)
    assert means(result)["fickle", "exact_match"] == 0.5
    # Each answer is held against the others: of 4 · 3 pairs 4 agree.
    assert means(result)["steady", "response_exact_match_rate"] == 1.0
    assert 0.0 <= means(result)["fickle", "response_exact_match_rate"] < 1.0
    rates = result.statement.repeats.set_index(["system", "rate"])["value"]
    assert rates["fickle", "pass@k"] == 1.0
    assert rates["fickle", "pass^k"] == 0.0
    assert rates["fickle", "flip_rate"] == pytest.approx(2 / 3)
    assert rates["steady", "flip_rate"] == 0.0
    assert set(result.statement.repeats["k"]) == {4}


def test_a_repeat_that_failed_leaves_k_as_it_was_asked() -> None:
    n_asked: dict[str, int] = {}

    def once_down(question: str, contexts: list[str]) -> str:
        n_asked[question] = n_asked.get(question, 0) + 1
        if number_of(question) == 0 and n_asked[question] >= 3:
            raise ConnectionError("connection refused")
        return right_answer(number_of(question))

    result = tier2({"down": once_down}, metrics="exact_match", primary="exact_match", repeats=3)
    rates = result.statement.repeats.set_index("rate")
    assert set(rates["k"]) == {3}
    assert (rates.loc["pass^k", "n"], rates.loc["pass^k", "n_unmeasured"]) == (7, 1)


def test_asked_once_nothing_is_said_of_repeating() -> None:
    result = tier2({"reads": from_contexts}, metrics="token_f1, response_exact_match_rate")
    assert counts(result, "reads", "response_exact_match_rate") == (0, 8)
    assert "asked once" in page_text(result)


def test_a_repeat_that_failed_leaves_the_value_of_the_others() -> None:
    n_asked: dict[str, int] = {}

    def fails_first(question: str, contexts: list[str]) -> str:
        n_asked[question] = n_asked.get(question, 0) + 1
        if n_asked[question] == 1:
            raise RuntimeError("cold start")
        return from_contexts(question, contexts)

    labels = "token_f1, response_exact_match_rate"
    result = tier2({"cold": fails_first}, metrics=labels, repeats=2)
    assert counts(result, "cold", "token_f1") == (8, 0)
    assert counts(result, "cold", "response_exact_match_rate") == (0, 8)
    assert "cold failed at 8 of 8 questions: RuntimeError: cold start" in str(result)


def test_systems_with_one_generator_are_asked_once_and_stand_for_each_other() -> None:
    systems = {"mine": from_contexts, "words": "bm25", "again": "bm25"}
    result = tier2(systems, baseline="again")
    assert result.systems == ["mine", "words"]
    assert result.request.baseline == "words"
    assert "words, again" in page_text(result)
    # One that takes no passages is nobody's baseline.
    assert tier2({"whole": good, **systems}, baseline="whole").request.baseline == "mine"


def test_embedded_metrics_take_a_function() -> None:
    def embed(texts: list[str]) -> np.ndarray:
        """A vector of length 1: along the first axis what opens, along the second the rest."""
        return np.array([[1.0, 0.0] if "opens" in text else [0.0, 1.0] for text in texts])

    systems = {"noon": always_noon, "reads": from_contexts}
    options = {"metrics": "semantic_similarity, response_semantic_consistency", "primary": ""}
    result = tier2(systems, embedder=embed, **options | {"repeats": 2})
    assert means(result)["reads", "semantic_similarity"] == pytest.approx(1.0)
    assert means(result)["noon", "semantic_similarity"] == pytest.approx(0.0)
    assert result.request.primary == "semantic_similarity"
    assert means(result)["noon", "response_semantic_consistency"] == pytest.approx(1.0)


def test_what_cannot_be_measured_is_refused_in_a_sentence() -> None:
    unlabelled = [{**question, "relevant": []} for question in QUESTIONS]
    with pytest.raises(NotEnoughError, match="no question has a relevant passage"):
        tier2({"reads": from_contexts}, unlabelled)
    with pytest.raises(BenchError, match="no system answers from passages that it is given"):
        tier2({"whole": good})
    with pytest.raises(BenchError, match="mrr scores rankings; Tier 1 has it"):
        tier2({"reads": from_contexts}, metrics="mrr")
    with pytest.raises(BenchError, match="consistency_score is a number of a whole set"):
        tier2({"reads": from_contexts}, metrics="consistency_score")
    with pytest.raises(BenchError, match="primary 'bleu' is none of token_f1, rouge1_f"):
        tier2({"reads": from_contexts}, primary="bleu")
    with pytest.raises(BenchError, match="contexts = 20 is more than k = 10"):
        rb.tier3({"good": good}, QUESTIONS, PASSAGES, **BY_WORDS, contexts=20)
    with pytest.raises(BenchError, match="documents without questions: give questions="):
        rb.tier1("bm25", documents=PASSAGES)


def test_a_dead_judge_leaves_the_metrics_of_words() -> None:
    result = rb.tier2(
        {"reads": from_contexts, "noon": always_noon},
        QUESTIONS,
        PASSAGES,
        judge=Dead(),
        metrics="answer_correctness_rating, token_f1",
        **FEW,
    )
    assert counts(result, "reads", "answer_correctness_rating") == (0, 8)
    words = result.comparisons.set_index("metric")["word"]
    assert words["answer_correctness_rating"] == "cannot be told"
    assert "no route to host" in page_text(result)


def test_who_writes_and_who_judges_share_one_budget(empty_folder: Path) -> None:
    with serving(lambda body, number: GOOD) as server:
        model = f'base_url = "{server.url}"\nmodel = "m"\n'
        (empty_folder / "ragbench.toml").write_text(
            f'[budget]\ncalls = 3\n[judges.far]\n{model}[generators.far]\nkind = "openai"\n{model}'
            '[systems.mine]\nretriever = "bm25"\ngenerator = "far"\n'
        )
        trust(empty_folder)
        metrics = "answer_correctness_rating"
        with pytest.raises(BudgetSpentError):
            rb.tier2("mine", QUESTIONS[:2], PASSAGES, judge="far", metrics=metrics, **FEW)
        assert len(server.requests) == 3


SYSTEMS = {"good": good, **{f"wrong {n}": wrong_below(n) for n in (20, 12, 2)}}


def down(question: str) -> str:
    """Cannot be reached."""
    raise RuntimeError("out of order")


def test_words_intervals_and_p_agree_wherever_they_stand(tmp_path: Path) -> None:
    """Five systems: page, text, table, figure's title and summary say the same."""
    systems = {**SYSTEMS, "down": down}
    labels = ("token_f1", "rouge1_f", "corpus_bleu")
    result = rb.tier3(systems, MANY, PASSAGES, **BY_WORDS | {"metrics": labels, "draws": 2000})
    row_by_name = result.comparisons.query("metric == 'token_f1'").set_index("challenger")
    assert row_by_name["word"].to_dict() == {
        "wrong 20": "worse",
        "wrong 12": "worse",
        "wrong 2": "too few differ",
        "down": "cannot be told",
    }
    language = result.language
    answer = str(comparison.answer(result))
    table: Any = comparison.all_numbers(result).content
    rows_of_metric = table.iloc[:5]
    page = result.save(tmp_path).read_text(encoding="utf-8")
    plain_page = " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())
    for place, (name, row) in enumerate(row_by_name.iterrows(), start=1):
        cells = rows_of_metric.iloc[place]
        assert name in cells["system"]
        assert row["word"] in cells["verdict"]
        sentence = next(line for line in answer.splitlines() if f"{name} " in line)
        assert " ".join(sentence.split()) in plain_page
        assert sentence in str(result)
        if row["word"] == "worse":
            interval = language.interval(row["difference"], row["low"], row["high"], signed=True)
            assert row["high"] < 0
            assert f"is worse than good: {interval}, p" in sentence
            assert cells["difference, interval"] == interval
            p_value = cells["p"]
            assert p_value == comparison.p_text(row["p_adjusted"], language)
            assert f"p {p_value}".replace(NO_BREAK, " ") in sentence
        else:
            assert "is worse" not in sentence
            assert ", p " not in sentence
    title = comparison.forests(result)[0].title
    assert "wrong 20 is worse on 2 of 2 metrics" in title
    assert "of wrong 2 it cannot be told" in title
    assert "of down it cannot be told" in title
    result.save_frames(tmp_path)
    summary = (tmp_path / "summary.json").read_text(encoding="utf-8")
    assert summary.count('"cannot be told"') == 2
    assert summary.count('"too few differ"') == 2


def test_a_difference_within_the_margin_is_the_same() -> None:
    """Of 40 questions the systems differ by 1/21 upwards and downwards in turn: mean 0."""
    rows = []
    for number in range(40):
        for system, extra in (("v1", number % 2), ("v2", (number + 1) % 2)):
            answer = " ".join(f"w{place}" for place in range(10 + extra))
            reference = " ".join(f"w{place}" for place in range(10))
            row = {"id": str(number), "system": system, "question": "q"}
            rows.append({**row, "answer": answer, "reference": reference})
    assert rb.score(rows, ["token_f1"]).comparisons["word"].item() == "not shown"
    same = rb.score(rows, ["token_f1"], margins={"token_f1": 0.1})
    assert same.comparisons["word"].item() == "the same"
