"""Runs in folders, made without executing a notebook: what tests of comparing, publishing and gates begin with."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from ragbench.old.core.measurement import Measurement
from ragbench.old.report.keeping import results
from ragbench.old.report.pages.notebook_pages import Measurements
from ragbench.old.views import MIME
from ragbench.old.views.view import called

VIEWS = ("answer", "intervals", "table", "worst", "questions", "method", "provenance")
STARTED = 1_795_330_800  # 2026-11-22 07:00 UTC
_FILES: dict[bytes, dict[Path, bytes]] = {}
"""What was written for the first run of these measurements: many tests begin with the same one."""


def make(
    reports: Path,
    name: str,
    *measurements: Measurement,
    started: int = STARTED,
    parameters: Mapping[str, Any] | None = None,
    stdout: str = "",
    status: str = "complete",
) -> Path:
    """The folder of a finished run, as `report.run` leaves it but for the drawn pages."""
    folder = reports / name
    folder.mkdir(parents=True)
    asked = pickle.dumps((measurements, started, parameters, stdout, status))
    if asked not in _FILES:
        _write(folder, *measurements, started=started, parameters=parameters or {}, stdout=stdout, status=status)
        _FILES[asked] = {one.relative_to(folder): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
        return folder
    for path, content in _FILES[asked].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def _write(
    folder: Path, *measurements: Measurement, started: int, parameters: Mapping[str, Any], stdout: str, status: str
) -> None:
    for made in measurements:
        made.save(folder / "parts" / made.notebook)
        results.write(folder / f"{made.notebook}.ipynb", nbformat.writes(notebook(made.notebook, stdout)) + "\n")
    kept = Measurements(folder)
    about = {"status": status, "failure": "", "language": "en", "parameters": {"k": 10, **parameters}}
    described = [{"name": made.notebook, **about} for made in measurements]
    manifest = results.manifest(
        kept, parameters, described, format=1, status=status, language="en", started=started, seconds=3.5
    )
    results.write_json(folder / results.MANIFEST, manifest)
    results.write_scores(folder / results.SCORES, kept)
    results.write_json(folder / results.SUMMARY, results.summary(kept))


def notebook(name: str, stdout: str = "") -> Any:
    """An executed notebook whose cells show the usual views of the measurement of its name."""
    cells = [nbformat.v4.new_markdown_cell("# Tier 1 · Does the system find the right passage?", id="title")]
    for view in VIEWS:
        call = {"view": view, "options": {}, "language": "en", "measurement": name}
        output = nbformat.v4.new_output("display_data", {MIME: call, "text/plain": view})
        cells.append(nbformat.v4.new_code_cell(called(view), outputs=[output], id=view))
    if stdout:
        output = nbformat.v4.new_output("stream", name="stdout", text=stdout)
        cells.append(nbformat.v4.new_code_cell("print()", outputs=[output], id="said"))
    return nbformat.v4.new_notebook(cells=cells)


def read_json(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
