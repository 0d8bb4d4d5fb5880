"""How many of a run's vectors were stored before it: noted by its processes, told when it is at its end."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from ragbench.core import folders
from ragbench.core.settings import RUN_FOLDER

FILE = "vectors.jsonl"
"""In the folder of a run while it runs."""


def note(embedder: str, kind: str, keys: Iterable[bytes], computed: int) -> None:
    """So many of these vectors were computed now, the others read. Outside of a run nothing is noted."""
    folder = os.environ.get(RUN_FOLDER)
    if folder is None:
        return
    digest = hashlib.sha256()
    whole = 0
    for key in keys:
        digest.update(key)
        whole += 1
    row = {"embedder": embedder, "kind": kind, "of": digest.hexdigest(), "whole": whole, "computed": computed}
    handle = os.open(Path(folder) / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(handle, f"{json.dumps(row)}\n".encode())  # one write a line: processes of one run share the file
    finally:
        os.close(handle)


def told(folder: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """(embedder, kind) → how many vectors were there before the run, and how many the run is made of; the note goes.

    Pages that want the same vectors count once, but those that want others of the same texts.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    wholes: dict[tuple[str, str], dict[str, int]] = {}
    computed: dict[tuple[str, str], int] = {}
    for line in folders.text(path).splitlines():
        row = json.loads(line)
        place = row["embedder"], row["kind"]
        wholes.setdefault(place, {})[row["of"]] = row["whole"]
        computed[place] = computed.get(place, 0) + row["computed"]
    path.unlink()
    return {place: (max(0, sum(own.values()) - computed[place]), sum(own.values())) for place, own in wholes.items()}
