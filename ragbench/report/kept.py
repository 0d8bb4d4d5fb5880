"""Runs that were made: recorded in the database after the fact, found again by a name or by their folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench import settings
from ragbench.report import files, results
from ragbench.report.pages import Measurements

if TYPE_CHECKING:
    from ragbench.store.records import RunRecord


def of_folder(folder: Path) -> RunRecord:
    """The run that lies in a folder, with no database. Raises FileNotFoundError for a folder that holds none."""
    from ragbench.bench.record import recorded

    kept = Measurements(folder)
    return recorded(manifest_of(folder), {name: kept[name] for name in kept.names()}, folder.resolve())


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of the run in a folder. Raises FileNotFoundError where there is none."""
    path = folder / results.MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no run: there is no {results.MANIFEST} in it")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def record(folder: Path) -> str:
    """Record the run in a folder; the id that it has in the database.

    Raises StoreError where the database cannot be reached or refuses.
    """
    from ragbench.store import Store
    from ragbench.store.runs import Runs

    known = of_folder(folder)
    with Store.open(settings.load()) as store:
        return Runs(store.engine).record(known)


def refusal(work: Callable[[], object]) -> str:
    """Why a run could not be recorded, in one line; empty where it could.

    What is in a folder is not lost to a database that is not there.
    """
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error.args[0] if error.args else error}".splitlines()[0]
    return ""


def find(name: str | Path) -> RunRecord:
    """The run of that name: a folder with a manifest, the name of one among the reports, or what the database has.

    A folder is read itself, so that a run needs no database to be compared. `latest` is the newest complete report,
    else the newest complete run of the database. Raises StoreError or FileNotFoundError, saying what there is.
    """
    from ragbench.store import Store
    from ragbench.store.runs import Runs

    folder = folder_of(name)
    if folder is not None:
        return of_folder(folder)
    with Store.open(settings.load()) as store:
        return Runs(store.engine).find(str(name))


def pages_of(name: str | Path) -> Path:
    """The folder in which the run of that name has its pages and measurements.

    Raises FileNotFoundError for a run that the database has and whose folder is gone, StoreError for a name of none.
    """
    folder = folder_of(name) or find(name).folder
    if folder is None or not (folder / results.MANIFEST).is_file():
        raise FileNotFoundError(
            f"the pages of the run {name} are gone: only its numbers are kept, `ragbench runs show`"
        )
    return folder


def folder_of(name: str | Path) -> Path | None:
    """The folder with a manifest that a name means: a path, or a name among the reports, or the beginning of only one.

    None where there is none; a name never leads out of the folder of reports.
    """
    given = Path(name)
    if (given / results.MANIFEST).is_file():
        return given.resolve()
    reports = settings.project_folder() / settings.load().reports_folder
    text = str(name)
    if text in ("", ".", "..") or Path(text).name != text or not reports.is_dir():
        return None
    exact = reports / text
    if (exact / results.MANIFEST).is_file():
        return exact.resolve()
    begun = [
        path
        for path in reports.iterdir()
        if path.name.startswith(text) and path.name != files.LATEST and (path / results.MANIFEST).is_file()
    ]
    return begun[0].resolve() if len(begun) == 1 else None
