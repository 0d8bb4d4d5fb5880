"""Whether what a project would run and send is what its user has trusted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ragbench.settings import TRUST, ConfigurationError
from ragbench.trust.reach import Item, Reach
from ragbench.trust.record import granted, remember

ALL = "all"
"""In the variable: whatever the project is."""
PIN = 16
"""So many digits of a reach's digest are enough in the variable."""


class UntrustedError(ConfigurationError):
    """A project would run code or send keys, and its user has not said that it may."""


@dataclass(frozen=True)
class Doubt:
    """An item that is not trusted. before: what it did when it was; None where it is new."""

    item: Item
    before: str | None = None

    def __str__(self) -> str:
        known = f"{self.item.name}: {self.item.says}"
        if self.before is None:
            return known
        return f"{known} (changed{'' if self.before == self.item.says else f'; trusted was: {self.before}'})"


def doubts(needed: Reach, whole: Callable[[], Reach] | None = None) -> tuple[Doubt, ...]:
    """The items that are not trusted; none where the variable RAGBENCH_TRUST vouches for all of them.

    whole: everything of the project; its pin in the variable vouches for `needed` too.
    """
    if not needed.asked or os.environ.get(TRUST) == ALL:
        return ()
    known = granted(needed.project).items
    found = [
        Doubt(item, known[item.title].says if item.title in known else None)
        for item in needed.asked
        if item.title not in known or known[item.title].digest != item.digest
    ]
    if found and _vouched(needed, whole):
        remember(needed)  # for the parts of it that this process asks for later, whose digests are others
        return ()
    return tuple(found)


def pin(reach: Reach) -> str:
    """What the variable RAGBENCH_TRUST has to hold to trust exactly this."""
    return reach.digest[:PIN]


def require(needed: Reach, whole: Callable[[], Reach] | None = None) -> None:
    """Raises UntrustedError, which names what is not trusted and how to go on."""
    found = doubts(needed, whole)
    if found:
        raise UntrustedError(
            f"the project in {needed.project} is not trusted with {'; '.join(map(str, found))}. Nothing of it was run "
            "or sent. Look at these, then: ragbench trust"
        )


def _vouched(needed: Reach, whole: Callable[[], Reach] | None) -> bool:
    pins = {part.strip() for part in os.environ.get(TRUST, "").split(",") if len(part.strip()) >= PIN}
    if not pins:
        return False
    digests = [needed.digest, *([(whole() | needed).digest] if whole is not None else [])]
    return any(digest.startswith(given) for digest in digests for given in pins)
