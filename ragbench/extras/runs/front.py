"""Kept runs compared, from a script or a notebook cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragbench.extras.runs.compared import RunComparison


def compare(*runs: str, on_common_questions: bool = False) -> RunComparison:
    """Which runs are better than the first? Differences with intervals, question by question, p corrected.

    runs: two or more, by name or id, by the beginning of an id, `"latest"`, or their folders. on_common_questions: of
    runs on other data, pair the questions that are the same in both.
    Raises BenchError where nothing can be compared, with what would make it comparable.
    """
    from ragbench.extras.runs.compared import compare_runs
    from ragbench.report.keeping import kept

    return compare_runs(*map(kept.find, runs), on_common_questions=on_common_questions)
