"""A reply gives the value that it says, or none with a reason: nothing is mended or invented."""

# ruff: noqa: E501  tables of inputs, a line each

from __future__ import annotations

import gzip
import json

import pytest

from tests.llm.asking import ask, question
from tests.llm.chat_server import GOOD, Raw, says, serving

# Content of a reply → the rating in it, or why there is none.
CONTENTS = {
    GOOD: 4,
    '{"reason": "r", "rating": 4.0}': 4,
    '{"reason": "r", "rating": "4"}': 4,
    '{"reason": "r", "rating": "4.0"}': 4,
    '{"reason": "r", "rating": 4e0}': 4,
    '{"reason": "r", "rating": 4, "confidence": 0.9}': 4,
    '{"reason": "first line\nsecond line", "rating": 4}': 4,
    f"My verdict:\n```json\n{GOOD}\n```\nLet me know.": 4,
    f"~~~\n{GOOD}\n~~~": 4,
    f"[{GOOD}]": 4,
    f"\ufeff {GOOD}": 4,
    '<think>{"reason": "r", "rating": 1}</think>' + GOOD: 4,
    'Maybe {"rating": 2}?\n</think>\n\n' + GOOD: 4,
    f"<think>\n\n</think>\n{GOOD}": 4,
    f"<|channel|>analysis<|message|>hm {{<|end|><|channel|>final<|message|>{GOOD}": 4,
    '{"reason": "</think> is a tag", "rating": 4}': 4,
    '{"reason": "r", "rating": 6}': "less than or equal to 5",
    '{"reason": "r", "rating": -1}': "greater than or equal to 1",
    '{"reason": "r", "rating": 85}': "less than or equal to 5",
    '{"reason": "r", "rating": 0.8}': "rating",
    '{"reason": "r", "rating": true}': "no ratings",
    '{"reason": "r", "rating": null}': "rating",
    '{"reason": "r", "rating": "four"}': "rating",
    '{"reason": "r", "rating": "NaN"}': "no rating",
    '{"reason": "r", "rating": "inf"}': "no rating",
    '{"reason": "r", "rating": NaN}': "NaN, which is no number",
    '{"reason": "r", "rating": -Infinity}': "-Infinity, which is no number",
    '{"reason": "r", "rating": 1e999}': "a number that is none",
    '{"reason": "r", "rating": 1' + "0" * 5000 + "}": "broken JSON",
    '{"reason": "r", "rating": [4]}': "rating",
    '{"reason": "r", "rating": {"value": 4}}': "rating",
    '{"reason": 3, "rating": 4}': "reason",
    '{"reason": "r", "rating": 1, "rating": 4}': "one key twice",
    '{"rating": 4}': "reason: Field required",
    f'They say {{"reason": "r", "rating": 1}}, I say {GOOD}': "2 JSON objects",
    f"{GOOD}\n{GOOD}": "2 JSON objects",
    f"{GOOD} <think>or rather 1?": 4,
    f"<think>I will say\n{GOOD}": "within the model's thoughts",
    "<think>perhaps 4": "within the model's thoughts",
    '{"reason": "r", "rating": 4': "broken JSON",
    '{"reason": "r", // because\n "rating": 4}': "broken JSON",
    "{'reason': 'r', 'rating': 4}": "broken JSON",
    "{“reason”：“r”，“rating”：4}": "broken JSON",
    '{"reason": "it\\\'s", "rating": 4}': "broken JSON",
    '{"a":' * 20_000: "nested too deeply",
    "**Rating:** 4": "no JSON object",
    "score: 4.5 out of 5": "no JSON object",
    "4": "no JSON object",
    "[4]": "no JSON object",
    "x" * 1_000_000: "no JSON object",
    "x" * 1_000_001: "more than 1000000 characters",
}


@pytest.mark.parametrize(("content", "expected"), CONTENTS.items(), ids=range(len(CONTENTS)))
def test_a_value_or_a_reason(content: str, expected: int | str) -> None:
    with serving(lambda body, number: content) as server:
        (reply,) = ask(server, replies="json_object")
    if isinstance(expected, int):
        assert reply.value is not None, reply.reason
        assert (reply.value.rating, reply.status, len(server.requests)) == (expected, "ok", 1)
    else:
        assert (reply.value, reply.status, len(server.requests)) == (None, "parse_error", 2)
        assert expected in reply.reason


