"""What somebody chose: names as they may be written, and the refusal of what there is not or what cannot be.

It imports next to nothing: a command that reads a list of names, or refuses one, needs no more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ragbench.old.core import metric

Reads = Literal["retrievers", "writers", "embedders", "answers"]
"""What an object in place of a system's name is: it searches (and may answer), it writes answers from contexts, it
embeds, or it is a table of answers."""


class BenchError(ValueError):
    """A tier was asked for something that cannot be measured; the message says what is legal."""


def illegal(name: str, value: Any, expected: str, about: str | None) -> BenchError:
    """The refusal of a value of a parameter, with what is legal and what it is about."""
    return BenchError(f"{name} = {value!r}: {expected} is expected ({about})")


def parted(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names or labels, comma-separated or as a list, each once; a comma inside parentheses parts nothing."""
    parts = metric.parted(given) if isinstance(given, str) else given
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
