"""Tables of the user's own PostgreSQL: read and searched under whatever names they have."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from ragbench.core.errors import BenchError
from ragbench.core.settings import DatabaseSettings, DatabaseTable, Settings
from ragbench.store import Index, OwnDatabase, Store, read_database
from ragbench.store.store import set_locally

TABLES = """
CREATE SCHEMA help;
CREATE TABLE help.kb_fragments (fragment_id integer PRIMARY KEY, code text, body_text text,
    page text, embedding vector(2), embedding_of_title vector(2));
INSERT INTO help.kb_fragments VALUES
    (1, 'a', 'The library opens at 8:00 on working days.', 'https://x/library', '[1,0]'),
    (2, 'b', 'Parking is behind the hall, for students too.', 'https://x/parking', '[0,1]'),
    (3, 'c', 'The library is closed on 9 May and on holidays.', 'https://x/library', '[0.8,0.6]'),
    (4, 'd', '  ', NULL, '[0.5,0.5]');
CREATE TABLE help."user" (id text PRIMARY KEY, "select" text, gold text, ids integer[], page text,
    stored vector(2));
INSERT INTO help."user" VALUES
    ('q1', 'When does the library open?', 'At 8:00.', '{1,3}', NULL, '[0.9,0.1]'),
    ('q2', 'Is the library open on 9 May?', NULL, NULL, 'https://x/library', NULL),
    ('q3', NULL, NULL, NULL, NULL, NULL);
CREATE TABLE help.broken (id integer PRIMARY KEY, body text, v vector);
INSERT INTO help.broken VALUES (1, 'x', '[1,0]'), (2, 'x', '[0,0]'), (3, 'x', NULL),
    (4, 'x', '[1,0,0]'), (5, 'x', '[0,1]');
CREATE VIEW help.endless AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
    SELECT id, repeat('word ', 100) AS body FROM n;
CREATE TABLE help.no_key (body text);
CREATE TABLE help.empty (id integer PRIMARY KEY, body text, v vector(2));
CREATE TABLE help.numbers (id integer PRIMARY KEY, n integer);
CREATE TABLE help.langchain_pg_embedding (id varchar PRIMARY KEY, collection_id uuid,
    embedding vector, document varchar, cmetadata jsonb);
INSERT INTO help.langchain_pg_embedding VALUES
    ('d0', gen_random_uuid(), '[1,0,0]', 'The library opens at 8:00.', '{"source": "https://x/0"}'),
    ('d1', gen_random_uuid(), '[0,1,0]', 'Parking is behind the hall.', '{"source": "https://x/1"}');
