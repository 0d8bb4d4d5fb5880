"""Notebooks with parameters become executed notebooks, pages, and an index over the pages of a run."""

from ragbench.report.execution.forecast import Planned, plan
from ragbench.report.execution.orchestration import RunResult, Step, run
from ragbench.report.execution.preparation import ParameterError, find, lacking, reach
from ragbench.report.pages.drawing import render
from ragbench.report.pages.sheets import assemble

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
