"""The laws of the house, each held by the house as it stands and seen to fail on one that breaks it."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.laws import sources

pytestmark = pytest.mark.law
ROOT = Path(__file__).parent.parent

ROOMS = (
    {"core"},
    {"stats"},
    {"metrics"},
    {"data"},
    {"llm"},
    {"judge"},
    {"store"},
    {"embed"},
    {"systems"},
    {"tiers"},
    {"views"},
    {"report"},
    {"cli"},
    {"extras"},
    {"__main__"},
)
"""Each may import those before it. What hangs in `extras` is imported by nobody: `ragbench.core.annexes` finds it."""
HEAVY = ("torch", "sentence_transformers", "umap", "plotly", "papermill", "pandas", "scipy", "sklearn", "sqlalchemy",
         "pydantic", "numpy", "distributed", "fsspec")  # fmt: skip
OUTSIDE = ("fsspec", "psycopg", "sqlalchemy", "openai", "aiohttp", "httpx", "httpx2", "requests", "urllib", "socket",
           "dask", "distributed")  # fmt: skip
MAY_REACH_OUTSIDE = ("llm", "embed", "store", "data.remotes", "extras.cluster")
KNOWN_BY = {
    "metrics": ("metrics", "core.annexes", "core.metric", "core.segmentation", "core.types", "core.waves"),
    "stats": ("stats", "core.types"),
}
CATALOGUE = "metrics"
MODULES_OF_A_ROOM = 40
FILES = 400
SPLINTERS = 70
"""Modules that one other of their room alone imports, and that could stand with it: fewer at any time, never more."""
SISTERS = ("command", "errors")
"""Names that several folders have for one job: an annex's commands, what goes wrong with models and the database."""
SHARED = ("basics", "sentences")
"""Of views, what their topics share."""
ENDINGS = (
    "ations", "ation", "ings", "ing", "ers", "er", "ors", "or", "ies", "ed", "es", "s", "y", "e",
)  # fmt: skip


@dataclass(frozen=True)
class Module:
    """A file of the package: its dotted name, its room, its tree, and what it imports."""

    path: Path
    root: Path

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The names below the package, `__init__` left out."""
        parts = self.path.relative_to(self.root / "ragbench").with_suffix("").parts
        return parts[:-1] if parts[-1] == "__init__" else parts

    @cached_property
    def name(self) -> str:
        return ".".join(("ragbench", *self.parts))

    @property
    def room(self) -> str:
        return self.parts[0] if self.parts else ""

    @cached_property
    def text(self) -> str:
        return sources.text(self.path)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return sources.nodes(self.path)

    @cached_property
    def imports(self) -> frozenset[str]:
        """Absolute names of every import, also those within functions and for types alone."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.name}:{node.lineno}: relative import"
                house = f"{node.module}.".startswith("ragbench.")
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found.add(full if house and is_module(self.root, full) else str(node.module))
        return frozenset(found)

    @property
    def inner(self) -> Iterator[str]:
        """What it imports of the house."""
        return (name for name in self.imports if name.startswith("ragbench."))


@functools.cache
def is_module(root: Path, name: str) -> bool:
    path = root.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def is_within(name: str, places: Iterable[str]) -> bool:
    """Whether a module is one of these places of the package, or below it."""
    return any(f"{name}.".startswith(f"ragbench.{place}.") for place in places)


class House:
    """All modules of a package called ragbench in a folder."""

    def __init__(self, root: Path) -> None:
        found = sorted((root / "ragbench").rglob("*.py"))
        self.modules = [Module(path, root) for path in found if "migrations" not in path.parts]
        self.folders: dict[Path, list[Module]] = defaultdict(list)
        for module in self.modules:
            if module.path.stem != "__init__":
                self.folders[module.path.parent.relative_to(root / "ragbench")].append(module)


def floor_of(name: str) -> int:
    for number, rooms in enumerate(ROOMS):
        if name in rooms:
            return number
    raise AssertionError(f"the room {name!r} stands on no floor: add it to ROOMS")


def uphill(house: House) -> list[str]:
    """Imports of what is not on a lower floor."""
    return [
        f"{module.name} imports {name}"
        for module in house.modules
        if module.room
        for name in module.inner
        if (other := name.split(".")[1]) != module.room and floor_of(other) >= floor_of(module.room)
    ]


