"""Files of a run: whole or not there, in a folder that no other run writes to, found again under `latest`."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path
from typing import Any

from ragbench.core import folders
from ragbench.core.folders import sync, whole, write_by
from ragbench.core.settings import secrets

__all__ = ["finish", "new_run", "notebook_format", "point", "whole", "write", "write_by"]

PARTIAL = ".partial"
LATEST = "latest"
REDIRECT = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>ragbench</title>'
    '<meta http-equiv="refresh" content="0; url=../{name}/index.html">'
    '<p><a href="../{name}/index.html">{name}</a></p></html>\n'
)


def notebook_format() -> Any:
    """The package nbformat.

    What it checks notebooks with would compile a grammar of addresses, for a second and a half, to check what no
    notebook has; so this one package is not there while they are imported.
    """
    name = "rfc3987_syntax"
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        import nbformat
    finally:
        if hidden:
            del sys.modules[name]
    return nbformat


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file, or none; a text without secrets."""
    folders.write(path, secrets.document_masker()(content) if isinstance(content, str) else content)


def new_run(reports: Path) -> Path:
    """A folder for a run that no other process has: `<reports>/<time>-<number>.partial` until `finish` names it.

    Raises FileExistsError where `latest` among the reports is a file or folder that ragbench did not make.
    """
    reports.mkdir(parents=True, exist_ok=True)
    if not _is_ours(reports / LATEST):
        raise FileExistsError(
            f"{reports / LATEST} is not ragbench's, and would lead to the newest report: rename it, and run again"
        )
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
    """Let `latest` lead to `target`: a relative link, or a page that redirects where links cannot be made.

    A folder of others under that name stays as it is.
    """
    if not _is_ours(link):
        return
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
            (link / "index.html").unlink(missing_ok=True)
            link.rmdir()
        temporary.replace(link)
    finally:
        temporary.unlink(missing_ok=True)


def _is_ours(link: Path) -> bool:
    """Whether what is called `latest` is what `point` makes: a link, or a folder with nothing but a page."""
    if link.is_symlink() or not link.exists():
        return True
    return link.is_dir() and {path.name for path in link.iterdir()} <= {"index.html"}
