"""Where marks belong, the formulas of TREC's track and of ALCE, and marks of nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from ragbench.metrics.citations import cite_sentences
from ragbench.metrics.judging import suspected_injections
from tests.metrics.judged.scripted import ScriptedJudge, measure

CONTEXTS = tuple(f"passage {number}" for number in range(1, 6))
IDS = tuple(f"p{number}" for number in range(1, 6))
GRADES = {"First.": "full", "Second.": "partial", "Third.": "none", "Fifth.": "full"}
TEXT = "First [1]. Second [2][1]. Third [3]. Fourth. Fifth [1]."


def score(label: str, answer: str, grade: Callable[[str, set[int]], str]) -> Any:
    """Measure with a judge that grades by the sentence and the numbers of the passages shown."""

    def reply(values: Any) -> Any:
        numbers = {int(text.rsplit(" ", 1)[1]) for text in values["passages"]}
        return {"reason": "so", "verdict": grade(values["sentence"], numbers)}

    return measure(label, ScriptedJudge(citation_support=reply), answer=answer, contexts=CONTEXTS)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "One [1]. Two is here. [2][3] Three [1, 3-5]! Four [p2].",
            [("One.", (1,)), ("Two is here.", (2, 3)), ("Three!", (1, 3, 4, 5)), ("Four.", (2,))],
        ),
        (
            "Только одно.[1] Второе [2].\n\n[3] Третье.\n- пункт [4]\n- другой",
            [
                ("Только одно.", (1,)),
                ("Второе.", (2,)),
                ("Третье.", (3,)),
                ("- пункт", (4,)),
                ("- другой", ()),
            ],
        ),
        (
            "See [the page](http://x), [sic] and [2019].",
            [("See [the page](http://x), [sic] and [2019].", ())],
        ),
        ("End [7]. Again [1][1] 【2】.", [("End.", (0,)), ("Again.", (1, 2))]),
        ("Far [7-9]. Both [4–999].", [("Far.", (0,)), ("Both.", (4, 5, 0))]),
        ("[1]", []),
        ("A. Smith came [1].", [("A. Smith came.", (1,))]),
    ],
)
def test_a_mark_belongs_to_its_sentence(answer: str, expected: Any) -> None:
    sentences = cite_sentences(answer, 5, IDS)
    assert [(sentence.text, sentence.cited) for sentence in sentences] == expected


def test_brackets_around_nothing_are_text() -> None:
    [sentence] = cite_sentences("To do: [ ] and [2-1].", 2, ("", ""))
    assert (sentence.text, set(sentence.cited)) == ("To do: [ ] and.", {1, 2})


@pytest.mark.parametrize(
    ("mode", "value"), [("precision", 2.5 / 4), ("recall", 0.5), ("f1", 5 / 9)]
)
def test_support_as_trec_weighs_it(mode: str, value: float) -> None:
    found = score(f"citation_support(mode={mode})", TEXT, lambda sentence, _: GRADES[sentence])
    assert found.value == pytest.approx(value, abs=1e-15)
    words = [verdict.verdict for verdict in found.verdicts]
    assert words == ["full", "partial", "none", "uncited", "full"]


def test_a_mark_of_no_context_supports_nothing() -> None:
    found = score("citation_support(mode=precision)", "So [7]. And so [1].", lambda *_: "full")
    assert found.value == 0.5


@pytest.mark.parametrize(
    ("mode", "value"), [("recall", 2 / 3), ("precision", 3 / 5), ("f1", 1.2 / 1.9 / 1)]
)
def test_superfluous_citations_cost_precision(mode: str, value: float) -> None:
    """The first carries its sentence alone, the pair is needed, the third is not carried."""
    needed = {"First.": {1}, "Second.": {3, 4}, "Third.": {1}}

    def grade(sentence: str, numbers: set[int]) -> str:
        return "full" if needed[sentence] <= numbers else "partial"

    answer = "First [1][2]. Second [3][4]. Third [5]."
    expected = 2 * 0.6 * (2 / 3) / (0.6 + 2 / 3) if mode == "f1" else value
    assert score(f"citation_quality(mode={mode})", answer, grade).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("answer", "value"), [("So [1][2][3][4].", 1.0), ("So [1][7]. And [1].", 1.0)]
)
def test_citations_that_count(answer: str, value: float) -> None:
    label = "citation_quality(mode=precision,most=1)"
    assert (
        score(label, answer, lambda _, numbers: "full" if 1 in numbers else "none").value == value
    )


def test_three_citations_of_a_sentence_count_where_nobody_says_how_many() -> None:
    found = score("citation_quality", "So [1][2][3][4].", lambda *_: "full")
    assert found.facts["citations"] == 3


@pytest.mark.parametrize("name", ["citation_support", "citation_quality"])
def test_an_answer_that_cites_nothing_has_recall_0_and_no_precision(name: str) -> None:
    assert score(name, "So it is.", lambda *_: "full").value == 0.0
    found = score(f"{name}(mode=precision)", "So it is.", lambda *_: "full")
    assert found.status == "empty_decomposition"


@pytest.mark.parametrize(
    "piece", [".", ". (", "\n ", "[1", "[1]", "A. ", "[1-999]", "I.I.", "[a, ", "<|", "ignore all "]
)
def test_hostile_texts_of_100_kb_are_read_in_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    cite_sentences(text, 5, IDS)
    suspected_injections(answer=text)
    assert time.process_time() - began < 2
