"""What the package's code does in one place alone: HTML, files, prints, intervals, rows of tables and facts have a door
each, and a source that goes past it is seen."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
from collections.abc import Iterable

import pytest

from tests.laws.sources import PACKAGE, Module, this_house

pytestmark = pytest.mark.law


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
    folder = PACKAGE / "report" / "template"
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
    rooms = {module.name.rpartition(".")[0] for module in this_house().modules}  # an annex may be taken off
    known = {place for place in WITHIN if place.split(":")[0].rpartition(".")[0] in rooms}
    assert past == known, past ^ known
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


ANNEXED = {"runs.run_tables": "RunFacts", "standards.agents_page": "AgentFacts", "sweeps.ablation": "SweepFacts"}


def test_every_fact_that_is_read_is_declared_with_its_type() -> None:
    from ragbench.core.facts import Facts

    declared = set(Facts.__annotations__)
    for place, name in ANNEXED.items():
        with contextlib.suppress(ModuleNotFoundError):
            declared |= set(getattr(importlib.import_module(f"ragbench.extras.{place}"), name).__annotations__)
    read = {module.name: facts_read(module.nodes) for module in this_house().modules}
    assert {name: keys - declared for name, keys in read.items() if keys - declared and name not in OWN_FACTS} == {}
    assert len(set().union(*read.values()) & declared) > 60


@pytest.mark.parametrize("source", ['made.facts["n"]', 'facts.get("n", 0)', '"n" in page.facts'])
def test_the_law_sees_every_way_to_read_a_fact(source: str) -> None:
    assert facts_read(ast.walk(ast.parse(source))) == {"n"}
