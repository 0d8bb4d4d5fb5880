"""Runs on shared storage, for the commands of kept runs: read at their URL, and sent where they were not."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core.settings.urls import Url
from ragbench.old.data import remotes
from ragbench.old.report.keeping import kept
from tests.old.cli.command_line import one_line, ragbench
from tests.old.data.remotes.test_runs import REPORTS, RUN
from tests.old.data.remotes.test_runs import _own_copies as _own_copies
from tests.old.data.remotes.test_runs import memory as memory
from tests.old.data.remotes.test_runs import run as run
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement


def test_a_run_is_compared_and_shown_at_its_url(project: Path, run: Path, memory: Any) -> None:
    kept_runs.make(project / "reports", "20261123T070000-01", measurement(), started=kept_runs.STARTED + 86_400)
    for name in (RUN, "20261123T070000-01"):
        kept.send(name, REPORTS)
    assert rb.compare(f"{REPORTS}/{RUN}", f"{REPORTS}/latest").pairings
    done = ragbench("runs", "show", f"{REPORTS}/{RUN}")
    assert done.returncode == 0, done.stderr


@pytest.mark.fault("disk", tried="storage that fails while a run is sent", count=1)
def test_what_could_not_be_sent_is_kept_and_the_command_sends_it(
    run: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = remotes._write, [3]

    def fails(storage: Any, url: Url, source: Path, path: str) -> None:
        left[0] -= 1
        if not left[0]:
            raise ConnectionResetError("the line is cut")
        write(storage, url, source, path)

    with monkeypatch.context() as patch:
        patch.setattr(remotes, "_write", fails)
        done = ragbench("runs", "send", RUN, "--to", REPORTS)
    assert done.returncode == 3
    said = one_line(done.stderr)
    assert f"the run is whole in {run}, and was not sent: {REPORTS}/{RUN}: cannot be written to" in said
    assert "manifest.json" not in str(list(memory.store))
    again = shlex.split(said.partition("To send it: ragbench ")[2])
    done = ragbench(*again)
    assert (done.returncode, done.stdout.strip()) == (0, f"{REPORTS}/{RUN}/index.html")


def test_where_runs_are_sent_to_is_set_or_said(project: Path, run: Path, memory: Any) -> None:
    done = ragbench("runs", "send", RUN)
    assert done.returncode == 3
    assert "no URL is named, and ragbench.toml has no `reports`" in one_line(done.stderr)
    path = project / "ragbench.toml"
    path.write_text(f'reports = "{REPORTS}"\n{path.read_text()}')
    assert ragbench("runs", "send", RUN).returncode == 0
    done = ragbench("runs", "send", RUN, RAGBENCH_TRUST="")
    assert done.returncode == 5
    assert f"sends every run to {REPORTS}, as you" in one_line(done.stderr)
