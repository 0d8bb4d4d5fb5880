"""Judges of every kind answer prompts, or say why not: models, functions, objects, panels."""

# ruff: noqa: E501  tables of inputs, a line each

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from pydantic import BaseModel

import ragbench as rb
from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.language import load_language
from ragbench.core.settings import Budget, JudgeTable, Settings
from ragbench.core.types import Score
from ragbench.judge import OfflineJudge, Panel, Rule, default_journal, open_judge, own_judge
from ragbench.judge.panel import combine
from ragbench.llm import BudgetSpentError
from ragbench.metrics.faithfulness import faithfulness
from ragbench.metrics.judging import PROMPTS, RatedTo5
from ragbench.metrics.ratings import RELEVANCE, answer_relevance
from ragbench.tiers.scoring import score_samples
from tests.llm.chat_server import GOOD, Raw, Server, serving

TEXTS = {"question": "When does it open?", "answer": "At 8."}
RUSSIAN = {"question": "Когда открыто?", "answer": "С 8 до 17, без перерыва."}


def settings_for(server: Server, *names: str, **more: Any) -> Settings:
    table = {"base_url": server.url, "model": "m", "input_price": 1.0}
    judges = {name: JudgeTable.model_validate(table) for name in names or ("mine",)}
    return Settings(judges=judges, **more)


def ask(judge: Any, repeat: int = 0, **texts: str) -> Any:
    """What a judge says to the prompt of answer_relevance."""

    async def run() -> Any:
        async with judge:
            again = {"repeat": repeat} if repeat else {}  # a judge may know of no repeats
            return await judge.ask(RELEVANCE, **again, **(texts or TEXTS))

    return asyncio.run(run())


def by(metric: Any, fields: Mapping[str, Any]) -> Any:
    """A metric on one sample, waiting for its judge."""
    return lambda judge: metric.measure(judge=judge, **fields)


@pytest.fixture(autouse=True)
def _journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_JOURNAL", str(tmp_path / "replies.sqlite"))


def test_a_model_is_asked_with_the_rules_and_its_reply_is_kept() -> None:
    with serving() as server:
        for repeat in (0, 0, 1):
            reply = ask(open_judge("mine", settings_for(server), "en"), repeat)
            assert (reply.rating, reply.reason) == (4, "r")
    assert len(server.requests) == 2, "the same is paid for once, its repeat is asked anew"
    rules, task = server.requests[0].body["messages"]
    assert rules["content"].startswith("You are an impartial judge")
    assert rules["content"].endswith("without commentary.")
    assert "At 8." in task["content"]


@pytest.mark.parametrize(
    ("language", "texts", "expected"),
    [
        ("", TEXTS, "You are"),
        ("", RUSSIAN, "Вы — "),
        ("ru", TEXTS, "Вы — "),
        ("en", RUSSIAN, "You are"),
    ],
)
def test_the_prompt_is_in_the_language_of_page_or_texts(
    language: str, texts: dict[str, str], expected: str
) -> None:
    with serving() as server:
        ask(open_judge("mine", settings_for(server), language), **texts)
    assert server.requests[0].body["messages"][0]["content"].startswith(expected)


def test_a_judge_that_has_a_language_keeps_it() -> None:
    with serving() as server:
        settings = settings_for(server)
        ask(open_judge(open_judge("mine", settings, "ru"), settings, "en"))
    assert server.requests[0].body["messages"][0]["content"].startswith("Вы — ")


@pytest.mark.parametrize("name", ["a PostgreSQL", "a file", ""])
def test_the_journal_of_nobody_s_choice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_JOURNAL", name if name == "a file" else "")
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", "a PostgreSQL" if name else "")
    assert str(default_journal()).endswith(name or "ragbench/replies.sqlite")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("answer_relevance", (0, 2048)),
        ("entailment", (0, 3000)),
        ("response_groundedness", (0.1, 2048)),
    ],
)
def test_a_prompt_has_its_own_temperature_and_length(
    name: str, expected: tuple[float, int]
) -> None:
    async def run(judge: Any) -> None:
        async with judge:
            await judge.answer(PROMPTS[name], **dict.fromkeys(PROMPTS[name].slots, "x"))

    with serving() as server:
        asyncio.run(run(own_judge("m", base_url=server.url)))
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == expected


