"""Systems over HTTP: what is sent, what of a reply is read, what is kept, and every way to fail."""

from __future__ import annotations

import json
import math
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.settings import SystemSettings
from ragbench.old.core.types import Question, Status
from ragbench.old.llm import Budget, BudgetSpent, MemoryJournal, planning
from ragbench.old.llm.service import events
from ragbench.old.systems import GenerationError, Retrieval, RetrievalError, Task
from ragbench.old.systems.chat import fill
from ragbench.old.systems.remote import RemoteSystem, unread
from tests.old.systems.service_server import Asked, Reply, ServiceServer
from tests.old.systems.test_systems import CHUNKS, QUESTIONS, ids

HITS = [{"id": "c2", "text": "two", "score": 0.75}, {"id": "c1", "text": "one", "score": 0.5}]
GOOD = {"data": {"answer": "In August."}, "hits": HITS, "took": 12.5}
WHOLE = {"answer": "data.answer", "passages": "hits[].text", "ids": "hits[].id", "scores": "hits[].score"}
SECRET = "s3cret-value-of-the-key"


def remote(server: ServiceServer, **more: Any) -> RemoteSystem:
    own = {key: more.pop(key) for key in ("journal", "budget") if key in more}
    given = {"url": server.url, "attempts": 3, **(more or {"ids": "hits[].id"})}
    if not given.keys() & {"answer", "passages", "ids"}:
        given["ids"] = "hits[].id"
    return RemoteSystem("prod", SystemSettings(**given), CHUNKS, **own)


@contextmanager
def serving(answer: Callable[[Asked], Any] | Any = GOOD) -> Iterator[ServiceServer]:
    with ServiceServer(answer if callable(answer) else lambda _: answer).running() as server:
        yield server


def retrieved(reply: Any, /, k: int = 2, **more: Any) -> Retrieval:
    with serving(reply) as server:
        return remote(server, **more).retrieve(QUESTIONS, k)


def timed(reply: Any, **more: Any) -> tuple[Retrieval, float]:
    """What is found for one question after the other, and the milliseconds of all of it."""
    with serving(reply) as server:
        system = remote(server, concurrency=1, **more)
        begun = time.monotonic()
        return system.retrieve(QUESTIONS, 2), 1000 * (time.monotonic() - begun)


def unless_first(bad: Any) -> Callable[[Asked], Any]:
    """Good replies but for the first question, whose every attempt gets another."""
    return lambda asked: bad if asked.body["question"] == QUESTIONS[0].text else GOOD


class TestWhatIsSent:
    def test_the_body_of_the_default(self) -> None:
        with serving() as server:
            remote(server).retrieve([Question("q", 'a "quoted"\n{k} \\ ё')], 7)
        assert server.asked[0].method == "POST"
        assert server.asked[0].body == {"question": 'a "quoted"\n{k} \\ ё', "k": 7}
        assert server.asked[0].headers["content-type"] == "application/json"

    def test_a_body_and_headers_of_ones_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PROD_KEY", SECRET)
        body = '{"query": {"text": "Q: {question}"}, "limit": {k}, "as": "{k}"}'
        headers = {"Authorization": "Bearer {PROD_KEY}", "content-type": "application/json; x=1", "X-Tenant": "demo"}
        with serving() as server:
            remote(server, body=body, headers=headers, method="PUT").retrieve(QUESTIONS[:1], 3)
        (asked,) = server.asked
        assert asked.method == "PUT"
        assert asked.body == {"query": {"text": f"Q: {QUESTIONS[0].text}"}, "limit": 3, "as": "3"}
        assert asked.headers["authorization"] == f"Bearer {SECRET}"
        assert asked.headers["content-type"] == "application/json; x=1"
        assert asked.headers["x-tenant"] == "demo"

    @pytest.mark.parametrize("text", ["как?", "a/b?c=d&e#f", "100 % + {k}", "a%20b", "../x"])
    def test_a_question_in_the_address_stays_what_it_was(self, text: str) -> None:
        with serving() as server:
            more = {"method": "GET", "url": server.url + "/{k}?lang=ru&q={question}"}
            remote(server, **more).retrieve([Question("q", text)], 4)
        parts = urlsplit(server.asked[0].path)
        assert (parts.path, parse_qs(parts.query)) == ("/ask/4", {"lang": ["ru"], "q": [text]})
        assert server.asked[0].text == ""

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_any_question_makes_a_body_that_holds_it(self, text: str) -> None:
        settings = SystemSettings(url="http://h/", ids="@", body='{"a": ["{question}", {k}], "b": "<{question}>"}')
        assert json.loads(settings.asked(text, 3)[1]) == {"a": [text, 3], "b": f"<{text}>"}


