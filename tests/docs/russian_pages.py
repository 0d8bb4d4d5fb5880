"""`python -m tests.docs.russian_pages`: the Russian catalogues in docs/locale, brought up to date with the pages.

What is code or numbers alone has no entry. A page of metrics is made in Russian (`metrics_page`), and a page that has
a `.ru.md` beside it is written in Russian.
"""

from __future__ import annotations

import functools
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOCALE = DOCS / "locale" / "ru" / "LC_MESSAGES"
NAMES = ("licences",)
"""Tables of the names of packages and licences: about these there are sentences alone to be translated."""
TRANSLATED = tuple(
    page for path in sorted(DOCS.rglob("*.md"))
    if not path.name.endswith(".ru.md") and not path.with_suffix(".ru.md").exists() and "_build" not in path.parts
    and not (page := path.relative_to(DOCS).with_suffix("").as_posix()).startswith(("metrics", *NAMES))
)  # fmt: skip
BESIDE = re.compile(r"\[(?:По-русски|In English)\]\([\w.-]+\)\n\n")
"""A link from a page to itself in the other language, which is at the head of every page of the site."""
EVIDENCE = "Held by"
CELL = re.compile(r"(?<=\| )[-−]?\d*\.\d+(?: [\[(][-\d., ]+[\])])?(?= \|)")
"""A number, perhaps with its interval, in a table."""
COUNTED = re.compile(r"(?<=[|;] )([^|;]+?)(?= \(\d+\)(?:;| \|))")
"""What was tried, before how often."""


def read_in(app: Any, page: str, source: list[str]) -> None:
    """What Sphinx calls with the source of a page: links stay within the language, and what holds a statement stands
    below it; in Russian, numbers have commas, and what was tried is translated whatever was counted."""
    source[0] = BESIDE.sub("", source[0]).replace(".ru.md)", ".md)")
    if page.startswith("statistics/"):
        source[0] = re.sub(rf"\n(?=\*{EVIDENCE}\*)", "\n\n", source[0])
    if app.config.language == "ru" and page not in NAMES:
        source[0] = CELL.sub(lambda cell: _decimal(cell[0]), source[0])
        if page.startswith("statistics/"):
            source[0] = _evidence(source[0])
        elif page.startswith("faults/"):
            source[0] = COUNTED.sub(lambda tried: _known(page).get(tried[1], tried[1]), source[0])


def _evidence(text: str) -> str:
    counted = (path.relative_to(LOCALE).with_suffix("") for path in (LOCALE / "statistics" / "counted").glob("*.po"))
    known = {situation: russian for page in counted for situation, russian in _known(page.as_posix()).items()}

    def cells(listed: re.Match[str]) -> str:
        named = " ".join(listed[0].split())
        return re.sub(r"`([^`]+)(?=, \d+`)", lambda cell: f"`{known.get(cell[1], cell[1])}", named)

    text = re.sub(r"\*Counted in\*.*?(?=\n\n)", cells, text, flags=re.DOTALL)
    return text.replace(f"*{EVIDENCE}*", "*Проверяют*").replace("*Counted in*", "*Посчитано в строках*")


def _decimal(numbers: str) -> str:
    return re.sub(r"(?<!\d)\.", "0.", numbers).replace("-", "−").replace(", ", "; ").replace(".", ",")


@functools.cache
def _known(page: str) -> dict[str, str]:
    return read(LOCALE / f"{page}.po")


def messages(text: str) -> Iterator[str]:
    """What is to be translated of a message that Sphinx finds: nothing of code, numbers and evidence; of what was
    tried each by itself."""
    if text.startswith(f"*{EVIDENCE}*"):
        return
    tried = COUNTED.findall(f"| {text} |")
    for piece in tried or [text]:
        if re.search(r"[^\W\d_]{2}", re.sub(r"`[^`]*`|\]\([^)]*\)", "", piece)):
            yield piece


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
        for page in (*TRANSLATED, *NAMES):
            path = LOCALE / f"{page}.po"
            known, catalogue = read(path), Catalog(locale="ru")
            for message in needed(Path(folder), page):
                if page in TRANSLATED or message in known:
                    catalogue.add(message, known.get(message, ""))
            missing[page] = [str(message.id) for message in catalogue if message.id and not message.string]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(written(catalogue))
    return missing


def needed(folder: Path, page: str) -> list[str]:
    """The messages of a page that are to be translated, in its order, of what `templates` has written."""
    return list(dict.fromkeys(piece for text in read(folder / f"{page}.pot") for piece in messages(text)))


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
