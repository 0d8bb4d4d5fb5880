"""The offline judge: words, numbers and negations in two languages, and an answer to each prompt."""

# ruff: noqa: E501  tables of inputs, a line each

from __future__ import annotations

import asyncio
import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragbench.metrics  # noqa: F401  declares all prompts
from ragbench.core.errors import Unmeasured
from ragbench.judge import OfflineJudge
from ragbench.judge.words import find_entities, is_supported, measure_similarity, measure_support
from ragbench.metrics.criteria import rubric_prompt
from ragbench.metrics.judging import PROMPTS

CONTEXT = [
    "Деканат факультета открыт с 9:00 до 17:00. Перерыв с 13 до 14. Справки не выдаются по пятницам.",
    "The library has 12 reading rooms. Students cannot smoke inside. It opens at 8.",
]
CLAIMS = {
    "Деканат открыт с 9:00 до 17:00.": True,
    "Деканат факультета открывают с 9:00": True,
    "Деканат открыт с 8:30 до 17:00.": False,
    "Справки выдаются по пятницам.": False,
    "Справки не выдаются по пятницам.": True,
    "Спра\u00adвки не выдаю\u0301тся по\u200b пятницам.\ufeff": True,  # as people copy and mark it
    "Столовая закрыта на ремонт.": False,
    "The library has 12 reading rooms.": True,
    "The library has 40 reading rooms.": False,
    "Students can smoke inside.": False,
    "Students cannot smoke inside.": True,
    "": False,
    "?!": False,
}


@pytest.mark.parametrize(("claim", "expected"), CLAIMS.items())
def test_what_texts_carry(claim: str, expected: bool) -> None:
    assert is_supported(claim, CONTEXT) is expected


def test_support_by_hand() -> None:
    """Of "the red cat" the text has 1 of .5 + 1 + 1 words, and 6 of 3 · 6 n-grams of letters."""
    assert measure_support("the red cat", ["cat"]) == pytest.approx((1 / 2.5 + 6 / 18) / 2)
    assert measure_support("the red cat", ["the", "cat"]) == pytest.approx(
        (1.5 / 2.5 + 12 / 18) / 2
    )
    assert measure_support("red cat", ["a red cat"]) == 1.0
    # Of "cats" it has the stem, and 3 of 9 n-grams.
    assert measure_support("cats", ["cat"]) == pytest.approx((1 + 3 / 9) / 2)
    # A negation denies the next word of content, if that is at most three words away.
    assert measure_support("cats purr", ["cats not in the purr"]) == pytest.approx(0.6)
    assert measure_support("cats purr", ["cats not in of the purr"]) == 1.0
    assert measure_support("cats sleep", ["cats not purr sleep"]) == 1.0
    assert measure_similarity("cat", "cat dog") == pytest.approx(2 * 6 / (6 + 12))
    assert measure_similarity("a cat", "cat") == pytest.approx(2 * 6 / (7 + 6))
    assert measure_similarity("cat", "") == 0.0


def test_entities() -> None:
    text = (
        "Вчера Анна Петрова приехала в Санкт-Петербург. NASA launched Apollo 11 in 1969, the 5th."
    )
    expected = ["Анна Петрова", "Санкт-Петербург", "NASA", "Apollo 11", "1969", "5th"]
    assert find_entities(text) == expected


