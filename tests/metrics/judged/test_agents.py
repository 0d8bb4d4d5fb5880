"""Calls of tools against the expected ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.metrics.judged.scripted import ScriptedJudge, measure


def calls(*named: tuple[str, Any]) -> tuple[dict[str, Any], ...]:
    return tuple({"name": name, "arguments": arguments} for name, arguments in named)


WEATHER = ("weather", {"city": "Paris", "day": 75})
BOOK = ("book", {"table": 2})
PARIS = calls(WEATHER, BOOK)


@pytest.mark.parametrize(
    ("made", "expected", "strict", "any_order", "f1", "steps"),
    [
        (PARIS, PARIS, 1.0, 1.0, 1.0, 1.0),
        (PARIS[::-1], PARIS, 0.0, 1.0, 1.0, 0.0),
        # The order of arguments, 75 and 75.0, "2" and 2 tell no calls apart.
        (
            calls(("weather", {"day": 75.0, "city": "Paris"}), ("book", '{"table": "2"}')),
            PARIS,
            1.0,
            1.0,
            1.0,
            1.0,
        ),
        (
            calls(("book", {"seats": [1.0, {"row": 2.0}], "by": {"n": 3}})),
            calls(("book", {"seats": [1, {"row": 2}], "by": {"n": 3.0}})),
            *[1.0] * 4,
        ),
        (calls(("book", {"table": 2.5})), calls(BOOK), 0.0, 0.0, 0.0, 0.0),
        (calls(("weather", {"city": "Rome", "day": 75}), BOOK), PARIS, 0.75, 0.75, 0.5, 0.0),
        (calls(WEATHER, ("extra", {}), BOOK), PARIS, 1.0, 1.0, 0.8, 0.5),
        (PARIS[:1], PARIS, 0.0, 0.0, 2 / 3, 0.5),
        ((), PARIS, 0.0, 0.0, 0.0, 0.0),
        (PARIS, (), 0.0, 0.0, 0.0, 0.0),
        ((), (), 1.0, 1.0, 1.0, 1.0),
        # Arguments that are no JSON: a call with none of them right.
        (calls(("weather", "{city"), BOOK), PARIS, 0.5, 0.5, 0.5, 0.0),
        (calls(("ping", {"a": 1})), calls(("ping", {})), 0.0, 0.0, 0.0, 0.0),
        (calls(("ping", "")), calls(("ping", {})), 1.0, 1.0, 1.0, 1.0),
        # Counted, not as sets: the second copy is one too many.
        (calls(BOOK, BOOK), calls(BOOK), 1.0, 1.0, 2 / 3, 1.0),
        # Every call is used once, for the expected one that it fits best.
        (
            calls(("weather", {"city": "Rome"}), ("weather", {"city": "Paris"})),
            calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})),
            1.0,
            1.0,
            1.0,
            0.0,
        ),
        # A call that is right is used up, one that fits nothing is not.
        (
            calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})),
            calls(("weather", {"city": "Paris"}), ("weather", {"city": "Paris"})),
            *[0.5] * 4,
        ),
        (
            calls(("weather", {"city": "Rome"}), ("weather", {"city": "Lyon"})),
            calls(("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})),
            *[0.5] * 3,
            0.0,
        ),
    ],
)
def test_calls(
    made: Any, expected: Any, strict: float, any_order: float, f1: float, steps: float
) -> None:
    fields = {"tool_calls": made, "expected_tool_calls": expected}
    values = {
        "tool_call_accuracy": strict,
        "tool_call_accuracy(order=any)": any_order,
        "tool_call_f1": f1,
        "right_steps": steps,
    }
    for label, value in values.items():
        assert measure(label, **fields).value == pytest.approx(value), label


def test_each_call_is_told_to_be_right_or_wrong() -> None:
    made = calls(BOOK, ("weather", "{city"), ("extra", {}))
    score = measure("tool_call_f1", tool_calls=made, expected_tool_calls=PARIS)
    assert [(verdict.verdict, verdict.reason) for verdict in score.verdicts] == [
        ("right", ""),
        ("wrong", "the arguments are no JSON object"),
        ("wrong", ""),
    ]
    assert score.facts == {"right": 1, "made": 3, "expected": 2}
    same = measure("tool_call_f1", tool_calls=made[1:2], expected_tool_calls=made[1:2])
    assert (same.value, same.verdicts[0].verdict) == (0.0, "wrong")


def test_calls_are_read_out_of_messages() -> None:
    call = {"type": "function", "function": {"name": "book", "arguments": '{"table": 2}'}}
    messages = ({"role": "user", "content": "Book."}, {"type": "ai", "tool_calls": [call]})
    fields = {"messages": messages, "expected_tool_calls": calls(BOOK)}
    assert measure("tool_call_f1", **fields).value == 1.0
    assert measure("agent_turns", messages=messages).value == 1.0
    judge = ScriptedJudge(agent_goal={"reason": "so", "verdict": "no"})
    score = measure("goal_reached", judge, messages=messages)
    assert (score.value, score.message) == (0.0, "The goal was not reached: {reason}")
    lines = judge.asked("agent_goal")[0]["messages"]
    assert lines == ["user: Book.", "assistant: calls book(table=2)"]


def test_a_run_without_messages_and_calls_is_unmeasured() -> None:
    assert measure("tool_call_f1", expected_tool_calls=()).status == "missing_field"
    assert measure("goal_reached(by_reference=True)", ScriptedJudge(), messages=({},)).status == (
        "missing_field"
    )


@pytest.mark.parametrize(
    ("mode", "value"), [("precision", 2 / 3), ("recall", 2 / 4), ("f1", 4 / 7)]
)
def test_subjects_as_ragas_counts_them(mode: str, value: float) -> None:
    asked = [(1, 1), (1, 1), (1, 0), (0, 1), (0, 1), (0, 0)]
    topics = [{"topic": "t", "answered": bool(a), "allowed": bool(b)} for a, b in asked]
    judge = ScriptedJudge(agent_topics={"topics": topics})
    label = f"topic_adherence(mode={mode})"
    messages = ({"role": "user", "content": "t?"},)
    assert measure(label, judge, messages=messages, topics=("t",)).value == pytest.approx(value)
    judge = ScriptedJudge(agent_topics={"topics": []})
    assert measure(label, judge, messages=messages, topics=("t",)).status == "empty_decomposition"
