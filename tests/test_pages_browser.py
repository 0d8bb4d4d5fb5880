"""Pages in a real browser: charts are drawn, nothing is asked of another host, nothing runs that came with the data."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench import report
from ragbench.report import files, pages, results
from ragbench.show import Page
from tests.measurements import measurement
from tests.test_show import HOSTILE

pytestmark = pytest.mark.browser
CHROMIUM = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
VIEWS = ("answer", "intervals", "table", "worst", "questions", "method", "provenance")
WATCH = """
window.__fired = [];
for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => window.__fired.push(name);
addEventListener("securitypolicyviolation", (e) => window.__fired.push(`csp ${e.violatedDirective} ${e.blockedURI}`));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; install it or name it in RAGBENCH_CHROMIUM")
    with api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


class Visit:
    """One page opened from disk, with everything it said, asked for and ran."""

    def __init__(self, browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.add_init_script(WATCH)
        self.page.on("console", lambda m: self.said.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.said.append(f"error: {e}"))
        self.page.on("dialog", lambda d: (self.said.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_load_state("networkidle")

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    def assert_quiet(self, folder: Path) -> None:
        """No message, no dialog, no violation, and no request but for the page's own files."""
        assert self.said == []
        assert self.run("window.__fired") == []
        outside = [url for url in self.asked if not url.startswith((folder.resolve().as_uri(), "data:", "blob:"))]
        assert outside == []


def build(folder: Path, made: Any, language: str = "en", title: str = "# Tier 1 · Does it find the passage?") -> Path:
    """A run's folder with the page of a measurement, made without a kernel."""
    page = Page(made, language=language)
    made.save(folder / "parts" / "page")
    cell = nbformat.v4.new_code_cell
    cells = [nbformat.v4.new_markdown_cell(title, id="title")]
    for name in VIEWS:
        bundle = page.view(name)._repr_mimebundle_()
        bundle["application/vnd.ragbench.view+json"]["measurement"] = "page"
        output = nbformat.v4.new_output("display_data", {k: v for k, v in bundle.items() if k != "text/html"})
        cells.append(cell(f"page.{name}()", id=name, outputs=[output]))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "page.ipynb")
    described = [{"name": "page", "failure": "", "language": language}]
    results.write_json(folder / results.MANIFEST, {"notebooks": described, "language": language})
    report.render(folder)
    return folder


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 768, 360])
@pytest.mark.parametrize("name", ["page.html", "index.html"])
@pytest.mark.parametrize("kind", ["folder", "russian"])
def test_pages_open_from_disk(
    browser: Any, request: pytest.FixtureRequest, kind: str, name: str, width: int, scheme: str
) -> None:
    folder = request.getfixturevalue(kind)
    with Visit(browser, folder / name, width, scheme) as visit:
        visit.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        visit.assert_quiet(folder)
        root = "document.documentElement"
        assert visit.run(f"{root}.scrollWidth") <= visit.run(f"{root}.clientWidth"), "the page scrolls sideways"
        cut = visit.run(
            "[...document.querySelectorAll('p, li, dd, h1, h2, h3, td, th, summary')]"
            ".filter((e) => !e.closest('.rb-scroll, pre'))"
            ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
        )
        assert cut == []
        if name == "page.html":
            assert visit.run("document.querySelectorAll('.rb-plot .point').length") > 0


def test_the_table_fits_a_desktop(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "page.html", 1100) as visit:
        assert (
            visit.run(
                "(() => { const e = document.querySelector('.rb-scroll'); return e.scrollWidth - e.clientWidth })()"
            )
            <= 0
        )


def test_charts_follow_the_scheme_and_the_printer(browser: Any, folder: Path) -> None:
    colour = "getComputedStyle(document.querySelector('.rb-plot .ytick text')).fill"
    with Visit(browser, folder / "page.html") as visit:
        light = visit.run(colour)
        visit.page.emulate_media(color_scheme="dark")
        visit.page.wait_for_function(f"{colour} !== {light!r}")
        paper = visit.run("getComputedStyle(document.body).backgroundColor")
        assert paper != "rgb(255, 255, 255)"
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        visit.page.wait_for_function(f"{colour} === {light!r}")
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        visit.page.wait_for_function(f"{colour} !== {light!r}")
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
        assert visit.run("document.querySelectorAll('.rb-plot .annotation').length") == 4
        visit.page.set_viewport_size({"width": 1280, "height": 900})
        visit.page.wait_for_function("document.querySelectorAll('.rb-plot .ytick text').length === 4")


def test_without_plotly_the_numbers_are_still_there(browser: Any, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "plotly.min.js").unlink()
    with Visit(browser, copy / "page.html") as visit:
        assert visit.page.locator(".rb-grid").is_visible()
        assert "The table below holds the same numbers." in visit.page.locator(".rb-plot").inner_text()


def test_a_keyboard_reaches_a_question_and_goes_back(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "index.html") as visit:
        visit.page.keyboard.press("Tab")
        assert visit.run("document.activeElement.className") == "skip"
        visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/page.html")
        for _ in range(60):
            visit.page.keyboard.press("Tab")
            if visit.run("!!document.activeElement.closest('.rb-view-worst summary')"):
                break
        outline = visit.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        visit.page.keyboard.press("Enter")
        assert visit.run("document.activeElement.parentElement.open") is True
        visit.page.keyboard.press("Tab")
        assert visit.run("document.activeElement.tagName") == "A"
        visit.page.keyboard.press("Enter")
        assert visit.run("location.hash").startswith("#q-")
        target = "document.querySelector(':target')"
        assert visit.run(f"{target}.closest('.rb-all').open") is True
        assert visit.run(f"{target}.querySelector('details').open") is True
        visit.page.go_back()
        visit.page.go_back()
        visit.page.wait_for_url("**/index.html")


@pytest.mark.parametrize("language", ["en", "ru"])
def test_nothing_that_came_with_the_data_runs(browser: Any, tmp_path: Path, language: str) -> None:
    text = " ".join(HOSTILE)
    made = measurement(
        (f"base {text}", f"new {text}"), (f"m {text}", "mrr"), len(HOSTILE), question=text, chunk=text, reason=text,
        identifier=text + "{i}",
        facts={"dataset": text, "stand_ins": [text], "commit": text, "note": {text: text},
               "systems": [{"name": f"base {text}", "description": text}]},
    )  # fmt: skip
    made = replace(made, notebook="page")
    build(tmp_path, made, language, title=f"# {text}\n\n{text}")
    for name in ("page.html", "index.html"):
        with Visit(browser, tmp_path / name) as visit:
            visit.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            visit.page.mouse.move(640, 500)
            visit.assert_quiet(tmp_path)
            assert visit.run("document.querySelectorAll('iframe, object, embed, form, base').length") == 0
            handlers = (
                "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
                ".filter((a) => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)).length"
            )
            assert visit.run(handlers) == 0


def test_the_policy_refuses_what_is_injected(browser: Any, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    injected = "<img src=x onerror=alert(1)><script>alert(2)</script><script src=https://example.org/x.js></script>"
    page = (copy / "page.html").read_text(encoding="utf-8")
    files.write(copy / "page.html", page.replace("</main>", f"{injected}</main>"))
    with Visit(browser, copy / "page.html") as visit:
        fired = visit.run("window.__fired")
        assert "alert" not in fired
        assert len([one for one in fired if one.startswith("csp script-src")]) == 3
        assert visit.run("document.querySelectorAll('.rb-plot .point').length") > 0


def test_the_policy_of_every_page_is_the_same() -> None:
    assert pages.policy("x") == (
        "default-src 'none'; script-src 'self' 'sha256-x'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
    )
