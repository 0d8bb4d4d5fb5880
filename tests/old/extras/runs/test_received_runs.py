"""A received run that somebody has changed: it is taken, or refused in one sentence, and never takes the memory."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragbench.old import report
from ragbench.old.__main__ import _is_for_people
from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from ragbench.old.extras.runs import packs
from ragbench.old.report.keeping import kept
from ragbench.old.report.pages.drawing import render
from tests.old.extras.runs.test_packs import project
from tests.old.store.test_copying import databases as databases

Members = dict[str, bytes]
MUTATIONS = 300
ABSURD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**63, 10**30, 1e308, -1e308, "", "x" * 5000, "\0", "\u202e\x1b[2J", "../..", [], {},
    [[[]]], {"a": {"b": [1]}}, "NaN", 0.5,
)  # fmt: skip


def _written(members: Members, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def _spoilt_json(data: bytes, chance: random.Random) -> bytes:
    """One value of a JSON document replaced, left out, or put where another was."""
    document = json.loads(data)
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(document)
    if not places or chance.random() < 0.05:
        return json.dumps(chance.choice(ABSURD)).encode()
    holder, key = chance.choice(places)
    if isinstance(holder, dict) and chance.random() < 0.3:
        del holder[key]
    else:
        holder[key] = chance.choice(ABSURD)
    return json.dumps(document).encode()


def _spoilt_table(data: bytes, chance: random.Random) -> bytes:
    """A column left out, renamed, of other values or of another type; rows left out or twice."""
    table = pq.read_table(io.BytesIO(data))
    if not table.num_columns:
        return data
    place = chance.randrange(table.num_columns)
    name, way = table.column_names[place], chance.randrange(6)
    if way == 0:
        table = table.drop_columns([name])
    elif way == 1:
        table = table.rename_columns([f"{one} 2" if one == name else one for one in table.column_names])
    elif way == 2:
        values = [chance.choice([None, "x", "\x1b[2J", "{", "[1]", "1e999"]) for _ in range(table.num_rows)]
        table = table.set_column(place, name, pa.array(values, pa.string()))
    elif way == 3:
        values = [chance.choice([None, 2**62, -1, 0]) for _ in range(table.num_rows)]
        table = table.set_column(place, name, pa.array(values, pa.int64()))
    elif way == 4:
        table = table.slice(0, table.num_rows // 2)
    else:
        table = pa.concat_tables([table, table])
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _spoilt_bytes(data: bytes, chance: random.Random) -> bytes:
    """Bytes turned, left out, or cut off."""
    if not data:
        return b"\xff"
    at, way = chance.randrange(len(data)), chance.randrange(3)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    return data[:at] + data[at + chance.randrange(1, 40) :]


def mutation(members: Members, seed: int) -> tuple[str, Members]:
    """The members of a pack with one of them spoilt, and which."""
    chance = random.Random(seed)
    name = chance.choice(sorted(members))
    way = chance.random()
    spoilt = dict(members)
    if way < 0.1:
        del spoilt[name]
    elif way < 0.2:
        spoilt[name] = members[chance.choice(sorted(members))]
    elif way < 0.8 and name.endswith((".json", ".ipynb")):
        spoilt[name] = _spoilt_json(members[name], chance)
    elif way < 0.8 and name.endswith(".parquet"):
        spoilt[name] = _spoilt_table(members[name], chance)
    else:
        spoilt[name] = _spoilt_bytes(members[name], chance)
    return name, spoilt


def _refusal(work: Callable[[], object]) -> str:
    """What is told of a refusal; "" where there is none. Another error is raised as it is."""
    try:
        work()
    except Exception as error:
        if not _is_for_people(error):
            raise
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.fault("received", tried="packed runs with one value, column, byte or member changed", count=300)
def test_three_hundred_mutations_and_no_traceback(
    tmp_path: Path, databases: Callable[[str], Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path / "first", databases("received_from"), "http://127.0.0.1:9/v1", monkeypatch)
    folder = report.run(["tier1_retrieval"], {"resamples": 200}).folder
    packs.export(folder, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip") as file:
        members = {name: file.read(name) for name in file.namelist()}
    project(tmp_path / "second", databases("received_to"), "http://127.0.0.1:9/v1", monkeypatch)
    reports = settings.project_folder() / settings.load().reports_folder
    refused, broken = 0, []
    for seed in range(MUTATIONS):
        name, spoilt = mutation(members, seed)
        try:
            told = _refusal(lambda: packs.bring_in(_written(spoilt, tmp_path / "bad.zip")))  # noqa: B023 - at once
            refused += bool(told)
            arrived = [path for path in reports.iterdir() if path.is_dir()] if reports.is_dir() else []
            assert "\n" not in told, told
            assert bool(arrived) is not bool(told), f"{told}, and {arrived} stays"
            if seed % 5 == 0:  # as what somebody unpacked by hand
                _by_hand(spoilt, tmp_path / "unpacked")
        except Exception as error:
            broken.append(f"{seed} {name}: {type(error).__name__}: {str(error)[:300]}")
        shutil.rmtree(reports, ignore_errors=True)
        shutil.rmtree(tmp_path / "unpacked", ignore_errors=True)
    assert not broken
    assert 0.2 * MUTATIONS < refused < MUTATIONS, "they are neither all harmless nor all the same"


def _by_hand(members: Members, folder: Path) -> None:
    for inside, data in members.items():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        (folder / inside).write_bytes(data)
    for read in (kept.of_folder, render):
        told = _refusal(lambda: read(folder))  # noqa: B023 - at once
        assert "\n" not in told, told


PROGRAM = """
import sys
import tempfile
from pathlib import Path
from ragbench.old.llm import journal
from ragbench.old.extras.runs import packs
with tempfile.TemporaryDirectory() as work:
    try:
        packs._unpacked(Path(sys.argv[1]), Path(work))
        replies = Path(work) / packs.REPLIES
        print("taken", sum(1 for _ in journal.read(replies)) if replies.is_file() else "")
    except ValueError as error:
        print(error)
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
"""
ABOUT = b'{"format": 1, "run": "20260101T000000-01", "ragbench": "0.1.0", "replies": 0, "data": {}}'
MEGABYTE = 2**20


def _table(column: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"value": column}), out, compression="zstd", write_statistics=False)
    return out.getvalue()


def _repeated(letters: int, times: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array(["x" * letters]))


BOMBS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "a manifest of blanks": lambda: ("manifest.json", b" " * (600 * MEGABYTE)),
    "a manifest of empty objects": lambda: ("manifest.json", b'{"a": [' + b"{}," * (10 * MEGABYTE) + b"{}]}"),
    "a summary of lists": lambda: ("summary.json", b"[" + b"[]," * (10 * MEGABYTE) + b"[]]"),
    "findings of fields": lambda: ("parts/a/findings.json", b"{" + b'"a":0,' * (5 * MEGABYTE) + b'"a":0}'),
    "findings of wide letters": lambda: ("parts/a/findings.json", b'"' + b"\\u0401" * (5 * MEGABYTE) + b'"'),
    "a deep notebook": lambda: ("a.ipynb", b"[" * (30 * MEGABYTE)),
    "a long notebook": lambda: ("a.ipynb", b"x" * (700 * MEGABYTE)),
    "a pack that says much": lambda: ("pack.json", ABOUT[:-1] + b" " * (500 * MEGABYTE) + b"}"),
    "a table of one text": lambda: ("parts/a/scores.parquet", _table(_repeated(MEGABYTE, 20_000))),
    "a table of many rows": lambda: ("parts/a/scores.parquet", _table(pa.array([0] * 30_000_000, pa.int8()))),
    "a table of one list": lambda: (
        "parts/a/scores.parquet", _table(pa.array([[0] * 50_000_000], pa.list_(pa.int8())))),
    "a table of one long text": lambda: ("parts/a/scores.parquet", _table(pa.array(["x" * (900 * MEGABYTE)]))),
    "a reply without end": lambda: ("replies.jsonl", b'{"a": "' + b"x" * (900 * MEGABYTE)),
    "a reply of empty objects": lambda: ("replies.jsonl", b"[" + b"{}," * (9 * MEGABYTE) + b"{}]"),
    "replies of blanks": lambda: ("replies.jsonl", b"\n" * (40 * MEGABYTE)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.fault("bombs", tried="packed runs and journals that are small, and huge when they are read", count=15)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_takes_less_than_a_gigabyte(tmp_path: Path, bomb: str) -> None:
    name, data = BOMBS[bomb]()
    pack = _written({"pack.json": ABOUT, name: data}, tmp_path / "bomb.zip")
    del data
    assert pack.stat().st_size < 20 * MEGABYTE
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(pack)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    *said, own = done.stdout.splitlines()
    assert int(own) < 1024, said
    assert len(said) == 1, said
    assert said[0].startswith("taken") is (bomb in ("replies of blanks", "findings of wide letters")), said
