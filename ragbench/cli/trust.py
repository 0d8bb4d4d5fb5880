"""`ragbench trust`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragbench.core.trust import forget, is_trusted, list_trusted, trust


def main(
    folder: Annotated[Path, typer.Argument(help="The folder with the ragbench.toml.")] = Path(),
    remove: Annotated[bool, typer.Option("--remove", help="Trust it no longer.")] = False,
    show: Annotated[
        bool, typer.Option("--list", help="Print the folders that are trusted.")
    ] = False,
) -> None:
    """Say that a folder's settings, code and data may be used: nobody asks again.

    A ragbench.toml can run code that lies beside it and send texts, with your keys, to the
    addresses that it names. Look at it before.
    """
    if show:
        print("\n".join(list_trusted()))
    elif remove:
        forget(folder)
        still = f"; it lies in {folder.resolve().parent}, which is" if is_trusted(folder) else ""
        print(f"{folder.resolve()} is not trusted any more{still}")
    else:
        trust(folder)
        print(f"{folder.resolve()} is trusted")