class TestContexts:
    """A service whose body names {contexts} answers from passages that it is given."""

    BODY = '{"question": "{question}", "k": {k}, "contexts": {contexts}}'
    CHAT = '{"messages": [{"content": "From these:\\n{contexts}\\n\\nQ: {question}", "role": "user"}]}'
    TEXTS = 'one "quoted" {question}', "two\n{k} \\ ё"

    def tasks(self, *contexts: str, repeats: int = 1) -> list[Task]:
        chunks = tuple(replace(CHUNKS[0], id=f"given-{n}", text=text) for n, text in enumerate(contexts))
        return [Task(question, chunks, repeat) for question in QUESTIONS for repeat in range(repeats)]

    def test_a_list_of_texts_or_one_text_as_our_own_prompt_has_it(self) -> None:
        with serving({"answer": "In August."}) as server:
            (said, *_) = remote(server, body=self.BODY, answer="answer").generate(self.tasks(*self.TEXTS))
            remote(server, body=self.CHAT, answer="answer").generate(self.tasks(*self.TEXTS))
        assert said.answer == "In August."
        assert said.seconds is not None
        assert said.seconds > 0
        assert server.asked[0].body == {"question": QUESTIONS[0].text, "k": 2, "contexts": list(self.TEXTS)}
        [message] = server.asked[len(QUESTIONS)].body["messages"]
        told = f"[1] {self.TEXTS[0]}\n\n[2] {self.TEXTS[1]}"
        assert message["content"] == f"From these:\n{told}\n\nQ: {QUESTIONS[0].text}"
        assert told in fill("{contexts} {question}", "", self.TEXTS, "en")

    def test_none_are_given_where_it_retrieves_and_an_empty_list_where_there_is_none(self) -> None:
        with serving() as server:
            found = remote(server, body=self.BODY, **WHOLE)
            found.retrieve(QUESTIONS[:1], 3)
            found.generate(self.tasks()[:1])
        assert [asked.body["contexts"] for asked in server.asked] == [None, []]
        assert [asked.body["k"] for asked in server.asked] == [3, 1]

    def test_only_the_answer_is_read_where_passages_were_given(self) -> None:
        with serving({"data": {"answer": "In August."}}) as server:
            (said, *_) = remote(server, body=self.BODY, **WHOLE).generate(self.tasks("one"))
        assert said.answer == "In August."

    def test_a_reply_is_kept_and_a_repeat_asks_anew(self) -> None:
        journal = MemoryJournal()
        with serving() as server:
            for _ in range(2):
                found = remote(server, body=self.BODY, journal=journal, **WHOLE)
                assert len(found.generate(self.tasks("one", repeats=2))) == 2 * len(QUESTIONS)
        assert len(server.asked) == 2 * len(QUESTIONS)

    def test_one_that_fails_has_no_answer_and_all_of_them_are_an_error(self) -> None:
        with serving(unless_first({"detail": "no"})) as server:
            first, *others = remote(server, body=self.BODY, **WHOLE).generate(self.tasks("one"))
        assert (first.answer, first.status) == (None, Status.MISSING_FIELD)
        assert "a text is expected; got nothing" in first.reason
        assert {other.answer for other in others} == {"In August."}
        with serving({"detail": "no"}) as server, pytest.raises(GenerationError, match=r"for all 3 tasks: .*expected"):
            remote(server, body=self.BODY, **WHOLE).generate(self.tasks("one"))

    @given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
    def test_any_text_arrives_as_it_is(self, text: str, is_quoted: bool) -> None:
        slot = '"{contexts}"' if is_quoted else "{contexts}"
        settings = SystemSettings(url="http://h/", answer="@", body=f'{{"a": "\\"{{question}}", "b": [{slot}]}}')
        sent = json.loads(settings.asked(text, 3, [text, text])[1])
        assert sent == {"a": f'"{text}', "b": [f"[1] {text}\n\n[2] {text}" if is_quoted else [text, text]]}
        assert settings.takes_contexts


