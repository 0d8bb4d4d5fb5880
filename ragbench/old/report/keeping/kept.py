"""Runs that were made: recorded in the database after the fact, found again by a name or by their folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core import folders, settings, trust
from ragbench.old.core.expectations import expectation, shown
from ragbench.old.core.folders import files_of
from ragbench.old.core.measurement import DamagedError
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.settings.urls import Url, is_url, target
from ragbench.old.data import remotes
from ragbench.old.llm import journal
from ragbench.old.report.keeping import results
from ragbench.old.report.keeping.results import Manifest, check, plain, text
from ragbench.old.report.pages.notebook_pages import Measurements

if TYPE_CHECKING:
    from ragbench.old.core.measurement import Measurement
    from ragbench.old.store.run_records import RunRecord

_NAME = r"[^/\\\x00-\x1f\x7f.][^/\\\x00-\x1f\x7f]{0,150}"
TAKEN = re.compile(
    rf"({results.MANIFEST}|{results.SUMMARY}|{results.SCORES}|gate\.json|{re.escape(journal.FILE)}|{_NAME}\.ipynb|"
    rf"parts/{_NAME}/(findings\.json|{_NAME}\.parquet))"
)
"""The files of a run that are taken from elsewhere: no page, so that no script of a stranger is opened as a report."""
MOST_BYTES = 2**31
"""Of a run from elsewhere."""
REMOTE = remotes.Wanted(TAKEN, 3, "run", MOST_BYTES)
LAST = ("index.html", results.MANIFEST)
"""What leads to the other files of a run, and is sent behind them."""


def of_folder(folder: Path, made: Mapping[str, Measurement] | None = None) -> RunRecord:
    """The run that lies in a folder, with no database.

    Raises FileNotFoundError for a folder that holds none, ValueError for one that is not as ragbench wrote it.

    made: its measurements by name, where they are read already.
    """
    from ragbench.old.tiers.run.record import recorded

    if made is None:
        kept = Measurements(folder)
        made = {name: kept[name] for name in kept.names()}
    manifest, keys = manifest_of(folder), journal.of_run(folder)
    try:
        return recorded(manifest, made, folder.resolve(), keys)
    except Exception as error:  # it may have come from anywhere
        raise DamagedError(folder, error) from error


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of the run in a folder, which may have come from anywhere: its names lead nowhere else.

    Raises FileNotFoundError where there is none, ValueError for one that ragbench did not write, and for a folder with
    links in it, through which it would be read or written elsewhere.
    """
    from pydantic import ValidationError

    path = folder / results.MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no run: there is no {results.MANIFEST} in it")
    links = sorted(name for name in files_of(folder) if (folder / name).is_symlink())
    if links:
        raise ValueError(f"{folder / links[0]} is a link, and a report holds none: remove it, if the report is yours")
    try:
        return Manifest.model_validate_json(text(path)).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"{path}: {place} is {excerpt(shown(first['input']), 200)}: {expectation(first)}") from None


def record(folder: Path, made: Mapping[str, Measurement] | None = None) -> str:
    """Record the run in a folder; the id that it has in the database. made: see `of_folder`.

    Raises StoreError where the database cannot be reached or refuses.
    """
    from ragbench.old.store import Store
    from ragbench.old.store.runs import Runs

    known = of_folder(folder, made)
    with Store.open(settings.load()) as store:
        return Runs(store.engine).record(known)


@dataclass(frozen=True)
class Renamed:
    """A run that has other words: its id, its folder where it has pages, and why the database does not say the same,
    in one line; empty where it does, and where it never kept a run that has a folder."""

    id: str
    folder: Path | None = None
    unkept: str = ""


def rename(run: str | Path, *, name: str | None = None, note: str | None = None) -> Renamed:
    """Give a run another name or note, in its folder and in the database; an empty text takes it away.

    name, note: None leaves what is there. Pages show it when they are drawn the next time.

    Raises StoreError for a name of none, ValueError for a name or note that no run can have.
    """
    from ragbench.old.store import Store
    from ragbench.old.store.run_records import entitled
    from ragbench.old.store.runs import Runs

    said = {
        "name": None if name is None else results.named(name),
        "note": None if note is None else results.noted(note),
    }
    given = {key: text for key, text in said.items() if text is not None}
    folder = folder_of(run)
    if folder is None:
        with Store.open(settings.load()) as store:
            return Renamed(Runs(store.engine).entitle(str(run), given))
    results.write_json(folder / results.MANIFEST, entitled(manifest_of(folder), given))

    def also() -> None:
        with Store.open(settings.load()) as store:
            runs = Runs(store.engine)
            if (known := runs.in_folder(folder)) is not None:
                runs.entitle(known, given)

    return Renamed(folder.name.removesuffix(results.PARTIAL), folder, refusal(also))


def refusal(work: Callable[[], object]) -> str:
    """Why a run could not be recorded, in one line; empty where it could.

    What is in a folder is not lost to a database that is not there.
    """
    try:
        work()
    except Exception as error:
        return told(error)
    return ""


