"""The tables of README.md that are made from the declarations; run as a program, writes them anew."""

from __future__ import annotations

from pathlib import Path

from ragbench.commands.metrics import markdown

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- metrics -->\n", "<!-- /metrics -->"


def current() -> str:
    """What stands in README.md."""
    return README.read_text(encoding="utf-8").split(BEGIN, 1)[1].split(END, 1)[0]


def write() -> None:
    """Put the tables in their place."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    README.write_text(f"{before}{BEGIN}{markdown()}{END}{rest.split(END, 1)[1]}", encoding="utf-8")


if __name__ == "__main__":
    write()
