"""Systems under test: configured parts, your own callable, logged results."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.settings import EmbedderSettings, Settings, SystemSettings
from ragbench.old.core.types import Chunk, Question
from ragbench.old.data import Dataset
from ragbench.old.store import Store
from ragbench.old.systems import Retrieval, RetrievalError, System, make, steps

CHUNKS = (
    Chunk("c1", "Пароль от личного кабинета восстанавливают в деканате", url="https://u/password"),
    Chunk("c2", "Общежитие заселяют в последнюю неделю августа", url="https://u/dorm"),
    Chunk("c3", "Стипендию назначают по итогам сессии", url="https://u/grant"),
    Chunk("c4", "Библиотека открыта по будням с девяти до шести", url="https://u/library"),
)
QUESTIONS = (
    Question("q1", "как восстановить пароль", relevant={"c1": 1.0}),
    Question("q2", "когда заселение в общежитие", relevant={"c2": 1.0}),
    Question("q3", "до скольки работает библиотека", relevant={"c4": 1.0}),
)


def first(question: str, k: int) -> list[str]:
    """A system of somebody's own."""
    return ["c1"]


def dataset_of(chunks: Sequence[Chunk], questions: Sequence[Question], name: str = "systems") -> Dataset:
    return Dataset(
        name=name, language="ru", title="", licence="", chunks=tuple(chunks), questions=tuple(questions), dialogues=(),
        decisions=(), history=(), ratings=(), content_hash=f"hash of {name}",
    )  # fmt: skip


DATASET = dataset_of(CHUNKS, QUESTIONS)


def one(store: Store, dataset: Dataset = DATASET, embedders: Mapping[str, Any] | None = None, **system: Any) -> System:
    settings = Settings(
        embedders={"hashing": EmbedderSettings(), **(embedders or {})}, systems={"mine": SystemSettings(**system)}
    )
    return make("mine", settings, store, dataset)


def ids(found: Any) -> list[list[str]]:
    return [[hit.chunk.id for hit in hits] for hits in found.hits]


# --- configured


@pytest.mark.parametrize("index", ["exact", "hnsw"])
def test_configured_parts_find_what_belongs_together(store: Store, index: str) -> None:
    system = one(store, embedder="hashing", index=index)
    done: list[int] = []
    found = system.retrieve(QUESTIONS, 3, progress=done.append)
    assert [row[0] for row in ids(found)] == ["c1", "c2", "c4"]
    assert {len(row) for row in found.hits} == {3}
    assert found.hits[0][0].chunk == CHUNKS[0], "hits are the data set's chunks, whole"
    for hits in found.hits:
        similarities = [hit.similarity for hit in hits]
        assert similarities == sorted(similarities, reverse=True)
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS)) == len(CHUNKS) + 2 * len(QUESTIONS)
    assert found.embed_ms is not None
    assert found.search_ms is not None
    assert found.embed_ms.shape == found.search_ms.shape == (3,)
    assert found.is_stand_in
    assert system.is_stand_in
    assert found.facts["index"] == index
    assert found.facts["embedder_identity"].startswith("hashing 1 ")
    assert found.facts.get("recall_against_exact") == (1.0 if index == "hnsw" else None)
    json.dumps([system.description, found.facts], allow_nan=False)


def test_a_second_run_embeds_nothing_and_k_beyond_the_base_gives_all(store: Store, monkeypatch: Any) -> None:
    first = one(store, embedder="hashing").retrieve(QUESTIONS, 2)
    again = one(store, embedder="hashing")
    monkeypatch.setattr(again.retriever.embedder, "embed", None)  # type: ignore[attr-defined]
    found = again.retrieve(QUESTIONS, 2)
    assert found.hits == first.hits
    assert {len(row) for row in ids(again.retrieve(QUESTIONS, 99))} == {4}


@pytest.mark.slow
def test_real_questions_are_found_better_than_by_chance(store: Store, shared_data: Any) -> None:
    """XQuAD in Russian, 240 paragraphs: chance finds 1 of 240 first, hashed n-grams more than 4 of 5."""
    articles = json.loads(gzip.decompress(shared_data("xquad/xquad.ru.json.gz").read_bytes()))["data"]
    paragraphs = [
        (f"{a}.{p}", paragraph)
        for a, article in enumerate(articles)
        for p, paragraph in enumerate(article["paragraphs"])
    ]
    chunks = [Chunk(name, paragraph["context"]) for name, paragraph in paragraphs]
    questions = [Question(q["id"], q["question"], relevant={name: 1}) for name, p in paragraphs for q in p["qas"]]
    dataset = dataset_of(chunks, questions, "xquad")
    plain = {"plain": EmbedderSettings(tfidf=False, dimensions=0, buckets=4096)}
    shares = []
    for embedder in ("plain", "hashing"):
        found = one(store, dataset, plain, embedder=embedder).retrieve(questions, 5)
        shares.append(np.mean([hits[0].chunk.id in q.relevant for hits, q in zip(found.hits, questions, strict=True)]))
    assert shares[0] > 0.5
    assert shares[1] > 0.8
    assert shares[1] > shares[0], "weights and axes help"