def test_the_reasoned_mode_writes_its_reasons_first() -> None:
    said = {"reasoning": "!", "answer": json.loads(GOOD)}
    with serving(lambda body, number: json.dumps(said)) as server:
        assert ask(own_judge("m", base_url=server.url, mode="reasoned")).rating == 4
        said["reasoning"] = ""
        with pytest.raises(Unmeasured):
            ask(own_judge("m", base_url=server.url, mode="reasoned", name="again"), repeat=1)
    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["reasoning", "answer"]


def test_a_project_s_own_words_are_asked() -> None:
    own = RELEVANCE.reword({"en": "Rate {answer} for {question}!", "ru": "{answer} {question}"})
    with serving() as server:
        ask(open_judge("mine", settings_for(server), "en", prompts={"answer_relevance": own}))
    assert server.requests[0].body["messages"][1]["content"].startswith("Rate <text-")


def test_an_unusable_reply_is_unmeasured_with_its_status() -> None:
    with serving(lambda body, number: "Four!") as server, pytest.raises(Unmeasured) as caught:
        ask(open_judge("mine", settings_for(server)))
    assert (caught.value.status, len(server.requests)) == ("parse_error", 2)


def test_seconds_are_known_of_a_reply_out_of_the_journal_too() -> None:
    async def seconds(judge: Any, **repeat: int) -> float:
        async with judge:
            return (await judge.answer(RELEVANCE, **repeat, **TEXTS)).seconds

    with serving(latency=0.05) as server:
        first = asyncio.run(seconds(open_judge("mine", settings_for(server))))
        second = asyncio.run(seconds(open_judge("mine", settings_for(server)), repeat=0))
    assert first == second > 0.04


def test_a_plan_asks_nobody_and_the_offline_judge_answers() -> None:
    with serving() as server:
        ask(open_judge("mine", settings_for(server), "en"))
        judge = open_judge("mine", settings_for(server), "en", planning=True)
        assert ask(judge).rating == 4, "out of the journal"
        assert ask(judge, **RUSSIAN).rating == 1, "by words"
        assert len(server.requests) == 1
    plan = judge.client.plan()
    assert (plan.calls, plan.journaled) == (1, 1)
    assert plan.cost == pytest.approx(plan.tokens_in / 1e6)


def test_a_list_of_one_is_that_judge() -> None:
    assert open_judge(["lexical"], Settings()).name == "lexical"


def test_the_judges_of_a_run_spend_together() -> None:
    async def run(judge: Panel) -> None:
        async with judge:
            for number in range(9):
                asked = {"question": f"{number}?", "answer": "x"}
                await judge.measure(by(answer_relevance, asked))

    with serving() as server:
        settings = settings_for(server, "a", "b", budget=Budget(calls=7))
        with pytest.raises(BudgetSpentError):
            asyncio.run(run(open_judge(["a", "b"], settings)))
        assert len(server.requests) == 7


class Message:
    """As LangChain's models answer."""

    def __init__(self, content: Any) -> None:
        self.content = content


class ChatModel:
    """As LangChain's chat models are."""

    model_name = "small"
    temperature = 0.3

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def ainvoke(self, prompt: str) -> Message:
        self.prompts.append(prompt)
        return Message([{"type": "text", "text": GOOD}])


class Said(BaseModel):
    """An object of the user's own."""

    reason: str = "r"
    rating: int = 4


async def later(prompt: str) -> str:
    return GOOD