def annexed(house: House) -> list[str]:
    """Imports of an annex from elsewhere, another annex included."""
    return [
        f"{module.name} imports {name}"
        for module in house.modules
        for name in module.inner
        if is_within(name, ["extras"])
        and (module.parts[:1] != ("extras",) or module.parts[1:2] != tuple(name.split(".")[2:3]))
    ]


def mingled(house: House) -> list[str]:
    """Topics of views that import one another: what several need lies in `basics` or `sentences`."""
    return [
        f"{module.name} imports {name}"
        for module in house.modules
        if module.room == "views" and len(module.parts) > 2 and module.parts[1] not in SHARED
        for name in module.inner
        if is_within(name, ["views"])
        and (topic := name.split(".")[2:3]) not in ([module.parts[1]], ["view"], *([shared] for shared in SHARED))
        and (module.root / "ragbench" / "views" / topic[0]).is_dir()
    ]


def strewn(house: House) -> list[str]:
    """What lies at the top beside rooms: a stranger finds the way by fifteen names."""
    loose = [m.name for m in house.modules if len(m.parts) == 1 and m.path.stem not in ("__init__", "__main__")]
    rooms = {m.room for m in house.modules if len(m.parts) > 1}
    return [*loose, *([f"{len(rooms)} rooms"] if len(rooms) > 15 else [])]


def faced(house: House) -> list[str]:
    """Rooms that import the front door. What users' tests and other tools import stands beside it."""
    beside = ("extras.testing",)
    return [
        module.name for module in house.modules if "ragbench" in module.imports and not is_within(module.name, beside)
    ]


def circles(house: House) -> list[str]:
    """A circle of modules, every import counted."""
    graph = {module.name: set(module.inner) - {module.name} for module in house.modules if module.room}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" → ".join(error.args[1])]
    return []


def unlearned(house: House) -> list[str]:
    """What the rooms of KNOWN_BY import of the house beyond what they may know."""
    return [
        f"{module.name} imports {name}"
        for module in house.modules
        for name in module.inner
        if module.room in KNOWN_BY and not is_within(name, KNOWN_BY[module.room])
    ]


def outward(house: House) -> list[str]:
    """Imports of what reaches outside the process, in rooms that may not."""
    return [
        f"{module.name} imports {name}"
        for module in house.modules
        if not is_within(module.name, MAY_REACH_OUTSIDE)
        for name in module.imports
        if name.split(".")[0] in OUTSIDE and name != "urllib.parse"
    ]


def crowded(house: House) -> list[str]:
    """Folders of more modules than a reader holds in the head; a catalogue may be a long list."""
    return [
        f"{folder}: {len(modules)}"
        for folder, modules in house.folders.items()
        if len(modules) > MODULES_OF_A_ROOM and str(folder) != CATALOGUE
    ]


def stem(name: str) -> str:
    """A module's name without the endings of its words."""
    return "_".join(_stem(word) for word in name.split("_"))


def _stem(word: str) -> str:
    ending = next((end for end in ENDINGS if word.endswith(end) and len(word) >= len(end) + 3), "")
    return _stem(word.removesuffix(ending)) if ending else word


def confusable(house: House) -> list[str]:
    """Names within one room that differ in their endings alone: answer, answers, answering."""
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in house.modules:
        depth = 2 if module.room in ("core", "extras") else 1  # these are rooms of rooms
        inner = len(module.parts) > depth or module.path.stem == "__init__"
        room = ".".join(module.parts[: depth if inner else depth - 1])
        for name in module.parts[depth if inner else depth - 1 :]:
            names[room, stem(name)].add(name)
    return [f"{room}: {', '.join(sorted(found))}" for (room, _), found in names.items() if len(found) > 1]


def twice(house: House) -> list[str]:
    """Names of two files, where their folders do not do the same job: a name is looked for in the whole house."""
    places = defaultdict(list)
    for module in house.modules:
        if module.path.stem not in ("__init__", *SISTERS):
            places[module.path.stem].append(module.name)
    return [f"{name}: {', '.join(modules)}" for name, modules in places.items() if len(modules) > 1]


def endless(house: House) -> list[str]:
    """Files above 600 lines."""
    lines = {module.name: module.text.count("\n") for module in house.modules}
    return [f"{name}: {number}" for name, number in lines.items() if number > 600]


def numerous(house: House) -> list[str]:
    """More files than two people can carry."""
    return [f"{len(house.modules)} files"] if len(house.modules) > FILES else []


