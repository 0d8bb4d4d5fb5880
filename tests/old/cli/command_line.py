"""The command line called in this process, as a shell calls it: words in; texts and the exit code out.

Tests of what a process is (signals, its terminal, its limits, what it imports) start one of their own.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner, Result

from ragbench.old.__main__ import application, main
from ragbench.old.core import settings

ROOT = Path(__file__).parents[3]


def ragbench(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What `ragbench` with these words says under these variables; an error that is not for people is raised.

    The notebooks that it starts find this checkout, and its tests.
    """
    here = {"COLUMNS": "160", "PYTHONPATH": str(ROOT)}
    said, complained = io.StringIO(), io.StringIO()
    settings.load.cache_clear()
    with pytest.MonkeyPatch.context() as patch, mock.patch.dict(os.environ, {**here, **variables}):
        patch.setattr(sys, "argv", ["ragbench", *words])
        patch.setattr(sys, "stdin", io.StringIO())
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            code = _code()
    settings.load.cache_clear()
    return subprocess.CompletedProcess(["ragbench", *words], code, said.getvalue(), complained.getvalue())


def invoke(*words: object, **how: Any) -> Result:
    """What typer's runner makes of these words, and the error that was raised: for those who look at it."""
    settings.load.cache_clear()
    return CliRunner().invoke(application, [str(word) for word in words], **how)


def one_line(said: str) -> str:
    """What was printed without line ends, and without the frame that stands around a refusal."""
    return " ".join(said.replace("│", " ").split())


def _code() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
