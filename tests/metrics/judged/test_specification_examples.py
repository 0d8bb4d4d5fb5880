"""The worked examples of the specification: their texts, what a careful judge says, the value.

`expected` is the value by the formula; `allowed` the range that the specification asks for.
"""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.metrics import find_metric
from tests.metrics.judged.scripted import (
    ScriptedEmbedder,
    ScriptedJudge,
    claims,
    holding,
    judging_both,
    measure,
    rated,
    verdicts,
)

TOWER = {
    "reference": "Эйфелева башня расположена в Париже, Франция. Она была завершена в 1889 году для "
    "Всемирной выставки.",
    "contexts": (
        "Эйфелева башня, расположенная в Париже, Франция, является одной из самых знаковых "
        "достопримечательностей.",
        "Завершённая в 1889 году, она была построена для Всемирной выставки 1889 года.",
        "Миллионы посетителей ежегодно привлекаются к ней захватывающими видами.",
    ),
}
EINSTEIN_BORN = {
    "reference": "Альберт Эйнштейн родился в Ульме, Германия, 14 марта 1879 года. Он получил "
    "Нобелевскую премию по физике в 1921 году.",
    "contexts": (
        "Физика — фундаментальная наука, изучающая материю и энергию.",
        "Учёные сделали множество важных открытий на протяжении истории.",
    ),
}
PHOTOSYNTHESIS = {
    "question": "Что такое фотосинтез?",
    "reference": "Фотосинтез — это процесс, при котором растения используют солнечный свет, "
    "углекислый газ и воду для производства глюкозы и кислорода.",
    "contexts": (
        "Фотосинтез — биологический процесс, при котором растения преобразуют световую энергию.",
        "Процесс включает: 6CO2 + 6H2O + свет → C6H12O6 + 6O2.",
        "Растения — автотрофы, производящие собственную пищу.",
    ),
}
QUANTUM = {
    "question": "Что такое квантовые вычисления?",
    "answer": "Квантовые вычисления используют квантовомеханические явления.",
    "contexts": (
        "Цены на продукты выросли в этом году.",
        "Квантовые компьютеры используют кубиты вместо классических битов.",
        "Квантовые вычисления используют суперпозицию и запутанность.",
    ),
}
LIGHT = {
    "question": "Расскажите о фотосинтезе",
    "reference": "Фотосинтез преобразует световую энергию в химическую. Он происходит в "
    "хлоропластах. Процесс требует CO₂, воды и солнечного света. Кислород выделяется как побочный "
    "продукт.",
    "contexts": (
        "Фотосинтез — процесс, при котором растения преобразуют солнечный свет в химическую "
        "энергию.",
        "Хлоропласты — органеллы в растительных клетках, где происходит фотосинтез.",
        "Во время фотосинтеза кислород производится как побочный продукт.",
        "Процесс требует углекислого газа, воды и световой энергии.",
    ),
}
SUPER_BOWL = {
    "question": "Когда был первый Суперкубок?",
    "answer": "Первый Суперкубок состоялся 15 января 1967 года.",
    "contexts": (
        "Первый Суперкубок состоялся 15 января 1967 года в Лос-Анджелесском мемориальном колизее.",
    ),
}
IVAN = {
    "question": "Какие курсы посещает Иван?",
    "answer": "Иван посещает курсы по Структурам данных, Алгоритмам и Искусственному интеллекту. "
    "Он также работает на полставки в университетской библиотеке.",
    "contexts": (
        "Иван — студент университета XYZ, обучающийся по специальности Информатика. Он записан на "
        "курсы Структуры данных, Алгоритмы и Управление базами данных. Иван часто задерживается в "
        "библиотеке, работая над своими проектами.",
    ),
}
EARTHQUAKES = {
    "question": "Что вызывает землетрясения?",
    "answer": "Землетрясения вызываются движением тектонических плит.",
    "reference": "Землетрясения вызываются движением тектонических плит. Плиты внезапно сдвигаются "
    "и высвобождают энергию.",
    "contexts": (
        "Тектонические плиты — большие участки земной коры, которые медленно движутся.",
        "Когда тектонические плиты сталкиваются, они могут вызывать землетрясения.",
        "Сейсмические волны — это энергия, высвобождающаяся во время землетрясений.",
        "Лучшее время для посещения Японии — сезон цветения сакуры.",
    ),
}
FRANCE = {
    "question": "Какая столица Франции?",
    "answer": "Париж — столица Франции. Там прекрасная погода круглый год.",
    "reference": "Париж — столица Франции.",
    "contexts": (
        "Париж — столица и крупнейший город Франции.",
        "Погода в Париже меняется в зависимости от сезона.",
        "Французская кухня славится круассанами и вином.",
    ),
}
EINSTEIN = {
    "answer": "Альберт Эйнштейн был немецким физиком. Он разработал теорию относительности. Он "
    "получил Нобелевскую премию по физике в 1921 году.",
    "reference": "Альберт Эйнштейн родился в Германии в 1879 году. Он известен разработкой теории "
    "относительности. Эйнштейн получил Нобелевскую премию по физике в 1921 году.",
}
EINSTEIN_WRONG = {
    "answer": "Эйнштейн родился во Франции. Он изобрёл телефон. Он получил Нобелевскую премию по "
    "химии.",
    "reference": "Альберт Эйнштейн родился в Германии. Он разработал теорию относительности. Он "
    "получил Нобелевскую премию по физике.",
}
PARIS = {
    "answer": "Париж - столица Франции.",
    "reference": "Париж - столица Франции. Население составляет более 2 миллионов человек.",
}
MOSCOW = {
    "answer": "Москва — столица России с населением около 12 миллионов человек.",
    "contexts": (
        "Москва является столицей и крупнейшим городом России. Она расположена на реке Москва.",
    ),
}
LEVELS = {
    "rubric": {
        "5": "Полный, точный, хорошо структурированный, с примерами",
        "4": "Точный с незначительными упущениями, хорошая структура",
        "3": "Охватывает основное, но без глубины",
        "2": "Значительные пробелы или неточности",
        "1": "В основном неверный или нерелевантный",
    },
    "answer": "Эйфелева башня была построена в 1889 году для Всемирной выставки. Её высота 330 "
    "метров, и спроектировал её Гюстав Эйфель.",
}
FIVE = {"Эйфелева башня", "Париж", "Франция", "1889", "Всемирная выставка"}


