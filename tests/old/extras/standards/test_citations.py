"""citation_support and citation_quality: where marks belong, the track's formulas, ALCE's, and marks of nowhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragbench.old as rb
from ragbench.old import tiers
from ragbench.old.core.language import translator
from ragbench.old.core.metric import parse
from ragbench.old.core.parts import Table, every
from ragbench.old.core.types import Chunk, Citation, Sample, Score, Status
from ragbench.old.extras.standards.citations import citation_quality, citation_support, parts_of
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import ENGLISH, explain, reason_in
from ragbench.old.views import Page
from tests.old.judge.scripted_judge import ScriptedJudge, Texts, score

PASSAGES = tuple(Chunk(f"p{n}", f"passage {n}") for n in range(1, 6))


def answer(text: str, **more: Any) -> Sample:
    return Sample("s", "What is it?", text, contexts=PASSAGES, language="en", **more)


def judged(carries: Callable[[str, frozenset[int]], str]) -> ScriptedJudge:
    """A judge by sentence and the numbers of the passages that it is shown."""

    def reply(texts: Texts) -> Any:
        shown = frozenset(int(text.rsplit(" ", 1)[1]) for text in texts["passages"])
        return {"reason": "because", "grade": carries(str(texts["sentence"]), shown)}

    return ScriptedJudge(citation_support=reply)


def of(label: str, sample: Sample, carries: Callable[[str, frozenset[int]], str]) -> Score:
    return score(parse(label)(sample, judge=judged(carries)))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One [1]. Two is here. [2][3] Three [1, 3-5]! Four [p2].",
         [("One.", (0,)), ("Two is here.", (1, 2)), ("Three!", (0, 2, 3, 4)), ("Four.", (1,))]),
        ("Только одно.[1] Второе [2].\n\n[3] Третье.\n- пункт [4]\n- другой",
         [("Только одно.", (0,)), ("Второе.", (1,)), ("Третье.", (2,)), ("- пункт", (3,)), ("- другой", ())]),
        ("See [the page](http://x), [sic] and [2019].", [("See [the page](http://x), [sic] and [2019].", ())]),
        ("End [7]. Again [1][1] 【2】.", [("End.", ("7",)), ("Again.", (0, 1))]),
        ("[1]", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_mark_belongs_to_its_sentence(text: str, parts: Any) -> None:
    assert [(one.text, one.cited) for one in parts_of(answer(text))] == parts


def test_places_of_a_table_count_in_the_place_of_marks() -> None:
    text = "One is so. Two is so. Three."
    sample = answer(text, citations=(Citation(0, 10, "2"), Citation(5, 15, "p3"), Citation(22, 28, "lost")))
    assert [one.cited for one in parts_of(sample)] == [(1, 2), (2,), ("lost",)]
    plain = of("citation_support", answer(text, citations=(Citation(-1, -1, "[1], [2]"),)), lambda *_: "full")
    assert plain.reason == "citation [1], [2]: start, end and a passage are expected"
    beyond = of("citation_support", answer(text, citations=(Citation(20, 99, "1"),)), lambda *_: "full")
    assert beyond.status is Status.INVALID_INPUT
    assert "characters 20 to 99 are not in a response of 28" in beyond.reason


class TestTheTrack:
    """Weights 1, ½, 0 by the first passage; precision over sentences that cite, recall over all."""

    TEXT = "First [1]. Second [2][1]. Third [3]. Fourth. Fifth [1]."
    GRADES = {"First.": "full", "Second.": "partial", "Third.": "none", "Fifth.": "full"}  # noqa: RUF012

    @pytest.mark.parametrize(("mode", "value"), [("precision", 2.5 / 4), ("recall", 0.5), ("f1", 5 / 9)])
    def test_weighted_precision_and_recall(self, mode: str, value: float) -> None:
        found = of(f"citation_support(mode={mode})", answer(self.TEXT), lambda text, _: self.GRADES[text])
        assert found.value == pytest.approx(value, abs=1e-15)
        verdicts = [line["verdict"] for line in found.detail["statements"]]
        assert verdicts == ["full", "partial", "none", "uncited", "full"]
        assert found.detail["statements"][1]["chunks"] == ["p2"], "only the first is read"

    def test_only_the_first_passage_is_shown_and_modes_share_the_questions(self) -> None:
        judge = judged(lambda text, _: self.GRADES[text])
        for mode in ("precision", "recall", "f1"):
            score(parse(f"citation_support(mode={mode})")(answer(self.TEXT), judge=judge))
        assert [one["passages"] for one in judge.asked("citation_support")] == [
            ["passage 1"], ["passage 2"], ["passage 3"], ["passage 1"]
        ]  # fmt: skip

    def test_a_mark_of_nowhere_supports_nothing_and_counts(self) -> None:
        found = of("citation_support(mode=precision)", answer("So [7]. And so [1]."), lambda *_: "full")
        assert found.value == 0.5
        assert "[7] points to none of 5 passages" in reason_in(found.detail["statements"][0]["reason"], ENGLISH)
        assert "[7]" in found.reason


def alce(sentences: list[list[int]], carries: Callable[[int, frozenset[int]], bool]) -> tuple[float, float]:
    """Citation recall and precision after Gao et al. 2023, section 3: a sentence is recalled where its passages carry
    it together; one of its citations is irrelevant where it does not carry it alone and the others do without it."""
    recalled, precise, cited = 0, 0, 0
    for place, names in enumerate(sentences):
        if any(name > len(PASSAGES) for name in names):
            continue
        cited += len(names)
        whole = frozenset(names)
        if names and carries(place, whole):
            recalled += 1
            precise += sum(
                len(whole) == 1 or carries(place, frozenset([one])) or not carries(place, whole - {one})
                for one in whole
            )
    return recalled / len(sentences), precise / cited if cited else float("nan")


class TestALCE:
    def test_a_superfluous_citation_costs_precision(self) -> None:
        """The first carries the sentence alone, the second neither alone nor is it needed; the third pair is needed."""
        text = "First [1][2]. Second [3][4]. Third [5]."

        def carries(sentence: str, shown: frozenset[int]) -> str:
            needed = {"First.": {1}, "Second.": {3, 4}, "Third.": {1}}[sentence]
            return "full" if needed <= shown else "partial"

        assert of("citation_quality(mode=recall)", answer(text), carries).value == pytest.approx(2 / 3)
        found = of("citation_quality(mode=precision)", answer(text), carries)
        assert found.value == pytest.approx(3 / 5)
        first = found.detail["statements"][0]
        assert (first["chunks"], first["superfluous"]) == (["p1"], ["p2"])
        assert of("citation_quality", answer(text), carries).value == pytest.approx(2 * 0.6 * (2 / 3) / (0.6 + 2 / 3))

    @settings(max_examples=25, deadline=None)
    @given(
        st.lists(st.lists(st.integers(1, 6), unique=True, max_size=3), min_size=1, max_size=4),
        st.integers(0, 10**6),
    )
    def test_as_its_definitions_have_it(self, sentences: list[list[int]], seed: int) -> None:
        def carries(place: int, shown: frozenset[int]) -> bool:
            return hash((seed, place, tuple(sorted(shown)))) % 3 > 0

        text = " ".join(f"Word{place} so{''.join(f'[{n}]' for n in names)}." for place, names in enumerate(sentences))

        def said(sentence: str, shown: frozenset[int]) -> str:
            return "full" if carries(int(sentence.split()[0].removeprefix("Word")), shown) else "none"

        recall, precision = alce(sentences, carries)
        assert of("citation_quality(mode=recall)", answer(text), said).value == pytest.approx(recall)
        found = of("citation_quality(mode=precision)", answer(text), said)
        assert found.value == pytest.approx(precision, nan_ok=True)

    def test_no_more_citations_of_a_sentence_count_than_asked_for(self) -> None:
        judge = judged(lambda _text, shown: "full" if 1 in shown else "none")
        found = score(citation_quality(answer("So [1][2][3][4]."), judge=judge, mode="precision", most=1))
        assert found.value == 1.0
        assert len(judge.calls) == 1


@pytest.mark.parametrize("metric", ["citation_support", "citation_quality"])
class TestAnswersThatCiteNothing:
    def test_recall_and_f_are_0_and_there_is_no_precision(self, metric: str) -> None:
        for mode in ("recall", "f1"):
            assert of(f"{metric}(mode={mode})", answer("So it is."), lambda *_: "full").value == 0.0
        none = of(f"{metric}(mode=precision)", answer("So it is."), lambda *_: "full")
        assert none.status is Status.EMPTY_DECOMPOSITION
        assert none.detail["statements"][0]["verdict"] == "uncited"

    @pytest.mark.parametrize(
        ("more", "status"),
        [
            ({"response": ""}, Status.EMPTY_INPUT),
            ({"response": "[1]"}, Status.EMPTY_DECOMPOSITION),
            ({"contexts": None}, Status.MISSING_FIELD),
            ({"contexts": ()}, Status.EMPTY_INPUT),
        ],
    )
    def test_what_cannot_be_measured_is_not(self, metric: str, more: Any, status: Status) -> None:
        assert of(metric, replace(answer("So [1]."), **more), lambda *_: "full").status is status

    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_the_explanation_names_bare_sentences(self, metric: str, language: str) -> None:
        found = of(metric, answer("So it is [1]. And bare."), lambda *_: "none")
        said = explain(found, translator(language))
        assert {"en": "Without a citation: “And bare.”", "ru": "Без ссылки: «And bare.»"}[language] in said


def test_by_words_alone_and_from_a_table() -> None:
    rows = [
        {"question": "Where?", "answer": "The library stands in Green Street [1]. Dogs bark [1].",
         "contexts": ["The library stands in Green Street.", "Cats sleep."]},
        {"question": "Where?", "answer": "The library stands in Green Street. Dogs bark.",
         "contexts": ["The library stands in Green Street.", "Cats sleep."],
         "citations": [{"start": 0, "end": 20, "ids": [1, 2]}, "nonsense"]},
    ]  # fmt: skip
    found = rb.score(rows, ["citation_support(mode=precision)", "citation_quality(mode=recall)"], "lexical")
    assert found["citation_support(mode=precision)"] == pytest.approx([0.5, float("nan")], nan_ok=True)
    assert found["citation_quality(mode=recall)"] == pytest.approx([0.5, float("nan")], nan_ok=True)
    one = Sample("s", response="Dogs bark [1].", contexts=(Chunk("c", " "),), language="en")
    assert score(citation_support(one, judge=LexicalJudge())).status is Status.EMPTY_INPUT


def test_a_page_shows_each_sentence_with_its_citation_and_the_passage(project: Path) -> None:
    row = {"id": "s", "question": "When?", "answer": "It opens at nine [2]. Dogs bark [7].",
           "contexts": ["Dogs stay outside.", "The house opens at nine."]}  # fmt: skip
    (project / "cited.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    made = tiers.rag_metrics(answers="cited.jsonl", metrics="citation_support", judges="lexical", resamples=100)
    [table] = every(Page(made).view("verdicts").parts, Table)
    first, second = map(str, table.cells)
    assert "It opens at nine." in first
    assert "The house opens at nine." in first
    assert "Dogs bark." in second
    assert "[7] points to none of 2 passages" in second
    assert "stay outside" not in first + second
