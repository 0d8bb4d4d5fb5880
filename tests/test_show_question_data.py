"""The data behind the table of questions: nothing lost, nothing raw, short where there is very much."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.report.pages import parts as files
from ragbench.show import Page
from ragbench.show.items.question_data import BLOCK, CHARACTERS, Lengths, parts
from tests.measurements import measurement
from tests.test_pages_browser_questions import judged


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def found(made: Any, language: str = "en") -> dict[str, Any]:
    return dict(parts(Page(made, language=language).material))


def test_every_value_stands_in_its_place() -> None:
    made = measurement(("a", "b"), ("mrr", "hit_rate@1"), 450)
    table = found(made)["table"]
    assert [one["name"] for one in table["metrics"]] == ["mrr", "hit_rate@1"]
    scores = made.scores.set_index(["metric", "system", "sample"])["value"]
    for m, metric in enumerate(("mrr", "hit_rate@1")):
        for s, system in enumerate(("a", "b")):
            assert table["values"][m][s] == [scores[metric, system, f"q{i}"] for i in range(450)]
    assert len([name for name in found(made) if name.startswith("details-")]) == -(-450 // BLOCK)


def test_what_is_not_measured_has_no_value_but_its_status() -> None:
    made = measurement(("a", "b"), ("mrr",), 5)
    scores = made.scores.copy()
    scores.loc[(scores["system"] == "b") & (scores["sample"] == "q3"), ["value", "status"]] = [np.nan, "timeout"]
    table = found(replace(made, scores=scores))["table"]
    assert table["values"][0][1][3] is None
    assert table["missing"] == {"0/1": {"timeout": [3]}}


def test_passages_are_kept_once_and_marked_as_relevant() -> None:
    made = measurement(("a", "b"), ("mrr",), 40)
    all_parts = found(made)
    detail = all_parts["details-0"][12]
    names = [all_parts["texts-0"][place][0] for place, _, _ in detail["hits"][1]]
    assert names == ["c13", "c14", "c15", "c16", "c17"]
    assert [good for _, _, good in detail["hits"][1]] == [0, 0, 1, 0, 0]
    assert [all_parts["texts-0"][place][0] for place in detail["needed"]] == ["c15"]
    assert len(all_parts["texts-0"]) == 40


@pytest.mark.parametrize(("language", "title"), [("en", "Statements and verdicts"), ("ru", "Утверждения и вердикты")])
def test_judgements_come_with_statement_verdict_reason_and_passages(language: str, title: str) -> None:
    all_parts = found(judged(measurement(("a", "b"), ("mrr",), 3)), language)
    first = all_parts["details-0"][0]["judged"][0]
    assert first[:5] == [0, 0, 0, 0.5, "ok"]
    [[named, rows]] = first[6]
    assert named == title
    assert rows[0] == ["The office opens at nine.", "supported", "It says so.", ["c1"]]
    assert all_parts["details-0"][0]["answers"][1] == "b answers: The office opens at nine."


def test_slices_are_what_parts_the_questions() -> None:
    made = measurement(questions=6)
    made = replace(made, questions=made.questions.assign(kind=["one", "two", None] * 2, language="en"))
    [kind] = found(made)["table"]["slices"]
    assert (kind["key"], kind["values"], kind["codes"]) == ("kind", ["one", "two"], [0, 1, -1, 0, 1, -1])


def test_files_hold_letters_only_and_are_the_same_each_time(tmp_path: Path) -> None:
    made = measurement(questions=5, question="</script><script>alert(1)</script>\u202e {i}", notebook="n")
    for name in ("one", "two"):
        files.write(tmp_path / name, Page(made))
    one, two = (sorted((tmp_path / name).rglob("*.js")) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    table = next(path for path in one if path.name == "table.js").read_text(encoding="ascii")
    assert table.startswith('ragbenchData("of-n/table","')
    assert "<" not in table
    texts = unpacked(table.split('"')[3])["texts"]
    assert texts[2] == "</script><script>alert(1)</script> 2"


def test_texts_are_shorter_where_there_are_very_many() -> None:
    assert Lengths.fitting(100, 100, 100) == Lengths()
    many = Lengths.fitting(20_000, 60_000, 60_000)
    assert many.passage == CHARACTERS // 20_000
    assert many.answer == 400
    assert many.statement == 200
