"""Pictures of a report, in both languages: every page as Chromium shows it, every figure as it is without a script.

The build makes them of one run on the sample data. Pages embed them from `_build/pictures`; a picture in Russian has
`.ru` before its ending, which is where Sphinx looks for it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import nbformat

from ragbench.old.core.language import LANGUAGES, translator
from ragbench.old.report.pages import notebook_pages
from ragbench.old.tiers.run.overview import NAME as OVERVIEW
from ragbench.old.views.basics.still import drawn
from ragbench.old.views.view import NUMBERS, called

HERE = Path(__file__).parent
PICTURES = HERE / "_build" / "pictures"
PLACE = "<!-- pictures -->"
INDEX = "index"
SIZE = {"width": 1280, "height": 900}
CHROMIUM = os.environ.get("RAGBENCH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SETTLED = (
    "[...document.querySelectorAll('.rb-plot')].every((plot) => !plot.checkVisibility() "
    "|| plot.querySelector('.rb-chart') || !plot.querySelector('script[type=\"application/json\"]'))"
)
BY_STYLE = (*NUMBERS, "blame_bars", "questions")
"""Views that style sheets or a script draw: they are seen in a browser alone."""
UNSEEN = HERE / "report.png"
"""What stands for a page where there is no Chromium to take its picture."""


def make(project: Path) -> None:
    """Run every notebook on the English campus in the folder of a project, and draw what it shows."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    for words in (["run", "-d", "campus:en"], ["render", "latest", "-l", "ru"]):
        command = [sys.executable, "-m", "ragbench", *words]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)  # noqa: S603 - our own command
        if done.returncode:
            raise RuntimeError(f"ragbench {' '.join(words)}:\n{done.stdout}\n{done.stderr}")
    run = (project / "reports" / "latest").resolve()
    for language in LANGUAGES:
        (PICTURES / f"{language}.md").write_text(_drawn(run, language), encoding="utf-8")


def place(app: Any, page: str, source: list[str]) -> None:
    """What Sphinx calls with the source of a page: the pictures stand where the gallery has its comment."""
    listed = PICTURES / f"{app.config.language}.md"
    if app.builder.name == "html" and PLACE in source[0]:
        source[0] = source[0].replace(PLACE, listed.read_text(encoding="utf-8"))


def file(name: str, language: str, ending: str) -> Path:
    """Where the picture of a page (`tier1_retrieval`) or of its view (`tier1_retrieval-curves`) lies."""
    return PICTURES / f"{name}{'' if language == LANGUAGES[0] else f'.{language}'}.{ending}"


def _drawn(run: Path, language: str) -> str:
    """The pictures of one language, and the part of the gallery that shows them."""
    _, measured = translator(language), notebook_pages.Measurements(run)
    site = run if language == LANGUAGES[0] else run / language
    lines: list[str] = []
    with _browser() as seen:
        for path in sorted(run.glob("*.ipynb")):
            notebook, name = nbformat.read(path, as_version=4), path.stem
            address = site / f"{INDEX if name == OVERVIEW else name}.html"
            over, question = notebook_pages.title(notebook, _, name)
            title = f"{over} · {question}" if over else question
            calls = notebook_pages.views(notebook)
            shots = seen(address, name, [view for call in calls if (view := str(call["view"])) in BY_STYLE], language)
            lines += [f"## {title}", "", f"`ragbench run {name}`", ""]
            lines += [_image(title, name, "png"), ""]
            times = Counter[str]()
            for call in calls:
                view, shown = str(call["view"]), notebook_pages.view(call, measured, language)
                times[view] += 1
                own = f"{name}-{view}" + (f"-{times[view]}" if times[view] > 1 else "")
                if view in shots:
                    lines += _entry(view, shots[view] or view, own, "png")
                elif (shown.figure or {}).get("data"):
                    file(own, language, "svg").write_text(drawn(shown.figure), encoding="utf-8")
                    lines += _entry(view, _title(shown.figure) or view, own, "svg")
    return "\n".join(lines)


def _entry(view: str, said: str, name: str, ending: str) -> list[str]:
    """A view by the name that a notebook calls it by, and its picture."""
    return [f"`views.{called(view).removeprefix('views.')}`", "", _image(said, name, ending), ""]


def _image(said: str, name: str, ending: str) -> str:
    words = re.sub(r"([\\\[\]`*_<>])", r"\\\1", " ".join(said.split()))
    return f"![{words}](_build/pictures/{name}.{ending})"


def _title(figure: Any) -> str:
    text = str((figure.get("layout", {}).get("title") or {}).get("text") or "")
    return unescape(re.sub(r"<[^<>]*>", " ", text))


@contextmanager
def _browser() -> Iterator[Callable[[Path, str, list[str], str], dict[str, str]]]:
    """What takes the pictures of a page and of some of its views: the heading of each, "" for the page."""
    if CHROMIUM is None:
        print("There is no Chromium (RAGBENCH_CHROMIUM names one): pages have one picture for all.", file=sys.stderr)
        yield _unseen
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])

        def seen(address: Path, name: str, views: list[str], language: str) -> dict[str, str]:
            page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
            page.goto(address.as_uri())
            while not page.evaluate(SETTLED):
                page.wait_for_timeout(20)
            page.screenshot(path=file(name, language, "png"))
            made = {"": ""}
            for view in views:
                part = page.locator(f".rb-view-{view}").first
                if not part.count() or not part.is_visible():
                    continue
                part.scroll_into_view_if_needed()  # a table of questions is made when it is near
                if part.locator(".rb-table").count():
                    part.locator(".rb-table.rb-ready").first.wait_for()
                part.screenshot(path=file(f"{name}-{view}", language, "png"))
                headings = part.locator("h2, h3").all_inner_texts()
                made[view] = headings[0] if headings else ""
            page.close()
            return made

        yield seen
        browser.close()


def _unseen(address: Path, name: str, views: list[str], language: str) -> dict[str, str]:
    for view in ("", *views):
        shutil.copy(UNSEEN, file(f"{name}-{view}" if view else name, language, "png"))
    return dict.fromkeys(("", *views), "")