"""
FRAGMENTS = {
    "url_variable": "TEST_OWN_URL",
    "schema": "help",
    "passages": "kb_fragments",
    "text": "body_text",
    "url": "page",
    "vector": "embedding",
}
QUESTIONS = {
    "questions": "user",
    "question": "select",
    "reference": "gold",
    "relevant_ids": "ids",
    "question_url": "page",
    "question_vector": "stored",
}


@pytest.fixture(scope="module")
def own_url(database_url: str) -> str:
    with Store(url=database_url) as store, store.engine.begin() as connection:
        connection.exec_driver_sql(TABLES)
    return database_url


@pytest.fixture(autouse=True)
def variable(own_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_OWN_URL", own_url)


def open_tables(**changes: Any) -> OwnDatabase:
    table = DatabaseTable.model_validate({**FRAGMENTS, **changes})
    return OwnDatabase("kb", table, DatabaseSettings())


def test_a_data_set_is_read_from_tables_with_unusual_names() -> None:
    settings = Settings.model_validate({"databases": {"kb": {**FRAGMENTS, **QUESTIONS}}})
    dataset = read_database("kb", settings, "en")
    # The primary key is the id; the blank row is left out and counted.
    assert dataset.passages["passage_id"].tolist() == ["1", "2", "3"]
    assert dataset.passages["url"].tolist()[1] == "https://x/parking"
    assert dataset.notes == (
        "1 rows of kb_fragments have no text and are left out",
        "1 rows of user have no text and are left out",
    )
    assert dataset.questions["text"].tolist()[0] == "When does the library open?"
    assert dataset.questions["references"].tolist() == [("At 8:00.",), ()]
    # By ids where they are named, else every passage of the page.
    assert dataset.grades() == {"q1": {"1": 1.0, "3": 1.0}, "q2": {"1": 1.0, "3": 1.0}}
    assert dataset.labels["group"].tolist() == [0, 1, 1000, 1000]
    assert dataset.extras["history"]["url"].tolist() == ["", "https://x/library"]


def test_the_tables_of_voproshalych_are_a_preset(own_url: str) -> None:
    with Store(url=own_url) as store, store.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE chunk (id bigint PRIMARY KEY, confluence_url text, text text, "
            "embedding vector(2), created_at timestamp, updated_at timestamp);"
            "INSERT INTO chunk VALUES (7, 'https://wiki/1', 'Пропуск выдают в бюро.', '[1,0]');"
            "CREATE TABLE question_answer (id bigint PRIMARY KEY, question text, "
            "embedding vector(2), answer text, confluence_url text, score integer, user_id bigint, "
            "created_at timestamp, updated_at timestamp);"
            "INSERT INTO question_answer VALUES (1, 'Где взять пропуск?', '[1,0]', 'В бюро.', "
            "'https://wiki/1', 5, 42, '2025-01-02'), "
            "(2, 'А когда?', NULL, NULL, NULL, NULL, 42, NULL)"
        )
    table = {"url_variable": "TEST_OWN_URL", "preset": "voproshalych"}
    dataset = read_database("v", Settings.model_validate({"databases": {"v": table}}), "ru")
    assert dataset.grades() == {"1": {"7": 1.0}}
    history = dataset.extras["history"]
    assert history["answer"].tolist() == ["В бюро.", ""]
    assert history["score"].tolist()[0] == 5.0
    assert np.isnan(history["score"].tolist()[1])
    assert history["user"].tolist() == ["42", "42"]


def test_a_vector_store_of_a_framework_needs_its_text_column_alone() -> None:
    tables = {"passages": "langchain_pg_embedding", "text": "document", "url": "", "vector": ""}
    with open_tables(**tables) as database:
        passages = database.read_dataset().passages
    assert passages["passage_id"].tolist() == ["d0", "d1"]
    assert passages["url"].tolist() == ["", ""]


@pytest.mark.parametrize("kind", ["exact", "own"])
def test_passages_are_searched_where_they_are(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {}

    def note(connection: sa.Connection, wanted: dict[str, str]) -> None:
        settings.update(wanted)
        set_locally(connection, wanted)

    monkeypatch.setattr("ragbench.store.own.set_locally", note)
    monkeypatch.setattr("time.perf_counter", count(0, 0.5).__next__)
    with open_tables() as database:
        queries = np.float32([[1, 0], [0, 1]])
        rankings, latency_ms = database.nearest(queries, 2, Index(kind))  # type: ignore[arg-type]
    assert [name for name, _ in rankings[0]] == ["1", "3"]
    assert rankings[0][1][1] == pytest.approx(0.8)
    assert [name for name, _ in rankings[1]] == ["2", "4"]
    assert latency_ms.tolist() == [500, 500]
    assert ("enable_indexscan" in settings) is (kind == "exact")


def test_the_index_that_is_there_is_used_and_named(own_url: str) -> None:
    engine = sa.create_engine(own_url.replace("postgresql:", "postgresql+psycopg:"))
    with open_tables() as database:
        assert "every vector compared" in database.describe(Index("own"))
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "CREATE INDEX by_meaning ON help.kb_fragments "
                "USING hnsw (embedding vector_cosine_ops)"
            )
        assert "hnsw index by_meaning" in database.describe(Index("own"))
        rankings, _ = database.nearest(np.float32([[1, 0]]), 1, Index("own"))
        assert rankings[0][0][0] == "1"
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP INDEX help.by_meaning")
        # One in half precision is searched, one of another distance or column is not.
        for on, is_used in (
            ("hnsw ((embedding::halfvec(2)) halfvec_cosine_ops)", True),
            ("hnsw (embedding vector_l2_ops)", False),
            ("hnsw (embedding_of_title vector_cosine_ops)", False),
            ("hnsw (embedding vector_cosine_ops) WHERE page IS NOT NULL", False),
        ):
            with engine.begin() as connection:
                connection.exec_driver_sql(f"CREATE INDEX other ON help.kb_fragments USING {on}")
            assert ("index other" in database.describe(Index("own"))) is is_used
            query = np.float32([[0.9, 0.1]])
            by_index, exact = (
                database.nearest(query, 3, Index(kind))[0][0]  # type: ignore[arg-type]
                for kind in ("own", "exact")
            )
            assert [name for name, _ in by_index] == [name for name, _ in exact]
            assert (by_index != exact) is is_used, "half precision gives other cosines"
            with engine.begin() as connection:
                connection.exec_driver_sql("DROP INDEX help.other")
    engine.dispose()


def test_questions_have_the_vectors_that_are_stored() -> None:
    with open_tables(**QUESTIONS) as database:
        vectors = database.read_question_vectors()
    assert list(vectors) == ["When does the library open?"]
    assert vectors["When does the library open?"] == pytest.approx([0.9, 0.1])


def test_vectors_that_cannot_be_found_are_counted_before_a_run() -> None:
    tables = {"passages": "broken", "text": "body", "url": "", "vector": "v"}
    with open_tables(**tables) as database, pytest.raises(BenchError) as raised:
        database.check_vectors()
    said = str(raised.value)
    for counted in ("1 without a vector", "1 with a zero vector", "1 of another width than 2"):
        assert counted in said
    with open_tables() as database:
        assert database.check_vectors() == 2
        with pytest.raises(BenchError, match="width 2, and those of the questions have 384"):
            database.check_vectors(384)


def test_nobody_waits_for_a_view_without_end() -> None:
    tables = {"passages": "endless", "passage_id": "id", "text": "body", "url": "", "vector": ""}
    with open_tables(**tables) as database:
        assert len(database.read_dataset(limit=20).passages) == 20


def test_a_table_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragbench.store.own.MOST_ROWS", 4)
    with open_tables() as database:
        assert len(database.read_dataset().passages) == 3
        monkeypatch.setattr("ragbench.store.own.MOST_ROWS", 3)
        with pytest.raises(BenchError, match="kb_fragments has more than 3 rows; name a view"):
            database.read_dataset()


def test_vectors_of_questions_need_their_column() -> None:
    with (
        open_tables(**{**QUESTIONS, "question_vector": ""}) as database,
        pytest.raises(BenchError, match=r"question_vector = …, or set embedder in \[retrievers"),
    ):
        database.read_question_vectors()


def test_what_is_read_is_bounded() -> None:
    with open_tables() as database, database._reading("looking", 10) as connection:
        names = ("transaction_read_only", "temp_file_limit", "statement_timeout")
        shown = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
    assert shown == ["on", "1GB", "10s"]


def test_what_is_read_cannot_be_written() -> None:
    with (
        open_tables() as database,
        pytest.raises(BenchError, match="read-only transaction"),
        database._reading("writing") as connection,
    ):
        connection.exec_driver_sql("DELETE FROM help.kb_fragments")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"passages": "kb_fragment"}, "not in the schema help; did you mean 'kb_fragments'"),
        ({"text": "body"}, "not in the table kb_fragments; did you mean 'body_text'"),
        ({"text": ""}, 'text = "body_text"'),
        ({"passages": "no_key", "text": "body", "url": "", "vector": ""}, 'passage_id = "…"'),
        ({"passages": "numbers", "text": "", "url": "", "vector": ""}, 'text = "…"; it has id, n'),
        ({"vector": ""}, "name the column of vectors: vector = …$"),
        (
            {"passages": "empty", "text": "body", "url": "", "vector": "v"},
            "of 0 rows none is there",
        ),
        ({"vector": "page"}, "a column of vector or halfvec is expected"),
        ({"schema": "ragbench"}, "ragbench's own"),
        ({"url_variable": "TEST_NOT_SET"}, "TEST_NOT_SET is not set"),
        ({"passages": 'x"; DROP TABLE help.kb_fragments; --'}, "not in the schema help"),
        ({"text": "body_text FROM pg_shadow; --"}, "not in the table kb_fragments"),
    ],
)
def test_names_are_looked_up_before_they_are_used(changes: dict[str, str], message: str) -> None:
    with pytest.raises(BenchError, match=message), open_tables(**changes) as database:
        database.check_vectors()


def test_an_unknown_database_is_named_with_those_there_are() -> None:
    settings = Settings.model_validate({"databases": {"kb": FRAGMENTS}})
    with pytest.raises(BenchError, match=r"no table \[databases.bk\].*there are: kb"):
        read_database("bk", settings)
