"""Replies read without a server: fences and thoughts taken off, depth and usage looked at, nothing guessed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragbench.old.llm.errors import Fault
from ragbench.old.llm.reply import MAX_DEPTH, MalformedError, parse_envelope, read
from tests.old.llm.llm_shapes import Grade


@pytest.mark.fault("garbage", tried="fences and thoughts around a reply", count=5)
@pytest.mark.parametrize(
    "text",
    [
        '```json\n{\n  "grade": 0.5\n}\n```',
        '```JSON\n{"grade": 0.5}\n```',
        '```\n{"grade": 0.5}```',
        ' \n```json\n{"grade": 0.5}\n```\n\n',
        '\n<think>\nlines\n</think>\n\n```json\n{"grade": 0.5}\n```\n',
    ],
    ids=["lines", "capitals", "no name", "blanks around", "a thought before"],
)
def test_a_fence_around_the_whole_is_taken_off(text: str) -> None:
    assert read(text, Grade).grade == 0.5


@pytest.mark.fault("garbage", tried="fences and thoughts around a reply", count=3)
@pytest.mark.parametrize(
    "text",
    ['<think>{"grade": 0.5}</think>', '<think>{"grade": 0.1}', '{"grade": 0.1} <think>no</think>'],
    ids=["nothing after", "never closed", "after the answer"],
)
def test_a_thought_is_no_answer(text: str) -> None:
    with pytest.raises(MalformedError):
        read(text, Grade)


@pytest.mark.fault("bombs", tried="replies of great depth", count=2)
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_depth_is_counted_not_left_to_the_parser(brackets: str) -> None:
    start, end = ("[", "]") if brackets == "[]" else ('{"a": ', "}")

    def nested(levels: int) -> str:
        return f'{{"grade": 0.5, "more": {start * levels}0{end * levels}}}'

    assert read(nested(MAX_DEPTH - 1), Grade).grade == 0.5
    with pytest.raises(MalformedError, match=f"nested more than {MAX_DEPTH} deep"):
        read(nested(MAX_DEPTH), Grade)


def envelope(**more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], **more}).encode()


@pytest.mark.fault("non-numbers", tried="counts of tokens that are no whole numbers", count=5)
@pytest.mark.parametrize("value", [True, -1, "12", 1.5, None])
def test_only_whole_numbers_are_counts_of_tokens(value: Any) -> None:
    found = parse_envelope(envelope(usage={"prompt_tokens": value, "completion_tokens": 0}))
    assert (found.input_tokens, found.output_tokens) == (None, 0)
    assert parse_envelope(envelope(usage={"prompt_tokens": 7})).input_tokens == 7
    assert parse_envelope(envelope(usage="many")).input_tokens is None


@pytest.mark.parametrize(
    "message",
    [
        {"content": [{"type": "thinking", "text": "no"}, {"text": "yes"}]},
        {"content": None, "tool_calls": [{"function": {"arguments": "yes"}}]},
    ],
)
def test_the_text_is_where_servers_put_it(message: dict[str, Any]) -> None:
    assert parse_envelope(json.dumps({"choices": [{"message": message}]}).encode()).text == "yes"


def test_arguments_that_were_read_already_are_json() -> None:
    message = {"tool_calls": [{"function": {"arguments": {"grade": 0.5}}}]}
    assert read(parse_envelope(json.dumps({"choices": [{"message": message}]}).encode()).text, Grade).grade == 0.5


@pytest.mark.fault("garbage", tried="good responses that hold a complaint, a page or a stream", count=5)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html><title>Sign in</title></html>", "it begins with <html><title>Sign in.*look at `base_url`"),
        (b'data: {"choices": []}', "it begins with data: "),
        (b'{"detail": "the model warms up"}', "no choices: .*the model warms up"),
        (b'{"choices": null, "base_resp": {"status_msg": "insufficient balance"}}', "insufficient balance"),
        (b'{"success": false, "message": "no such token"}', "reports an error: no such token"),
    ],
)
def test_what_is_no_reply_says_what_it_is(body: bytes, said: str) -> None:
    with pytest.raises(Fault, match=said):
        parse_envelope(body)


def test_what_no_database_stores_is_replaced() -> None:
    body = b'{"choices": [{"message": {"content": "a\\u0000b\\ud800c"}}], "model": "m"}'
    found = parse_envelope(body)
    assert (found.text, found.finish, found.served_model) == ("a\ufffdb?c", "stop", "m")
