"""The built site in Chromium: it asks no other host, fits a phone and a dark scheme, and is there in two languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.visits import Visit

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = ("index", "tutorial", "how-to/gates", "reference/python", "metrics")
INSIDE = "main .bd-article, header"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "ru" / "index.html").exists(), reason="`make docs` builds the site"),
]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_site_is_quiet_and_whole(browser: Any, page: str, language: str, width: int, scheme: str) -> None:
    with Visit(browser, SITE / language / f"{page}.html", width, scheme) as visit:
        outside = [url for url in visit.asked if not url.startswith((SITE.as_uri(), "data:"))]
        assert outside == []
        assert [said for said in visit.said if said.startswith("error")] == []
        assert visit.run("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        assert visit.run("document.documentElement.lang") == language
        other = visit.page.locator(".rb-language").first.get_attribute("href")
        assert other is not None
        assert (SITE / language / page).parent.joinpath(other).resolve().is_file(), other


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out_of_the_site(browser: Any, scheme: str) -> None:
    with Visit(browser, SITE / "en" / "how-to" / "gates.html", 1280, scheme) as visit:
        assert visit.faults() == []


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_page_for_reviewers_has_two_screens(browser: Any, language: str) -> None:
    with Visit(browser, SITE / language / "explanation" / "reviewers.html", 1280, "light") as visit:
        assert visit.run("document.querySelector('.bd-article').getBoundingClientRect().bottom") <= 2 * 800
