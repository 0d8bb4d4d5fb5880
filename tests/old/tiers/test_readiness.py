"""What can fail early fails first, all of it at once; a page whose data are not there says what it needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest

from ragbench.old import report, tiers
from ragbench.old.core import settings
from ragbench.old.core.language import translator
from ragbench.old.core.types import Sample
from ragbench.old.data import DatasetError
from ragbench.old.data.places import NO_PAGES
from ragbench.old.report.execution import preparation
from ragbench.old.report.execution.preparation import lacks
from ragbench.old.tiers import BenchError, readiness
from ragbench.old.tiers.basics.requests import Request
from ragbench.old.tiers.basics.session import Lack, Need, Needed, dataset_of, number, read
from ragbench.old.tiers.readiness import Parts
from ragbench.old.tiers.scoring.table_sources import AnswerTable
from tests.old.cli.command_line import ragbench
from tests.old.embed.servers import embeddings_server
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import NOTEBOOKS, add, write_lines

TIERS = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb") if path.name not in NO_PAGES)


def requests_of(*names: str, **given: Any) -> dict[str, list[Request]]:
    found = {}
    for name in names:
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        known = preparation.defaults(notebook, name)
        found[name] = preparation.requests(notebook, {**known, **{k: v for k, v in given.items() if k in known}})
    return found


def lacking(**given: Any) -> dict[str, str]:
    found = lacks(requests_of(*TIERS, **given), settings.load())
    return {one.page: one.sentence(translator("en")) for one in found}


def without(project: Path, *tables: str) -> None:
    for table in tables:
        (project / "data" / "small" / f"{table}.en.jsonl").unlink()


def test_every_page_but_those_about_ragbench_itself_tells_what_it_asks_and_needs() -> None:
    asked = requests_of(*TIERS)
    assert {name for name, own in asked.items() if len(own) != 1} == set()
    known = settings.Settings()
    assert {name for name, [one] in asked.items() if not one.needed(known)} == {"overview"}


def test_a_base_without_questions_allows_its_space_and_its_texts_alone(project: Path) -> None:
    without(project, "questions")
    found = lacking()
    assert set(TIERS) - set(found) == {"tier0_embeddings", "dataset", "overview"}
    assert found["sources"] == "needs questions; small:en has none"
    assert found["tier1_retrieval"] == "needs questions with relevant passages; small:en has none"
    assert found["tier_ux"] == "needs dialogues or a log of users' questions; small:en has none"


def test_questions_without_a_base_and_a_table_of_answers(project: Path) -> None:
    without(project, "chunks", "questions")
    data = project / "data" / "small"
    write_lines(data / "questions.en.jsonl", [{"id": "q1", "text": "What?", "reference": "That."}])
    assert set(TIERS) - set(lacking()) == {"overview", "tier_judge", "dataset"}
    assert lacking()["tier3_end_to_end"] == "needs passages; small:en has none"
    assert "tier3_end_to_end" not in lacking(systems="good"), "what was logged needs no base here"
    assert "rag_metrics" not in lacking(answers="a.jsonl")


def test_a_data_set_that_nobody_named_may_be_missing_and_one_that_was_named_may_not(project: Path) -> None:
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('dataset = "small"\n', ""), encoding="utf-8")
    settings.load.cache_clear()
    found = lacking(answers="a.jsonl")
    assert set(TIERS) - set(found) == {"overview", "rag_metrics"}
    assert found["sources"] == (
        "needs passages; no data set is named: `ragbench load` brings one, -d NAME or dataset in ragbench.toml names it"
    )
    with pytest.raises(DatasetError, match="there is no data set 'nowhere'"):
        lacks({}, settings.load(), "nowhere")


def test_too_few_texts_are_told_from_none(project: Path) -> None:
    assert "tier0_embeddings" not in lacking(neighbors=4)
    assert lacking(neighbors=5)["tier0_embeddings"] == "needs passages, at least 6; small:en has 5"
    assert lacking(texts="questions", neighbors=4)["tier0_embeddings"] == "needs questions, at least 5; small:en has 4"


def test_a_lack_is_read_again_as_it_was_written() -> None:
    every = [Lack("p", Needed((one,), 3), 1, "small:en") for one in Need]
    assert read(json.loads(json.dumps([one.fact for one in every]))) == every
    for language in ("en", "ru"):
        assert len({one.sentence(translator(language)) for one in every}) == len(Need)


def test_every_need_is_counted(project: Path) -> None:
    data = dataset_of("small", settings.load())
    counted = {one: number(one, data) for one in Need}
    assert {one: count for one, count in counted.items() if count} == {
        Need.PASSAGES: 5, Need.QUESTIONS: 4, Need.ANSWERABLE: 3, Need.RELEVANT: 3, Need.PAGES: 3,
    }  # fmt: skip
    asked = replace(data.questions[0], reference="It is.", relevant={}, relevant_urls={"/a": 1.0})
    changed = replace(data, questions=(asked,), history=data.history)
    assert [number(one, changed) for one in (Need.RELEVANT, Need.PAGES, Need.REFERENCES)] == [0, 1, 1]


def test_systems_limit_pages_of_embedders_and_tables_that_name_systems(project: Path) -> None:
    add(project, '[embedders.other]\nkind = "hashing"\nbuckets = 64\n[systems.more]\nembedder = "other"\n')
    named = {"resamples": 100, "projected": 0}
    for systems, expected in (("", ["hashing", "other"]), ("more", ["other"]), ("good, more", ["other"])):
        made = tiers.tier0_embeddings(systems=systems, **named)
        assert [one["name"] for one in made.facts["systems"]] == expected
    assert lacking(systems="good")["tier0_embeddings"] == "needs a system with an embedder"
    assert "tier0_embeddings" not in lacking(systems="good", embedders="hashing")
    with pytest.raises(BenchError, match="none of them has an embedder"):
        tiers.tier0_embeddings(systems="good", **named)
    rows = tuple(Sample(name or "z", user_input="?", system=name) for name in ("a", "b", None))
    table = AnswerTable(rows, {})
    assert [one.system for one in table.of(["b"]).samples] == ["b", None]
    assert table.of([]) == table
    with pytest.raises(BenchError, match=r"systems = 'c': the answers are of a, b"):
        AnswerTable(rows[:2], {}).of(["c"])


@pytest.mark.slow
def test_pages_without_data_are_left_out_and_every_reader_is_told(project: Path) -> None:
    without(project, "questions")
    done = ragbench("run", "--systems", "ngrams")
    assert done.returncode == 0, done.stderr
    assert "sources not run: needs questions; small:en has none" in done.stdout
    run = (project / "reports" / "latest").resolve()
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "complete"
    assert {one["name"] for one in manifest["left_out"]} == set(TIERS) - {"tier0_embeddings", "dataset", "overview"}
    assert manifest["left_out"][-1]["why"].startswith("needs ")
    assert "needs labelled decisions; small:en has none" in (run / "index.html").read_text(encoding="utf-8")
    assert ragbench("render", run.name, "-l", "ru").returncode == 0
    russian = (run / "ru" / "index.html").read_text(encoding="utf-8")
    assert "нужно: размеченные решения; в наборе small:en такого нет" in russian
    assert ragbench("publish", run.name, "--to", "site", "--no-single").returncode == 0
    cases = ElementTree.parse(project / "site" / "junit.xml").getroot().findall(".//testcase[skipped]")
    said = {case.get("name"): case.find("skipped").get("message") for case in cases}  # type: ignore[union-attr]
    assert said["sources"] == "needs questions; small:en has none"


def test_a_page_that_was_asked_for_and_lacks_its_data_is_refused(project: Path) -> None:
    done = ragbench("run", "tier_judge_pipeline", "tier1_retrieval")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(
        "ragbench: tier_judge_pipeline needs labelled decisions; small:en has none. `ragbench"
    )
    assert not (project / "reports").exists()


def test_a_project_whose_data_allow_no_page_is_refused_too(project: Path) -> None:
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('dataset = "small"\n', ""), encoding="utf-8")
    done = ragbench("run", "-s", "ngrams")
    assert done.returncode == 3
    assert done.stderr.count(" needs ") == len(TIERS) - 1
    assert not (project / "reports").exists()


FAULTY = """
[systems.mine]
callable = "nowhere:search"
[systems.mute]
callable = "dies:search"
[systems.logs]
results = "gone.jsonl"
[embedders.folder]
kind = "sentence_transformers"
model = "./models/e5"
[embedders.empty]
kind = "sentence_transformers"
model = "data"
[embedders.api]
kind = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
key_variable = "NO_KEY_OF_OURS"
[generators.writer]
kind = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
prompt = "no-prompt.txt"
[systems.folder]
embedder = "folder"
[systems.empty]
embedder = "empty"
[systems.api]
embedder = "api"
generator = "writer"
[judges.one]
base_url = "http://127.0.0.1:9/v1"
model = "m"
key_variable = "NO_KEY_OF_OURS"
[gate.typo]
metric = "ndgc"
at_least = 0.5
[gate.nobody]
metric = "mrr"
system = "god"
at_least = 0.5
"""
SAID = (
    "systems.mine.callable = 'nowhere:search': nowhere cannot be imported: No module named 'nowhere'; put it beside",
    "systems.mute.callable = 'dies:search': importing it, or another function, ends the process",
    "systems.logs.results = 'gone.jsonl': there is no such file",
    "embedders.folder.model = './models/e5': there is no such folder; name a folder",
    "embedders.empty.model = 'data': this folder holds no model",
    "embedders.api needs its key in the variable NO_KEY_OF_OURS, which is not set: export NO_KEY_OF_OURS=…",
    "generators.writer.prompt",
    "judge 'one' needs its key in the variable NO_KEY_OF_OURS, which is not set: export NO_KEY_OF_OURS=…",
    "gate.typo.metric = 'ndgc': there is no such metric",
    "gate.nobody: there is no system 'god'",
)


def test_all_that_is_known_to_fail_is_named_at_once_before_anything_is_measured(project: Path) -> None:
    add(project, FAULTY)
    done = ragbench("run", "tier2_generation", "tier1_retrieval", "--trust")
    assert done.returncode == 3
    quiet = [said for said in SAID if "dies" not in said]
    assert [said for said in quiet if said not in done.stderr.replace("\n", " ")] == []
    assert done.stderr.startswith(
        "ragbench: 10 faults, and nothing was measured; `ragbench doctor` looks at everything\n"
    )
    assert not (project / "reports").exists()
    found = ragbench("doctor").stdout
    assert [said for said in quiet if said not in found] == []


@pytest.mark.slow
def test_a_module_that_ends_its_process_is_a_fault_and_prints_do_no_harm(project: Path) -> None:
    (project / "dies.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    (project / "prints.py").write_text("print('[1]')\ndef search(q, k):\n    return []\n", encoding="utf-8")
    add(project, '[systems.mute]\ncallable = "dies:search"\n[systems.loud]\ncallable = "prints:search"\n')
    known = settings.load()
    assert readiness.faults(Parts(systems=("loud",)), known) == []
    [said] = readiness.faults(Parts(systems=("mute",)), known)
    assert said.startswith(SAID[1])


def test_only_what_the_chosen_pages_and_systems_use_is_looked_at(project: Path) -> None:
    add(project, FAULTY.partition("[gate.typo]")[0])
    known = settings.load()
    for page, given, used in (
        ("tier1_retrieval", {"systems": "ngrams"}, Parts(("ngrams",), ("hashing",))),
        ("tier0_embeddings", {"systems": "api"}, Parts(embedders=("api",))),
        ("tier2_generation", {"systems": "api", "metrics": "rouge1_f"}, Parts(("api",), ("api",), ("writer",))),
        ("tier3_end_to_end", {"systems": "ngrams", "judges": "lexical"},
         Parts(("ngrams",), ("hashing",), ("extractive",), ("lexical",))),
        ("tier_judge", {}, Parts(judges=("one",))),
        ("tier_judge", {"ratings": "logged.jsonl"}, Parts()),
        ("tier_judge_pipeline", {"judges": "mine:f, logged.csv, show-all, one"},
         Parts(judges=("one",), functions=("mine:f",))),
        ("rag_metrics", {"metrics": "rouge1_f", "systems": "whoever"}, Parts()),
    ):  # fmt: skip
        assert readiness.of_requests(requests_of(page, **given)[page], known) == used, page


def test_a_judge_that_is_not_configured_is_named_before_anything_is_measured(project: Path) -> None:
    done = ragbench("run", "tier3_end_to_end", "-p", "judges=nobody")
    assert done.returncode == 3
    assert done.stderr.startswith("ragbench: there is no judge 'nobody'; judges are lexical")


def faults_of(project: Path, tables: str, page: str = "tier1_retrieval", **given: Any) -> str:
    add(project, tables)
    with pytest.raises(BenchError) as refused:
        checked(page, **given)
    return str(refused.value)


def model_folder(project: Path, name: str, **files: dict[str, Any]) -> None:
    (project / name).mkdir()
    for file, content in files.items():
        (project / name / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")


def test_a_model_of_another_kind_is_told_by_its_folder(project: Path) -> None:
    cross = {"model_type": "CrossEncoder"}
    model_folder(project, "pairs", config_sentence_transformers=cross, modules=cross, config={})
    model_folder(project, "older-pairs", config={"architectures": ["BertForSequenceClassification"]})
    model_folder(project, "vectors", modules={}, config={"architectures": ["BertModel"]})
    model_folder(project, "bare", config={"architectures": ["BertModel"]})
    ranked = "".join(
        f'[rerankers.{one}]\nkind = "cross_encoder"\nmodel = "{one}"\n'
        f'[systems.r-{one}]\nretriever = "bm25"\nreranker = "{one}"\n'
        for one in ("pairs", "older-pairs", "vectors", "bare")
    )
    dense = "".join(
        f'[embedders.{one}]\nkind = "sentence_transformers"\nmodel = "{one}"\n[systems.e-{one}]\nembedder = "{one}"\n'
        for one in ("pairs", "older-pairs", "vectors", "bare")
    )
    said = faults_of(project, ranked + dense)
    assert said.startswith("4 faults")
    assert "rerankers.vectors.model = 'vectors': this model gives vectors of texts" in said
    assert "rerankers.bare.model = 'bare': this model gives vectors of texts" in said
    assert "embedders.pairs.model = 'pairs': this model scores pairs of texts and gives no vectors" in said
    assert "embedders.older-pairs.model = 'older-pairs': this model scores pairs" in said


@pytest.mark.slow
def test_functions_that_cannot_be_called_so_are_refused(project: Path) -> None:
    (project / "own.py").write_text("def rank(question): return []\n", encoding="utf-8")
    said = faults_of(
        project,
        '[rerankers.rank]\nkind = "callable"\ncallable = "own:rank"\n'
        '[systems.rank]\nretriever = "bm25"\nreranker = "rank"\n',
        systems="rank",
    )
    assert "rerankers.rank.callable = 'own:rank': it takes (question), and is called with (question, texts)" in said


@pytest.mark.parametrize(
    ("script", "change", "expected"),
    [
        ([(404, {}, "{}")], None, "HTTP 404"),
        ([(401, {}, "{}")], None, "HTTP 401"),
        ([(200, {}, "<html>hello</html>")], None, "cannot be read"),
        ([], lambda reply: {"results": reply["results"][:1]}, "one finite score is expected for each of 2 texts"),
        ([(429, {"Retry-After": "0"}, "slow")] * 9, None, ""),
    ],
)
def test_a_reranker_is_asked_once_before_a_run(project: Path, script: list[Any], change: Any, expected: str) -> None:
    with embeddings_server() as server:
        server.script, server.change = script * 9, change or server.change
        add(
            project,
            f'[rerankers.r]\nkind = "endpoint"\nmodel = "m"\nbase_url = "{server.url}"\n'
            '[systems.s]\nretriever = "bm25"\nreranker = "r"\n',
        )
        if not expected:
            checked("tier1_retrieval", systems="s")
            return
        with pytest.raises(BenchError) as refused:
            checked("tier1_retrieval", systems="s")
        assert len(server.requests) <= 2
    assert "rerankers.r" in str(refused.value)
    assert expected in str(refused.value)


def test_names_of_parts_that_there_are_not_are_named_all_at_once_with_what_was_meant(project: Path) -> None:
    add(
        project,
        '[embedders.mini]\nkind = "minilm"\n[systems.a]\nembedder = "minni"\n[systems.b]\nretriever = "bm52"\n'
        '[systems.c]\nretriever = "bm25"\nreranker = "ce"\n[retrievers.h]\nkind = "hybrid"\n'
        'retrievers = ["h", "bm25"]\n',
    )
    with pytest.raises(settings.ConfigurationError) as refused:
        settings.load()
    assert str(refused.value).splitlines() == [
        "ragbench.toml: systems.a.embedder = 'minni': there is no [embedders.minni]; did you mean 'mini'? "
        "embedders are auto, hashing, mini",
        "ragbench.toml: systems.b.retriever = 'bm52': there is no [retrievers.bm52]; did you mean 'bm25'? "
        "retrievers are bm25, h",
        "ragbench.toml: systems.c.reranker = 'ce': there is no [rerankers.ce]; rerankers are none: write that table",
        "ragbench.toml: retrievers.h.retrievers = 'h': a hybrid is made of other kinds: legal are bm25",
    ]


JUDGE = '[judges.one]\nbase_url = "{}"\nmodel = "{}"\n'


def checked(page: str, **given: Any) -> None:
    readiness.check(requests_of(page, **given)[page], settings.load())


def test_models_that_refuse_or_are_not_there_are_asked_once_and_all_named(project: Path) -> None:
    far = '[embedders.far]\nkind = "openai"\nmodel = "m"\nbase_url = "{}"\n[systems.far]\nembedder = "far"\n'
    with ChatServer(faults={"401": 1.0}).running() as server, embeddings_server() as vectors:
        vectors.script = [(401, {}, '{"error": {"message": "bad key"}}')] * 9
        two = JUDGE.format("http://127.0.0.1:9/v1", "gone").replace("judges.one", "judges.two")
        add(project, JUDGE.format(server.url, "wrong-key") + two + far.format(vectors.url))
        with pytest.raises(BenchError) as refused:
            checked("tier3_end_to_end", systems="far")
    said = str(refused.value)
    assert said.startswith("3 faults, and nothing was measured")
    assert "judge 'one' (wrong-key at" in said
    assert "refuses all calls: HTTP 401" in said
    assert "judge 'two' (gone): Cannot connect to host 127.0.0.1:9 (Connection refused); look whether it runs" in said
    assert "the embedder far (m at" in said
    assert "gave no vectors: HTTP 401: bad key" in said


def test_a_judge_whose_replies_nobody_can_use_is_named_before_a_run(project: Path) -> None:
    """It is asked for a shape, and once more in words; one that understands the words is no fault."""
    with ChatServer(answer=lambda body: "Yes. The passage says so.").running() as server:
        add(project, JUDGE.format(server.url, "prose"))
        with pytest.raises(BenchError) as refused:
            checked("tier3_end_to_end", systems="ngrams")
        assert server.calls == 2
    said = str(refused.value)
    assert "answers, but not in a shape that can be read" in said
    assert 'set replies = "text" in [judges.one], or name another model' in said


def test_a_model_that_answers_or_is_merely_busy_is_no_fault(project: Path) -> None:
    for fault in ({}, {"429": 1.0}):
        with ChatServer(faults=fault).running() as server:
            add(project, JUDGE.format(server.url, f"model-{len(fault)}").replace("judges.one", f"judges.j{len(fault)}"))
            checked("tier3_end_to_end", systems="ngrams", judges=f"j{len(fault)}")
            assert server.requests


def test_nobody_is_asked_whose_replies_are_kept_or_where_the_setting_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(project, JUDGE.format("http://127.0.0.1:9/v1", "asked-never"))
    monkeypatch.setenv("RAGBENCH_ASK_FIRST", "false")
    settings.load.cache_clear()
    checked("tier3_end_to_end", systems="ngrams")
    monkeypatch.setenv("RAGBENCH_ASK_FIRST", "true")
    settings.load.cache_clear()
    with pytest.raises(BenchError, match="Cannot connect"):
        checked("tier3_end_to_end", systems="ngrams")
    monkeypatch.setattr("ragbench.old.tiers.readiness._answered_before", lambda _: lambda *_: True)
    checked("tier3_end_to_end", systems="ngrams")


def test_a_plan_asks_nobody(project: Path) -> None:
    add(project, JUDGE.format("http://127.0.0.1:9/v1", "planned"))
    requests = requests_of("tier3_end_to_end", systems="ngrams")["tier3_end_to_end"]
    readiness.check(requests, settings.load(), asking=False)


def test_calls_that_nobody_can_foresee_are_not_checked(project: Path) -> None:
    cell = nbformat.v4.new_code_cell
    cells = [
        cell("k = 3", metadata={"tags": ["parameters"]}),
        cell("%time 1"),
        cell("tiers.tier1_retrieval(systems=names(), k=k)\ntiers.tier1_retrieval(**every)\ntiers.nothing(k=k)"),
        cell("tiers.tier1_retrieval(systems='good', k=k)"),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    [found] = preparation.requests(notebook, {"k": 7})
    assert found.model_dump(include={"systems", "k"}) == {"systems": "good", "k": 7}


def test_the_checks_ask_nobody(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    import psycopg

    def connect(*asked: object) -> None:
        raise AssertionError(f"{asked} is asked")

    asked = requests_of(*TIERS)
    for place in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, place, connect)
    monkeypatch.setattr(psycopg.Connection, "connect", connect)
    lacks(asked, settings.load())
    readiness.check((one for own in asked.values() for one in own), settings.load())
    assert report.lacking(["tier1_retrieval"]) == ()
