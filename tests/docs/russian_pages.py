"""`python -m tests.docs.russian_pages`: the Russian catalogues in docs/locale, brought up to date with the pages.

Only pages that are said to be translated have a catalogue; the others stay English.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOCALE = DOCS / "locale" / "ru" / "LC_MESSAGES"
TRANSLATED = (
    "index", "tutorial", "gallery", "parameters", "coming-from", "reference/index", "explanation/index",
    "explanation/limits", "explanation/reading",
    "explanation/stand-ins", "explanation/cluster", "explanation/scale", "explanation/reviewers",
    "explanation/chunk-sizes", "explanation/judges", "reference/pages",
    *(f"how-to/{path.stem}" for path in sorted((DOCS / "how-to").glob("*.md"))),
)  # fmt: skip


def templates(folder: Path) -> None:
    """The messages of every page, as Sphinx finds them; nothing is executed for it."""
    command = [
        "-m",
        "sphinx",
        "-q",
        "-D",
        "nb_execution_mode=off",
        "-D",
        "suppress_warnings=myst-nb.lexer",  # cells that are not executed have no language
        "-b",
        "gettext",
        "-d",
        str(folder / "read"),
        str(DOCS),
        str(folder),
    ]
    subprocess.run([sys.executable, *command], check=True)


def update() -> dict[str, list[str]]:
    """Write each catalogue anew, what is known kept; the messages of each page that have no Russian."""
    missing = {}
    with tempfile.TemporaryDirectory() as folder:
        templates(Path(folder))
        for page in TRANSLATED:
            path = LOCALE / f"{page}.po"
            known = read(path)
            with (Path(folder) / f"{page}.pot").open("rb") as file:
                found = read_po(file, locale="ru")
            for message in found:
                if message.id:
                    message.string = known.get(str(message.id), "")
                    message.user_comments = message.auto_comments = []
                    message.locations = []
            missing[page] = [str(message.id) for message in found if message.id and not message.string]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(written(found))
    return missing


def written(found: Catalog) -> bytes:
    """A catalogue as it stands in a file: no text is a format of Python, whatever signs it holds."""
    for message in found:
        message.flags = set()
    buffer = io.BytesIO()
    write_po(buffer, found, width=110, omit_header=True)
    return buffer.getvalue()


def read(path: Path) -> dict[str, str]:
    """What a catalogue knows: its messages and their Russian."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return {str(message.id): str(message.string) for message in read_po(file, locale="ru") if message.id}


if __name__ == "__main__":
    left = [f"{page}: {text!r}" for page, texts in update().items() for text in texts]
    sys.exit("\n".join(left) or 0)
