"""Systems × questions × metrics to measurements: one function a tier."""

from ragbench.bench.calibration import calibration
from ragbench.bench.corrections import corrected
from ragbench.bench.embeddings import embeddings
from ragbench.bench.end_to_end import end_to_end
from ragbench.bench.generation import generation
from ragbench.bench.judge_pipeline import judge_pipeline
from ragbench.bench.judge_quality import judge
from ragbench.bench.overview import overview
from ragbench.bench.rag_metrics import rag_metrics
from ragbench.bench.real_users import real_users
from ragbench.bench.retrieval import retrieval
from ragbench.bench.session import BenchError, check
from ragbench.bench.sources import sources
from ragbench.bench.ux import ux

__all__ = [
    "BenchError",
    "calibration",
    "check",
    "corrected",
    "embeddings",
    "end_to_end",
    "generation",
    "judge",
    "judge_pipeline",
    "overview",
    "rag_metrics",
    "real_users",
    "retrieval",
    "sources",
    "ux",
]
