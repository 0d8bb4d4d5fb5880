"""`ragbench init` with what is reached by an address: a database, a service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jmespath
import numpy as np
import psycopg
import pytest

from ragbench.old.core import settings
from ragbench.old.core.settings import Settings, SourceSettings
from ragbench.old.store import Source, StoreError, server
from ragbench.old.store.database_tables import written
from tests.old.cli.command_line import one_line, ragbench
from tests.old.cli.test_init import begun, ran
from tests.old.cli.test_init import empty as empty
from tests.old.small_project import write_lines
from tests.old.systems.service_server import Asked, ServiceServer


@pytest.mark.fault("secrets", tried="a database's address with a password, given to `ragbench init`", count=1)
def test_a_databases_address_goes_into_no_file_and_on_no_screen(empty: Path) -> None:
    done = ragbench("init", "postgresql://me:canary-pw@127.0.0.1/x")
    assert done.returncode == 0
    assert "canary" not in done.stdout + done.stderr
    assert "canary" not in "".join(path.read_text(encoding="utf-8") for path in empty.iterdir())
    assert "Next: export OWN_DATABASE_URL=…" in done.stdout
    assert settings.load().databases["own"].url_variable == "OWN_DATABASE_URL"


@contextmanager
def own_database(known: Settings, *statements: str) -> Iterator[str]:
    """The address of a database with these tables, which are gone afterwards."""
    server.start(known)
    url = written(server.address(known))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO public")
        try:
            for statement in statements:
                connection.execute(statement)
            yield url
        finally:
            connection.execute(
                "DROP TABLE IF EXISTS public.chunk, question_answer, langchain_pg_embedding, document_chunk, "
                "langchain_pg_collection, app_users; "
                "DROP SCHEMA IF EXISTS kb CASCADE"
            )


USUAL = (
    "CREATE TABLE public.chunk (id int, confluence_url text, text text, embedding vector)",
    "CREATE TABLE public.question_answer (id int, question text, answer text, confluence_url text, score int, "
    "user_id int, embedding vector)",
    "INSERT INTO public.chunk VALUES (1, 'https://x.example/a', 'Дуб растёт в лесу у реки.', '[1, 0]')",
)
LANGCHAIN = (
    "CREATE TABLE langchain_pg_embedding (id varchar PRIMARY KEY, collection_id uuid, embedding vector, "
    "document varchar, cmetadata jsonb)",
    "INSERT INTO langchain_pg_embedding VALUES ('d0', NULL, '[1,0,0]', 'The library opens at 8:00.', '{}'), "
    "('d1', NULL, '[0,1,0]', 'Parking is behind the hall.', '{}')",
    "CREATE TABLE app_users (id int, name text)",
)
DOCS, FAQ = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
COLLECTIONS = (
    "CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY, name varchar UNIQUE NOT NULL, cmetadata json)",
    f"INSERT INTO langchain_pg_collection VALUES ('{DOCS}', 'docs', NULL), ('{FAQ}', 'faq', NULL)",
    f"UPDATE langchain_pg_embedding SET collection_id = '{DOCS}'",
    f"INSERT INTO langchain_pg_embedding VALUES ('f0', '{FAQ}', '[1,0,0]', 'How do I return a book?', '{{}}')",
)
OPEN_WEBUI = (
    "CREATE TABLE document_chunk (id text PRIMARY KEY, emb sparsevec(3), vector vector(3), collection_name text, "
    "text text, vmetadata jsonb)",
    "INSERT INTO document_chunk (id, vector, collection_name, text) VALUES ('1', '[1,0,0]', 'kb', 'It opens.'), "
    "('2', '[0,1,0]', 'kb', 'Parking is behind the hall.'), ('3', '[1,0,0]', 'file-1', 'It opens at 8:00.')",
)
OTHER_NAMES = (
    "CREATE SCHEMA kb",
    "CREATE TABLE kb.passages (passage_id int, body text, source_url text, vec bit(8))",
    "INSERT INTO kb.passages VALUES (1, 'The library opens at 8:00.', 'https://x.example/a', B'00000001')",
    "CREATE TABLE kb.chat_log (id int, user_query text, bot_answer text, page_url text, rating int, created timestamp)",
    "INSERT INTO kb.chat_log VALUES (1, 'When does it open?', 'At 8.', 'https://x.example/a', 5, now())",
)


def test_the_database_of_the_environment_is_looked_at(empty: Path, database_settings: Settings) -> None:
    with own_database(database_settings, *USUAL) as url:
        look, *more = begun(empty, RAGBENCH_DATABASE_URL=url)
        assert look == "ragbench load database own --dry-run"
        assert more == ["ragbench run tier1_retrieval -p unit=url"]
        assert settings.load().databases["own"].language == "ru"
        assert "1 passage on 1 page" in ran(look, RAGBENCH_DATABASE_URL=url).stdout


def _of_collection(own: SourceSettings, name: str | None) -> Settings:
    tables = own.model_copy(update={"chunks": own.chunks.model_copy(update={"collection": name})})
    return settings.load().model_copy(update={"databases": {"own": tables}})


def test_tables_under_other_names_are_written_with_their_columns(
    empty: Path, database_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_database(database_settings, *LANGCHAIN) as url:
        write_lines(empty / "q.jsonl", [{"question": "When does it open?", "relevant_ids": ["d0"]}])
        export, look, load, measure = begun(empty, url, "q.jsonl")
        assert export == "export OWN_DATABASE_URL=…"
        own = settings.load().databases["own"]
        assert (own.chunks.table, own.chunks.text, own.chunks.embedding, own.chunks.title) == (
            "langchain_pg_embedding", "document", "embedding", None,
        )  # fmt: skip
        assert own.language == "en"
        assert "2 passages" in ran(look, OWN_DATABASE_URL=url).stdout
        assert load == "ragbench load questions q.jsonl --name q --chunks-from db:own"
        assert "2 passages, 1 question (0 without a relevant passage)" in ran(load, OWN_DATABASE_URL=url).stdout
        assert measure == "ragbench run tier1_retrieval"
    with own_database(database_settings, *LANGCHAIN, *COLLECTIONS) as url:
        done = ragbench("init", url, "--force")
        assert "of the collections in langchain_pg_embedding docs, the largest; there are also faq" in one_line(
            done.stdout
        )
        settings.load.cache_clear()
        own = settings.load().databases["own"]
        assert own.chunks.collection == "docs"
        assert "2 passages" in ran("ragbench load database own --dry-run", OWN_DATABASE_URL=url).stdout
        monkeypatch.setenv("OWN_DATABASE_URL", url)
        for name, number in (("docs", 2), ("faq", 1)):
            with Source.open("own", _of_collection(own, name)) as source:
                assert len(list(source.chunks())) == number == source.counts(source.tables.chunks)[0]
                assert len(source.vectors(source.tables.chunks, "document")[0]) == number
                found = source.nearest(np.eye(3, dtype=np.float32)[:1], 5, None)[0]
                assert [len(ids) for ids in found] == [number]
        for name in (None, "all"):
            with pytest.raises(StoreError) as refused:
                Source.open("own", _of_collection(own, name))
            assert "langchain_pg_embedding holds docs (2 rows), faq (1 rows)" in str(refused.value)
            assert 'under [databases.own.chunks]: collection = "docs"' in str(refused.value)
    with own_database(database_settings, *OPEN_WEBUI) as url:
        done = ragbench("init", url, "--force")
        assert "of the collections in document_chunk kb, the largest; there are also file-1" in one_line(done.stdout)
        assert 'embedding = "vector"' in (empty / "ragbench.toml").read_text(encoding="utf-8"), "not the sparse one"
        assert "2 passages" in ran("ragbench load database own --dry-run", OWN_DATABASE_URL=url).stdout
    with own_database(database_settings, *OTHER_NAMES) as url:
        done = ragbench("init", url, "--force")
        assert "table passages: passages (id = passage_id, text = body, url = source_url)" in done.stdout
        assert "passages.vec is of the type bit(8), which holds no vectors" in done.stdout
        settings.load.cache_clear()
        found = settings.load().databases["own"]
        assert found.questions is not None
        assert (found.questions.question, found.questions.answer, found.questions.in_schema) == (
            "user_query", "bot_answer", "kb",
        )  # fmt: skip
        look = "ragbench load database own --dry-run"
        assert "1 passage on 1 page, 1 question" in ran(look, OWN_DATABASE_URL=url).stdout
    with own_database(database_settings, "CREATE TABLE app_users (id int, name text)") as url:
        done = ragbench("init", url, "--force")
        assert done.returncode == 3
        assert "no table has a column of ids and one of texts: table app_users (id, name)" in one_line(done.stderr)


def test_a_service_is_a_system_that_is_asked(empty: Path) -> None:
    write_lines(empty / "q.jsonl", [{"question": "When does it open?", "reference": "At 8:00."}])

    def reply(asked: Asked) -> dict[str, str]:
        return {"answer": f"At 8:00. {asked.body['question']}"}

    with ServiceServer(reply).running() as service:
        load, online, measure = begun(empty, "q.jsonl", service.url)
        [name] = settings.load().systems
        assert (settings.load().baseline, settings.load().systems[name].url) == (name, service.url)
        assert load == "ragbench load questions q.jsonl --name q"
        ran(load)
        told = f"✓ system {name}: {service.url} answers, without passages that can be told"
        assert told in one_line(ran(online).stdout)
        assert measure == "ragbench run tier3_end_to_end"
        ran(measure)
        assert any(asked.body["question"] == "When does it open?" for asked in service.asked)
        page = (empty / "reports" / "latest" / "tier3_end_to_end.html").read_text(encoding="utf-8")
        assert "It cannot be told, as no question says which passage answers it" in page
        assert "What one perfect part would gain" not in page
        index = (empty / "reports" / "latest" / "index.html").read_text(encoding="utf-8")
        assert "Which part fails first" not in index, "an empty bar tells nothing"
    assert "{question}" in ragbench("init", "https://x.example/ask?q={question}", "--force").stdout + (
        empty / "ragbench.toml"
    ).read_text(encoding="utf-8")
    settings.load.cache_clear()
    assert settings.load().systems["x-example"].method == "GET"


def test_beside_what_is_asked_a_table_of_answers_is_questions_with_references(empty: Path) -> None:
    write_lines(empty / "qa.jsonl", [{"question": "When does it open?", "answer": "At 8:00."}])
    (empty / "desk.py").write_text("def ask(question): return 'At 8:00.'\n", encoding="utf-8")
    load, measure = begun(empty, "qa.jsonl", "desk:ask")
    assert settings.load().baseline == "ask", "there is nothing that a search here could find"
    ran(load)
    assert "e2e_score" in ran(measure).stdout
    [score] = begun(empty, "qa.jsonl", "--force")
    assert score == "ragbench score qa.jsonl"
    assert "--out FOLDER writes it as a page" in ran(score).stderr


def test_what_is_asked_needs_no_search_of_ours_before_there_are_questions(empty: Path) -> None:
    (empty / "desk.py").write_text("def ask(question): return 'At 8:00.'\n", encoding="utf-8")
    asked = ["ragbench load questions FILE --name asked", "ragbench run tier3_end_to_end -d asked"]
    assert begun(empty, "desk:ask") == asked
    assert begun(empty, "http://127.0.0.1:9/v1/chat/completions", "--force") == ["ragbench doctor --online", *asked]
    table = settings.load().systems["service"]
    assert settings.load().baseline == "service"
    assert (table.answer, json.loads(table.body)["messages"]) == (
        "choices[0].message.content", [{"role": "user", "content": "{question}"}],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "sent", "reply"),
    [
        ("/api/chat", {"messages": [{"role": "user", "content": "Q"}]}, {"message": {"content": "A"}}),
        ("/api/generate", {"prompt": "Q"}, {"response": "A"}),
        ("/rag/invoke", {"input": "Q"}, {"output": "A"}),
        ("/rag/invoke", {"input": "Q"}, {"output": {"answer": "A", "context": []}}),
        ("/v1/chat-messages", {"query": "Q", "inputs": {}, "response_mode": "blocking"}, {"answer": "A"}),
        ("/api/v1/prediction/0b0c", {"question": "Q"}, {"text": "A"}),
        (
            "/v1/responses",
            {"input": "Q"},
            {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"text": "A"}]}]},
        ),
        ("/v1/messages", {"max_tokens": 1024}, {"content": [{"type": "thinking"}, {"type": "text", "text": "A"}]}),
        ("/api/v1/chats/7/completions", {"question": "Q", "stream": False}, {"data": {"answer": "A"}}),
        ("/ask", {"question": "Q", "k": 1}, {"answer": "A"}),
    ],
)
def test_the_address_of_a_known_tool_says_what_it_is_asked(
    empty: Path, path: str, sent: dict[str, Any], reply: dict[str, Any]
) -> None:
    begun(empty, f"http://127.0.0.1:9{path}")
    table = settings.load().systems["service"]
    body = json.loads(table.asked("Q", 1)[1])
    assert {name: body[name] for name in sent} == sent
    assert jmespath.search(str(table.answer), reply) == "A"
