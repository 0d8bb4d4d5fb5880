"""Projects that somebody else wrote: nothing of them runs, nothing is sent, nothing is opened, before one answer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest

from ragbench.old import report
from ragbench.old.core import annexes, settings, trust
from ragbench.old.systems import callables
from ragbench.old.tiers.basics import session
from tests.old import small_project
from tests.old.cli.command_line import ragbench
from tests.old.llm.chat_server import ChatServer

ROOT = Path(__file__).parents[4]
CANARY = "CANARY"
RUNS = f"open({CANARY!r}, 'w').close()\ndef find(*given):\n    return ['a1']\n"
KEY = "FAR_SECRET_KEY"
RUN = ("run", "tier1_retrieval")
ANSWERS = '{"user_input": "What?", "response": "That.", "retrieved_contexts": ["That."]}\n'
RANKED = '{"id": "q1", "retrieved": ["a1"]}\n'


@dataclass(frozen=True)
class Hostile:
    """lines: of its settings; {url} is an address of this machine that counts what it is sent, {other} a folder beside
    the project's. top: lines above all tables. files: below the project's folder. links: to what lies in {other}.
    named: what the question says. words: the command. without: the settings' file, too."""

    lines: str = ""
    top: str = ""
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    named: str = ""
    words: tuple[str, ...] = RUN
    without: bool = False


def notebook(*cells: str) -> str:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell, id=f"c{n}") for n, cell in enumerate(cells)])
    return str(nbformat.writes(made))


def changed() -> str:
    known = nbformat.read(annexes.NOTEBOOKS / "tier1_retrieval.ipynb", as_version=4)
    known.cells.append(nbformat.v4.new_code_cell(f"open({CANARY!r}, 'w')", id="last"))
    return str(nbformat.writes(known))


