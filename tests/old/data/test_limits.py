"""Files that ask for more memory than anybody has: a clear error, and never more than a gigabyte."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ragbench.old.data import DatasetError
from ragbench.old.data.samples import read_samples

MEGABYTE = 1 << 20
PROGRAM = """
import sys
from pathlib import Path
from ragbench.old.data import DatasetError
from ragbench.old.data.rows import read_rows
try:
    kept = list(read_rows(Path(sys.argv[1])))
    print("read")
except DatasetError as error:
    print(error)
# ru_maxrss would begin at the size of the process that started this one
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
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


def parquet(path: Path, column: Any) -> Path:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"question": column}), path, compression="zstd", write_statistics=False)
    assert path.stat().st_size < MEGABYTE
    return path


def repeated(letters: int, times: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array(["x" * letters]))


def one_list(values: Any) -> Any:
    """A list of these values in one row."""
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def lying(path: Path) -> Path:
    """A file of many rows whose numbers say that there is one."""
    raw = parquet(path, pa.array(["y" * 100] * 1_500_000)).read_bytes()
    true = b"\xc0\x8d\xb7\x01"  # 1,500,000 as Parquet writes numbers: zigzag, seven bits a byte
    assert true in raw
    path.write_bytes(raw.replace(true, b"\x82\x80\x80\x00"))  # 1, as long
    return path


BOMBS = {
    "packed spaces": (lambda p: packed(p / "a.json.gz", b" " * 16 * MEGABYTE, 128), "blanks in a row once unpacked"),
    "packed line": (lambda p: packed(p / "a.jsonl.gz", b" " * 16 * MEGABYTE, 128), "blanks in a row"),
    "packed table": (lambda p: packed(p / "a.csv.gz", b"a,b\n" * MEGABYTE, 512), "more than 1,000,000 rows"),
    "a line of 1 GB": (lambda p: sparse(p / "a.jsonl", 1024 * MEGABYTE), "line 1: longer than"),
    "a file of 1 GB": (lambda p: sparse(p / "a.json", 1024 * MEGABYTE), "not JSON"),
    "many values": (lambda p: packed(p / "v.json.gz", b"[]," * 4 * MEGABYTE, 7, b"[", b"1]"), "bytes of memory"),
    "one text": (lambda p: packed(p / "t.json.gz", b"x" * MEGABYTE, 95, b'[{"a":"\xf0\x9f\x98\x80', b'"}]'), "read"),
    "ten million rows": (
        lambda p: packed(p / "r.jsonl.gz", b'{"question":"?"}\n' * MEGABYTE, 10),
        "more than 1,000,000 lines",
    ),
    "deep": (lambda p: packed(p / "d.json.gz", b"[" * MEGABYTE, 7), "nested too deeply"),
    "empty objects": (lambda p: packed(p / "o.json.gz", b"{}," * 3 * MEGABYTE, 1, b"[", b"{}]"), "bytes of memory"),
    "two million items": (lambda p: packed(p / "i.json.gz", b"{}," * 2 * MEGABYTE, 1, b"[", b"{}]"), "1,000,000 items"),
    "fields": (
        lambda p: packed(
            p / "f.json.gz", b"", 0, b'[{"":0', b"".join(b',"%x":0' % n for n in range(4_000_000)) + b"}]"
        ),
        "bytes of memory",
    ),
    "long lines": (
        lambda p: packed(p / "l.jsonl.gz", b'{"question":"' + b"?" * MEGABYTE + b'"}\n', 4_000),
        "its rows may take more than",
    ),
    "narrow cells": (
        lambda p: packed(
            p / "c.csv.gz", b"1," * 999 + b"1\n", 45_000, b",".join(b"%d" % n for n in range(1000)) + b"\n"
        ),
        "its rows may take more than",
    ),
    "a repeated text": (lambda p: parquet(p / "a.parquet", repeated(MEGABYTE // 4, 20_000)), "bytes once decoded"),
    "a long text": (lambda p: parquet(p / "a.parquet", repeated(24 * MEGABYTE, 256)), "bytes once decoded"),
    "a list of nulls": (
        lambda p: parquet(p / "a.parquet", one_list(pa.nulls(200 * MEGABYTE, pa.int8()))),
        "bytes once decoded",
    ),
    "a list of one number": (
        lambda p: parquet(p / "a.parquet", one_list(pa.array(np.zeros(20 * MEGABYTE, np.int8)))),
        "bytes once decoded",
    ),
    "booleans in one list": (
        lambda p: parquet(p / "a.parquet", one_list(pa.array(np.zeros(40 * MEGABYTE, bool)))),
        "bytes once decoded",
    ),
    "a packed text": (lambda p: parquet(p / "a.parquet", pa.array(["x" * 800 * MEGABYTE])), "bytes once decoded"),
    "false numbers": (lambda p: lying(p / "a.parquet"), "rows; split it|cannot be read|bytes once decoded"),
}


@pytest.mark.fault("bombs", tried="tables of 200,000 columns in a few megabytes", count=3)
@pytest.mark.parametrize("name", ["wide.csv", "twice.csv", "wide.jsonl"])
def test_a_table_of_columns_without_end_is_refused_at_once(name: str, tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(200_000)] + ["c199999"] * (name == "twice.csv")
    row = "{" + ",".join(f'"{each}":1' for each in names) + "}\n"
    (tmp_path / name).write_text(row if name == "wide.jsonl" else ",".join(names) + "\n1\n", encoding="utf-8")
    began = time.process_time()
    with pytest.raises(DatasetError, match=r"line 1: more than 10,000 columns; split it"):
        read_samples(tmp_path / name)
    assert time.process_time() - began < 3


@pytest.mark.fault("bombs", tried="archives, lines, depths and numbers of rows, with the memory measured", count=10)
@pytest.mark.slow
@pytest.mark.fault("bombs", tried="files of a few bytes that stand for gigabytes, by form and trick", count=21)
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_an_error_within_a_gigabyte(name: str, tmp_path: Path) -> None:
    make, said = BOMBS[name]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(make(tmp_path))], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-500:]
    message, peak = done.stdout.strip().rsplit("\n", 1)
    assert re.search(said, message)
    assert "\n" not in message
    assert int(peak) <= 1024, f"{peak} MB"
    print(name, peak, "MB")
