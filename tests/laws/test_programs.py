"""Programs that tests and the package give to processes of their own, as texts: what they import is there.

Most of them are slow tests' programs, and a name that has moved would be seen long after.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws import sources

TESTS = Path(__file__).parents[1]
INVENTED = "test_architecture.py"
"""Whose programs are houses that break a law."""

TEXT = re.compile(r'("""|\'\'\')(?P<lines>.*?)\1|["\'](?P<line>[^\n]*)', re.DOTALL)


def has_programs(source: str) -> bool:
    """Whether it may hold any: most files of tests do not, and to parse them all takes seconds."""
    return any("import " in (text["lines"] or text["line"] or "") for text in TEXT.finditer(source))


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The modules of ours, and the names of them, that the texts of a file import where they are programs."""
    for node in sources.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and "import" in node.value):
            continue
        try:
            program = ast.parse(textwrap.dedent(node.value))
        except SyntaxError:
            continue
        for one in ast.walk(program):
            if isinstance(one, ast.ImportFrom) and (one.module or "").partition(".")[0] in ("ragbench", "tests"):
                yield from ((str(one.module), name.name) for name in one.names)
            elif isinstance(one, ast.Import):
                yield from ((name.name, "") for name in one.names if name.name.partition(".")[0] == "ragbench")


def is_there(module: str, name: str) -> bool:
    try:
        if importlib.util.find_spec(module) is None:
            return False
        return name in ("", "*") or hasattr(importlib.import_module(module), name) or _is_module(f"{module}.{name}")
    except ImportError:
        return False


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@pytest.mark.law
def test_what_programs_in_texts_import_is_there() -> None:
    asked = {
        (path.name, *one)
        for path in (*sorted(TESTS.rglob("*.py")), *sources.package())
        if path.name != INVENTED and has_programs(sources.text(path))
        for one in imports(sources.tree(path))
    }
    assert len(asked) > 50
    assert sorted(one for one in asked if not is_there(*one[1:])) == []


def test_what_has_moved_is_seen() -> None:
    source = 'PROGRAM = """\nfrom ragbench.report import kept\nimport ragbench.nowhere\nprint(1)\n"""\n'
    assert has_programs(source)
    assert has_programs('run("import ragbench")')
    known = set(imports(ast.parse(source)))
    assert known == {("ragbench.report", "kept"), ("ragbench.nowhere", "")}
    assert not any(is_there(*one) for one in known)
    assert is_there("ragbench.report.keeping", "kept")