ASKED = "When does the library open?"
CONTEXTS = ["The library opens at 8.", "The canteen closes at 15."]
# Prompt → what its slots hold, and what is said: the fields but the reason.
PROMPTS_AND_REPLIES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "claims": ({"question": ASKED, "text": "It opens at 8. It closes at 20."}, {"claims": ["It opens at 8.", "It closes at 20."]}),
    "entailment": (
        {"passages": CONTEXTS, "statements": ["The library opens at 8.", "The canteen closes at 18.", "Cats purr."]},
        {"verdicts": [("supported", [1], []), ("contradicted", [2], [2]), ("neutral", [], [])]},
    ),
    "entities": ({"texts": ["It was built in 1969 by Anna Smith.", "In Paris."]}, {"entities": ["1969", "Anna Smith", "Paris"]}),
    "context_precision": ({"question": ASKED, "answer": "At 8.", "passage": CONTEXTS[0]}, {"verdict": "useful"}),
    "response_relevancy": ({"answer": "It opens at 8.", "number": "3"}, {"questions": [("It opens at 8.", "committal")]}),
    "faithfulness_rating": ({"contexts": CONTEXTS, "question": ASKED, "answer": CONTEXTS[0]}, {"rating": 5}),
    "answer_relevance": ({"question": ASKED, "answer": "Cats purr."}, {"rating": 1}),
    "answer_correctness_rating": ({"question": ASKED, "reference": "At 8.", "answer": "At 8."}, {"rating": 5}),
    "e2e_score in part": ({"question": ASKED, "reference": f"{CONTEXTS[0]} Cats purr.", "answer": CONTEXTS[0]}, {"rating": 4}),  # 2 · 1 · ½ / 1½
    "e2e_score": ({"question": ASKED, "reference": "At 8.", "answer": "Cats purr."}, {"rating": 1}),
    "response_groundedness": ({"contexts": CONTEXTS, "answer": f"{CONTEXTS[0]} Cats purr."}, {"rating": 1}),
    "response_groundedness of nothing": ({"contexts": CONTEXTS, "answer": "?!"}, {"rating": 0}),
    "answer_accuracy": ({"question": ASKED, "reference": "At 8.", "answer": "At 8."}, {"rating": 2}),
    "answer_accuracy_turned": ({"question": ASKED, "reference": "At 8. Cats purr.", "answer": "At 8."}, {"rating": 1}),
    "context_relevance": ({"question": ASKED, "contexts": CONTEXTS}, {"rating": 1}),
    "context_relevance_turned": ({"question": "Cats?", "contexts": CONTEXTS}, {"rating": 0}),
    "relevance": ({"question": ASKED, "passage": CONTEXTS[0]}, {"rating": 2}),
    "rubrics_score": (
        {"rubric": ["0: bad", "1: good"], "question": ASKED, "contexts": CONTEXTS, "reference": "", "answer": CONTEXTS[0]},
        {"level": 1},
    ),
    "pairwise": ({"question": ASKED, "reference": "At 8.", "answer_a": "At 9.", "answer_b": "At 8."}, {"choice": "B"}),
    "show_decision": ({"question": ASKED, "contexts": CONTEXTS, "answer": CONTEXTS[0]}, {"show": "yes", "likelihood": 100}),
    "show_decision of nothing": ({"question": ASKED, "contexts": CONTEXTS, "answer": "?!"}, {"show": "no", "likelihood": 0}),
    "nugget_assignment": (
        {"question": ASKED, "answer": CONTEXTS[0], "nuggets": ["The library opens.", "Cats purr."]},
        {"verdicts": ["full", "none"]},
    ),
    "citation_support": ({"sentence": "Cats purr.", "passages": CONTEXTS}, {"verdict": "none"}),
}  # fmt: skip


def ask(name: str, values: dict[str, Any], language: str = "en") -> Any:
    return asyncio.run(OfflineJudge(language).ask(PROMPTS[name], **values))


@pytest.mark.parametrize("name", PROMPTS_AND_REPLIES)
def test_every_prompt_is_answered_by_words(name: str) -> None:
    values, expected = PROMPTS_AND_REPLIES[name]
    reply = ask(name.split()[0], values)
    for field, said in expected.items():
        found = getattr(reply, field)
        if name == "entailment":
            found = [(one.verdict, one.passages, one.contradicting) for one in found]
        elif name == "response_relevancy":
            found = [(one.question, one.manner) for one in found]
        elif name == "nugget_assignment":
            found = [one.verdict for one in found]
        assert found == said


@pytest.mark.parametrize(
    ("passages", "expected"),
    [
        # The second is alike and denies nothing, the fourth says nothing of it.
        (
            ["opens at 8.", "opened at 8.", "opens at 9.", "feeds cats."],
            ("supported", [1], [3]),
        ),
        (["opens at 9.", "opened at 7."], ("contradicted", [1], [1, 2])),
        (["opens at 9."], ("contradicted", [1], [])),
        (["opens at 9.", "opens at 9."], ("contradicted", [2], [1, 2])),
    ],
)
def test_passages_that_say_otherwise_are_named_where_there_are_several(
    passages: list[str], expected: tuple[str, list[int], list[int]]
) -> None:
    given = [f"The library {text}" for text in passages]
    statements = ["The library opens at 8."]
    [found] = ask("entailment", {"passages": given, "statements": statements}).verdicts
    assert (found.verdict, found.passages, found.contradicting) == expected


@pytest.mark.parametrize(
    ("text", "relevance", "halves", "rating", "grade"),
    [
        ("The library opens at 8", 3, 2, 5, "full"),  # 1.00 of it
        ("library closes at 8 on days", 2, 1, 4, "partial"),  # 0.75
        ("library days 9", 2, 1, 3, "partial"),  # 0.57
        ("days purr", 2, 1, 3, "partial"),  # 0.50
        ("opens cats dogs", 1, 0, 2, "none"),  # 0.37
        ("жжж", 0, 0, 1, "none"),  # 0.00
    ],
)
def test_every_scale_has_its_steps(
    text: str, relevance: int, halves: int, rating: int, grade: str
) -> None:
    carrier = "The library opens at 8 on working days."
    assert ask("relevance", {"question": text, "passage": carrier}).rating == relevance
    assert ask("context_relevance", {"question": text, "contexts": [carrier]}).rating == halves
    assert ask("answer_relevance", {"question": text, "answer": carrier}).rating == rating
    assert ask("citation_support", {"sentence": text, "passages": [carrier]}).verdict == grade


