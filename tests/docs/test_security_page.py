"""SECURITY.md says only what something holds: every statement names a test or a file, and these are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
STATEMENTS = [" ".join(found.split()) for found in re.findall(r"^- (.+(?:\n  .+)*)", PAGE, re.MULTILINE)]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda text: text[:40])
def test_every_statement_names_what_holds_it(statement: str) -> None:
    named = re.findall(r"`((?:tests|ragbench)/[\w/]+\.py)(?:::(\w+))?`", statement)
    assert named
    for path, function in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert not function or function in defined
        assert function or path.startswith("ragbench/"), "a test is named by its function"


def test_the_page_is_found() -> None:
    assert len(STATEMENTS) >= 12
    assert "(SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_model_that_brings_code_is_refused() -> None:
    assert "trust_remote_code=False" in (ROOT / "ragbench" / "embed" / "model.py").read_text(encoding="utf-8")
