"""`ragbench lab`: JupyterLab over the notebooks, on this machine only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench.cli.console import consent
from ragbench.core import terminal

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def lab(
    notebook: Annotated[str, typer.Argument(help="The notebook to open first.")] = "tier1_retrieval",
    port: Annotated[int, typer.Option(help="Port; the next free one where it is taken.", min=1, max=65535)] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser window.")] = True,
    trusted: consent.Trust = False,
    ip: Annotated[str, typer.Option(help="Where to listen; another address lets others in.")] = "127.0.0.1",
) -> None:
    """Open the notebooks in JupyterLab: change a parameter in the cell at the top, run all cells, look.

    Of a project without notebooks those that come with ragbench are copied into it: they are yours to change, and what
    `ragbench run` executes there from then on. It listens on 127.0.0.1 and asks for a token. Ctrl-C ends it.
    """
    import os
    import sys

    from ragbench import report
    from ragbench.core import annexes, settings, trust
    from ragbench.data import places

    path = report.find(notebook)
    consent.required((*trust.named(), *trust.notebooks(), *trust.notebooks([path])), trusted)
    if path.parent == annexes.NOTEBOOKS != places.own_notebooks().resolve():
        path = _copied(places.own_notebooks()) / path.name
    root = settings.project_folder()
    if root not in path.resolve().parents:  # where notebooks_folder, or the path given, leads elsewhere
        root = path.resolve().parent
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
        f"--LabApp.default_url=/lab/tree/{path.resolve().relative_to(root).as_posix()}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    quiet = Path(__file__).parent / "jupyter"  # no news, so no request to another host
    paths = os.pathsep.join(filter(None, (str(quiet), os.environ.get("JUPYTER_CONFIG_PATH"))))
    known = {"RAGBENCH_CONFIG": str(settings.config_path().resolve())} if settings.config_path().is_file() else {}
    kernels = os.pathsep.join(filter(None, (str(quiet), os.environ.get("JUPYTER_PATH"))))
    known |= {"JUPYTER_CONFIG_PATH": paths, "JUPYTER_PATH": kernels, "PYTHONSAFEPATH": "1", **trust.passed_on()}
    os.chdir(root)
    os.execve(sys.executable, words, {**os.environ, **known})  # noqa: S606 - without a shell


def _copied(folder: Path) -> Path:
    """The project's notebooks folder, with ragbench's notebooks in it besides those that are there."""
    from ragbench.core import annexes, folders

    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(path for path in annexes.NOTEBOOKS.iterdir() if path.is_file())
    missing = [path for path in files if not (folder / path.name).exists()]
    for path in missing:
        folders.write(folder / path.name, folders.content(path))
    terminal.say(f"copied into {folder}: {len(missing)} files, yours to change; now `ragbench run` executes these")
    return folder
