"""Which answers are refusals: the rule on what people labelled, on what was written for it, and its edges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import real_refusals
from ragbench.old import tiers
from ragbench.old.core import settings
from ragbench.old.core.language import translator
from ragbench.old.systems.refusals import RECOGNISED, is_refusal
from ragbench.old.tiers import BenchError
from ragbench.old.views.sentences.conclusions import told
from tests.old.llm.chat_server import ChatServer, asked_schema
from tests.old.systems import written_refusals as written
from tests.old.tiers import answer_project

REFUSALS = (*written.ENGLISH_REFUSALS, *written.RUSSIAN_REFUSALS)
ANSWERS = (*written.ENGLISH_ANSWERS, *written.RUSSIAN_ANSWERS)
_FIGURES = "The passages give the following:\n- rent: $300 million\n- deposit: 500"
_RUSSIAN_FIGURES = "В справке указано следующее:\n- выплата: 300 руб.\n- коэффициент: 1,15"


@pytest.mark.parametrize("answer", REFUSALS)
def test_refusals_in_both_languages(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_only_sound_like_refusals(answer: str) -> None:
    assert not is_refusal(answer)


@pytest.mark.slow
def test_the_rates_that_are_printed_are_those_of_the_labelled_answers(shared_data: Callable[[str], Path]) -> None:
    found = real_refusals.labelled(shared_data(real_refusals.LABELLED).parent)
    assert real_refusals.recognised(found) == RECOGNISED
    assert (RECOGNISED.recall, RECOGNISED.precision) == (pytest.approx(327 / 338), pytest.approx(327 / 339))
    by_system = {
        system: real_refusals.recognised([one for one in found if one.system == system])
        for system in dict.fromkeys(one.system for one in found)
    }
    counted = {name: one for name, one in by_system.items() if one.refusals >= 10}
    assert len(counted) == 4
    assert {name: one.refusals for name, one in counted.items() if min(one.recall, one.precision) < 0.95} == {}


@pytest.mark.slow
def test_no_sign_is_of_one_models_making(shared_data: Callable[[str], Path]) -> None:
    """What is lost where a model's answers are read with the signs alone that other models show."""
    found = real_refusals.labelled(shared_data(real_refusals.LABELLED).parent)
    left = {}
    for system in dict.fromkeys(one.system for one in found):
        rule = real_refusals.Rule(real_refusals.shown_by_others(found, system))
        left[system] = real_refusals.recognised([one for one in found if one.system == system], rule)
    refusals, taken, right = (
        sum(getattr(one, name) for one in left.values()) for name in ("refusals", "taken", "found")
    )
    assert refusals == RECOGNISED.refusals
    assert min(right / refusals, right / taken) > 0.94


def test_cases_from_the_field(shared_data: Callable[[str], Path]) -> None:
    with shared_data("field-cases/refusals/refusals.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == 17
    assert [row["answer"] for row in rows if is_refusal(row["answer"]) != row["refusal"]] == []


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ("The text does not name the fee. However, it mentions that guests pay 300 a night.", False),
        ("The text does not name the fee. However, the fee cannot be determined from the year alone.", True),
        ("Although the text does not name the fee, guests pay 300 a night.", False),
        ("To find the fee we would need the number of nights. I do not have it.", True),
        ("To find the fee, multiply 300 by the number of nights.", False),
        ("В тексте не названа плата. Однако из таблицы следует: 300 рублей за ночь.", False),
        ("В тексте названа плата за ночь. Поэтому плату за месяц определить невозможно.", True),
        (f"{_FIGURES}\nTherefore, the total cannot be determined.", True),
        (f"I cannot calculate the total. {_FIGURES}\nTherefore, the total cannot be determined.", False),
        (f"The text does not name the total. {_FIGURES}", False),
        (f"The text does not name the total. {_FIGURES}\nTherefore, the total cannot be determined.", True),
        (
            "I cannot calculate the total. From the text I would need:\n1. the rent of 2022\n2. the year: 2022 or 2023",
            True,
        ),
        ("I cannot answer this question. Please contact the office:\n- phone: 555 12 34\n- room: 12", True),
        (f"Не могу рассчитать сумму. {_RUSSIAN_FIGURES}\nПоэтому сумму рассчитать нельзя.", False),
        (f"{_RUSSIAN_FIGURES}\nПоэтому сумму рассчитать нельзя.", True),
        ("К сожалению, в материалах нет ответа. Обратитесь в деканат:\n- телефон: 8 800 555\n- кабинет: 12", True),
        ("К сожалению, в материалах нет ответа. По документам нужны:\n- копии: 2\n- фото: 3", True),
        ("", False),
        ("   ", False),
        ("n/a.", True),
        ("«Нет данных»", True),
    ],
)
def test_the_whole_answer_counts(answer: str, refusal: bool) -> None:
    assert is_refusal(answer) == refusal


