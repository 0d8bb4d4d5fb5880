"""Every locked package has a licence that a program under Apache-2.0 may live with, and the page names them all."""

from __future__ import annotations

import re

import pytest

from tests.release import licences
from tests.release.licences import PAGE, Licensed, packages


@pytest.mark.law
def test_every_licence_is_compatible_with_ours() -> None:
    assert [one for one in packages() if not one.is_compatible] == []


def test_what_runs_is_held_to_more_than_what_only_tests() -> None:
    for licence, runs, fits in (
        ("MIT", True, True), ("GPL-3.0-or-later", True, False), ("GPL-3.0-or-later", False, True),
        ("unknown", False, False), ("MIT AND GPL-2.0-only", True, False), ("MIT OR GPL-2.0-only", True, True),
        ("AGPL-3.0-only", False, False), ("LGPL-3.0-only", True, True), ("Proprietary", True, False),
    ):  # fmt: skip
        assert Licensed("x", "1", licence, runs).is_compatible == fits, licence


@pytest.mark.law
def test_nothing_under_the_gpl_is_needed_to_run() -> None:
    assert not {one.name for one in packages() if one.runs and re.search(r"\b(A?GPL)-", one.licence)}
    assert "numpy" in licences.needed()
    assert "pytest" not in licences.needed()


@pytest.mark.law
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == licences.page(packages()), "run `make licences`"
