"""A user's own tables: read under any names, with the vectors in them or with new ones, and never written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
import pytest
from psycopg import sql

from ragbench.old import embed, tiers, views
from ragbench.old.core import settings
from ragbench.old.core.types import Embedder
from ragbench.old.core.types.reason import read
from ragbench.old.store import EmbeddingError, Source, StoreError, server
from ragbench.old.store.database_tables import written
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.retrieval import own_tables
from tests.old.cli.command_line import one_line, ragbench
from tests.old.small_project import add


def test_what_a_table_calls_its_own_is_its_id() -> None:
    columns = {"article_id": "integer", "author_id": "integer", "body": "text", "emb": "vector(3)"}
    found = own_tables.guess({("public", "articles"): columns, ("kb", "users"): {"id": "integer", "email": "text"}})
    assert found.chunks is not None
    assert (found.chunks["id"], found.chunks["text"], found.chunks["embedding"]) == ("article_id", "body", "emb")
    assert found.unused == ("table kb.users (id, email)",)


@pytest.mark.parametrize(
    ("table", "columns", "expected"),
    [
        ("data_docs", "id:bigint text:character node_id:character metadata_:json embedding:vector(3)",
         "node_id text embedding"),  # LlamaIndex: its id is a number of rows
        ("my_docs", "langchain_id:uuid content:text langchain_metadata:json embedding:vector(3)",
         "langchain_id content embedding"),
        ("blog_store", "embedding_uuid:uuid id:integer chunk_seq:integer chunk:text embedding:vector(3)",
         "embedding_uuid chunk embedding"),  # pgai: its id is that of the row that was cut
        ("haystack_documents", "id:character content:text meta:jsonb embedding:vector(3)", "id content embedding"),
        ("vector_store", "id:uuid content:text metadata:json embedding:halfvec(3)", "id content embedding"),
        ("document_chunk", "id:text vector:vector(3) collection_name:text text:text vmetadata:jsonb", "id text vector"),
        ("kb", "chunk_uuid:uuid chunk_content:text emb:vector(3)", "chunk_uuid chunk_content emb"),
    ],
)  # fmt: skip
def test_tables_of_vector_stores_are_taken_by_what_names_a_passage(table: str, columns: str, expected: str) -> None:
    found = own_tables.guess({("public", table): dict(column.split(":") for column in columns.split())}).chunks
    assert found is not None
    assert [found[setting] for setting in ("id", "text", "embedding")] == expected.split()


def test_of_several_vectors_those_of_the_text_are_taken_and_the_others_named() -> None:
    columns = {"id": "text", "title": "text", "body": "text", "title_emb": "vector(3)", "body_emb": "vector(3)"}
    found = own_tables.guess({("public", "docs"): columns})
    assert found.chunks is not None
    assert found.chunks["embedding"] == "body_emb"
    assert "there are vectors in title_emb, too" in found.said[0]


CHUNKS = [
    (1, "https://x.example/a", "Общежитие открыто до полуночи.", [1.0, 0.0, 0.0]),
    (2, "https://x.example/a", "Пропуск выдаёт комендант.", [0.9, 0.1, 0.0]),
    (3, "https://x.example/b", "Стипендия приходит двадцатого.", [0.0, 1.0, 0.0]),
    (4, "https://x.example/c", "Библиотека работает с девяти.", [0.0, 0.0, 1.0]),
]
ASKED = [
    (10, "до скольки общага?", "До полуночи.", "https://x.example/a", 5, 7, [1.0, 0.1, 0.0]),
    (11, "когда степуха?", "Двадцатого.", "https://x.example/b", 5, 8, [0.1, 0.9, 0.0]),
    (12, "где пропуск?", "У коменданта.", "https://x.example/a", 1, 7, [0.2, 0.8, 0.1]),
    (13, "есть ли бассейн?", None, None, 1, 9, [0.0, 0.5, 0.5]),
]


@pytest.fixture
def own(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection]:
    """A database with the tables of somebody's assistant, one of them named by a reserved word, and its settings."""
    server.start(settings.load())
    url = server.address(settings.load())
    plain = written(url)
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute('DROP SCHEMA IF EXISTS "Own Data" CASCADE')
        connection.execute('CREATE SCHEMA "Own Data"')
        connection.execute('SET search_path TO "Own Data", public')
        connection.execute('CREATE TABLE "user" (id int PRIMARY KEY, name text)')
        connection.execute("CREATE TABLE chunk (id int, confluence_url text, text text, embedding public.vector)")
        connection.execute(
            'CREATE TABLE "order" (id int, question text, answer text, confluence_url text, score int, user_id int, '
            "embedding public.vector)"
        )
        for row in CHUNKS:
            connection.execute("INSERT INTO chunk VALUES (%s, %s, %s, %s::float4[]::public.vector)", row)
        for row in ASKED:
            connection.execute('INSERT INTO "order" VALUES (%s, %s, %s, %s, %s, %s, %s::float4[]::public.vector)', row)
        monkeypatch.setenv("OWN_URL", plain)
        add(
            project,
            '[databases.own]\nurl_variable = "OWN_URL"\n'
            '[databases.own.chunks]\nin_schema = "Own Data"\n'
            '[databases.own.questions]\nin_schema = "Own Data"\ntable = "order"\n'
            '[embedders.theirs]\nkind = "database"\ndatabase = "own"\n'
            '[systems.theirs]\nembedder = "theirs"\n',
        )
        yield connection
        connection.execute('DROP SCHEMA "Own Data" CASCADE')


