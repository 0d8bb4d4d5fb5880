"""What a project would run and send: found without running it, asked about once, and again when it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench import report, settings, trust
from ragbench.bench.basics import session
from ragbench.systems import callables
from ragbench.trust import record
from tests import own_notebooks
from tests.chat_server import ChatServer
from tests.command_line import invoke as ran
from tests.small_project import add

ROOT = Path(__file__).parent.parent
CANARY = "CANARY"
SEARCH = "import ranks\ndef find(question, k):\n    return ranks.best(k)\n"
RANKS = "from pathlib import Path\nPath('CANARY').touch()\ndef best(k):\n    return ['a1', 'b1'][:k]\n"


@pytest.fixture
def asked(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is trusted, as at a first run; the state folder of this test's own is given."""
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.delenv("RAGBENCH_TRUST")
    monkeypatch.setattr(record, "_here", {})
    return state


Write = Callable[..., trust.Reach]


@pytest.fixture
def own(project: Path, asked: Path) -> Write:
    """Adds lines to the project's settings and files to its folder; what the project would run and send is given."""

    def write(lines: str = "", **files: str) -> trust.Reach:
        add(project, lines)
        for name, text in files.items():
            place = project / f"{name}.py"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        settings.load.cache_clear()
        return trust.of_project(settings.load())

    return write


CODE = '[systems.mine]\ncallable = "search:find"\n'
JUDGE = '[judges.far]\nbase_url = "https://far.example/v1"\nmodel = "m"\nkey_variable = "FAR_KEY"\n'


def titles(reach: trust.Reach) -> list[str]:
    return [item.title for item in reach.items]


def notebook(path: Path, *cells: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell, id=f"c{n}") for n, cell in enumerate(cells)])
    nbformat.write(made, path)
    return path


def test_a_project_without_code_and_keys_is_never_asked_about(own: Write) -> None:
    near = '[judges.near]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    reach = own(near + '[embedders.hub]\nkind = "sentence_transformers"\nmodel = "some/model"\n')
    assert titles(reach) == ["texts embedders.hub", "texts judges.near"]
    assert not reach.asked
    assert reach.digest == ""
    trust.require(reach)