def told(error: Exception) -> str:
    """The first line of an error; of one that no sentence was written for, with its class."""
    if isinstance(error, OSError):
        return folders.said(error).partition("\n")[0] or type(error).__name__
    said = (str(error.args[0] if error.args else error).splitlines() or [""])[0]
    meant = isinstance(error, ValueError) or type(error).__module__.startswith("ragbench.")
    return said if said and meant else f"{type(error).__name__}: {said}"


def find(name: str | Path) -> RunRecord:
    """The run of that name: a folder with a manifest, the name of one among the reports, or what the database has.

    A folder is read itself, so that a run needs no database to be compared. `latest` is the newest complete report of
    this project; what the database has may be another's. Raises StoreError or FileNotFoundError, saying what there is.
    """
    from ragbench.old.store import Store, StoreError
    from ragbench.old.store.runs import Runs

    folder = folder_of(name)
    if folder is not None:
        return of_folder(folder)
    if str(name) == results.LATEST:
        raise StoreError(
            "this project has no complete run yet: `ragbench run` makes one, `ragbench runs` lists what is kept"
        )
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


def _is_complete(path: Path) -> bool:
    return (path / results.MANIFEST).is_file() and manifest_of(path)["status"] == "complete"


def _called(path: Path) -> str | None:
    """What the run in a folder is called; None where nothing says."""
    try:
        known = json.loads(text(path / results.MANIFEST))
    except (OSError, ValueError, RecursionError):
        return None
    return known.get("name") or None if isinstance(known, dict) else None


def folder_of(name: str | Path) -> Path | None:
    """The folder with a manifest that a name means: a path, a URL (of which a copy is brought), or among the reports
    an id, what a run is called, or the beginning of only one id.

    None where there is none; a name never leads out of the folder of reports. Raises StoreError, with all of them,
    where several runs are called so.
    """
    from ragbench.old.store.runs import only

    if is_url(name):
        return _brought(Url.of(str(name)))
    given = Path(name)
    if (given / results.MANIFEST).is_file():
        return given.resolve()
    reports = trust.folder_of("reports_folder")
    text = str(name)
    if text in ("", ".", "..") or not reports.is_dir():
        return None
    called = sorted(path.name for path in reports.iterdir() if path.name != results.LATEST and _called(path) == text)
    if Path(text).name != text or (called and not (reports / text / results.MANIFEST).is_file()):
        return (reports / only(text, called)).resolve() if called else None
    exact = reports / text
    if (exact / results.MANIFEST).is_file():
        return exact.resolve()
    if text == results.LATEST:  # where links cannot be made it is no run, but a page that leads to one
        return max((path.resolve() for path in reports.iterdir() if _is_complete(path)), default=None)
    begun = [
        path
        for path in reports.iterdir()
        if path.name.startswith(text) and path.name != results.LATEST and (path / results.MANIFEST).is_file()
    ]
    return begun[0].resolve() if len(begun) == 1 else None


def _brought(url: Url) -> Path:
    """The copy of a run at a URL; `…/latest` is the one that was sent there last."""
    if url.name == results.LATEST and (newest := _newest(url.parent)):
        url = url.parent / newest
    place = remotes.brought(url, REMOTE)
    check(place)
    if not (place / results.MANIFEST).is_file():
        raise FileNotFoundError(f"{url} holds no whole run: there is no {results.MANIFEST} in it")
    return place


def _newest(reports: Url) -> str:
    """The id of the run that was sent last, as the small file beside the runs says; empty where none was.

    Raises ValueError where that file is of somebody else.
    """
    said = remotes.text_at(reports / results.LATEST)
    try:
        return "" if said is None else plain(said.strip())
    except ValueError:
        raise ValueError(
            f"{reports / results.LATEST} is not ragbench's, and would name the newest report: rename it"
        ) from None


def send(name: str | Path, to: str) -> str:
    """Bring the run of that name to a folder of reports at a URL, whole; the URL of its index.

    Its files come first, those that lead to them last, then `latest` beside it. Sent again it is written again.
    Raises FileNotFoundError for a run without pages, ValueError for a URL that will not do and where another run of
    this id is there, RemoteError where storage refuses.
    """
    reports, folder = target(to), pages_of(name)
    _newest(reports)
    url = reports / folder.name
    there = remotes.text_at(url / results.MANIFEST)
    if there is not None and _identity(there) != _identity(text(folder / results.MANIFEST)):
        raise ValueError(f"{url}: another run of that id is there; name another folder")
    remotes.send(folder, url, LAST)
    remotes.put(reports / results.LATEST, f"{folder.name}\n")
    return str(url / LAST[0])


def _identity(manifest: str) -> object:
    """What a manifest says that is the same whenever the run's pages are drawn."""
    try:
        known = json.loads(manifest)
    except ValueError:
        return None
    return {key: value for key, value in known.items() if key != "also"} if isinstance(known, dict) else None