def change(project: Path, before: str, after: str) -> None:
    path = project / "ragbench.toml"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    settings.load.cache_clear()


def leave_out(project: Path) -> None:
    """Rows without a vector are left out from now on."""
    change(project, 'url_variable = "OWN_URL"\n', 'url_variable = "OWN_URL"\nwithout_embedding = "leave_out"\n')


@pytest.mark.usefixtures("own")
def test_tables_become_a_data_set() -> None:
    found = own_tables.read("own", settings.load())
    assert [(c.id, c.url) for c in found.chunks] == [(str(i), url) for i, url, _, _ in CHUNKS]
    assert [q.id for q in found.questions] == ["10", "11", "12"], "a question without a URL has no proxy label"
    assert found.questions[0].relevant_urls == {"https://x.example/a": 1.0}
    assert len(found.history) == 4
    assert found.history[2].score == 1
    assert found.left_out == {}
    assert own_tables.read("own", settings.load()) == found


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("public.vector", "'[1,2]'", "chunk.embedding: its widths are 2, 3; one is expected"),
        ("real[]", "'{1,2}'", "chunk.embedding: its widths are 2, 3; one is expected"),
        ("real[]", "'{1,NULL,2}'", "databases.own: chunk.embedding: while reading chunk .*must not contain nulls"),
        ("real[]", "'{1,NaN,2}'", "chunk.embedding: .*NaN not allowed"),
        ("real[]", "'{{1,2},{3,4}}'", "chunk.embedding: .*must be 1-D"),
    ],
)
def test_vectors_that_cannot_be_compared_are_told_before_anything_runs(
    own: psycopg.Connection, kind: str, value: str, said: str
) -> None:
    own.execute(f"ALTER TABLE chunk ALTER embedding TYPE {kind}")  # type: ignore[arg-type]
    assert len(own_tables.read("own", settings.load()).chunks) == 4
    own.execute(f"INSERT INTO chunk VALUES (5, NULL, 'One more.', {value})")  # type: ignore[arg-type]
    with pytest.raises((EmbeddingError, StoreError), match=said) as raised:
        own_tables.read("own", settings.load())
    assert 'name a view of the rows that have vectors of one width, or write embedding = ""' in str(raised.value)