CALL = {"function": {"name": "f", "arguments": GOOD}}
# The body of a response of status 200 → the rating in it, or (status, why there is none).
BODIES = {
    "no usage": ({"choices": [{"message": {"content": GOOD}}]}, 4),
    "usage of nonsense": ({**says(GOOD), "usage": {"prompt_tokens": True, "x": -3}}, 4),
    "parts": (says([{"type": "thinking", "text": "no"}, {"type": "text", "text": GOOD}]), 4),
    "a part without a text": (says([{"type": "text"}, {"type": "text", "text": GOOD}]), 4),
    "a part without a type": (says([{"text": GOOD}]), 4),
    "an object": (says(json.loads(GOOD)), 4),
    "a reply beside a tool call": (says(GOOD, tool_calls=[{"function": {"arguments": "{}"}}]), 4),
    "a reply beside an error": ({**says(GOOD), "error": {"message": "late"}}, 4),
    "a tool call": (says(None, "tool_calls", tool_calls=[CALL]), 4),
    "a tool call that was parsed": (says(None, tool_calls=[{"function": {"arguments": json.loads(GOOD)}}]), 4),
    "byte-order mark": (Raw(b"\xef\xbb\xbf" + json.dumps(says(GOOD)).encode()), 4),
    "gzip": (Raw(gzip.compress(json.dumps(says(GOOD)).encode()), headers={"Content-Encoding": "gzip"}), 4),
    "cut, and whole": (says(GOOD, "length"), 4),
    "zeros and half letters": (Raw(json.dumps(says(GOOD)).replace("r\\", "\\u0000\\ud800r\\", 1).encode()), 4),
    "refusal": (says(None, refusal="I cannot judge."), ("refused", "I cannot judge")),
    "filtered": (says("", "content_filter: PROHIBITED_CONTENT"), ("refused", "filter")),
    "filtered in the middle": (says('{"reason": "r', "SAFETY"), ("refused", "filter")),
    "blank": (says("\n\n"), ("parse_error", "the reply is empty")),
    "only thought": (says(None, reasoning_content=GOOD), ("parse_error", "only thought")),
    "only thought (OpenRouter)": (says(None, reasoning=GOOD), ("parse_error", "only thought")),
    "thought to the end": (says("", "length"), ("truncated", "raise max_tokens")),
    "cut": (says('{"reason": "r', "MAX_TOKENS"), ("truncated", "raise max_tokens")),
    "no message": ({"choices": [{"index": 0, "finish_reason": "stop"}]}, ("parse_error", "empty")),
    "no choices": ({"choices": [], "usage": None}, ("parse_error", "empty")),
    "choices of nonsense": ({"choices": ["x"]}, ("judge_error", "no reply of chat completions")),
    "choices as a text": ({"choices": "x"}, ("judge_error", "no reply of chat completions")),
    "message of nonsense": ({"choices": [{"message": ["x"]}]}, ("judge_error", "no reply of chat completions")),
    "tool calls of nonsense": (says(None, tool_calls=[{"function": "f"}]), ("judge_error", "no reply of chat completions")),
    "Ollama's own": ({"message": {"content": GOOD}, "done": True}, ("judge_error", ":11434/v1")),
    "Ollama's completions": ({"response": GOOD, "done": True}, ("judge_error", ":11434/v1")),
    "a message": ({"message": "no such route"}, ("judge_error", "no reply of chat completions")),
    "only done": ({"done": True}, ("judge_error", "no reply of chat completions")),
    "a complaint": ({"detail": "the model warms up"}, ("judge_error", "warms up")),
    "a list": ([GOOD], ("judge_error", "no JSON object")),
    "HTML": (Raw(b"<html>score: 5</html>"), ("judge_error", "look at base_url")),
    "an error inside": ({"error": {"message": "no such thing"}}, ("judge_error", "no such thing")),
    "an error of a low number": ({"error": {"code": 301, "message": "no such thing"}}, ("judge_error", "no such thing")),
    "a stream": (Raw(b"data: {}"), ("judge_error", "the endpoint streams")),
    "a stream by its name": (Raw(b": ping", headers={"Content-Type": "text/event-stream"}), ("judge_error", "the endpoint streams")),
    "plain completions": ({"choices": [{"text": GOOD}]}, ("parse_error", "empty")),
    "Responses": ({"object": "response", "output": []}, ("judge_error", "no reply of chat completions")),
    "packed otherwise": (Raw(b"xxxxxxxxxxxx", headers={"Content-Encoding": "br"}), ("judge_error", "'br'")),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_the_body_of_a_response(name: str) -> None:
    body, expected = BODIES[name]
    with serving(lambda _, number: body if isinstance(body, Raw) else Raw(body)) as server:
        (reply,) = ask(server, replies="json_object", attempts=1)
    if isinstance(expected, int):
        assert reply.value is not None, reply.reason
        assert reply.value.rating == expected
    else:
        assert (reply.value, reply.status) == (None, expected[0])
        assert expected[1] in reply.reason


def test_one_repair_with_the_reason() -> None:
    contents = {1: '{"rating": 4}', 2: GOOD}
    with serving(lambda body, number: contents[number]) as server:
        (reply,) = ask(server)
    assert reply.value is not None
    assert (reply.value.rating, len(server.requests)) == (4, 2)
    *_, said, repair = server.requests[1].body["messages"]
    assert said == {"role": "assistant", "content": '{"rating": 4}'}
    assert "reason: Field required" in repair["content"]
    assert '"rating"' in repair["content"], "the schema is said in words"


def test_a_cut_reply_is_asked_for_with_twice_the_length() -> None:
    contents = {1: says('{"reason": "a long', "length"), 2: says(GOOD)}
    with serving(lambda body, number: Raw(contents[number])) as server:
        (reply,) = ask(server, max_tokens=100)
    assert reply.status == "ok"
    assert [request.body["max_tokens"] for request in server.requests] == [100, 200]


def test_plain_text_and_what_the_request_wants() -> None:
    with serving(lambda body, number: "Yes.") as server:
        request = question(1, options={"temperature": 0.1, "max_tokens": 50})
        ask(server, requests=[request], replies="text", temperature=0.5)
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.5, 50), "the model's own table wins"
