"""A search in somebody's own table by the index that stands there: nothing is copied, built or written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psycopg
import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.settings import ConfigurationError
from ragbench.old.store import Source, Store, StoreError, database, recall_against_exact
from ragbench.old.store.foreign import found_apart
from ragbench.old.store.search import Index, Neighbours
from ragbench.old.systems import make
from ragbench.old.tiers.basics.session import dataset_of
from tests.old.store.parted import Cuts
from tests.old.tiers.test_own_tables import change, own

__all__ = ["own"]

WIDTH, ROWS = 12, 600
RNG = np.random.default_rng(3)
VECTORS = RNG.standard_normal((ROWS, WIDTH)).astype(np.float32)
ASKED = RNG.standard_normal((20, WIDTH)).astype(np.float32)


def written(vector: np.ndarray) -> str:
    return "[" + ",".join(map(str, vector.tolist())) + "]"


@pytest.fixture
def filled(own: psycopg.Connection, project: Path) -> psycopg.Connection:
    """A table with vectors enough for a graph, and a log that asks for some of them."""
    own.execute(
        "DROP TABLE chunk; "
        f"CREATE TABLE chunk (id int, confluence_url text, text text, embedding public.vector({WIDTH}))"
    )
    own.execute('TRUNCATE "order"')
    for number, vector in enumerate(VECTORS):
        row = (number, f"https://x.example/{number}", f"Текст {number}.", written(vector))
        own.execute("INSERT INTO chunk VALUES (%s, %s, %s, %s::public.vector)", row)
    for number, vector in enumerate(ASKED):
        near = int((VECTORS @ vector / np.linalg.norm(VECTORS, axis=1)).argmax())
        row = (number, f"вопрос {number}?", "Ответ.", f"https://x.example/{near}", 5, 1, written(vector))
        own.execute('INSERT INTO "order" VALUES (%s, %s, %s, %s, %s, %s, %s::public.vector)', row)
    change(project, '[systems.theirs]\nembedder = "theirs"\n', '[systems.theirs]\nembedder = "theirs"\nindex = "own"\n')
    return own


COPIES = (
    "SELECT count(*), sum(pg_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relname LIKE 'collection\\_%'"
)


def index(connection: psycopg.Connection, made: str) -> None:
    """made: what comes after CREATE INDEX."""
    connection.execute(f"CREATE INDEX {made}")


def truth(k: int) -> Neighbours:
    """By hand: the nearest rows of every question."""
    cosines = (ASKED @ VECTORS.T) / np.outer(np.linalg.norm(ASKED, axis=1), np.linalg.norm(VECTORS, axis=1))
    best = np.argsort(-cosines, axis=1)[:, :k]
    return Neighbours(
        [list(map(str, row)) for row in best.tolist()], list(np.take_along_axis(cosines, best, 1)), np.zeros(len(ASKED))
    )


@pytest.mark.parametrize(
    ("made", "built", "cast"),
    [
        ("near ON chunk USING hnsw (embedding public.vector_cosine_ops)", Index("hnsw", 16, 64), "vector"),
        ("near ON chunk USING hnsw (embedding public.vector_cosine_ops) WITH (m = 8, ef_construction = 32)",
         Index("hnsw", 8, 32), "vector"),
        (f"near ON chunk USING hnsw ((embedding::public.halfvec({WIDTH})) public.halfvec_cosine_ops)",
         Index("hnsw", 16, 64), "halfvec"),
        ("near ON chunk USING ivfflat (embedding public.vector_cosine_ops) WITH (lists = 4)",
         Index("ivfflat", lists=4), "vector"),
    ],
)  # fmt: skip
def test_the_nearest_rows_are_found_by_the_index_that_is_there(
    filled: psycopg.Connection, made: str, built: Index, cast: str
) -> None:
    index(filled, made)
    with Source.open("own", settings.load()) as source:
        found = source.own_index()
        assert (found.name, found.built, found.cast) == ("near", built, cast)
        effort = 200 if built.kind == "hnsw" else 4
        for connections in (1, 2):
            ids, alike, ms = source.nearest(ASKED, 5, found, effort, connections=connections)
            assert recall_against_exact(Neighbours(ids, alike, ms), truth(5)) > 0.97
            assert (ms > 0).all()
        exact, alike, _ = source.nearest(ASKED, 5, None)
        assert exact == truth(5).ids
        np.testing.assert_allclose(alike, np.array(truth(5).similarities), atol=1e-6)


def test_less_effort_finds_less_and_leaves_no_trace_in_the_session(filled: psycopg.Connection) -> None:
    index(filled, "near ON chunk USING ivfflat (embedding public.vector_cosine_ops) WITH (lists = 20)")
    with Source.open("own", settings.load()) as source:
        found = source.own_index()
        few, all_of_them = (
            recall_against_exact(Neighbours(*source.nearest(ASKED, 5, found, probes)), truth(5)) for probes in (1, 20)
        )
        assert few < 0.9 < all_of_them == 1
        with source.engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW enable_seqscan").scalar() == "on"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("", "the table chunk has no HNSW or IVFFlat index of cosine similarity on embedding: create one"),
        ("near ON chunk USING hnsw (embedding public.vector_l2_ops)", r"it has near \(vector_l2_ops\)"),
        ("near ON chunk USING hnsw (embedding public.vector_cosine_ops) WHERE id < 9",
         r"near \(of a part of the rows\)"),
    ],
)  # fmt: skip
def test_an_index_of_something_else_is_refused_by_name(filled: psycopg.Connection, made: str, said: str) -> None:
    if made:
        index(filled, made)
    with Source.open("own", settings.load()) as source, pytest.raises(StoreError, match=said):
        source.own_index()


def test_a_tier_searches_in_place_says_so_and_makes_no_table(filled: psycopg.Connection) -> None:
    index(filled, "near ON chunk USING hnsw (embedding public.vector_cosine_ops) WITH (m = 8, ef_construction = 32)")
    before = filled.execute(COPIES).fetchone()
    found = tiers.tier1_retrieval(
        dataset="db:own", systems="theirs", baseline="theirs", unit="url", k=3, repeats=1, resamples=200,
        ef_searches=(5, 100),
    )  # fmt: skip
    assert before == filled.execute(COPIES).fetchone()
    system = {one["name"]: one for one in found.facts["systems"]}["theirs"]
    assert {key: system[key] for key in ("index", "own_index", "m", "ef_construction", "ef_search")} == {
        "index": "own", "own_index": "near", "m": 8, "ef_construction": 32, "ef_search": 40,
    }  # fmt: skip
    at = {one.where["ef_search"]: one for one in found.placed if getattr(one, "metric", "") == "recall_against_exact"}
    assert {(one.where["index"], one.where["m"]) for one in at.values()} == {("own", 8)}
    assert at[5].estimate.value <= at[100].estimate.value == pytest.approx(1, abs=0.02)
    assert found.estimates[0].estimate.value > 0.9, "what the log names is the nearest row"
    drawn = str(views.retrieval.speed(views.Page(found)).html())
    assert "your own index near, asked in place; m = 8, ef_construction = 32" in drawn
    assert "HNSW, ef_search = 5" in drawn


def test_rows_that_are_no_passages_are_left_out_of_what_is_found(filled: psycopg.Connection) -> None:
    index(filled, "near ON chunk USING hnsw (embedding public.vector_cosine_ops)")
    filled.execute("INSERT INTO chunk SELECT 9999, '', '', embedding FROM chunk WHERE id = 7")
    data = dataset_of("db:own", settings.load())
    assert len(data.chunks) == ROWS
    assert data.left_out == {"chunk without an id or a text": 1}
    with Store.open(settings.load()) as store:
        asked = make("theirs", settings.load(), store, data).retrieve(data.questions, ROWS + 1)
    near = dict(zip((q.id for q in data.questions), asked.hits, strict=True))
    assert all("9999" not in [hit.chunk.id for hit in hits] for hits in near.values())
    assert [hit.chunk.id for hit in near["0"][:3]] == truth(3).ids[0]


def test_parts_of_the_questions_find_in_place_what_one_process_finds(
    filled: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(filled, "near ON chunk USING hnsw (embedding public.vector_cosine_ops) WITH (m = 4, ef_construction = 8)")
    known = settings.load()
    data, others = dataset_of("db:own", known), Cuts(known, (1, 7))

    def hits(store: Store) -> list[list[tuple[str, float | None]]]:
        found = make("theirs", known, store, data).retrieve(data.questions, 5)
        return [[(hit.chunk.id, hit.similarity) for hit in row] for row in found.hits]

    with Store.open(known) as store, Store.open(known, others) as parted:
        whole = hits(store)
        monkeypatch.setattr(database, "APART", 1)
        assert hits(parted) == whole
        assert others.parts == 3
        theirs = make("theirs", known, parted, data)
        assert all(theirs.timed(question, 5)["search"] > 0 for question in data.questions[:2])
        assert others.parts == 3, "what is timed is not parted"


def test_another_index_than_was_asked_for_is_not_searched(filled: psycopg.Connection) -> None:
    index(filled, "near ON chunk USING hnsw (embedding public.vector_cosine_ops)")
    known = settings.load()
    with Source.open("own", known) as source:
        asked = source.own_index()
    assert len(found_apart("own", 5, asked, 40, known, ASKED, None)[0]) == len(ASKED)
    filled.execute("REINDEX INDEX near")
    with pytest.raises(StoreError, match=r"near \(building \d+\) is asked for, and here is near .*: give OWN_URL"):
        found_apart("own", 5, asked, 40, known, ASKED, None)


def test_it_is_for_tables_alone(project: Path) -> None:
    path = project / "ragbench.toml"
    path.write_text(
        path.read_text(encoding="utf-8") + '[systems.copied]\nembedder = "hashing"\nindex = "own"\n', encoding="utf-8"
    )
    settings.load.cache_clear()
    with pytest.raises(ConfigurationError, match=r'systems\.copied: index = "own" is the index of your own table'):
        settings.load()
