"""Every question, answer, turn or passage behind the numbers."""

from ragbench.show.items.table import questions

__all__ = ["questions"]
