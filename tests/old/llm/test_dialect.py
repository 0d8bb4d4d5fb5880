"""Endpoints as they are: what they refuse is left out, what they ignore is asked otherwise, and it is said."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from ragbench.old.core import answered_by
from ragbench.old.core.language import translator
from ragbench.old.core.types import Status
from ragbench.old.llm import Decoding, MemoryJournal, ProviderRefused, RepliesUnusable
from ragbench.old.llm.budget import Replies, Used
from ragbench.old.llm.reply import MalformedError, read
from ragbench.old.llm.request import Dialect
from tests.old.llm.chat_server import ChatServer, Raw
from tests.old.llm.llm_client import ask, scripted
from tests.old.llm.llm_shapes import request

GOOD = {"score": 3, "reason": ""}


def refusing(is_refused: Any, status: int, error: Any) -> ChatServer:
    return ChatServer(answer=lambda body: Raw(status, error) if is_refused(body) else GOOD)


def has_system(body: dict[str, Any]) -> bool:
    return any(turn["role"] == "system" for turn in body["messages"])


def has_schema(body: dict[str, Any]) -> bool:
    return (body.get("response_format") or {}).get("type") == "json_schema"


OPENAI = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported."
)
REFUSALS = [
    ("temperature", lambda b: "temperature" in b, 400, {"error": {"message": OPENAI, "code": "unsupported_value"}}),
    ("temperature", lambda b: "temperature" in b, 400, {"error": {"message": "not here", "param": "temperature"}}),
    ("top_p", lambda b: "top_p" in b, 400, {"error": "`temperature` and `top_p` cannot both be specified"}),
    ("seed", lambda b: "seed" in b, 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}),
    ("max_tokens", lambda b: "max_tokens" in b, 400, {"error": {"message": "Unknown parameter: 'max_tokens'."}}),
    ("system", has_system, 400, {"error": {"message": "System role not supported"}}),
    ("system", has_system, 400, {"message": "Conversation roles must alternate user/assistant/user/assistant/..."}),
    ("system", has_system, 400, {"error": {"message": "Developer instruction is not enabled for models/gemma-3"}}),
    ("system", has_system, 400, {"error": {"message": "'system' is not one of ['user', 'assistant'] - 'messages.0'"}}),
    ("json_schema", has_schema, 500, {"error": {"message": "failed to parse grammar"}}),
    ("json_schema", has_schema, 500, {"error": {"message": "Unsupported schema keyword: additionalProperties"}}),
    ("json_schema", has_schema, 400, {"error": {"message": "This response_format type is unavailable now"}}),
    ("json_schema", has_schema, 404, {"error": {"code": 404, "message": "No endpoints found that can handle this."}}),
    ("json_schema", has_schema, 400, {"error": {"message": "Unable to generate parser for this template."}}),
    ("json_schema", has_schema, 200, {"error": {"message": "response_format is not known", "type": "invalid"}}),
    ("temperature", lambda b: "temperature" in b, 200, {"error": {"message": "temperature: no such parameter"}}),
    ("seed", lambda b: "seed" in b, 422, {"error": {"message": "invalid input error", "details": [
        {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}}),
    ("system", has_system, 500, {"error": {"message": "{{ raise_exception('System role not supported') }}"}}),
    ("system", has_system, 500, {"error": "template: :3:12: at <.System>: system role not supported"}),
    ("system", has_system, 400, {"message": "Expected last role User or Tool (or Assistant with prefix True) for "
                                            "serving but got system", "type": "invalid_request_message_order"}),
    ("system", has_system, 422, {"detail": [{"type": "literal_error", "loc": ["body", "messages", 0, "role"],
                                             "msg": "Input should be 'user' or 'assistant'"}]}),
]  # fmt: skip


@pytest.mark.fault(
    "denied", tried="a parameter, a role or a shape that the endpoint refuses, in its own words", count=21
)
@pytest.mark.parametrize(("name", "is_refused", "status", "error"), REFUSALS)
def test_what_is_refused_is_left_out_from_then_on(name: str, is_refused: Any, status: int, error: Any) -> None:
    journal = MemoryJournal()
    with refusing(is_refused, status, error).running() as server:
        found = ask(
            server, [f"text {n}" for n in range(10)], concurrency=1, journal=journal, decoding=Decoding(0.0, 0.9, 9, 7)
        )
    assert [one.status for one in found] == [Status.OK] * 10
    assert server.calls in (11, 12), "the lesson is learnt once"
    assert not any(is_refused(one.body) for one in server.requests[2:])
    assert "Judge." in server.requests[-1].body["messages"][0]["content"], "what the rules say is still said"
    assert all(name in row["request"]["unsent"].split() for row in journal.rows.values())


def test_a_question_that_is_too_long_teaches_nothing() -> None:
    told = "This model's maximum context length is 10 tokens; your request has 99 (max_tokens 1024)."
    server = ChatServer(answer=lambda body: Raw(400, {"error": told}) if "LONG" in str(body) else GOOD)
    with server.running():
        long, short = ask(server, ["LONG", "short"], concurrency=1)
    assert (long.status, short.status) == (Status.JUDGE_ERROR, Status.OK)
    assert server.requests[-1].body["max_tokens"] == 1024


def test_what_was_left_out_is_said() -> None:
    used = Replies(
        "m", by_key={str(n): Used(1, 1, 0.0, False, None, unsent="json_schema temperature") for n in range(2)}
    )
    known = {"judges": [{"name": "j", "usage": {"model": "m", "unsent": used.usage.unsent}}]}
    (one,) = answered_by.of(known)
    assert answered_by.sentence(one, translator("en")) == (
        "Judge j: 2 replies were asked for without what the endpoint refuses or ignores: temperature and a JSON "
        "schema; the shape was asked for otherwise."
    )
    assert not one.warns
    assert one.fact["unsent"] == {"json_schema": 2, "temperature": 2}


@pytest.mark.fault("garbage", tried="an endpoint that takes a schema and ignores it", count=30)
def test_a_schema_that_is_ignored_is_put_in_words() -> None:
    def answer(body: dict[str, Any]) -> Any:
        in_words = any('"properties"' in turn["content"] for turn in body["messages"])
        return GOOD if in_words else "Yes. The passage says so."

    with ChatServer(answer=answer).running() as server:
        found = ask(server, [f"text {n}" for n in range(30)], concurrency=1)
    assert [one.value.score for one in found] == [3] * 30
    assert 32 <= server.calls <= 36, "two repairs teach it, and a call or two are under way meanwhile"
    assert not has_schema(server.requests[-1].body)


def test_a_rung_is_left_after_two_first_replies_or_five_later_ones_in_a_row_that_are_not_of_the_shape() -> None:
    for heard, most in (([], 2), ([True], 5), ([False, True], 5), ([True, *[False] * 4, True], 5)):
        dialect = Dialect()
        asked = dialect.asked(request())
        for is_readable in [*heard, *[False] * (most - 1)]:
            dialect.heard(asked, is_readable)
        assert dialect.mechanism == "json_schema"
        dialect.heard(asked, False)
        assert dialect.mechanism == "json_object", "one rung, and no further"
        dialect.heard(asked, False)
        assert dialect.asked(request()).mechanism == "json_object", "what was asked on the rung above counts no more"


def test_one_slip_does_not_leave_the_schema() -> None:
    replies: list[Any] = [GOOD, "Well.", GOOD, GOOD, "Well.", GOOD, GOOD]
    with scripted(*replies).running() as server:
        found = ask(server, [f"text {n}" for n in range(8)], concurrency=1)
    assert [one.status for one in found] == [Status.OK] * 8
    assert has_schema(server.requests[-1].body)


@pytest.mark.fault("hang", tried="replies that nobody can use, from the first one on", count=3)
@pytest.mark.parametrize(
    ("content", "advice"),
    [("Certainly!", 'replies = "text"'), ("!length", "raise max_tokens"), ("!refusal", "name another model")],
)
def test_twenty_unusable_replies_end_the_asking(content: str, advice: str) -> None:
    with scripted(content).running() as server, pytest.raises(RepliesUnusable) as raised:
        ask(server, [f"text {n}" for n in range(200)])
    assert server.calls == 20
    assert "none of its first 20 replies could be used" in str(raised.value)
    assert advice in str(raised.value)
    assert ".;" not in str(raised.value), "what the model said ends no sentence of ours"


def test_refusals_of_every_prompt_end_the_asking_though_they_are_no_replies() -> None:
    filtered = Raw(400, {"error": {"code": "content_filter", "message": "The prompt triggered the content filter."}})
    with scripted(filtered).running() as server, pytest.raises(RepliesUnusable, match="name another model"):
        ask(server, [f"text {n}" for n in range(200)])
    assert server.calls == 20


def test_pages_in_the_place_of_replies_end_the_asking() -> None:
    page = Raw(200, b"<html><title>Sign in</title></html>")
    told: dict[str, Any] = {"concurrency": 1, "attempts": 3, "first_wait_seconds": 0}
    with scripted(page).running() as server, pytest.raises(ProviderRefused, match="begins with <html><title>Sign in"):
        ask(server, [f"text {n}" for n in range(200)], **told)
    assert server.calls == 8
    with scripted(GOOD, *[page] * 9, GOOD).running() as server:
        found = ask(server, [f"text {n}" for n in range(5)], **told)
    assert (found[0].status, found[-1].status) == (Status.OK, Status.OK), "nine pages do not end what has answered"


@pytest.mark.fault("denied", tried="a reply that the endpoint itself could not read as what was asked for", count=6)
def test_a_reply_that_the_endpoint_could_not_read_is_asked_for_once_more() -> None:
    failed = Raw(400, {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed"}})
    replies: list[Any] = [GOOD, failed, GOOD, GOOD, failed, GOOD, GOOD, GOOD]
    with scripted(*replies).running() as server:
        found = ask(server, [f"text {n}" for n in range(6)], concurrency=1)
    assert [one.status for one in found] == [Status.OK] * 6
    assert has_schema(server.requests[-1].body), "one slip does not leave the schema"


@pytest.mark.parametrize(("content", "advice"), [("Certainly!", "name another model"), ("!length", "raise max_tokens")])
def test_who_is_asked_in_words_already_is_advised_otherwise(content: str, advice: str) -> None:
    with scripted(content).running() as server, pytest.raises(RepliesUnusable, match=f"; {advice}"):
        ask(server, [f"text {n}" for n in range(9)], replies="text", unusable_replies=2)


@pytest.mark.parametrize("said", ["No.", "No", "No...", "No. Never."])
def test_words_of_others_end_no_sentence_of_ours(said: str) -> None:
    meant = {"No.": "No", "No. Never.": "No. Never"}.get(said, said)
    server = ChatServer(answer=lambda body: Raw(400, {"error": {"message": said}}))
    with server.running():
        (found,) = ask(server, ["x"], replies="text")
    assert found.reason == f"HTTP 400: {meant}"


def test_how_many_are_too_many_is_a_setting_and_one_good_reply_ends_the_count() -> None:
    with scripted("Certainly!").running() as server, pytest.raises(RepliesUnusable, match="first 4 replies"):
        ask(server, [f"text {n}" for n in range(50)], unusable_replies=4)
    assert server.calls == 4
    with scripted(GOOD, "Certainly!").running() as server:
        found = ask(server, [f"text {n}" for n in range(30)], concurrency=1)
    assert [one.status for one in found].count(Status.PARSE_ERROR) == 29


def test_what_was_asked_in_vain_is_asked_anew_by_the_next_run_and_once_by_each() -> None:
    journal, texts = MemoryJournal(), [f"text {n}" for n in range(5)]
    with scripted(GOOD, "Certainly!").running() as server:
        first = ask(server, [*texts, *texts], journal=journal, concurrency=1)
        paid = server.calls
    assert [one.status for one in first[:5]] == [Status.OK, *[Status.PARSE_ERROR] * 4]
    assert paid == 1 + 4 * 2, "not anew within a run"
    with scripted(GOOD).running() as server:
        mended = ask(server, texts, journal=_moved(journal, server), concurrency=1)
        assert [one.value.score for one in mended] == [3] * 5
        assert server.calls == 4
        again = ask(server, texts, journal=_moved(journal, server), concurrency=1)
    assert [one.value.score for one in again] == [3] * 5


def _moved(journal: MemoryJournal, server: ChatServer) -> MemoryJournal:
    """The same replies, as if this server had given them: its port is another one."""
    from ragbench.old.llm import key_of

    rows = {}
    for row in journal.rows.values():
        identity = {"judge": row["judge"], "endpoint": server.url, "model": row["model"]}
        key = key_of(identity, row["request"])
        rows[key] = {**row, "endpoint": server.url, "key": key}
    journal.rows.clear()
    journal.rows.update(rows)
    return journal


def test_without_its_endpoint_a_run_is_repeated_as_it_was() -> None:
    journal, texts = MemoryJournal(), [f"text {n}" for n in range(3)]
    with scripted(GOOD, "Certainly!").running() as server:
        first = ask(server, texts, journal=journal, concurrency=1)
    again = ask(server.url, texts, journal=journal, concurrency=1, attempts=1)
    assert [(one.value, one.status) for one in again] == [(one.value, one.status) for one in first]


@pytest.mark.fault("denied", tried="refusals that stand in a response of a good status", count=4)
def test_a_refusal_inside_of_a_good_response_is_one() -> None:
    broke = Raw(200, {"error": {"code": 402, "message": "Insufficient credits"}})
    with scripted(broke).running() as server, pytest.raises(ProviderRefused, match=r"HTTP 402.*no money left"):
        ask(server, ["x", "y"])
    assert server.calls == 1
    busy = Raw(200, {"choices": [{"error": {"code": 429, "message": "slow"}, "message": {"content": ""}}]})
    with scripted(busy, busy, GOOD).running() as server:
        (found,) = ask(server, ["x"], first_wait_seconds=0)
    assert (found.value.score, server.calls) == (3, 3)
    nowhere = Raw(200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"})
    with scripted(nowhere).running() as server, pytest.raises(ProviderRefused, match=r"HTTP 404.*look at.*base_url"):
        ask(server, ["x", "y"])
    assert server.calls == 1
    nobody = Raw(404, {"error": {"message": "No endpoints found matching your data policy"}})
    with scripted(nobody).running() as server, pytest.raises(ProviderRefused, match="No endpoints found"):
        ask(server, ["x"], shape=None)


class Verdict(BaseModel):
    reason: str
    verdict: Literal["yes", "no"]


PLAIN = '{"reason": "r", "verdict": "yes"}'
FENCED = f"```json\n{PLAIN}\n```"
FINAL = '<|channel|>analysis<|message|>{"verdict": "no"}<|end|><|start|>assistant<|channel|>final'


@pytest.mark.fault("garbage", tried="what stands about a reply, and words in capitals", count=28)
@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("yes", "Yes"), PLAIN.replace("yes", " YES "), f'Maybe {{"verdict": "no"}}?\n</think>\n\n{PLAIN}',
        f"<thinking>no</thinking>{PLAIN}", f"[THINK]no[/THINK]\n{PLAIN}", f"<think>no</think>{FENCED}",
        f"{FINAL}<|message|>{PLAIN}<|return|>", f"{FINAL} <|constrain|>json<|message|>{PLAIN}",
        f"analysisIt may be no.assistantfinal{PLAIN}", f"Here it is:\n{FENCED}\nLet me know.", f"```json {PLAIN} ```",
        f"```{PLAIN}```", f"```json\n{PLAIN}", PLAIN.replace('"r"', '"the answer has a </think> in it"'),
        f"~~~json\n{PLAIN}\n~~~", f"\ufeff{PLAIN}", f"<seed:think>no</seed:think>{PLAIN}",
        f"<|begin_of_thought|>no<|end_of_thought|>\n<|begin_of_solution|>{PLAIN}<|end_of_solution|>",
        f"<think>no</think>\n<answer>\n{PLAIN}\n</answer>", PLAIN.replace("yes", "Yes."),
        PLAIN.replace("yes", "**Yes**"), f"{PLAIN}<|im_end|>", f"{PLAIN}\n</s>", f"{FENCED}<end_of_turn>\n",
        f"\u200b{PLAIN}", f"<think>no</think>\n<think>{{</think>\n{PLAIN}", f"<reflection>no</reflection>{PLAIN}",
        f"{FENCED}\nSo it is:\n{FENCED}",
    ],
)  # fmt: skip
def test_what_stands_about_a_reply_is_taken_off(text: str) -> None:
    assert read(text, Verdict).verdict == "yes"


@pytest.mark.fault("garbage", tried="replies that could be read in two ways, or are none", count=9)
@pytest.mark.parametrize(
    "text",
    [f"It is {PLAIN}.", f"{FENCED}\nor\n{FENCED.replace('yes', 'no')}", PLAIN.replace('"yes"', "true"),
     PLAIN.replace("yes", "maybe"), PLAIN.replace("yes", "yesno"), "Yes.", f"<think>{PLAIN}",
     PLAIN.replace("yes", "Yes, partly."), f"<answer>{PLAIN}</answer> or <answer>{PLAIN}</answer>"],
)  # fmt: skip
def test_nothing_is_guessed(text: str) -> None:
    with pytest.raises(MalformedError):
        read(text, Verdict)


def test_an_object_in_the_place_of_a_text_is_read() -> None:
    message = {"role": "assistant", "content": GOOD}
    with scripted(Raw(200, {"choices": [{"message": message, "finish_reason": "stop"}]})).running() as server:
        (found,) = ask(server, ["x"])
    assert (found.value.score, server.calls) == (3, 1)


def test_words_in_lists_are_read_too() -> None:
    class Verdicts(BaseModel):
        verdicts: list[Verdict]

    given = {"verdicts": [json.loads(PLAIN), json.loads(PLAIN.replace("yes", "NO"))]}
    assert [one.verdict for one in read(json.dumps(given), Verdicts).verdicts] == ["yes", "no"]
