"""Pages of real runs of 1, 2, 5 and 12 systems: nothing stands over anything else, and two systems are soon read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.old.report.visits import DRAWN, Visit
from tests.old.small_project import NOTEBOOKS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LONGEST = 4500
"""Pixels at a width of 1280: five screens. With the sample data pages come to 4,100 or less; the slack is for fonts of
other machines, which wrap elsewhere."""
ENDING = "-of-the-team-for-search-and-its-quality"
SYSTEMS = ("bm25", "dense", "both", *(f"weighed{n}" for n in range(1, 10)))
WIDTHS = {1: 1600, 2: 1280, 5: 390, 12: 1280}
OF_SYSTEMS = ("tier1_retrieval", "tier2_generation", "tier3_end_to_end", "real_users", "sources")
"""Notebooks whose pages hold more, the more systems there are; the others are run with two alone."""
LANGUAGES = {1: "ru", 2: "en", 5: "ru", 12: "en"}


def project(folder: Path, count: int) -> Path:
    """The sample data with so many systems without a model; of twelve every name has 40 signs."""
    tables = [
        f'dataset = "campus"\ndata_folder = "{NOTEBOOKS.parent / "data"}"\nnotebooks_folder = "{NOTEBOOKS}"',
        '[embedders.hash]\nkind = "hashing"',
        '[retrievers.dense]\nkind = "dense"\nembedder = "hash"',
        '[retrievers.both]\nkind = "hybrid"\nretrievers = ["bm25", "dense"]',
    ]
    for n in range(1, 10):
        kind = 'kind = "hybrid"\nretrievers = ["bm25", "dense"]\nfusion = "weighted"'
        tables.append(f"[retrievers.weighed{n}]\n{kind}\nweights = [0.{n}, 0.{10 - n}]")
    names = [f"{name}{ENDING}"[:40] if count == max(WIDTHS) else name for name in SYSTEMS[:count]]
    tables[0] += f'\nbaseline = "{names[0]}"'
    tables += [f'[systems."{name}"]\nretriever = "{own}"' for name, own in zip(names, SYSTEMS[:count], strict=True)]
    path = folder / "ragbench.toml"
    path.write_text("\n".join(tables) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=sorted(WIDTHS))
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database_folder: Path
) -> tuple[int, Path]:
    """How many systems, and the folder of the pages: of all notebooks where there are two."""
    count = request.param
    folder = tmp_path_factory.mktemp(f"systems{count}")
    project(folder, count)
    names = () if count == 2 else OF_SYSTEMS
    command = [sys.executable, "-m", "ragbench", "run", *names, "--trust"]
    command += ["-l", LANGUAGES[count], "-o", str(folder / "out")]
    own = {"PYTHONPATH": str(NOTEBOOKS.parent), "RAGBENCH_CONFIG": str(folder / "ragbench.toml")}
    own["RAGBENCH_DATABASE__FOLDER"] = str(database_folder)
    made = subprocess.run(command, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return count, (folder / "out" / "latest").resolve()


def test_nothing_stands_over_anything_else_on_any_page_and_two_systems_are_soon_read(
    browser: Any, run: tuple[int, Path]
) -> None:
    """In one test: processes side by side would each make the run anew."""
    count, folder = run
    for place, path in enumerate(sorted(folder.glob("*.html"))):
        with Visit(browser, path, WIDTHS[count], ("light", "dark")[place % 2]) as visit:
            visit.see_all()
            visit.until(DRAWN)
            visit.assert_whole()
    long = {}
    for path in folder.glob("*.html") if count == 2 else ():
        with Visit(browser, path) as visit:
            if visit.page.locator(".rb-table").count():
                visit.page.locator(".rb-table").first.scroll_into_view_if_needed()
                visit.page.wait_for_selector(".rb-table.rb-ready")
            if (height := visit.run("document.documentElement.scrollHeight")) > LONGEST:
                long[path.stem] = height
            over = "(e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1"
            assert visit.run(f"[...document.querySelectorAll('.rb-scroll')].some({over})") is False, path.stem
    assert not long
