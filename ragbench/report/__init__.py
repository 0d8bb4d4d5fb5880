"""Notebooks with parameters become executed notebooks, pages, and an index over the pages of a run."""

from ragbench.report.parameters import ParameterError
from ragbench.report.run import RunResult, render, run

__all__ = ["ParameterError", "RunResult", "render", "run"]
