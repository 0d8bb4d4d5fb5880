"""Decisions, judged answers, turns and passages in a real browser: from a number to the item, and from item to item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core.measurement import Measurement
from tests.old.report.test_pages_browser_questions import CELLS, LINES
from tests.old.report.visits import HANDLERS, Visit, draw, keep_page
from tests.old.views.test_items import HOSTILE_TEXT, decided, talked, tried, used

pytestmark = pytest.mark.browser
Make = Callable[..., Measurement]
PAGES: dict[str, tuple[Make, tuple[str, ...]]] = {
    "decided": (decided, ("table", "confusion", "questions")),
    "tried": (tried, ("measures", "disagreements", "probes", "questions")),
    "talked": (talked, ("cache", "hits", "dialogues", "measures", "questions")),
    "used": (used, ("measures", "unused", "pages", "questions")),
}
TITLE = "# Tier 1 · What is it made of?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("items")
    described = [
        keep_page(made, replace(make(), notebook=f"{name}_{language}"), f"{name}_{language}", language, TITLE, views)
        for name, (make, views) in PAGES.items()
        for language in ("en", "ru")
    ]
    return draw(made, described)


def status(visit: Visit) -> str:
    visit.page.wait_for_selector(".rb-line")
    return str(visit.page.locator(".rb-table [role=status]").inner_text())


def test_a_cell_of_the_matrix_leads_to_its_decisions_and_their_reason(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "decided_en.html") as visit:
        visit.page.locator(".rb-confusion a[href*='outcome=%3D1']").first.click()
        assert status(visit) == "1 of 4 decisions"
        assert visit.run(CELLS)[0] == ["held back wrongly", "shown rightly"]
        visit.page.locator("[role=grid]:focus").wait_for()
        visit.page.keyboard.press("Enter")
        visit.page.locator(".rb-detail:focus").wait_for()
        text = visit.page.locator(".rb-detail").inner_text()
        for said in ("Question 2?", "Because 2.", "Passage.", "held back wrongly · score 0.250", "careful says so."):
            assert said in text
        visit.page.get_by_role("button", name="show all").click()
        visit.page.select_option("select[name=metric]", "0")
        visit.page.select_option("select[name=outcome]", "better")
        assert status(visit) == "1 of 4 decisions"
        assert visit.run(CELLS)[0] == ["right", "wrong", "better"]
        visit.assert_quiet(folder)


def test_a_probe_leads_to_the_answers_that_fell_to_it_and_people_apart_come_first(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "tried_en.html") as visit:
        visit.page.locator(".rb-view-probes a[href*='metric=padding']").first.click()
        visit.page.locator(".rb-line", has_text="failed it").first.wait_for()
        assert status(visit) == "4 of 4 judged answers"
        assert visit.run(CELLS)[0] == ["failed it"]
        visit.page.select_option("select[name=outcome]", "=0")
        assert status(visit) == "1 of 4 judged answers"
        visit.page.keyboard.press("Tab")
        visit.page.locator(".rb-line").first.click()
        visit.page.wait_for_selector(".rb-detail h3")
        assert "padding: 0.50 → 0.90 · failed it" in visit.page.locator(".rb-detail").inner_text()
        visit.assert_quiet(folder)
    with Visit(browser, folder / "tried_en.html", hash_="#questions") as visit:
        status(visit)
        assert [cells[0] for cells in visit.run(CELLS)][:3] == ["0.750", "0.000", "—"]


def test_a_hit_leads_to_its_dialogue_and_the_dialogue_to_its_turns(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "talked_en.html", hash_="#q-dialogues.t.2") as visit:
        visit.page.locator(".rb-detail a[href='#q-session.t']").click()
        visit.page.locator(".rb-detail a[href='#q-dialogues.t.3']").click()
        visit.page.locator(".rb-detail h3", has_text="Asked t.3?").wait_for()
        visit.page.go_back()
        visit.page.locator(".rb-detail", has_text="turns 2 and 3: questions 0.100").wait_for()
        visit.assert_quiet(folder)


def test_a_page_of_the_base_leads_to_its_row_and_its_passages(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "used_en.html") as visit:
        visit.page.locator(".rb-view-pages a[href^='#q-']").first.click()
        visit.page.locator(".rb-detail", has_text="Its 2 passages").wait_for()
        visit.page.locator(".rb-detail a[href='#q-passage.a1']").click()
        visit.page.locator(".rb-detail", has_text="needed, missed by some").wait_for()
        assert "What of q2?" in visit.page.locator(".rb-detail").inner_text()
        visit.assert_quiet(folder)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme", "language"), [(1280, "dark", "en"), (390, "light", "ru")])
def test_pages_of_items_are_whole_and_open_to_all(
    browser: Any, folder: Path, name: str, width: int, scheme: str, language: str
) -> None:
    with Visit(browser, folder / f"{name}_{language}.html", width, scheme, "#questions") as visit:
        status(visit)
        visit.page.locator(".rb-line").first.click()
        visit.page.wait_for_selector(".rb-detail h3")
        visit.see_all()
        visit.assert_whole()
        visit.assert_quiet(folder)  # before axe-core, which says things of its own
        assert visit.faults() == []


@pytest.mark.fault("markup", tried="pages of items with every row opened in a browser", count=4)
def test_hostile_texts_do_nothing_in_any_row(browser: Any, tmp_path: Path) -> None:
    described = [
        keep_page(tmp_path, make(HOSTILE_TEXT), name, "en", TITLE, views) for name, (make, views) in PAGES.items()
    ]
    draw(tmp_path, described)
    for name in PAGES:
        with Visit(browser, tmp_path / f"{name}.html", hash_="#questions") as visit:
            status(visit)
            for row in range(len(visit.run(LINES))):
                visit.page.locator(".rb-line").nth(row).click()
                visit.page.wait_for_selector(".rb-detail h3")
                visit.see_all()
            visit.assert_quiet(tmp_path)
            assert visit.run("document.querySelectorAll('iframe, object, embed, form, base').length") == 0
            assert visit.run(HANDLERS) == 0
