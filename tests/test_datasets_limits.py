"""Files that ask for more memory than anybody has: a clear error, and never more than a gigabyte."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTE = 1 << 20
PROGRAM = """
import resource, sys
from pathlib import Path
from ragbench.datasets import DatasetError
from ragbench.datasets.rows import read_rows
try:
    kept = list(read_rows(Path(sys.argv[1])))
    print("read")
except DatasetError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def packed(path: Path, block: bytes, times: int, head: bytes = b"", tail: bytes = b"") -> Path:
    """A gzip file of many equal members, made without unpacking it."""
    member = gzip.compress(block, 6)
    path.write_bytes(gzip.compress(head) + member * times + gzip.compress(tail))
    return path


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def repeated(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), pa.array(["x" * (MEGABYTE // 4)]))
    pq.write_table(pa.table({"question": text}), path)
    return path


BOMBS = {
    "packed spaces": (lambda p: packed(p / "a.json.gz", b" " * 16 * MEGABYTE, 128), "bytes once unpacked"),
    "packed line": (lambda p: packed(p / "a.jsonl.gz", b" " * 16 * MEGABYTE, 128), "line 1: longer than"),
    "packed table": (lambda p: packed(p / "a.csv.gz", b"a,b\n" * MEGABYTE, 512), "bytes once unpacked"),
    "a line of 1 GB": (lambda p: sparse(p / "a.jsonl", 1024 * MEGABYTE), "line 1: longer than"),
    "a file of 1 GB": (lambda p: sparse(p / "a.json", 1024 * MEGABYTE), "bytes once unpacked"),
    "many values": (lambda p: packed(p / "v.json.gz", b"[]," * 4 * MEGABYTE, 7, b"[", b"1]"), "8,000,000 values"),
    "one text": (lambda p: packed(p / "t.json.gz", b"x" * MEGABYTE, 95, b'[{"a":"\xf0\x9f\x98\x80', b'"}]'), "read"),
    "ten million rows": (
        lambda p: packed(p / "r.jsonl.gz", b'{"question":"?"}\n' * MEGABYTE, 10),
        "more than 1,000,000 lines",
    ),
    "deep": (lambda p: packed(p / "d.json.gz", b"[" * MEGABYTE, 7), "nested too deeply"),
    "a repeated text": (lambda p: repeated(p / "a.parquet"), "bytes once decoded"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_within_a_gigabyte(name: str, tmp_path: Path) -> None:
    make, said = BOMBS[name]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(make(tmp_path))], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-500:]
    message, peak = done.stdout.strip().rsplit("\n", 1)
    assert said in message
    assert "\n" not in message
    assert int(peak) <= 1024, f"{peak} MB"
    print(name, peak, "MB")