def entities(reference: set[str], contexts: set[str]) -> Any:
    """A script of the names that a judge finds in the reference and in the contexts."""

    def name(values: Any) -> Any:
        return {"entities": sorted(reference if len(values["texts"]) == 1 else contexts)}

    return {"entities": name}


def useful(*words: str) -> dict[str, Any]:
    return rated("context_precision", *words, field="verdict")


QUAKES_CLAIM = ["плиты вызывают землетрясения"]
QUAKES = holding(
    {
        EARTHQUAKES["answer"]: QUAKES_CLAIM,
        EARTHQUAKES["reference"]: [*QUAKES_CLAIM, "плиты сдвигаются"],
    },
    {EARTHQUAKES["reference"]: set(QUAKES_CLAIM), EARTHQUAKES["contexts"][1]: set(QUAKES_CLAIM)},
)
WEATHER = holding(
    {FRANCE["answer"]: ["столица", "погода"], FRANCE["reference"]: ["столица"]},
    {
        FRANCE["reference"]: {"столица"},
        FRANCE["contexts"][0]: {"столица"},
        FRANCE["contexts"][1]: {"погода"},
    },
)
EXAMPLES = [
    ("context_entity_recall", TOWER, entities(FIVE, FIVE), 1.0, (0.7, 1)),
    (
        "context_entity_recall",
        EINSTEIN_BORN,
        entities({"Альберт Эйнштейн", "Ульм", "Германия", "14 марта 1879", "1921"}, set()),
        0.0,
        (0, 0.3),
    ),
    (
        "context_precision(strategy=reference)",
        PHOTOSYNTHESIS,
        useful("useful", "useful", "useless"),
        1.0,
        (0.8, 1),
    ),
    (
        "context_precision(strategy=answer)",
        QUANTUM,
        useful("useless", "useful", "useful"),
        7 / 12,
        (0, 0.7),
    ),
    ("context_recall", LIGHT, {"entailment": verdicts(1, 1, 1, 1)}, 1.0, (0.9, 1)),
    (
        "faithfulness",
        SUPER_BOWL,
        {"claims": claims(SUPER_BOWL["answer"]), "entailment": verdicts(1)},
        1.0,
        (0.9, 1),
    ),
    (
        "faithfulness",
        IVAN,
        {
            "claims": claims("структуры данных", "алгоритмы", "ИИ", "библиотека"),
            "entailment": verdicts(1, 1, "contradicted", 0),
        },
        0.5,
        (0, 0.7),
    ),
    ("noise_sensitivity(mode=relevant)", EARTHQUAKES, QUAKES, 0.0, (0, 0.3)),
    ("noise_sensitivity(mode=irrelevant)", FRANCE, WEATHER, 0.5, (0, 1)),
    ("factual_correctness", EINSTEIN, judging_both(EINSTEIN, [1, 1, 1], [0, 1, 1]), 0.8, (0.8, 1)),
    (
        "factual_correctness",
        EINSTEIN_WRONG,
        judging_both(EINSTEIN_WRONG, ["contradicted", 0, "contradicted"], ["contradicted", 0, 0]),
        0.0,
        (0, 0.3),
    ),
    ("factual_correctness(mode=precision)", PARIS, judging_both(PARIS, [1], [1, 0]), 1.0, (0.9, 1)),
    ("factual_correctness(mode=recall)", PARIS, judging_both(PARIS, [1], [1, 0]), 0.5, (0.4, 0.7)),
    (
        "response_groundedness",
        MOSCOW,
        rated("response_groundedness", 1),
        0.5,
        (0.5, 0.5),
    ),
    (
        "rubrics_score",
        LEVELS,
        rated("rubrics_score", 4, field="level"),
        0.75,
        (0.75, 0.75),
    ),
]


