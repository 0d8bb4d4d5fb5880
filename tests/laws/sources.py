"""The package's sources: for tests that hold laws over all of them, each read, parsed and walked once in a process."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "ragbench"


@functools.cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path))


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of its tree."""
    return tuple(walk(tree(path)))


def children(node: ast.AST) -> list[ast.AST]:
    """What stands in a node, without the contexts of names: `ast.iter_child_nodes` takes three times as long."""
    inner: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            inner.extend(part for part in value if isinstance(part, ast.AST))
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            inner.append(value)
    return inner


def walk(root: ast.AST) -> list[ast.AST]:
    """A node and all below it, in the order of `ast.walk`."""
    reached = [root]
    for node in reached:  # which grows meanwhile
        reached += children(node)
    return reached


@functools.cache
def package() -> tuple[Path, ...]:
    """All files of the package."""
    return tuple(sorted(PACKAGE.rglob("*.py")))
