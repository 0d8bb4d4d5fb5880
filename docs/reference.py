"""What `make docs` adds to the documents: pages of reference, made of the package."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

import ragbench
from ragbench.cli.main import COMMANDS, is_installed, load_command
from ragbench.cli.metrics import KINDS, explain
from ragbench.core.metric import CATALOGUE

BESIDE_DOCS = ("*.md", "LICENSE", "data/campus/README.md")


def on_files(files: Files, config: Any) -> Files:
    """Give documents the paths that they have in the repository, where their links lead."""
    root = Path(config.config_file_path).parent
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    documents = [*(root / "docs").rglob("*.md"), *(root / "docs").glob("*.png")]
    for pattern in BESIDE_DOCS:
        documents += root.glob(pattern)
    for path in documents:
        name = path.relative_to(root).as_posix()
        files.append(File(name, root, config.site_dir, config.use_directory_urls))
    made = {"python": python_page(), "metrics": metrics_page(), "commands": commands_page()}
    for name, text in made.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def python_page() -> str:
    """Name what `import ragbench as rb` has; mkdocstrings puts signatures and docstrings there."""
    places = {name: f"ragbench.front.{name}" for name in ragbench.FRONT}
    # An annex may have come off.
    there = {name: place for name, place in ragbench.PLACES.items() if is_installed(place)}
    places |= {name: f"{place}.{name}" for name, place in there.items()}
    entries = [
        f"::: {place}\n    options:\n      heading: rb.{name}"
        for name, place in sorted(places.items())
    ]
    return "\n\n".join(
        ["# Python", "`import ragbench as rb`", *entries, "::: ragbench.views.results.Result"]
    )


def metrics_page() -> str:
    """Say of every metric what `ragbench metrics NAME` says."""
    import ragbench.metrics  # noqa: F401  declares them

    parts = ["# Metrics"]
    for kind, title in KINDS.items():
        parts.append(f"## {title}")
        for name, metric in sorted(CATALOGUE.items()):
            if metric.kind == kind:
                text, facts = explain(metric).partition("\n")[2].rsplit("\n\n", 1)
                parts += [f"### {name}", text, re.sub(r"^(\w+) +", r"- \1: ", facts, flags=re.M)]
    return "\n\n".join(parts)


def commands_page() -> str:
    """Say of every command what its `--help` says."""
    parts = ["# Commands"]
    for name in [name for name, entry in COMMANDS.items() if is_installed(entry[0])]:
        command = load_command(name)
        context = typer.Context(command, info_name=f"ragbench {name}")
        parts.append(
            get_docs_for_click(obj=command, ctx=context, indent=1, name=f"ragbench {name}")
        )
    return "\n\n".join(parts)
