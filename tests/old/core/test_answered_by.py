"""A model that answers as another than was asked shows: on the page, on the terminal, in files, and to the doctor."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragbench.old import report
from ragbench.old.__main__ import application
from ragbench.old.core import answered_by, settings
from ragbench.old.core.answered_by import AnsweredBy, kinship, sentence
from ragbench.old.core.language import translator
from ragbench.old.core.settings import EmbedderSettings, GeneratorSettings, JudgeSettings, Settings, SystemSettings
from ragbench.old.core.types import Chunk, Question
from ragbench.old.data import Dataset
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.llm import Client, MemoryJournal, Request, run
from ragbench.old.llm.reply import LONGEST_NAME
from ragbench.old.store import Store
from ragbench.old.systems import make
from ragbench.old.systems.chat import ChatGenerator
from ragbench.old.systems.generation import Task
from tests.old.embed.servers import embeddings_server
from tests.old.judge import judged_project
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import write_lines

ROOT = Path(__file__).parents[3]
ENGLISH, RUSSIAN = translator("en"), translator("ru")
ALIASES = [
    ("gpt-4o", "gpt-4o-2024-08-06"),
    ("gpt-4o-2024-08-06", "gpt-4o"),
    ("gpt-3.5-turbo", "gpt-3.5-turbo-0125"),
    ("gemini-1.5-pro", "gemini-1.5-pro-001"),
    ("claude-3-5-sonnet", "claude-3-5-sonnet-20241022"),
    ("claude-3-5-sonnet", "claude-3-5-sonnet@20241022"),
    ("gpt-4o", "openai/gpt-4o"),
    ("openai/gpt-4o", "gpt-4o-2024-08-06"),
    ("meta-llama/llama-3.1-8b-instruct:free", "meta-llama/llama-3.1-8b-instruct"),
    ("Qwen/Qwen2.5-7B-Instruct", "/models/qwen2.5-7b-instruct"),
    ("llama3", "llama3:latest"),
    ("mistral-large", "mistral-large-latest"),
]
OTHERS = [
    ("gpt-4o", "gpt-4o-mini"),
    ("gpt-4o", "gpt-4o-mini-2024-07-18"),
    ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"),
    ("gpt-4", "gpt-4-1106-preview"),
    ("llama3:70b", "llama3:8b"),
    ("qwen2.5-72b-instruct", "qwen2.5-7b-instruct"),
    ("claude-3-opus", "claude-3-haiku"),
    ("m", "n"),
    ("gpt-4o", "auto"),
]


@pytest.mark.parametrize(("asked", "served"), ALIASES)
def test_another_way_to_write_a_model_is_no_other_model(asked: str, served: str) -> None:
    assert kinship(asked, served) == "alias"
    assert kinship(served, asked) == "alias"
    assert kinship(asked, asked) == kinship(served, f" {served} ") == "same"


@pytest.mark.fault("flattering", tried="an endpoint answers with another model than was asked for", count=9)
@pytest.mark.parametrize(("asked", "served"), OTHERS)
def test_another_size_family_or_snapshot_is_another_model(asked: str, served: str) -> None:
    assert kinship(asked, served) == kinship(served, asked) == "other"


def test_two_snapshots_behind_one_name_are_two_models() -> None:
    one = AnsweredBy("judge", "j", "gpt-4o", {"gpt-4o-2024-08-06": 3, "gpt-4o-2024-11-20": 1})
    assert one.kinship == "other"
    assert "gpt-4o-2024-08-06 (3) and gpt-4o-2024-11-20 (1)" in sentence(one, ENGLISH)
    assert AnsweredBy("judge", "j", "gpt-4o", {"gpt-4o": 3, "gpt-4o-2024-11-20": 1}).kinship == "alias"
    assert AnsweredBy("judge", "j", "gpt-4o", {}).kinship == "same"


def test_the_sentence_warns_only_of_another_model() -> None:
    alias = AnsweredBy("judge", "j", "gpt-4o", {"openai/gpt-4o": 2})
    other = AnsweredBy("generator", "g", "gpt-4o", {"gpt-4o-mini": 2})
    assert sentence(alias, ENGLISH) == "Judge j: the model asked was gpt-4o; its replies call it openai/gpt-4o (2)."
    assert "name another: gpt-4o-mini (2)" in sentence(other, ENGLISH)
    assert sentence(other, RUSSIAN).startswith("Генератор g: запрошена модель gpt-4o, но в ответах названа другая")
    assert sentence(AnsweredBy("judge", "j", "m", {"m": 9}), ENGLISH) == ""


def test_names_without_end_do_not_flood_the_sentence() -> None:
    one = AnsweredBy("judge", "j", "m", {f"{n:03}{'x' * 300}": 1 for n in range(50)})
    said = sentence(one, ENGLISH)
    assert len(said) < 800
    assert "45 names more" in said


def test_every_reply_is_counted_under_the_name_it_came_with() -> None:
    turn = count()
    with ChatServer(served=lambda body: ("m", "m-mini", None, 7)[next(turn) % 4]).running() as server:
        settings = JudgeSettings(model="m", base_url=server.url, concurrency=1)
        journal = MemoryJournal()

        async def ask() -> tuple[Client, str | None]:
            client = Client("j", settings, journal=journal)
            for n in range(8):
                last = await client.complete(Request((("user", f"{n}"),), "p", 1))
            again = Client("j", settings, journal=journal)
            for n in range(4):
                await again.complete(Request((("user", f"{n}"),), "p", 1))
            await client.close()
            await again.close()
            assert again.used.usage.answered_by == {"m": 1, "m-mini": 1}, "out of the journal too"
            return client, last.answered_by

        client, last = run(ask())
    assert client.used.usage.answered_by == {"m": 2, "m-mini": 2}
    assert (client.used.usage.model, last) == ("m", None)


def test_a_name_of_any_length_is_kept_short() -> None:
    with ChatServer(served=lambda body: "x" * 100_000).running() as server:
        client = Client("j", JudgeSettings(model="m", base_url=server.url))
        run(client.complete(Request((("user", "?"),), "p", 1)))
        run(client.close())
    assert client.used.usage.answered_by == {"x" * LONGEST_NAME: 1}


def test_replies_of_a_journal_without_the_name_count_for_none() -> None:
    known = {"judges": [{"name": "j", "model": "m", "usage": {"replies": 4, "cost": 0.0}}], "generators": {"s": {}}}
    assert answered_by.of(known) == ()
    assert answered_by.of({"judges": ["lexical"], "systems": [{"name": "s"}]}) == ()


def test_a_generator_tells_who_answered() -> None:
    with ChatServer(served=lambda body: "m-small").running() as server:
        generator = ChatGenerator("g", GeneratorSettings(kind="openai", model="m", base_url=server.url))
        (made,) = generator.generate([Task(Question("q", "Who?"), ())])
    assert made.answered_by == "m-small"
    (found,) = answered_by.of({"generators": {"s": {"name": "g", "model": "m", "answered_by": {"m-small": 1}}}})
    assert (found.role, found.kinship) == ("generator", "other")


def test_an_embedder_tells_who_embedded_also_when_nothing_is_embedded_any_more(store: Store) -> None:
    chunks = tuple(Chunk(f"c{n}", f"Passage {n} of those who answered.") for n in range(3))
    dataset = Dataset("answered-by", "en", "", "", chunks, (), (), (), (), (), "answered-by-1")
    with embeddings_server() as server:
        server.change = lambda reply: {**reply, "model": "e-small"}
        told = EmbedderSettings(kind="openai", model="e-large", base_url=server.url)
        asked = [Question("q", "Which passage is it?")]
        for _ in range(2):
            known = Settings(embedders={"e": told}, systems={"s": SystemSettings(embedder="e")})
            system = make("s", known, store, dataset)
            assert isinstance(system.dense.embedder, EndpointEmbedder)  # type: ignore[attr-defined]
            facts = system.retrieve(asked, 2).facts
            assert facts["embedder_answered_by"] == {"asked": "e-large", "replies": {"e-small": 4}}
        assert len(server.texts) == 4
    (found,) = answered_by.of({"systems": [{"name": "s", "embedder": "e", **facts}]})
    assert (found.role, found.name, found.kinship) == ("embedder", "e", "other")


@pytest.mark.slow
@pytest.mark.fault("flattering", tried="another model answers for a judge: page, terminal, files", count=4)
def test_it_is_said_on_the_page_and_the_terminal_and_in_the_files(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # of the notebook, which measures with what lies in tests/
    with ChatServer(answer=judged_project.reply, served=lambda body: f"{body['model']}-tiny").running() as server:
        notebook = judged_project.make(project, server.url, judges="one", questions=2)
        settings.load.cache_clear()
        done = CliRunner().invoke(application, ["run", str(notebook)])
    assert done.exit_code == 0, done.output
    assert "Judge one: the model asked was m-one, but the replies name another: m-one-tiny" in done.stderr
    folder = Path(done.stdout.splitlines()[-1]).parent
    for name in ("summary.json", "manifest.json"):
        (one,) = json.loads((folder / name).read_text(encoding="utf-8"))["answered_by"][judged_project.NAME]
        assert (one["asked"], list(one["replies"]), one["kinship"]) == ("m-one", ["m-one-tiny"], "other")
    page = (folder / f"{judged_project.NAME}.html").read_text(encoding="utf-8")
    assert 'class="rb-standin">Judge one: the model asked was m-one' in page
    assert "answered by" in page
    russian = report.render(folder, language="ru").parent / f"{judged_project.NAME}.html"
    assert "Судья one: запрошена модель m-one" in russian.read_text(encoding="utf-8")


def test_score_says_it_too(project: Path) -> None:
    (project / "a.jsonl").write_text(
        '{"user_input": "What?", "response": "It is high.", "retrieved_contexts": ["It is high."]}\n', encoding="utf-8"
    )
    with ChatServer(answer=judged_project.reply, served=lambda body: f"{body['model']}-2024-08-06").running() as server:
        judged_project.make(project, server.url)
        settings.load.cache_clear()
        words = ["score", "a.jsonl", "-m", "faithfulness", "--judge", "one", "--json", "out.json"]
        done = CliRunner().invoke(application, words)
    assert done.exit_code == 0, done.output
    assert "its replies call it m-one-2024-08-06" in done.output
    (one,) = json.loads((project / "out.json").read_text(encoding="utf-8"))["answered_by"]["rag_metrics"]
    assert one["kinship"] == "alias"


def test_score_says_what_the_journal_had_and_what_was_paid(project: Path) -> None:
    write_lines(
        project / "a.jsonl",
        [
            {"user_input": f"What {n}?", "response": f"No. {n} is high.", "retrieved_contexts": [f"High {n}."]}
            for n in range(3)
        ],
    )
    said = []
    with ChatServer(answer=judged_project.reply).running() as server:
        judged_project.make(project, server.url)
        settings.load.cache_clear()
        for _ in range(2):
            done = CliRunner().invoke(application, ["score", "a.jsonl", "-m", "faithfulness", "--judge", "one"])
            assert done.exit_code == 0, done.output
            said += [line for line in done.output.splitlines() if line.startswith("from the journal")]
    first, second = said
    cost = re.fullmatch(r"from the journal: 0 of 6 replies; newly paid: 6 calls, cost (\S+)", first)
    assert cost is not None, first
    assert float(cost[1]) > 0
    assert second == "from the journal: 6 of 6 replies; newly paid: 0 calls, cost 0.0000"


def test_the_doctor_asks_every_model_who_it_is(project: Path) -> None:
    with ChatServer(served=lambda body: "small" if body["model"] == "m-two" else body["model"]).running() as server:
        judged_project.make(project, server.url)
        path = project / "ragbench.toml"
        more = (
            f'[generators.g]\nkind = "openai"\nmodel = "openai/w"\nbase_url = "{server.url}"\n'
            f'[embedders.e]\nkind = "openai"\nmodel = "e"\nbase_url = "{server.url}"\n'
            '[judges.gone]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
        settings.load.cache_clear()
        offline = CliRunner().invoke(application, ["doctor"])
        assert not server.requests
        done = CliRunner().invoke(application, ["doctor", "--online"])
    assert "m-one answers" not in offline.output
    assert "✓ judge one: m-one answers" in done.output
    assert "– Judge two: the model asked was m-two, but the replies name another: small (1)" in done.output
    assert "✓ generator g: openai/w answers" in done.output
    assert "✓ embedder e: e answers" in done.output
    assert "✗ judge 'gone' (x): Cannot connect to host" in done.output
    assert done.exit_code == 3


def test_a_model_of_one_name_whose_replies_were_imported_warns() -> None:
    facts = {"judges": [{"name": "j", "usage": {"model": "m", "answered_by": {"m": 7}, "imported": 6, "replies": 10}}]}
    [one] = answered_by.of(facts)
    assert one == AnsweredBy("judge", "j", "m", {"m": 7}, 6, 10)
    assert (one.kinship, one.warns) == ("same", True)
    assert answered_by.warnings(facts, translator("en")) == [
        "Judge j: 6 of 10 replies were imported from a file: the numbers are as true as whoever made it."
    ]
    assert "импортированных из файла: 6 из 10" in answered_by.warnings(facts, translator("ru"))[0]
    [both] = answered_by.together([facts, facts])
    assert (both.imported, both.whole) == (12, 20)
    assert not AnsweredBy("judge", "j", "m", {"m": 7}).warns


def test_replies_that_name_no_model_are_told_too() -> None:
    facts = {"judges": [{"name": "j", "usage": {"model": "m", "answered_by": {}, "imported": 1, "replies": 1}}]}
    assert [one.imported for one in answered_by.of(facts)] == [1]
