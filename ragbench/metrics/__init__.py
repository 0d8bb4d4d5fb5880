"""The catalogue: importing this package declares every metric of its files.

Every metric is here under its name, to be called on plain values:

>>> from ragbench.metrics import ndcg
>>> ndcg([1, 0, 2], k=3)
0.7601...
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from ragbench.core.metric import CATALOGUE, add_aliases
from ragbench.core.metric import parse_label as find_metric

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
# After the imports: a metric that is called like its file stands for the name.
globals().update(CATALOGUE)

from ragbench.metrics.aliases import ALIASES  # noqa: E402  its labels name what stands above

add_aliases(ALIASES)

__all__ = ["find_metric", *sorted(CATALOGUE)]


def __getattr__(name: str) -> Any:
    """Return a metric by another name that it goes by: `ragbench.metrics.rouge_l`."""
    try:
        return find_metric(name)
    except ValueError as error:
        raise AttributeError(str(error)) from None
