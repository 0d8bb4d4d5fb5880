"""What people type wrongly, of kept runs: the thing, the value and the way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from ragbench.old.report.keeping import kept
from tests.old.cli.command_line import invoke
from tests.old.cli.test_faults import said
from tests.old.cli.test_faults import there as there
from tests.old.core import hostile
from tests.old.core.test_terminal import STORABLE, assert_shown, told
from tests.old.core.test_terminal import call as call
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("compare a b --json nowhere/x.json", "there is no folder nowhere"),
        ("history -l fr", "'fr': en or ru is expected"),
        ("compare a b -l fr", "'fr': en or ru is expected"),
        ("history --json folder", "name a file in it"),
        ("journal export nowhere/x.jsonl", "there is no folder nowhere"),
        ("journal import nowhere.jsonl", "nowhere.jsonl: there is no such file"),
        ("journal import folder", "folder: this is a folder"),
        ("journal import noise.gz", "noise.gz, line 1: cannot be read"),
    ],
)
@pytest.mark.usefixtures("there")
def test_a_fault_names_the_thing(words: str, expected: str) -> None:
    done = invoke(*words.split())
    assert done.exit_code != 0
    assert expected in said(done)


@pytest.mark.slow
@pytest.mark.fault("links", tried="systems, metrics and reasons of kept runs", count=104)
def test_runs_compare_history_and_gate(call: Callable[..., Result], project: Path) -> None:
    texts = tuple(" ; ".join(STORABLE[start::3]) for start in range(3))  # a comparison of each takes its time
    metrics = ("mrr", *(f"m {text}" for text in texts))
    facts = {"primary": "mrr", "note": " ".join(STORABLE), "judges": list(STORABLE)}
    names = (f"{project.name}-x", f"{project.name}-y")
    for number, name in enumerate(names):
        made = measurement(texts, metrics, questions=3, seed=number, facts=facts, reason="".join(STORABLE))
        kept.record(kept_runs.make(project / "reports", name, made, parameters={"p": "".join(STORABLE)}))
    assert_shown(call("runs", "show", names[0]), texts)
    for words in (("runs",), ("runs", "--json"), ("runs", "show", names[0], "--json")):
        assert hostile.remains(told(call(*words))) == [], words
    for words in (("compare", *names, "--json", "-"), ("history", "--json", "-")):
        done = call(*words)
        assert hostile.remains(told(done)) == [], words
        json.loads(done.stdout)
    assert hostile.remains(told(call("compare", *names))) == []
    for text in hostile.TOGETHER:
        assert hostile.remains(told(call("runs", "show", f"no {text}"))) == []
        assert hostile.remains(told(call("runs", "delete", f"no {text}"))) == []
        assert hostile.remains(told(call("publish", f"no {text}", "--to", "site"))) == []