@pytest.mark.parametrize(
    ("n_words", "relevance", "halves", "grade", "show"),
    [(1, 1, 0, "none", "no"), (2, 1, 1, "none", "no"), (4, 3, 2, "full", "yes")],
)
def test_every_step_is_reached_at_its_number(
    n_words: int, relevance: int, halves: int, grade: str, show: str
) -> None:
    """Of five words of one letter the carrier has 0.2, 0.4 and 0.8."""
    text, carrier = "b c d e f", "b c d e"[: 2 * n_words - 1]
    assert ask("relevance", {"question": text, "passage": carrier}).rating == relevance
    assert ask("context_relevance", {"question": text, "contexts": [carrier]}).rating == halves
    assert ask("citation_support", {"sentence": text, "passages": [carrier]}).verdict == grade
    values = {"question": "", "contexts": [carrier], "answer": text}
    assert ask("show_decision", values).show == show
    [found] = ask("entailment", {"passages": [carrier], "statements": [text]}).verdicts
    assert (found.verdict == "supported") is (show == "yes")
    assert is_supported(text, [carrier]) is (show == "yes")


LONG = "On working days the library opens at 8, and on Saturdays and Sundays at 10 in the morning."


@pytest.mark.parametrize(
    ("first", "second", "reference", "choice"),
    [
        ("At 8.", "At 9.", "At 8.", "A"),
        ("At 9.", "At 8.", "At 8.", "B"),
        ("At 8.", "At 8.", "At 8.", "Tie"),
        # A similarity of 0.984 is as near as 1; one of 0.972 is not.
        (LONG.replace("Saturdays", "Saturday"), LONG, LONG, "Tie"),
        (LONG.replace("the ", "a "), LONG, LONG, "B"),
        ("The library opens.", "Cats purr.", "", "A"),
    ],
)
def test_the_answer_nearer_to_the_goal_wins(
    first: str, second: str, reference: str, choice: str
) -> None:
    values = {"question": ASKED, "reference": reference, "answer_a": first, "answer_b": second}
    assert ask("pairwise", values).choice == choice


@pytest.mark.parametrize(
    ("answer", "passage", "verdict"),
    [
        ("On working days the library opens at 8.", "Opens at 8.", "useful"),
        ("Opens at 8.", "On working days the library opens at 8.", "useful"),
        ("Cats purr.", "The library opens at 8.", "useless"),
    ],
)
def test_a_passage_is_useful_where_one_side_stands_in_the_other(
    answer: str, passage: str, verdict: str
) -> None:
    values = {"question": ASKED, "answer": answer, "passage": passage}
    assert ask("context_precision", values).verdict == verdict


def test_a_sentence_contradicts_from_six_tenths_of_its_n_grams_on() -> None:
    """They share 3 of 4 and 6; of 4 and 7 it is less."""
    for passage, verdict in (("ab d e f", "contradicted"), ("ab d e f g", "neutral")):
        reply = ask("entailment", {"passages": [passage], "statements": ["ab c"]})
        assert reply.verdicts[0].verdict == verdict


def test_without_contexts_nothing_is_decided() -> None:
    with pytest.raises(Unmeasured, match="decides by contexts alone"):
        ask("show_decision", {"question": ASKED, "contexts": [], "answer": "At 8."})
    held = ask("show_decision", {"question": ASKED, "contexts": CONTEXTS, "answer": "Cats purr."})
    assert (held.show, held.likelihood < 50) == ("no", True)


def test_what_it_cannot_answer_is_unmeasured_and_named() -> None:
    cannot = {"aspect_critique", "simple_criteria", "agent_goal", "agent_topics"}
    known = {
        name for name in PROMPTS if not name.startswith(("draft", "criterion", "nugget_listing"))
    }
    assert known - set(PROMPTS_AND_REPLIES) - cannot == set(), (
        "a new prompt has an answer, or stands here"
    )
    with pytest.raises(Unmeasured, match="cannot answer aspect_critique; name a model"):
        ask("aspect_critique", dict.fromkeys(PROMPTS["aspect_critique"].slots, ""))


def test_reasons_are_in_the_language_of_the_page() -> None:
    values = {"question": ASKED, "answer": "At 8."}
    assert ask("answer_relevance", values).reason.startswith("shared words and letters: 0.")
    assert ask("answer_relevance", values, "ru").reason.startswith("общих слов и букв: 0,")


def test_a_level_is_one_of_the_rubric() -> None:
    values = {**PROMPTS_AND_REPLIES["rubrics_score"][0], "rubric": ["0: bad", "10: good"]}
    reply = asyncio.run(OfflineJudge().ask(rubric_prompt((0, 10)), **values))
    assert reply.level == 10


@pytest.mark.parametrize(("name", "least", "count"), [("wow", 0.94, 430), ("cmu", 0.96, 416)])
def test_it_tells_attributable_answers_from_others(
    name: str, least: float, count: int, shared_data: Callable[[str], Path]
) -> None:
    from sklearn.metrics import roc_auc_score

    path = shared_data("begin-groundedness") / f"begin_dev_{name}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = list(
            csv.DictReader(
                (line.rstrip("\r\n") for line in lines), delimiter="\t", quoting=csv.QUOTE_NONE
            )
        )
    assert len(rows) == count
    labels = np.array([row["begin_label"] == "Fully attributable" for row in rows])
    support = np.array([measure_support(row["response"], [row["knowledge"]]) for row in rows])
    assert roc_auc_score(labels, support) > least
    assert np.mean((support >= 0.8) == labels) > 0.87
