"""One question per folder, before its settings, code or data are used.

A ragbench.toml can send texts to any address and run any code that lies beside it, so a folder
that came from elsewhere is used only when its user has said so, once. Nothing of it is analysed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ragbench.core.errors import BenchError, UntrustedError
from ragbench.core.settings import Settings, find_file, load_settings


def open_settings(path: Path | str | None = None) -> Settings:
    """Read ragbench.toml like `load_settings`, of a folder that is trusted.

    At a terminal the question is asked; elsewhere UntrustedError names the command that answers it.
    """
    file = find_file(path)
    if file is not None:
        check_trust(file.parent)
    return load_settings(path)


def check_trust(folder: Path) -> None:
    """Ask whether the folder may be used, unless that was answered before."""
    folder = folder.resolve()
    if is_trusted(folder):
        return
    question = (
        f"{folder} has a ragbench.toml: it may run code that lies there and send texts to the "
        "addresses that it names. Use it?"
    )
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().casefold() in ("y", "yes", "д", "да"):
            trust(folder)
            return
    raise UntrustedError(f"{question} If so: ragbench trust {folder}")


def is_trusted(folder: Path) -> bool:
    """Whether somebody said yes to this folder, or to one above it."""
    trusted = set(list_trusted())
    return any(str(place) in trusted for place in (folder.resolve(), *folder.resolve().parents))


def list_trusted() -> list[str]:
    """Return the folders that are trusted."""
    try:
        folders = json.loads(trust_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(folder) for folder in folders] if isinstance(folders, list) else []


def trust(folder: Path) -> None:
    """Note that this folder may be used."""
    write_trusted(sorted({*list_trusted(), str(folder.resolve())}))


def forget(folder: Path) -> None:
    """Note that this folder may not be used any more."""
    write_trusted([other for other in list_trusted() if other != str(folder.resolve())])


def write_trusted(folders: list[str]) -> None:
    """Write the list whole or not at all."""
    file = trust_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_suffix(".new")
        beside.write_text(json.dumps(folders), encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        raise BenchError(
            f"{file} cannot be written: {error.strerror}; the environment variable XDG_STATE_HOME "
            "names another folder for it"
        ) from None


def trust_file() -> Path:
    """Where the list is kept: in the user's state, not in the folder that it speaks of."""
    import platformdirs

    return Path(platformdirs.user_state_dir("ragbench")) / "trusted.json"
