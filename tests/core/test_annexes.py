"""The house without what hangs on it: each annex can be taken off, and all of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragbench.core import annexes

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


def without(folder: Path, *names: str) -> Path:
    """A copy of the package that lacks these annexes; all of them where none is named."""
    shutil.copytree(PACKAGE, folder / "ragbench")  # what is compiled as well
    for beside in ("notebooks", "data", "ragbench.toml"):
        (folder / beside).symlink_to(PACKAGE.parent / beside)
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
    for seam in ("commands", "front", "load", "metrics", "pool", "published", "readers"):
        assert annexes.offered(seam), seam  # type: ignore[arg-type]
        for name in annexes.offered(seam):  # type: ignore[arg-type]
            assert annexes.taken(seam, name) is not None  # type: ignore[arg-type]
    assert annexes.taken("commands", "no such command") is None


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
def test_a_whole_report_is_made_without_them(core: Path, tmp_path: Path) -> None:
    done = run(core, "-m", "ragbench", "run", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [folder] = (tmp_path / "reports").glob("2*")
    measured = {path.parent.name for path in (folder / "parts").glob("*/findings.json")}
    assert measured >= {"tier0_embeddings", "tier1_retrieval", "tier2_generation", "tier3_end_to_end", "tier_judge"}
    assert {f"{name}.html" for name in measured - {"overview"}} < {path.name for path in folder.glob("*.html")}
