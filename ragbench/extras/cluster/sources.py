"""The files of a project that importing a module of it would run, found by reading them, never by importing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from pathlib import Path

from ragbench.core import folders

OWN = "ragbench"
_IMPORTING = frozenset({"import_module", "__import__"})


def of_module(name: str, folder: Path) -> set[Path]:
    """The module's files below the folder, with those that they import from there; empty if it is not there.

    Every `__init__` on the way belongs to it. What is imported by a name that is computed is not found.
    """
    files: set[Path] = set()
    _follow(name, folder, files)
    return files


def _follow(name: str, folder: Path, files: set[Path]) -> None:
    for path, package in _files(name, folder):
        if path in files:
            continue
        files.add(path)
        if path.suffix == ".py":
            for inner in _imported(folders.text(path, folders.MOST_CODE, errors="replace"), package):
                _follow(inner, folder, files)


def _files(name: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """The files that importing the dotted name runs, each with the package that its relative imports start from."""
    place, package = folder, ""
    parts = name.split(".")
    if parts[0] == OWN:
        return
    for part in parts:
        if not part.isidentifier():
            return
        inside = f"{package}.{part}" if package else part
        for ending in all_suffixes():  # all that there are: which of them Python takes is its own affair
            for path, base in ((place / part / f"__init__{ending}", inside), (place / f"{part}{ending}", package)):
                if path.is_file():
                    yield path, base
        place, package = place / part, inside


def _imported(code: str, package: str) -> list[str]:
    """Dotted names that the code imports; of `from a import b` both a and a.b, as b may be a module."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):  # nobody can import it either
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".")[-1] in _IMPORTING:
            names += [
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
    return [name for name in names if name]
