"""Single files, comparisons and histories in a real browser: each works by itself and asks for nothing."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.bench.runs.compared import compare_runs
from ragbench.bench.runs.history import history
from ragbench.report.exports import publish
from ragbench.report.keeping import kept
from ragbench.report.pages import comparison
from ragbench.report.pages import history as history_page
from ragbench.store.records import RunRecord
from tests import kept_runs
from tests.measurements import measurement
from tests.test_show import HOSTILE
from tests.visits import Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ragbench.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    return tmp_path


def test_a_single_file_works_by_itself(project: Path, browser: Any) -> None:
    kept_runs.make(project / "reports", "one", measurement(questions=30))
    publish.publish("one", project / "site")
    alone = project / "alone" / "page.html"
    alone.parent.mkdir()
    alone.write_bytes((project / "site" / "single" / "tier1_retrieval.html").read_bytes())
    with Visit(browser, alone) as visit:
        assert visit.page.locator(".js-plotly-plot").count() >= 1
        assert visit.run("document.querySelectorAll('a[href]:not([href^=\"#\"])').length") == 0
        visit.page.locator("#questions").scroll_into_view_if_needed()
        visit.page.locator(".rb-table .rb-line").first.wait_for(timeout=15_000)
        assert visit.page.locator(".rb-table").inner_text().count("find its answer") >= 5
        assert visit.said == []
        assert [url for url in visit.asked if not url.startswith(("data:", "blob:"))] == [alone.resolve().as_uri()]


def _runs(project: Path, **more: Any) -> tuple[RunRecord, RunRecord]:
    first = kept_runs.make(project / "reports", "first", measurement(questions=30, **more))
    second = kept_runs.make(project / "reports", "second", measurement(questions=30, seed=8, **more))
    return kept.of_folder(first), kept.of_folder(second)


@pytest.mark.parametrize(("width", "scheme", "language"), [(1280, "light", "en"), (390, "dark", "ru")])
def test_a_comparison_is_quiet_and_nothing_is_cut_off(
    project: Path, browser: Any, width: int, scheme: str, language: str
) -> None:
    index = comparison.write(compare_runs(*_runs(project)), project / "difference", language)
    for page in sorted(index.parent.glob("*.html")):
        with Visit(browser, page, width, scheme) as visit:
            assert visit.said == []
            assert visit.run("document.documentElement.scrollWidth <= innerWidth")
            outside = [url for url in visit.asked if not url.startswith(("file:", "data:", "blob:"))]
            assert outside == []


@pytest.mark.fault("markup", tried="names of runs, systems and code in a browser", count=19)
@pytest.mark.slow
def test_hostile_names_of_runs_and_systems_stay_texts(project: Path, browser: Any) -> None:
    fired: list[Any] = []
    for number in range(0, len(HOSTILE), 20):
        texts = HOSTILE[number : number + 20]
        systems = (texts[0], *texts[1:3]) if len(texts) > 2 else ("a", texts[0])
        first, second = _runs(project / str(number), systems=systems, question=texts[-1] + " {i}")
        hostile = {"commit": texts[3 % len(texts)], texts[4 % len(texts)]: texts[5 % len(texts)]}
        second = replace(second, id=texts[6 % len(texts)], identities={"code": hostile}, origin=texts[7 % len(texts)])
        index = comparison.write(compare_runs(first, second), project / f"difference{number}", "en")
        for page in sorted(index.parent.glob("*.html")):
            with Visit(browser, page) as visit:
                fired += visit.run("window.__fired")
                fired += [said for said in visit.said if "dialog" in said]
                fired += [url for url in visit.asked if not url.startswith(("file:", "data:", "blob:"))]
    assert fired == []


def test_a_history_draws_runs_over_time(project: Path, browser: Any) -> None:
    first, second = _runs(project)
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    values = [replace(v, value=1.0923, comparable=False, reason="outside_scale") for v in second.values]
    foreign = replace(second, id="foreign", values=tuple(values), scores=())
    records = [
        replace(run, started=start + datetime.timedelta(days=day)) for day, run in enumerate((first, second, foreign))
    ]
    index = history_page.write(history(records, metrics=["mrr"]), project / "history", "en")
    for width in (1280, 390):
        with Visit(browser, index, width) as visit:
            assert visit.said == []
            assert visit.run("document.documentElement.scrollWidth <= innerWidth")
            assert visit.page.locator(".js-plotly-plot .scatterlayer .point").count() == 2 * len(records)
            assert visit.page.get_by_text("a value lies outside of its scale").first.is_visible()
    assert np.isfinite([v.value for v in first.values]).all()
