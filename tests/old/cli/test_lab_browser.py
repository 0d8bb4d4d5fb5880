"""The table of questions in a real JupyterLab: filtered, rows chosen, and a data frame of them in the next cell."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.old.report.visits import launched
from tests.old.views.measurements import measurement

pytestmark = [pytest.mark.slow, pytest.mark.browser]
TOKEN = "a-token-of-this-test"
ROOT = Path(__file__).parents[3]
CELLS = (
    "from pathlib import Path\nfrom ragbench.old import views\nfrom ragbench.old.core.measurement import Measurement\n"
    "page = views.Page(Measurement.load(Path('kept')), language='ru')\nfound = page.questions()\nfound",
    "print('chosen', *found.selected.index, 'shown', len(found.filtered))",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from launched()


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a JupyterLab in the dark over a notebook of CELLS."""
    measurement(("base", "new"), questions=300).save(tmp_path / "kept")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "try.ipynb")
    own = tmp_path / "own"
    themes = own / "settings" / "@jupyterlab" / "apputils-extension"
    themes.mkdir(parents=True)
    (themes / "themes.jupyterlab-settings").write_text(json.dumps({"theme": "JupyterLab Dark"}))
    folders = {
        "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "spaces", "IPYTHONDIR": "ipython",
        "JUPYTER_RUNTIME_DIR": "runtime",
    }  # fmt: skip
    where = {name: str(own / folder) for name, folder in folders.items()}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}"),
        *(f"--ServerApp.root_dir={tmp_path}", f"--IdentityProvider.token={TOKEN}"),
    ]
    quiet = {"JUPYTER_CONFIG_PATH": str(ROOT / "ragbench" / "old" / "cli" / "jupyter"), "PYTHONPATH": str(ROOT)}
    with (own / "log").open("w") as log:
        server = subprocess.Popen(words, env={**os.environ, **where, **quiet}, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}/lab/tree/try.ipynb?token={TOKEN}&reset"
    finally:
        server.terminate()
        server.wait(30)


def opened(browser: Any, address: str) -> Any:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(120_000)
    end = time.monotonic() + 60
    while True:
        try:
            page.goto(address)
            break
        except Exception:  # the server is not up yet
            assert time.monotonic() < end, "JupyterLab never answered"
            page.wait_for_timeout(300)
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    page.wait_for_selector("[title*='Python 3'], [data-status=idle]")
    return page


def test_rows_that_are_chosen_are_a_data_frame_in_the_next_cell(browser: Any, lab: str) -> None:
    page = opened(browser, lab)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".rb-table.rb-ready .rb-line")
    status = page.locator(".rb-table [role=status]")
    assert re.sub(r"\s", " ", status.inner_text()) == "вопросы: 300 из 300"
    page.locator(".rb-table input[type=search]").fill("q29")
    page.wait_for_function("document.querySelector('.rb-table [role=status]').textContent.includes(': 11 ')")
    page.locator(".rb-line .rb-choose").nth(0).click()
    page.locator(".rb-line .rb-choose").nth(2).click(modifiers=["Shift"])
    for key in ("ArrowDown", "Space"):
        page.keyboard.press(key)
    assert "выбрано: 4" in status.inner_text()
    before = page.url
    page.locator(".rb-line .rb-clamp").nth(1).click()
    page.wait_for_selector(".rb-detail:not([hidden])")
    assert "Where does question 290 find" in page.locator(".rb-detail h3").inner_text()
    assert page.url == before, "JupyterLab's address is its own"
    paper = "getComputedStyle(document.querySelector('.rb-table input')).backgroundColor"
    assert max(map(int, re.findall(r"\d+", page.evaluate(paper))[:3])) < 60, "dark as the theme"
    page.wait_for_timeout(500)
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(1).click()
    page.keyboard.press("Shift+Enter")
    said = page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output")
    said.wait_for()
    assert said.inner_text().strip() == "chosen q29 q290 q291 q292 shown 11"
    assert faults == []
