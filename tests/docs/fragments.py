"""The fenced blocks of README.md, CONTRIBUTING.md and docs/, and the command lines in them and in their prose."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.commands_page import tree

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
)
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]+|\{[\w-]+\})?(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
REASON = re.compile(r'not-run="([^"]+)"')
WRITTEN = re.compile(r"`(ragbench [^`\n]+)`")
PLACE = re.compile(r"\b[A-Z][A-Z_]+\b|…|\.\.\.|\{|<")
"""What a reader has to put something in the place of."""
SERVES = ("lab",)
"""Commands that go on until somebody ends them."""


@dataclass(frozen=True)
class Fragment:
    """language: of its text; "" where none is named, "{…}" for what the site itself does with it. reason: why it is not
    run; empty where it is."""

    page: Path
    line: int
    language: str
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def lines(self) -> list[list[str]]:
        """The words of each of its command lines, without comments."""
        return [words for line in self.text.splitlines() if (words := shlex.split(line, comments=True))]


def fragments(page: Path) -> list[Fragment]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for one in FENCE.finditer(text):
        reason = REASON.search(one["info"])
        body = "".join(line.removeprefix(one["indent"]) for line in one["text"].splitlines(keepends=True))
        line = text.count("\n", 0, one.start()) + 1
        found.append(Fragment(page, line, one["language"] or "", reason[1] if reason else "", body))
    return found


def written(text: str) -> Iterator[list[str]]:
    """The words of every command line in the prose of a page that holds nothing to fill in."""
    for line in WRITTEN.findall(FENCE.sub("", text)):
        if not PLACE.search(line):
            yield shlex.split(line)


def unknown(words: list[str]) -> str:
    """What a command line says that the commands do not know; empty where they know all of it."""
    node: Any = tree()
    rest = [word for word in words[1:] if word != "--help"]
    while rest and getattr(node, "commands", None):
        if rest[0].startswith("-"):
            if not (named := _option(node, rest[0])):
                return f"{' '.join(words)}: no option {rest[0]}"
            rest = rest[1 if named.is_flag else 2 :]
            continue
        if rest[0] not in node.commands:
            return f"{' '.join(words)}: no command {rest[0]}"
        node, rest = node.commands[rest[0]], rest[1:]
    for word in rest:
        if re.match(r"--?[a-z]", word) and not _option(node, word.partition("=")[0]):
            return f"{' '.join(words)}: no option {word}"
    return ""


def _option(node: Any, word: str) -> Any:
    return next((one for one in node.params if word in (*one.opts, *one.secondary_opts)), None)
