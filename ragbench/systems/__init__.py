"""Systems under test: built-in retrievers and generators, and whatever you bring."""

from ragbench.systems.opening import open_systems
from ragbench.systems.paths import propose_paths
from ragbench.systems.service import ask_service

__all__ = ["ask_service", "open_systems", "propose_paths"]
