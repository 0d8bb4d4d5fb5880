"""What a process is, as far as numbers, data and money depend on it: compared before it is given work.

Of a project's own modules the files that importing them would run, found by reading them, never by importing.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import all_suffixes
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import ragbench.core.settings
from ragbench.core import folders
from ragbench.core.settings import Settings, key_variables, project_folder

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "sentence-transformers", "sacrebleu", "dask", "distributed")
"""Whose versions numbers may depend on, or whether two processes understand each other at all."""


@dataclass(frozen=True)
class Identity:
    """code: digest of ragbench's own files. database: which one is reached, or why none is (`unreached`).

    keys: the variables with keys, of those that the settings name, that are set. modules: digests by path of the
    project's own files that its metrics are made of. folder: of the project, where these paths begin.
    """

    version: str
    code: str
    python: str
    packages: Mapping[str, str]
    database: str
    unreached: str
    keys: frozenset[str]
    modules: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""

    def differs(self, other: Identity) -> list[str]:
        """What tells the other process from this one, a clause each, with what helps."""
        clauses = []
        if self.version != other.version:
            clauses.append(f"has ragbench {other.version}, and {self.version} asks it: install that")
        elif self.code != other.code:
            clauses.append(
                f"has other files of ragbench {other.version} ({other.code}, not {self.code}): install these"
            )
        if self.python != other.python:
            clauses.append(f"runs Python {other.python}, not {self.python}")
        for name, here in self.packages.items():
            if (there := other.packages.get(name, "")) != here:
                clauses.append(
                    f"has {name} {there or 'not installed'}, not {here or 'none'}: pip install {name}=={here}"
                )
        if other.unreached:
            clauses.append(
                f"does not reach the database ({other.unreached}): name one that every machine reaches in "
                "RAGBENCH_DATABASE_URL, here and where the worker starts"
            )
        elif self.database != other.database:
            clauses.append("writes to another database: give RAGBENCH_DATABASE_URL the same value here and there")
        if lacking := sorted(self.keys - other.keys):
            clauses.append(f"has no key in {', '.join(lacking)}: set the variable where the worker starts")
        if self.code != other.code:  # what another state of ragbench says of itself may lack the rest
            return clauses
        for path in sorted(self.modules.keys() | other.modules.keys()):
            ours, theirs = self.modules.get(path), other.modules.get(path)
            if ours is None:
                clauses.append(f"has {path} in {other.folder}, which is not here: remove it there, and start it again")
            elif theirs is None:
                clauses.append(
                    f"has no {path}, which metrics.modules need: copy it to {other.folder} there, and start it again"
                )
            elif ours != theirs:
                clauses.append(
                    f"has another {path} ({theirs}, not {ours}): copy it to {other.folder} there, and start it again"
                )
        return clauses


def issue(known: Settings) -> Identity:
    """This process's. A database that does not answer is no error here: it is said in `unreached`."""
    database, unreached = _database(known)
    return Identity(
        _version("ragbench"),
        code(),
        ".".join(platform.python_version_tuple()[:2]),
        {name: _version(name) for name in PACKAGES},
        database,
        unreached,
        frozenset(name for name in key_variables(known) if os.environ.get(name)),
        {path: digest for name in known.metrics.modules for path, digest in _files(name, project_folder()).items()},
        str(project_folder()),
    )


@lru_cache(maxsize=1)
def code() -> str:
    """A digest of the package's own files: an installation that was edited has its version still."""
    root = Path(ragbench.core.settings.__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = folders.content(path)
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


@lru_cache(maxsize=256)
def _files(module: str, folder: Path) -> Mapping[str, str]:
    """Digests of what importing the module runs, as they were when this process first asked: it keeps what it has
    imported, whatever becomes of the files."""
    return {
        path.relative_to(folder).as_posix(): folders.digest(path)[:12] for path in sorted(of_module(module, folder))
    }


def _database(known: Settings) -> tuple[str, str]:
    from ragbench.store import Store, StoreError

    try:
        with Store.open(known) as store:
            return store.identity(), ""
    except StoreError as error:
        return "", str(error)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


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
    for path, package in _files_read(name, folder):
        if path in files:
            continue
        files.add(path)
        if path.suffix == ".py":
            for inner in _imported(folders.text(path, folders.MOST_CODE, errors="replace"), package):
                _follow(inner, folder, files)


def _files_read(name: str, folder: Path) -> Iterator[tuple[Path, str]]:
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
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # nobody can import it either
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
