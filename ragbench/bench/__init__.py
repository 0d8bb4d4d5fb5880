"""Systems × questions × metrics to measurements: one function a tier."""

from ragbench.bench.embeddings import embeddings
from ragbench.bench.retrieval import retrieval
from ragbench.bench.session import BenchError, check
from ragbench.bench.sources import sources

__all__ = ["BenchError", "check", "embeddings", "retrieval", "sources"]
