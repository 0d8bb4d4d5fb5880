"""Why values are missing: the reasons with their counts, in a page's language as far as they are ragbench's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ragbench.core.language import Translator
from ragbench.core.settings.secrets import Mask, excerpt, masker
from ragbench.core.types import Status
from ragbench.core.types.reason import Reason, read
from ragbench.metrics.explanation import reason_in

MOST = 5
LONGEST = 160
"""Signs of a reason that are shown."""
KEPT = 400
"""Signs of somebody else's reason that are kept."""
OTHERS = "…"
"""What stands for all reasons but the most frequent ones."""


def frequent(of: Iterable[object]) -> dict[str, int]:
    """The most frequent reasons with their counts, and `OTHERS` with the count of the rest where there is one.

    of: the reason of each value. Those that are met as often stand in the order of the alphabet.
    """
    mask = masker()
    ordered = sorted(Counter(_masked(str(each), mask) for each in of).items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(number for _, number in ordered[MOST:])
    return dict(ordered[:MOST]) | ({OTHERS: rest} if rest else {})


def _masked(reason: str, mask: Mask) -> str:
    """As it is kept; somebody else's is cut."""
    return mask(reason) if isinstance(read(reason), Reason) else excerpt(reason, KEPT, mask)


def statuses(_: Translator) -> dict[str, str]:
    """Why a value is not there, in words, by status."""
    return {
        Status.MISSING_FIELD.value: _("a field is missing"),
        Status.EMPTY_INPUT.value: _("a text is empty"),
        Status.EMPTY_DECOMPOSITION.value: _("nothing was claimed"),
        Status.JUDGE_ERROR.value: _("the judge failed"),
        Status.PARSE_ERROR.value: _("the reply could not be read"),
        Status.TIMEOUT.value: _("out of time"),
        Status.REFUSED.value: _("the judge refused"),
        Status.TRUNCATED.value: _("the reply was cut off"),
        Status.VERDICT_MISMATCH.value: _("verdicts do not fit the statements"),
        Status.EMBEDDING_ERROR.value: _("a text has no vector"),
        Status.INVALID_INPUT.value: _("a field cannot be used"),
        Status.FUNCTION_ERROR.value: _("the metric's function failed"),
    }


def told(counts: Mapping[str, int], _: Translator) -> str:
    """`not measured 12: no reply in time (8); refused (4)`, as `frequent` has them; empty for none."""
    if not counts:
        return ""
    named = [
        f"{_cut(reason_in(reason, _))} ({_.integer(n)})" if reason != OTHERS else _("others ({n})", n=_.integer(n))
        for reason, n in counts.items()
    ]
    return _("not measured") + f" {_.integer(sum(counts.values()))}: {'; '.join(named)}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rsplit(' ', 1)[0]}{OTHERS}"