@pytest.mark.parametrize(("label", "sample", "script", "expected", "allowed"), EXAMPLES)
def test_an_example_has_the_value_that_its_text_asks_for(
    label: str, sample: dict[str, Any], script: Any, expected: float, allowed: Any
) -> None:
    judge = ScriptedJudge(**script) if isinstance(script, dict) else script
    score = measure(label, judge, **sample)
    assert score.value == pytest.approx(expected, abs=1e-15)
    assert allowed[0] <= score.value <= allowed[1]


@pytest.mark.parametrize(("level", "expected"), [(5, 1), (4, 0.75), (3, 0.5), (2, 0.25), (1, 0)])
def test_the_table_of_levels(level: int, expected: float) -> None:
    judge = ScriptedJudge(**rated("rubrics_score", level, field="level"))
    assert measure("rubrics_score", judge, **LEVELS).value == expected


ENTANGLED = (
    "Квантовая запутанность — это явление, при котором частицы становятся взаимосвязанными. Она "
    "применяется в квантовых вычислениях и криптографии."
)


@pytest.mark.parametrize(
    ("label", "question", "answer", "made", "expected"),
    [
        (
            "response_relevancy",
            "Где находится Франция и какая её столица?",
            "Франция находится в Западной Европе, и её столица — Париж.",
            [("Где Франция и её столица?", "committal", 0.95)] * 3,
            0.95,
        ),
        (
            "response_relevancy",
            "Где находится Франция и какая её столица?",
            "Франция находится в Западной Европе.",
            [("Где Франция?", "committal", 0.6), ("В какой части Европы?", "committal", 0.7)],
            0.65,
        ),
        (
            "response_relevancy",
            "Какая столица Франции?",
            "Я не знаю, какая столица Франции.",
            [("Какая столица?", "noncommittal", 0.9)] * 3,
            0.0,
        ),
        (
            "response_relevancy(questions=5)",
            "Объясните квантовую запутанность и её применения",
            ENTANGLED,
            [("Что такое запутанность?", "committal", 0.8)] * 7,
            0.8,
        ),
    ],
)
def test_relevancy_of_answers(
    label: str, question: str, answer: str, made: Any, expected: float
) -> None:
    reply = {"questions": [{"question": text, "manner": manner} for text, manner, _ in made]}
    vectors = {text: (cosine, (1 - cosine**2) ** 0.5) for text, _, cosine in made}
    embedder = ScriptedEmbedder({question: (1, 0), **vectors})
    judge = ScriptedJudge(response_relevancy=reply)
    score = measure(label, judge, embedder=embedder, question=question, answer=answer)
    assert score.value == pytest.approx(expected, abs=1e-6)
    assert len(judge.calls) == 1
    assert len(score.verdicts) <= 5