CALL = 'kind = "callable"\ncallable = "evil:find"\n'
EVIL = {"evil.py": RUNS}
SYSTEM = '[systems.x]\nretriever = "bm25"\n'
CONF = f"ssl = on\nssl_passphrase_command = 'touch {CANARY}'\narchive_command = 'touch {CANARY}'\n"
SERVER = {"pg/data/PG_VERSION": "18\n", "pg/data/postgresql.conf": CONF, "pg/data/postgresql.auto.conf": CONF}
DATA, REPORTS = 'data_folder = "../other/data"\n', 'reports_folder = "../other/reports"\n'
SCORE = ("score", "answers.jsonl", "-m", "faithfulness")
TABLE = {"answers.jsonl": ANSWERS}
PROJECTS = {
    "a function that retrieves": Hostile('[systems.x]\ncallable = "evil:find"\n', files=EVIL, named="evil:find"),
    "a function that writes": Hostile(f"[generators.x]\n{CALL}", files=EVIL, named="evil:find"),
    "a function that cuts": Hostile(f'[chunkers.x]\n{CALL}{SYSTEM}chunker = "x"\n', files=EVIL, named="evil:find"),
    "a function that rewrites": Hostile(f'[rewriters.x]\n{CALL}{SYSTEM}rewriter = "x"\n', files=EVIL,
                                        named="evil:find"),
    "a function that reranks": Hostile(f'[rerankers.x]\n{CALL}{SYSTEM}reranker = "x"\n', files=EVIL,
                                       named="evil:find"),
    "a function of the standard library": Hostile('[systems.x]\ncallable = "os:system"\n', named="os:system"),
    "a function that judges": Hostile(files=EVIL, words=("run", "rag_metrics", "-p", "judges=evil:find"),
                                      named="evil:find"),
    "a module of metrics": Hostile('[metrics]\nmodules = ["evil"]\n', files=EVIL, named="evil", words=("metrics",)),
    "a listener": Hostile('[metrics]\nlisteners = ["evil:find"]\n', files={**EVIL, **TABLE}, named="evil:find",
                          words=(*SCORE, "--judge", "lexical")),
    "a package without sources": Hostile('[systems.x]\ncallable = "evil:find"\n', files={"evil.pyc": "x"},
                                         named="evil:find"),
    "a notebook": Hostile(files={"notebooks/evil.ipynb": notebook(f"open({CANARY!r}, 'w')")},
                          words=("run", "evil"), named="notebooks/evil.ipynb"),
    "all notebooks": Hostile(files={"notebooks/evil.ipynb": notebook("import ragbench")}, words=("run",),
                             named="notebooks/evil.ipynb"),
    "a notebook of ours, changed": Hostile(files={"notebooks/tier1_retrieval.ipynb": changed()},
                                           named="notebooks/tier1_retrieval.ipynb"),
    "notebooks and no settings": Hostile(files={"notebooks/tier1_retrieval.ipynb": changed()}, without=True,
                                         named="notebooks/tier1_retrieval.ipynb"),
    "a notebook in JupyterLab": Hostile(files={"notebooks/evil.ipynb": notebook("1")}, words=("lab", "--no-browser"),
                                        named="notebooks/evil.ipynb"),
    "a judge that gets a key": Hostile(f'[judges.x]\nbase_url = "{{url}}"\nmodel = "m"\nkey_variable = "{KEY}"\n',
                                       files=TABLE, words=SCORE, named=KEY),
    "a judge of the inner network": Hostile('[judges.x]\nbase_url = "{url}"\nmodel = "m"\n', files=TABLE, words=SCORE,
                                            named="sends texts to"),
    "a provider": Hostile('[providers.p]\nbase_url = "{url}"\n[judges.x]\nprovider = "p"\nmodel = "m"\n', files=TABLE,
                          words=SCORE, named="providers.p: sends texts to"),
    "a generator at an address": Hostile('[generators.x]\nkind = "openai"\nbase_url = "{url}"\nmodel = "m"\n',
                                         words=("run", "tier2_generation"), named="generators.x: sends texts to"),
    "an embedder at an address": Hostile('[embedders.x]\nkind = "openai"\nmodel = "e"\nbase_url = "{url}"\n'
                                         '[systems.x]\nembedder = "x"\n', named="embedders.x: sends texts to"),
    "a reranker at an address": Hostile(f'[rerankers.x]\nkind = "endpoint"\nmodel = "m"\nbase_url = "{{url}}"\n{SYSTEM}'
                                        'reranker = "x"\n', named="rerankers.x: sends texts to"),
    "a service": Hostile('[systems.x]\nurl = "{url}"\nids = "ids"\n', named="systems.x: sends texts to"),
    "a model of a hub": Hostile('[embedders.x]\nkind = "sentence_transformers"\nmodel = "evil/model"\n[systems.x]\n'
                                'embedder = "x"\n', named="loads the model evil/model"),
    "a model in its folder": Hostile('[rerankers.x]\nkind = "cross_encoder"\nmodel = "model"\n', named="model",
                                     files={"model/config.json": "{}", "model/pytorch_model.bin": "x"}),
    "a model for a table": Hostile('[embedders.x]\nkind = "sentence_transformers"\nmodel = "evil/model"\n', files=TABLE,
                                   words=("score", "answers.jsonl", "-m", "response_relevancy", "--embedder", "x",
                                          "--judge", "lexical"), named="loads the model evil/model"),
    "a database in its folder": Hostile('[database]\nfolder = "pg"\n', files=SERVER, named="database.folder"),
    "a database beside it": Hostile('[database]\nfolder = "../other/pg"\n', named="database.folder"),
    "its database, started": Hostile('[database]\nfolder = "pg"\n', files=SERVER, words=("db", "start"),
                                     named="database.folder"),
    "its database, stopped": Hostile('[database]\nfolder = "pg"\n', files=SERVER, words=("db", "stop"),
                                     named="database.folder"),
    "our own schema": Hostile('[databases.j]\n[databases.j.chunks]\ntable = "journal"\nin_schema = "ragbench"\n',
                              words=(*RUN, "-d", "db:j"), named="databases.j"),
    "a database that a variable names": Hostile('[databases.j]\nurl_variable = "PROD_URL"\n',
                                                words=(*RUN, "-d", "db:j"), named="PROD_URL"),
    "data of another project": Hostile(top='data_folder = "../other/data"\n', named="data_folder: reads {other}/data"),
    "data by a folder with a brace": Hostile(top='data_folder = "x{/../../other/data"\n', files={"x{/y": ""},
                                             named="data_folder: reads {other}/data"),
    "reports by a folder with a brace": Hostile(top='reports_folder = "x{/../../other/reports"\n', files={"x{/y": ""},
                                                named="writes to {other}/reports"),
    "results by a folder with two lines": Hostile('[systems.x]\nresults = "x\\ny/../../other/secret.jsonl"\n',
                                                  files={"x\ny/z": ""}, named="reads {other}/secret.jsonl"),
    "a prompt by a folder with a slot": Hostile('[generators.x]\nprompt = "x{y}/../../other/secret.jsonl"\n',
                                                files={"x{y}/z": ""}, named="reads {other}/secret.jsonl"),
    "a metric's prompt by a folder with a brace": Hostile(
        '[metrics.faithfulness.prompt]\nen = "x{/../../other/secret.jsonl"\n', files={"x{/y": ""},
        named="reads {other}/secret.jsonl"),
    "a link among its data": Hostile(links={"data/small/decisions.en.jsonl": "secret.jsonl"},
                                     named="leads to {other}/secret.jsonl"),
    "a link in place of its data": Hostile(links={"data": "data"}, named="data_folder: reads {other}/data"),
    "a link in place of its reports": Hostile(links={"reports": "reports"}, named="writes to {other}/reports"),
    "notebooks copied elsewhere": Hostile(top='notebooks_folder = "../other/pages"\n', words=("lab", "--no-browser"),
                                          named="writes to {other}/pages"),
    "a data set that is a link": Hostile(links={"data/more": "data"}, named="leads to {other}/data"),
    "results elsewhere": Hostile('[systems.x]\nresults = "../other/secret.jsonl"\n',
                                 named="systems.x.results: reads {other}/secret.jsonl"),
    "results by a link": Hostile('[systems.x]\nresults = "r.jsonl"\n', links={"r.jsonl": "secret.jsonl"},
                                 named="systems.x.results: reads {other}/secret.jsonl"),
    "a prompt elsewhere": Hostile('[generators.x]\nprompt = "../other/secret.jsonl"\n',
                                  named="generators.x.prompt: reads {other}/secret.jsonl"),
    "a metric's prompt elsewhere": Hostile('[metrics.faithfulness.prompt]\nen = "../other/secret.jsonl"\n',
                                           named="reads {other}/secret.jsonl"),
    "reports elsewhere": Hostile(top='reports_folder = "../other/reports"\n', named="writes to {other}/reports"),
    "data at an address": Hostile(top='dataset = "{url}/data"\n', named="dataset: reads"),
    "reports to a bucket": Hostile(top='reports = "s3://evil/reports"\n', named="sends every run to s3://evil/reports"),
    "a cluster": Hostile(top='cluster = "tcp://127.0.0.1:9"\n', named="cluster: sends texts"),
    "a cluster that a file names": Hostile(top='cluster = "kept.json"\n', named="cluster: sends texts",
                                           files={"kept.json": '{"address": "tcp://127.0.0.1:9"}'}),
    "a cluster, by the doctor": Hostile(top='cluster = "tcp://127.0.0.1:9"\n', words=("doctor", "--online"),
                                        named="cluster: sends texts"),
}  # fmt: skip


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().running() as server:
        yield server


