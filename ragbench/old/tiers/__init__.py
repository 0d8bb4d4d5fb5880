"""Systems × questions × metrics to measurements: one function a tier.

What a name stands for is imported when it is first asked for, since a command needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragbench.old.core import metric as _metric
from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.tiers.answers.rag_metrics import rag_metrics as rag_metrics
    from ragbench.old.tiers.answers.tier2_generation import tier2_generation as tier2_generation
    from ragbench.old.tiers.answers.tier3_end_to_end import tier3_end_to_end as tier3_end_to_end
    from ragbench.old.tiers.answers.tier_ux import tier_ux as tier_ux
    from ragbench.old.tiers.basics.choices import BenchError as BenchError
    from ragbench.old.tiers.data.dataset import dataset as dataset
    from ragbench.old.tiers.judges.tier_judge import tier_judge as tier_judge
    from ragbench.old.tiers.judges.tier_judge_pipeline import tier_judge_pipeline as tier_judge_pipeline
    from ragbench.old.tiers.retrieval.real_users import real_users as real_users
    from ragbench.old.tiers.retrieval.sources import sources as sources
    from ragbench.old.tiers.retrieval.tier0_embeddings import tier0_embeddings as tier0_embeddings
    from ragbench.old.tiers.retrieval.tier1_retrieval import tier1_retrieval as tier1_retrieval
    from ragbench.old.tiers.run.overview import overview as overview
    from ragbench.old.tiers.scoring.corrections import corrected as corrected

__all__, __getattr__, __dir__ = offers(__name__)


def _declare_own() -> None:
    """A project's own metrics are in the catalogue of whoever imports anything of the tiers, from the first look on."""
    from ragbench.old.tiers.scoring import own_metrics

    own_metrics.declare()


_metric.also(_declare_own)
