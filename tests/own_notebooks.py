"""`python -m tests.own_notebooks`: note the code of ragbench's own notebooks, which nobody has to be asked about."""

from __future__ import annotations

from pathlib import Path

from ragbench.trust.reach import OWN_NOTEBOOKS, notebook_digest

ROOT = Path(__file__).parent.parent
NOTED = ROOT / "ragbench" / "trust" / OWN_NOTEBOOKS


def listed() -> str:
    """A line a notebook: the digest of its code, and its name."""
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return "".join(f"{notebook_digest(path.read_bytes())}  {path.name}\n" for path in paths)


if __name__ == "__main__":
    NOTED.write_text(listed(), encoding="utf-8")