def splintered(house: House) -> list[str]:
    """One idea cut in several files: modules that a single other one of their own room imports."""
    importers = defaultdict(set)
    for module in house.modules:
        for name in module.inner:
            importers[name].add(module)
    single = [
        f"{module.name}, of {importer.name}"
        for module in house.modules
        if len(others := importers[module.name] - {module}) == 1
        for importer in others
        if importer.parts[: 1 + (module.room == "extras")] == module.parts[: 1 + (module.room == "extras")]
    ]
    return single if len(single) > SPLINTERS else []


LAWS: dict[Callable[[House], list[str]], dict[str, str]] = {
    uphill: {"views/a.py": "from ragbench.report import b", "report/b.py": ""},
    annexed: {"extras/a/b.py": "from ragbench.extras.c import d", "extras/c/d.py": ""},
    mingled: {"views/a/b.py": "from ragbench.views.c import d", "views/c/d.py": ""},
    strewn: {"loose.py": ""},
    faced: {"views/a.py": "import ragbench"},
    circles: {
        "views/a.py": "def f():\n    from ragbench.views import b",
        "views/b.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ragbench.views.a import f",
    },
    unlearned: {"metrics/a.py": "from ragbench.stats import b", "stats/b.py": ""},
    outward: {"tiers/a.py": "def f():\n    import psycopg"},
    crowded: {f"views/a/b{number}.py": "" for number in range(MODULES_OF_A_ROOM + 1)},
    confusable: {"views/a/answer.py": "", "views/b/answering.py": ""},
    twice: {"views/a/b.py": "", "tiers/c/b.py": ""},
    endless: {"views/a.py": "\n" * 601},
    numerous: {f"views/a{number // 40}/b{number}.py": "" for number in range(FILES)},
    splintered: {
        f"tiers/a{number // 40}/b{number}.py": f"from ragbench.tiers.a{(number + 1) // 40} import b{number + 1}"
        for number in range(SPLINTERS + 2)
    },
}
"""The laws that speak of files, each with a house that breaks it."""


@functools.cache
def this_house() -> House:
    return House(ROOT)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_house_holds(law: Callable[[House], list[str]]) -> None:
    assert law(this_house()) == []


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_house_that_breaks_it_is_named(law: Callable[[House], list[str]], tmp_path: Path) -> None:
    for name, text in LAWS[law].items():
        path = tmp_path / "ragbench" / name
        for folder in path.relative_to(tmp_path).parents[:-1]:
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    broken = House(tmp_path)
    assert law(broken)
    assert [other.__name__ for other in LAWS if other is not law and other(broken)] == []


def html_pieces(nodes: Iterable[ast.AST]) -> int:
    """Calls of Markup on a literal with an element in it; a place where a line may break is no element."""
    return sum(
        isinstance(node, ast.Call)
        and dotted(node.func).endswith("Markup")
        and any(
            isinstance(one, ast.Constant) and re.search(r"<(?!wbr>)[a-z/]", str(one.value))
            for given in node.args
            for one in ast.walk(given)
        )
        for node in nodes
    )


def test_no_macro_of_a_template_hides_another_of_its_name() -> None:
    folder = Path(__file__).parent.parent / "ragbench" / "report" / "template"
    for path in sorted(folder.rglob("*.j2")):
        names = re.findall(r"{%-? *macro (\w+)", path.read_text(encoding="utf-8"))
        assert len(names) == len(set(names)), (path.name, sorted({one for one in names if names.count(one) > 1}))


def test_html_is_written_in_templates() -> None:
    found = {"/".join(one.parts[1:]): html_pieces(one.nodes) for one in this_house().modules}
    some = {name: count for name, count in found.items() if count}
    assert not some, f"HTML in Python; write it in report/template/views: {some}"


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
    assert html_pieces(ast.walk(ast.parse(source))) == count


def test_the_front_door_is_light() -> None:
    program = f"import sys, ragbench, ragbench.__main__\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ}, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_notebooks_are_read_by_the_one_door() -> None:
    """What nbformat checks with takes a second and a half to import, but for `files.notebook_format`."""
    found = [one.name for one in this_house().modules if any(name.split(".")[0] == "nbformat" for name in one.imports)]
    assert found == ["ragbench.report.keeping.results"]


WRITES = {"write_text", "write_bytes", "to_csv", "to_parquet", "savefig", "mkstemp", "NamedTemporaryFile",
          "copyfile", "copy", "copy2", "move", "save", "dump", "savez"}  # fmt: skip