def test_rows_that_say_nothing_are_counted(own: psycopg.Connection) -> None:
    before = own_tables.read("own", settings.load())
    own.execute("INSERT INTO chunk VALUES (5, NULL, '  ', NULL), (NULL, NULL, 'x', NULL)")
    own.execute("INSERT INTO chunk VALUES (1, NULL, 'Ясно: тот же номер.', NULL)")
    own.execute("INSERT INTO \"order\" VALUES (14, NULL, NULL, NULL, NULL), (15, 'ок?', NULL, NULL, 77)")
    found = own_tables.read("own", settings.load())
    assert found.left_out == {
        "chunk without an id or a text": 2,
        "chunk whose id stands there twice": 1,
        "question without an id or a text": 1,
        "score that is not 1 to 5 (the question stays)": 1,
        "question without a vector (it stays in the history)": 1,
    }
    assert found.chunks == before.chunks
    assert found.content_hash != before.content_hash, "a question more is other data"


@pytest.mark.usefixtures("own")
def test_tier_1_runs_on_the_vectors_that_are_there_and_on_new_ones_in_our_own_schema() -> None:
    found = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr,hit_rate@1", resamples=1000)
    scores = found.scores.query("metric == 'mrr@10'").set_index("sample")["value"].to_dict()
    assert scores == {"10": 1.0, "11": 1.0, "12": 0.5}
    assert found.facts["dataset"] == "db:own:ru"
    assert found.facts["stand_ins"] == []
    found = tiers.tier1_retrieval("db:own", "ngrams", unit="url", metrics="mrr", resamples=1000)
    assert len(found.scores) == 3
    assert found.facts["stand_ins"] == [{"part": "retrieval", "name": "ngrams", "systems": ["ngrams"]}]
    with pytest.raises(BenchError, match="no question of db:own:ru names a relevant chunk"):
        tiers.tier1_retrieval("db:own", "theirs", unit="chunk")


@pytest.mark.fault("sql", tried="all reading of users' tables, with the tables compared", count=1)
def test_nothing_is_ever_written(own: psycopg.Connection) -> None:
    def state() -> list[tuple]:
        return own.execute(
            "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE schemaname = 'Own Data'"
            "ORDER BY relname"
        ).fetchall()

    own.execute("SELECT pg_stat_force_next_flush()")
    before = state()
    tiers.tier1_retrieval("db:own", "theirs,ngrams", unit="url", resamples=1000)
    own.execute("SELECT pg_stat_clear_snapshot()")
    assert state() == before
    names = own.execute("SELECT relname FROM pg_class WHERE relnamespace = '\"Own Data\"'::regnamespace ORDER BY 1")
    assert [name for (name,) in names if not name.endswith("_pkey")] == ["chunk", "order", "user"]


@pytest.mark.fault("sql", tried="a transaction that would write to users' tables", count=1)
def test_a_transaction_that_would_write_is_refused_by_the_server(own: psycopg.Connection) -> None:
    with Source.open("own", settings.load()) as source:
        table = source.tables.chunks
        with pytest.raises(StoreError, match="read-only"), source._reading(table, [table.id]) as cursor:
            cursor.execute('DELETE FROM "Own Data".chunk')
    assert own.execute("SELECT count(*) FROM chunk").fetchone() == (4,)


@pytest.mark.fault("sql", tried="names of tables and columns", count=4)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('table = "order"', 'table = "orders"', r"has no table 'orders'; it has chunk, order, user"),
        ('table = "order"', "table = 'user'", "the table user has no column 'question'; it has id, name"),
        ('url_variable = "OWN_URL"', 'url_variable = "NO_SUCH_URL"', "the variable NO_SUCH_URL is not set"),
        ("[databases.own.chunks]\n", "[databases.own.chunks]\ntext = 'body'\n", "no column 'body'"),
    ],
)
@pytest.mark.usefixtures("own")
def test_a_name_that_is_not_there_is_refused_with_those_there_are(
    project: Path, before: str, after: str, expected: str
) -> None:
    change(project, before, after)
    with pytest.raises(StoreError, match=expected):
        own_tables.read("own", settings.load())


HOSTILE = ['chunk"; DROP TABLE "Own Data".chunk; --', "chunk; DELETE FROM chunk", "chunk UNION SELECT", "pg_class",
           "chunk'--", 'chunk"', "Own Data.chunk", "../chunk", "chunk\n--", "%s"]  # fmt: skip


