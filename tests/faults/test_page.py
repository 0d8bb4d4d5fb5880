"""The page of faults says what the tests try: made from their markers, complete, and in their words."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.docs import chapters
from tests.faults import page as faults


@pytest.mark.law
def test_the_page_is_what_the_markers_say() -> None:
    assert chapters.read(faults.PAGE) == faults.made(faults.trials()), "`make reference` writes them anew"


@pytest.mark.law
def test_every_row_has_a_line_and_every_trial_is_counted() -> None:
    known = faults.trials()
    index, *pages = faults.made(known).values()
    for lines in (
        index.split("|---|---:|---|\n")[1].split("\n\n")[0].splitlines(),
        [line for page in pages for line in page.split("|---|---|---|---:|---|\n")[1].splitlines()],
    ):
        assert len(lines) == len(faults.ROWS)
        assert sum(int(line.split(" | ")[-2]) for line in lines) == sum(one.count for one in known) > 500


def test_a_row_without_a_test_is_seen() -> None:
    page = "".join(faults.made([faults.Trial("kill", "kills | of a run", 50, "test_a.py:1")]).values())
    assert page.count("*not tried*") == 1 + len(faults.ROWS) - 1
    assert r"| kills \| of a run (50) | 50 | `python -m pytest --fault kill` |" in page


def test_markers_are_found_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "test_some.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.fault('disk', tried='everything', count=1)\n"
        "@pytest.mark.fault('kill', tried='a class', count=2)\n"
        "class TestIt:\n"
        "    @pytest.mark.fault('kill', tried='a method', count=3)\n"
        "    @pytest.mark.fault('paths', tried='twice', count=4)\n"
        "    @pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.fault('sql', tried='one', count=5))])\n"
        "    async def test_a(self, a): ...\n",
        encoding="utf-8",
    )
    assert [(one.row, one.count, one.place) for one in faults.trials(tmp_path)] == [
        (row, number, f"deep/test_some.py:{line}")
        for row, number, line in (("disk", 1, 2), ("kill", 2, 3), ("kill", 3, 5), ("paths", 4, 6), ("sql", 5, 7))
    ]


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        (["kil"], {"tried": "kills", "count": 1}, "no row 'kil' on the page of faults; there are kill, "),
        ([], {"tried": "kills", "count": 1}, r'is fault\(ROW, tried="in a few words", count=N\)'),
        (["kill"], {"count": 1}, r"is fault\(ROW"),
        (["kill"], {"tried": "kills"}, r"is fault\(ROW"),
        (["kill"], {"tried": " ", "count": 1}, r"is fault\(ROW"),
        (["kill"], {"tried": "kills", "count": 0}, r"is fault\(ROW"),
        (["kill"], {"tried": "kills", "count": "1"}, r"is fault\(ROW"),
        (["kill"], {"tried": "kills", "count": 1, "more": 1}, r"is fault\(ROW"),
    ],
)
def test_a_marker_that_no_row_can_be_made_of_is_refused(
    given: Sequence[object], named: Mapping[str, object], said: str
) -> None:
    with pytest.raises(faults.MarkerError, match=rf"^test_a\.py:7: .*{said}"):
        faults.checked(given, named, "test_a.py:7")


def test_pytest_refuses_an_unknown_row_and_picks_the_tests_of_one(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_addoption, pytest_collection_modifyitems  # noqa: F401\n", encoding="utf-8"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = fault(row, tried, count): one\n", encoding="utf-8")
    some = tmp_path / "test_some.py"
    some.write_text(
        "import pytest\n"
        "@pytest.mark.fault('kill', tried='kills', count=1)\n"
        "def test_killed(): ...\n"
        "def test_other(): ...\n",
        encoding="utf-8",
    )

    def asked(*options: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--co", str(some), *options],
            capture_output=True, text=True, cwd=faults.TESTS.parent, check=False,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )  # fmt: skip
        return done.stdout + done.stderr

    picked = asked("--fault", "kill")
    assert "test_killed" in picked
    assert "test_other" not in picked
    assert "--fault kil: there is no such row; there are kill, " in asked("--fault", "kil")
    some.write_text(some.read_text(encoding="utf-8").replace("'kill'", "'kil'"), encoding="utf-8")
    assert "no row 'kil' on the page of faults" in asked()


def test_what_was_counted_and_failed_was_left_out_or_never_ran_is_not_tried(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_addoption, pytest_collection_modifyitems  # noqa: F401\n", encoding="utf-8"
    )
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers =\n  fault(row, tried, count): one\n  slow: late\n", encoding="utf-8"
    )
    (tmp_path / "test_some.py").write_text(
        "import pytest\n"
        "fault = pytest.mark.fault\n"
        "@pytest.mark.fault('kill', tried='that hold', count=200)\n"
        "@pytest.mark.slow\n"
        "def test_holds(): ...\n"
        "@pytest.mark.fault('kill', tried='of which one fails', count=2)\n"
        "@pytest.mark.parametrize('right', [True, False])\n"
        "def test_one_of_two(right): assert right\n"
        "@pytest.mark.fault('disk', tried='that fail at import', count=7)\n"
        "def test_import(): import no_such_module\n"
        "@pytest.mark.fault('disk', tried='without a browser', count=3)\n"
        "@pytest.mark.skipif(True, reason='no browser')\n"
        "def test_left_out(): ...\n"
        "@pytest.mark.fault('disk', tried='whose fixture fails', count=4)\n"
        "def test_unmade(no_such_fixture): ...\n"
        "class Nobody:\n"
        "    @pytest.mark.fault('disk', tried='that nobody collects', count=5)\n"
        "    def test_unseen(self): ...\n"
        "def test_of_no_row(): assert False\n",
        encoding="utf-8",
    )
    results = tmp_path / "results.xml"
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--fault", "every", f"--junitxml={results}",
         str(tmp_path / "test_some.py")],
        capture_output=True, cwd=faults.TESTS.parent, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    known = [one._replace(place=os.path.relpath(tmp_path / one.place, faults.TESTS)) for one in faults.trials(tmp_path)]
    assert len(faults.untried(known, tmp_path / "none.xml")) == len(known), "no results: nothing was tried"
    missed = [line.split(": ", 2)[2] for line in faults.untried(known, results).values()]
    assert [line.split(", ..")[0] for line in missed] == [
        "of which one fails (2)", "that fail at import (7)", "without a browser (3)", "whose fixture fails (4)",
        "that nobody collects (5)",
    ]  # fmt: skip
    assert [line.split(": ", 1)[1].split(":")[0] for line in missed] == [
        "failure", "failure", "skipped", "error", "none of its tests ran"
    ]  # fmt: skip
    assert "no_such_module" in missed[1]
    assert "no browser" in missed[2]
