"""What nobody judged stands beside the numbers of a retrieval page, with what it could change; by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.tiers.retrieval import reading
from ragbench.old.tiers.run import record
from ragbench.old.views import Page
from ragbench.old.views.retrieval.rankings import said
from tests.old.small_project import RELEVANT, write_lines

QUICK: dict[str, Any] = {
    "systems": "good,poor",
    "metrics": "mrr",
    "repeats": 1,
    "timed_questions": 0,
    "ef_searches": [],
}


def labelled(project: Path, **more: dict[str, Any]) -> None:
    """The small project's questions, with more said of some."""
    rows = [{"id": q, "text": f"What of {q}?", "relevant": own, **more.get(q, {})} for q, own in RELEVANT.items()]
    write_lines(project / "data/small/questions.en.jsonl", rows)


def by(made: Measurement, *names: str) -> dict[Any, Any]:
    """The rows of the table by these columns."""
    rows = reading.means(made.extra["judged"])
    return {
        row[names[0]] if len(names) == 1 else tuple(row[each] for each in names): SimpleNamespace(**row) for row in rows
    }


def test_judged_bounds_and_condensed_lists_by_hand(project: Path) -> None:
    labelled(project, q1={"irrelevant": ["b1"]}, q2={"irrelevant": ["a1"]})
    made = tiers.tier1_retrieval(**QUICK | {"metrics": "mrr,recall@3"})
    rows = by(made, "system", "metric")
    good, poor = rows["good", "mrr@10"], rows["poor", "mrr@10"]
    # good: q1 a1 b1, q2 b1 c1 a1, q3 a1? d1; poor: q1 b1 a2? a1, q2 a2? c1 b1?, q3 nothing
    assert good.judged == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert (good.irrelevant, good.relevant, good.condensed) == pytest.approx((2.5 / 3, 1.0, 1.0))
    assert poor.judged == pytest.approx((2 / 3 + 2 / 3) / 2), "a question that was not answered has none"
    assert (poor.irrelevant, poor.relevant) == pytest.approx(((1 / 3 + 1 / 2) / 3, (1 / 2 + 1) / 3))
    assert poor.condensed == pytest.approx((1 / 2 + 1) / 3)
    assert rows["good", "recall@3"].relevant == pytest.approx(1.0)
    assert made.extra["judged"]["inferred"].isna().all(), "nothing was sampled"
    shown = views.retrieval.unjudged(Page(made, language="en"))
    assert "Of the first k that a system retrieved, from 67% to 83% were judged" in str(shown.html())
    assert "Whatever they are, good is first on mrr@10." in str(shown.html())
    assert "Что никто не оценил" in str(views.retrieval.unjudged(Page(made, language="ru")).html())


def test_a_sampled_pool_is_read_by_inferred_average_precision(project: Path) -> None:
    labelled(project, q1={"irrelevant": ["b1"], "pooled": ["a2"]})
    made = tiers.tier1_retrieval(**QUICK)
    rows = by(made, "system")
    # poor, q1: b1 irrelevant, a2 pooled, a1 relevant: 1/3 + 2/3 · (0 of 1 judged above is relevant)
    # q2: a2 nowhere, c1 and b1 relevant: (1/2 + (1/3 + 1/3 · 1)) / 2; q3 was not answered
    assert rows["poor"].inferred == pytest.approx((1 / 3 + (1 / 2 + 2 / 3) / 2 + 0) / 3, abs=1e-4)
    assert "infAP" in str(views.retrieval.unjudged(Page(made, language="en")).html())


def test_a_rival_that_could_be_first_is_named(project: Path) -> None:
    labelled(project)
    page = Page(tiers.tier1_retrieval(**QUICK), language="en")
    rows = [
        {"system": "good", "metric": "mrr@10", "irrelevant": 0.5, "relevant": 0.9, "judged": 0.5, "condensed": 0.5},
        {"system": "poor", "metric": "mrr@10", "irrelevant": 0.4, "relevant": 0.6, "judged": 0.5, "condensed": 0.5},
    ]
    assert (
        said(page.material, rows, "10")[-1]
        == "On mrr@10, poor could be before good if what it retrieved and nobody judged is relevant."
    )
    rows += [{**rows[1], "system": f"poor{n}"} for n in range(5)]
    assert said(page.material, rows, "10")[-1].startswith(
        "On mrr@10, 6 others could be before good if what they retrieved"
    )


def test_passages_that_are_gone_are_named(project: Path) -> None:
    labelled(project, q1={"irrelevant": ["gone"]})
    with pytest.raises(ValueError, match="names the chunk 'gone', which is not there"):
        tiers.tier1_retrieval(**QUICK)


def test_pieces_of_passages_have_no_such_table() -> None:
    assert reading.means(reading.table({}, [], [])) == []


def test_of_some_questions_it_says_what_was_judged_of_these(project: Path) -> None:
    labelled(project, q1={"irrelevant": ["b1"]})
    made = tiers.tier1_retrieval(**QUICK)
    part = by(record.restated(made, ["q1", "q3"]), "system")
    assert part["good"].judged == pytest.approx((1 + 1 / 2) / 2)
    assert part["good"].relevant == 1.0
