"""What is in a data set, and what of it would make the other pages' numbers better or worse than they are."""

from ragbench.show.data.oddities import oddities
from ragbench.show.data.sizes import sizes

__all__ = ["oddities", "sizes"]
