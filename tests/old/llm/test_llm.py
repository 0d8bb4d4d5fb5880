"""The client over real HTTP: shapes asked for, replies mended or refused, nothing invented."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.old.core.types import Status
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import ask, scripted
from tests.old.llm.llm_shapes import Grade, Rating, Unbounded


class TestShapes:
    @pytest.mark.parametrize(
        ("mechanisms", "refusals"),
        [(("json_schema",), 0), (("json_object",), 1), (("tool",), 2), ((), 3)],
        ids=["schema", "json mode", "tool", "text"],
    )
    def test_the_best_mechanism_is_found_once(self, mechanisms: tuple[str, ...], refusals: int) -> None:
        with ChatServer(mechanisms=mechanisms).running() as server:
            found = ask(server, [f"text {n}" for n in range(10)])
        assert [c.status for c in found] == [Status.OK] * 10
        assert server.calls == 10 + refusals

    def test_the_value_does_not_depend_on_the_mechanism(self) -> None:
        values = []
        for mechanisms in (("json_schema",), ("json_object",), ("tool",), ()):
            with ChatServer(mechanisms=mechanisms).running() as server:
                values.append([c.value for c in ask(server, ["x", "y", "z"])])
        assert values[0] == values[1] == values[2] == values[3]

    def test_a_configured_mechanism_is_never_left(self) -> None:
        with ChatServer(mechanisms=()).running() as server:
            found = ask(server, ["x"], replies="json_schema")
        assert (found[0].value, found[0].status, server.calls) == (None, Status.JUDGE_ERROR, 1)
        assert "json_schema is not supported" in found[0].reason

    def test_the_schema_is_closed_and_complete(self) -> None:
        with ChatServer().running() as server:
            ask(server, ["x"])
        schema = server.requests[0].body["response_format"]["json_schema"]
        assert schema["strict"] is True
        assert schema["schema"]["additionalProperties"] is False
        assert schema["schema"]["required"] == ["score", "reason"]

    def test_free_text_is_asked_for_without_a_shape(self) -> None:
        with scripted("Берлин").running() as server:
            found = ask(server, ["x"], shape=None)
        assert found[0].value == "Берлин"
        assert "response_format" not in server.requests[0].body

    def test_newer_models_name_the_length_otherwise(self) -> None:
        def answer(body: dict[str, Any]) -> Any:
            return "!400" if "max_tokens" in body else {"score": 3, "reason": ""}

        server = ChatServer(answer=answer)
        server_break = server._break

        async def explain(writer: Any, fault: str, body: dict[str, Any]) -> bool:
            if fault != "400":
                return await server_break(writer, fault, body)
            said = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens' instead"}}
            return await server._respond(writer, 400, said)

        server._break = explain  # type: ignore[method-assign]
        with server.running():
            found = ask(server, ["x", "y"])
        assert [c.value.score for c in found] == [3, 3]
        assert server.calls == 3


class TestRemedies:
    @pytest.mark.fault("garbage", tried="replies of a chat server", count=1)
    def test_a_malformed_reply_gets_one_repair_that_names_its_fault(self) -> None:
        with scripted('{"score": 9}', {"score": 4}).running() as server:
            found = ask(server, ["x"])
        assert found[0].value == Rating(score=4)
        assert (server.calls, found[0].calls) == (2, 2)
        roles = [(turn["role"], turn["content"]) for turn in server.requests[1].body["messages"]]
        assert roles[2] == ("assistant", '{"score": 9}')
        assert "less than or equal to 5" in roles[3][1]

    @pytest.mark.fault("garbage", tried="replies of a chat server", count=1)
    def test_two_malformed_replies_leave_the_value_unmeasured(self) -> None:
        with scripted("score: 4", "4").running() as server:
            found = ask(server, ["x"])
        assert (found[0].value, found[0].status, server.calls) == (None, Status.PARSE_ERROR, 2)

    @pytest.mark.fault("garbage", tried="replies of a chat server", count=2)
    def test_a_truncated_reply_gets_twice_the_length_once(self) -> None:
        def answer(body: dict[str, Any]) -> Any:
            return "!length" if body["max_tokens"] < 200 else {"score": 2}

        with ChatServer(answer=answer).running() as server:
            assert ask(server, ["x"], max_tokens=100)[0].value == Rating(score=2)
            assert [r.body["max_tokens"] for r in server.requests] == [100, 200]
            found = ask(server, ["x"], max_tokens=50)
        assert (found[0].value, found[0].status) == (None, Status.TRUNCATED)
        assert server.calls == 4

    def test_a_refusal_is_not_asked_again(self) -> None:
        with scripted("!refusal").running() as server:
            found = ask(server, ["x"])
        assert (found[0].value, found[0].status, server.calls) == (None, Status.REFUSED, 1)


SAME = '"score": 3, "reason": "r"'
HOSTILE = [
    "", " ", "\n", "null", "true", "3", "4.5", '"4"', "[]", "[3]", '[{"score": 3}]', "{}", "score: 4.5",
    "по шкале от 1 до 5: 4", "4/5", "Оценка: 4", "I cannot judge that.", "NaN", "Infinity", "-Infinity",
    '{"score": NaN}', '{"score": Infinity}', '{"score": -Infinity}', '{"score": "NaN"}', '{"score": "4"}',
    '{"score": 1e999}', '{"score": 4.5}', '{"score": 4.0}', '{"score": 0}', '{"score": 6}', '{"score": -1}',
    '{"score": true}', '{"score": false}', '{"score": null}', '{"score": [4]}', '{"score": {"score": 4}}',
    '{"score": {"value": 4}}', '{"Score": 4}', '{"rating": 4}', '{"score ": 4}', '{"score": 99999999999999999999}',
    '{"score": 4', '{"score": 4}}', '{"score": 4} {"score": 5}', '{"score": 4}\n{"score": 4}', "{'score': 4}",
    '{"score": 4,}', '{score: 4}', '{"score": 04}', '{"score": 4} I hope this helps', 'Sure! {"score": 4}',
    'Here:\n```json\n{"score": 9}\n```', '```json\n{"score": 4}\n```\nor\n```json\n{"score": 5}\n```',
    '```\n{"score": 9}\n```',
    '```json\n```', "<html><body>score: 5</body></html>", "<think>score 4</think>", "<think>{\"score\": 4}",
    '{"score": 4, "score": 5}', f'{{{SAME}, "score": 3}}', '{"score": 4, "reason": 7}', '{"score": 4, "reason": null}',
    "[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, '{"score": 4, "reason": "' + "x" * 1_000_001 + '"}',
    "\ufeff\ufeff4", "４", '{"score": ４}', '{"score": "four"}', '{"score": 3e0}', '{"score": 0x4}', '{"score": +4}',
    "yaml:\n  score: 4", "<score>4</score>", "| score |\n| 4 |", '{"result": {"score": 4}}', '"{\\"score\\": 4}"',
]  # fmt: skip


class TestHostileReplies:
    def test_there_are_enough_of_them(self) -> None:
        assert len(set(HOSTILE)) >= 60

    @pytest.mark.fault("garbage", tried="replies of a chat server", count=77)
    def test_no_score_is_invented(self) -> None:
        hostile = {f"case {n}": text for n, text in enumerate(HOSTILE)}

        def answer(body: dict[str, Any]) -> Any:
            return hostile[body["messages"][1]["content"]]

        with ChatServer(answer=answer).running() as server:
            found = ask(server, list(hostile), unusable_replies=1000)
        wrong = [
            HOSTILE[n][:60] for n, c in enumerate(found) if c.value is not None or c.status is not Status.PARSE_ERROR
        ]
        assert wrong == []
        assert server.calls == 2 * len(HOSTILE)

    @pytest.mark.fault("non-numbers", tried="values in the field of the score", count=24)
    @pytest.mark.parametrize(
        "text",
        ["NaN", '"NaN"', "Infinity", "-Infinity", "1e999", "-1e999", "1.5", "-0.1", "true", "false", "null", '"0.5"',
         "[]", "[0.5]", "{}", '{"grade": 0.5}', '""', '"Infinity"', "1e400", "0.5.5", ".5", "0,5", "+0.5", "½"],
    )  # fmt: skip
    def test_numbers_outside_the_scale_are_refused_not_clamped(self, text: str) -> None:
        from ragbench.old.llm.reply import MalformedError, read

        with pytest.raises(MalformedError):
            read(f'{{"grade": {text}}}', Grade)

    @pytest.mark.parametrize(
        "text",
        ['{"grade": 0.5}', ' {"grade":0.5}\n', '```json\n{"grade": 0.5}\n```', '<think>1?</think>\n{"grade": 0.5}',
         '{"grade": 5e-1}', '{"grade": 0.5, "why": "extra fields are nobody\'s"}'],
    )  # fmt: skip
    def test_a_plain_reply_is_read(self, text: str) -> None:
        from ragbench.old.llm.reply import read

        assert read(text, Grade).grade == 0.5

    @pytest.mark.fault("non-numbers", tried="values in the field of the score", count=4)
    @pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity"])
    def test_a_scale_without_ends_has_no_infinity(self, text: str) -> None:
        from ragbench.old.llm.reply import MalformedError, read

        with pytest.raises(MalformedError):
            read(f'{{"value": {text}}}', Unbounded)
        assert read('{"value": 1e300}', Unbounded).value == 1e300

    def test_whole_numbers_are_numbers(self) -> None:
        from ragbench.old.llm.reply import read

        assert read('{"grade": 1}', Grade).grade == 1.0

    @pytest.mark.fault("garbage", tried="envelopes that are not of the protocol", count=4)
    @pytest.mark.parametrize(
        "fault", ["html", "cut", "no_choices", "error_inside"], ids=["html", "half JSON", "no choices", "error inside"]
    )
    def test_a_broken_envelope_is_a_fault_of_the_server(self, fault: str) -> None:
        with scripted(f"!{fault}").running() as server:
            found = ask(server, ["x"], attempts=2)
        assert (found[0].value, found[0].status, server.calls) == (None, Status.JUDGE_ERROR, 2)
