"""The package's sources, and its modules: for tests that hold laws over all of them, each read, parsed and walked once
in a process."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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
        return text(self.path)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return nodes(self.path)

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


class House:
    """All modules of a package called ragbench in a folder."""

    def __init__(self, root: Path) -> None:
        found = sorted((root / "ragbench").rglob("*.py"))
        self.modules = [Module(path, root) for path in found if "migrations" not in path.parts]
        self.folders: dict[Path, list[Module]] = defaultdict(list)
        for module in self.modules:
            if module.path.stem != "__init__":
                self.folders[module.path.parent.relative_to(root / "ragbench")].append(module)


@functools.cache
def this_house() -> House:
    return House(PACKAGE.parent)
