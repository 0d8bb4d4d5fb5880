"""What a reader is told to type installs ragbench, and not another project of its name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ragbench.core.annexes import install

ROOT = Path(__file__).parents[2]
PLACES = ("ragbench/**/*.py", "ragbench/**/*.po", "docs/**/*.md", "docs/**/*.po", "notebooks/*.ipynb", "*.md", "*.toml")


def texts() -> Iterator[tuple[Path, str]]:
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            if "_build" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def test_nothing_sends_a_reader_to_a_package_index() -> None:
    wrong = re.compile(r"ragbench\[\w+\]|pip install ['\"]?ragbench\b")
    assert wrong.search("pip install 'ragbench[models]'")
    assert wrong.search("pip install ragbench")
    assert not wrong.search(install("models"))
    found = {path.relative_to(ROOT).as_posix(): text[0] for path, whole in texts() if (text := wrong.search(whole))}
    assert found == {}


def test_every_extra_that_is_named_can_be_installed() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {extra for _, whole in texts() for extra in re.findall(r"PATH\[(\w+)\]", whole)}
    named |= {extra for _, whole in texts() for extra in re.findall(r"\binstall\([\"'](\w+)[\"']\)", whole)}
    assert {"models", "mlflow", "cluster"} <= named <= set(known)
