"""The licences of all locked packages, from their own metadata; run as a program, writes docs/licences.md.

`python -m tests.release.licences` (`make licences`). Packages for other systems, not installed here, are in ELSEWHERE.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release import locking

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "licences.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib", "ZPL-2.1",
}  # fmt: skip
BY_FILE = {"MPL-2.0", "LGPL-3.0-only", "LGPL-2.1-or-later"}
"""Ask for the changed files of that package alone: an Apache-2.0 program may use it as it is."""
FOR_TESTS = {"GPL-3.0-or-later"}
"""Ask for the whole program: only for what tests compare with, which nobody gets with ragbench."""
ELSEWHERE = {"appnope": "BSD-2-Clause", "pywinpty": "MIT"}
READ = {"axe-playwright-python": "MIT", "bleach": "Apache-2.0", "umap-learn": "BSD-3-Clause"}
"""Packages whose metadata do not say it; read from the text of the licence that they bring."""
_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_EXPRESSION = re.compile(r"({0})( (AND|OR) ({0}))*".format(r"[A-Za-z]+-[0-9][A-Za-z0-9.+-]*|BSD-[23]-Clause|MIT|ISC"))
_FREE = {
    "apache 2.0": "Apache-2.0", "apache license, version 2.0": "Apache-2.0", "apache 2.0 license": "Apache-2.0",
    "bsd": "BSD", "mit license": "MIT", "isc license": "ISC",
}  # fmt: skip


@dataclass(frozen=True)
class Licensed:
    """A locked package. licence: an SPDX expression, or "unknown". runs: whether ragbench itself needs it."""

    name: str
    version: str
    licence: str
    runs: bool

    @property
    def is_compatible(self) -> bool:
        """Whether a program under Apache-2.0 may need it so."""
        allowed = PERMISSIVE | BY_FILE | (set() if self.runs else FOR_TESTS)
        return all(
            any(one in allowed for one in re.split(r" OR ", part.strip("() ")))
            for part in re.split(r" AND ", self.licence)
        )


def licence_of(name: str) -> str:
    """The licence of an installed package, as its metadata say it."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if name in READ:
        return READ[name]
    try:
        found: Distribution = distribution(name)
    except PackageNotFoundError:
        return "unknown"
    if expression := found.metadata.get("License-Expression"):
        return str(expression)
    said = str(found.metadata.get("License") or "").strip()
    if _EXPRESSION.fullmatch(said):
        return said
    named = [line.rpartition(" :: ")[2] for line in found.metadata.get_all("Classifier") or () if "License ::" in line]
    by_classifier = {_CLASSIFIERS[one] for one in named if one in _CLASSIFIERS}
    return " AND ".join(sorted(by_classifier)) or _FREE.get(said.lower(), "unknown")


@functools.cache
def needed() -> set[str]:
    """The names of all packages that ragbench needs to run, here."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in PROJECT["dependencies"]]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        extras = one.extras or {""}
        if one.marker is not None and not any(one.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        if name in found and not one.extras:
            continue
        found.add(name)
        try:
            lines = distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        for line in lines:
            inner = Requirement(line)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in {*extras, ""}):
                inner.marker = None
                waiting.append(inner)
    return found


@functools.cache
def packages() -> list[Licensed]:
    """All locked packages, each once, by name."""
    runs = needed()
    names = ("requirements.lock", "requirements-torch.lock")
    locked = {name: version for file in names for name, version, _, _ in
              locking.entries((ROOT / file).read_text(encoding="utf-8"))}  # fmt: skip
    return [Licensed(name, version, licence_of(name), canonicalize_name(name) in runs or name in ELSEWHERE)
            for name, version in sorted(locked.items())]  # fmt: skip


def page(found: list[Licensed]) -> str:
    """The page of licences."""
    lines = [
        "# Licences",
        "",
        f"ragbench is under {PROJECT['license']}. It brings no code of others: `make setup` installs these packages, "
        "each under its own licence, as its metadata say it. Written by `make licences`.",
        "",
        "PyTorch's CUDA builds, which are installed only where no CPU build is within reach, need NVIDIA's libraries; "
        "those are under NVIDIA's own, proprietary terms.",
    ]
    for title, run in (("Needed to run", True), ("For development and tests alone", False)):
        lines += ["", f"## {title}", "", "| licence | packages |", "|---|---|"]
        named = [one for one in found if one.runs == run]
        for licence in sorted({one.licence for one in named}):
            packages_of = ", ".join(f"{one.name} {one.version}" for one in named if one.licence == licence)
            lines.append(f"| {licence} | {packages_of} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(packages()), encoding="utf-8")
    print(*(f"{one.name}: {one.licence}" for one in packages() if not one.is_compatible), sep="\n")
