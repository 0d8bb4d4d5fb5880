"""What is published, in a real browser and on paper: every kind of page, in both languages, of twelve systems."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import report
from ragbench.old.extras.publishing import publish
from tests.old import small_project
from tests.old.extras.publishing.test_browser import PAPER, WIDE, kept_twice
from tests.old.report import kept_runs
from tests.old.report.test_pages_browser_questions import judged
from tests.old.report.visits import Visit
from tests.old.views.measurements import measurement

comparison_pages = pytest.importorskip("ragbench.old.extras.runs.comparison_pages")
compare_runs = pytest.importorskip("ragbench.old.extras.runs.compared").compare_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SYSTEMS = tuple(f"system-{place:02}" for place in range(12))
PAGES = ("index.html", "tier1_retrieval.html", "tier3_end_to_end.html", "metrics/mrr.html")
KINDS = {
    **dict.fromkeys((f"run/{each}" for each in PAGES), (1280, "dark")),
    **dict.fromkeys((f"run/ru/{each}" for each in PAGES), (390, "dark")),
    **dict.fromkeys((f"run/single/{each}" for each in PAGES[:2]), (390, "light")),
    **dict.fromkeys((f"run/single/ru/{each}" for each in PAGES[:3]), (1280, "dark")),
    **dict.fromkeys(("en/index.html", "ru/01-tier1_retrieval.html"), (1280, "dark")),
    **dict.fromkeys(("en/single/01-tier1_retrieval.html", "ru/single/index.html"), (390, "dark")),
}
"""Every kind of page, each as wide and as bright as another of its kind is not."""
REACHED = "((e) => e.matches('summary') ? 'fold' : e.getAttribute('role') || e.tagName)(document.activeElement)"


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`run/`: a run of two tiers in two languages, one of them of twelve systems; `en/`, `ru/`: two runs compared."""
    folder = tmp_path_factory.mktemp("sites")
    with pytest.MonkeyPatch.context() as patch:
        small_project.enter(folder, patch)
        first = judged(measurement(SYSTEMS, ("mrr", "hit_rate@1"), 20))
        third = judged(measurement(SYSTEMS[:2], ("mrr", "faithfulness"), 20, notebook="tier3_end_to_end"))
        run = kept_runs.make(folder / "reports", "one", first, third)
        report.render(run, language="ru")
        publish.publish("one", folder / "run")
        runs = kept_twice(folder / "two", *SYSTEMS[:2])
        for language in ("en", "ru"):
            compared = folder / "reports" / "comparisons" / language
            comparison_pages.write(compare_runs(*runs), compared, language)
            publish.publish(compared, folder / language, language=language)
        yield folder


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_open_to_all_on_screen_and_whole_on_paper(browser: Any, sites: Path, kind: str) -> None:
    """axe finds nothing; nothing is cut off; on paper every fold is open, and no table is wider than the sheet."""
    with Visit(browser, sites / kind, *KINDS[kind]) as visit:
        assert visit.run("document.documentElement.lang") == ("ru" if "ru/" in kind else "en")
        visit.assert_quiet(sites)
        folded = "document.querySelectorAll('main details:not([open], .code)').length"
        if visit.page.locator(".rb-table").count():
            visit.page.locator(".rb-table").first.scroll_into_view_if_needed()
            visit.page.wait_for_selector(".rb-table.rb-ready")
            visit.page.locator(".rb-line").first.click()
            visit.page.wait_for_selector(".rb-detail h3")
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.run(folded) == 0
        assert visit.page.pdf(format="A4").startswith(b"%PDF")
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size(PAPER)
        visit.page.wait_for_function(f"({WIDE}).length === 0")  # figures are drawn anew in their own time
        scrolled = "[...document.querySelectorAll('.rb-scroll')].filter((e) => e.checkVisibility())"
        assert visit.run(f"{scrolled}.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.ariaLabel)") == []
        visit.page.emulate_media(media="screen", color_scheme=KINDS[kind][1])
        visit.page.set_viewport_size({"width": KINDS[kind][0], "height": 900})
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        visit.see_all()
        visit.assert_whole()
        assert visit.faults() == []


@pytest.mark.parametrize("kind", ["run/tier1_retrieval.html", "run/single/ru/tier3_end_to_end.html"])
def test_everything_is_reached_by_keys_alone(browser: Any, sites: Path, kind: str) -> None:
    """Folds open and close, the first row of the table of questions opens, and a figure says what its marks are."""
    with Visit(browser, sites / kind) as visit:
        press, seen = visit.page.keyboard.press, set[str]()
        visit.page.locator(".rb-table").first.scroll_into_view_if_needed()
        visit.page.wait_for_selector(".rb-table.rb-ready")
        folds = visit.run("[...document.querySelectorAll('main summary')].filter((e) => e.checkVisibility()).length")
        for _ in range(400):
            press("Tab")
            what = visit.run(REACHED)
            if what == "fold":
                seen.add(visit.run("(document.activeElement.dataset.seen ||= String(Math.random()))"))
                if len(seen) == 1:
                    is_open = "document.activeElement.parentElement.open"
                    press("Enter")
                    assert visit.run(is_open)
                    press("Enter")
                    assert not visit.run(is_open)
            elif what == "img" and "tip" not in seen:
                press("ArrowRight")
                tip = visit.page.locator(":focus .rb-tip")
                told = tip.inner_text()
                assert told
                press("ArrowRight")
                assert tip.inner_text() != told
                press("Escape")
                assert not tip.is_visible()
                seen.add("tip")
            elif what == "grid":
                seen.add("grid")
                press("ArrowDown")
                press("Enter")
                visit.page.locator(".rb-detail:focus").wait_for()
                press("Escape")
            elif what == "BODY":
                break
        assert len(seen - {"tip", "grid"}) >= folds, "every fold is on the way"
        assert "grid" in seen
        assert ("tip" in seen) == bool(visit.page.locator(".rb-plot").count())
