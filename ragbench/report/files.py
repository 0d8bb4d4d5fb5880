"""Files of a run: whole or not there, in a folder that no other run writes to, found again under `latest`."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

PARTIAL = ".partial"
LATEST = "latest"
REDIRECT = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ragbench</title>'
    '<meta http-equiv="refresh" content="0; url=../{name}/index.html">'
    '<p><a href="../{name}/index.html">{name}</a></p></html>\n'
)


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to that becomes `path` when everything is on the disk, and vanishes if anything fails."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file, or none."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with whole(path) as temporary:
        temporary.write_bytes(data)


def write_by(path: Path, writer: Callable[[Path], object]) -> None:
    """Let `writer` write a whole file, or none."""
    with whole(path) as temporary:
        writer(temporary)


def new_run(reports: Path) -> Path:
    """A folder for a run that no other process has: `<reports>/<time>-<number>.partial` until `finish` names it."""
    reports.mkdir(parents=True, exist_ok=True)
    stem = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%S")
    for number in range(1, 100_000):
        name = f"{stem}-{number:02d}"
        folder = reports / f"{name}{PARTIAL}"
        if (reports / name).exists():
            continue
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        if (reports / name).exists():  # another run of this name was finished between the two looks
            folder.rmdir()
            continue
        return folder
    raise FileExistsError(f"{reports}: 100,000 runs began within one second")


def finish(folder: Path) -> Path:
    """Name a run's folder for good and point `latest` to it."""
    final = folder.with_name(folder.name.removesuffix(PARTIAL))
    sync(folder)
    folder.rename(final)
    sync(final.parent)
    point(final.parent / LATEST, final)
    return final


def point(link: Path, target: Path) -> None:
    """Let `latest` lead to `target`: a relative link, or a page that redirects where links cannot be made."""
    temporary = link.with_name(f".{link.name}-{os.getpid()}-{target.name}")
    try:
        temporary.symlink_to(target.name, target_is_directory=True)
    except OSError:
        if link.is_symlink() or link.is_file():
            link.unlink()
        link.mkdir(exist_ok=True)
        write(link / "index.html", REDIRECT.format(name=target.name))
        return
    try:
        if link.is_dir() and not link.is_symlink():
            shutil.rmtree(link)
        temporary.replace(link)
    finally:
        temporary.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Have the folder's entries on the disk, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
