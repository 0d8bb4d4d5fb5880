"""Data that would run code while it is read: no such reader stands in the package, and such files run nothing."""

from __future__ import annotations

import ast
import gzip
import io
import os
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from ragbench.old.__main__ import _is_for_people, application

MODULES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "shelve", "yaml"}
CALLS = {"read_pickle", "to_pickle", "read_hdf", "unsafe_load", "full_load", "eval", "exec"}
OF_MODULES = {("np", "load"), ("numpy", "load"), ("np", "save"), ("numpy", "save"), ("torch", "load"), ("os", "system")}


def readers_that_run_code(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"import {name}" for name in names if name.split(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            words = last_words(node.func)
            refused = [ast.unparse(key.value) == "False" for key in node.keywords if key.arg == "allow_pickle"]
            if all(refused) and refused:
                continue
            if words[-1:] and (words[-1] in CALLS - {"eval"} or words == ("eval",) or words[-2:] in OF_MODULES):
                yield ".".join(words)
            elif refused:
                yield "allow_pickle"


def last_words(called: ast.expr) -> tuple[str, ...]:
    """The last two words of what is called; of something else than a name, none that are looked for."""
    if isinstance(called, ast.Attribute):
        return (*last_words(called.value)[-1:], called.attr)
    return (called.id,) if isinstance(called, ast.Name) else ("",)


def parsed(source: str) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(source))


@pytest.mark.fault("pickle", tried="readers that run code, planted into a source and found", count=12)
@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "from pickle import loads", "import yaml", "import joblib.numpy_pickle", "import shelve",
        "pd.read_pickle(path)", "frame.to_pickle(path)", "np.load(path)", "np.load(path, allow_pickle=True)",
        "torch.load(path)", "eval(text)", "open_memmap(path, allow_pickle=flag)",
    ],
)  # fmt: skip
def test_such_a_reader_would_be_found(source: str) -> None:
    assert list(readers_that_run_code(parsed(source)))


class Touch:
    """Makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


COMMANDS = (
    "score FILE -m exact_match", "load questions FILE --name x --dry-run", "load answers FILE --name x --dry-run",
    "load dialogues FILE --name x --dry-run", "load history FILE --name x --dry-run", "significance FILE", "agree FILE",
    "journal import FILE", "trec FILE FILE",
)  # fmt: skip
ENDINGS = (".pkl", ".npy", ".json", ".jsonl", ".csv", ".parquet", ".json.gz", ".yaml", "")


@pytest.mark.slow
@pytest.mark.fault(
    "pickle", tried="pickles, arrays of objects and YAML under nine endings, given to nine commands", count=243
)
def test_such_files_are_refused_and_run_nothing(project: Path) -> None:
    mark = project / "it ran"
    array = io.BytesIO()
    np.save(array, np.array([Touch(mark)], dtype=object), allow_pickle=True)
    forms = (
        pickle.dumps(Touch(mark)),
        array.getvalue(),
        f"!!python/object/apply:os.mkdir ['{mark}']\n".encode(),
    )
    pickle.loads(forms[0])  # it would run
    mark.rmdir()
    yaml.unsafe_load(forms[2])
    mark.rmdir()
    tried = 0
    for content in forms:
        for ending in ENDINGS:
            path = project / f"brought{ending}"
            path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
            for words in COMMANDS:
                done = CliRunner().invoke(application, words.replace("FILE", path.name).split())
                error = None if isinstance(done.exception, SystemExit) else done.exception
                assert done.exit_code != 0, (words, ending)
                assert error is None or (isinstance(error, Exception) and _is_for_people(error)), (words, ending, error)
                assert not mark.exists(), (words, ending)
                tried += 1
    assert tried == 243
