"""`ragbench lab`."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from ragbench.core.errors import BenchError
from ragbench.core.trust import open_settings

CONTEXT = {"allow_extra_args": True}  # they are JupyterLab's


def main(
    context: typer.Context,
    ip: Annotated[str, typer.Option(help="Address to listen on; others may then reach it.")] = "",
) -> None:
    """Open the notebooks in JupyterLab; what follows `--` goes to JupyterLab.

    Example: `ragbench lab -- --no-browser --port 8890`
    """
    settings = open_settings()
    folder = settings.path(settings.notebooks_folder)
    if not folder.is_dir():
        raise BenchError(f"there is no folder {folder}; notebooks_folder names another")
    arguments = [sys.executable, "-m", "jupyterlab", f"--ServerApp.ip={ip or '127.0.0.1'}"]
    os.chdir(folder)
    os.execv(sys.executable, [*arguments, *context.args])  # noqa: S606  the server takes our place