@pytest.fixture
def stranger(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, database_folder: Path
) -> Callable[[Hostile, str], tuple[Path, Path]]:
    """Makes a project's folder, and one beside it; nobody has answered for anything."""

    def make(one: Hostile, url: str) -> tuple[Path, Path]:
        base = tmp_path_factory.mktemp("cloned").resolve()
        project, other = base / "project", base / "other"
        small_project.make(project, database_folder)
        small_project.make(other, database_folder)
        (other / "secret.jsonl").write_text(RANKED, encoding="utf-8")
        for name, text in SERVER.items():
            one_file(other / name, text)
        place = project / "ragbench.toml"
        place.write_text(
            f'dataset = "small"\n{one.top}{one.lines}'.replace("{url}", url)
            if 'dataset = "' not in one.top else f"{one.top}{one.lines}".replace("{url}", url),
            encoding="utf-8",
        )  # fmt: skip
        for name, text in one.files.items():
            one_file(project / name, text)
        for name, target in one.links.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            if (project / name).is_dir():
                shutil.rmtree(project / name)
            (project / name).symlink_to(other / target)
        if one.without:
            place.unlink()
        monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
        monkeypatch.setenv(KEY, "sk-0123456789-canary")
        monkeypatch.setenv("PROD_URL", "postgresql://nobody@127.0.0.1:9/prod")
        for variable in ("RAGBENCH_TRUST", "RAGBENCH_CONFIG"):
            monkeypatch.delenv(variable, raising=False)
        if "[database]" in one.lines:
            monkeypatch.delenv("RAGBENCH_DATABASE__FOLDER", raising=False)
        else:
            monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
        monkeypatch.setattr(trust, "_here", {})
        monkeypatch.chdir(project)
        settings.load.cache_clear()
        return project, other

    return make