class TestWhatIsRead:
    def test_answer_ids_passages_and_scores(self) -> None:
        found = retrieved(GOOD, **WHOLE)
        assert ids(found) == [["c2", "c1"]] * 3
        assert [hit.similarity for hit in found.hits[0]] == [0.75, 0.5]
        assert [found.answers[q.id][0].answer for q in QUESTIONS] == ["In August."] * 3
        assert found.facts["kind"] == "http"
        assert not found.errors

    def test_passages_alone_are_found_among_the_chunks_or_are_their_own(self) -> None:
        found = retrieved({"texts": [CHUNKS[3].text, "new"]}, passages="texts")
        assert ids(found) == [["c4", "new"]] * 3
        assert found.answers == {}

    def test_more_than_k_and_nothing(self) -> None:
        found = retrieved(GOOD, 1, **WHOLE)
        assert ids(found) == [["c2"]] * 3
        assert found.facts["dropped_beyond_k"] == 3
        assert ids(retrieved({"hits": []})) == [[]] * 3

    def test_an_answer_without_passages(self) -> None:
        found = retrieved({"text": ""}, answer="text")
        assert [found.answers[q.id][0].answer for q in QUESTIONS] == [""] * 3
        assert ids(found) == [[]] * 3
        assert found.untold == {"q1", "q2", "q3"}
        assert not retrieved({"text": "", "hits": []}, answer="text", ids="hits[].id").untold

    @pytest.mark.parametrize(
        ("reply", "said"),
        [
            ({"x": "y"}, r"ids = 'hits\[\].id': a list is expected; got nothing; the reply begins {\"x\": \"y"),
            ({**GOOD, "data": {"answer": ["a"]}}, "a text is expected; got a list"),
            ({**GOOD, "hits": "none"}, "a list is expected; got nothing"),
            ({**GOOD, "hits": [HITS[0], {"id": "c1", "score": 1}]}, "one length are expected; got ids 2, passages 1"),
            ({**GOOD, "hits": [{**HITS[0], "text": 5}]}, "a list of texts is expected; got a whole number"),
            ({**GOOD, "hits": [{**HITS[0], "id": 1.5}]}, "an id is text or a whole number; got 1.5"),
            ({**GOOD, "hits": [{**HITS[0], "score": "high"}]}, "a score is a number; got 'high'"),
            (b"<html>down for maintenance</html>", "not JSON, but a page.*; it begins <html>down for maintenance"),
            (b'{"data": {"answer": NaN}}', "not JSON"),
            (b"[" * 100_000, "not JSON; it begins \\[\\[\\["),
            (b"", "the reply is empty; JSON is expected"),
        ],
    )
    @pytest.mark.fault("garbage", tried="replies of a service that are not what its expressions say", count=11)
    def test_a_reply_that_is_not_what_the_expressions_say_is_a_raised_question(self, reply: Any, said: str) -> None:
        found = retrieved(unless_first(Reply(reply)), **WHOLE)
        assert list(found.errors) == ["q1"]
        assert re.search(said, found.errors["q1"]), found.errors["q1"]
        assert ids(found) == [[], ["c2", "c1"], ["c2", "c1"]]
        assert set(found.answers) == {"q2", "q3"}
        assert len(found.errors["q1"]) < 400

    def test_what_no_database_keeps_is_no_part_of_an_answer(self) -> None:
        found = retrieved(b'{"text": "a\\u0000b\\ud800"}', answer="text")
        assert found.answers["q1"][0].answer == "a\N{REPLACEMENT CHARACTER}b?"


