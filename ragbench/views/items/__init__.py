"""Every question, answer, turn or passage behind the numbers."""

from ragbench.views.items.table import questions

__all__ = ["questions"]
