"""A project small enough to compute by hand: five chunks on four pages, four questions, two logged systems."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core import settings

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CHUNKS = {"a1": "/a", "a2": "/a", "b1": "/b", "c1": "/c", "d1": "/d"}
RELEVANT: dict[str, dict[str, int]] = {"q1": {"a1": 1}, "q2": {"b1": 2, "c1": 1}, "q3": {"d1": 1}, "q4": {}}
GOOD = {"q1": ["a1", "b1"], "q2": ["b1", "c1", "a1"], "q3": ["a1", "d1"], "q4": ["a1"]}
POOR = {"q1": ["b1", "a2", "a1"], "q2": ["a2", "c1", "b1"], "q4": ["a1"]}


def make(folder: Path, database_folder: Path) -> Path:
    """Write the project into `folder`; its configuration file is returned."""
    data = folder / "data" / "small"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Small"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    chunks = [{"id": name, "text": f"Text of {name}.", "url": url} for name, url in CHUNKS.items()]
    questions = [
        {"id": name, "text": f"What of {name}?", "relevant": relevant, "answerable": bool(relevant)}
        for name, relevant in RELEVANT.items()
    ]
    write_lines(data / "chunks.en.jsonl", chunks)
    write_lines(data / "questions.en.jsonl", questions)
    for name, results in (("good", GOOD), ("poor", POOR)):
        write_lines(folder / f"{name}.jsonl", [{"id": q, "retrieved": ids} for q, ids in results.items()])
    path = folder / "ragbench.toml"
    path.write_text(
        'dataset = "small"\nbaseline = "poor"\n'
        f'notebooks_folder = "{NOTEBOOKS}"\n'
        f'[database]\nfolder = "{database_folder}"\n'
        '[systems.good]\nresults = "good.jsonl"\n'
        '[systems.poor]\nresults = "poor.jsonl"\n'
        '[systems.ngrams]\nembedder = "hashing"\n',
        encoding="utf-8",
    )
    return path


def enter(folder: Path, patch: pytest.MonkeyPatch, text: str = "") -> Path:
    """Make `folder` the current one and a project with these settings, whose notebooks can import the tests."""
    (folder / "ragbench.toml").write_text(text, encoding="utf-8")
    patch.chdir(folder)
    patch.setenv("PYTHONPATH", str(NOTEBOOKS.parent))
    patch.setenv("RAGBENCH_CONFIG", str(folder / "ragbench.toml"))
    settings.load.cache_clear()
    return folder


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def written(path: Path, text: str | bytes) -> Path:
    """A file with this text, in UTF-8 and with the ends of lines that it has, or with these bytes."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def add(folder: Path, tables: str) -> None:
    """More of a project's settings, which are read anew."""
    path = folder / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8") + tables, encoding="utf-8")
    settings.load.cache_clear()


def own_notebook(project: Path, source: str) -> Path:
    """A user's notebook, own.ipynb, that measures by `source` what a page of its name shows."""
    import nbformat

    cells = [
        nbformat.v4.new_markdown_cell("# Own · What is it?", id="title"),
        nbformat.v4.new_code_cell("k = 1  # nothing", id="parameters", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(source, id="measure"),
    ]
    path = project / "own.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path
