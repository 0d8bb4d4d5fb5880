"""`python -m tests.docs.endings_page`: writes the table of exit codes in docs/how-to/gates.md anew from the code."""

from __future__ import annotations

import re
from pathlib import Path

from ragbench.core import endings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gates.md"
TABLE = re.compile(r"\| exit code \|.*?\n\n", re.DOTALL)


def page() -> str:
    """The page with the table that the code makes."""
    return TABLE.sub(lambda _: endings.table() + "\n", PAGE.read_text(encoding="utf-8"), count=1)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