class TestWhatIsNotRead:
    @pytest.mark.parametrize(
        ("reply", "lines"),
        [
            ({"answer": "a", "contexts": ["one", "two"]}, 'passages = "contexts"'),
            ({"answer": "a", "hits": HITS}, 'passages = "hits[].text", ids = "hits[].id"'),
            (
                {"answer": "a", "found docs": {"source_documents": [{"page_content": "one"}]}},
                r'passages = "\"found docs\".source_documents[].page_content"',
            ),
            ({"answer": "a", "sources": ["It opens at 8.", "x"]}, 'passages = "sources"'),
            (
                {
                    "answer": "a",
                    "about": {
                        "retriever_resources": [
                            {"document_id": "d", "segment_id": "s1", "content": "one"},
                            {"document_id": "d", "segment_id": "s2", "content": "two"},
                        ]
                    },
                },
                'passages = "about.retriever_resources[].content", ids = "about.retriever_resources[].segment_id"',
            ),
            (
                {
                    "answer": "a",
                    "citations": [{"chunk_id": "0", "content": "one"}, {"chunk_id": "0", "content": "two"}],
                },
                'passages = "citations[].content"',
            ),
            ({"answer": "a", "sources": ["docs/a.md"]}, ""),
            ({"answer": "a", "content": [{"type": "text", "text": "b"}]}, ""),
            ({"answer": "a", "contexts": []}, ""),
            ({"answer": "a", "took": [1, 2]}, ""),
        ],
    )
    def test_passages_are_told_by_the_names_that_tables_have_for_them(self, reply: Any, lines: str) -> None:
        with serving(reply) as server:
            told = unread("prod", SystemSettings(url=server.url, answer="answer"), "What?")
            assert told == lines
            table = tomllib.loads(told.replace(", ids", "\nids"))  # as ragbench.toml has it
            assert not table or remote(server, answer="answer", **table).retrieve(QUESTIONS, 1).hits[0]

    def test_an_answer_that_is_elsewhere(self) -> None:
        reply = {"id": "x", "choices": [{"message": {"role": "assistant", "content": "In August."}}]}
        place = re.escape('answer = "choices[0].message.content" reads one; the reply begins')
        with serving(reply) as server, pytest.raises(RetrievalError, match=place):
            remote(server, answer="answer").retrieve(QUESTIONS, 1)

    def test_of_messages_the_last_one_is_the_answer(self) -> None:
        said = [{"type": "human", "content": "What?"}, {"type": "ai", "content": "In August."}]
        with serving({"messages": said}) as server, pytest.raises(RetrievalError) as raised:
            remote(server, answer="answer").retrieve(QUESTIONS, 1)
        assert 'answer = "messages[-1].content" reads one' in str(raised.value)

    @pytest.mark.parametrize(
        ("reply", "told", "table"),
        [
            (b"In August.", 'answer = "@" takes it as it is', {"answer": "@"}),
            (b'"In August."', 'answer = "@" reads one', {"answer": "@"}),
            (b'"{\\"answer\\": \\"In August.\\"}"', "", {"answer": "answer"}),
            (
                b'event: token\ndata: {"token": "In "}\n\ndata: {"token": "August."}\n\n',
                'stream = true reads its events, with answer = "token"', {"answer": "token", "stream": True},
            ),
            (
                b'{"message": {"content": "In "}}\n{"message": {"content": "August."}, "done": true}\n',
                'stream = true reads its events, with answer = "message.content"',
                {"answer": "message.content", "stream": True},
            ),
            (
                b'8:[{"nodes": []}]\n0:"In "\n0:"August."\nd:{"finishReason": "stop"}\n',
                r'stream = true reads its events, with answer = "\"0\""', {"answer": '"0"', "stream": True},
            ),
        ],
    )  # fmt: skip
    def test_a_text_and_a_stream_are_told_and_read(self, reply: bytes, told: str, table: dict[str, Any]) -> None:
        with serving(Reply(reply)) as server:
            if told:
                with pytest.raises(RetrievalError, match=re.escape(told)):
                    remote(server, answer="answer").retrieve(QUESTIONS, 1)
            found = remote(server, **table).retrieve(QUESTIONS, 1)
        assert found.answers["q1"][0].answer == "In August."

    def test_a_page_is_no_answer(self) -> None:
        with (
            serving(Reply(b"<!doctype html><title>Sign in</title>")) as server,
            pytest.raises(RetrievalError) as raised,
        ):
            remote(server, answer="@").retrieve(QUESTIONS, 1)
        assert "not JSON, but a page, as for a browser: look at `url`" in str(raised.value)
        assert "; it begins <!doctype html>" in str(raised.value)

    @pytest.mark.parametrize("name", ["query", "message"])
    def test_a_body_in_other_names_is_told(self, name: str) -> None:
        missing = {"detail": [{"type": "missing", "loc": ["body", name], "msg": "Field required", "input": {}}]}
        with serving(Reply(missing, status=422)) as server, pytest.raises(RetrievalError) as raised:
            remote(server, answer="answer").retrieve(QUESTIONS, 1)
        told = f"HTTP 422: body.{name}: Field required; look at `body`, which is sent in the service's own names"
        assert f'{told}: {{"{name}": "{{question}}"}}' in str(raised.value)

    def test_of_a_stream(self) -> None:
        sent = [{"contexts": ["one"]}, {"answer": "In "}, {"answer": "August."}]
        pieces = [(0.0, f"data: {json.dumps(event)}\n\n".encode()) for event in sent]
        with serving(Reply(pieces=pieces)) as server:
            given = SystemSettings(url=server.url, answer="answer", stream=True)
            assert unread("prod", given, "What?") == 'passages = "contexts"'


