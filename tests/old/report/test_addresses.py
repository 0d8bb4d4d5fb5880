"""A shell that limits a process's addresses (`ulimit -v`): a named reason, where a kernel would wait for ever."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ragbench.old.report.execution import execute

needed = execute.ADDRESSES + execute.ADDRESSES_OF_A_CORE * (os.cpu_count() or 1)


def limited(addresses: int, project: Path) -> subprocess.CompletedProcess[str]:
    """`ragbench run` on a tier under that limit, in a process group of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ragbench", "run", "tier1_retrieval"],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=project,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses)),
    )


@pytest.mark.slow
@pytest.mark.fault("hang", tried="limits on a process's addresses, in which threads are not started", count=3)
@pytest.mark.parametrize("addresses", [1_200_000 * 1024, 2_500_000 * 1024, needed - 1])
def test_too_few_addresses_end_a_run_with_a_reason(addresses: int, project: Path) -> None:
    done = limited(addresses, project)
    said = done.stdout + done.stderr
    assert done.returncode in (3, 4), said
    assert f"limits a process to {addresses // 1024:,} kB of addresses" in " ".join(said.split())
    assert "ulimit -v unlimited" in " ".join(said.split())
    there = [one.info for one in psutil.process_iter(["cmdline", "cwd"]) if one.info["cwd"] == str(project)]
    assert not [one for one in there if "ipykernel_launcher" in (one["cmdline"] or [])]


@pytest.mark.slow
def test_enough_addresses_are_enough(project: Path) -> None:
    done = limited(needed, project)
    assert "kB of addresses" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
