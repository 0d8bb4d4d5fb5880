"""A project from an empty folder on: init, load, doctor, run, gates."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ragbench.cli.main import run
from ragbench.core.language import load_language
from ragbench.data import read_dataset
from ragbench.report.run import PageRun, Run
from ragbench.store import Store
from tests.cli.conftest import FILES, typed

Write = Callable[..., None]
LINES = {
    "answers.csv": ["ragbench score answers.csv"],
    "one.csv": ["ragbench score one.csv"],
    "judged.qrels first.run second.run": ["ragbench trec judged.qrels first.run second.run"],
    "a.csv b.csv": ["ragbench significance a.csv b.csv"],
    "a.csv": ["ragbench run"],
    "docs/loans.md docs/hours.md": [
        "ragbench load documents docs --name docs",
        "ragbench draft docs",
        "ragbench run",
    ],
    "passages.csv questions.csv": [
        "ragbench load passages passages.csv --name passages",
        "ragbench load questions questions.csv --name passages",
        "ragbench run",
    ],
    "dialogues.jsonl": ["ragbench load dialogues dialogues.jsonl --name dialogues", "ragbench run"],
    "decisions.csv": ["ragbench load decisions decisions.csv --name decisions", "ragbench run"],
    "history.csv": ["ragbench load history history.csv --name history", "ragbench run"],
    "notes.md": [
        "ragbench load documents . --name documents",
        "ragbench draft documents",
        "ragbench run",
    ],
    "docs/loans.md open.csv": [
        "ragbench load documents docs --name docs",
        "ragbench load questions open.csv --name docs",
        "ragbench run",
    ],
    "judged.qrels": ["ragbench run"],
    "first.run": ["ragbench run"],
}


@pytest.mark.parametrize("files", LINES)
def test_init_names_every_file_and_commands_that_work(
    write: Write, capsys: pytest.CaptureFixture[str], files: str
) -> None:
    write(*files.split(), "bad.bin")
    assert run(["init"]) == 0
    printed = capsys.readouterr().out
    for name in files.split():
        assert name.partition("/")[0] in printed
    assert "bad.bin: not read: is none of" in printed
    commands = [line.strip() for line in printed.splitlines() if line.startswith("  ragbench ")]
    assert commands == LINES[files]
    settings = Path("ragbench.toml").read_text()
    assert "# [systems.mine]" in settings
    is_own = any(" load " in command for command in commands)
    assert ('dataset = "campus"' in settings) != is_own
    for command in commands:
        if command != "ragbench run" and "score" not in command:
            assert typed(command.removeprefix("ragbench ")) == 0
    assert run(["init"]) == 3
    assert run(["init", "--force"]) == 0


def test_init_looks_into_folders_of_tables_and_past_what_is_no_data(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = {"tables/answers.csv": FILES["answers.csv"], "data/docs/a.md": "# A\n\nText."}
    folders |= {"own/chunks.en.jsonl": '{"id": "1", "text": "x"}', "docs/b.md": "# B\n\nText."}
    others = dict.fromkeys(
        (".env.csv", "_x.csv", "README.md", "code.py", "reports/a.csv"), "a\n1\n"
    )
    write(**folders, **others)
    assert typed("init") == 0
    printed = capsys.readouterr().out
    for line in (
        "tables/answers.csv: answers (",
        "data/docs: documents\n",
        "own: a data set of ragbench\n",
        "docs: documents\n",
    ):
        assert line in printed
    for name in others:
        assert name.partition("/")[0] not in printed
    # A data set that is there comes before what could be loaded.
    assert 'dataset = "own"' in Path("ragbench.toml").read_text()
    assert "ragbench draft" not in printed
    Path("many").mkdir()
    for count in (200, 201):
        for n in range(count):
            Path(f"many/{n}.csv").touch()
        assert typed("init many --force") == 3
        is_said = "many: 1 more were not looked at; name them" in capsys.readouterr().out
        assert is_said == (count == 201)


def test_init_writes_down_what_is_no_file(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("questions.csv")
    targets = [
        "questions.csv",
        "http://localhost:1/ask",
        "http://localhost:2/ask",
        "search:find",
        "postgresql://u:pass1234@h/d",
    ]
    assert run(["init", *targets]) == 0
    printed = capsys.readouterr().out
    for line in (
        "search:find: your function or object",
        "  export OWN_DATABASE_URL=…",
        "  ragbench doctor --online\n  ragbench run\n",
    ):
        assert line in printed
    settings = Path("ragbench.toml").read_text()
    assert '[systems.service]\nurl = "http://localhost:1/ask"' in settings
    assert '[systems.service2]\nurl = "http://localhost:2/ask"' in settings
    assert 'callable = "search:find"' in settings
    assert 'url_variable = "OWN_DATABASE_URL"' in settings
    assert "pass1234" not in settings + printed
    assert "# [systems.mine]" not in settings
    assert 'dataset = "db:own"' in settings
    # One of them is enough; without a service there is nobody to ask.
    for target, doctor in (("http://h/ask", 1), ("search:find", 0), ("postgresql://h/d", 1)):
        assert run(["init", target, "--force"]) == 0
        printed = capsys.readouterr().out
        assert printed.count("  ragbench doctor") == doctor
        assert ("--online\n" in printed) == target.startswith("http")
        assert "# [systems.mine]" not in Path("ragbench.toml").read_text()


def test_load_adds_to_what_is_there(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("passages.csv", "questions.csv", "decisions.csv", "ratings.csv", "russian.csv")
    assert typed("load questions questions.csv") == 0
    assert "next: ragbench load documents FOLDER --name questions" in capsys.readouterr().out
    for text in ("It opens at 9.", "It opens at 8."):  # the later takes the place of the earlier
        write(passages__csv=FILES["passages.csv"].replace("It opens at 8.", text))
        assert typed("load passages passages.csv --name own") == 0
    assert read_dataset("own").passages["text"].tolist()[-2:] == [
        "It opens at 8.",
        "A loan lasts 14 days.",
    ]
    assert "next: ragbench load questions FILE" in capsys.readouterr().out
    assert typed("load questions questions.csv --name own --dry-run") == 0
    assert "question q1: 'When is it open?' → a" in capsys.readouterr().out
    assert not Path("data/own/questions.en.jsonl").exists()
    for kind in ("questions", "decisions", "ratings"):
        assert run(["load", kind, f"{kind}.csv", "--name", "own"]) == 0
    dataset = read_dataset("own")
    assert dataset.grades() == {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
    assert dataset.extras["ratings"]["value"].tolist() == [5]
    # Questions with the same ids take the place of the old ones, with their labels.
    write(questions__csv="id,question,relevant\nq1,Open?,b\n")
    assert typed("load questions questions.csv --name own") == 0
    assert "1 questions and 0 passages that were there are replaced" in capsys.readouterr().err
    dataset = read_dataset("own")
    assert dataset.grades() == {"q1": {"b": 1.0}, "q2": {"b": 1.0}}
    assert set(dataset.questions["text"]) == {"Open?", "A loan?"}
    # Another language lies beside.
    assert typed("load questions russian.csv --name own") == 3
    assert "--language ru keeps it beside" in capsys.readouterr().err
    assert typed("load questions russian.csv --name own -l ru") == 0
    assert len(read_dataset("own:en").questions) == 2
    assert len(read_dataset("own:ru").questions) == 1


def test_load_touches_no_files_of_others(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("questions.csv", **{"data/own/corpus.jsonl": '{"_id": "1", "text": "x"}\n'})
    write(**{"data/two/questions.en.csv": FILES["questions.csv"], "data/three/notes.md": "Mine."})
    for name, file in (("own", "corpus.jsonl"), ("two", "questions.en.csv")):
        assert typed(f"load questions questions.csv --name {name}") == 3
        assert f"{file} is no file of ours" in capsys.readouterr().err
    assert typed("load questions questions.csv --name three") == 0
    write(**{"data/docs/a.md": "# A\n\nText of A.\n"})
    assert typed("load documents data/docs --name docs") == 0
    assert Path("data/docs/a.md").is_file()


NOWHERE = 'base_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nattempts = 1\n'


class OddService(BaseHTTPRequestHandler):
    """Answers in a form of its own."""

    def do_POST(self) -> None:
        found = [{"id": "a", "text": "It opens at 8." + " " * 200}]
        reply = {"result": {"reply": "At 8.", "found": found}}
        body = json.dumps({"n": 1} if self.path == "/none" else reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    """The address of the odd service."""
    server = HTTPServer(("127.0.0.1", 0), OddService)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/ask"
    server.shutdown()


def test_doctor_says_what_is_there_and_what_to_write(
    write: Write,
    service: str,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    with Store(url=database_url) as store, store.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE shelf (id integer PRIMARY KEY, body text, v vector(2));"
            "INSERT INTO shelf SELECT n, 'Text ' || n, '[1, 2]' FROM generate_series(1, 201) AS n"
        )
    shelf = 'url_variable = "RAGBENCH_DATABASE_URL"\npassages = "shelf"\ntext = "body"\nurl = ""\n'
    settings = (
        'embedder = "hashing"\n[judges.mini]\nprovider = "openai"\nmodel = "m"\n'
        'key_variable = "NO_SUCH_KEY"\n[databases.own]\nurl_variable = "RAGBENCH_DATABASE_URL"\n'
        f'passages = "nothing"\n[systems.odd]\nurl = "{service}"\n[systems.bm25]\n'
        f'retriever = "bm25"\n[systems.known]\nurl = "{service}"\nanswer = "result.reply"\n'
        '[judges.own]\ncallable = "own_judge:reply"\n[embedders.far]\nkind = "openai"\n'
        f'{NOWHERE}[generators.writer]\nkind = "openai"\n{NOWHERE}'
        '[judges.through]\nclient = "own_judge:client"\nmodel = "m"\n'
        f'[databases.near]\n{shelf}vector = "v"\n[databases.plain]\n{shelf}'
        f'[systems.listing]\nurl = "{service}"\npassages = "result.found[].text"\n'
        f'[systems.ids]\nurl = "{service}"\nids = "result.found[].id"\n'
        f'[systems.none]\nurl = "{service.replace("/ask", "/none")}"\n'
    )
    said = {"reason": "r", "rating": 5, "verdict": "yes"}
    reply = f"client = 1\ndef reply(prompt):\n    return {said}\n"
    write(ragbench__toml=settings, own_judge__py=reply)
    assert run(["doctor", "--online"]) == 3
    printed = capsys.readouterr().out
    for line in (
        "✓ data       campus: 105 passages",
        "✓ database   PostgreSQL with pgvector",
        "· embedder   hashing",
        "✗ model      judges.mini: the variable NO_SUCH_KEY is not set",
        "✗ own tables databases.own.passages = 'nothing' is not in the schema public",
        "✗ system     systems.odd: say where its reply has answer",
        'answer = "result.reply"',
        'passages = "result.found[].text"',
        "✓ system     bm25: BM25",
        "✓ model      judges.own: own_judge:reply",
        "✓ model      embedders.far: m at http://127.0.0.1:9/v1",
        "✓ model      generators.writer: m at http://127.0.0.1:9/v1",
        "✗ online     embedders.far: no vectors: no connection",
        "✗ online     generators.writer",
        "✓ online     known replies: {'result'",
        "✓ online     listing replies: ",
        "✓ online     ids replies: ",
        "✗ online     none: no answer and no passages in {'n': 1}",
        "✓ model      judges.through: own_judge:client",
        "✓ own tables near: read a trial of 200 passages, 0 questions",
        "✓ own tables near: no index of cosine distance",
        "✓ own tables plain: read a trial of 200 passages, 0 questions",
    ):
        assert line in printed
    assert printed.count("no index of cosine distance") == 1
    # A reply is named by how it begins.
    assert len(printed.partition("known replies: ")[2].partition("\n")[0]) == 200
    write(ragbench__toml="")
    assert run(["doctor"]) == 0
    assert "the lexical one stands in" in capsys.readouterr().out
    Path("ragbench.toml").unlink()
    needed = ["no-such-package", "numpy<1", "pandas", "absent; extra == 'cluster'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: needed)
    assert run(["doctor"]) == 3
    printed = capsys.readouterr().out
    assert "no ragbench.toml here: defaults" in printed
    assert "✗ packages   no-such-package is missing; numpy is " in printed
    assert "should be <1: run `make setup`" in printed


def test_a_plan_asks_nobody_and_counts_what_is_kept(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    model = 'base_url = "http://127.0.0.1:9/v1"\nmodel = "m"\ninput_price = 1\noutput_price = 2\n'
    settings = (
        f'dataset = "own"\n[judges.mini]\n{model}[generators.writer]\nkind = "openai"\n{model}'
        '[systems.bm25]\nretriever = "bm25"\ngenerator = "writer"\n'
        '[systems.far]\nurl = "http://127.0.0.1:9/ask"\nanswer = "a"\npassages = "b"\n'
    )
    write("answers.csv", "passages.csv", "questions.csv", ragbench__toml=settings)
    for kind in ("passages", "questions"):
        assert run(["load", kind, f"{kind}.csv", "--name", "own"]) == 0
    capsys.readouterr()
    # Two calls an answer: its claims, and what the contexts say of them.
    assert typed("score answers.csv -c system=version -m faithfulness --plan") == 0
    assert "\nmini       8             0" in capsys.readouterr().out
    assert typed("run tier2_generation tier3_end_to_end --plan") == 0
    captured = capsys.readouterr()
    assert "generators.writer" in captured.out
    assert "mini" in captured.out
    assert "tell its cost" not in captured.err
    table = FILES["answers.csv"].replace("version", "system")
    write(table__csv=table)
    line = "run rag_metrics -m faithfulness -j mini --plan -p answers="
    assert typed(f"{line}table.csv") == 0
    assert "mini       8             0" in capsys.readouterr().out
    assert typed("score table.csv -m exact_match --plan") == 0
    assert "no model would be asked" in capsys.readouterr().out
    # The answers of the table, each twice; without contexts nobody can say whether it is faithful.
    write(rated__csv="id,question,answer,reference,ann\n1,Who?,Leo,Leo,5\n2,Where?,Here,There,1\n")
    line = "run tier_judge --plan -p probed=0 -p answers=rated.csv -p people_scale=1,5"
    for limit, calls in ((2, 4), (1, 2)):
        assert typed(f"{line} --limit {limit}") == 0
        assert f"mini       {calls}             0" in capsys.readouterr().out
    # The data set brings no answers: its page will say so.
    assert typed(line.removesuffix(" -p answers=")) == 0
    assert "mini" in capsys.readouterr().out


PLANNED = """
dataset = "own"
[judges.mini]
base_url = "http://127.0.0.1:9/v1"
model = "m"
[embedders.coded]
callable = "watched:embed"
[retrievers]
hashed = {kind = "dense", embedder = "hashing"}
coded = {kind = "dense", embedder = "coded"}
mixed = {kind = "hybrid", retrievers = ["bm25", "hashed"]}
mixed_coded = {kind = "hybrid", retrievers = ["bm25", "coded"]}
[rerankers.coded]
kind = "callable"
callable = "watched:rank"
[systems]
by_words = {retriever = "bm25"}
by_vectors = {embedder = "hashing"}
by_mixed = {retriever = "mixed"}
as_coded = {callable = "watched:retrieve"}
as_service = {url = "http://127.0.0.1:9/ask", passages = "p"}
as_rewritten = {retriever = "bm25", rewriter = "watched:rewrite"}
as_reranked = {retriever = "bm25", reranker = "coded"}
as_vectors = {embedder = "coded"}
as_mixed = {retriever = "mixed_coded"}
"""
WATCHED = """
def retrieve(question, k):
    open("asked", "w")
    return ["a"]

