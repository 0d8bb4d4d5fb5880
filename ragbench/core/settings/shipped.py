"""Where that lies which comes with ragbench: notebooks, the sample data set, and a ragbench.toml for it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
NAME = "shipped"
"""The folder of an installed package that holds it; a checkout has it beside the package."""
FOLDER = _PACKAGE / NAME if (_PACKAGE / NAME).is_dir() else _PACKAGE.parent
"""It is read and never written."""
CONFIGURATION = FOLDER / "ragbench.toml"
NOTEBOOKS = FOLDER / "notebooks"
DATA = FOLDER / "data"
