"""The laws of the house: no arrow up between rooms, annexes come off, heavy packages wait."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ragbench"
EXTRAS = sorted(
    path.name for path in (PACKAGE / "extras").iterdir() if (path / "__init__.py").is_file()
)
# Which rooms a room may import from, besides itself and core.
MAY_IMPORT = {
    # A label is looked up when all metrics have declared themselves.
    "core": {"metrics"},
    "stats": set(),
    "metrics": {"stats"},
    "data": {"metrics"},
    "llm": set(),
    "judge": {"llm", "metrics"},
    "embed": {"llm", "metrics", "store"},
    "store": {"data"},
    "systems": {"data", "embed", "store", "llm", "judge", "metrics"},
    "tiers": {"data", "embed", "store", "llm", "judge", "metrics", "systems", "stats"},
    "report": {"stats"},
    "views": {"tiers", "report", "stats", "metrics", "data"},
}
HEAVY = {
    "torch",
    "sentence_transformers",
    "umap",
    "plotly",
    "papermill",
    "distributed",
    "openai",
    "sklearn",
}


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """Modules that a file imports, and whether it does so when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            later |= {id(inner) for inner in ast.walk(node)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in later) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.module, id(node) not in later))
    return found


def files_of(room: str) -> list[Path]:
    return sorted((PACKAGE / room).rglob("*.py"))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_no_import_leads_from_a_room_to_a_later_one(room: str) -> None:
    legal = {room, "core", *MAY_IMPORT[room]}
    for path in files_of(room):
        for module, _ in imports_of(path):
            parts = module.split(".")
            if parts[0] == "ragbench" and len(parts) > 1:
                assert parts[1] in legal, f"{path.relative_to(ROOT)} imports {module}"


def test_annexes_are_imported_by_nobody_and_import_no_other() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).parts
        own = parts[1] if parts[0] == "extras" and len(parts) > 2 else ""
        for module, _ in imports_of(path):
            if module.startswith("ragbench.extras."):
                assert module.split(".")[2] == own, f"{path.relative_to(ROOT)} imports {module}"


def test_heavy_packages_are_imported_where_they_are_needed() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        for module, at_once in imports_of(path):
            is_heavy = module.split(".")[0] in HEAVY
            assert not (is_heavy and at_once), f"{path.relative_to(ROOT)} imports {module} at once"


def test_import_ragbench_loads_next_to_nothing() -> None:
    code = (
        "import sys, ragbench; "
        "print([name for name in ('numpy', 'pandas', 'pydantic', 'typer') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(PACKAGE, folder / "ragbench", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


LIST = """
import sys
# An editable installation would find the annexes of the checkout.
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
from ragbench.cli.main import COMMANDS, is_installed, load_command
there = [name for name, entry in COMMANDS.items() if is_installed(entry[0])]
"""
LOAD = LIST + "[load_command(name) for name in there]; "


def commands(folder: Path, code: str = LIST) -> set[str]:
    """Names of the commands of a copy of the package."""
    done = subprocess.run(
        [sys.executable, "-c", code + "print(*there)"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    return set(done.stdout.split())


def test_every_annex_comes_off_and_takes_its_commands_along(copy: Path) -> None:
    extras = copy / "ragbench" / "extras"
    everything = commands(copy)
    gone = set()
    for name in EXTRAS:
        shutil.move(extras / name, copy / name)
        gone |= everything - commands(copy)
        shutil.move(copy / name, extras / name)
    shutil.rmtree(extras)
    left = {"run", "score", "init", "doctor", "load", "metrics", "lab", "trust"}
    assert commands(copy, LOAD) == everything - gone == left
