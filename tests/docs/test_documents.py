"""The documents: links lead somewhere, commands and blocks are right, the tutorial works."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from ragbench.cli.main import app
from ragbench.core.settings import Settings

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if path.name != "CHANGELOG.md"
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
RUSSIAN = ("README", "tutorial", "statistics", "judges", "limits", "coming-from")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(path: Path, language: str) -> list[str]:
    """Return the blocks of a language in a document."""
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [text for named, text in found if named == language]


def commands(path: Path) -> list[list[str]]:
    """Return the words of every line of a shell block that begins with ragbench."""
    lines = "".join(blocks(path, "sh")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("ragbench ")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_relative_link_leads_to_a_file(path: Path) -> None:
    links = [link.split("#")[0] for link in LINK.findall(path.read_text(encoding="utf-8"))]
    relative = [link for link in links if link and "://" not in link]
    missing = [link for link in relative if not (path.parent / link).exists()]

    assert missing == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_the_site_has_every_document(path: Path) -> None:
    assert f" - {name_of(path)}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_command_is_one_with_the_options_that_it_has(path: Path) -> None:
    group = typer.main.get_group(app)
    for _, name, *arguments in commands(path):
        if name.startswith("--"):
            continue
        with group.make_context("ragbench", [name], resilient_parsing=True) as context:
            command = group.get_command(context, name)
            assert command is not None, f"there is no command {name}"
            command.make_context(name, arguments, parent=context).close()


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_block_of_python_compiles(path: Path) -> None:
    for text in blocks(path, "python"):
        ast.parse(text)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_block_of_settings_is_taken(path: Path) -> None:
    for text in blocks(path, "toml"):
        Settings.model_validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "path", [path for path in DOCUMENTS if path.name.endswith(".ru.md")], ids=name_of
)
def test_a_translation_has_the_blocks_of_its_original(path: Path) -> None:
    original = path.with_name(path.name.replace(".ru.md", ".md"))

    assert commands(path) == commands(original)
    assert len(re.findall("^#", path.read_text("utf-8"), re.MULTILINE)) == len(
        re.findall("^#", original.read_text("utf-8"), re.MULTILINE)
    )


def test_what_people_read_first_is_there_in_russian() -> None:
    how_tos = {path.name for path in (ROOT / "docs/how-to").glob("*.md")}
    names = {name for name in how_tos if not name.endswith(".ru.md")}

    assert {name.replace(".md", ".ru.md") for name in names} <= how_tos
    assert {f"{name}.ru.md" for name in RUSSIAN} <= {path.name for path in DOCUMENTS}


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if not path.name.endswith(".ru.md") and blocks(path, "python")],
    ids=name_of,
)
def test_blocks_of_python_run_in_their_order(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "blocks.py"
    file.write_text("\n\n".join(blocks(path, "python")), encoding="utf-8")
    done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_tutorial_can_be_followed(tmp_path: Path) -> None:
    tutorial = ROOT / "docs/tutorial.md"
    settings, changed_table = blocks(tutorial, "toml")
    file = tmp_path / "ragbench.toml"
    file.write_text(settings, encoding="utf-8")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    exit_codes = {}
    for words in commands(tutorial):
        if "second" in words and words[1] == "run":
            # The reader has replaced a table.
            heading = re.escape(changed_table.splitlines()[0])
            changed = re.sub(
                rf"{heading}\n.*?\n\n", f"{changed_table}\n", settings, flags=re.DOTALL
            )
            file.write_text(changed, encoding="utf-8")
        command = [sys.executable, "-P", "-m", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        exit_codes[" ".join(words)] = done.returncode
        assert "Traceback" not in done.stderr

    gate = next(code for line, code in exit_codes.items() if " gate " in line)
    assert gate in (0, 1, 2)
    assert {code for line, code in exit_codes.items() if " gate " not in line} == {0}
    assert (tmp_path / "public" / "index.html").exists()
