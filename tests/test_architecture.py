"""The laws of the house, each held by the house as it stands and seen to fail on one that breaks it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.laws.sources import House, package, this_house, tree

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
SPLINTERS = 45
"""Modules that one other of their room alone imports, and that could stand with it: fewer at any time, never more."""
SISTERS = ("command", "errors")
"""Names that several folders have for one job: an annex's commands, what goes wrong with models and the database."""
SHARED = ("basics", "sentences")
"""Of views, what their topics share."""
ENDINGS = (
    "ations", "ation", "ings", "ing", "ers", "er", "ors", "or", "ies", "ed", "es", "s", "y", "e",
)  # fmt: skip


def is_within(name: str, places: Iterable[str]) -> bool:
    """Whether a module is one of these places of the package, or below it."""
    return any(f"{name}.".startswith(f"ragbench.{place}.") for place in places)


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
    """One idea cut in several files: modules that a single other one of their own room imports. A package that only
    names them for whoever asks it is none of those."""
    importers = defaultdict(set)
    for module in house.modules:
        own = [node.name for node in module.nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        if module.path.name == "__init__.py" and all(name.startswith("_") for name in own):
            continue
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


def test_no_module_gives_one_name_two_values() -> None:
    """The second would hold for what was written for the first."""
    for path in package():
        bound = Counter(
            target.id
            for line in tree(path).body if isinstance(line, ast.Assign | ast.AnnAssign)
            for target in (line.targets if isinstance(line, ast.Assign) else [line.target])
            if isinstance(target, ast.Name)
        )  # fmt: skip
        assert [name for name, count in bound.items() if count > 1] == [], path
