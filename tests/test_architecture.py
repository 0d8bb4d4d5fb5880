"""The laws of the house: floors without a back arrow, small rooms, a light front door."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ragbench"

FLOORS = (
    {"types", "settings", "language", "progress"},
    {"metric", "rankings", "stats", "datasets", "llm", "store", "measurement", "trec"},
    {"embed", "judge"},
    {"metrics", "systems"},
    {"bench"},
    {"show"},
    {"report"},
    {"commands"},
    {"__main__", "lab", "labelling"},
)
HEAVY = ("torch", "sentence_transformers", "umap", "plotly", "papermill", "pandas", "scipy", "sklearn", "sqlalchemy",
         "pydantic", "numpy")  # fmt: skip
OUTSIDE = ("psycopg", "sqlalchemy", "openai", "aiohttp", "httpx", "httpx2", "requests", "urllib", "socket", "alembic")
MAY_REACH_OUTSIDE = {"llm", "embed", "store"}


def room(path: Path) -> str:
    """The room that a file belongs to: its first name below the package."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "migrations" not in p.parts)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[tuple[str, bool]]:
    """Absolute names of what a file imports, each with whether the import runs at module level and not for types."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        or (isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test))
        for node in ast.walk(block)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in inner) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: relative import"
            base = node.module or ""
            for alias in node.names:
                full = f"{base}.{alias.name}"
                is_module = (ROOT / Path(*full.split("."))).with_suffix(".py").exists() or (
                    ROOT / Path(*full.split("."))
                ).is_dir()
                found.append((full if is_module else base, id(node) not in inner))
    return found


def floor_of(name: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if name in rooms:
            return number
    raise AssertionError(f"the room {name!r} stands on no floor: add it to FLOORS")


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_no_import_goes_up(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        return
    here = floor_of(room(path))
    for name, _ in imports(path):
        if name.split(".")[0] != "ragbench":
            continue
        assert name != "ragbench", f"{path}: nobody inside the house imports its face"
        other = name.split(".")[1]
        if other != room(path):
            assert floor_of(other) < here, f"{module_name(path)} imports {name}, which is not on a lower floor"


def test_no_circle_of_imports() -> None:
    graph = {
        module_name(path): {n for n, top in imports(path) if n.startswith("ragbench.") and top} for path in sources()
    }
    graph = {name: needs - {name} for name, needs in graph.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"circle: {' → '.join(error.args[1])}")


def test_metrics_know_only_types_and_metric() -> None:
    for path in sources():
        if room(path) == "metrics":
            inside = {n.split(".")[1] for n, _ in imports(path) if n.startswith("ragbench.")}
            assert inside <= {"types", "metric", "metrics"}, f"{path.name} imports {inside}"


def test_stats_knows_arrays_and_types() -> None:
    for path in sources():
        if room(path) == "stats":
            inside = {n.split(".")[1] for n, _ in imports(path) if n.startswith("ragbench.")}
            assert inside <= {"types", "stats"}, f"{path.name} imports {inside}"


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_only_three_rooms_reach_outside(path: Path) -> None:
    if room(path) not in MAY_REACH_OUTSIDE:
        outside = {n for n, _ in imports(path) if n.split(".")[0] in OUTSIDE and n != "urllib.parse"}
        assert not outside, f"{path.name} imports {outside}"


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_rooms_can_be_read_in_one_sitting(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{path.name} has {lines} lines"


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_nothing_unpickles_or_evaluates(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {n.split(".")[0] for n, _ in imports(path)}
    assert not names & {"pickle", "marshal", "shelve", "dill", "joblib"}, path
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not called & {"eval", "exec", "yaml.load", "os.system"}, f"{path}: {called}"
    assert "allow_pickle=True" not in path.read_text(encoding="utf-8")


def test_the_front_door_is_light() -> None:
    program = f"import sys, ragbench, ragbench.__main__\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
