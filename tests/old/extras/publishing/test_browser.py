"""Single files, comparisons and histories in a real browser and on paper: each asks for nothing, nothing is cut off."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.extras.publishing import publish
from ragbench.old.report.keeping import kept
from ragbench.old.store.run_records import RunRecord
from tests.old import small_project
from tests.old.report import kept_runs
from tests.old.report.visits import Visit
from tests.old.views.measurements import measurement
from tests.old.views.test_show import HOSTILE

comparison_pages = pytest.importorskip("ragbench.old.extras.runs.comparison_pages")
compare_runs = pytest.importorskip("ragbench.old.extras.runs.compared").compare_runs
runs_over_time = pytest.importorskip("ragbench.old.extras.runs.history")

pytestmark = pytest.mark.browser
PAPER = {"width": 680, "height": 960}  # A4 between margins of 15 mm, in CSS pixels
WIDE = (
    "[...document.querySelectorAll('.rb-grid, .rb-plot svg, p, li, h1, h2, dd, td, th')]"
    ".filter((e) => e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().right > 681)"
    ".map((e) => e.outerHTML.slice(0, 200))"
)


def kept_twice(folder: Path, *systems: str, **more: Any) -> tuple[RunRecord, RunRecord]:
    """Two runs of the same questions."""
    made = [measurement(systems, questions=30, seed=seed, **more) for seed in (7, 8)]
    names = zip(("first", "second"), made, strict=True)
    first, second = (kept.of_folder(kept_runs.make(folder / "reports", name, one)) for name, one in names)
    return first, second


@pytest.fixture(scope="module", params=["en", "ru"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`difference/`, a comparison of two runs by three systems, and `history/`, five runs, with changes and a mark."""
    folder, language = tmp_path_factory.mktemp("site"), request.param
    with pytest.MonkeyPatch.context() as patch:
        small_project.enter(folder, patch)
        first, second = kept_twice(folder, "ivfflat", "hnsw", "reranked")
        second = replace(second, identities=dict(second.identities) | {"code": {"commit": "0123456789abcdef"}})
        comparison_pages.write(compare_runs(first, second), folder / "difference", language)
        start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        values = [replace(v, value=1.0923, comparable=False, reason="outside_scale") for v in second.values]
        foreign = replace(second, id="foreign", values=tuple(values), scores=())
        runs = (first, second, replace(first, id="third"), replace(second, id="fourth"), foreign)
        records = [replace(run, started=start + datetime.timedelta(days=day)) for day, run in enumerate(runs)]
        runs_over_time.write(runs_over_time.history(records, metrics=["mrr", "ndcg@10"]), folder / "history", language)
    return folder


def pages(site: Path) -> list[Path]:
    """Every page of the comparison and of the history."""
    found = sorted([*(site / "difference").glob("*.html"), *(site / "history").glob("*.html")])
    assert len(found) == 5, "the comparison's index, a page for each system, and the history"
    return found


def test_a_single_file_works_by_itself(bare: Path, browser: Any) -> None:
    kept_runs.make(bare / "reports", "one", measurement(questions=30))
    publish.publish("one", bare / "site")
    alone = bare / "alone" / "page.html"
    alone.parent.mkdir()
    alone.write_bytes((bare / "site" / "single" / "tier1_retrieval.html").read_bytes())
    with Visit(browser, alone) as visit:
        assert visit.page.locator(".rb-chart").count() >= 1
        assert visit.run("document.querySelectorAll('a[href]:not([href^=\"#\"])').length") == 0
        visit.page.locator("#questions").scroll_into_view_if_needed()
        visit.page.locator(".rb-table .rb-line").first.wait_for(timeout=15_000)
        assert visit.page.locator(".rb-table").inner_text().count("find its answer") >= 5
        assert visit.said == []
        assert [url for url in visit.asked if not url.startswith(("data:", "blob:"))] == [alone.resolve().as_uri()]