def test_our_own_project_is_never_asked_about(asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    reach = trust.of_project(settings.load()) | report.reach(sorted((ROOT / "notebooks").glob("*.ipynb")), {})
    assert reach.items == ()


def test_our_own_notebooks_are_known_by_their_code() -> None:
    noted = own_notebooks.NOTED.read_text(encoding="utf-8")
    assert noted == own_notebooks.listed(), "a notebook's code changed: run `python -m tests.own_notebooks`"


def test_texts_outputs_and_metadata_of_a_notebook_are_no_code(own: Write, project: Path) -> None:
    path = project / "copy.ipynb"
    known = json.loads((ROOT / "notebooks" / "tier1_retrieval.ipynb").read_text(encoding="utf-8"))
    known["metadata"]["edited"] = True
    known["cells"].insert(0, {"cell_type": "markdown", "id": "x", "metadata": {}, "source": ["Mine."]})
    path.write_text(json.dumps(known), encoding="utf-8")
    assert not trust.of_notebooks([path]).items
    known["cells"][1:1] = [{"cell_type": "code", "id": "y", "metadata": {}, "outputs": [], "source": "import os"}]
    path.write_text(json.dumps(known), encoding="utf-8")
    assert titles(trust.of_notebooks([path])) == ["notebook copy.ipynb"]


def test_a_notebook_of_another_format_is_told_by_every_byte(own: Write, project: Path) -> None:
    path = project / "old.ipynb"
    path.write_text('{"nbformat": 3, "worksheets": [1]}', encoding="utf-8")
    (before,) = trust.of_notebooks([path]).items
    path.write_text('{"nbformat": 3, "worksheets": [2]}', encoding="utf-8")
    (after,) = trust.of_notebooks([path]).items
    assert before.digest != after.digest


@pytest.mark.fault("cloned-projects", tried="what a project would run or send is named without running it", count=9)
def test_all_that_a_project_would_run_and_send_is_named_and_nothing_of_it_runs(own: Write, project: Path) -> None:
    shared = '[providers.p]\nbase_url = "https://shared.example/v1"\nkey_variable = "SHARED_KEY"\n'
    judges = '[judges.two]\nprovider = "p"\nmodel = "m"\n' + JUDGE
    more = '[embedders.api]\nkind = "openai"\nmodel = "e"\nbase_url = "https://e.example/v1"\nkey_variable = "E_KEY"\n'
    writer = '[generators.g]\nkind = "callable"\ncallable = "lib.write.deep:answer"\n'
    base = '[databases.d]\nurl_variable = "D_URL"\n'
    reach = own(
        shared + judges + more + writer + base + CODE + '[systems.shell]\ncallable = "subprocess:Popen"\n',
        search=SEARCH, ranks=RANKS, later="", hidden="",
        **{
            "lib/__init__": "import later", "lib/write/__init__": "", "lib/near": "",
            "lib/write/deep": "from ..near import x\nimport importlib\nimportlib.import_module('hidden')",
        },
    )  # fmt: skip
    reach |= trust.of_notebooks([notebook(project / "mine.ipynb", "%matplotlib inline\nimport used", "x = 1")])
    (project / "used.py").touch()
    reach |= trust.of_notebooks([project / "mine.ipynb"])
    assert titles(reach) == [
        "callable lib.write.deep:answer", "callable search:find", "callable subprocess:Popen",
        "database databases.d",
        "file hidden.py", "file later.py", "file lib/__init__.py", "file lib/near.py", "file lib/write/__init__.py",
        "file lib/write/deep.py", "file ranks.py", "file search.py", "file used.py",
        "key embedders.api", "key judges.far", "key judges.two", "notebook mine.ipynb",
    ]  # fmt: skip
    said = {item.name: item.says for item in reach.items}
    assert said["judges.two"] == "sends the value of SHARED_KEY to https://shared.example/v1"
    assert said["embedders.api"] == "sends the value of E_KEY to https://e.example/v1"
    assert said["subprocess:Popen"] == "a function of an installed package, named by systems.shell"
    assert not (project / CANARY).exists()
    assert "search" not in sys.modules


@pytest.mark.fault("cloned-projects", tried="commands at a project that is not trusted", count=5)
@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "tier1_retrieval"),
        ("run", "--plan"),
        ("lab", "--no-browser"),
        ("run", "-p", "judges=search:find"),
    ],
    ids=" ".join,
)
def test_a_command_names_everything_and_runs_nothing(own: Write, project: Path, asked: Path, words: Any) -> None:
    reach = own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    done = ran(*words)
    assert done.exit_code == 2
    for name in ("search:find", "ranks.py", "FAR_KEY", "https://far.example/v1", "ragbench trust", "--trust"):
        assert name in done.stderr
    assert f"RAGBENCH_TRUST={trust.pin(reach)}" in done.stderr
    assert not (project / CANARY).exists()
    assert not (project / "reports").exists()
    assert not list(asked.rglob("*.json"))


def test_score_asks_only_where_a_model_would_be_asked(own: Write, project: Path) -> None:
    own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    (project / "a.jsonl").write_text(
        '{"user_input": "What?", "response": "That.", "reference": "That.", "retrieved_contexts": ["That."]}\n',
        encoding="utf-8",
    )
    assert ran("score", "a.jsonl", "-m", "faithfulness", "--judge", "lexical").exit_code == 0
    refused = ran("score", "a.jsonl", "-m", "faithfulness")
    assert refused.exit_code == 2
    assert "sends the value of FAR_KEY to https://far.example/v1" in refused.stderr
    assert not (project / CANARY).exists()


def test_the_doctor_runs_nothing_of_what_is_not_trusted(own: Write, project: Path) -> None:
    own('[systems.mine]\ncallable = "search:fnd"\n', search=SEARCH, ranks=RANKS)
    said = ran("doctor")
    assert "not trusted yet" in said.output
    assert not (project / CANARY).exists()
    trust.grant(trust.of_project(settings.load()))
    assert "systems.mine.callable = 'search:fnd': there is no fnd; there are find" in ran("doctor").output
    assert (project / CANARY).exists()


