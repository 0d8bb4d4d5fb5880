"""`ragbench lab`: JupyterLab over the notebooks, on this machine only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench import terminal
from ragbench.commands.console import consent

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def lab(
    notebook: Annotated[str, typer.Argument(help="The notebook to open first.")] = "tier1_retrieval",
    port: Annotated[int, typer.Option(help="Port; the next free one where it is taken.", min=1, max=65535)] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    trusted: consent.Trust = False,
    ip: Annotated[str, typer.Option(help="Where to listen; another address lets others in.")] = "127.0.0.1",
) -> None:
    """Open the notebooks in JupyterLab: change a parameter in the cell at the top, run all cells, look.

    It listens on 127.0.0.1 and asks for a token. Ctrl-C ends it.
    """
    import os
    import sys

    from ragbench import report, settings, trust

    path = report.find(notebook)
    root = settings.project_folder()
    code = trust.of_notebooks([path]) | trust.of_namesakes(path.parent)
    consent.required(trust.of_project(settings.load()) | code, trusted)
    if ip not in LOOPBACK:
        terminal.say(
            f"JupyterLab will listen on {ip}: whoever has its token can run code here", err=True, colour="yellow"
        )
    words = [
        *(sys.executable, "-P", "-m", "jupyterlab"),  # no file of the project takes the place of a package
        f"--ServerApp.ip={ip}",
        f"--ServerApp.port={port}",
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.open_browser={browser}",
        f"--ServerApp.allow_root={os.geteuid() == 0}",
        f"--LabApp.default_url=/lab/tree/{path.relative_to(root).as_posix()}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    quiet = Path(__file__).parent.parent / "lab"  # no news, so no request to another host
    paths = os.pathsep.join(filter(None, (str(quiet), os.environ.get("JUPYTER_CONFIG_PATH"))))
    os.chdir(root)
    os.execve(sys.executable, words, {**os.environ, "JUPYTER_CONFIG_PATH": paths})  # noqa: S606 - no shell reads them