@pytest.mark.fault("sql", tried="names of tables and columns", count=40)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("place", ["table", "in_schema", "id", "text"])
def test_sql_in_a_name_has_no_effect(own: psycopg.Connection, project: Path, place: str, name: str) -> None:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    change(
        project, '[databases.own.chunks]\nin_schema = "Own Data"\n', f'[databases.own.chunks]\n{place} = "{quoted}"\n'
    )
    with pytest.raises(StoreError):
        own_tables.read("own", settings.load())
    assert own.execute("SELECT count(*) FROM chunk").fetchone() == (4,)


@pytest.mark.fault("vectors", tried="rows without a vector in users' tables", count=1)
def test_rows_without_a_vector_are_refused_or_left_out_as_asked(own: psycopg.Connection, project: Path) -> None:
    own.execute("INSERT INTO chunk VALUES (6, 'https://x.example/d', 'Ещё не вложен.', NULL)")
    with pytest.raises(EmbeddingError, match="1 of 5 rows of chunk have no vector"):
        tiers.tier1_retrieval("db:own", "theirs", unit="url")
    leave_out(project)
    found = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr", resamples=1000)
    assert found.facts["n_chunks"] == 4
    assert found.facts["left_out"] == {"chunk without a vector": 1}


def test_chunks_without_a_vector_are_embedded_by_the_model_of_questions_where_that_is_asked_for(
    own: psycopg.Connection, project: Path
) -> None:
    maker = asked_by_a_model(project, 64)
    embed_tables(own, maker, [10, 12])
    text = "Пропуск в музей стоит сто рублей."
    own.execute("INSERT INTO chunk VALUES (6, 'https://x.example/d', %s, NULL)", (text,))
    change(project, 'url_variable = "OWN_URL"\n', 'url_variable = "OWN_URL"\nwithout_embedding = "embed"\n')
    model = embed.make("theirs", settings.load().embedders["theirs"])
    stored, made = model.embed([CHUNKS[0][2], text])
    assert made == pytest.approx(maker.embed([text])[0]), "no row has it"
    assert stored == pytest.approx(maker.embed([CHUNKS[0][2]])[0], abs=1e-6)
    measured = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr", resamples=1000)
    assert (measured.facts["n_chunks"], measured.facts["left_out"]) == (5, {})
    change(project, 'queries = "maker"\n', "")
    with pytest.raises(EmbeddingError, match='"embed": name the model that made the vectors'):
        embed.make("theirs", settings.load().embedders["theirs"])


@pytest.mark.fault("vectors", tried="rows without a vector in users' tables", count=1)
def test_questions_without_a_vector_are_left_out_too_and_counted_over_the_whole_table(
    own: psycopg.Connection, project: Path
) -> None:
    change(project, "[embedders.theirs]\n", "[embedders.theirs]\nbatch = 2\n")
    for number in range(20, 25):
        row = (number, f"что {number}?", "https://x.example/a")
        own.execute("INSERT INTO \"order\" VALUES (%s, %s, 'Да.', %s, 5, 7, NULL)", row)
    found = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr", resamples=1000)
    assert found.facts["n_questions"] == 3
    assert found.facts["left_out"] == {"question without a vector (it stays in the history)": 5}
    users = tiers.real_users("db:own", "theirs", resamples=1000).facts
    counts = ("n_history", "n_without_page", "n_without_vector", "n_questions")
    assert [users[name] for name in counts] == [9, 1, 5, 3]


def test_a_chunk_with_blanks_around_it_has_the_vector_of_its_row(own: psycopg.Connection, project: Path) -> None:
    own.execute("UPDATE chunk SET text = E'  Пропуск выдаёт комендант.\\n' WHERE id = 2")
    own.execute("INSERT INTO chunk VALUES (6, 'https://x.example/d', 'Ещё не вложен.', NULL)")
    leave_out(project)
    found = own_tables.read("own", settings.load())
    assert [chunk.id for chunk in found.chunks] == ["1", "2", "3", "4"]
    assert found.left_out == {"chunk without a vector": 1}