class TestTheClock:
    def test_the_latency_is_that_of_the_reply(self) -> None:
        waits = dict(zip((q.text for q in QUESTIONS), (0.05, 0.2, 0.4), strict=True))
        found, whole_ms = timed(lambda asked: Reply(GOOD, after=waits[asked.body["question"]]), **WHOLE)
        assert found.search_ms is not None
        assert all(taken >= 1000 * wait for taken, wait in zip(found.search_ms, waits.values(), strict=True))
        assert sum(found.search_ms) <= whole_ms
        assert found.answers["q2"][0].seconds == pytest.approx(found.search_ms[1] / 1000)
        assert set(found.logged_ms) == {"call"}

    def test_waiting_in_line_and_failed_attempts_do_not_count(self) -> None:
        calls: list[int] = []

        def answer(asked: Asked) -> Reply:
            calls.append(1)
            return Reply({}, 503, after=0.3) if len(calls) == 1 else Reply(GOOD, after=0.1)

        found, whole_ms = timed(answer, **WHOLE)
        assert found.search_ms is not None
        assert min(found.search_ms) >= 100
        assert sum(found.search_ms) <= whole_ms - 300

    def test_a_question_that_failed_has_none_and_the_services_own_clock_wins(self) -> None:
        found = retrieved(unless_first(Reply({}, 400)), ids="hits[].id", latency="took")
        assert found.search_ms is not None
        assert math.isnan(found.search_ms[0])
        assert list(found.search_ms[1:]) == [12.5, 12.5]
        found = retrieved(unless_first({**GOOD, "took": "long"}), ids="hits[].id", latency="took")
        assert "latency = 'took': milliseconds from 0 to 86,400,000 is expected; got a text" in found.errors["q1"]

    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_as_many_are_in_flight_as_the_table_says(self, concurrency: int) -> None:
        with serving(lambda _: Reply(GOOD, after=0.1)) as server:
            asked = [Question(str(n), f"question {n}") for n in range(7)]
            remote(server, concurrency=concurrency).retrieve(asked, 2)
        assert server.most_in_flight == concurrency

    def test_a_rate_is_kept(self) -> None:
        with serving() as server:
            system = remote(server, requests_per_minute=240)
            begun = time.monotonic()
            system.retrieve([Question(str(n), f"question {n}") for n in range(42)], 2)
        assert time.monotonic() - begun >= 0.4, "ten seconds' worth (40) at once, then one each quarter of a second"


