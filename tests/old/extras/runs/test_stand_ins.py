"""The sentence on offline stand-ins goes with what is shown of kept runs, compared and followed over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ragbench.old.report.keeping import kept
from tests.old.core.test_stand_ins import JUDGED, OFFLINE, SAID, SENTENCE, assert_said, command, text
from tests.old.core.test_stand_ins import here as here
from tests.old.core.test_stand_ins import made as made
from tests.old.report import kept_runs


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


def test_replies_that_came_in_a_file_are_said_wherever_kept_runs_are(here: Mapping[str, Any]) -> None:
    """In the terminal, on pages and in JSON; of one run of several, by its name or letter."""
    made = here["pages"]["real"]
    [judge] = made.facts["judges"]
    usage = {**judge["usage"], "imported": 3, "replies": 8}
    forged = replace(made, facts={**made.facts, "judges": [{**judge, "usage": usage}]})
    folder = here["folder"]
    started = kept_runs.STARTED + 3600 * 9
    kept.record(kept_runs.make(folder / "reports", f"{folder.name}-forged", forged, started=started))
    said = "{}: 3 of 8 replies were imported from a file"
    assert said.format("Judge strict") in command(here, "runs", "show", "{}-forged")
    assert "were imported" not in command(here, "runs", "show", "{}-real")
    words = ("history", "-n", "tier3_end_to_end", "-m", "e2e_score", "-s", "real")
    whose = f"Judge strict ({folder.name}-forged)"
    told = command(here, *words, "--json", str(folder / "history.json"))
    assert told.count(said.format(whose)) == told.count("were imported") == 1
    assert said.format(whose) in text((folder / "reports" / "history" / "index.html").read_text("utf-8"))
    assert [each["name"] for each in kept_runs.read_json(folder / "history.json")["answered_by"]] == [whose[6:]]
    words = ("compare", "{}-real", "{}-forged", "--system", "A=real", "--system", "B=real")
    told = command(here, *words)
    assert told.count(said.format("Judge strict (B)")) == told.count("were imported") == 1
    command(here, *words, "--json", str(folder / "difference.json"))
    assert kept_runs.read_json(folder / "difference.json")["answered_by"][0]["imported"] == 3
    [index] = (folder / "reports" / "comparisons").glob("*-real--*-forged/index.html")
    pages = [text(path.read_text("utf-8")) for path in index.parent.glob("*.html")]
    assert sum(said.format("Judge strict (B)") in page for page in pages) > 1, "above all, and on the page itself"