embed = rank = rewrite = retrieve
"""


@pytest.mark.parametrize("name", ["bm25", *re.findall("^((?:by|as)_\\w+)", PLANNED, re.MULTILINE)])
def test_a_plan_searches_where_nobody_is_asked(
    write: Write, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write("questions.csv", ragbench__toml=PLANNED, watched__py=WATCHED)
    write(passages__csv="id,text\nb,A loan lasts 14 days.\na,It opens at 8.\n")
    for kind in ("passages", "questions"):
        assert run(["load", kind, f"{kind}.csv", "--name", "own"]) == 0
    plans = []
    for system in ("by_words", name):
        capsys.readouterr()
        line = f"run tier3_end_to_end -m faithfulness -p contexts=1 -s {system} --plan"
        assert typed(line) == 0
        captured = capsys.readouterr()
        assert "input_price and output_price of a model" in captured.err
        plans.append(captured.out)
    without = PLANNED.replace("[judges.mini]", "[providers.x]").replace('model = "m"\n', "")
    write(ragbench__toml=without)
    assert typed(f"run tier3_end_to_end -s {name} --plan") == 0
    assert "no model would be asked" in capsys.readouterr().out
    # Who finds the same passages costs the same; who is not asked may find any.
    assert (plans[0] == plans[1]) == (not name.startswith("as_"))
    assert not Path("asked").exists()


def test_run_hands_on_what_was_typed_and_leaves_out_what_has_no_data(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("passages.csv", "questions.csv")
    for kind in ("passages", "questions"):
        assert typed(f"load {kind} {kind}.csv --name own") == 0
    ran: dict[str, Any] = {}

    def pretend(notebooks: list[Path], folder: Path, values: dict[str, Any], **options: Any) -> Run:
        ran.update(names=[path.stem for path in notebooks], values=values, **options)
        folder.mkdir(parents=True)
        page = PageRun(Path("one.ipynb"), "One", {}, status="running")
        options["on_progress"](page)
        page.status, page.seconds = status, 2.0
        options["on_progress"](page)
        return Run(folder, "x", load_language("en"), [page])

    monkeypatch.setattr("ragbench.report.run.run_notebooks", pretend)
    status = "complete"
    line = "run -d own -s bm25 -s dense,hybrid -m mrr@10,ndcg(gain=exponential)@5 -p k=5 -l ru"
    assert typed(f"{line} -p name=[1,2] -p word=b=c --limit 9 --confidence 0.9 --out there") == 0
    assert ran["values"] == {
        "dataset": "own",
        "systems": "bm25, dense, hybrid",
        "metrics": "mrr@10, ndcg(gain=exponential)@5",
        "k": 5,
        "name": [1, 2],
        "word": "b=c",
        "limit": 9,
        "level": 0.9,
        "language": "ru",
    }
    assert ran["settings"].language == "ru"
    assert "tier1_retrieval" in ran["names"]
    assert not {"tier_judge", "tier_judge_pipeline", "tier_ux"} & set(ran["names"])
    told = capsys.readouterr().err
    assert "tier_ux is left out: there are no dialogues and no history" in told
    assert "2.0 s  one" in told
    assert told.count(" s  one") == 1
    assert "1 of 1 pages in" in told
    assert {"tier2_generation", "tier_ux", "real_users"} & set(ran["names"]) == {"tier2_generation"}
    assert typed("run tier_ux -d own") == 0
    assert ran["values"] == {"dataset": "own"}
    status = "failed"
    assert typed("run tier_ux -d own") == 4
    assert "not complete: one; each page says why" in capsys.readouterr().err
    assert ran["names"] == ["tier_ux"]
    assert Path("reports/latest").is_symlink()
    assert typed("run mine.ipynb -d own --out mine") == 4
    assert ran["names"] == ["mine"]
    assert typed("run -d own --out without") == 4
    assert {"tier2_generation", "tier3_end_to_end"} <= set(ran["names"])
    write(bare__csv="id,question\nq1,When is it open?\n")
    for kind, name in (("passages", "passages"), ("questions", "bare")):
        assert typed(f"load {kind} {name}.csv --name bare") == 0
    assert typed("run -d bare --out bare") == 4
    assert ran["names"] == ["tier0_embeddings", "sources", "dataset", "overview"]
    # Only a service that is asked as it is can be given no passages.
    service = '{url = "http://h/ask", '
    systems = {
        "asked": f'{service}answer = "a"}}',
        "given": f"""{service}answer = "a", body = '{{"c": {{contexts}}}}'}}""",
        "searched": f'{service}passages = "p"}}',
        "written": f'{service}answer = "a", passages = "p", generator = "extractive"}}',
    }
    for name, table in systems.items():
        write(ragbench__toml=f"[systems]\n{name} = {table}\n")
        assert typed(f"run -d own --out {name}") == 4
        assert ("tier2_generation" in ran["names"]) == (name != "asked")
        assert ("no systems that take passages" in capsys.readouterr().err) == (name == "asked")
    write("history.csv")
    assert typed("load history history.csv --name own") == 0
    assert typed("run -d own --out logged") == 4
    assert {"tier_ux", "real_users"} <= set(ran["names"])
    write(**{"notebooks/dataset.ipynb": "{}"})
    assert typed("run -d own --out ours") == 4
    assert ran["names"] == ["dataset"]
