"""How good is a system that answers from retrieved passages, and is its new version better?

>>> import ragbench as rb
>>> rb.score([{"question": "When?", "answer": "At 8.", "reference": "At 8."}])  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragbench.core.metric import metric as metric
    from ragbench.core.settings import load_settings as load_settings
    from ragbench.front import dataset as dataset
    from ragbench.front import overview as overview
    from ragbench.front import rag_metrics as rag_metrics
    from ragbench.front import read as read
    from ragbench.front import real_users as real_users
    from ragbench.front import score as score
    from ragbench.front import sources as sources
    from ragbench.front import tier0 as tier0
    from ragbench.front import tier1 as tier1
    from ragbench.front import tier2 as tier2
    from ragbench.front import tier3 as tier3
    from ragbench.front import tier_judge as tier_judge
    from ragbench.front import tier_judge_pipeline as tier_judge_pipeline
    from ragbench.front import ux as ux

# Where each public name is; nothing is imported before it is used.
PLACES = {
    "compare": "ragbench.extras.runs.front",
    "criterion": "ragbench.metrics.criteria",
    "load_settings": "ragbench.core.settings",
    "metric": "ragbench.core.metric",
}
FRONT = [
    "dataset",
    "overview",
    "rag_metrics",
    "read",
    "real_users",
    "score",
    "sources",
    "tier0",
    "tier1",
    "tier2",
    "tier3",
    "tier_judge",
    "tier_judge_pipeline",
    "ux",
]
# A room that is called itself: `rb.judge("gpt-4o-mini")`.
ROOMS = ("judge",)


def __getattr__(name: str) -> Any:
    """Return a public name, out of the module that has it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ragbench")
    if name in ROOMS:
        return import_module(f"ragbench.{name}")
    if name not in PLACES and name not in FRONT:
        raise AttributeError(f"module 'ragbench' has no attribute {name!r}")
    return getattr(import_module(PLACES.get(name, "ragbench.front")), name)


def __dir__() -> list[str]:
    return sorted([*PLACES, *FRONT, *ROOMS, "__version__"])
