"""Every kind of page in a real browser: nobody is shut out, nothing is cut off, and every page has its policy."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.types import Estimate
from tests.old.report.test_pages_browser_questions import judged
from tests.old.report.visits import Visit, draw, keep_page
from tests.old.views.measurements import measurement

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ("index.html", "tier1_retrieval.html", "tier3_end_to_end.html", "metrics/mrr.html")
TITLES = {"tier1_retrieval": "# Tier 1 · Does it find?", "tier3_end_to_end": "# Tier 3 · Does it answer?"}


@pytest.fixture(scope="module", params=["en", "ru"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two tiers by three systems."""
    folder, language = tmp_path_factory.mktemp("run"), request.param
    systems = ("ivfflat", "hnsw", "reranked")
    first = measurement(systems, ("mrr", "hit_rate@1", "ndcg@10"), 60, notebook="tier1_retrieval")
    third = judged(measurement(systems[:2], ("mrr", "faithfulness"), 60, notebook="tier3_end_to_end"))
    described = [keep_page(folder, made, made.notebook, language, TITLES[made.notebook]) for made in (first, third)]
    return draw(folder, described, language)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Any, run: Path, name: str, scheme: str) -> None:
    with Visit(browser, run / name, 1280, scheme) as visit:
        visit.see_all()
        assert visit.faults() == []
        if visit.page.locator(".rb-line").count():
            visit.page.locator(".rb-line").first.click()
            visit.page.wait_for_selector(".rb-detail h3")
            visit.see_all()
            assert visit.faults() == []


@pytest.mark.fault("markup", tried="pages watched for requests to others", count=20)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off_and_nothing_is_asked_of_others(browser: Any, run: Path, name: str, width: int) -> None:
    with Visit(browser, run / name, width) as visit:
        visit.see_all()
        visit.assert_whole()
        visit.assert_quiet(run)


def test_the_first_page_answers_on_a_screen_and_leads_to_every_page(browser: Any, run: Path) -> None:
    with Visit(browser, run / "index.html") as visit:
        bottom = visit.run("document.querySelector('.rb-forest tbody').getBoundingClientRect().bottom")
        assert bottom <= 900
        links = visit.run("[...document.querySelectorAll('main a')].map((e) => e.getAttribute('href'))")
        assert {link.partition("#")[0] for link in links} >= {"tier1_retrieval.html", "tier3_end_to_end.html"}
        for link in set(links):
            target, _, anchor = link.partition("#")
            assert (run / target).is_file(), link
            if anchor:
                assert f'id="{anchor}"' in (run / target).read_text(encoding="utf-8"), link


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("number", [2, 5, 12])
def test_the_first_page_of_many_systems_is_readable(browser: Any, tmp_path: Path, number: int, language: str) -> None:
    """Names of forty signs, ten pages of three groups of systems, blame: at three widths nothing runs into another."""
    systems = tuple(f"retriever-{place:02}-with-a-name-of-forty-signs-"[:40].ljust(40, "x") for place in range(number))
    judges = ("show-all", "lexical")
    metrics = ("mrr", "faithfulness_rating", "e2e_score", "cache_hit_rate", "answer_correctness_rating")
    above = (
        "Tier 0",
        "Tier 1",
        "Tier 2",
        "Tier 3",
        "UX",
        "Real users",
        "Sources",
        "Judge",
        "Judge pipeline",
        "Answers",
    )
    described = []
    for place, over in enumerate(above):
        names = judges if over.startswith("Judge") else ("answers",) if over == "Answers" else systems
        made = measurement(names, (metrics[place % 5],), 20, notebook=f"page_{place}")
        if over == "Tier 3":
            shares = {"good": 0.52, "not_used": 0.3, "too_low": 0.08, "not_retrieved": 0.06, "beyond": 0.04}
            told = [
                NamedEstimate(name, "blame", Estimate(share, share / 2, share + 0.1, 0.95, "bca", 100), {"part": part})
                for name in systems
                for part, share in shares.items()
            ]
            made = replace(made, placed=tuple(told))
        title = f"# {over} · Would a cache serve people well, and do dialogues hold together?"
        described.append(keep_page(tmp_path, made, made.notebook, language, title, ("answer", "table")))
    folder = draw(tmp_path, described, language)
    for width in (390, 1280, 1600):
        with Visit(browser, folder / "index.html", width) as visit:
            assert visit.run("document.querySelectorAll('.rb-overview').length") == 3
            assert visit.run("document.querySelectorAll('.rb-stack').length") == number
            visit.assert_whole()
            visit.see_all()
            visit.assert_whole()
            visit.assert_quiet(folder)
            if width > 390:
                overflow = "[...document.querySelectorAll('.rb-scroll')].map((e) => e.scrollWidth - e.clientWidth)"
                assert max(visit.run(overflow)) <= 0
            assert visit.faults() == []


def test_the_overview_prints_whole(browser: Any, run: Path) -> None:
    with Visit(browser, run / "index.html") as visit:
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 680, "height": 960})
        assert visit.run("document.querySelector('.rb-overview').getBoundingClientRect().right") <= 681
        assert visit.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", PAGES)
def test_no_table_is_wider_than_a_sheet_of_a4(browser: Any, run: Path, name: str) -> None:
    """210 mm at 96 dots per inch, less the margins of the sheet."""
    with Visit(browser, run / name) as visit:
        visit.see_all()
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 680, "height": 960})
        wide = "[...document.querySelectorAll('table')].filter((e) => e.checkVisibility())"
        wide += ".filter((e) => e.getBoundingClientRect().right > 681).map((e) => e.outerHTML.slice(0, 200))"
        assert name.startswith("metrics/") or visit.page.locator("table").count()
        assert visit.run(wide) == []


@pytest.mark.fault("markup", tried="policies of pages", count=2)
def test_every_page_has_a_policy_that_allows_only_its_own_scripts(run: Path) -> None:
    found = list(run.rglob("*.html"))
    assert len(found) > 5
    for path in found:
        text = path.read_text(encoding="utf-8")
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy is not None, path
        assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;self&#39;; style-src"), path
        assert not re.search(r"(src|href)=.?(https?:)?//", text), path
