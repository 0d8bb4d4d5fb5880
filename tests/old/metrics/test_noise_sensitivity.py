"""noise_sensitivity: the specification's examples, both modes from the same calls, and the formula on random tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ragbench.old.core.language import translator
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.noise_sensitivity import noise_sensitivity
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment, score


def chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


EARTHQUAKES = {
    "en": Sample(
        "quakes",
        user_input="What causes earthquakes?",
        response="Earthquakes are caused by the movement of tectonic plates.",
        reference="Earthquakes are caused by the movement of tectonic plates. The plates shift suddenly and release "
        "energy.",
        contexts=chunks(
            "Tectonic plates are large parts of the earth's crust that move slowly.",
            "When tectonic plates collide, they can cause earthquakes.",
            "Seismic waves are energy that is released during earthquakes.",
            "The best time to visit Japan is the cherry blossom season.",
        ),
        language="en",
    ),
    "ru": Sample(
        "quakes",
        user_input="Что вызывает землетрясения?",
        response="Землетрясения вызываются движением тектонических плит.",
        reference="Землетрясения вызываются движением тектонических плит. Плиты внезапно сдвигаются и высвобождают "
        "энергию.",
        contexts=chunks(
            "Тектонические плиты — большие участки земной коры, которые медленно движутся.",
            "Когда тектонические плиты сталкиваются, они могут вызывать землетрясения.",
            "Сейсмические волны — это энергия, высвобождающаяся во время землетрясений.",
            "Лучшее время для посещения Японии — сезон цветения сакуры.",
        ),
        language="ru",
    ),
}
FRANCE = {
    "en": Sample(
        "france",
        user_input="What is the capital of France?",
        response="Paris is the capital of France. The weather there is lovely all year round.",
        reference="Paris is the capital of France.",
        contexts=chunks(
            "Paris is the capital and largest city of France.",
            "The weather in Paris changes with the season.",
            "French cuisine is famous for croissants and wine.",
        ),
        language="en",
    ),
    "ru": Sample(
        "france",
        user_input="Какая столица Франции?",
        response="Париж — столица Франции. Там прекрасная погода круглый год.",
        reference="Париж — столица Франции.",
        contexts=chunks(
            "Париж — столица и крупнейший город Франции.",
            "Погода в Париже меняется в зависимости от сезона.",
            "Французская кухня славится круассанами и вином.",
        ),
        language="ru",
    ),
}
Table = Sequence[Sequence[int]]


def judge_of(sample: Sample, said: Sequence[int], said_by: Table, true_by: Table) -> ScriptedJudge:
    """said[i]: the reference supports claim i of the response; said_by[c][i], true_by[c][j]: context c supports it."""
    places = {chunk.text: place for place, chunk in enumerate(sample.contexts or ())}

    def parts(texts: Any) -> Any:
        side, n = ("said", len(said)) if texts["text"] == sample.response else ("true", len(true_by[0]))
        return claims(*(f"{side} {number}" for number in range(n)))

    def verdicts(texts: Any) -> Any:
        passage = texts["passages"][0]
        if passage == sample.reference:
            return entailment(*said)
        table = said_by if texts["statements"][0].startswith("said") else true_by
        return entailment(*table[places[passage]], passages=[1])

    return ScriptedJudge(claims=parts, entailment=verdicts)


def of(sample: Sample, said: Sequence[int], said_by: Table, true_by: Table, **options: Any) -> Score:
    return score(noise_sensitivity(sample, judge=judge_of(sample, said, said_by, true_by), **options))


@pytest.mark.parametrize("language", ["en", "ru"])
class TestTheSpecification:
    def test_a_robust_answer(self, language: str) -> None:
        found = of(EARTHQUAKES[language], [1], [[0], [1], [0], [0]], [[0, 0], [1, 0], [0, 1], [0, 0]])
        assert found.value == 0.0 <= 0.3
        assert found.detail["relevant"] == ["c2", "c3"]

    def test_a_wrong_claim_out_of_an_irrelevant_context(self, language: str) -> None:
        tables = ([1, 0], [[1, 0], [0, 1], [0, 0]], [[1], [0], [0]])
        found = of(FRANCE[language], *tables, mode="irrelevant")
        assert found.value == 0.5
        assert of(FRANCE[language], *tables).value == 0.0
        said = explain(found, translator(language))
        assert ("1 / 2 = 0.500" if language == "en" else "1 / 2 = 0,500") in said
        assert "said 1" in said
        assert found.detail["statements"][1] == {
            "statement": "said 1",
            "verdict": "neutral",
            "reason": "because 2",
            "chunks": ["c2"],
            "led_by": "irrelevant",
        }

    def test_the_offline_judge_finds_it(self, language: str) -> None:
        one = replace(
            FRANCE[language],
            contexts=chunks(FRANCE[language].reference or "", (FRANCE[language].response or "").split(". ")[1]),
        )
        assert score(noise_sensitivity(one, judge=LexicalJudge(), mode="irrelevant")).value == 0.5
        assert score(noise_sensitivity(one, judge=LexicalJudge())).value == 0.0


class TestCalls:
    def test_two_k_plus_three_in_two_rounds(self) -> None:
        sample = EARTHQUAKES["en"]
        judge = judge_of(sample, [1], [[0], [1], [0], [0]], [[0, 0], [1, 0], [0, 1], [0, 0]])
        score(noise_sensitivity(sample, judge=judge))
        assert (len(judge.calls), judge.rounds) == (2 * 4 + 3, 2)

    def test_the_other_mode_costs_nothing(self) -> None:
        sample = FRANCE["en"]
        judge = judge_of(sample, [1, 0], [[1, 0], [0, 1], [0, 0]], [[1], [0], [0]])
        score(noise_sensitivity(sample, judge=judge))
        before = len(judge.calls)
        assert score(noise_sensitivity(sample, judge=judge, mode="irrelevant")).value == 0.5
        assert len(judge.calls) == before


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_the_formula_on_random_verdicts(data: st.DataObject) -> None:
    """Against the arrays of the published definition; the two modes never count a claim twice."""
    n, m, k = (data.draw(st.integers(1, 4)) for _ in range(3))
    said = data.draw(hnp.arrays(bool, n))
    said_by, true_by = data.draw(hnp.arrays(bool, (k, n))), data.draw(hnp.arrays(bool, (k, m)))
    relevant = true_by.any(axis=1)
    by_relevant = (said_by & relevant[:, None]).any(axis=0)
    by_irrelevant = (said_by & ~relevant[:, None]).any(axis=0) & ~by_relevant
    sample = replace(FRANCE["en"], contexts=chunks(*(f"context {number}" for number in range(k))))
    tables = ([*map(int, said)], said_by.astype(int).tolist(), true_by.astype(int).tolist())
    assert of(sample, *tables).value == pytest.approx(np.mean(by_relevant & ~said), abs=1e-12)
    assert of(sample, *tables, mode="irrelevant").value == pytest.approx(np.mean(by_irrelevant & ~said), abs=1e-12)


class TestEdges:
    def test_no_claims_in_the_response(self) -> None:
        assert of(FRANCE["en"], [], [[]] * 3, [[1]] * 3).status is Status.EMPTY_DECOMPOSITION

    def test_no_claims_in_the_reference(self) -> None:
        tables: Any = ([0, 1], [[1, 0], [0, 1], [0, 0]], [[], [], []])
        assert of(FRANCE["en"], *tables).value == 0.0
        found = of(FRANCE["en"], *tables, mode="irrelevant")
        assert (found.value, found.detail["relevant"]) == (0.5, [])

    def test_a_failure_is_not_the_best_value(self) -> None:
        """Common software returns 0.0, the best there is, when a call fails."""
        sample = FRANCE["en"]
        judge = judge_of(sample, [1, 0], [[1, 0], [0, 1], [0, 0]], [[1], [0], [0]])
        judge.scripts = {**judge.scripts, "entailment": Status.JUDGE_ERROR}
        assert score(noise_sensitivity(sample, judge=judge)).status is Status.JUDGE_ERROR

    def test_an_empty_chunk_supports_nothing_and_costs_nothing(self) -> None:
        sample = replace(FRANCE["en"], contexts=chunks(" ", "good"))
        judge = judge_of(sample, [0], [[1], [1]], [[1], [1]])
        found = score(noise_sensitivity(sample, judge=judge))
        assert found.value == 1.0
        assert found.detail["relevant"] == ["c2"]
        assert len(judge.calls) == 5

    def test_lower_is_better(self) -> None:
        assert noise_sensitivity.better == "lower"

    def test_an_unknown_mode(self) -> None:
        with pytest.raises(ValueError, match="relevant or irrelevant"):
            of(FRANCE["en"], [1], [[1]] * 3, [[1]] * 3, mode="both")
