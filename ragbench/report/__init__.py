"""Notebooks with parameters become executed notebooks, pages, and an index over the pages of a run."""

from ragbench.report.assembled import assemble
from ragbench.report.drawing import render
from ragbench.report.parameters import ParameterError
from ragbench.report.planning import Planned, plan
from ragbench.report.run import RunResult, Step, find, reach, run

__all__ = ["ParameterError", "Planned", "RunResult", "Step", "assemble", "find", "plan", "reach", "render", "run"]
