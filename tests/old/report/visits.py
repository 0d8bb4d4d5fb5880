"""Pages opened in a real browser, with everything that they say, ask for and run."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench.old import report
from ragbench.old.core.measurement import Measurement
from ragbench.old.report.keeping import results
from ragbench.old.tiers.run.overview import keep
from ragbench.old.views import Page

CHROMIUM = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
VIEWS = ("answer", "intervals", "table", "worst", "questions", "method", "provenance")
WATCH = """
window.__fired = [];
for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => window.__fired.push(name);
addEventListener("securitypolicyviolation", (e) => window.__fired.push(`csp ${e.violatedDirective} ${e.blockedURI}`));
"""
HANDLERS = (
    "[...document.querySelectorAll('*')].flatMap((e) => [...e.attributes])"
    ".filter((a) => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)).length"
)
DRAWN = (
    "[...document.querySelectorAll('.rb-plot')]"
    ".every((e) => !e.checkVisibility() || e.querySelector('.rb-chart') "
    "|| !e.querySelector('script[type=\"application/json\"]'))"
)
"""Every chart is drawn, or says in words that it cannot be."""
REST = "new Promise((resolve) => requestIdleCallback(() => setTimeout(() => requestIdleCallback(resolve), 50)))"
"""It has nothing left to do, and still has not a moment later: half a second without requests is what others wait."""
CUT = (
    "[...document.querySelectorAll('p, li, dd, h1, h2, h3, td, th, summary, label, button, select')]"
    ".filter((e) => !e.closest('.rb-scroll, pre, .skip') && e.getBoundingClientRect().width > 1)"
    ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
)


APART = """(() => {
  const seen = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, own = node.parentElement;
    if (!node.data.trim() || !own.checkVisibility()) continue;
    if (own.closest("script, style, .rb-hidden, .rb-sticky, thead, title, .rb-over-runs")) continue;
    if (own.closest("[transform*=rotate]")) continue;  // its box is wider than what is written
    const clips = [".rb-clamp", "[role=grid]", ".rb-scroll", "pre"].map((one) => own.closest(one)).filter(Boolean)
      .map((one) => one.getBoundingClientRect());
    const hidden = ({ left, top, bottom }) =>
      clips.some((one) => bottom > one.bottom || top < one.top || left > one.right);
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const { left, right, top, bottom } of range.getClientRects())
      if (right - left > 1 && !hidden({ left, top, bottom }))
        seen.push({ left, right, top, bottom, node, text: node.data.trim() });
  }
  const least = 2, found = [];
  seen.sort((one, other) => one.top - other.top);
  seen.forEach((one, place) => {
    for (let next = place + 1; next < seen.length && seen[next].top < one.bottom - least; next += 1) {
      const other = seen[next];
      if (other.node === one.node) continue;  // a line that ends in an ellipsis is told twice
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - other.top;
      if (across > least && down > Math.min(one.bottom - one.top, other.bottom - other.top) * 0.4)
        found.push(`${one.text} | ${other.text}`);
    }
  });
  return found;
})()"""
"""Texts that are printed over each other, two and two."""


def launched() -> Iterator[Any]:
    """A browser, closed afterwards; the test is skipped, with the reason, where there is none."""
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

    def __init__(
        self, browser: Any, path: Path, width: int = 1280, scheme: str = "light", hash_: str = "", *, drawn: bool = True
    ) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.add_init_script(WATCH)
        self.page.on("console", lambda m: self.said.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.said.append(f"error: {e}"))
        self.page.on("dialog", lambda d: (self.said.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.goto(path.resolve().as_uri() + hash_)
        self.until(DRAWN if drawn else "document.readyState === 'complete'")
        self.run(REST)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def until(self, expression: str, seconds: float = 60.0) -> None:
        """Wait for a true value; Playwright's own way evaluates a text in the page, which the page's policy refuses."""
        end = time.monotonic() + seconds
        while not self.run(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            self.page.wait_for_timeout(20)

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    def see_all(self) -> None:
        """Unfold what is folded, and let the table of questions load."""
        if self.page.locator(".rb-table").count():
            self.page.locator(".rb-table").first.scroll_into_view_if_needed()
            self.page.wait_for_selector(".rb-table.rb-ready")
        self.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")

    def assert_quiet(self, folder: Path) -> None:
        """No message, no dialog, no violation, and no request but for the page's own files."""
        assert self.said == []
        assert self.run("window.__fired") == []
        outside = [url for url in self.asked if not url.startswith((folder.resolve().as_uri(), "data:", "blob:"))]
        assert outside == []

    def assert_whole(self) -> None:
        """Nothing is cut off on the right or printed over something else, and the page does not scroll sideways."""
        root = "document.documentElement"
        assert self.run(f"{root}.scrollWidth") <= self.run(f"{root}.clientWidth"), "the page scrolls sideways"
        assert self.run(CUT) == []
        found = self.run(APART)
        assert not found, found[:5]

    def faults(self) -> list[str]:
        """All that axe-core finds, of whatever weight: rule, and the elements."""
        spec = find_spec("axe_playwright_python")
        if spec is None or spec.origin is None:
            pytest.skip("axe-playwright-python is not installed")
        self.page.evaluate((Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
        return [f"{one['id']} ({one['impact']}): {node['html'][:300]}" for one in found for node in one["nodes"]]


def keep_page(
    folder: Path, made: Measurement, name: str, language: str, title: str, views: Sequence[str] = VIEWS
) -> dict[str, Any]:
    """What a run keeps of one page, made without a kernel; its entry in the manifest."""
    page = Page(made, language=language)
    made.save(folder / "parts" / name)
    cells = [nbformat.v4.new_markdown_cell(title, id="title")]
    for view in views:
        bundle = page.view(view)._repr_mimebundle_()
        bundle["application/vnd.ragbench.view+json"]["measurement"] = name
        output = nbformat.v4.new_output("display_data", {k: v for k, v in bundle.items() if k != "text/html"})
        cells.append(nbformat.v4.new_code_cell(f"page.{view}()", id=view, outputs=[output]))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return {"name": name, "failure": "", "language": language}


def draw(folder: Path, described: list[dict[str, Any]], language: str = "en") -> Path:
    """Draw a run's pages and its index, with the overview over them."""
    keep(folder)
    results.write_json(folder / results.MANIFEST, {"notebooks": described, "language": language})
    report.render(folder)
    return folder


def build(
    folder: Path, made: Measurement, language: str = "en", title: str = "# Tier 1 · Does it find the passage?"
) -> Path:
    """A run's folder with the page of one measurement, made without a kernel."""
    return draw(folder, [keep_page(folder, made, "page", language, title)], language)