def test_questions_that_nobody_embedded_are_asked_by_vectors_of_our_own(own: psycopg.Connection, project: Path) -> None:
    own.execute('UPDATE "order" SET embedding = NULL')
    leave_out(project)
    assert len(own_tables.read("own", settings.load()).questions) == 3


@pytest.mark.fault("vectors", tried="vectors of two widths in users' tables", count=1)
def test_vectors_of_two_widths_are_refused(own: psycopg.Connection) -> None:
    own.execute("INSERT INTO chunk VALUES (6, 'u', 'Другая ширина.', '[1,2]')")
    with pytest.raises(EmbeddingError, match="its widths are 2, 3; one is expected"):
        tiers.tier1_retrieval("db:own", "theirs", unit="url")


@pytest.mark.fault("changed", tried="vectors of users' tables made anew", count=1)
def test_a_table_embedded_anew_is_another_embedder(own: psycopg.Connection) -> None:
    first = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr", resamples=1000)
    own.execute("UPDATE chunk SET embedding = '[0,1,0]' WHERE id = 1")
    own.execute("UPDATE chunk SET embedding = '[0.1,0.9,0.3]' WHERE id = 2")
    own.execute("UPDATE chunk SET embedding = '[1,0,0]' WHERE id = 3")
    second = tiers.tier1_retrieval("db:own", "theirs", unit="url", metrics="mrr", resamples=1000)
    assert second.facts["systems"] != first.facts["systems"]
    assert second.scores["value"].mean() < first.scores["value"].mean()


@pytest.mark.fault("bombs", tried="large tables of users, with the memory measured", count=1)
@pytest.mark.slow
def test_large_tables_are_read_in_bounded_time_and_memory(own: psycopg.Connection) -> None:
    rng = np.random.default_rng(0)
    own.execute("TRUNCATE chunk")
    with own.cursor() as cursor, cursor.copy(sql.SQL("COPY chunk FROM STDIN")) as copy:
        for number in range(20_000):
            vector = "[" + ",".join(f"{x:.4f}" for x in rng.standard_normal(256)) + "]"
            copy.write_row((number, f"https://x.example/{number // 10}", f"Текст номер {number}.", vector))
    with Source.open("own", settings.load()) as source:
        texts, vectors = source.vectors(source.tables.chunks, "text")
    assert vectors.shape == (20_000, 256)
    assert len(texts) == 20_000
    assert vectors.dtype == np.float32


