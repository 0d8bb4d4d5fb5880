"""The laws of the house: floors without a back arrow, small rooms, a light front door."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "ragbench"

FLOORS = (
    {"expectations", "names", "language"},
    {"types", "settings", "folders", "waves"},
    {"terminal", "trust", "counts", "stand_ins", "older_measurements"},
    {"tables"},
    {"metric", "rankings", "stats", "datasets", "llm", "store", "measurement", "answered_by",
     "trec"},
    {"embed", "judge", "progress"},
    {"metrics", "systems"},
    {"bench"},
    {"show"},
    {"report"},
    {"commands"},
    {"__main__", "lab", "labelling"},
)  # fmt: skip
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


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def is_module(name: str) -> bool:
    """Whether this is a module or a room of the package, and not what one of them holds."""
    place = ROOT / Path(*name.split("."))
    return name.startswith("ragbench.") and (place.with_suffix(".py").exists() or place.is_dir())


@functools.cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """Absolute names of what a file imports, each with whether the import runs at module level and not for types."""
    tree = tree_of(path)
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
            names = (f"{base}.{alias.name}" for alias in node.names)
            found += [(name if is_module(name) else base, id(node) not in inner) for name in names]
    return found


def floor_of(name: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if name in rooms:
            return number
    raise AssertionError(f"the room {name!r} stands on no floor: add it to FLOORS")


def test_no_import_goes_up() -> None:
    wrong = [
        f"{module_name(path)} imports {name}, which is not on a lower floor"
        for path in sources()
        if path != PACKAGE / "__init__.py"
        for name, _ in imports(path)
        if name.startswith("ragbench.")
        and (other := name.split(".")[1]) != room(path)
        and floor_of(other) >= floor_of(room(path))
    ]
    assert not wrong


def test_nobody_inside_the_house_imports_its_face() -> None:
    assert not [module_name(path) for path in sources() for name, _ in imports(path) if name == "ragbench"]


def test_no_circle_of_imports() -> None:
    """Every import counts, also those within functions and for types alone."""
    graph = {module_name(path): {n for n, top in imports(path) if n.startswith("ragbench.")} for path in sources()}
    graph = {name: needs - {name} for name, needs in graph.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"circle: {' → '.join(error.args[1])}")


def test_metrics_know_only_types_and_metric() -> None:
    for path in sources():
        if room(path) == "metrics":
            inside = {n.split(".")[1] for n, _ in imports(path) if n.startswith("ragbench.")}
            assert inside <= {"types", "waves", "metric", "metrics"}, f"{path.name} imports {inside}"


def test_stats_knows_arrays_and_types() -> None:
    for path in sources():
        if room(path) == "stats":
            inside = {n.split(".")[1] for n, _ in imports(path) if n.startswith("ragbench.")}
            assert inside <= {"types", "stats"}, f"{path.name} imports {inside}"


def test_only_three_rooms_reach_outside() -> None:
    wrong = [
        f"{module_name(path)} imports {name}"
        for path in sources()
        if room(path) not in MAY_REACH_OUTSIDE
        for name, _ in imports(path)
        if name.split(".")[0] in OUTSIDE and name != "urllib.parse"
    ]
    assert not wrong


def test_rooms_can_be_read_in_one_sitting() -> None:
    lines = {module_name(path): path.read_text(encoding="utf-8").count("\n") for path in sources()}
    assert not {name: number for name, number in lines.items() if number > 600}
    long = {name: number for name, number in lines.items() if number > 400}
    assert len(long) <= 2, f"above 400 lines, which is to be rare: {long}"


HTML_LEFT = {
    "about/overview": 19, "answers/corrected": 7, "answers/side_by_side": 8, "basics/footnotes": 3, "basics/marks": 6,
    "blame/failed_questions": 5, "blame/perfect_parts": 7, "blame/shares": 10, "blame/waterfall": 4,
    "comparison/answer": 4, "comparison/bands": 9, "comparison/correlations": 5, "comparison/intervals": 2,
    "comparison/slices": 13, "comparison/verdict_table": 15, "comparison/worst_questions": 15, "judges/classes": 9,
    "judges/probes": 14, "judges/replies": 17, "judges/trust": 3, "judges/words": 3, "page": 2, "retrieval/curves": 5,
    "runs/compared": 16, "runs/history": 6, "sentences/descriptions": 3, "sentences/findings": 5,
    "sentences/judges": 1, "view": 2,
}  # fmt: skip
"""How many pieces of HTML a module of `show` may still hold: numbers here are only ever lowered."""


def html_pieces(source: str) -> int:
    """Calls of Markup on a literal with an element in it; a place where a line may break is no element."""
    return sum(
        isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("Markup")
        and any(
            isinstance(one, ast.Constant) and re.search(r"<(?!wbr>)[a-z/]", str(one.value))
            for given in node.args
            for one in ast.walk(given)
        )
        for node in ast.walk(ast.parse(source))
    )


def test_html_is_written_in_templates() -> None:
    folder = PACKAGE / "show"
    found = {
        path.relative_to(folder).with_suffix("").as_posix(): html_pieces(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.py")
    }
    more = {name: (HTML_LEFT.get(name, 0), count) for name, count in found.items() if count > HTML_LEFT.get(name, 0)}
    assert not more, f"HTML in Python, allowed and found; write it in report_template/views: {more}"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("Markup('<p>{}</p>').format(a)", 1),
        ("markupsafe.Markup(f'<b>{a}</b>')", 1),
        ("Markup('_<wbr>')", 0),
        ("Markup(', ').join(a)", 0),
    ],
)
def test_the_law_sees_html(source: str, count: int) -> None:
    assert html_pieces(source) == count


def test_the_front_door_is_light() -> None:
    program = f"import sys, ragbench, ragbench.__main__\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


WRITES = {"write_text", "write_bytes", "to_csv", "to_parquet", "savefig", "mkstemp", "NamedTemporaryFile",
          "copyfile", "copy", "copy2", "move", "save", "dump", "savez"}  # fmt: skip
MODULES = {"shutil", "np", "numpy", "json", "nbformat", "toml"}
"""Of the words above, copy, move, save and dump write only where one of these has them."""
DOOR = {
    "ragbench.folders": "it is the door",
    "ragbench.progress": "how far a run is, for as long as it runs",
    "ragbench.store.cluster": "the server's own files, in a folder that gets its name when it is whole",
    "ragbench.report.execution.unfinished": "a file that is locked while it is written",
}
WITHIN = {
    "ragbench.report.exports.packs:_put": "into a packed file that is made by the door",
    "ragbench.report.exports.packs:_unpacked": "in a folder for as long as it is looked at",
    "ragbench.report.exports.packs:bring_in": "in a folder that takes its place whole",
    "ragbench.store.dumps:dump": "into a packed file that is made by the door",
    "ragbench.trust.record:grant": "a file that is its user's alone from its first byte, on the disk before its name",
    "ragbench.labelling.widget:_uploaded": "a temporary copy of what was handed over, to be read",
}


def writers(path: Path) -> list[str]:
    """`module:function` of each call that writes a file other than by the door of `ragbench.folders`.

    What is written to a path called `temporary` is within `folders.whole` or `folders.write_by`.
    """
    tree = tree_of(path)
    found = []
    for outer in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]:
        for node in ast.walk(outer):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            words = [a.value for a in (*node.args, *(k.value for k in node.keywords)) if isinstance(a, ast.Constant)]
            opens = name in ("open", "fdopen") and any(
                isinstance(word, str) and set(word) <= set("rwaxbt+") and set(word) & set("wax+") for word in words
            )
            plain = name in ("copy", "copy2", "move", "save", "dump", "savez")
            writes = opens or (name in WRITES and (not plain or owner in MODULES))
            into_memory = name in ("save", "dump") and node.args and ast.unparse(node.args[0]) == "content"
            if writes and not into_memory and "temporary" not in ast.unparse(node):
                found.append(f"{module_name(path)}:{outer.name}")
    return found


@pytest.mark.fault("disk", tried="every call in the package that writes a file goes by the one door", count=30)
def test_every_file_is_written_by_the_one_door() -> None:
    found = {place for path in sources() for place in writers(path)}
    past = {place for place in found if place.split(":")[0] not in DOOR}
    assert past == set(WITHIN), past ^ set(WITHIN)
    assert {place.split(":")[0] for place in found} >= set(DOOR)


PRINTERS = {"print", "typer.echo", "typer.secho", "typer.style", "typer.confirm", "typer.prompt", "os.write",
            "typer.progressbar", "typer.echo_via_pager", "pprint.pprint"}  # fmt: skip
DRAWERS = {"rich", "tqdm", "click", "logging", "traceback", "pprint", "colorama"}
MAY_PRINT = {
    "ragbench.commands.console.interruption": {
        "os.write"
    },  # in the midst of anything, what goes through the door's pattern
    "ragbench.datasets.parquet_decoder": {"print", "stdout", "stderr"},  # a program of its own, whose parent reads it
    "ragbench.llm.uses": {"os.write"},  # into a file
    "ragbench.terminal": DRAWERS | PRINTERS | {"stdout", "stderr"},
    "ragbench.progress": {"tqdm"},  # of its bar below a notebook's cell, which is HTML
    "ragbench.report.execution.execute": {"logging"},  # which it silences
    "ragbench.__main__": {"stdout", "stderr"},  # whose encoding it sets
}


def printed(source: str) -> set[str]:
    """What a source prints with: printers it calls or passes on, drawers it imports, the streams themselves."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names} & DRAWERS
            found |= {name.asname for name in node.names if name.name in ("sys", "typer", "os") and name.asname}
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".")[0]
            found |= {base} & DRAWERS
            names = {name.name for name in node.names}
            if base in ("sys", "typer", "os"):
                found |= names & {"stdout", "stderr", "__stdout__", "__stderr__", "write"}
                found |= {f"{base}.{name}" for name in names} & PRINTERS
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "input":
            found.add("input")
        elif isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in PRINTERS:
            found.add(ast.unparse(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "sys" and node.attr.strip("_") in (
            "stdout", "stderr", "displayhook",
        ):  # fmt: skip
            found.add(node.attr.strip("_"))
    return found


@pytest.mark.fault("links", tried="every module that could print past the one door", count=400)
def test_nobody_prints_past_the_terminals_door() -> None:
    wrong = {}
    for path in sources():
        text = path.read_text(encoding="utf-8").replace("sys.stderr.isatty()", "True")
        if found := printed(text) - MAY_PRINT.get(module_name(path), set()):
            wrong[module_name(path)] = found
    assert not wrong


@pytest.mark.parametrize(
    "source",
    [
        "print(1)", "show = print", "import typer\ntyper.echo(1)", "from typer import echo", "typer.secho('x')",
        "import sys\nsys.stdout.write('x')", "from sys import stderr", "import sys as s", "sys.__stdout__.write('x')",
        "from rich.console import Console", "import rich", "def f():\n    from rich import print", "import logging",
        "import traceback", "from tqdm import tqdm", "import click", "os.write(1, b'x')", "typer.confirm('x')",
        "input('x')",
    ],
)  # fmt: skip
def test_the_law_sees_every_way_to_print(source: str) -> None:
    assert printed(source)