def one_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.fault("cloned-projects", tried="hostile projects: one question, nothing run, sent or opened", count=52)
@pytest.mark.parametrize("name", PROJECTS)
def test_nothing_of_it_happens_before_one_answer(
    name: str, stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    assert_asked_first(PROJECTS[name], stranger, server)


def assert_asked_first(one: Hostile, stranger: Callable[..., tuple[Path, Path]], server: ChatServer) -> None:
    project, other = stranger(one, server.url)
    before = sorted(path for path in project.parent.rglob("*"))
    done = ragbench(*one.words)
    said = done.stderr.replace("\n", "")
    assert done.returncode == 5, (done.stdout, done.stderr)
    assert one.named.format(other=other) in said, said
    assert "ragbench trust" in said
    assert f"RAGBENCH_TRUST={project}" in said
    assert not list(project.parent.rglob(CANARY))
    assert server.requests == []
    assert sorted(path for path in project.parent.rglob("*")) == before, "nothing was written, started or unpacked"


@pytest.mark.fault("cloned-projects", tried="plans of hostile projects: nothing asked, run or sent", count=8)
@pytest.mark.parametrize(
    "name",
    ["a function that retrieves", "a function that writes", "a function that cuts", "a function that rewrites",
     "a function that reranks", "a judge that gets a key", "a service", "a module of metrics"],
)  # fmt: skip
@pytest.mark.slow
def test_a_plan_asks_nothing_and_runs_nothing(
    name: str, stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    project, _ = stranger(PROJECTS[name], server.url)
    done = ragbench("run", "tier1_retrieval", "tier2_generation", "--plan")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert not list(project.parent.rglob(CANARY))
    assert server.requests == []
    assert not (project.parent / "state").exists()


@pytest.mark.parametrize("name", ["a judge that gets a key", "a provider", "a listener", "a model for a table"])
def test_a_plan_of_a_table_neither(name: str, stranger: Callable[..., tuple[Path, Path]], server: ChatServer) -> None:
    one = PROJECTS[name]
    project, _ = stranger(one, server.url)
    done = ragbench(*one.words, "--plan")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert not list(project.parent.rglob(CANARY))
    assert server.requests == []


@pytest.mark.slow
def test_a_plan_leaves_out_notebooks_that_nobody_answered_for(
    stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    project, _ = stranger(PROJECTS["a notebook"], server.url)
    done = ragbench("run", "tier1_retrieval", "evil", "--plan")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "Not planned, for nobody has answered for this folder: evil." in done.stderr
    assert not list(project.parent.rglob(CANARY))


@pytest.mark.fault("cloned-projects", tried="commands that git runs for a folder's own configuration", count=1)
def test_git_is_not_asked_about_a_strangers_folder(stranger: Callable[..., tuple[Path, Path]]) -> None:
    """`git status` runs what core.fsmonitor names; the commit is told once somebody has answered."""
    project, _ = stranger(Hostile(), "")
    words = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"]
    for command in (["init", "-q"], words, ["config", "core.fsmonitor", f"touch {project / CANARY};false"]):
        subprocess.run(["git", "-C", str(project), *command], check=True)
    assert session.commit() is None
    assert not (project / CANARY).exists()
    trust.grant()
    assert len((session.commit() or "").removesuffix("+")) == 12


NAMES = ("ragbench", "numpy", "pandas", "json", "sitecustomize", "usercustomize", "bottleneck", "ipykernel_launcher",
         "IPython", "papermill", "pathlib", "jupyter_config", "ipython_config")  # fmt: skip
"""Of modules that somebody looks for: those that are there, and those that need not be."""


@pytest.mark.fault("cloned-projects", tried="files named like modules, beside ragbench.toml", count=39)
@pytest.mark.slow
@pytest.mark.parametrize("notebooks", [1, 3], ids=["a kernel", "forks"])
@pytest.mark.parametrize("trusted", [False, True], ids=["a stranger's", "one's own"])
def test_no_file_takes_the_place_of_a_module(
    notebooks: int, trusted: bool, stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    project, _ = stranger(Hostile("[systems.x]\nresults = 'r.jsonl'\n", files={"r.jsonl": RANKED}), server.url)
    for name in NAMES if not trusted else [name for name in NAMES if name not in ("bottleneck",)]:
        for place in (project, project / "notebooks"):
            one_file(place / f"{name}.py", f"open({str(project / f'{CANARY}-{name}')!r}, 'w')\n")
    (project / ".ipython" / "profile_default" / "startup").mkdir(parents=True)
    one_file(project / ".ipython" / "profile_default" / "startup" / "0.py", f"open({CANARY!r}, 'w')")
    pages = ("tier1_retrieval", "sources", "dataset")[:notebooks]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for command in ([str(Path(sys.executable).with_name("ragbench"))], [sys.executable, "-P", "-m", "ragbench"]):
        words = [*command, "run", *pages, "-p", "resamples=200", *(["--trust"] if trusted else [])]
        done = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=300, env=variables)
        assert "reports" in done.stdout, done.stderr
        assert not list(project.rglob(f"{CANARY}*"))


@pytest.mark.slow
def test_python_m_looks_last_where_it_is_started(
    stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    project, _ = stranger(Hostile(), server.url)
    for name in ("pathlib", "typer", "numpy", "pydantic"):
        one_file(project / f"{name}.py", f"open({str(project / f'{CANARY}-{name}')!r}, 'w')\n")
    words = [sys.executable, "-m", "ragbench", "metrics", "mrr"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not list(project.rglob(f"{CANARY}*"))


@pytest.mark.slow
def test_the_labs_kernels_find_modules_of_a_trusted_folder_last(
    stranger: Callable[..., tuple[Path, Path]], server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_client.manager import start_new_kernel

    project, _ = stranger(Hostile(files={"mine.py": "found = 1\n"}), server.url)
    for name in ("numpy", "ragbench", "ipykernel_launcher", "bottleneck"):
        one_file(project / f"{name}.py", f"open({str(project / f'{CANARY}-{name}')!r}, 'w')\n")
    started: list[dict[str, str]] = []
    monkeypatch.setattr(os, "execve", lambda program, words, variables: started.append(variables))
    assert ragbench("lab", "--no-browser").returncode == 0
    assert started[0]["PYTHONSAFEPATH"] == "1"
    code = textwrap.dedent("""
        import importlib.util, ragbench, numpy
        print([bool(importlib.util.find_spec(name)) for name in ("mine", "bottleneck")])
    """)
    for trusted in (False, True):
        if trusted:
            trust.grant()
        variables = {name: value for name, value in started[0].items() if name != "PYTHONPATH"}
        monkeypatch.setenv("JUPYTER_PATH", variables["JUPYTER_PATH"])
        manager, client = start_new_kernel(cwd=str(project), env=variables)
        try:
            said: list[str] = []
            client.execute_interactive(
                code, timeout=60, output_hook=lambda one, said=said: said.append(str(one["content"].get("text", "")))
            )
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert f"[{trusted}, {trusted}]" in "".join(said), said
        assert not list(project.rglob(f"{CANARY}*"))


@pytest.mark.slow
def test_a_notebook_of_ones_own_finds_its_modules(
    stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    cell = f"import evil\nassert evil.find() == ['a1']\nopen({CANARY!r} + '2', 'w')"
    stranger(Hostile(files={**EVIL, "notebooks/mine.ipynb": notebook(cell)}), server.url)
    assert ragbench("run", "mine", "--trust").returncode == 0
    one_file(Path("numpy.py"), RUNS)
    with pytest.raises(ValueError, match="numpy is also the name of a module that is found first"):
        callables.find("numpy:find", "(question, k)", 60, "")


def test_from_python_the_same_is_refused(stranger: Callable[..., tuple[Path, Path]], server: ChatServer) -> None:
    for name in ("a function that retrieves", "a service", "data of another project", "a database in its folder"):
        project, _ = stranger(PROJECTS[name], server.url)
        with pytest.raises(trust.UntrustedError):
            report.run(["tier1_retrieval"], {})
        assert not list(project.parent.rglob(CANARY))
        assert server.requests == []


@pytest.mark.parametrize("key", ["data_folder", "reports_folder", "notebooks_folder"])
def test_links_that_lead_round_in_a_circle_end_in_a_sentence(
    key: str, stranger: Callable[..., tuple[Path, Path]]
) -> None:
    project, _ = stranger(Hostile(top=f'{key} = "circle/x"\n'), "")
    (project / "circle").symlink_to("circle")
    done = ragbench("run", "sources", *(["--plan"] if key == "notebooks_folder" else []))
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if key == "notebooks_folder" else 3), done.stderr
