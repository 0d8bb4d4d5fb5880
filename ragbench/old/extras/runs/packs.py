"""A run in one file, with the replies that its numbers are made of: drawn and run again elsewhere, without a call.

Pages are not in it: they are drawn anew where it arrives, so that no script of a stranger is opened as a report. Of a
received file only names that a run has are taken, within limits, and nothing of it is believed but what is checked.
"""

from __future__ import annotations

import json
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ragbench.old.core import settings, trust
from ragbench.old.core.expectations import expectation
from ragbench.old.core.folders import new_folder
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.llm import journal
from ragbench.old.report.keeping import kept, results
from ragbench.old.report.keeping.results import plain
from ragbench.old.report.pages.drawing import render

ABOUT, REPLIES = "pack.json", "replies.jsonl"
MOST_FILES, MOST_BYTES, MOST_ABOUT = 2_000, 2**31, 2**20  # a file of strangers: whoever unpacks it has a disk


class PackError(ValueError):
    """A file that is no packed run, or holds what a run does not."""


def _run(name: str) -> str:
    if name == results.LATEST or name.endswith(results.PARTIAL):
        raise ValueError("this is no name of a run that has ended")
    return plain(name)


class About(BaseModel):
    """What a packed run says of itself. data: the label and the hash of each notebook's data set."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[1]
    run: Annotated[str, AfterValidator(_run)]
    ragbench: str
    replies: int
    data: dict[str, dict[str, str | None]]


@dataclass(frozen=True)
class Packed:
    """What was packed. missing: replies that the run used and the journal does not have any more."""

    run: str
    replies: int
    missing: int


@dataclass(frozen=True)
class Unpacked:
    """What came in. new: replies that the journal did not have. data: how each data set here compares with the run's,
    by its label: same, other, or absent."""

    index: Path
    replies: int
    new: int
    data: Mapping[str, str]


def export(name: str | Path, to: Path) -> Packed:
    """Write the run of that name and its replies into the file `to`, whole or not at all.

    Raises FileNotFoundError for a run without a folder, ValueError for one that does not say which replies it used,
    StoreError where the database cannot be reached.
    """
    from ragbench.old.store import Store
    from ragbench.old.store.reply_journal import DatabaseJournal

    folder = kept.pages_of(name)
    manifest = kept.manifest_of(folder)
    keys = journal.of_run(folder)
    if keys is None:
        raise PackError(f"{folder} does not say which replies it used: run it once more")
    about = {"format": 1, "run": folder.name, "ragbench": version("ragbench"), "data": manifest.get("data", {})}
    with tempfile.TemporaryDirectory() as work:
        replies = Path(work) / REPLIES
        count = 0
        if keys:
            with Store.open(settings.load()) as store:
                count = journal.write(replies, DatabaseJournal(store.engine).rows_of(keys))
        with results.whole(to) as unnamed, zipfile.ZipFile(unnamed, "w", zipfile.ZIP_DEFLATED) as pack:
            pack.writestr(zipfile.ZipInfo(ABOUT), json.dumps({**about, "replies": count}, indent=1))
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                inside = path.relative_to(folder).as_posix()
                if kept.TAKEN.fullmatch(inside):
                    _put(pack, inside, path)
            if count:
                _put(pack, REPLIES, replies)
    return Packed(folder.name, count, len(keys) - count)


def bring_in(path: Path) -> Unpacked:
    """Put a packed run among the reports, its replies into the journal, and record it; its pages are drawn anew.

    Raises PackError for a file that is no packed run, FileExistsError where a report of that name is there already.
    """
    reports = trust.folder_of("reports_folder")
    with tempfile.TemporaryDirectory() as work:
        about = _unpacked(path, Path(work))
        replies = Path(work) / REPLIES
        read, new = take(journal.read(replies) if replies.is_file() else ())
        replies.unlink(missing_ok=True)
        with new_folder(reports / about.run) as folder:
            for source in sorted(path for path in Path(work).rglob("*") if path.is_file()):
                target = folder / source.relative_to(work)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)  # the user's umask decides, not the closed folder that it comes from
            try:
                render(folder)
                kept.of_folder(folder)
            except Exception as error:  # a stranger's measurements may break anything
                said = excerpt(str(error).splitlines()[0], 200) if str(error) else "without a reason"
                raise PackError(f"{path}: the run in it cannot be drawn: {said}") from None
    try:
        kept.record(reports / about.run)
    except BaseException:  # half a run is none: what is kept of it are its replies
        shutil.rmtree(reports / about.run)
        raise
    return Unpacked(reports / about.run / "index.html", read, new, _compared(about.data))


def take(replies: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Put exported replies into the journal, where those that are there stay: how many were read, how many are new."""
    from ragbench.old.store import Store
    from ragbench.old.store.reply_journal import DatabaseJournal

    with Store.open(settings.load()) as store:
        return DatabaseJournal(store.engine).bring_in(replies)