# --- your own callable


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a module beside ragbench.toml; gives the name under which its functions are found."""
    (tmp_path / "ragbench.toml").write_text("")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str) -> str:
        name = f"my_retriever_{abs(hash((tmp_path, text)))}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return write


@pytest.mark.parametrize(
    "returned",
    [
        '["c2", "c1"]',
        '("c2", "c1")',
        '(name for name in ["c2", "c1"])',
        '[("c2", 0.9), ["c1", 0.1]]',
        '[{"id": "c2", "score": 0.9}, {"id": "c1"}]',
        '[{"text": "Общежитие заселяют в последнюю неделю августа"}, {"id": "c1", "text": "an old wording"}]',
        '["Общежитие заселяют в последнюю неделю августа", "c1"]',
        '["c2", "c2", "c1", "c2"]',
        '{"c1": 0.1, "c2": 0.9}',
        '["c2", "c1", "c3", "c4"]',
    ],
)
def test_every_way_to_return_chunks_is_read(store: Store, module: Any, returned: str) -> None:
    name = module(f"def find(question, k):\n    assert k == 2 and question\n    return {returned}\n")
    found = one(store, callable=f"{name}:find").retrieve(QUESTIONS, 2)
    assert ids(found) == [["c2", "c1"]] * 3
    assert found.hits[0][0].chunk == CHUNKS[1], "a known chunk comes with its own text and URL"
    assert found.search_ms is not None
    assert found.search_ms.shape == (3,)
    assert found.embed_ms is None
    assert not found.is_stand_in
    assert found.errors == {}


def test_scores_become_similarities_and_counts_are_kept(store: Store, module: Any) -> None:
    name = module("def find(q, k):\n    return [('c1', 0.5), ('c1', 0.4), ('ghost', 0.3), ('c2', 1), ('c3', 0)]\n")
    found = one(store, callable=f"{name}:find").retrieve(QUESTIONS[:2], 3)
    assert [(hit.chunk.id, hit.similarity) for hit in found.hits[0]] == [("c1", 0.5), ("ghost", 0.3), ("c2", 1.0)]
    assert found.facts["duplicates_dropped"] == 2
    assert found.facts["dropped_beyond_k"] == 2
    assert found.facts["unknown_ids"] == 2
    assert found.facts["unknown_ids_first"] == ["ghost"]
    json.dumps(found.facts, allow_nan=False)


def test_methods_and_coroutines_are_called_too(store: Store, module: Any) -> None:
    name = module("class Finder:\n    async def find(self, question, k):\n        return ['c3']\nfinder = Finder()\n")
    made = one(store, callable=f"{name}:finder.find")
    assert ids(made.retrieve(QUESTIONS, 2)) == [["c3"]] * 3

    async def cell() -> Retrieval:
        return made.retrieve(QUESTIONS, 2)

    assert ids(asyncio.run(cell())) == [["c3"]] * 3, "a notebook's cell runs inside a loop"


def test_of_errors_that_were_raised_together_the_first_is_named(store: Store, module: Any) -> None:
    inner = "ExceptionGroup('shards', [RuntimeError('shard 3 is down'), KeyError('x')])"
    name = module(f"def find(question, k):\n    raise ExceptionGroup('unhandled errors in a TaskGroup', [{inner}])\n")
    with pytest.raises(RetrievalError, match=r"failed for all 3 questions: RuntimeError: shard 3 is down$"):
        one(store, callable=f"{name}:find").retrieve(QUESTIONS, 2)


@pytest.mark.fault("flattering", tried="a system that fails on questions", count=12)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('index')", "KeyError: 'index'"),
        ("return None", "a list is expected"),
        ("return 'c1'", "a list is expected"),
        ("return {'c1': 'high'}", "a score is a number"),
        ("return {'answer': 'Да.', 'grounds': ['c2']}", "it returned grounds beside answer; retrieved is expected"),
        ("return 3", "a list is expected"),
        ("return [1.5]", "an item must be"),
        ("return [None]", "an item must be"),
        ("return [{'url': 'x'}]", "an item must be"),
        ("return [{'id': ['c1']}]", "an id is text or a whole number"),
        ("return [('c1', 'high')]", "a score is a number"),
        ("return [('c1', float('nan'))]", "a score is a number"),
        ("return [{'id': 'c1', 'score': True}]", "a score is a number"),
    ],
)
def test_a_question_that_fails_is_kept_as_an_error(store: Store, module: Any, body: str, said: str) -> None:
    name = module(f"def find(question, k):\n    if 'пароль' in question:\n        {body}\n    return ['c2']\n")
    found = one(store, callable=f"{name}:find").retrieve(QUESTIONS, 2)
    assert ids(found) == [[], ["c2"], ["c2"]]
    assert list(found.errors) == ["q1"]
    assert said in found.errors["q1"]
    assert (found.facts["errors"], found.facts["errors_of"]) == (1, 3)
    assert said in found.facts["errors_first"][0]
    assert found.search_ms is not None
    assert np.isnan(found.search_ms).tolist() == [True, False, False]


@pytest.mark.fault("flattering", tried="a system that fails on questions", count=1)
def test_a_callable_that_always_fails_was_not_measured(store: Store, module: Any) -> None:
    name = module("def find(question, k):\n    raise ConnectionError('no route')\n")
    with pytest.raises(RetrievalError, match="failed for all 3 questions: ConnectionError: no route"):
        one(store, callable=f"{name}:find").retrieve(QUESTIONS, 2)


@pytest.mark.parametrize(
    ("text", "function", "said"),
    [
        ("limit = 3\ndef search(question, k):\n    return []\n", "find", "there is no find; there are search"),
        ("limit = 3\ndef search(question, k):\n    return []\n", "limit", "that is a whole number, not a function"),
        (
            "import nothing_like_this\n",
            "find",
            "cannot be imported: No module named 'nothing_like_this'; put it beside",
        ),
        (None, "find", r"systems\.mine\.callable = 'no_such:find': no_such cannot be imported"),
    ],
)
def test_a_callable_that_is_not_there_is_named(
    store: Store, module: Any, text: str | None, function: str, said: str
) -> None:
    with pytest.raises(RetrievalError, match=said):
        one(store, callable=f"{'no_such' if text is None else module(text)}:{function}")


# --- logged results

LISTS = {"q1": ["c1", "c3"], "q2": ["c2", "c1"], "q3": ["c4", "c2"]}
FILES = {
    "lines.jsonl": "".join(json.dumps({"id": q, "retrieved": row}) + "\n" for q, row in LISTS.items()),
    "pairs.jsonl": "".join(
        json.dumps({"id": q, "retrieved": [[row[0], 2], {"id": row[1], "score": 1}]}) + "\n" for q, row in LISTS.items()
    ),
    "lists.json": json.dumps(LISTS),
    "records.json": json.dumps([{"id": q, "retrieved": row} for q, row in LISTS.items()]),
    "scores.json": json.dumps({q: {row[1]: 0.5, row[0]: 7} for q, row in LISTS.items()}),
    "system.run": "".join(f"{q} Q0 {row[1]} 1 0.5 t\n{q} Q0 {row[0]} 2 7 t\n" for q, row in LISTS.items()),
}


@pytest.mark.parametrize("kind", ["configured", "callable", "logged"])
def test_the_progress_of_repeated_retrieval_goes_by_single_questions_to_its_end(
    store: Store, tmp_path: Path, kind: str
) -> None:
    """The time left of a bar is the pace of these steps: none may stand still and then leap."""
    from ragbench.old.tiers.retrieval.timing import repeated

    path = tmp_path / "lines.jsonl"
    path.write_text(FILES["lines.jsonl"], encoding="utf-8")
    parts: dict[str, dict[str, Any]] = {
        "configured": {"embedder": "hashing"}, "callable": {"callable": "tests.old.systems.test_systems:first"},
        "logged": {"results": path},
    }  # fmt: skip
    system: Any = one(store, **parts[kind])
    retriever = getattr(system, "retriever", system)
    retriever.batch = 1
    if kind == "configured":
        retriever.asking.together = 1
    done: list[int] = []
    once = system.retrieve(QUESTIONS, 3, progress=done.append)
    began = len(done)
    runs = repeated(system, once, QUESTIONS, 3, 3, done.append)
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS), 3)
    assert len(runs) == (1 if kind == "logged" else 3)
    if kind != "logged":
        assert sum(done[began:]) == 2 * 2 * len(QUESTIONS)
        assert len(done) - began >= 2 * len(QUESTIONS), "a step a question at least"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_every_format_of_logged_results_is_read(store: Store, tmp_path: Path, name: str, packed: bool) -> None:
    raw = FILES[name].encode()
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    system = one(store, results=path)
    done: list[int] = []
    found = system.retrieve(QUESTIONS, 5, progress=done.append)
    assert ids(found) == list(LISTS.values())
    assert sum(done) == steps(len(CHUNKS), len(QUESTIONS))
    assert found.facts == {"kind": "logged", "results": path.name}
    assert found.embed_ms is None
    assert found.search_ms is None


def test_ties_keep_the_files_order_copies_count_once_and_unknown_names_are_counted(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "ties.run"
    path.write_text("q1 Q0 c3 1 1 t\nq1 Q0 c2 2 1 t\nq1 Q0 c3 3 0.5 t\nq1 Q0 c1 4 2 t\n")
    found = one(store, results=path).retrieve(QUESTIONS[:1], 5)
    assert ids(found) == [["c1", "c3", "c2"]]
    assert [hit.similarity for hit in found.hits[0]] == [2, 1, 1]
    assert found.facts["duplicates_dropped"] == 1
    path = tmp_path / "part.json"
    path.write_text(json.dumps({"q1": ["c1", "ghost"], "q2": [], "q8": ["c1"], "q9": ["c1"]}))
    found = one(store, results=path).retrieve(QUESTIONS, 5)
    assert ids(found) == [["c1", "ghost"], [], []]
    assert found.errors == {"q3": "not in part.json"}, "an empty list is an answer, a missing one is none"
    counted = {
        "missing_questions": 1, "missing_questions_first": ["q3"], "unknown_questions": 2,
        "unknown_questions_first": ["q8", "q9"], "unknown_ids_first": ["ghost"],
    }  # fmt: skip
    assert {name: found.facts[name] for name in counted} == counted


def test_a_relative_path_begins_at_the_settings_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ragbench.toml").write_text("")
    (tmp_path / "lists.json").write_text(FILES["lists.json"])
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    assert ids(one(store, results=Path("lists.json")).retrieve(QUESTIONS, 1)) == [["c1"], ["c2"], ["c4"]]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"id": "q1"}\n', 'a.jsonl, line 1: expected {"id": question id, "retrieved"'),
        ("a.jsonl", '{"id": "q1", "retrieved": []}\n' * 2, "line 2: question q1 stands twice"),
        ("a.jsonl", "[1]\n", "a list where an object is expected"),
        ("a.jsonl", "{", "line 1: not JSON"),
        ("a.json", "3", "a.json: a list of"),
        ("a.json", '{"q1": {"c1": NaN}}', "NaN is not a JSON number"),
        ("a.json", '{"q1": ["c1"], "q1": []}', "the key 'q1' stands twice"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.run", "q1 c1\n", "2 columns instead of 6"),
        ("a.run", "q1 Q0 c1 1 high t\n", "'high' is not a score"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_their_line(
    store: Store, tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(RetrievalError, match=re.escape(said)):
        one(store, results=tmp_path / name)


def test_lists_that_cannot_be_read_are_named_with_their_question(store: Store, tmp_path: Path) -> None:
    for wrong, said in (("[null]", "an item must be"), ('{"c1": "high"}', "a score is a number"), ("1", "a list is")):
        (tmp_path / "a.json").write_text('{"q1": ["c1"], "q2": %s}' % wrong)  # noqa: UP031
        with pytest.raises(RetrievalError, match=rf"a\.json, question q2: {said}"):
            one(store, results=tmp_path / "a.json").retrieve(QUESTIONS, 2)


@pytest.mark.fault("flattering", tried="a run whose names fit no question", count=1)
def test_a_file_about_other_questions_measures_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"other": ["c1"]}')
    with pytest.raises(RetrievalError, match=r"none of the 3 questions is in a\.json; it has 1, such as 'other'"):
        one(store, results=tmp_path / "a.json").retrieve(QUESTIONS, 2)
    with pytest.raises(RetrievalError, match="there is no such file"):
        one(store, results=tmp_path / "b.json")


def test_a_system_that_is_not_configured_is_named(store: Store) -> None:
    systems = {"hashing": SystemSettings(embedder="hashing")}
    settings = Settings(embedders={"hashing": EmbedderSettings()}, systems=systems)
    with pytest.raises(RetrievalError, match=r"there is no system 'x'; there are .*hashing"):
        make("x", settings, store, DATASET)
