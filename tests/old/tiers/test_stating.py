"""Findings follow from the evidence that is kept: stated again of a measurement that was saved and read, equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.old import tiers
from ragbench.old.core.measurement import Evidence, Measurement
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.withholding import stated
from ragbench.old.tiers.run.record import restated
from tests.old.report.published import same
from tests.old.tiers.test_ux import talking

__all__ = ["talking"]
PAGES: dict[str, dict[str, object]] = {
    "tier0_embeddings": {"resamples": 200, "neighbors": 2, "projected": 0},
    "sources": {"systems": "ngrams"},
    "tier_ux": {"embedders": "hashing", "resamples": 200},
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.usefixtures("talking")
def test_findings_are_a_function_of_what_is_kept(name: str, tmp_path: Path) -> None:
    made = getattr(tiers, name)(**PAGES[name])
    assert len(made.estimates) > 4
    states_itself_again(made, tmp_path / "kept")
    with pytest.raises(BenchError, match="parts can be taken of pages"):
        restated(made, samples=made.questions["sample"].tolist()[:3])


def states_itself_again(made: Measurement, folder: Path) -> None:
    """Whether what states a page's findings makes the same of the evidence that a folder keeps."""
    made.save(folder)
    kept = Measurement.load(folder)
    bare = Evidence(kept.notebook, kept.facts, kept.scores, kept.questions, kept.retrieved, kept.extra)
    again = stated(bare, getattr(tiers, made.facts["tier"]).state)
    for finding, other in zip((*made.estimates, *made.placed), (*again.estimates, *again.placed), strict=True):
        assert finding.where == other.where
        stated_of, restated_of = finding.summary(), other.summary()
        assert all(same(restated_of[key], value, 1e-9) for key, value in stated_of.items()), (stated_of, restated_of)
