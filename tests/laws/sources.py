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
    return tuple(ast.walk(tree(path)))


@functools.cache
def package() -> tuple[Path, ...]:
    """All files of the package."""
    return tuple(sorted(PACKAGE.rglob("*.py")))