WALL = {
    "answer": "Великая Китайская стена имеет длину более 21 000 км и была построена для защиты от "
    "вторжений.",
    "reference": "Великая Китайская стена протянулась более чем на 21 000 км. Она была возведена "
    "для обороны от захватчиков.",
}
PYTHON = {
    "answer": "Python - это язык программирования.",
    "reference": "Python - высокоуровневый интерпретируемый язык программирования.",
}
WATER = {
    "answer": "Вода кипит при 100°C. Лёд тает при 0°C.",
    "reference": "При стандартном давлении вода кипит при 100 градусах Цельсия и лёд тает при 0 "
    "градусах Цельсия.",
}
LEARNING = {
    "answer": "Машинное обучение позволяет компьютерам учиться на данных.",
    "reference": "ML позволяет системам автоматически улучшаться на основе опыта.",
}


@pytest.mark.parametrize(
    ("label", "sample", "answer_verdicts", "reference_verdicts", "cosine", "expected", "allowed"),
    [
        ("answer_correctness", WALL, [1, 1], [1, 1], 0.92, 0.98, (0.8, 1)),
        ("answer_correctness(preset=equal)", PYTHON, [1], [1, 0, 0], 0.9, 0.7, (0.5, 0.9)),
        ("answer_correctness(preset=factual)", WATER, [1, 1], [1, 1], 0.8, 0.98, (0.8, 1)),
        ("answer_correctness(preset=semantic)", WATER, [1, 1], [1, 1], 0.8, 0.82, (0, 1)),
        (
            "answer_correctness(factual_weight=0.6,semantic_weight=0.4)",
            LEARNING,
            [1],
            [0],
            0.8,
            0.32,
            (0, 1),
        ),
    ],
)
def test_correctness_of_answers(
    label: str,
    sample: dict[str, str],
    answer_verdicts: Any,
    reference_verdicts: Any,
    cosine: float,
    expected: float,
    allowed: Any,
) -> None:
    judge = judging_both(sample, answer_verdicts, reference_verdicts)
    vectors = {sample["answer"]: (1, 0), sample["reference"]: (cosine, (1 - cosine**2) ** 0.5)}
    score = measure(label, judge, embedder=ScriptedEmbedder(vectors), **sample)
    assert score.value == pytest.approx(expected, abs=1e-6)
    assert allowed[0] <= score.value <= allowed[1]


@pytest.mark.parametrize(
    ("label", "answer", "reference", "cosine", "expected"),
    [
        (
            "semantic_similarity",
            "Машинное обучение - это раздел искусственного интеллекта.",
            "ML - это ветвь ИИ, позволяющая системам учиться на данных.",
            0.75,
            0.75,
        ),
        (
            "semantic_similarity",
            "Сегодня погода солнечная и тёплая.",
            "Квантовые компьютеры используют кубиты для вычислений.",
            0.1,
            0.1,
        ),
        *[
            (
                "semantic_similarity(threshold=0.8)",
                "Python - язык программирования для веб-разработки.",
                "Python - универсальный язык программирования для веб-приложений.",
                cosine,
                expected,
            )
            for cosine, expected in [(0.8, 1.0), (0.79, 0.0)]
        ],
    ],
)
def test_likeness_of_answers(
    label: str, answer: str, reference: str, cosine: float, expected: float
) -> None:
    embedder = ScriptedEmbedder({answer: (1, 0), reference: (cosine, (1 - cosine**2) ** 0.5)})
    value = find_metric(label)(answer, reference, embedder)
    assert value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("answer", ["Эйфелева башня", "  эйфелева\n БАШНЯ "])
def test_what_stands_in_a_context_is_grounded_without_a_call(answer: str) -> None:
    judge = ScriptedJudge()
    contexts = ("Другое.", "Эйфелева башня находится в Париже.")
    score = measure("response_groundedness", judge, answer=answer, contexts=contexts)
    assert (score.value, score.facts["shortcut"], judge.calls) == (1.0, "contained", [])
