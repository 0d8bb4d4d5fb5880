"""The simulations: a cell counts what it should, the table is read again, the worst cell is named."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar

from benchmarks.calibration import __main__ as calibrate
from benchmarks.calibration import populations, situations, studies, textbook
from benchmarks.calibration.cells import Cell, Row
from benchmarks.calibration.promises import outside, worst

KEPT = Row("Two systems", "hits", 60, None, 10_000, 0.95, 0.05, None, 0.6, None, "t", 0.94, 0.05, None, 0.6)


def outside_of(row: Row) -> list[str]:
    return outside(asdict(row))


@pytest.mark.parametrize(
    ("population", "mean"),
    [
        (populations.flag(0.95), 0.95),
        (populations.JUDGE, 0.985),
        (populations.THIRDS, 0.15 / 3 + 0.5 / 3 + 0.5),
        (populations.reciprocal_rank(0.5), sum(0.5**k / k for k in range(1, 11))),
        (populations.beta(5, 2), 5 / 7),
        (populations.latency(1.0, 1.6), 1.6),
    ],
    ids=itertools.count(),
)
def test_populations_are_what_they_say(population: populations.Population, mean: float) -> None:
    assert population.mean == pytest.approx(mean, abs=1e-4)
    rng, n = np.random.default_rng(0), 200_000
    for values in (population.draw(rng, n), population.at(rng.standard_normal(n))):
        assert values.mean() == pytest.approx(mean, abs=5 * values.std() / n**0.5)


def test_values_go_together_in_clusters_and_on_questions() -> None:
    codes = populations.labels_of([5] * 20_000)
    rng = np.random.default_rng(0)
    inside = populations.together(rng, codes, 0.3).reshape(-1, 5)
    assert np.corrcoef(inside[:, 0], inside[:, 1])[0, 1] == pytest.approx(0.3, abs=0.03)
    both = populations.side_by_side(rng, [populations.beta(5, 2)] * 2, np.arange(50_000), alike=0.6)
    assert np.corrcoef(both)[0, 1] == pytest.approx(0.6, abs=0.03)
    assert populations.UNEQUAL[-1] == 19
    assert (np.bincount(populations.UNEQUAL).min(), np.bincount(populations.UNEQUAL).max()) == (1, 30)


def test_the_textbook_is_the_textbook_s() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.3, 1, 25)
    expected = scipy_stats.ttest_1samp(values, 0.0)
    assert textbook.t_p(values) == pytest.approx(expected.pvalue)
    assert textbook.t_interval(values) == pytest.approx(tuple(expected.confidence_interval()))
    moved = np.repeat([1.0, -1.0, 0.0], [14, 6, 40])
    table = [[20, 14], [6, 20]]
    assert textbook.mcnemar_p(moved) == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue)


def test_two_deciders_of_one_measure_have_it() -> None:
    eager, careful = (0.95, 0.45), (0.7, 0.068)
    assert studies.truth_of(studies.f1, eager) == pytest.approx(studies.truth_of(studies.f1, careful), abs=1e-3)
    for statistic, other in ((studies.precision, (0.57, 0.27)), (studies.recall, (0.95, 0.1))):
        assert studies.truth_of(statistic, eager) == pytest.approx(studies.truth_of(statistic, other), abs=1e-12)


def test_every_situation_has_a_row_of_its_own_that_comes_again() -> None:
    cells = list(situations.cells())
    assert len({cell.key for cell in cells}) == len(cells)
    assert cells[3](20) == cells[3](20)


@pytest.mark.slow
def test_every_situation_can_be_simulated() -> None:
    for cell in situations.cells():
        row = asdict(replace(cell, weight=1.0)(2))
        told = {name: row[name] for name in row if isinstance(row[name], float)}
        assert told, cell.key
        assert all(0 <= value <= 1 for value in told.values()), (cell.key, told)
        assert bool(cell.textbook) == any(name.startswith("textbook_") for name in told), cell.key


@pytest.mark.slow
def test_an_honest_interval_and_an_honest_test_are_counted_as_such() -> None:
    strict = populations.graded(0.2, 0.3, 0.3, 0.2)
    study = studies.difference(strict, populations.THIRDS, np.arange(40))
    row = Cell("t", "grades", 40, study, "t")(250)
    assert row.coverage == pytest.approx(0.95, abs=0.045)
    assert row.level == pytest.approx(0.05, abs=0.045)
    assert row.power is not None
    assert row.textbook_power is not None
    assert 0.3 < row.power == pytest.approx(row.textbook_power, abs=0.04)


def test_ignored_clusters_are_seen_to_cover_too_little() -> None:
    codes, scores = populations.labels_of([5] * 30), populations.beta(5, 2)

    def ignoring(rng: np.random.Generator, seed: int) -> Mapping[str, float]:
        values = scores.at(populations.together(rng, codes, 0.5))
        return {"coverage": studies.within(textbook.t_interval(values), scores.mean)}

    honest = studies.mean(scores, codes, grouped=True, inside=0.5)
    assert (Cell("t", "ignored", 150, ignoring)(500).coverage or 1) < 0.85
    assert (Cell("t", "honest", 150, honest)(300).coverage or 0) > 0.9


def test_what_is_outside_is_so_by_more_than_chance() -> None:
    assert outside_of(KEPT) == []
    assert outside_of(replace(KEPT, coverage=0.92, level=0.065)) == ["coverage", "level"]
    assert outside_of(replace(KEPT, coverage=0.92, level=0.065, simulations=200)) == []
    assert outside_of(replace(KEPT, coverage=0.99, level=0.02, family=0.0)) == ["coverage", "level"]
    assert outside_of(replace(KEPT, level=0.0, clusters=5)) == [], "too few patterns of signs to show anything"


def test_the_worst_cell_errs_most_whatever_it_errs_in() -> None:
    rows = [KEPT, replace(KEPT, cell="low", coverage=0.9), replace(KEPT, cell="loud", level=0.09)]
    far = worst([asdict(row) for row in rows])
    assert far is not None
    assert (far.row["cell"], far.quantity, far.error) == ("low", "coverage", pytest.approx(0.1))
    rows.append(replace(KEPT, cell="family", family=0.2))
    far = worst([asdict(row) for row in rows])
    assert far is not None
    assert (far.row["cell"], far.quantity) == ("family", "family")
    assert worst([]) is None


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    def never(rng: np.random.Generator, seed: int) -> Mapping[str, float]:
        raise AssertionError("simulated again")

    def always(rng: np.random.Generator, seed: int) -> Mapping[str, float]:
        return {"coverage": 1.0}

    path = tmp_path / "table.csv"
    calibrate.write([KEPT], path.with_suffix(".part"))
    work = [Cell("Two systems", "hits", 60, never), Cell("Two systems", "new", 60, always, weight=0.001)]
    rows = calibrate.simulate(work, 10_000, 1, path, resume=True)
    assert [row.coverage for row in rows] == [0.95, 1.0]
    assert list(calibrate.read(path).values()) == rows
    assert not path.with_suffix(".part").exists()
    (tmp_path / "table.part").write_text("part,n\n1,2\n", encoding="utf-8")
    assert calibrate.read(tmp_path / "table.part") == {}, "a table of another kind"
