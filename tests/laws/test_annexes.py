"""The house without what hangs on it: each annex can be taken off, and all of them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from ragbench.core import annexes
from ragbench.core.annexes import install
from tests.laws.sources import text, tree

PACKAGE = Path(__file__).parents[2] / "ragbench"
ANNEXES = sorted(path.parent.name for path in (PACKAGE / "extras").glob("*/__init__.py"))
IMPORT_ALL = """
import importlib, pkgutil, ragbench
names = [found.name for found in pkgutil.walk_packages(ragbench.__path__, "ragbench.") if "__main__" not in found.name]
for name in names:
    importlib.import_module(name)
from ragbench.__main__ import application
import typer.main
print(len(names), *typer.main.get_command(application).commands)
"""


ALONE = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if not getattr(each, "__module__", "").startswith("__editable__")]
"""
"""Python reads it at every start there: what installed this checkout would find in it what the copy lacks."""
TESTS = PACKAGE.parent / "tests"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "extras")


def without(folder: Path, *names: str) -> Path:
    """A copy of the package that lacks these annexes; all of them where none is named."""
    shutil.copytree(PACKAGE, folder / "ragbench")  # what is compiled as well
    (folder / "sitecustomize.py").write_text(ALONE, encoding="utf-8")
    for beside in ("notebooks", "data"):  # a link out of the folder is asked about
        shutil.copytree(PACKAGE.parent / beside, folder / beside)
    shutil.copy(PACKAGE.parent / "ragbench.toml", folder)
    for name in names or ["."]:
        shutil.rmtree(folder / "ragbench" / "extras" / name)
    return folder


def run(house: Path, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(house), "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder or house, check=False
    )


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without(tmp_path_factory.mktemp("core"))


def test_what_annexes_offer_is_there() -> None:
    assert len(annexes.offered("commands")) > 5
    for seam in get_args(annexes.Seam):
        for name in annexes.offered(seam):
            assert annexes.taken(seam, name) is not None
    assert annexes.taken("commands", "no such command") is None


def test_no_test_imports_an_annex_but_its_own() -> None:
    """A room of the core does so nowhere; whoever tries one beside others skips what is not there."""
    imported = {
        (path.relative_to(TESTS).as_posix(), name)
        for path in TESTS.rglob("*.py")
        if "extras" in text(path)  # parsing all the others takes most of the time
        for node in (ast.walk(tree(path)) if path.relative_to(TESTS).parts[0] in ROOMS else tree(path).body)
        for name in (
            [node.module or "", *(f"{node.module}.{each.name}" for each in node.names)]
            if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names] if isinstance(node, ast.Import) else []
        )
    }  # fmt: skip
    of_annexes = [(path, name.split(".")) for path, name in imported if ".extras." in f".{name}"]
    assert len(of_annexes) > 100
    assert [(path, name) for path, name in of_annexes if not path.startswith(f"extras/{name[2]}/")] == []


def test_the_core_is_imported_without_them(core: Path) -> None:
    done = run(core, "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    commands = done.stdout.split()[1:]
    assert {"init", "run", "score", "metrics", "doctor", "lab"} <= set(commands)
    assert not {*commands} & {*annexes.offered("commands")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ANNEXES)
def test_the_others_are_imported_without_one(name: str, tmp_path: Path) -> None:
    done = run(without(tmp_path, name), "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr


def test_what_needs_one_says_that_it_is_not_there(core: Path, tmp_path: Path) -> None:
    done = run(core, "-m", "ragbench", "run", "tier1_retrieval", "--cluster", "local:2", folder=tmp_path)
    assert done.returncode == 3
    assert "has no annex" in done.stderr
    assert "No such command" in run(core, "-m", "ragbench", "trec", folder=tmp_path).stderr


def test_answers_are_scored_without_them(core: Path, tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text("question,answer,reference\nWhen?,At nine.,At nine.\n", encoding="utf-8")
    done = run(core, "-m", "ragbench", "score", "answers.csv", "--metric", "exact_match", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1.000" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_its_own_tests_pass_without_them(core: Path) -> None:
    shutil.copytree(TESTS, core / "tests", ignore=shutil.ignore_patterns("extras", "__pycache__"))
    for beside in ("benchmarks", "docs", "pyproject.toml", "SECURITY.md"):
        (core / beside).symlink_to(PACKAGE.parent / beside)
    quick = ["-q", "-n", "2", "-p", "no:cacheprovider", "-m", "not slow and not browser and not documents"]
    done = run(core, "-m", "pytest", *quick, *(f"tests/{room}" for room in ROOMS))
    assert done.returncode == 0, done.stdout[-5000:]


@pytest.mark.slow
def test_a_whole_report_is_made_without_them(core: Path, tmp_path: Path) -> None:
    done = run(core, "-m", "ragbench", "run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [folder] = (tmp_path / "reports").glob("2*")
    measured = {path.parent.name for path in (folder / "parts").glob("*/findings.json")}
    assert measured >= {"tier0_embeddings", "tier1_retrieval", "tier2_generation", "tier3_end_to_end", "tier_judge"}
    assert {f"{name}.html" for name in measured - {"overview"}} < {path.name for path in folder.glob("*.html")}


ROOT = Path(__file__).parents[2]
PLACES = ("ragbench/**/*.py", "ragbench/**/*.po", "docs/**/*.md", "docs/**/*.po", "notebooks/*.ipynb", "*.md", "*.toml")


def texts() -> Iterator[tuple[Path, str]]:
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            if "_build" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def test_nothing_sends_a_reader_to_a_package_index() -> None:
    wrong = re.compile(r"ragbench\[\w+\]|pip install ['\"]?ragbench\b")
    assert wrong.search("pip install 'ragbench[models]'")
    assert wrong.search("pip install ragbench")
    assert not wrong.search(install("models"))
    found = {path.relative_to(ROOT).as_posix(): text[0] for path, whole in texts() if (text := wrong.search(whole))}
    assert found == {}


def test_every_extra_that_is_named_can_be_installed() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {extra for _, whole in texts() for extra in re.findall(r"PATH\[(\w+)\]", whole)}
    named |= {extra for _, whole in texts() for extra in re.findall(r"\binstall\([\"'](\w+)[\"']\)", whole)}
    assert {"models", "mlflow", "cluster"} <= named <= set(known)