class TestStreams:
    PIECES = (
        b': hello\n\ndata: {"delta": ""}\n\n',
        b'data: {"delta": "In "}\r\n\r\ndata: {"del',
        b'ta": "August."}\n\nevent: end\ndata: {"hits": [{"id": "c2"}], "took": 9}\n\n',
        b"data: [DONE]\n\n",
    )

    def test_the_first_piece_is_timed_and_all_pieces_are_the_answer(self) -> None:
        def answer(asked: Asked) -> Reply:
            return Reply(pieces=zip((0.05, 0.1, 0.15, 0.0), self.PIECES, strict=True))

        with serving(answer) as server:
            system = remote(server, concurrency=1, stream=True, answer="delta", ids="hits[].id")
            begun = time.monotonic()
            found = system.retrieve(QUESTIONS[:2], 2)
            whole_ms = 1000 * (time.monotonic() - begun)
        assert [found.answers[q.id][0].answer for q in QUESTIONS[:2]] == ["In August."] * 2
        assert ids(found) == [["c2"], ["c2"]]
        assert server.asked[0].headers["accept"] == "text/event-stream"
        first, whole = found.logged_ms["first_token"], found.logged_ms["call"]
        assert min(first) >= 150
        assert min(whole) >= 300
        assert all(own < one for own, one in zip(first, whole, strict=True))
        assert sum(whole) <= whole_ms

    @pytest.mark.parametrize(
        ("pieces", "answer"),
        [
            (["In", "In Aug", "In August."], "In August."),
            (["1", "1", "1"], "111"),
            (["0", "0."], "00."),
            (["", "In", "In Aug", "In August.", "In [ID:0] August [ID:1]."], "In [ID:0] August [ID:1]."),
            (["In", "In ", "In A", "ugust."], "InIn In August."),
            (["1", "10", "100", "1"], "1101001"),
        ],
    )
    def test_pieces_that_each_repeat_the_one_before_are_the_last_of_them(self, pieces: list[str], answer: str) -> None:
        sent = "".join(f"data: {json.dumps({'answer': piece})}\n\n" for piece in pieces)
        found = retrieved(Reply(sent.encode()), stream=True, answer="answer")
        assert found.answers["q1"][0].answer == answer

    def test_a_stream_without_an_answer_or_that_breaks_off_is_a_raised_question(self) -> None:
        with (
            serving(lambda asked: Reply(b"data: {}\n\n")) as server,
            pytest.raises(RetrievalError, match="got nothing"),
        ):
            remote(server, stream=True, answer="delta").retrieve(QUESTIONS, 2)
        with (
            serving(lambda asked: Reply(b'data: {"delta": "In"}\n\n', broken=True)) as server,
            pytest.raises(RetrievalError, match="tried 3 times"),
        ):
            remote(server, stream=True, answer="delta").retrieve(QUESTIONS[:1], 2)

    @given(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1), max_size=5)
    )
    def test_events_come_out_as_they_went_in(self, texts: list[str]) -> None:
        written = "".join(f"data: {json.dumps(text)}\n\n" for text in texts)
        assert list(events(written)) == texts
        assert list(events(written.replace("\n", "\r\n"))) == texts


