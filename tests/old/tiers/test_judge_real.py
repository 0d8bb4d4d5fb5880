"""The trial of judges on real sets, each figure computed a second time from the raw file."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr

from benchmarks import real_judges
from ragbench.old import views
from ragbench.old.report.keeping import results
from tests.old.tiers.heard_judges import findings

Find = Callable[[str], Path]


def test_a_judge_that_was_asked_in_both_orders(project: Path, shared_data: Find) -> None:
    folder = shared_data("judgebench-decisions").parent
    found = real_judges.measured("judgebench", real_judges.judgebench(folder), project, rival="none")
    [path] = (folder / "judgebench-decisions").glob("*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    both = [row for row in rows if row["order1"] and row["order2_raw"]]
    assert len(rows) == 270
    sign = {"A>B": 1, "B>A": -1, "A=B": 0}
    first = [(sign[row["order1"]] + sign[row["order2_raw"]]) / 2 for row in both]
    assert findings(found, probe="place")["value"].item() == pytest.approx(np.mean(first))
    assert found.extra["probes"].set_index("probe")["verdict"]["place"] == "found"
    shares = findings(found, trial="pairwise")["value"].droplevel("system")
    consistent = [sign[row["order1"]] == -sign[row["order2_raw"]] for row in both]
    assert shares["consistent"] == pytest.approx(np.mean(consistent))
    assert findings(found, probe="place_changes")["value"].item() == pytest.approx(1 - np.mean(consistent))
    assert found.extra["probes"].set_index("probe")["verdict"]["place_changes"] == "found"
    won = [(row["order1"] == row["label"], sign.get(row["order2_raw"]) == -sign[row["label"]]) for row in rows]
    assert (sum(first for first, _ in won), sum(first and second for first, second in won)) == (80, 38)
    assert shares["right_in_first_order"] == pytest.approx(80 / 270)
    assert shares["right_in_both_orders"] == pytest.approx(38 / 270)
    votes = [sign.get(row["order1"], 0) - sign.get(row["order2_raw"], 0) for row in rows]
    over = [vote * sign[row["label"]] > 0 for vote, row in zip(votes, rows, strict=True)]
    assert sum(over) == 87, "as JudgeBench's own evaluation counts"
    assert shares["right_over_both_orders"] == pytest.approx(87 / 270)
    assert {each.metric: each.estimate.value for each in found.estimates} == pytest.approx(
        {"pairwise_accuracy": 87 / 270, "position_consistency": np.mean(consistent)}
    )
    assert not len(found.scores), "choices alone were made: there is no score that could be missing"
    assert results.nothing(found) == ""
    told = re.sub(r"<[^>]+>|\s+", " ", str(views.comparison.answer(views.Page(found)).html()))
    assert re.search(r"on +0\.322 .{,60}net of both orders .*on +0\.141 .{,60}in both orders, on +0\.296", told), told


@pytest.mark.slow
def test_several_people_some_of_whom_are_missing(project: Path, shared_data: Find) -> None:
    folder = shared_data("mtrag-human-eval").parent
    rows = real_judges.mtrag(folder, "faithfulness")
    found = real_judges.measured(
        "mtrag", rows, project, people_scale="1, 4", judge_scale="0, 1", rival=real_judges.RIVAL
    )
    raters = sorted({who for row in rows for who in row["people"]})
    people = np.array([[row["people"].get(who, np.nan) for who in raters] for row in rows])
    assert np.isnan(people).any()
    expected = krippendorff.alpha(people.T, level_of_measurement="interval")
    ceiling = findings(found, against="person")["value"]["people", "krippendorff_alpha"]
    assert ceiling == pytest.approx(expected, abs=1e-9)
    mean, judge = np.nanmean(people, axis=1), [row["judges"]["rl_f"] for row in rows]
    own = findings(found, against="mean")["value"]["rl_f", "spearman"]
    assert own == pytest.approx(spearmanr(mean, judge).statistic, abs=1e-9)
    assert max(one.clusters or 0 for one in findings(found, "against")["of"]) <= 10, (
        "turns of a conversation belong together"
    )


@pytest.mark.slow
def test_people_against_metrics(project: Path, shared_data: Find) -> None:
    path = shared_data("ragchecker-human-pref")
    rows = real_judges.ragchecker(path.parent, "correctness")
    how = {"people_scale": "-2, 2", "judge_scale": "-1, 1", "rival": "shared words"}
    found = real_judges.measured("ragchecker", rows, project, **how)
    with gzip.open(path / "pairs_even.jsonl.gz", "rt", encoding="utf-8") as file:
        raw = [json.loads(line) for line in file]
    people = [[row[f"human_annotator_{who}"]["correctness"] for who in "ab"] for row in raw]
    gap = [row["model2"]["ragchecker"]["correctness"] - row["model1"]["ragchecker"]["correctness"] for row in raw]
    rounded = np.round(gap, 9)  # equal gaps are ties, whatever floating point made of them
    assert findings(found, against="mean")["value"]["RAGChecker", "spearman"] == pytest.approx(
        spearmanr(np.mean(people, axis=1), rounded).statistic, abs=1e-9
    )
    expected = krippendorff.alpha(np.array(people).T, level_of_measurement="interval")
    ceiling = findings(found, against="person")["value"]["people", "krippendorff_alpha"]
    assert ceiling == pytest.approx(expected, abs=1e-9)
