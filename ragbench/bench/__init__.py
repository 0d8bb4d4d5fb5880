"""Systems × questions × metrics to measurements: one function a tier."""

from ragbench.bench.embeddings import embeddings
from ragbench.bench.retrieval import retrieval
from ragbench.bench.session import BenchError, check

__all__ = ["BenchError", "check", "embeddings", "retrieval"]
