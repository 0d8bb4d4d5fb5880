"""JSON values one at a time, out of a text of any length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench.old.data.files import MAX_ELEMENT, DatasetError

NEAR_THE_END = 16
"""Characters: a fault so close to the end of what was read may be none once more is read."""
_SIGN = re.compile(r"[^ \t\r\n\x1e]")


class Values:
    """Reads values as far as they are needed; nothing is held but the one that is being read.

    blocks: the text of the file. last: that of the value that was read last. Faults are DatasetErrors that name file
    and line.
    """

    def __init__(self, path: Path, blocks: Iterator[str], decoder: json.JSONDecoder) -> None:
        self.name, self._blocks, self._decode = path.name, blocks, decoder.raw_decode
        self._text, self._at, self._ended = "", 0, False
        self._line, self._counted = 1, 0
        self.last = ""

    def list(self) -> Iterator[tuple[str, Any]]:
        """(place, value) of each element of the list that begins at the next sign."""
        for _ in self.items("]"):
            yield self.value()

    def skip(self) -> None:
        """Go past the next sign."""
        self._at += 1

    def items(self, closing: str) -> Iterator[None]:
        """Stops before each item up to the closing sign."""
        self._at += 1
        sign = self.next()
        while sign != closing:
            yield
            if (sign := self.next()) == ",":
                self._at += 1
            elif sign != closing:
                wanted = f"not JSON: a comma or {closing} is expected"
                raise self.fault(wanted if sign else "the file ends within a list")
        self._at += 1

    def next(self) -> str:
        """The next sign that is no blank, not consumed; empty at the end of the file."""
        while True:
            if sign := _SIGN.search(self._text, self._at):
                self._at = sign.start()
                return sign[0]
            self._at = len(self._text)
            if not self._more():
                return ""

    def value(self) -> tuple[str, Any]:
        """The place and the value that begins at the next sign."""
        self.next()
        place, wanted = self.place(), 1
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except RecursionError:
                raise self.fault("nested too deeply") from None
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - NEAR_THE_END or error.msg.startswith("Unterminated")
                if not cut or self._ended:
                    self._at = error.pos
                    raise self.fault(f"not JSON: {error.msg}") from None
            except ValueError as error:
                raise self.fault(str(error)) from None
            else:
                if self._ended or end < len(self._text):
                    self._at, self.last = end, self._text[self._at : end]
                    return place, value  # what ends with the block, as a number, may go on in the next
            if len(self._text) - self._at > MAX_ELEMENT:
                raise self.fault(f"a record of more than {MAX_ELEMENT:,} characters")
            for _ in range(wanted):
                self._more()
            wanted *= 2

    def _more(self) -> bool:
        """Another block, what lies before this place forgotten; False at the end of the file."""
        self.place()
        block = next(self._blocks, "")
        self._text, self._at, self._counted = self._text[self._at :] + block, 0, 0
        self._ended = not block
        return bool(block)

    def place(self) -> str:
        """Where the next value is, as an error names it."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return f"{self.name}, line {self._line}"

    def fault(self, what: str) -> DatasetError:
        """What is wrong there, as an error."""
        return DatasetError(f"{self.place()}: {what}")
