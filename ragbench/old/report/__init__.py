"""Notebooks with parameters become executed notebooks, pages, and an index over the pages of a run."""

from ragbench.old.report.execution.forecast import Planned, plan
from ragbench.old.report.execution.orchestration import RunResult, Step, run
from ragbench.old.report.execution.preparation import ParameterError, find, lacking, reach
from ragbench.old.report.pages.drawing import render
from ragbench.old.report.pages.sheets import assemble

__all__ = [
    "ParameterError",
    "Planned",
    "RunResult",
    "Step",
    "assemble",
    "find",
    "lacking",
    "plan",
    "reach",
    "render",
    "run",
]
