"""Judges of this annex's metrics on the page of judges: made answers have nuggets, citations and messages to try."""

from __future__ import annotations

import numpy as np
import pytest

from ragbench.old import tiers
from ragbench.old.core.measurement import Measurement
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.judges.items import EQUALS, HALVES_TIE, LADDER
from ragbench.old.tiers.judges.probes import in_order
from ragbench.old.views import Page

COMPLETE = ("nugget_score", "context_utilization", "goal_reached(reference=true)")
CARRIED = ("citation_support", "citation_quality")
TURNED = "claim_hallucination"
TIE = "half of an answer may tie with the whole"


def scores(made: Measurement, variant: str) -> list[float]:
    """Of every made answer of a kind with a score, as shares of the scale."""
    trials = made.extra["trials"]
    return list(trials[trials["variant"] == variant]["score"].dropna())


def rungs(made: Measurement) -> float:
    """The share of pairs of rungs that stand in order."""
    [found] = [one.estimate for one in made.estimates_by("trial") if one.metric == "pairs_in_order"]
    return found.value


@pytest.mark.parametrize(
    "metric",
    [
        *(min(COMPLETE), min(CARRIED)),
        *(pytest.param(metric, marks=pytest.mark.slow)
          for some in (COMPLETE, CARRIED) for metric in sorted(some) if metric != min(some)),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("project")
def test_made_answers_can_be_judged_and_stand_in_order(metric: str) -> None:
    made = tiers.tier_judge("campus:en", "lexical", metric=metric, tempted=6, repeats=1, resamples=100)
    good, half, bad = (scores(made, variant) for variant in ("reference", "partial", "off_topic"))
    assert len(good) >= 5
    assert sum(good) > sum(bad) == 0
    assert (sum(half) < sum(good)) == (metric in COMPLETE)
    tempted = {rung: np.array(scores(made, rung)) for rung in LADDER}
    assert rungs(made) == pytest.approx(in_order(tempted, HALVES_TIE if metric in CARRIED else EQUALS).mean())
    assert metric in COMPLETE or rungs(made) > in_order(tempted).mean()
    assert (TIE in Page(made).view("method").words) == (metric in CARRIED)


@pytest.mark.usefixtures("project")
def test_scores_of_a_metric_that_is_better_lower_are_turned_round() -> None:
    made = tiers.tier_judge("campus:en", "lexical", metric=TURNED, tempted=6, repeats=1, resamples=100)
    good, half, bad = (scores(made, variant) for variant in ("reference", "partial", "off_topic"))
    assert sum(good) == pytest.approx(len(good)), "a reference hallucinates nothing"
    assert sum(half) == pytest.approx(len(half))
    assert sum(bad) < len(bad) / 2
    assert rungs(made) > 0.8
    assert "scores are turned round here" in Page(made).view("method").words


@pytest.mark.parametrize("metric", ["self_knowledge", "claim_recall", "relevance_grade"])
@pytest.mark.usefixtures("project")
def test_metrics_that_no_made_answer_moves_up_are_refused(metric: str) -> None:
    with pytest.raises(BenchError, match="reads the answer and says which is better"):
        tiers.tier_judge("campus:en", "lexical", metric=metric)
