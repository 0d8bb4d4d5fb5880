"""One question a folder: what it names is found without running it, the answer is kept, and new hosts ask again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import pytest

from ragbench.old import report
from ragbench.old.core import settings, trust
from ragbench.old.report.execution import execute
from ragbench.old.systems import callables
from ragbench.old.tiers.basics import session
from tests.old.cli.command_line import invoke, ragbench
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add

ROOT = Path(__file__).parents[4]
CANARY = "CANARY"
SEARCH = "import ranks\ndef find(question, k):\n    return ranks.best(k)\n"
RANKS = "from pathlib import Path\nPath('CANARY').touch()\ndef best(k):\n    return ['a1', 'b1'][:k]\n"
CODE = '[systems.mine]\ncallable = "search:find"\n'
JUDGE = '[judges.far]\nbase_url = "https://far.example/v1"\nmodel = "m"\nkey_variable = "FAR_KEY"\n'


@pytest.fixture
def asked(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody has answered for anything, as at a first run; the state folder of this test's own is given."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.delenv("RAGBENCH_TRUST")
    monkeypatch.setattr(trust, "_here", {})
    return state


Reach = tuple[trust.Item, ...]
Write = Callable[..., Reach]


def everything() -> Reach:
    return (*trust.named(), *trust.notebooks())


@pytest.fixture
def own(project: Path, asked: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Adds lines to the project's settings and files to its folder; what the project would run and send is given.

    Where the database is, its user says.
    """
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))

    def write(lines: str = "", **files: str) -> Reach:
        add(project, lines)
        for name, text in files.items():
            place = project / f"{name}.py"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        settings.load.cache_clear()
        return everything()

    return write


def again(monkeypatch: pytest.MonkeyPatch) -> Reach:
    """What a process that begins now sees of the project."""
    monkeypatch.setattr(trust, "_here", {})
    settings.load.cache_clear()
    return everything()


def swap(project: Path, old: str, new: str) -> None:
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def notebook(path: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell, id=f"c{n}") for n, cell in enumerate(cells)])
    path.parent.mkdir(exist_ok=True)
    nbformat.write(made, path)
    return path


