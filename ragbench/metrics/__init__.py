"""The catalogue's pages: one file per judged metric, one per family of formulas."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from ragbench.metric import Metric, registered


def catalogue() -> Mapping[str, Metric]:
    """Every metric by its name. A file added to this folder is in the catalogue; nothing else needs a change."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return registered()
