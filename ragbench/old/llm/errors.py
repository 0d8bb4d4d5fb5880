"""What stops a run, and what only leaves one value unmeasured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ragbench.old.core.types import Status
from ragbench.old.core.types.reason import Reason, short


class ModelError(RuntimeError):
    """A run cannot go on with this model; what was answered so far is in the journal."""


class ProviderRefused(ModelError):  # noqa: N818 - the provider refused; "Error" would say less
    """The endpoint refuses every call: key, money, model name or address are wrong."""


class ProviderUnreachable(ModelError):  # noqa: N818
    """Call after call failed in all its attempts, with no success between."""


class RepliesUnusable(ModelError):  # noqa: N818
    """None of the endpoint's first replies could be used."""


class BudgetSpent(ModelError):  # noqa: N818
    """The run's budget of calls, tokens or money admits no further call."""


class CallFailed(Exception):  # noqa: N818 - caught inside the room: it becomes an unmeasured value
    """One call has no reply; the status and the reason are the value's."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


PASSING = ("busy", "server", "connection", "timeout")
"""Kinds of faults after which the same request may be served."""


class Fault(Exception):  # noqa: N818 - caught inside the room
    """One attempt failed.

    kind: "busy" (429, 529, 503: slow down), "server", "connection", "timeout": tried again;
        "mechanism": the endpoint does not know this way of asking, or a parameter of it;
        "request": this request alone cannot be served; "refused": its content is not answered;
        "fatal": every request would be refused.
    otherwise: the kind where no other way of asking is known, or where the endpoint gives nothing else at first.
    retry_after: seconds that the endpoint asked to wait, if it did. seconds: what the attempt took of the patience,
        None for all since it began. attempts: how many there were when no more followed.
    """

    def __init__(self, kind: str, reason: str, retry_after: float | None = None, otherwise: str = "request") -> None:
        super().__init__(reason)
        self.kind, self.reason, self.retry_after, self.otherwise = kind, reason, retry_after, otherwise
        self.seconds: float | None = None
        self.attempts = 1

    @property
    def passes(self) -> bool:
        """Whether another attempt may do."""
        return self.kind in PASSING


class Response(NamedTuple):
    """A response as it came, whole and unpacked."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def late(seconds: float, is_whole: bool) -> Fault:
    """No whole response came in time. is_whole: whether the time was all that an attempt may take."""
    where = "timeout_seconds" if is_whole else Reason("what patience_seconds left of timeout_seconds")
    return Fault(
        "timeout", Reason("no whole response within {seconds} s ({said})", seconds=short(seconds, 3), said=where)
    )