MODULES = {"shutil", "np", "numpy", "json", "nbformat", "toml"}
"""Of the words above, copy, move, save and dump write only where one of these has them."""
DOOR = {
    "ragbench.core.folders": "it is the door",
    "ragbench.core.progress": "how far a run is, for as long as it runs",
    "ragbench.store.server": "the server's own files, in a folder that gets its name when it is whole",
    "ragbench.report.execution.orchestration": "a file that is locked while it is written",
}
WITHIN = {
    "ragbench.extras.runs.packs:_put": "into a packed file that is made by the door",
    "ragbench.extras.runs.packs:_unpacked": "in a folder for as long as it is looked at",
    "ragbench.extras.runs.packs:bring_in": "in a folder that takes its place whole",
    "ragbench.data.remotes:_fetch": "in a folder that takes its place whole",
    "ragbench.data.remotes:brought": "which copy a run reads, for as long as it runs",
    "ragbench.data.remotes:_write": "at a URL",
    "ragbench.extras.cluster.address:started": "what workers say, in a folder that goes with them",
    "ragbench.extras.labelling.annotation:_take": "a temporary copy of what was handed over, to be read",
}


def writers(module: Module) -> list[str]:
    """`module:function` of each call that writes a file other than by the door of `ragbench.core.folders`.

    What is written to a path called `temporary` is within `folders.whole` or `folders.write_by`.
    """
    found = []
    for outer in [node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]:
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
            into_memory = name in ("save", "savez", "dump") and node.args and ast.unparse(node.args[0]) == "content"
            if writes and not into_memory and "temporary" not in ast.unparse(node):
                found.append(f"{module.name}:{outer.name}")
    return found


@pytest.mark.fault("disk", tried="every call in the package that writes a file goes by the one door", count=30)
def test_every_file_is_written_by_the_one_door() -> None:
    found = {place for module in this_house().modules for place in writers(module)}
    past = {place for place in found if place.split(":")[0] not in DOOR}
    assert past == set(WITHIN), past ^ set(WITHIN)
    assert {place.split(":")[0] for place in found} >= set(DOOR)


PRINTERS = {"print", "typer.echo", "typer.secho", "typer.style", "typer.confirm", "typer.prompt", "os.write",
            "typer.progressbar", "typer.echo_via_pager", "pprint.pprint"}  # fmt: skip
DRAWERS = {"rich", "tqdm", "click", "logging", "traceback", "pprint", "colorama"}
MAY_PRINT = {
    "ragbench.cli.console.interruption": {"os.write"},  # in the midst of anything, what goes through the door's pattern
    "ragbench.core.early": {"os.write"},  # before that door is there
    "ragbench.llm.journal": {"os.write"},  # into a file
    "ragbench.store.embeddings": {"os.write"},  # into a file
    "ragbench.core.terminal": DRAWERS | PRINTERS | {"stdout", "stderr"},
    "ragbench.core.progress": {"tqdm"},  # of its bar below a notebook's cell, which is HTML
    "ragbench.report.execution.execute": {"logging"},  # which it silences
    "ragbench.extras.cluster.worker_pool": {"logging"},  # which it silences
    "ragbench.__main__": {"stdout", "stderr"},  # whose encoding it sets
}


def dotted(node: ast.expr) -> str:
    """`a.b.c` as it is written; "" for what is no such name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}" if dotted(node.value) else ""
    return node.id if isinstance(node, ast.Name) else ""


def printed(nodes: Iterable[ast.AST]) -> set[str]:
    """What a source prints with: printers it calls or passes on, drawers it imports, the streams themselves."""
    found = set()
    for node in nodes:
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
        elif isinstance(node, ast.Call) and dotted(node.func) == "input":
            found.add("input")
        elif isinstance(node, ast.Name | ast.Attribute) and dotted(node) in PRINTERS:
            found.add(dotted(node))
        elif isinstance(node, ast.Attribute) and dotted(node.value) == "sys" and node.attr.strip("_") in (
            "stdout", "stderr", "displayhook",
        ):  # fmt: skip
            found.add(node.attr.strip("_"))
    return found


@pytest.mark.fault("links", tried="every module that could print past the one door", count=400)
def test_nobody_prints_past_the_terminals_door() -> None:
    wrong = {}
    for module in this_house().modules:
        asks = "sys.stderr.isatty()"
        told = ast.walk(ast.parse(module.text.replace(asks, "True"))) if asks in module.text else module.nodes
        if found := printed(told) - MAY_PRINT.get(module.name, set()):
            wrong[module.name] = found
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
    assert printed(ast.walk(ast.parse(source)))


KERNELS = ("ragbench.core.language", "ragbench.core.parts")
"""Where a value with its interval is written: by `core.parts.Style.value`, in each output's style."""
BRACKETS = re.compile(r"\\?\[\0, \0\\?\]|\0 … \0")
"""Two numbers between brackets, or an ellipsis."""
SPELLS = re.compile(r"(\b_|\btext)\.(interval|ends)$")
"""A translator that writes one."""


