"""People label what a long page's questions were drawn for."""

from __future__ import annotations

from ragbench.old.extras import labelling
from ragbench.old.tiers.answers import rag_metrics
from tests.old.tiers.test_listing import few as few
from tests.old.tiers.test_listing import measured, samples


def test_people_label_those_alone_that_were_drawn_at_random(few: None) -> None:
    found = measured(samples(), "rouge1_f")
    drawn = set(found.questions.loc[found.questions["listed"] == rag_metrics.AT_RANDOM, "sample"])
    measured_ones = set(found.scores.loc[found.scores["value"].notna(), "sample"])
    assert {one.id for one in labelling.items(found, "rouge1_f")} == drawn & measured_ones
