"""Why values are missing: the reasons with their counts, in a page's language as far as they are ragbench's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ragbench.language import Translator
from ragbench.metrics.explanation import reason_in

MOST = 5
LONGEST = 100
OTHERS = "…"
"""What stands for all reasons but the most frequent ones."""


def frequent(of: Iterable[object]) -> dict[str, int]:
    """The most frequent reasons with their counts, and `OTHERS` with the count of the rest where there is one.

    of: the reason of each value. Those that are met as often stand in the order of the alphabet.
    """
    ordered = sorted(Counter(str(each)[:LONGEST] for each in of).items(), key=lambda one: (-one[1], one[0]))
    rest = sum(number for _, number in ordered[MOST:])
    return dict(ordered[:MOST]) | ({OTHERS: rest} if rest else {})


def told(found: Mapping[str, int], _: Translator) -> str:
    """`not measured 12: no reply in time (8); refused (4)`, as `frequent` has them; empty for none."""
    if not found:
        return ""
    named = [
        f"{reason_in(reason, _)} ({_.integer(n)})" if reason != OTHERS else _("others ({n})", n=_.integer(n))
        for reason, n in found.items()
    ]
    return _("not measured") + f" {_.integer(sum(found.values()))}: {'; '.join(named)}"