def _put(pack: zipfile.ZipFile, name: str, path: Path) -> None:
    info = zipfile.ZipInfo(name)  # without a time: the same run gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    with path.open("rb") as source, pack.open(info, "w", force_zip64=True) as member:
        shutil.copyfileobj(source, member, 2**20)


def _unpacked(path: Path, to: Path) -> About:
    """The run's files in the folder `to`, and what the pack says of itself. Raises PackError."""
    if not path.is_file():
        raise PackError(f"{path}: there is no such file; `ragbench runs export RUN FILE` makes one")
    try:
        with zipfile.ZipFile(path) as pack:
            members = pack.infolist()
            _check(path, members)
            about = About.model_validate_json(pack.read(ABOUT))
            for info in members:
                if info.filename != ABOUT:
                    target = to / info.filename
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with pack.open(info) as source, target.open("xb") as out:  # never more than it says
                        shutil.copyfileobj(source, out, 2**20)
    except ValidationError as error:
        first = error.errors()[0]
        raise PackError(
            f"{path}: {excerpt('.'.join(map(str, first['loc'])) or ABOUT, 80)}: {excerpt(expectation(first), 200)}"
        ) from None
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, RuntimeError, OSError) as error:
        raise PackError(f"{path} is no packed run, or is cut: {excerpt(error, 200)}") from None
    try:
        results.check(to)
    except ValueError as error:
        raise PackError(f"{path}: {error}") from None
    return about


def _check(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    names = [info.filename for info in members]
    if len(names) > MOST_FILES or sum(info.file_size for info in members) > MOST_BYTES:
        raise PackError(f"{path}: a run has at most {MOST_FILES:,} files of {MOST_BYTES:,} bytes in all")
    for info in members:
        name = info.filename
        if name not in (ABOUT, REPLIES) and not kept.TAKEN.fullmatch(name):
            raise PackError(f"{path}: {excerpt(name, 100)!r} is no file of a run")
        most = MOST_ABOUT if name == ABOUT else results.MOST_TEXT if name.endswith(results.TEXTS) else MOST_BYTES
        if info.file_size > most:
            raise PackError(
                f"{path}: {excerpt(name, 100)!r} has {info.file_size:,} bytes; a run's has {most:,} at most"
            )
        if names.count(name) > 1 or stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 1:
            raise PackError(f"{path}: {excerpt(name, 100)!r} is there twice, is a link, or is encrypted")
    folded = {name.casefold() for name in names}
    if len(folded) < len(names):
        raise PackError(f"{path}: two names differ only in small and capital letters")


def _compared(data: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    from ragbench.old.data import load, places

    states: dict[str, str] = {}
    for about in data.values():
        label, digest = about.get("dataset"), about.get("data_hash")
        if label and digest and label not in states:
            try:
                here = load(label, places.data(label)).content_hash
            except (ValueError, OSError):  # a name that nothing here has, or that is no name
                states[label] = "absent"
            else:
                states[label] = "same" if here == digest else "other"
    return states
