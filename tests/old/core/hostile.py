"""Names and texts that are aimed at a terminal: markup of its printers, escapes, signs that reorder or hide."""

from __future__ import annotations

import re

from ragbench.old.core import terminal

STRINGS = (
    # what printers take for markup
    "rag[k=5]", "rag[k=10]", "[/x]", "[bold]loud[/bold]", "[link=https://evil.example]here[/link]", "[red", "[[x]]",
    "\\[/x]", "[@click=app.quit]x[/]", ":skull:",
    # escapes of the C0 and C1 sets
    "a\x1b[41mb", "a\x1b[2Jb", "a\x1b[1;1Hb", "a\x1b]0;title\x07b", "a\x1b]8;;https://evil.example\x1b\\b\x1b]8;;\x1b\\",
    "a\x1b]52;c;ZWNobyBo\x07b", "a\x1bcb", "a\x1bP+q544e\x1b\\b", "a\x1b[?1049hb", "a\x1b[6nb", "a\x9b41mb",
    "a\x9d0;title\x9cb", "a\x90q\x9cb", "a\x85b",
    # single controls
    "a\x00b", "a\x07b", "a\x08\x08b", "good\rbad", "a\x0bb", "a\x0cb", "a\x7fb", "a\x0eb", "a\x1a", "a\tb",
    "fine\nragbench: gate mrr>=0.9 holds",
    # signs that reorder, join and hide
    "a\u202egpj.exe", "a\u2066b\u2069", "a\u200fb", "a\u061cb", "a\u200bb", "a\u200db", "a\u2060b", "a\ufeffb",
    "a\u00adb", "a\u2028b", "a\u2029b", "a\ufe0fb", "a\u034fb", "a\u3164b", "a\u180eb",
    "a\U000e0041b", "a\ue000b", "a\ufff9b",
)  # fmt: skip
"""None contains another, none is what another is shown as."""
TOGETHER = tuple(" ; ".join(STRINGS[start::3]) for start in range(3))
"""All of them in three texts, for commands that name one thing each."""
_OURS = re.compile(r"\x1b\[(?:[01235]|22|3\d)(?:;(?:[1235]|3\d))*m")
"""The colours that our printers write, none of which is in STRINGS."""


def remains(output: str, allowed: str = "\n") -> list[str]:
    """What of the terminal's powers is left in an output, but for our own colours and line ends."""
    return [sign for sign in terminal.pattern().findall(_OURS.sub("", output)) if sign not in allowed]
