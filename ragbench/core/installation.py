"""What comes with ragbench and where it lies, and what to type to install more of it."""

from __future__ import annotations

from pathlib import Path

INSTALL = "pip install 'PATH[{extra}]'"
"""PATH: the folder of a checkout, or a wheel. Every message and page that names the command has it from here."""


def install(extra: str) -> str:
    """The command for one of the extras of pyproject.toml."""
    return INSTALL.format(extra=extra)


_PACKAGE = Path(__file__).parents[1]
NAME = "shipped"
"""The folder of an installed package that holds it; a checkout has it beside the package."""
FOLDER = _PACKAGE / NAME if (_PACKAGE / NAME).is_dir() else _PACKAGE.parent
"""It is read and never written."""
CONFIGURATION = FOLDER / "ragbench.toml"
NOTEBOOKS = FOLDER / "notebooks"
DATA = FOLDER / "data"