@given(st.sampled_from(REFUSALS + ANSWERS), st.sampled_from(["", " ", "\n", "\n\n"]))
def test_space_around_changes_nothing(answer: str, space: str) -> None:
    assert is_refusal(space + answer + space) == is_refusal(answer)


@given(st.text(max_size=400))
def test_any_text_is_one_or_the_other(answer: str) -> None:
    assert is_refusal(answer) in (True, False)


@pytest.mark.parametrize(
    "word", ["i ", "the context ", "the text says: ", "- a: : ", "не ", "information ", "there is no ", "a, "]
)
def test_long_texts_of_one_word_come_to_an_end(word: str) -> None:
    assert is_refusal(word * 5_000) in (True, False)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_both_rates_are_said_with_what_they_were_counted_on(language: str) -> None:
    facts = {"by": "rule", **RECOGNISED._asdict(), "recall": RECOGNISED.recall, "precision": RECOGNISED.precision}
    said = told(translator(language), facts)
    for number in (
        "338",
        "327",
        "339",
        "0.967" if language == "en" else "0,967",
        "0.965" if language == "en" else "0,965",
    ):
        assert number in said
    assert "strict" in told(translator(language), {"by": "strict"})
    assert told(translator(language), None) == ""


@pytest.mark.slow
def test_the_page_of_judges_has_the_figures(shared_data: Callable[[str], Path]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "judges.md").read_text(encoding="utf-8")
    found = real_refusals.labelled(shared_data(real_refusals.LABELLED).parent)
    systems = list(dict.fromkeys(one.system for one in found))
    parts = [[one for one in found if one.system == system] for system in systems]
    left = [
        real_refusals.recognised(part, real_refusals.Rule(real_refusals.shown_by_others(found, part[0].system)))
        for part in parts
    ]
    counted = [real_refusals.recognised(part) for part in parts]
    rows = [f"| {one.refusals} | {one.recall:.3f} | {one.precision:.3f} |" for one in (*counted, RECOGNISED)]
    names = ("answers", "systems", "refusals", "taken", "found")
    whole = type(RECOGNISED)(*(sum(getattr(one, name) for one in left) for name in names))
    rows.append(f"| {whole.refusals} | {whole.recall:.3f} | {whole.precision:.3f} |")
    table = [line for line in page.splitlines() if line.startswith("|")][2:]
    assert [line[line.index("|", 1) :] for line in table] == rows


def test_a_judge_says_which_answers_are_refusals(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the function gives verbatim: "I do not know." where nothing is at hand. The judge says the opposite of the
    rule, and of one answer nothing at all."""

    def reply(body: dict[str, object]) -> object:
        text = str(body["messages"])
        if "library closes" in text:
            return "no verdict at all"
        return (
            {"reason": "so it is", "verdict": "no" if "I do not know" in text else "yes"} if asked_schema(body) else "x"
        )

    with ChatServer(answer=reply).running() as server:
        path = answer_project.make(tmp_path, database_folder)
        with path.open("a", encoding="utf-8") as file:
            file.write(f'[judges.strict]\nbase_url = "{server.url}"\nmodel = "judge"\n')
        monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
        monkeypatch.chdir(tmp_path)
        settings.load.cache_clear()
        asked = {"systems": "function", "metrics": "rouge1_f", "repeats": 1, "resamples": 200}
        by_rule = tiers.tier2_generation(**asked)
        with pytest.raises(BenchError, match="'strickt': \"rule\" or one model is expected; judges are strict"):
            tiers.tier2_generation(**asked, refusals="strickt")
        calls = server.calls
        assert calls == 0
        by_judge = tiers.tier2_generation(**asked, refusals="strict")
        assert tiers.tier2_generation(**asked, refusals="strict").extra["answers"].equals(by_judge.extra["answers"])
    refused = {
        name: dict(zip(found.extra["answers"]["sample"], found.extra["answers"]["refused"], strict=True))
        for name, found in (("rule", by_rule), ("judge", by_judge))
    }
    assert refused["rule"] == {"q1": False, "q2": False, "q3": False, "q4": False, "q5": True}
    assert {name: one for name, one in refused["judge"].items() if name != "q3"} == {
        "q1": True, "q2": True, "q4": True, "q5": False,
    }  # fmt: skip
    assert refused["judge"]["q3"] is None, "nobody said it"
    shares = {one.where["group"]: one.estimate for one in by_judge.estimates_by("group")}
    assert (shares["answerable"].value, shares["answerable"].n, shares["answerable"].n_unmeasured) == (1.0, 3, 1)
    assert (shares["unanswerable"].value, shares["unanswerable"].n) == (0.0, 1)
    assert (by_rule.facts["refusals"]["by"], by_judge.facts["refusals"]["by"]) == ("rule", "strict")
    assert by_rule.facts["refusals"]["recall"] == RECOGNISED.recall
