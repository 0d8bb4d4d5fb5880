"""What is in a data set, and what of it would make the other pages' numbers better or worse than they are."""

from ragbench.views.data.further import further
from ragbench.views.data.oddities import oddities
from ragbench.views.data.sizes import sizes

__all__ = ["further", "oddities", "sizes"]