@pytest.mark.fault("markup", tried="names of runs, systems and code in a browser", count=19)
@pytest.mark.slow
def test_hostile_names_of_runs_and_systems_stay_texts(bare: Path, browser: Any) -> None:
    fired: list[Any] = []
    for number in range(0, len(HOSTILE), 20):
        texts = HOSTILE[number : number + 20]
        systems = (texts[0], *texts[1:3]) if len(texts) > 2 else ("a", texts[0])
        first, second = kept_twice(bare / str(number), *systems, question=texts[-1] + " {i}")
        hostile = {"commit": texts[3 % len(texts)], texts[4 % len(texts)]: texts[5 % len(texts)]}
        second = replace(second, id=texts[6 % len(texts)], identities={"code": hostile}, origin=texts[7 % len(texts)])
        index = comparison_pages.write(compare_runs(first, second), bare / f"difference{number}", "en")
        for page in sorted(index.parent.glob("*.html")):
            with Visit(browser, page) as visit:
                fired += visit.run("window.__fired")
                fired += [said for said in visit.said if "dialog" in said]
                fired += [url for url in visit.asked if not url.startswith(("file:", "data:", "blob:"))]
    assert fired == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "dark")])
def test_axe_finds_nothing(browser: Any, site: Path, width: int, scheme: str) -> None:
    for page in pages(site):
        with Visit(browser, page, width, scheme) as visit:
            visit.see_all()
            assert visit.faults() == [], page.name


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_nothing_is_cut_off_and_nothing_is_asked_of_others(browser: Any, site: Path, width: int, scheme: str) -> None:
    for page in pages(site):
        with Visit(browser, page, width, scheme) as visit:
            visit.see_all()
            visit.assert_whole()
            visit.assert_quiet(site)
            if page.parent.name == "history":  # two panels, of five runs by three systems each
                assert visit.page.locator(".rb-over-runs text").count() == 2 * 5 * 3
                outside = re.compile("a value lies outside of its scale|вне своей шкалы")
                assert visit.page.locator("small").filter(has_text=outside).first.is_visible()


@pytest.mark.slow
def test_on_a_phone_no_label_of_a_run_touches_the_next_and_no_interval_hides_another(browser: Any, site: Path) -> None:
    with Visit(browser, site / "history" / "index.html", 390) as visit:
        boxes = "[...document.querySelectorAll('.rb-run-axis li')].map((e) => e.getBoundingClientRect())"
        labels = visit.run(f"{boxes}.map((b) => [b.left, b.right])")
        assert len(labels) == 5
        assert all(one[1] <= other[0] + 0.01 for one, other in pairwise(sorted(labels)))
        bars = "[...document.querySelector('.rb-over-runs').querySelectorAll('.rb-ends')]"
        places = visit.run(f"{bars}.map((e) => e.getBoundingClientRect().x)")
        assert len(places) == len({round(place) for place in places}) == 15


@pytest.mark.slow
def test_a_sheet_of_paper_holds_everything(browser: Any, site: Path) -> None:
    for page in pages(site):
        with Visit(browser, page, scheme="dark") as visit:
            charts = visit.page.locator(".rb-plot").count()
            visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
            visit.page.emulate_media(media="print")
            visit.page.set_viewport_size(PAPER)
            assert visit.run(WIDE) == [], page.name
            assert visit.run("document.documentElement.scrollWidth") <= PAPER["width"], page.name
            assert visit.page.locator(".rb-chart").count() >= charts
            assert visit.run("getComputedStyle(document.body).color") == "rgb(28, 39, 51)"
            assert visit.page.pdf(format="A4").startswith(b"%PDF")
            assert visit.said == []


@pytest.mark.slow
def test_the_keyboard_leads_from_a_comparison_to_its_page_and_back(browser: Any, site: Path) -> None:
    with Visit(browser, site / "difference" / "index.html") as visit:
        for _ in range(60):
            visit.page.keyboard.press("Tab")
            if "tier1_retrieval.html" in (visit.run("document.activeElement.getAttribute('href')") or ""):
                break
        else:
            pytest.fail("no press of Tab leads to a page")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/*tier1_retrieval.html*")
        visit.page.locator(".crumbs a").focus()
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/index.html")
