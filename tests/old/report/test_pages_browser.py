"""Pages in a real browser: charts are drawn, nothing is asked of another host, nothing is cut off or out of reach."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.report.keeping import results
from ragbench.old.report.pages import notebook_pages
from tests.old.report.visits import DRAWN, Visit, build
from tests.old.views.measurements import measurement

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("run"), measurement(facts={"stand_ins": ["hashing"]}))


@pytest.fixture(scope="module")
def russian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    long = measurement(
        ("очень длинное название системы, которое кто-то выбрал", "hnsw", "e5_large_instruct_multilingual"),
        ("hit_rate@1", "ndcg(gain=exponential)@10", "mrr"),
        gain=0.1,
        question="Где получить справку об обучении, если деканат закрыт? " * 4,
        identifier="вопрос-с-очень-длинным-именем-без-единого-пробела-внутри-{i}" * 2,
    )
    return build(tmp_path_factory.mktemp("run"), long, "ru")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A folder of pages that a test may change."""
    return shutil.copytree(folder, tmp_path / "copy")


@pytest.mark.parametrize("width", [1280, 768, 360])
@pytest.mark.parametrize("name", ["page.html", "index.html"])
@pytest.mark.parametrize("kind", ["folder", "russian"])
def test_pages_open_from_disk(browser: Any, request: pytest.FixtureRequest, kind: str, name: str, width: int) -> None:
    folder = request.getfixturevalue(kind)
    with Visit(browser, folder / name, width, "dark") as visit:
        visit.see_all()
        for scheme in ("dark", "light"):
            visit.page.emulate_media(color_scheme=scheme)
            if name == "page.html":
                visit.until("document.querySelectorAll('.rb-plot .point').length > 0")
            visit.until(DRAWN)
            visit.assert_quiet(folder)
            visit.assert_whole()


ASTRAY = r"""(() => {
  const found = [], all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (all.nextNode()) {
    const held = all.currentNode.parentElement;
    if (!/[\u0590-\u08ff]/.test(all.currentNode.data) || ["SCRIPT", "STYLE"].includes(held.tagName)) continue;
    if (!held.closest("[dir=auto], [unicode-bidi=plaintext]")) found.push(`${held.tagName}: ${all.currentNode.data}`);
  }
  return found;
})()"""
"""Texts that are written from the right, where nothing says so."""


def test_texts_from_the_right_run_so_in_charts_too(browser: Any, tmp_path: Path) -> None:
    texts = {"question": "מי כתב את האמנה {i}?", "chunk": "كتبها المحامي {i}."}
    folder = build(tmp_path, measurement(("חיפוש (א)", "بحث ٢", "hnsw"), **texts))
    page = (folder / "page.html").read_text(encoding="utf-8")
    chart = re.search(r'<div class="rb-plot".*?</script></div>', page, re.DOTALL)
    assert chart is not None
    results.write(folder / "page.html", page.replace(chart[0], chart[0].replace("hit_rate@10", "פגיעות (א)")))
    with Visit(browser, folder / "page.html", hash_="#q-q3") as visit:
        visit.see_all()
        visit.until(DRAWN)
        assert visit.run(ASTRAY) == []
        row = "[...document.querySelectorAll('.rb-chart text')].find((one) => one.textContent.includes('('))"
        first, opened = (visit.run(f"{row}.getExtentOfChar({place}).x") for place in (0, "פגיעות (א)".index("(")))
        assert opened < first, "what follows stands to the left of the first letter"
        visit.assert_quiet(folder)


def test_a_count_beside_a_text_from_the_right_is_none_of_its_words(browser: Any, folder: Path) -> None:
    """A topic of the questions in two alphabets read "4 أبوابها questions"."""
    with Visit(browser, folder / "page.html") as visit:
        line = "1 · canteen, أبوابها <small>4 questions</small>"
        visit.run(f"document.querySelector('.rb').innerHTML = `<p dir=auto style='white-space: nowrap'>{line}</p>`")
        script = """(() => {
          const p = document.querySelector(".rb p"), range = document.createRange();
          range.setStart(p.firstChild, 13); range.setEnd(p.firstChild, 20);
          return p.querySelector("small").getClientRects()[0].left > range.getBoundingClientRect().right;
        })()"""
        assert visit.run(script)


def test_the_table_fits_a_desktop(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "page.html", 1100) as visit:
        over = "(() => { const e = document.querySelector('.rb-scroll'); return e.scrollWidth - e.clientWidth })()"
        assert visit.run(over) <= 0


