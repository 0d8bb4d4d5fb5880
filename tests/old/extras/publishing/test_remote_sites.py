"""Sites on shared storage: written whole, drawn again from a run that lies there, and nothing of others touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragbench.old.report.keeping import kept
from tests.old.cli.command_line import one_line, ragbench
from tests.old.data.remotes.test_runs import REPORTS, RUN, written
from tests.old.data.remotes.test_runs import _own_copies as _own_copies
from tests.old.data.remotes.test_runs import memory as memory
from tests.old.data.remotes.test_runs import run as run


def test_a_run_is_drawn_again_at_its_url(run: Path, memory: Any) -> None:
    kept.send(RUN, REPORTS)
    done = ragbench("render", f"{REPORTS}/{RUN}")
    assert done.returncode == 0, done.stderr


def test_a_site_is_published_to_a_url(run: Path, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    to = "memory://bucket/site"
    paths = written(monkeypatch)
    assert ragbench("publish", RUN, "--to", to).stdout.strip() == f"{to}/index.html"
    assert [path.rpartition("/")[2] for path in paths[-2:]] == ["index.html", ".ragbench"]
    assert memory.exists("/bucket/site/single/index.html")
    memory.pipe_file("/bucket/site/CNAME", b"example.org")
    assert ragbench("publish", RUN, "--to", to, "--no-single").returncode == 0
    assert not memory.exists("/bucket/site/single/index.html")
    assert memory.exists("/bucket/site/CNAME")


def test_a_folder_of_others_is_not_published_to(run: Path, memory: Any) -> None:
    memory.pipe_file("/bucket/site/theirs.txt", b"x")
    done = ragbench("publish", RUN, "--to", "memory://bucket/site")
    assert done.returncode == 3
    assert "is there and holds other things" in one_line(done.stderr)
    assert list(memory.store) == ["/bucket/site/theirs.txt"]
