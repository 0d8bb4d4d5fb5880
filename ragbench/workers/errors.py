"""What ends work on a cluster."""

from __future__ import annotations

from collections.abc import Sequence


class ClusterError(RuntimeError):
    """The cluster cannot be had, is lost, or its workers would give other numbers; the text says what to do."""


class UnfitError(ClusterError):
    """A worker differs from the process that asks it. differences: a line each, the worker's name first."""

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__(
            "workers of the cluster would not give this process's numbers:\n- " + "\n- ".join(differences) + "\n"
            "Bring them to one state, start them again, and run the same command; nothing was sent to them"
        )
        self.differences = tuple(differences)

    def __reduce__(self) -> tuple[type[UnfitError], tuple[tuple[str, ...]]]:
        return UnfitError, (self.differences,)
