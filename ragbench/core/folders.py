"""Folders that are written beside their place and put there whole: nobody reads half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

# What the kernels of a run find in their environment: the run's folder and the name of the page;
# the file that names the system that is being asked, and the systems that ended a kernel so.
RUN_FOLDER = "RAGBENCH_RUN_FOLDER"
RUN_PAGE = "RAGBENCH_RUN_PAGE"
ASKED_FILE = "RAGBENCH_ASKED_FILE"
ENDED_SYSTEMS = "RAGBENCH_ENDED_SYSTEMS"


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write to, which takes the place of `folder` in the end.

    Whatever goes wrong before leaves `folder` as it was.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        new = Path(scratch, "new")
        new.mkdir()
        yield new
        if folder.exists():
            folder.rename(Path(scratch, "old"))
        new.rename(folder)