def intervals_written(nodes: Iterable[ast.AST]) -> set[int]:
    """The lines in which an interval is written: by what `Style.value` calls, or by a text of one's own."""
    lines = set[int]()
    for node in nodes:
        if isinstance(node, ast.Call) and SPELLS.search(ast.unparse(node.func)):
            lines.add(node.lineno)
        if isinstance(node, ast.JoinedStr):
            numbers = [part for part in node.values if isinstance(part, ast.FormattedValue) and part.format_spec]
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)
            if len(numbers) > 1 and BRACKETS.search(text):
                lines.add(node.lineno)
    return lines


def test_a_value_with_its_interval_is_written_in_one_place() -> None:
    written = {module.name: intervals_written(module.nodes) for module in this_house().modules}
    assert {name for name, lines in written.items() if lines and not name.startswith(KERNELS)} == set()
    assert written["ragbench.core.parts.style"], "the place itself is seen"


@pytest.mark.parametrize(
    "source",
    [
        "_.interval(low, high)",
        "material.text.ends(low, high)",
        "f'{v:.2f} [{low:.2f}, {high:.2f}]'",
        "f'{a:.4f} … {b:.4f}'",
    ],
)
def test_the_law_sees_an_interval(source: str) -> None:
    assert intervals_written(ast.walk(ast.parse(source))) == {1}


def test_side_tables_are_read_as_rows_whose_columns_are_declared() -> None:
    """A column that nobody declares is then found by mypy."""
    read_as = {
        (module.name, ast.unparse(node.args[0]))
        for module in this_house().modules
        for node in module.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rows_of" and len(node.args) > 1
    }
    assert len(read_as) > 20
    assert [each for each in sorted(read_as) if not each[1].endswith("Row") and each[1] != "kind"] == []


OWN_FACTS = {
    "ragbench.systems.parts.retrievers": "what a retriever says of itself",
    "ragbench.extras.significance.command": "what is told of judgements",
    "ragbench.tiers.retrieval.tier0_embeddings": "what is told of an embedder",
    "ragbench.tiers.answers.tier_ux": "what is told of an embedder",
    "ragbench.tiers.judges.deciders": "what is told of a judge",
    "ragbench.tiers.judges.tier_judge_pipeline": "what is told of a judge",
    "ragbench.views.blame": "the fact `blame`",
    "ragbench.views.blame.failed_questions": "the fact `blame`",
    "ragbench.views.sentences.conclusions": "the fact `refusals`",
}
"""Modules that call something else facts, too."""


def facts_read(nodes: Iterable[ast.AST]) -> set[str]:
    """The keys that are read of what is called facts."""
    found = set[str]()
    for node in nodes:
        of: ast.expr | None = None
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            of, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            of, key = node.func.value, node.args[0] if node.args else None
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            of, key = node.comparators[0], node.left
        name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
        if name == "facts" and isinstance(key, ast.Constant) and isinstance(key.value, str):
            found.add(key.value)
    return found


def test_every_fact_that_is_read_is_declared_with_its_type() -> None:
    from ragbench.core.facts import Facts
    from ragbench.extras.runs.run_tables import RunFacts
    from ragbench.extras.standards.agents_page import AgentFacts
    from ragbench.extras.sweeps.ablation import SweepFacts

    own = (RunFacts, SweepFacts, AgentFacts)
    declared = set(Facts.__annotations__).union(*(facts.__annotations__ for facts in own))
    read = {module.name: facts_read(module.nodes) for module in this_house().modules}
    assert {name: keys - declared for name, keys in read.items() if keys - declared and name not in OWN_FACTS} == {}
    assert len(set().union(*read.values()) & declared) > 60


@pytest.mark.parametrize("source", ['made.facts["n"]', 'facts.get("n", 0)', '"n" in page.facts'])
def test_the_law_sees_every_way_to_read_a_fact(source: str) -> None:
    assert facts_read(ast.walk(ast.parse(source))) == {"n"}
