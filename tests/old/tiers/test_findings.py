"""No number of a page depends on the order in which a file has its rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core.metric import parse
from ragbench.old.core.types import Question, Sample, Score, Status
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.findings import Sureness, find
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.scored_answers import Scores

SYSTEMS = ("base", "new")
SURE = Sureness(0.95, 500, 0)
N = 90


@pytest.fixture(scope="module")
def values() -> pd.DataFrame:
    """Skewed values of two systems, a third of them of the other kind, in groups of three."""
    catalogue()
    rng = np.random.default_rng(4)
    drawn = {name: np.round(rng.beta(0.6, 1.5, N), 3) for name in SYSTEMS}
    rows = [(name, "mrr", f"q{n:03}", value) for name in SYSTEMS for n, value in enumerate(drawn[name])]
    return pd.DataFrame(rows, columns=["system", "metric", "sample", "value"])


@pytest.fixture(scope="module", params=[1, 2])
def shuffled(values: pd.DataFrame, request: pytest.FixtureRequest) -> pd.DataFrame:
    return values.sample(frac=1, random_state=request.param)


@pytest.mark.parametrize("grouped", [False, True])
def test_estimates_and_comparisons(values: pd.DataFrame, shuffled: pd.DataFrame, grouped: bool) -> None:
    clusters = {f"q{n:03}": f"c{n // 3}" for n in range(N)} if grouped else None
    first, second = (find(table, [parse("mrr")], SYSTEMS, clusters, SURE) for table in (values, shuffled))
    assert first == second


def test_a_system_without_a_miss_takes_the_spread_of_the_other(values: pd.DataFrame) -> None:
    """Nothing of `new` differs, so its own metrics tell nothing of how alike the questions of a group are."""
    table = values.assign(value=np.where(values["system"] == "new", 1.0, values["value"].round()))
    clusters = {f"q{n:03}": f"c{n // 3}" for n in range(N)}
    estimates = {one.system: one.estimate for one in find(table, [parse("mrr")], SYSTEMS, clusters, SURE)[0]}
    assert (estimates["new"].note, estimates["new"].lender) == ("borrowed_spread", "mrr, base")
    assert estimates["new"].design_effect == max(estimates["base"].design_effect or 0.0, 1.0)
    assert estimates["base"].lender == ""


def test_slices(values: pd.DataFrame, shuffled: pd.DataFrame) -> None:
    asked = [Question(f"q{n:03}", "?", relevant={"a": 1}, kind="long" if n % 3 else "short") for n in range(N)]
    metric, by = parse("mrr"), ("kind",)
    first = design.of_slices(values, metric, SYSTEMS, asked, by, None, SURE)
    second = design.of_slices(shuffled, metric, SYSTEMS, asked[::-1], by, None, SURE)
    assert first == second


def test_a_table_of_answers(values: pd.DataFrame, shuffled: pd.DataFrame) -> None:
    def scored(table: pd.DataFrame) -> Scores:
        rows = [
            Row(Sample(one.sample, system=one.system), parse("mrr"), Score(one.value, Status.OK))
            for one in table.itertuples()
        ]
        return Scores(tuple(rows), baseline="base", resamples=500)

    first, second = scored(values), scored(shuffled)
    assert dict(first.means) == dict(second.means)
    assert first.differences == second.differences