class TestTheJournal:
    def test_a_reply_is_asked_once_and_a_repeat_anew(self) -> None:
        journal = MemoryJournal()
        with serving(lambda asked: Reply(GOOD, after=0.05)) as server:
            first = remote(server, journal=journal, **WHOLE)
            runs = [first.retrieve(QUESTIONS, 2), *(first.retrieve(QUESTIONS, 2, fresh=True) for _ in range(2))]
            assert len(server.asked) == 9
            later = remote(server, journal=journal, **WHOLE)
            again = [later.retrieve(QUESTIONS, 2), *(later.retrieve(QUESTIONS, 2, fresh=True) for _ in range(2))]
            assert len(server.asked) == 9
            for one, other in zip(runs, again, strict=True):
                assert one.search_ms is not None
                assert other.search_ms is not None
                assert list(one.search_ms) == list(other.search_ms)
                assert ids(one) == ids(other)
            later.retrieve(QUESTIONS, 3)
            assert len(server.asked) == 12, "another k is another body"

    def test_the_key_is_of_address_body_and_names_of_headers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = MemoryJournal()
        monkeypatch.setenv("PROD_KEY", SECRET)
        with serving() as server:

            def calls(**more: Any) -> int:
                before = len(server.asked)
                remote(server, journal=journal, **{**WHOLE, **more}).retrieve(QUESTIONS[:1], 2)
                return len(server.asked) - before

            assert calls() == 1
            assert calls(latency="took", answer=None, concurrency=4) == 0, "other expressions read the same reply"
            assert calls(headers={"X-Key": "{PROD_KEY}"}) == 1
            monkeypatch.setenv("PROD_KEY", "another-value-of-it")
            assert calls(headers={"X-Key": "{PROD_KEY}"}) == 0, "a new key is no new question"
            assert calls(body='{"q": "{question}"}') == 1
            assert calls(url=f"{server.url}?v=2") == 1
            assert calls(method="PUT") == 1
        assert SECRET not in json.dumps(list(journal.rows.values()))

    def test_a_reply_that_cannot_be_used_is_not_kept(self) -> None:
        journal, replies = MemoryJournal(), [{"error": "warming up"}, GOOD]
        with serving(lambda asked: replies.pop(0)) as server:
            with pytest.raises(RetrievalError, match=r"it failed: .*warming up"):
                remote(server, journal=journal).retrieve(QUESTIONS[:1], 2)
            assert ids(remote(server, journal=journal).retrieve(QUESTIONS[:1], 2)) == [["c2", "c1"]]

    def test_calls_are_within_the_budget(self) -> None:
        journal = MemoryJournal()
        with serving() as server:
            with pytest.raises(BudgetSpent, match="calls: 2 of 2"):
                remote(server, journal=journal, budget=Budget(calls=2)).retrieve(QUESTIONS, 2)
            assert len(server.asked) == 2
            remote(server, journal=journal, budget=Budget(calls=3, tokens=1)).retrieve(QUESTIONS, 2)
            assert len(server.asked) == 3

    def test_a_plan_asks_nobody(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = MemoryJournal()
        with serving() as server:
            remote(server, journal=journal, **WHOLE).retrieve(QUESTIONS[:1], 2)
            monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path))
            found = remote(server, journal=journal, **WHOLE).retrieve(QUESTIONS, 2)
            assert len(server.asked) == 1
        (outlook,) = planning.kept(tmp_path)
        plan = outlook.plan()
        assert (plan.judge, plan.calls, plan.journaled, plan.input_tokens, plan.output_tokens) == ("prod", 2, 1, 0, 0)
        assert outlook.settings.model == "POST /ask"
        assert ids(found) == [["c2", "c1"], ["c2"], ["c4"]], "in place of a reply stand the relevant chunks"
