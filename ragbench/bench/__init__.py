"""Systems × questions × metrics to measurements: one function a tier."""

from ragbench.bench.answers.rag_metrics import rag_metrics
from ragbench.bench.answers.tier2_generation import tier2_generation
from ragbench.bench.answers.tier3_end_to_end import tier3_end_to_end
from ragbench.bench.answers.tier_ux import tier_ux
from ragbench.bench.basics.session import BenchError
from ragbench.bench.data.dataset import dataset
from ragbench.bench.decisions.tier_judge_pipeline import tier_judge_pipeline
from ragbench.bench.judges.tier_judge import tier_judge
from ragbench.bench.live.inquiry import ask
from ragbench.bench.retrieval.real_users import real_users
from ragbench.bench.retrieval.sources import sources
from ragbench.bench.retrieval.tier0_embeddings import tier0_embeddings
from ragbench.bench.retrieval.tier1_retrieval import tier1_retrieval
from ragbench.bench.runs.overview import overview
from ragbench.bench.runs.statistics_calibration import statistics_calibration
from ragbench.bench.scoring.corrections import corrected

__all__ = [
    "BenchError",
    "ask",
    "corrected",
    "dataset",
    "overview",
    "rag_metrics",
    "real_users",
    "sources",
    "statistics_calibration",
    "tier0_embeddings",
    "tier1_retrieval",
    "tier2_generation",
    "tier3_end_to_end",
    "tier_judge",
    "tier_judge_pipeline",
    "tier_ux",
]