@pytest.mark.fault("cloned-projects", tried="in Python, without a command that could ask", count=3)
def test_nothing_of_it_runs_from_python_either(own: Write, project: Path) -> None:
    own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    with pytest.raises(trust.UntrustedError, match=r"search:find.*FAR_KEY.*ragbench trust"):
        session.chosen()
    with pytest.raises(trust.UntrustedError, match=r"ranks\.py"):
        callables.find("search:find", "(question, k)", 60, "")
    with pytest.raises(trust.UntrustedError):
        report.run(["tier1_retrieval"], {})
    assert not (project / CANARY).exists()


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a callable's file": (lambda p: (p / "search.py").write_text(SEARCH + "# new"), "search.py: code"),
    "a file that it imports": (lambda p: (p / "ranks.py").write_text(RANKS + "# new"), "ranks.py: code"),
    "a file more": (lambda p: [(p / "ranks.py").write_text("import late"), (p / "late.py").touch()], "late.py: code"),
    "a notebook": (lambda p: notebook(p / "nb" / "mine.ipynb", "x = 2"), "nb/mine.ipynb: a notebook"),
    "the address": (
        lambda p: _swap(p, "//far.example", "//evil.example"),
        "to https://evil.example/v1 (changed; trusted was: sends the value of FAR_KEY to https://far.example/v1)",
    ),
    "the key variable": (lambda p: _swap(p, "FAR_KEY", "AWS_SECRET_ACCESS_KEY"), "AWS_SECRET_ACCESS_KEY"),
    "another callable": (lambda p: _swap(p, "search:find", "os:system"), "os:system"),
}


def _swap(project: Path, old: str, new: str) -> None:
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


@pytest.mark.fault("cloned-projects", tried="what was trusted changes: asked again, and the change is named", count=7)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_asks_again_and_says_what_changed(own: Write, project: Path, name: str) -> None:
    (project / "nb").mkdir()
    notebook(project / "nb" / "mine.ipynb", "x = 1")
    _swap(project, f'notebooks_folder = "{ROOT / "notebooks"}"', 'notebooks_folder = "nb"')
    own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    assert ran("trust").exit_code == 0
    reach = trust.of_project(settings.load())
    assert not trust.doubts(reach)
    change, said = CHANGES[name]
    change(project)
    settings.load.cache_clear()
    record._here.clear()
    done = ran("run", "mine")
    assert done.exit_code == 2
    assert said in done.stderr
    assert ("has changed since you trusted it" in done.stderr) is (name != "another callable")
    assert not (project / CANARY).exists()