class TestWhatIsNamed:
    def test_our_own_project_asks_nothing(self, asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(ROOT)
        reach = (*everything(), *report.reach(sorted((ROOT / "notebooks").glob("*.ipynb")), {}))
        assert reach == ()

    def test_the_shipped_kinds_ask_nothing(self, own: Write) -> None:
        reach = own('[embedders.a]\nkind = "auto"\n[retrievers.d]\nkind = "dense"\nembedder = "a"\n')
        assert not [item for item in reach if item.own]
        trust.require(*reach)

    def test_it_names_providers_that_need_no_table_and_clients(self, own: Write, project: Path) -> None:
        """Only those that somebody is asked by: the others are ragbench's own, and get nothing."""
        reach = own(
            '[providers.mistral]\nconcurrency = 3\n[judges.a]\nprovider = "mistral"\nmodel = "m"\n'
            '[judges.b]\nprovider = "openrouter"\nmodel = "m"\n'
            '[judges.c]\nclient = "mine:client"\nmodel = "m"\n'
            '[embedders.e]\nkind = "openai"\nprovider = "openai"\nmodel = "t"\n'
        )
        assert [str(item) for item in reach if item.own] == [
            "embedders.e: sends texts and the value of OPENAI_API_KEY to https://api.openai.com/v1",
            "providers.mistral: sends texts and the value of MISTRAL_API_KEY to https://api.mistral.ai/v1",
            "providers.openrouter: sends texts and the value of OPENROUTER_API_KEY to https://openrouter.ai/api/v1",
            "judges.c.client: runs mine:client",
        ]

    def test_everything_is_named_and_nothing_of_it_runs(self, own: Write, project: Path) -> None:
        shared = '[providers.p]\nbase_url = "https://shared.example/v1"\nkey_variable = "SHARED_KEY"\n'
        notebook(project / "nb" / "mine.ipynb", "import used")
        swap(project, f'notebooks_folder = "{ROOT / "notebooks"}"', 'notebooks_folder = "nb"')
        reach = own(
            shared + CODE + JUDGE
            + '[systems.service]\nurl = "http://10.0.0.7/ask"\nids = "ids"\nheaders = {X-Key = "{SERVICE_KEY}"}\n'
            + '[generators.g]\nkind = "callable"\ncallable = "write:answer"\nprompt = "../prompt.txt"\n'
            + '[embedders.hub]\nkind = "sentence_transformers"\nmodel = "some/model"\n'
            + '[databases.d]\nurl_variable = "D_URL"\n[databases.e]\n'
            + '[metrics]\nmodules = ["mine.metrics"]\nlisteners = ["mine.told:it"]\n',
            search=SEARCH, ranks=RANKS,
        )  # fmt: skip
        outside = (project / "../prompt.txt").resolve()
        assert [str(item) for item in reach if item.own] == [
            "judges.far: sends texts and the value of FAR_KEY to https://far.example/v1",
            "providers.p: sends texts and the value of SHARED_KEY to https://shared.example/v1",
            "systems.service: sends texts and the value of SERVICE_KEY to http://10.0.0.7/ask",
            "generators.g.callable: runs write:answer",
            "metrics.listeners: runs mine.told:it",
            "metrics.modules: runs mine.metrics",
            "systems.mine.callable: runs search:find",
            "databases.d: reads the database that D_URL names",
            "databases.e: reads the database of ragbench",
            f"generators.g.prompt: reads {outside}",
            "embedders.hub: loads the model some/model",
            "nb/mine.ipynb: runs this notebook",
        ]
        assert {item.host for item in reach if item.host} == {
            "far.example",
            "shared.example",
            "10.0.0.7",
            "huggingface.co",
        }
        assert not (project / CANARY).exists()
        assert "search" not in sys.modules

    def test_what_the_environment_says_its_user_has_said(self, own: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        own(JUDGE)
        monkeypatch.setenv("RAGBENCH_JUDGES__FAR__BASE_URL", "https://mine.example/v1")
        monkeypatch.setenv("RAGBENCH_CLUSTER", "tcp://10.1.1.1:8786")
        settings.load.cache_clear()
        reach = everything()
        assert {(item.host, item.own) for item in reach if item.host} == {
            ("mine.example", False),
            ("10.1.1.1", False),
        }
        assert not trust.doubts(*reach)

    @pytest.mark.fault("cloned-projects", tried="keys in another case, which settings take for the same", count=3)
    @pytest.mark.parametrize(
        "lines",
        ['[JUDGES.x]\nbase_url = "http://10.0.0.7/v1"\nmodel = "m"\n', '[Systems.x]\ncallable = "search:find"\n',
         '[METRICS]\nmodules = ["search"]\n'],
    )  # fmt: skip
    def test_keys_of_another_case_are_named(self, bare: Path, asked: Path, lines: str) -> None:
        (bare / "ragbench.toml").write_text(f'Dataset = "small"\n{lines}', encoding="utf-8")
        settings.load.cache_clear()
        assert trust.doubts(*everything())
        with pytest.raises(trust.UntrustedError):
            trust.require(*trust.named())

    def test_texts_outputs_and_metadata_of_a_notebook_are_no_code(self, own: Write, project: Path) -> None:
        path = project / "copy.ipynb"
        known = json.loads((ROOT / "notebooks" / "tier1_retrieval.ipynb").read_text(encoding="utf-8"))
        known["metadata"]["edited"] = True
        known["cells"].insert(0, {"cell_type": "markdown", "id": "x", "metadata": {}, "source": ["Mine."]})
        path.write_text(json.dumps(known), encoding="utf-8")
        assert not trust.notebooks([path])
        known["cells"][1:1] = [{"cell_type": "code", "id": "y", "metadata": {}, "outputs": [], "source": "import os"}]
        path.write_text(json.dumps(known), encoding="utf-8")
        assert [item.name for item in trust.notebooks([path])] == ["copy.ipynb"]

    @pytest.mark.parametrize("content", ['{"nbformat": 3, "cells": []}', "{", "[]", '{"cells": 1, "nbformat": 4}'])
    def test_what_is_no_notebook_of_the_present_format_is_asked_about(
        self, own: Write, project: Path, content: str
    ) -> None:
        (project / "old.ipynb").write_text(content, encoding="utf-8")
        assert trust.notebooks([project / "old.ipynb"])

    @pytest.mark.parametrize(
        ("address", "host"),
        [
            ("https://User.Example:8443/v1", "user.example"), ("http://[::1]:8000/v1", "::1"),
            ("s3://bucket/reports", "s3://bucket"), ("tls://10.0.0.1:8786", "10.0.0.1"), ("kept.json", "kept.json"),
        ],
    )  # fmt: skip
    def test_who_is_behind_an_address(self, address: str, host: str) -> None:
        assert trust._host(address) == host


class TestTheQuestion:
    @pytest.mark.fault("cloned-projects", tried="commands in a folder that nobody has answered for", count=5)
    @pytest.mark.parametrize(
        "words",
        [
            ("run",),
            ("run", "tier1_retrieval"),
            ("lab", "--no-browser"),
            ("doctor", "--online"),
            ("run", "-p", "judges=search:find"),
        ],
        ids=" ".join,
    )
    def test_a_command_names_everything_and_runs_nothing(
        self, own: Write, project: Path, asked: Path, words: Any
    ) -> None:
        own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        done = ragbench(*words)
        assert done.returncode == 5
        for name in ("search:find", "FAR_KEY", "https://far.example/v1", "`ragbench trust`", "--trust"):
            assert name in done.stderr
        assert f"RAGBENCH_TRUST={project.resolve()}" in done.stderr.replace("\n", "")
        assert not (project / CANARY).exists()
        assert not (project / "reports").exists()
        assert not list(asked.rglob("*.json"))

    def test_score_asks_only_where_a_model_would_be_asked(self, own: Write, project: Path) -> None:
        own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        (project / "a.jsonl").write_text(
            '{"user_input": "What?", "response": "That.", "reference": "That.", "retrieved_contexts": ["That."]}\n',
            encoding="utf-8",
        )
        assert ragbench("score", "a.jsonl", "-m", "faithfulness", "--judge", "lexical").returncode == 0
        refused = ragbench("score", "a.jsonl", "-m", "faithfulness")
        assert refused.returncode == 5
        assert "sends texts and the value of FAR_KEY to https://far.example/v1" in refused.stderr
        assert not (project / CANARY).exists()

    def test_the_doctor_runs_nothing_of_what_is_not_trusted(self, own: Write, project: Path) -> None:
        own('[systems.mine]\ncallable = "search:fnd"\n', search=SEARCH, ranks=RANKS)
        assert "not trusted yet: systems.mine.callable: runs search:fnd" in ragbench("doctor").stdout
        assert not (project / CANARY).exists()
        trust.grant()
        assert "systems.mine.callable = 'search:fnd': there is no fnd; there are find" in ragbench("doctor").stdout
        assert (project / CANARY).exists()

    @pytest.mark.fault("cloned-projects", tried="in Python, without a command that could ask", count=4)
    def test_nothing_of_it_runs_from_python_either(self, own: Write, project: Path) -> None:
        own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        with pytest.raises(trust.UntrustedError, match=r"FAR_KEY.*search:find.*ragbench trust"):
            session.chosen()
        with pytest.raises(trust.UntrustedError, match="search:find: runs this function"):
            callables.find("search:find", "(question, k)", 60, "")
        for notebooks in (["tier1_retrieval"], ["tier2_generation"]):
            with pytest.raises(trust.UntrustedError):
                report.run(notebooks, {})
        assert not (project / CANARY).exists()

    def test_names_of_a_project_draw_no_line_of_their_own(self, own: Write) -> None:
        own(CODE.replace("search:find", "search:find\\n\\u001b[2K\\u202eAll is well."), search=SEARCH)
        lines = ragbench("run", "tier1_retrieval").stderr.splitlines()
        assert any("All is well." in line and "search:find" in line for line in lines)
        assert not any(line.startswith("All is well") or "\x1b" in line or "\u202e" in line for line in lines)


class TestTheAnswer:
    CHANGES: ClassVar[dict[str, Callable[[Path], object]]] = {
        "a callable's file": lambda p: (p / "search.py").write_text(SEARCH + "# new"),
        "a file that it imports": lambda p: (p / "ranks.py").write_text(RANKS + "# new"),
        "a compiled file": lambda p: (p / "ranks.pyc").write_bytes(b""),
        "a notebook": lambda p: notebook(p / "nb" / "mine.ipynb", "x = 2"),
        "a notebook more": lambda p: notebook(p / "nb" / "other.ipynb", "x = 2"),
        "another callable": lambda p: swap(p, "search:find", "os:system"),
        "a module of metrics": lambda p: add(p, '[metrics]\nmodules = ["ranks"]\n'),
        "another path on the same host": lambda p: swap(p, "far.example/v1", "far.example/v2"),
        "another key variable": lambda p: swap(p, "FAR_KEY", "OTHER_KEY"),
        "another judge of the same host": lambda p: add(p, JUDGE.replace("judges.far", "judges.near")),
        "data elsewhere": lambda p: add(p, '[generators.g]\nprompt = "../prompt.txt"\n'),
    }

    @pytest.mark.fault("cloned-projects", tried="the owner's edits and pull requests: nothing is asked", count=11)
    @pytest.mark.parametrize("name", CHANGES)
    def test_the_owners_edits_ask_nothing(
        self, own: Write, project: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        notebook(project / "nb" / "mine.ipynb", "x = 1")
        swap(project, f'notebooks_folder = "{ROOT / "notebooks"}"', 'notebooks_folder = "nb"')
        own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        assert invoke("trust").exit_code == 0
        self.CHANGES[name](project)
        reach = again(monkeypatch)
        assert trust.doubts(*reach) == ()
        trust.require(*reach)

    @pytest.mark.fault("cloned-projects", tried="a trusted folder that sends to somebody new", count=5)
    @pytest.mark.parametrize(
        ("lines", "host"),
        [
            ('[judges.new]\nbase_url = "https://evil.example/v1"\nmodel = "m"\n', "evil.example"),
            ('[judges.new]\nbase_url = "http://10.0.0.7/v1"\nmodel = "m"\n', "10.0.0.7"),
            ('[systems.new]\nurl = "http://evil.example/ask"\nids = "ids"\n', "evil.example"),
            ('[providers.new]\nbase_url = "https://evil.example/v1"\n', "evil.example"),
            ('[embedders.new]\nkind = "openai"\nmodel = "e"\nbase_url = "https://evil.example/v1"\n', "evil.example"),
        ],
    )
    def test_a_new_host_asks_again(self, own: Write, lines: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
        own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        trust.grant()
        own(lines)
        found = trust.doubts(*again(monkeypatch))
        assert [item.host for item in found] == [host]
        refused = ragbench("run", "tier1_retrieval")
        assert refused.returncode == 5
        assert "names other addresses" in refused.stderr
        assert host in refused.stderr
        assert "search:find" not in refused.stderr, "only what is new"
        assert invoke("trust").exit_code == 0
        assert not trust.doubts(*again(monkeypatch))

    def test_it_is_kept_for_this_user_alone_and_never_in_the_project(
        self, own: Write, project: Path, asked: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before_umask = os.umask(0)
        try:
            reach = own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
            before = {path for path in project.rglob("*") if path.is_file()}
            shown = ragbench("trust")
        finally:
            os.umask(before_umask)
        assert "search:find" in shown.stdout
        (kept,) = asked.rglob("*.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.parent.stat().st_mode & 0o777 == 0o700
        assert {path for path in project.rglob("*") if path.is_file()} == before
        monkeypatch.setattr(trust, "_here", {})
        trust.require(*reach)
        assert f"{project.resolve()}: sends to far.example" in ragbench("trust", "--list").stdout.replace("\n", " ")
        assert "trusted no more" in ragbench("trust", "--revoke").stdout
        assert trust.grants() == {}
        with pytest.raises(trust.UntrustedError):
            trust.require(*reach)
        assert ragbench("trust", "--list").stdout == "you trust no project yet\n"

    def test_a_copy_and_a_folder_below_are_others(
        self, own: Write, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own(CODE, search=SEARCH, ranks=RANKS)
        assert invoke("trust").exit_code == 0
        for copy in (project.parent / f"{project.name}-copy", project / "vendor"):
            copy.mkdir()
            shutil.copy(project / "ragbench.toml", copy)
            monkeypatch.setenv("RAGBENCH_CONFIG", str(copy / "ragbench.toml"))
            assert trust.doubts(*again(monkeypatch))

    def test_one_that_was_made_by_init_is_trusted(
        self, asked: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (bare / "ragbench.toml").unlink()
        (bare / "search.py").write_text(SEARCH, encoding="utf-8")
        (bare / "questions.jsonl").write_text('{"question": "What?", "answer": "That."}\n', encoding="utf-8")
        monkeypatch.delenv("RAGBENCH_CONFIG")
        done = ragbench("init", "questions.jsonl", "search:find")
        assert done.returncode == 0, done.stderr
        reach = again(monkeypatch)
        assert [str(item) for item in reach] == ["systems.find.callable: runs search:find"]
        assert not trust.doubts(*reach)

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"project": 1}', '{"project": "/", "hosts": []}'])
    def test_a_damaged_record_trusts_nothing(
        self, own: Write, asked: Path, content: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own(CODE, search=SEARCH, ranks=RANKS)
        trust.grant()
        (kept,) = asked.rglob("*.json")
        kept.write_text(content, encoding="utf-8")
        assert trust.doubts(*again(monkeypatch))
        trust.grant()
        assert not trust.doubts(*again(monkeypatch))

    @pytest.mark.fault("cloned-projects", tried="a file of answers that others may write to", count=4)
    @pytest.mark.parametrize(
        ("place", "mode"), [("file", 0o666), ("file", 0o620), ("folder", 0o777), ("folder", 0o730)]
    )
    def test_a_file_that_others_write_trusts_nothing(
        self, own: Write, asked: Path, place: str, mode: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own(CODE, search=SEARCH, ranks=RANKS)
        trust.grant()
        (kept,) = asked.rglob("*.json")
        (kept if place == "file" else kept.parent).chmod(mode)
        assert trust.doubts(*again(monkeypatch))
        trust.grant()
        assert not trust.doubts(*again(monkeypatch)), "an answer makes it the user's own again"

    def test_a_file_of_another_user_trusts_nothing(
        self, own: Write, asked: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own(CODE, search=SEARCH, ranks=RANKS)
        trust.grant()
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        assert trust.doubts(*again(monkeypatch))

    def test_a_link_to_it_is_it_and_a_moved_one_is_another(
        self, own: Write, project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own(CODE, search=SEARCH, ranks=RANKS)
        trust.grant()
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "link").symlink_to(project)
        monkeypatch.setenv("RAGBENCH_CONFIG", str(elsewhere / "link" / "ragbench.toml"))
        assert not trust.doubts(*again(monkeypatch))
        shutil.copytree(project, elsewhere / "moved")
        monkeypatch.setenv("RAGBENCH_CONFIG", str(elsewhere / "moved" / "ragbench.toml"))
        assert trust.doubts(*again(monkeypatch))

    def test_a_record_cannot_be_written(self, own: Write, asked: Path, project: Path) -> None:
        reach = own(CODE, search=SEARCH, ranks=RANKS)
        (asked / "ragbench").write_text("a file where a folder should be", encoding="utf-8")
        with pytest.raises(OSError, match="ragbench"):
            trust.grant()
        assert not trust.doubts(*reach), "what was trusted holds for this process"

    @pytest.mark.parametrize(
        ("value", "works"),
        [("{}", True), ("/elsewhere:{}", True), ("{}/..", True), ("/", True), ("/elsewhere", False), ("", False),
         ("{}/data", False), ("all", False), ("{}-other", False), (":", False)],
    )  # fmt: skip
    def test_the_variable_names_folders(
        self, own: Write, project: Path, monkeypatch: pytest.MonkeyPatch, value: str, works: bool
    ) -> None:
        reach = own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
        monkeypatch.setenv("RAGBENCH_TRUST", value.format(project))
        assert (not trust.doubts(*reach)) is works
        own(search=SEARCH + "# new")
        assert (not trust.doubts(*again(monkeypatch))) is works


@pytest.mark.parametrize("trusted", [False, True])
def test_every_kernel_begins_by_joining_the_path_of_a_trusted_folder(
    trusted: bool, own: Write, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, of a run's kernels and of JupyterLab's."""
    spec = ROOT / "ragbench" / "old" / "cli" / "jupyter" / "kernels" / "python3" / "kernel.json"
    assert f"--IPKernelApp.exec_lines={execute.PROJECT_LAST}" in json.loads(spec.read_text(encoding="utf-8"))["argv"]
    if trusted:
        trust.grant()
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(project)])
    exec(execute.PROJECT_LAST, {})
    assert (sys.path[-1] == str(project)) is trusted


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("y", 4), ("n", 5), ("", 5)])
def test_on_a_terminal_one_question_is_asked_once(
    own: Write, project: Path, asked: Path, answer: str, code: int
) -> None:
    import pty

    with ChatServer().running() as server:
        own(JUDGE.replace("https://far.example/v1", server.url))
        (project / "a.jsonl").write_text(
            '{"user_input": "What?", "response": "That.", "retrieved_contexts": ["That."]}\n', encoding="utf-8"
        )
        words = [sys.executable, "-P", "-m", "ragbench", "score", "a.jsonl", "-m", "faithfulness"]
        settled = {**os.environ, "PYTHONPATH": str(ROOT), "FAR_KEY": "sk-canary", "NO_COLOR": "1"}
        said = []
        for _ in range(2):
            mine, theirs = pty.openpty()
            with subprocess.Popen(words, cwd=project, stdin=theirs, stdout=theirs, stderr=theirs, env=settled) as child:
                os.close(theirs)
                os.write(mine, f"{answer}\n".encode())
                text = b""
                while part := _read(mine):
                    text += part
                os.close(mine)
            said.append(text.decode())
            assert child.returncode == code, said[-1]
        assert "Is it trusted" in said[0]
        assert ("Is it trusted" in said[1]) is (code == 5), "asked once"
        assert bool(server.requests) is (code != 5), "no key without a yes"


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 4096)
    except OSError:
        return b""


def test_folders_that_are_answered_for_at_once_are_all_kept(tmp_path: Path) -> None:
    """Two `ragbench init` beside each other: each writes the whole file of answers."""
    grant = (
        "import sys, time; from ragbench.old.core import trust; read = trust.grants\n"
        "def slow():\n    there = read(); time.sleep(0.3); return there\n"
        "trust.grants = slow; sys.stdin.read(); trust.grant()"
    )
    state = tmp_path / "state"
    begun = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ragbench.toml").touch()
        others = {key: value for key, value in os.environ.items() if not key.startswith("RAGBENCH_")}
        begun.append(
            subprocess.Popen(
                [sys.executable, "-c", grant],
                cwd=tmp_path / name,
                env={**others, "XDG_STATE_HOME": str(state)},
                stdin=subprocess.PIPE,
            )
        )
    for process in begun:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in begun] == [0] * 2
    kept = json.loads((state / "ragbench" / "trusted" / "folders.json").read_text(encoding="utf-8"))
    assert [Path(project).name for project in sorted(kept)] == ["a", "b"]
