"""Pages behind a server that allows nothing but its own files: every kind of page works, and nothing is refused."""

from __future__ import annotations

import base64
import datetime
import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench.old.extras.publishing import publish
from tests.old import small_project
from tests.old.extras.publishing.test_browser import kept_twice
from tests.old.report.test_pages_browser_questions import judged
from tests.old.report.visits import DRAWN, WATCH, draw, keep_page
from tests.old.views.measurements import measurement

comparison_pages = pytest.importorskip("ragbench.old.extras.runs.comparison_pages")
compare_runs = pytest.importorskip("ragbench.old.extras.runs.compared").compare_runs
runs_over_time = pytest.importorskip("ragbench.old.extras.runs.history")

pytestmark = pytest.mark.browser
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MOST = 1_500_000
"""Bytes of a page as one file."""


class Strict(http.server.SimpleHTTPRequestHandler):
    """Serves a folder as a careful host does."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", "default-src 'self'")
        super().end_headers()

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *args: Any) -> None:
        """Nothing is told."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published run of two tiers, one with a picture of its own, in two languages; a comparison; a history."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        small_project.enter(folder, patch)
        run = folder / "reports" / "one"
        first = measurement(("ivfflat", "hnsw"), ("mrr", "ndcg@10"), 30, notebook="tier1_retrieval")
        third = judged(measurement(("ivfflat", "hnsw"), ("mrr", "faithfulness"), 30, notebook="tier3_end_to_end"))
        described = [
            keep_page(run, made, made.notebook, "en", f"# {made.notebook} · Does it?") for made in (first, third)
        ]
        path = run / "tier1_retrieval.ipynb"
        notebook = nbformat.read(path, as_version=4)
        picture = nbformat.v4.new_output("display_data", {"image/png": PIXEL})
        notebook.cells.append(nbformat.v4.new_code_cell("picture", id="picture", outputs=[picture]))
        nbformat.write(notebook, path)
        draw(run, described)
        publish.publish("one", folder / "site")
        before, after = kept_twice(folder, "ivfflat", "hnsw")
        comparison_pages.write(compare_runs(before, after), folder / "site" / "difference", "en")
        days = [
            replace(one, started=datetime.datetime(2026, 1, day, tzinfo=datetime.UTC))
            for day, one in ((1, before), (2, after))
        ]
        runs_over_time.write(runs_over_time.history(days, metrics=["mrr"]), folder / "site" / "history", "ru")
    return folder / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Strict, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_nothing_is_refused_where_a_server_allows_only_its_own(browser: Any, site: Path, address: str) -> None:
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if "single" not in path.parts]
    assert {
        "index.html",
        "tier1_retrieval.html",
        "metrics/mrr.html",
        "difference/index.html",
        "history/index.html",
    } <= {*pages}
    charts = tables = pictures = 0
    for name in pages:
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.add_init_script(WATCH)
        page.goto(f"{address}/{name}")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for chart in page.locator(".rb-plot").all():
            chart.locator(".rb-chart").wait_for()
            assert chart.locator(".point, .line").count() > 0, name
            charts += 1
        assert page.evaluate(DRAWN), name
        if page.locator(".rb-table").count():
            page.locator(".rb-table").first.scroll_into_view_if_needed()
            page.locator(".rb-line").first.click()
            page.locator(".rb-detail h3").first.wait_for()
            with page.expect_download():
                page.locator(".rb-export").first.click()
            tables += 1
        pictures += page.evaluate("[...document.images].filter((one) => one.complete && one.naturalWidth).length")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert (said, page.evaluate("window.__fired")) == ([], []), name
        assert (
            page.evaluate("document.querySelectorAll('[style*=\"--share\"], script:not([src]):not([type])').length")
            == 0
        )
        page.close()
    assert charts >= 4
    assert tables >= 2
    assert pictures == 1


def test_a_page_as_one_file_is_small_and_holds_its_picture(site: Path) -> None:
    single = {path.name: path.stat().st_size for path in (site / "single").glob("*.html")}
    assert {"index.html", "tier1_retrieval.html", "tier3_end_to_end.html"} <= single.keys()
    assert max(single.values()) < MOST, single
    assert not list(site.rglob("plotly*")), "only figures of a notebook's own need it"
    assert len(list((site / "pictures").iterdir())) == 1
    alone = (site / "single" / "tier1_retrieval.html").read_text(encoding="utf-8")
    assert f"data:image/png;base64,{base64.b64encode(base64.b64decode(PIXEL)).decode()}" in alone
    assert "unsafe-inline" not in alone
