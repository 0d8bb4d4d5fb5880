"""What is read whole has an end: every file, whoever wrote it, goes through a reader with a limit in bytes."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragbench.core import folders
from tests.laws import sources

FORMATS = {"json", "tomllib", "pickle", "marshal", "numpy", "np", "ElementTree", "etree", "yaml", "nbformat"}
LOADERS = {"load", "loadtxt", "genfromtxt", "fromfile", "parse", "read", "safe_load"}
OF_STREAMS = {"read", "readline", "readlines", "readall"}
WITHOUT_A_LIMIT = {
    "address.serve": "the end of a pipe into which nobody writes",
    "annexes.offers": "beside the code, as the package brings it",
    "arrays._read": "of this user's own database, under a checksum",
    "notebook_pages._plotly": "as the package plotly brings it",
    "cells._table": "beside the code, as the package brings it",
    "callables.tell_missing": "what the parent process writes, which is ragbench",
    "encodings.": "beside the code, as the package brings it",
    "folders.text": "bytes that the reader gave",
    "formats.": "beside the code, as the package brings it",
    "language.catalogue": "beside the code, as the package brings it",
    "measurement._parquet": "a run's tables; those of runs from elsewhere are measured first, by `received`",
    "tier0_embeddings._kept": "this user's own cache",
}
"""Where something is read whole without a limit, each with its reason."""


def whole_reads(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The calls that read a file or a stream to its end: the function that each stands in, and the call.

    Functions of the package itself are none: what they call is looked at where they stand.
    """
    everything = sources.walk(tree)
    own = {node.name for node in everything if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    foreign = set()
    for node in everything:
        if isinstance(node, ast.ImportFrom):
            names = {alias.asname or alias.name for alias in node.names}
            if f"{node.module}.".startswith("ragbench."):
                own |= names
            elif str(node.module).split(".")[0] in FORMATS:
                foreign |= names
    yield from _within(tree, "", own, foreign)


def _within(node: ast.AST, place: str, own: set[str], foreign: set[str]) -> Iterator[tuple[str, str]]:
    for child in sources.children(node):
        inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else place
        if isinstance(child, ast.Call) and _is_whole(child, own, foreign):
            yield place, ast.unparse(child)
        yield from _within(child, inner, own, foreign)


def _is_whole(call: ast.Call, own: set[str], foreign: set[str]) -> bool:
    if isinstance(call.func, ast.Name):
        name = call.func.id
        return name not in own and (name.startswith("read_") or (name in foreign and name in LOADERS))
    if not isinstance(call.func, ast.Attribute):
        return False
    name, receiver = call.func.attr, call.func.value
    of = receiver.id if isinstance(receiver, ast.Name) else receiver.attr if isinstance(receiver, ast.Attribute) else ""
    if of in own:
        return False
    if name in OF_STREAMS and of not in FORMATS:
        size = call.args[0] if call.args else None
        return size is None or ast.unparse(size) in ("-1", "None")
    return name.startswith("read_") or (name in LOADERS and of in FORMATS)


@pytest.mark.law
@pytest.mark.fault("bombs", tried="every call in the package that reads a file whole has a limit", count=1)
def test_every_file_that_is_read_whole_has_a_limit() -> None:
    found = {
        f"{path.stem}.{place}": call for path in sources.package() for place, call in whole_reads(sources.tree(path))
    }
    assert {place: call for place, call in found.items() if place not in WITHOUT_A_LIMIT} == {}, (
        "read it with folders.text, folders.content, or datasets.files.read_text, or say here why it has an end"
    )
    assert set(WITHOUT_A_LIMIT) <= set(found), "what is excused is there"


@pytest.mark.parametrize(
    "source",
    [
        "path.read_text()",
        "path.read_bytes()",
        "def f():\n    return Path(a, b).read_text(encoding='utf-8')",
        "with path.open() as file:\n    file.read()",
        "path.open().read(-1)",
        "stream.readlines()",
        "file.readline()",
        "json.load(file)",
        "from json import load\nload(file)",
        "tomllib.load(file)",
        "pd.read_csv(path)",
        "pandas.read_parquet(path)",
        "pq.read_table(path)",
        "from pandas import read_json\nread_json(path)",
        "np.load(path)",
        "ElementTree.parse(path)",
        "nbformat.read(path, 4)",
    ],
)
def test_the_law_sees_every_way_to_read(source: str) -> None:
    assert len(list(whole_reads(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from ragbench.data.files import read_text\nread_text(path)",
        "from ragbench.data import files\nfiles.read_text(path)",
        "from ragbench.core import folders\nfolders.text(path)",
        "file.read(2**20)",
        "file.readline(LONGEST + 1)",
        "json.loads(text)",
        "def read_given(path): ...\nread_given(path)",
    ],
)
def test_the_law_leaves_what_has_a_limit(source: str) -> None:
    assert list(whole_reads(ast.parse(source))) == []


@pytest.mark.parametrize("read", [folders.content, folders.text])
def test_a_file_with_a_byte_too_many_is_refused_by_name(read: object, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(b"1" * 101)
    assert len(read(path, 101)) == 101  # type: ignore[operator]
    with pytest.raises(
        folders.TooLargeError, match=r"^large\.json: more than 100 bytes; a file of its kind has fewer$"
    ):
        read(path, 100)  # type: ignore[operator]


def test_text_is_read_as_python_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("a\r\nб\rв\n".encode())
    assert folders.text(path) == path.read_text(encoding="utf-8") == "a\nб\nв\n"
    path.write_bytes(b"\xff\n")
    assert folders.text(path, errors="replace") == "\ufffd\n"
    with pytest.raises(UnicodeDecodeError):
        folders.text(path)


def test_of_a_log_of_any_length_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text("begun\n" * 1000 + "FATAL: it is over\n")
    assert folders.last_lines(path, 24) == ["begun", "FATAL: it is over"]
    assert len(folders.last_lines(path)) == 1001


ENDLESS = """
import sys
from pathlib import Path
from ragbench.core import annexes, folders
path = Path(sys.argv[1])
try:
    {call}
except Exception as error:
    print(type(error).__name__, error)
# ru_maxrss would begin at the size of the process that started this one
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no peak of memory is told here")
@pytest.mark.fault(
    "bombs", tried="a file without an end, where a model, a module, a notebook or a scheduler's file is named", count=4
)
@pytest.mark.parametrize(
    "call",
    [
        "from ragbench.systems.callables import names_in; list(names_in(path))",
        "from ragbench.extras.cluster.address import parse; parse(str(path))",
        "from ragbench.tiers.run.overview import _heading; _heading(path)",
        "from ragbench.data.documents import _converted; _converted(path, '.pdf')",
    ],
    ids=["module", "scheduler", "notebook", "document"],
)
def test_a_file_without_an_end_is_refused_within_a_gigabyte(call: str, tmp_path: Path) -> None:
    endless = tmp_path / "endless.json"
    endless.symlink_to("/dev/zero")
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS.format(call=call), str(endless)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    said, peak = done.stdout.splitlines()
    assert "endless.json" in said
    assert int(peak) < 1024
