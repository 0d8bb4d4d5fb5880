"""What to type to install more of ragbench: no package index has it, and another project goes by its name on PyPI."""

from __future__ import annotations

INSTALL = "pip install 'PATH[{extra}]'"
"""PATH: the folder of a checkout, or a wheel. Every message and page that names the command has it from here."""


def install(extra: str) -> str:
    """The command for one of the extras of pyproject.toml."""
    return INSTALL.format(extra=extra)
