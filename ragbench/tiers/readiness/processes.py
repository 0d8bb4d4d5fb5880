"""Work with users' functions in a process of its own: what they load, or break, is not kept in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragbench.core import folders, trust
from ragbench.core import settings as configuration
from ragbench.core.settings.secrets import excerpt

SECONDS = 120.0


class ProcessError(RuntimeError):
    """The process gave nothing; the message says why."""


def told(code: str, given: Mapping[str, Any]) -> dict[str, str]:
    """What code says of what is given: an object of JSON at its standard input, and one in the file that is its
    argument.

    Raises ProcessError where it ends without a word, or takes longer than SECONDS.
    """
    environment = {**os.environ, **trust.passed_on()}
    how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": SECONDS, "env": environment}
    with tempfile.TemporaryDirectory(prefix="ragbench-") as private:
        out = Path(private) / "reply.json"
        command = [sys.executable, "-P", "-c", code, str(out)]
        try:
            done = subprocess.run(  # noqa: S603
                command, check=False, cwd=configuration.project_folder(), input=json.dumps(given), **how
            )
        except subprocess.TimeoutExpired:
            raise ProcessError(f"takes longer than {SECONDS:g} s") from None
        if out.is_file():
            return dict(json.loads(folders.text(out)))
    lines = done.stderr.strip().splitlines() or ["it said nothing"]
    raise ProcessError(f"ends the process: {excerpt(lines[-1], 200)}")