def test_what_is_trusted_is_kept_for_this_user_alone_and_never_in_the_project(
    own: Write, project: Path, asked: Path
) -> None:
    reach = own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    before = {path for path in project.rglob("*") if path.is_file()}
    shown = ran("trust")
    assert "search:find" in shown.output
    assert f"RAGBENCH_TRUST={trust.pin(reach)}" in shown.output
    (kept,) = asked.rglob("*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert {path for path in project.rglob("*") if path.is_file()} == before
    record._here.clear()
    trust.require(reach)
    assert str(project.resolve()) in ran("trust", "--list").output
    assert "trusted no more" in ran("trust", "--revoke").output
    assert not list(asked.rglob("*.json"))
    with pytest.raises(trust.UntrustedError):
        trust.require(reach)
    assert ran("trust", "--list").output == "you trust no project yet\n"


def test_a_copy_at_another_place_is_another_project(own: Write, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(CODE, search=SEARCH, ranks=RANKS)
    assert ran("trust").exit_code == 0
    copy = project.parent / f"{project.name}-copy"
    shutil.copytree(project, copy)
    monkeypatch.setenv("RAGBENCH_CONFIG", str(copy / "ragbench.toml"))
    settings.load.cache_clear()
    assert trust.doubts(trust.of_project(settings.load()))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"project": 1}', '{"project": "/", "items": {"a": [1]}}'])
def test_a_damaged_record_trusts_nothing(own: Write, asked: Path, content: str) -> None:
    reach = own(CODE, search=SEARCH, ranks=RANKS)
    trust.grant(reach)
    (kept,) = asked.rglob("*.json")
    kept.write_text(content, encoding="utf-8")
    record._here.clear()
    assert trust.doubts(reach)
    trust.grant(reach)
    record._here.clear()
    assert not trust.doubts(reach)


def test_a_record_cannot_be_written(own: Write, asked: Path, project: Path) -> None:
    reach = own(CODE, search=SEARCH, ranks=RANKS)
    (asked / "ragbench").write_text("a file where a folder should be", encoding="utf-8")
    with pytest.raises(OSError, match="ragbench"):
        trust.grant(reach)
    assert not trust.doubts(reach), "what was trusted holds for this process"


@pytest.mark.parametrize(
    ("value", "works"), [("all", True), ("PIN", True), ("abc,PIN", True), ("1", False), ("", False), ("PIN8", False)]
)
def test_the_variable_trusts_exactly_what_it_pins(
    own: Write, monkeypatch: pytest.MonkeyPatch, value: str, works: bool
) -> None:
    reach = own(CODE + JUDGE, search=SEARCH, ranks=RANKS)
    pin = trust.pin(reach)
    monkeypatch.setenv("RAGBENCH_TRUST", value.replace("PIN8", pin[:8]).replace("PIN", pin))
    part = trust.of_callable("search:find")
    assert (not trust.doubts(part, lambda: trust.of_project(settings.load()))) is works
    changed = own(search=SEARCH + "# new")
    monkeypatch.setattr(record, "_here", {})
    assert bool(trust.doubts(changed)) is (value != "all")


def test_names_of_a_project_draw_no_line_of_their_own(own: Write) -> None:
    own(CODE.replace("search:find", "search:find\\n\\u001b[2K\\u202eAll is well."), search=SEARCH)
    lines = ran("run", "tier1_retrieval").stderr.splitlines()
    assert any("All is well." in line and "search:find" in line for line in lines)
    assert not any(line.startswith("All is well") or "\x1b" in line or "\u202e" in line for line in lines)


def test_a_database_of_the_project_is_code(own: Write, project: Path) -> None:
    path = project / "ragbench.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(f'folder = "{project / "pg"}"' if line.startswith("folder") else line for line in lines)
    path.write_text(text, encoding="utf-8")
    reach = own()
    assert titles(reach) == ["server database.folder"]
    done = ran("db", "start")
    assert isinstance(done.exception, trust.UntrustedError)
    assert not (project / "pg").exists()


@pytest.mark.fault("cloned-projects", tried="files named like packages, under our own notebooks", count=6)
@pytest.mark.slow
def test_a_file_never_takes_the_place_of_a_package(own: Write, project: Path) -> None:
    names = ("pandas", "numpy", "plotly", "jinja2", "json", "ragbench")
    own(CODE, search="def find(question, k):\n    return ['a1']\n")
    for name in names:
        (project / f"{name}.py").write_text(f"open({str(project / name)!r}, 'w')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ragbench", "run", "tier1_retrieval", "--trust", "-p", "resamples=200"],
        cwd=project, capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert "reports" in done.stdout, done.stderr
    assert not [name for name in names if (project / name).exists()]


def test_files_named_like_packages_are_asked_about_before_jupyterlab_opens(own: Write, project: Path) -> None:
    folder = project / "nb"
    shutil.copytree(ROOT / "notebooks", folder)
    _swap(project, f'notebooks_folder = "{ROOT / "notebooks"}"', 'notebooks_folder = "nb"')
    assert not own().asked
    (folder / "mine_alone.py").touch()
    assert not trust.of_namesakes(folder).items
    (folder / "pandas.py").touch()
    done = ran("lab", "--no-browser")
    assert done.exit_code == 2
    assert "nb/pandas.py: code in the place of an installed package" in done.stderr


def test_a_module_of_the_project_comes_first_where_it_is_named(own: Write, project: Path) -> None:
    own(search="def find(question, k):\n    return ['a1']\n", smtplib="def find(question, k):\n    return ['c1']\n")
    trust.grant(trust.of_callable("smtplib:find"))
    sys.modules.pop("smtplib", None)
    try:
        assert callables.find("smtplib:find", "(question, k)", 60, "")("?", 1) == ["c1"]
        assert sys.path.index(str(project)) == len(sys.path) - 1
    finally:
        sys.modules.pop("smtplib", None)
        sys.path.remove(str(project))


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
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
        assert "Trust it" in said[0]
        assert ("Trust it" in said[1]) is (code == 2), "asked once"
        assert bool(server.requests) is (code == 0), "no key without a yes"


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 4096)
    except OSError:
        return b""
