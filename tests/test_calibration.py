"""The simulations and their page: a cell counts what it should, the table is read, strays are named."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from ragbench import bench, settings, show
from ragbench.bench.runs.statistics_calibration import COLUMNS
from tests.calibration import __main__ as calibrate
from tests.calibration import populations, simulations
from tests.calibration.simulations import Outcome


def outcome(**changes: object) -> Outcome:
    plain = {
        "part": "interval", "population": "hit 0.5", "method": "default", "n": 50, "clusters": None,
        "correlation": None, "simulations": 2000, "nominal": 0.95, "observed": 0.951, "bias": 0.0, "width": 0.2,
        "printed": "bca 100 %",
    }  # fmt: skip
    return Outcome(**(plain | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("population", [*populations.ALONE, *populations.DIFFERENCES], ids=lambda one: one.name)
def test_populations_have_the_mean_they_say(population: populations.Population) -> None:
    values = population.draw(np.random.default_rng(0), (1_000_000, 1))
    assert values.mean() == pytest.approx(population.mean, abs=5 * values.std() / 1_000)


def test_clustered_values_keep_their_mean_and_are_alike() -> None:
    sizes = np.full(20_000, 5)
    population = populations.clustered(populations.beta(5, 2), 0.3, sizes)
    values = population.draw(np.random.default_rng(0), (len(sizes) * 5, 1))[:, 0].reshape(-1, 5)
    assert values.mean() == pytest.approx(population.mean, abs=0.005)
    assert np.corrcoef(values[:, 0], values[:, 1])[0, 1] == pytest.approx(0.3, abs=0.03)


def test_an_honest_interval_and_an_honest_test_are_counted_as_such() -> None:
    rows = {row.method: row for row in simulations.intervals(populations.beta(5, 2), 60, 500)}
    assert rows["default"].observed == pytest.approx(0.95, abs=0.04)
    assert rows["default"].bias == pytest.approx(0, abs=0.004)
    found = simulations.differences(populations.DIFFERENCES[-2], 40, 500)
    [test] = [row for row in found if row.part == "test"]
    assert (test.population, test.nominal) == ("normal", 0.05)
    assert test.observed == pytest.approx(0.05, abs=0.04)


def test_ignored_clusters_are_seen_to_cover_too_little() -> None:
    sizes = np.full(30, 5)
    codes = np.repeat(np.arange(30), sizes)
    population = populations.clustered(populations.beta(5, 2), 0.5, sizes)
    options = {"codes": codes, "correlation": 0.5, "part": "clusters"}
    honest = {row.method: row for row in simulations.intervals(population, 150, 500, **options)}  # type: ignore[arg-type]
    [naive] = simulations.intervals(population, 150, 500, ignore=True, **options)  # type: ignore[arg-type]
    assert naive.method == "default, clusters ignored"
    assert naive.observed < 0.85
    assert honest["default"].observed > 0.9


def test_strays_are_those_that_break_the_promise() -> None:
    kept, low = outcome(), outcome(observed=0.92)
    few, loud = outcome(observed=0.8, clusters=10), outcome(part="test", method="compare", nominal=0.05, observed=0.07)
    careful = outcome(part="test", method="compare", nominal=0.05, observed=0.01)
    other_kind = outcome(method="bca", observed=0.5)
    assert calibrate.strays([kept, low, few, loud, careful, other_kind]) == [low, loud]


def test_the_page_reads_what_make_calibrate_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        outcome(), outcome(method="bca", observed=0.9312), outcome(n=20, observed=0.91, printed="wilson 100 %"),
        outcome(part="test", method="compare", nominal=0.05, observed=0.071, width=float("nan")),
        outcome(part="clusters", clusters=15, n=75, correlation=0.3, observed=0.955),
    ]  # fmt: skip
    calibrate.write(rows, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        assert tuple(next(csv.reader(file))) == COLUMNS
    monkeypatch.setattr(settings, "project_folder", lambda: tmp_path)
    measurement = bench.statistics_calibration("table.csv")
    assert (measurement.facts["n_simulations"], measurement.facts["n_rows"]) == (2000, 5)
    for language in ("en", "ru"):
        page = show.Page(measurement, language=language)
        said = str(show.about.promise(page).html())
        assert "0.910 ▼" in said
        assert "0.071 ▲" in said
        assert "wilson 100 %" in said
        assert "0.955" in str(show.about.simulations(page, "clusters").html())
        assert "bca" in str(show.about.simulations(page).html())
    with pytest.raises(ValueError, match="the part is one of interval, clusters"):
        show.about.simulations(page, "tests")
    with pytest.raises(ValueError, match="make calibrate"):
        bench.statistics_calibration("none.csv")
    (tmp_path / "short.csv").write_text("part,n\n", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks the columns population, method"):
        bench.statistics_calibration("short.csv")
