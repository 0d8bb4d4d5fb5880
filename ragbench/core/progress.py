"""Progress with the time that is left, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import Any, TypeVar

Item = TypeVar("Item")
DELAY = 2.0  # seconds; what is shorter needs no bar


def progress(items: Iterable[Item], label: str) -> Iterator[Item]:
    """Yield the items; after two seconds a bar says how many are done and how long it takes.

    Nothing of it stays in a notebook that is executed without a terminal.
    """
    with bar(label, length_hint(items) or None) as shown:
        for item in items:
            yield item
            shown.update()


def bar(label: str, total: int | None) -> Any:
    """Return a tqdm bar for what is no loop; use it with `with`, call `.update(n)`."""
    from tqdm import tqdm

    is_shown = sys.stderr.isatty()
    return tqdm(
        desc=label, total=total, delay=DELAY, leave=False, disable=not is_shown, file=sys.stderr
    )
