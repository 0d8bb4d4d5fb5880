"""Labels given in a real JupyterLab: by keys, with a note, taken back, after a reload, by a second person, settled."""

from __future__ import annotations

import csv
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench.old.extras.labelling import items
from tests.old.extras.labelling.test_labelling import measurement
from tests.old.small_project import NOTEBOOKS

pytestmark = [pytest.mark.slow, pytest.mark.browser]

METRIC = "faithfulness"
CELLS = (
    "import ragbench.old as rb\nfrom pathlib import Path\nfrom ragbench.old.core.measurement import Measurement\n"
    "made = Measurement.load(Path('made'))",
    f"rb.label(made, '{METRIC}', 'anna', count=6)",
    f"rb.label(made, '{METRIC}', 'boris', count=6)",
    f"rb.settle(made, '{METRIC}')",
    "answer = 1  # a cell in which keys belong to the notebook",
    f"rb.label(made, '{METRIC}', 'clara', count=6, language='ru')",
)
TOKEN = "of-this-test"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """JupyterLab over a project with a measurement; its address and its folder."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "ragbench.toml").write_text('language = "en"\n', encoding="utf-8")
    measurement(questions=10).save(folder / "made")
    cells = [nbformat.v4.new_code_cell(text, id=f"cell{place}") for place, text in enumerate(CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "labels.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {
        name: str(folder / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
    }
    environment = {**os.environ, **own, "PYTHONPATH": str(NOTEBOOKS.parent), "RAGBENCH_TRUST": "/"}
    environment["RAGBENCH_CONFIG"] = str(folder / "ragbench.toml")
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
        "--LabApp.news_url=None",
    ]  # fmt: skip
    with (
        (folder / "lab.log").open("w") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server,
    ):
        address = f"http://127.0.0.1:{port}"
        end = time.monotonic() + 60
        while not _answers(f"{address}/api?token={TOKEN}"):
            assert time.monotonic() < end, (folder / "lab.log").read_text()
            assert server.poll() is None, (folder / "lab.log").read_text()
            time.sleep(0.2)
        yield f"{address}/lab/tree/labels.ipynb?token={TOKEN}", folder
        server.terminate()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


class Notebook:
    """The notebook in a browser's tab."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 1000}, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.page.goto(address)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")

    def run(self, place: int) -> Any:
        """Run a cell; its panel where it shows one."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").nth(place)
        self.page.get_by_text("| Idle").wait_for()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        cell.locator(".jp-InputPrompt", has_text=re.compile(r"\[[0-9]+\]")).wait_for()
        self.page.get_by_text("| Idle").wait_for()
        if "rb." not in CELLS[place] or place == 0:
            return cell
        panel = cell.locator(".rb-label")
        panel.wait_for()
        return panel

    def cells(self) -> list[str]:
        """The code of every cell, as the notebook holds it."""
        return [str(text) for text in self.page.locator(".jp-Notebook .jp-CodeCell .cm-content").all_inner_texts()]


def until(panel: Any, progress: str) -> None:
    panel.locator(".rb-label-count", has_text=progress).wait_for()


def press(notebook: Notebook, panel: Any, keys: str, done: int, total: int = 6) -> None:
    for key in keys:
        notebook.page.keyboard.press(key)
        done += 1
        until(panel, f"{done} of {total} labelled")


def kept(folder: Path, who: str) -> list[dict[str, str]]:
    with (folder / "labels" / f"tier2_generation-{METRIC}-{who}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_two_people_label_by_keys_and_settle_what_differs(browser: Any, lab: tuple[str, Path]) -> None:
    address, folder = lab
    notebook = Notebook(browser, address)
    keyboard = notebook.page.keyboard
    notebook.run(0)
    panel = notebook.run(1)
    before = notebook.cells()
    panel.locator("strong").click()
    assert panel.evaluate("(one) => one.contains(document.activeElement)")
    assert panel.evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid", "the focus is seen"
    press(notebook, panel, "51", 0)

    keyboard.press("n")
    keyboard.type("dd 3 zu b")
    keyboard.press("Escape")
    press(notebook, panel, "4", 2)
    assert [row["note"] for row in kept(folder, "anna")] == ["", "", "dd 3 zu b"]

    press(notebook, panel, "23", 3)
    keyboard.press("u")
    until(panel, "4 of 6 labelled")
    keyboard.press("Control+z")
    until(panel, "3 of 6 labelled")
    for key in ("d", "d", "a", "x", "0"):  # 0 skips; the others are keys of the notebook
        keyboard.press(key)
    panel.locator(".rb-label-choices button").nth(4).click()
    until(panel, "4 of 6 labelled")
    keyboard.press("ArrowLeft")
    assert notebook.cells() == before, "no key has reached the notebook"
    assert [row["value"] for row in kept(folder, "anna")] == ["1", "0", "0.75", "1"]

    notebook.page.reload()
    notebook.page.wait_for_selector(".jp-Notebook .jp-Cell")
    notebook.run(0)
    panel = notebook.run(1)
    until(panel, "4 of 6 labelled")
    panel.focus()
    press(notebook, panel, "33", 4)
    panel.locator(".rb-label-end", has_text="That was the last one").wait_for()

    second = notebook.run(2)
    until(second, "0 of 6 labelled")
    assert second.locator("button[aria-pressed=true]").count() == 0
    assert second.locator("textarea").input_value() == ""
    second.focus()
    press(notebook, second, "514333"[:6], 0)
    order = [item.id for item in items(measurement(questions=10), METRIC, count=6)]
    assert [row["id"] for row in kept(folder, "boris")] == order
    differing = {
        (one["id"], one["system"])
        for one in kept(folder, "anna")
        for other in kept(folder, "boris")
        if (one["id"], one["system"]) == (other["id"], other["system"]) and one["value"] != other["value"]
    }
    assert len(differing) == 1

    settling = notebook.run(3)
    until(settling, "0 of 1 labelled")
    assert "Krippendorff" in settling.inner_text()
    assert settling.locator(".rb-label-others").inner_text().split("\n")[::2] == ["anna", "boris"]
    settling.focus()
    keyboard.press("n")
    keyboard.type("both of us")
    keyboard.press("Control+Enter")
    press(notebook, settling, "4", 0, 1)
    [row] = kept(folder, "settled")
    assert (row["annotator"], row["value"], row["note"]) == ("settled", "0.75", "both of us")
    assert (row["id"], row["system"]) in differing

    cell = notebook.page.locator(".jp-Notebook .jp-CodeCell").nth(4)
    cell.locator(".cm-content").click()
    keyboard.press("Escape")
    keyboard.press("b")
    notebook.page.wait_for_function(
        f"document.querySelectorAll('.jp-Notebook .jp-CodeCell').length === {len(CELLS) + 1}"
    )
    keyboard.press("d")
    keyboard.press("d")
    notebook.page.wait_for_function(f"document.querySelectorAll('.jp-Notebook .jp-CodeCell').length === {len(CELLS)}")
    notebook.context.close()


def test_touch_dark_and_russian(browser: Any, lab: tuple[str, Path]) -> None:
    address, folder = lab
    theme = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    theme.parent.mkdir(parents=True, exist_ok=True)
    theme.write_text(json.dumps({"theme": "JupyterLab Dark"}), encoding="utf-8")
    notebook = Notebook(browser, address, has_touch=True)
    notebook.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    notebook.run(0)
    panel = notebook.run(5)
    panel.locator(".rb-label-choices button").nth(1).tap()
    until(panel, "размечено 1 из 6")
    panel.locator("button", has_text="назад").tap()
    panel.locator("button", has_text="убрать метку").tap()
    until(panel, "размечено 0 из 6")
    for one in panel.locator("button").all():
        assert one.bounding_box()["height"] >= 44, "a finger hits it"
    light = "(one) => getComputedStyle(one).backgroundColor.match(/[0-9.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
    assert panel.evaluate(light) < 200, "dark as the rest"
    notebook.context.close()