@pytest.mark.fault("secrets", tried="passwords of database addresses in what commands say", count=1)
def test_the_url_of_an_own_database_is_never_shown(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    add(project, '[databases.far]\nurl_variable = "FAR_URL"\n')
    monkeypatch.setenv("FAR_URL", "postgresql://someone:canary-word@127.0.0.1:9/none")
    with pytest.raises(StoreError) as caught:
        own_tables.read("far", settings.load())
    assert "canary-word" not in str(caught.value)
    monkeypatch.setenv("FAR_URL", "mysql://someone:canary-word@127.0.0.1:9/none")
    with pytest.raises(StoreError, match="FAR_URL begins with 'mysql'") as caught:
        own_tables.read("far", settings.load())
    assert "canary-word" not in str(caught.value)
    assert os.environ["FAR_URL"]


@pytest.mark.usefixtures("own")
def test_real_users_and_sources_run_on_the_tables_too() -> None:
    users = tiers.real_users("db:own", "theirs", resamples=1000)
    mrr = {e.metric: e.estimate for e in users.estimates}["mrr@10"]
    assert (mrr.value, mrr.n) == (pytest.approx(2.5 / 3), 3)
    used = tiers.sources("db:own", "theirs", k=1, n_topics=2)
    shares = {e.metric: e.estimate.value for e in used.estimates}
    assert shares["total_chunks"] == 4
    assert shares["used_chunks"] == len({"1", "3"})
    assert shares["utilization_rate"] == 0.5


def test_tier_ux_goes_on_where_some_rows_have_no_vector(own: psycopg.Connection) -> None:
    """Two liked questions are the cache; one of them has no vector, nor has one of the others that were asked."""
    own.execute('UPDATE "order" SET embedding = NULL WHERE id IN (10, 13)')
    made = tiers.tier_ux("db:own", "theirs", resamples=1000)
    rate = next(e.estimate for e in made.estimates if e.metric == "cache_hit_rate")
    assert (rate.n, rate.n_unmeasured) == (2, 2)
    [system] = made.facts["systems"]
    assert system["cached_without_vector"] == 1
    nearest = made.extra["nearest"].set_index("sample")["cached"]
    assert nearest["12"] == "11"
    assert pd.isna(nearest["11"]), "nothing is its own neighbour"
    assert set(made.extra["similarities"]["what"]) <= {"question"}, "no answer is in the tables"


def asked_by_a_model(project: Path, buckets: int) -> Embedder:
    """The vectors of all questions are made by `maker` from now on, unless the log has one."""
    settings_of = f'[embedders.maker]\nkind = "hashing"\ntfidf = false\ndimensions = 0\nbuckets = {buckets}\n'
    change(project, 'database = "own"\n', 'database = "own"\nqueries = "maker"\n')
    add(project, settings_of)
    return embed.make("maker", settings.load().embedders["maker"])


def embed_tables(own: psycopg.Connection, maker: Embedder, asked: list[int]) -> None:
    """All chunks, and of the log these questions."""
    for number, _, text, _ in CHUNKS:
        vector = maker.embed([text])[0].tolist()
        own.execute("UPDATE chunk SET embedding = %s::float4[]::public.vector WHERE id = %s", (vector, number))
    for number, text, *_ in ASKED:
        vector = maker.embed([text], kind="query")[0].tolist() if number in asked else None
        own.execute('UPDATE "order" SET embedding = %s::float4[]::public.vector WHERE id = %s', (vector, number))


def test_the_cache_has_the_vectors_of_the_log_and_the_model_embeds_the_rest(
    own: psycopg.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = asked_by_a_model(project, 64)
    embed_tables(own, maker, [10, 12])
    made = tiers.tier_ux("db:own", "theirs", resamples=1000)
    log = made.facts["logs"]["theirs"]
    assert (log["cached"], log["asking"], log["checked"]) == (1, "maker", 1), "of the two liked ones 11 has none"
    assert log["cosine"] == pytest.approx(1.0)
    html = views.about.method(views.Page(made)).html()
    assert "theirs: 1 of 2 cached questions have the vectors that stand in the log; maker embeds what" in html
    assert "another model" not in html
    own.execute('UPDATE "order" SET embedding = (SELECT embedding FROM "order" WHERE id = 12) WHERE id = 10')
    made = tiers.tier_ux("db:own", "theirs", resamples=1000)
    rows = made.extra["nearest"].set_index("sample")
    assert (rows.loc["12", "cached"], rows.loc["12", "similarity"]) == ("10", pytest.approx(1.0)), "the log's vector"
    assert made.facts["logs"]["theirs"]["cosine"] < 0.9
    assert "another model made the log" in views.about.method(views.Page(made)).html()


@pytest.mark.parametrize("asking", [True, False])
def test_answers_have_no_stored_vectors_and_are_embedded_by_the_model_that_embeds_questions(
    own: psycopg.Connection, project: Path, *, asking: bool
) -> None:
    """Two questions of one user on one day: without that model nothing can embed an answer."""
    own.execute('ALTER TABLE "order" ADD COLUMN at timestamptz')
    own.execute("UPDATE \"order\" SET at = '2026-03-01 09:00+00'::timestamptz + id * interval '1 minute'")
    change(project, 'table = "order"\n', 'table = "order"\nasked_at = "at"\n')
    if asking:
        maker = asked_by_a_model(project, 64)
        embed_tables(own, maker, [10, 12])
    made = tiers.tier_ux("db:own", "theirs", sessions="history", resamples=1000)
    [score] = made.scores[made.scores["metric"] == "answer_consistency"].to_dict("records")
    estimate = next(e.estimate for e in made.estimates if e.metric == "answer_consistency")
    if asking:
        first, second = (maker.embed([answer])[0] for answer in ("До полуночи.", "У коменданта."))
        near = float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))
        assert (score["value"], score["status"]) == (pytest.approx(near), "ok")
        assert (estimate.n, estimate.n_unmeasured) == (1, 0)
        assert set(made.extra["similarities"]["what"]) == {"question", "answer"}
    else:
        assert (estimate.n, estimate.n_unmeasured) == (0, 1)
        assert "has no vector in the database own" in str(read(score["reason"]))


