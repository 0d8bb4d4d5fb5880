"""The sentence on offline stand-ins goes with what is shown of kept runs, compared and followed over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.core.test_stand_ins import JUDGED, OFFLINE, SAID, SENTENCE, assert_said, command, text
from tests.core.test_stand_ins import here as here
from tests.core.test_stand_ins import made as made
from tests.report import kept_runs


@pytest.mark.parametrize("name", SAID)
def test_the_caveat_goes_with_the_numbers_of_a_kept_run(name: str, here: Mapping[str, Any]) -> None:
    assert_said(command(here, "runs", "show", f"{{}}-{name}"), name, here)


def test_two_runs_that_are_compared_say_which_of_them_stands_in(here: Mapping[str, Any]) -> None:
    """The judge and the embedder of one run alone have its letter; what both have has none."""
    said = "retrieval of plain (A), plain (B); embedder hashing (A); generator extractive; judge lexical (A)"
    words = ("compare", "{}-offline", "{}-mixed", "--system", "A=plain", "--system", "B=plain")
    assert SENTENCE["en"].format(said) in command(here, *words)
    command(here, *words, "--json", str(here["folder"] / "difference.json"))
    found = kept_runs.read_json(here["folder"] / "difference.json")
    assert found["caveat"] == f"{SENTENCE['en'].format(said)} {JUDGED['en'].replace('strict', 'strict (B)')}"
    folder = here["folder"] / "reports" / "comparisons"
    [index] = folder.glob("*-offline--*-mixed/index.html")
    assert SENTENCE["en"].format(said) in text(index.read_text("utf-8"))
    [table] = index.parent.glob("tables/01-*.tex")
    assert SENTENCE["en"].format(said) in table.read_text("utf-8")
    assert "stand-in" not in command(here, "compare", "{}-real", "{}-mixed", "--system", "A=real", "--system", "B=real")


def test_a_history_says_it_of_the_runs_that_have_it(here: Mapping[str, Any]) -> None:
    words = ("history", "-n", "tier3_end_to_end", "-m", "e2e_score")
    assert SENTENCE["en"].format(OFFLINE) in command(here, *words)
    html = text((here["folder"] / "reports" / "history" / "index.html").read_text("utf-8"))
    assert SENTENCE["en"].format(OFFLINE) in html
    assert f"offline stand-ins: {OFFLINE}" in html
    assert html.count("offline stand-ins: retrieval") == 4, "above, and at each run's value of the offline system"
    assert "stand-in" not in command(here, *words, "-s", "real")
