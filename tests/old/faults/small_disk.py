"""A disk of 1 MB of its own, for tests of what happens when it is full or cannot be written to."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

MEGABYTE = 1 << 20


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of 1 MB of its own; the test is skipped where none can be made."""
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTE}", "tmpfs", str(place)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no disk of its own can be mounted here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def fill(disk: Path, but: int = 0) -> Path:
    """Leave no byte free, `but` for so many; the file that takes it all."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while shutil.disk_usage(disk).free > but or not but:
            file.write(bytes(4096))
    return filler
