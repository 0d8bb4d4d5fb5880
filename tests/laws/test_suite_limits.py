"""A test that hangs is one failure: the others run, and nothing of it stays behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
SLEEP = "86399.75"
HANGING = f"""
import asyncio, subprocess, threading
import pytest

def test_that_waits_for_a_lock():
    threading.Event().wait()

def test_that_waits_for_a_process():
    subprocess.run(["sleep", "{SLEEP}"])

def test_that_waits_for_a_loop():
    asyncio.run(asyncio.sleep({SLEEP}))

def test_that_spins():
    while True:
        pass

@pytest.fixture
def waiting():
    threading.Event().wait()

def test_whose_fixture_waits(waiting):
    pass

def test_that_is_well():
    pass
"""


@pytest.mark.slow
@pytest.mark.fault("hang", tried="tests that never end, alone and side by side: each fails within its limit", count=10)
@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "side by side"])
def test_a_test_that_hangs_ends_within_its_limit_and_leaves_nothing(workers: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=200,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout)}
    assert counts == {"failed": 4, "error": 1, "passed": 1}, done.stdout[-2000:] + done.stderr[-500:]
    assert not [one.pid for one in psutil.process_iter(["cmdline"]) if SLEEP in (one.info["cmdline"] or [])]


def test_the_suite_has_a_limit_for_every_test(request: pytest.FixtureRequest) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert 0 < settings["timeout"] <= 600
    assert request.config.pluginmanager.hasplugin("timeout")


@pytest.mark.slow
def test_a_slow_test_has_a_longer_one(request: pytest.FixtureRequest) -> None:
    marker = request.node.get_closest_marker("timeout")
    assert marker is not None
    assert 300 < marker.args[0] <= 3600