FUNCTIONS: dict[str, Any] = {
    "text": lambda prompt: GOOD,
    "dict": lambda prompt: {"reason": "r", "rating": "4.0"},
    "object": lambda prompt: Said(),
    "message": lambda prompt: Message(GOOD),
    "awaitable": lambda prompt: later(prompt),
    "coroutine": later,
    "chat model": ChatModel(),
    "chat model in turn": SimpleNamespace(invoke=lambda prompt: GOOD),
    "prose around": lambda prompt: f"Here: {GOOD}",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_chat_models_judge(name: str) -> None:
    judge = own_judge(FUNCTIONS[name])
    assert ask(judge).rating == 4
    assert (judge.name == "small") == (name == "chat model")  # by its model, where it has one


def test_a_function_has_a_name() -> None:
    assert own_judge(later).name == "later"
    assert own_judge(later, model="gpt").name == "gpt"
    assert own_judge(later, model="gpt", name="mine").name == "mine"
    assert own_judge(SimpleNamespace(invoke=len)).name == "SimpleNamespace"


BAD = {
    "says nothing": ("parse_error", lambda prompt: None),
    "returned": ("parse_error", lambda prompt: 4),
    "no rating": ("parse_error", lambda prompt: {"reason": "r", "rating": float("inf")}),
    "ValueError: oops": ("judge_error", lambda prompt: int("oops")),
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_function_does_wrong_is_unmeasured(name: str) -> None:
    status, function = BAD[name]
    with pytest.raises(Unmeasured) as caught:
        ask(own_judge(function))
    assert caught.value.status == status


def test_a_function_that_is_late_is_unmeasured() -> None:
    async def wait(prompt: str) -> str:
        await asyncio.sleep(9)
        return GOOD

    with pytest.raises(Unmeasured, match=r"no whole response within 0.05 s") as caught:
        ask(own_judge(wait, timeout_seconds=0.05))
    assert caught.value.status == "timeout"


@pytest.mark.parametrize("is_coroutine", [True, False])
def test_a_plain_function_is_asked_alone(is_coroutine: bool) -> None:
    running, most = 0, []

    def begin() -> None:
        nonlocal running
        running += 1
        most.append(running)

    def plain(prompt: str) -> str:
        nonlocal running
        begin()
        time.sleep(0.01)
        running -= 1
        return GOOD

    async def coroutine(prompt: str) -> str:
        nonlocal running
        begin()
        await asyncio.sleep(0.01)
        running -= 1
        return GOOD

    async def run(judge: Any) -> None:
        async with judge:
            await asyncio.gather(*[judge.ask(RELEVANCE, repeat=n, **TEXTS) for n in range(6)])

    asyncio.run(run(own_judge(coroutine if is_coroutine else plain)))
    assert (max(most) > 1) is is_coroutine


def test_two_addresses_are_two_models_whatever_their_name(tmp_path: Path) -> None:
    class Chat:
        model_name = "m"

        def __init__(self, base_url: str, rating: int) -> None:
            self.base_url = base_url
            self.rating = rating

        def invoke(self, prompt: str) -> dict[str, Any]:
            return {"reason": "so", "rating": self.rating}

    given: list[Any] = [Chat("http://one", 5), Chat("http://two", 1)]
    for chat, rating in zip(given, (5, 1), strict=True):
        assert ask(own_judge(chat, journal=tmp_path / "replies")).rating == rating
    for rating in (2, 3):
        text = json.dumps({"reason": "r", "rating": rating})
        with serving(lambda body, number, text=text: text) as server:
            client = openai.AsyncOpenAI(base_url=server.url, api_key="k")
            judge = own_judge("m", client=client, journal=tmp_path / "replies")
            assert ask(judge).rating == rating


def test_a_function_that_answers_in_between_is_not_silent() -> None:
    calls = []

    async def answer(prompt: str) -> dict[str, Any]:
        calls.append(prompt)
        await asyncio.sleep(0.3 if len(calls) in (1, 12) else 0.02)
        return {"reason": "so", "rating": 4}

    judge = own_judge(answer, concurrency=1, timeout_seconds=0.1, patience_seconds=0.3)
    rows = [{"id": str(n), "question": f"{n}?", "answer": "a"} for n in range(15)]
    result = rb.score(rows, ["answer_relevance"], judge=judge)
    assert result.scores["status"].value_counts().to_dict() == {"ok": 13, "timeout": 2}


@pytest.mark.parametrize("message", [{"content": ""}, {"content": None, "refusal": "No."}])
def test_a_reply_that_says_nothing_is_paid_for(message: dict[str, Any]) -> None:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": "stop"}
    with serving(lambda body, number: Raw({"choices": [choice]})) as server:
        settings = Settings.model_validate({"budget": {"calls": 3}})
        judge = open_judge(own_judge("m", base_url=server.url, concurrency=1), settings)
        rows = [{"id": str(n), "question": f"{n}?", "answer": "a"} for n in range(9)]
        samples = rb.read(rows).samples
        with pytest.raises(BudgetSpentError):
            score_samples(samples, [answer_relevance], language=load_language("en"), judge=judge)
    assert len(server.requests) == 3


def test_a_function_is_kept_only_where_it_says_which_model_answers(tmp_path: Path) -> None:
    calls = []

    def function(prompt: str) -> str:
        calls.append(prompt)
        return GOOD

    for table in ({}, {}, {"model": "gpt"}, {"model": "gpt"}):
        ask(own_judge(function, name="mine", **table))
    assert len(calls) == 3
    for _ in range(2):
        ask(own_judge(function, journal=tmp_path / "named"))
    assert len(calls) == 4
    judge = own_judge(function)
    for _ in range(2):
        ask(judge)
    assert len(calls) == 5, "a judge remembers what it said"
    assert "impartial judge" in calls[0]
    assert '"rating"' in calls[0], "the shape is said in words"
    model = ChatModel()
    for _ in range(2):
        ask(own_judge(model))
    assert len(model.prompts) == 1, "a chat model says which model it is"


class Mine:
    """An own judge in five lines."""

    name = "mine"

    async def ask(self, prompt: Any, **values: Any) -> Any:
        return {"reason": "r", "rating": 5 if "8" in values["answer"] else 1}


def test_objects_with_ask_judge_and_are_held_to_the_shape() -> None:
    assert ask(open_judge(Mine(), Settings())).rating == 5
    plain = SimpleNamespace(ask=lambda prompt, question, answer: RatedTo5(reason="r", rating=2))
    assert ask(open_judge(plain, Settings())).rating == 2
    named = SimpleNamespace(ask=plain.ask, name="own", is_stand_in=True, sees_images=True)
    for given, expected in (
        (rb.judge(Mine()), ("mine", False, False)),
        (rb.judge(plain), ("SimpleNamespace", False, False)),
        (rb.judge(named), ("own", True, True)),
        (rb.judge(named, name="first"), ("first", True, True)),
    ):
        assert (given.name, given.is_stand_in, given.sees_images) == expected
    for said, status in (({"rating": 9}, "parse_error"), (None, "parse_error")):
        wrong = SimpleNamespace(ask=lambda prompt, said=said, **values: said)
        with pytest.raises(Unmeasured) as caught:
            ask(open_judge(wrong, Settings()))
        assert caught.value.status == status
    raising = SimpleNamespace(ask=lambda prompt, **values: 1 / 0)
    with pytest.raises(Unmeasured, match="raised ZeroDivisionError"):
        ask(open_judge(raising, Settings()))


def named(callable_: str) -> Any:
    """A judge by the name of its function in the settings."""
    return open_judge("own", Settings(judges={"own": JudgeTable(callable=callable_)}))


WRONG = {
    "'reply' names no object; write module:name": lambda settings: named("reply"),
    "'json:' names no object": lambda settings: named("json:"),
    "':dumps' names no object": lambda settings: named(":dumps"),
    "json has no 'lods'; did you mean 'loads'": lambda settings: named("json:lods"),
    "there is no judge 'mime'; did you mean 'mine'": lambda settings: open_judge("mime", settings),
    "a int is no judge": lambda settings: open_judge(3, settings),
    "there is no such key; did you mean 'temperature'": lambda settings: own_judge("m", temprature=0),
    "set its base_url, or a provider": lambda settings: own_judge("m"),
    "give a model with base_url=": lambda settings: own_judge(base_url="http://h/v1"),
    "is the name of the offline judge": lambda settings: own_judge(len, name="lexical"),
    "asked as it is; leave out concurrency": lambda settings: own_judge(Mine(), concurrency=1),
    "a panel needs judges": lambda settings: Panel([]),
    "quorum = 0: there are 2": lambda settings: Panel([OfflineJudge(), own_judge(len)], Rule(quorum=0)),
    "under different names": lambda settings: Panel([OfflineJudge(), OfflineJudge()]),
    "quorum = 3: there are 2": lambda settings: Panel([OfflineJudge(), own_judge(len)], Rule(quorum=3)),
    "needs a tolerance": lambda settings: Panel([OfflineJudge()], Rule("consensus")),
    "no other, needs": lambda settings: Panel([OfflineJudge()], Rule("mean", 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_what_is_no_judge_is_refused_in_a_sentence(message: str) -> None:
    with serving() as server, pytest.raises(BenchError, match=message):
        WRONG[message](settings_for(server))


def scores(*values: float) -> dict[str, Score]:
    known = {}
    for name, value in zip("abc", values, strict=False):
        is_missing = math.isnan(value)
        known[name] = Score(value, "timeout" if is_missing else "ok", "late" if is_missing else "")
    return known


NAN = math.nan
RULES = [
    (Rule(), (0.2, 0.4, 0.9), 0.5),
    (Rule("median"), (0.2, 0.4, 0.9), 0.4),
    (Rule("maximum"), (0.2, 0.4, 0.9), 0.9),
    (Rule("majority"), (1.0, 0.0, 1.0), 1.0),
    (Rule("majority"), (1.0, 0.0), NAN),
    (Rule("consensus", 0.2), (0.9, 0.7), 0.8),  # 0.9 − 0.7 is 0.20000000000000007
    (Rule("consensus", 0.1), (0.4, 0.5, 0.6), NAN),
    (Rule(), (0.2, NAN, 0.4), NAN),
    (Rule(quorum=2), (0.2, NAN, 0.4), 0.3),
]


@pytest.mark.parametrize(("rule", "values", "expected"), RULES)
def test_several_values_become_one(rule: Rule, values: tuple[float, ...], expected: float) -> None:
    score = combine(scores(*values), rule)
    assert score.value == pytest.approx(expected, nan_ok=True)
    assert (score.status == "ok") is not math.isnan(expected)
    assert [one.value for one in score.by_judge.values()] == pytest.approx(
        list(values), nan_ok=True
    )
    if NAN in values:
        assert "b (timeout)" in score.reason, "who failed is named"
    elif score.status == "ok":
        assert score.reason == ""
    for quorum in (1, len(values)):
        Rule(quorum=quorum).check(len(values))


def test_a_panel_scores_by_each_of_its_judges() -> None:
    async def run(panel: Panel) -> Score:
        async with panel:
            fields: Mapping[str, Any] = {**TEXTS, "contexts": ["It is open at 8."]}
            return await panel.measure(by(faithfulness, fields))

    def supports(prompt: str) -> dict[str, Any]:
        if "claims" in prompt and "Break the text" in prompt:
            return {"claims": ["It opens at 8."]}
        verdict = {"index": 1, "reason": "r", "verdict": "neutral", "passages": []}
        return {"verdicts": [verdict]}

    panel = open_judge(["lexical", supports], Settings(aggregate="minimum"))
    score = asyncio.run(run(panel))
    assert {name: one.value for name, one in score.by_judge.items()} == {
        "lexical": 1.0,
        "supports": 0.0,
    }
    assert (score.value, panel.name, panel.is_stand_in) == (
        0.0,
        "minimum of lexical, supports",
        False,
    )