def test_charts_follow_the_scheme_and_the_printer(browser: Any, folder: Path) -> None:
    colour = "getComputedStyle(document.querySelector('.rb-plot .ytick text')).fill"
    with Visit(browser, folder / "page.html") as visit:
        light = visit.run(colour)
        visit.page.emulate_media(color_scheme="dark")
        visit.until(f"{colour} !== {light!r}")
        paper = visit.run("getComputedStyle(document.body).backgroundColor")
        assert paper != "rgb(255, 255, 255)"
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visit.until(f"{colour} === {light!r}")
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        visit.until(f"{colour} !== {light!r}")
        visit.assert_quiet(folder)
        assert visit.page.pdf(format="A4").startswith(b"%PDF")


def test_a_sheet_of_paper_holds_the_chart_and_the_table(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "page.html", scheme="dark") as visit:
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 680, "height": 960})  # A4 between margins of 15 mm
        assert visit.run("document.querySelector('.rb-plot svg').getBoundingClientRect().right") <= 680
        assert visit.run("document.querySelector('.rb-grid').getBoundingClientRect().right") <= 681
        assert visit.run("getComputedStyle(document.body).color") == "rgb(28, 39, 51)"


def test_a_phone_shows_names_above_their_marks(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "page.html", 390) as visit:
        assert visit.run("document.querySelectorAll('.rb-plot .ytick text').length") == 0
        assert visit.run("document.querySelectorAll('.rb-plot .annotation').length") == 3
        visit.page.set_viewport_size({"width": 1280, "height": 900})
        visit.until("document.querySelectorAll('.rb-plot .ytick text').length === 3")


def test_without_the_script_a_chart_is_said_in_words(browser: Any, copy: Path) -> None:
    (copy / "page.js").write_text("")
    with Visit(browser, copy / "page.html", drawn=False) as visit:
        assert visit.page.locator(".rb-grid").is_visible()
        assert "The table below holds the same numbers." in visit.page.locator(".rb-plot").inner_text()


def test_a_table_loads_when_somebody_comes_near_it_or_asks_for_it(browser: Any, folder: Path) -> None:
    for hash_ in ("#questions", "#questions?metric=mrr&sort=worst", "#q-q3"):
        with Visit(browser, folder / "page.html", hash_=hash_) as visit:
            assert visit.page.locator(".rb-line").count() > 0
            visit.assert_quiet(folder)
    with Visit(browser, folder / "page.html") as visit:
        assert [url for url in visit.asked if url.endswith("table.js")] == [], "nobody has asked for the table yet"


def test_many_charts_are_drawn_and_printed_without_scrolling(browser: Any, copy: Path) -> None:
    page = (copy / "page.html").read_text(encoding="utf-8")
    chart = re.search(r'<div class="rb-plot".*?</script></div>', page, re.DOTALL)
    assert chart is not None
    results.write(copy / "page.html", page.replace(chart[0], chart[0] * 12))
    with Visit(browser, copy / "page.html") as visit:
        assert visit.run("scrollY") == 0
        assert visit.page.locator(".rb-chart .point").count() >= 12
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        widths = "[...document.querySelectorAll('.rb-plot')].map((e) => e.querySelector('.rb-chart').clientWidth)"
        assert visit.run(widths) == [660] * 12
        visit.assert_quiet(copy)


def test_paper_has_everything_open_and_the_page_is_as_it_was_afterwards(browser: Any, folder: Path) -> None:
    folded = "document.querySelectorAll('main details:not([open], .code)').length"
    with Visit(browser, folder / "page.html") as visit:
        before = visit.run(folded)
        assert before > 0
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.run(folded) == 0
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.run(folded) == before


@pytest.mark.fault("markup", tried="scripts injected into a page in a browser", count=1)
def test_the_policy_refuses_what_is_injected(browser: Any, copy: Path) -> None:
    injected = "<img src=x onerror=alert(1)><script>alert(2)</script><script src=https://example.org/x.js></script>"
    page = (copy / "page.html").read_text(encoding="utf-8")
    results.write(copy / "page.html", page.replace("</main>", f"{injected}</main>"))
    with Visit(browser, copy / "page.html") as visit:
        fired = visit.run("window.__fired")
        assert "alert" not in fired
        assert len([one for one in fired if one.startswith("csp script-src")]) == 3
        assert visit.run("document.querySelectorAll('.rb-plot .point').length") > 0


def test_the_policy_of_every_page_is_the_same() -> None:
    assert (
        notebook_pages.POLICY == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'"
    )