def test_a_log_of_another_width_is_refused_by_name(own: psycopg.Connection, project: Path) -> None:
    maker = asked_by_a_model(project, 64)
    embed_tables(own, maker, [])
    own.execute("UPDATE \"order\" SET embedding = '[1, 2, 3]' WHERE id = 10")
    said = r"order.embedding have 3 dimensions, those of embedders.theirs.queries = 'maker' have 64.*embedders=maker"
    with pytest.raises(EmbeddingError, match=said):
        tiers.tier_ux("db:own", "theirs", resamples=1000)
    assert "logs" not in tiers.tier_ux("db:own", embedders="maker", resamples=1000).facts
    own.execute('UPDATE "order" SET embedding = NULL')
    assert "logs" not in tiers.tier_ux("db:own", "theirs", resamples=1000).facts, "nothing of the log to take"


@pytest.mark.parametrize(
    ("kind", "value"), [("bit(3)", "B'101'::bit(3)"), ("jsonb", "'[0.1, 0.2, 0.3]'::jsonb")], ids=["bit", "jsonb"]
)
def test_columns_that_no_vector_is_read_from_are_refused_before_anything_is_copied(
    own: psycopg.Connection, project: Path, monkeypatch: pytest.MonkeyPatch, kind: str, value: str
) -> None:
    monkeypatch.chdir(project)
    own.execute("ALTER TABLE chunk DROP COLUMN embedding")
    own.execute(f"ALTER TABLE chunk ADD COLUMN embedding {kind}")  # type: ignore[arg-type]
    own.execute(f"UPDATE chunk SET embedding = {value}")  # type: ignore[arg-type]
    done = ragbench("load", "database", "own", "--dry-run")
    said = one_line(done.stdout + done.stderr)
    assert done.returncode != 0
    assert f"chunk.embedding is of the type {kind}, which holds no vectors that can be compared here" in said
    assert 'name it, or write embedding = "" and have the texts embedded anew' in said


def test_questions_come_from_a_file_where_the_database_has_no_table_of_them(
    own: psycopg.Connection, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    change(project, '[databases.own.questions]\nin_schema = "Own Data"\ntable = "order"\n', "")
    done = ragbench("load", "database", "own", "--dry-run")
    assert "no table of questions: they come from a file" in one_line(done.stdout), done.stderr
    next_command = "Next: ragbench load questions FILE --name NAME --chunks-from db:own"
    assert next_command in one_line(done.stdout)
    asked = ("Когда приходит стипендия?,3,Двадцатого.", "Где взять пропуск?,2,У коменданта.")
    rows = "\n".join(["question,relevant_chunk_ids,answer", *asked])
    (project / "asked.csv").write_text(rows, encoding="utf-8")
    done = ragbench("load", "questions", "asked.csv", "--name", "asked", "--chunks-from", "db:own")
    assert done.returncode == 0, done.stderr
    add(project, '[systems.words]\nretriever = "bm25"\n')
    made = tiers.tier1_retrieval("asked", systems="words", metrics="hit_rate@1", k=4, resamples=100)
    assert made.facts["n_questions"] == 2
    assert set(made.retrieved["chunk"]) <= {"1", "2", "3", "4"}
    assert made.scores.set_index("sample")["value"].sum() == 2, "both say words of their passage"
