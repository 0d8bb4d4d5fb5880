"""Systems over HTTP that fail, and tables that cannot work."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragbench.old.core.settings import SystemSettings
from ragbench.old.core.settings.urls import MASK
from ragbench.old.core.types import Question
from ragbench.old.llm import MemoryJournal
from ragbench.old.systems import RetrievalError
from tests.old.systems.service_server import Asked, Reply, ServiceServer
from tests.old.systems.test_remote import GOOD, SECRET, WHOLE, remote, retrieved, serving, unless_first
from tests.old.systems.test_systems import QUESTIONS, ids


class TestFaults:
    @pytest.mark.fault("denied", tried="a service that refuses the key", count=1)
    def test_a_key_that_is_refused_costs_one_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROD_KEY", SECRET)
        refusal = Reply({"detail": f"unknown key {SECRET}"}, 401)
        with (
            serving(refusal) as server,
            pytest.raises(RetrievalError, match="the service refuses all calls: HTTP 401: unknown key") as raised,
        ):
            remote(server, headers={"X-Api-Key": "{PROD_KEY}"}, concurrency=8).retrieve(QUESTIONS, 2)
        assert len(server.asked) == 1
        assert "look at `headers`, and at the variables that they name" in str(raised.value)
        assert SECRET not in str(raised.value)
        assert MASK in str(raised.value)

    def test_one_refusal_among_good_replies_is_of_its_question(self) -> None:
        last = QUESTIONS[2].text
        found = retrieved(lambda asked: Reply({}, 404) if asked.body["question"] == last else GOOD)
        assert list(found.errors) == ["q3"]
        assert found.errors["q3"].startswith("HTTP 404")

    @pytest.mark.fault("rate-limits", tried="a service that is busy, then is not", count=1)
    def test_busy_then_fine(self) -> None:
        seen: set[str] = set()

        def answer(asked: Asked) -> Any:
            if asked.text in seen:
                return GOOD
            seen.add(asked.text)
            return Reply({"message": "slow down"}, 429, {"Retry-After": "0.05"})

        found = retrieved(answer)
        assert ids(found) == [["c2", "c1"]] * 3
        assert not found.errors

    @pytest.mark.fault("hang", tried="a service that never recovers", count=2)
    def test_an_error_for_ever_is_its_question_alone(self) -> None:
        with serving(unless_first(Reply({"oops": "index is gone"}, 500))) as server:
            found = remote(server).retrieve(QUESTIONS, 2)
        assert len(server.asked) == 3 + 2
        said = 'HTTP 500: {"oops": "index is gone"}; tried 3 times (attempts = 3, patience_seconds = 300)'
        assert found.errors == {"q1": said}
        with serving(Reply({}, 500)) as server, pytest.raises(RetrievalError, match="for all 12 questions") as raised:
            remote(server, attempts=1).retrieve([Question(str(n), f"question {n}") for n in range(12)], 2)
        assert len(server.asked) in (8, 9), "after eight in a row no more begin"
        assert "HTTP 500" in str(raised.value)

    @pytest.mark.fault("hang", tried="a service that is too slow, breaks off, or is not there", count=3)
    def test_slow_broken_and_gone(self) -> None:
        found = retrieved(unless_first(Reply(GOOD, after=30)), ids="hits[].id", timeout_seconds=0.8, attempts=1)
        said = "no whole response within 0.8 s (timeout_seconds); tried 1 times (attempts = 1, patience_seconds = 300)"
        assert found.errors == {"q1": said}
        found = retrieved(unless_first(Reply(GOOD, broken=True)))
        assert "tried 3 times" in found.errors["q1"]
        with serving() as server:
            pass
        with pytest.raises(
            RetrievalError, match=r"Cannot connect to host 127\.0\.0\.1.*look whether it runs, and at url"
        ):
            remote(server, attempts=1).retrieve(QUESTIONS, 2)

    @pytest.mark.fault("bombs", tried="a reply of a service beyond the limit", count=1)
    def test_a_huge_body(self) -> None:
        found = retrieved(unless_first(Reply(b" " * (9 * 2**20))))
        assert found.errors == {"q1": "the response has more than 8388608 bytes"}

    @pytest.mark.fault("denied", tried="a redirect of a service to another host", count=1)
    def test_a_redirect_is_not_followed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROD_KEY", SECRET)
        with serving() as other, serving(lambda _: Reply({}, 307, {"Location": other.url})) as server:
            with pytest.raises(RetrievalError, match="HTTP 307: a redirect, which is not followed; set url to"):
                remote(server, headers={"Authorization": "Bearer {PROD_KEY}"}).retrieve(QUESTIONS, 2)
            assert other.asked == []

    @pytest.mark.fault("secrets", tried="a service that sends its key back", count=3)
    def test_a_key_in_a_reply_is_masked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROD_KEY", SECRET)
        headers, journal = {"X-Key": "{PROD_KEY}"}, MemoryJournal()
        echo = {**GOOD, "data": {"answer": f"you sent {SECRET}"}}
        found = retrieved(echo, **WHOLE, headers=headers, journal=journal)
        assert found.answers["q1"][0].answer == f"you sent {MASK}"
        found = retrieved(unless_first({"echo": SECRET}), **WHOLE, headers=headers, journal=journal)
        assert MASK in found.errors["q1"]
        stream = Reply(f'data: {{"delta": "{SECRET}"}}\n\n'.encode())
        found = retrieved(stream, stream=True, answer="delta", headers=headers, journal=journal)
        assert found.answers["q1"][0].answer == MASK
        assert SECRET not in json.dumps(list(journal.rows.values())) + str(found)

    def test_a_variable_that_is_not_set(self) -> None:
        with pytest.raises(RetrievalError, match=r"systems.prod.headers needs its key in the variable NO_SUCH_KEY"):
            remote(ServiceServer(len, url="http://h/"), headers={"X-Key": "{NO_SUCH_KEY}"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "ftp://h/", "ids": "@"}, "only http and https"),
        ({"url": "http://{question}.h/", "ids": "@"}, "to one host"),
        ({"url": "http://u:p@h/", "ids": "@"}, "holds a user, a password"),
        ({"url": "http://h/?api_key=abc", "ids": "@"}, "holds a user, a password, a key"),
        ({"url": "http://h/{user}", "ids": "@"}, r"no slot {user}; slots are {question} and {k}"),
        ({"url": "http://h/"}, "needs an expression: answer, passages or ids"),
        ({"url": "http://h/", "answer": "a", "scores": "s"}, "scores are of passages or ids"),
        ({"url": "http://h/", "ids": "hits["}, "no JMESPath"),
        ({"url": "http://h/", "ids": "nofunction(@)"}, "no JMESPath"),
        ({"url": "http://h/", "ids": "@", "stream": True}, "needs `answer`"),
        ({"url": "http://h/", "ids": "@", "body": '{"q": {question}}'}, "not JSON once it is filled"),
        (
            {"url": "http://h/", "ids": "@", "body": '{"q": "{question}", "c": {contexts}}'},
            "give the expression `answer`",
        ),
        ({"url": "http://h/{contexts}?{question}", "answer": "a"}, r"no slot {contexts}; slots are {question} and {k}"),
        (
            {"url": "http://h/", "ids": "@", "body": '{"q": "{user}"}'},
            r"no slot {user}; slots are {question} and {k} and {contexts}",
        ),
        ({"url": "http://h/", "ids": "@", "body": '{"k": {k}}'}, "does not send the question"),
        ({"url": "http://h/", "ids": "@", "method": "GET"}, "does not send the question"),
        (
            {"url": "http://h/", "ids": "@", "headers": {"Authorization": "Bearer abcdef"}},
            "name the environment variable",
        ),
        ({"url": "http://h/", "ids": "@", "headers": {"X y": "1"}}, "no name of a header"),
        ({"url": "http://h/", "ids": "@", "headers": {"X": "a\nb"}}, "no name of a header"),
        ({"callable": "a:b", "ids": "@"}, "ids: only of a system with a url"),
        ({"callable": "a:b", "url": "http://h/", "ids": "@"}, "a system is one of"),
    ],
)
def test_a_table_that_cannot_work_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        SystemSettings(**given)
    assert "abcdef" not in str(raised.value)
