"""answer_correctness: weights, presets, and what happens when a part is missing."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.metrics.answer_correctness import PRESETS, answer_correctness
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.factual_correctness import factual_correctness
from ragbench.old.metrics.semantic_similarity import semantic_similarity
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment, score

EXAMPLES = {
    "wall": {
        "en": (
            "The Great Wall of China is more than 21,000 km long and was built as a protection against invasions.",
            "The Great Wall of China stretches over more than 21,000 km. It was erected as a defence against raiders.",
        ),
        "ru": (
            "Великая Китайская стена имеет длину более 21 000 км и была построена для защиты от вторжений.",
            "Великая Китайская стена протянулась более чем на 21 000 км. Она была возведена для обороны от "
            "захватчиков.",
        ),
    },
    "water": {
        "en": (
            "Water boils at 100°C. Ice melts at 0°C.",
            "At standard pressure water boils at 100 degrees Celsius and ice melts at 0 degrees Celsius.",
        ),
        "ru": (
            "Вода кипит при 100°C. Лёд тает при 0°C.",
            "При стандартном давлении вода кипит при 100 градусах Цельсия и лёд тает при 0 градусах Цельсия.",
        ),
    },
    "python": {
        "en": ("Python is a programming language.", "Python is a high-level interpreted programming language."),
        "ru": (
            "Python - это язык программирования.",
            "Python - высокоуровневый интерпретируемый язык программирования.",
        ),
    },
    "learning": {
        "en": (
            "Machine learning lets computers learn from data.",
            "ML lets systems improve by themselves on the basis of experience.",
        ),
        "ru": (
            "Машинное обучение позволяет компьютерам учиться на данных.",
            "ML позволяет системам автоматически улучшаться на основе опыта.",
        ),
    },
}


FULL = ([1, 1], [1, 1])


def of(*, f1: Any = FULL, cosine: float = 0.8, sample: Sample | None = None, **options: Any) -> Score:
    """The score where the two sides' claims get these verdicts and the embeddings this cosine."""
    one = sample or Sample("s", response="a", reference="b")
    response, reference = f1

    def verdicts(texts: Any) -> Any:
        return entailment(*(response if texts["passages"] == [one.reference] else reference))

    def parts(texts: Any) -> Any:
        side = response if texts["text"] == one.response else reference
        return claims(*(f"{texts['text']} {n}" for n in range(len(side))))

    vectors = {one.response or "": [1.0, 0.0], one.reference or "": [cosine, (1 - cosine**2) ** 0.5]}
    judge = ScriptedJudge(claims=parts, entailment=verdicts)
    return score(answer_correctness(one, judge=judge, embedder=ScriptedEmbedder(vectors), **options))


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize(
    ("name", "f1", "options", "expected"),
    [
        ("wall", ([1, 1], [1, 1]), {}, 0.75 * 1.0 + 0.25 * 0.8),
        ("water", ([1, 1], [1, 1]), {"preset": "factual"}, 0.9 * 1.0 + 0.1 * 0.8),
        ("python", ([1], [1, 0, 0]), {"preset": "equal"}, 0.5 * 0.5 + 0.5 * 0.8),
        ("python", ([1], [1, 0, 0]), {"preset": "semantic"}, 0.1 * 0.5 + 0.9 * 0.8),
        ("learning", ([0, 1], [1, 0]), {"factual_weight": 0.6, "semantic_weight": 0.4}, 0.6 * 0.5 + 0.4 * 0.8),
    ],
)
def test_the_specifications_examples(
    language: str, name: str, f1: Any, options: dict[str, Any], expected: float
) -> None:
    response, reference = EXAMPLES[name][language]
    found = of(f1=f1, sample=Sample(name, response=response, reference=reference, language=language), **options)
    assert found.value == pytest.approx(expected, abs=1e-7)
    said = explain(found, translator(language))
    decimal = {"en": ".", "ru": ","}[language]
    assert f"/ 1.000 = {expected:.3f}".replace(".", decimal) in said
    assert f" × {0.8:.3f}".replace(".", decimal) in said
    assert ("Precision" if language == "en" else "Точность") in said


def test_presets_are_those_of_the_specification() -> None:
    assert PRESETS == {"default": (0.75, 0.25), "equal": (0.5, 0.5), "factual": (0.9, 0.1), "semantic": (0.1, 0.9)}


def test_weights_need_not_add_up_to_one() -> None:
    assert of(factual_weight=3, semantic_weight=1).value == pytest.approx(of().value, abs=1e-15)


def test_all_of_both_is_exactly_one() -> None:
    assert of(cosine=1.0).value == 1.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"preset": "best"}, "default, equal, factual or semantic is expected"),
        ({"factual_weight": 0.5}, "given together"),
        ({"factual_weight": -0.1, "semantic_weight": 1}, "a number from 0 or None is expected"),
        ({"factual_weight": 0, "semantic_weight": 0}, "one is above 0"),
        ({"factual_weight": float("nan"), "semantic_weight": 1}, "factual_weight = nan: a number from 0"),
        ({"factual_weight": float("inf"), "semantic_weight": 1}, "factual_weight = inf: a number from 0"),
        ({"preset": "equal", "factual_weight": 1, "semantic_weight": 1}, "give one of them"),
    ],
)
def test_weights_that_mean_nothing(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of(**wrong)


def test_an_unmeasured_part_is_not_left_out_of_the_mean() -> None:
    """Common software averages what there is, or counts the failed part as 0."""
    found = of(f1=([], [1]))
    assert found.status is Status.EMPTY_DECOMPOSITION
    assert "factual_correctness is unmeasured" in found.reason


def test_a_part_without_weight_is_not_asked_for() -> None:
    sample = Sample("s", response="a", reference="b")
    embedder = ScriptedEmbedder({"a": [1, 0], "b": [0.6, 0.8]})
    judge = ScriptedJudge()
    found = score(answer_correctness(sample, judge=judge, embedder=embedder, factual_weight=0, semantic_weight=2))
    assert found.value == pytest.approx(0.6, abs=1e-7)
    assert not judge.calls
    silent = ScriptedJudge(claims=claims("a"), entailment=entailment(1))
    alone = score(
        answer_correctness(sample, judge=silent, embedder=ScriptedEmbedder({}), factual_weight=2, semantic_weight=0)
    )
    assert alone.value == 1.0


def test_beside_its_parts_it_costs_nothing() -> None:
    sample = Sample("s", response="a", reference="b")
    embedder = ScriptedEmbedder({"a": [1, 0], "b": [0.6, 0.8]})
    judge = ScriptedJudge(claims=claims("a"), entailment=entailment(1))
    factual = score(factual_correctness(sample, judge=judge))
    semantic = score(semantic_similarity(sample, embedder=embedder))
    calls = len(judge.calls)
    whole = score(answer_correctness(sample, judge=judge, embedder=embedder))
    assert len(judge.calls) == calls
    assert whole.value == 0.75 * factual.value + 0.25 * semantic.value
    assert set(whole.detail["parts"]) == {"factual_correctness", "semantic_similarity"}
    assert (whole.judge, whole.seconds) == ("scripted", factual.seconds)
