"""Decisions, answers on trial, turns and passages as rows of the table: every number followed to what it is made of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.bench.judge_pipeline import DECISIONS
from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement, NamedEstimate
from ragbench.show import Page
from ragbench.show.item_data import BLOCK
from ragbench.show.question_data import parts
from ragbench.types import Estimate
from tests.test_show import HOSTILE

HOSTILE_TEXT = " ".join(HOSTILE)


def bare(notebook: str, estimates: dict[str, tuple[str, ...]], facts: dict[str, Any], **extra: Any) -> Measurement:
    """A measurement of nothing but the estimates and tables that are given."""
    return Measurement(
        notebook=notebook,
        facts={"baseline": None, "systems": [{"name": name} for name in estimates], **facts},
        scores=pd.DataFrame(columns=list(SCORE_COLUMNS)),
        questions=extra.pop("questions", pd.DataFrame(columns=list(QUESTION_COLUMNS))),
        retrieved=extra.pop("retrieved", pd.DataFrame(columns=list(RETRIEVED_COLUMNS))),
        estimates=tuple(
            NamedEstimate(name, metric, Estimate(0.5, 0.4, 0.6, 0.95, "bca", 4))
            for name, metrics in estimates.items()
            for metric in metrics
        ),
        extra=extra,
    )


def found(made: Measurement, language: str = "en") -> dict[str, Any]:
    return json.loads(json.dumps(dict(parts(Page(made, language=language).material)), allow_nan=False))


def column(table: dict[str, Any], key: str, system: str) -> list[Any]:
    """The values of one measure for a system, in words where it has words."""
    place = next(i for i, one in enumerate(table["metrics"]) if key in one["of"])
    values, words = table["values"][place][table["systems"].index(system)], table["metrics"][place].get("words")
    return [None if value is None else words[int(value)] for value in values] if words else values


def lines(sections: list[Any]) -> dict[str, Any]:
    return dict(sections)


def decided(text: str = "") -> Measurement:
    cells = {"careful": ["true_positive", "true_negative", "false_negative", "failed_negative"],
             "show-all": ["true_positive", "false_positive", "true_positive", "false_positive"]}  # fmt: skip
    scores = {"careful": [0.9, 0.1, 0.25, None], "show-all": [None] * 4}
    rows = [
        (name, f"d{place}{text}", f"Question {place}? {text}", f"Answer {place}. {text}", ["Passage."], place % 2 == 0,
         f"Because {place}. {text}", None if "failed" in cell else cell.endswith("positive"), score, cell, "ok",
         f"{name} says so. {text}", 10.0 + place)
        for name in cells
        for place, (cell, score) in enumerate(zip(cells[name], scores[name], strict=True))
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(DECISIONS)).astype({"label": bool, "decision": "boolean", "score": float})
    measures = dict.fromkeys(cells, ("accuracy", "f1_score"))
    return bare("tier_judge_pipeline", measures, {"describes_decisions": True, "baseline": "show-all"}, decisions=table)


def test_every_decision_stands_with_its_label_and_what_it_came_to() -> None:
    made = found(decided())
    table = made["table"]
    assert table["systems"] == ["show-all", "careful"]
    assert table["ids"] == ["d0", "d1", "d2", "d3"]
    assert column(table, "accuracy", "careful") == ["right", "right", "wrong", "wrong"]
    assert column(table, "f1_score", "show-all") == ["right", "wrong", "right", "wrong"]
    outcomes = ["shown rightly", "held back rightly", "held back wrongly", "not decided, should not be shown"]
    assert column(table, "outcome", "careful") == outcomes
    assert column(table, "distance", "careful") == [0.1, 0.1, 0.75, None]
    assert column(table, "avg_latency_ms", "careful") == [10.0, 11.0, 12.0, 13.0]
    [label] = table["slices"]
    assert (label["keys"], label["codes"]) == (["show", "hide"], [0, 1, 0, 1])
    detail = made["details-0"][2]
    assert detail["text"] == "Question 2?"
    assert lines(detail["sections"])["Answer"] == "Answer 2."
    assert lines(detail["sections"])["Why people decided so"] == "Because 2."
    [[shared]] = lines(detail["sections"])["Passages"]
    assert made["texts-0"][shared] == ["", "Passage."]
    assert lines(detail["sides"][1]) == {
        "decision": "held back wrongly · score 0.250", "What the judge says": "careful says so."
    }  # fmt: skip


def test_cells_of_the_matrix_lead_to_their_decisions() -> None:
    page = Page(decided())
    html = page.confusion().html(frozenset({"questions"}))
    words = found(decided())["table"]["metrics"][1]["words"]
    for word in ("shown rightly", "held back wrongly", "held back rightly"):
        assert f"#questions?metric=outcome&amp;system=careful&amp;outcome=%3D{words.index(word)}" in html
    assert f"system=careful&amp;outcome=%3D{words.index('shown wrongly')}" not in html, "a count of 0 leads nowhere"
    assert "#questions" not in page.confusion().html()


def test_a_page_without_items_has_no_table() -> None:
    made = decided()
    empty = replace(made, extra={"decisions": made.extra["decisions"].iloc[:0]}, estimates=())
    assert not Page(empty).questions().html(frozenset({"questions"})).striptags().strip()


HOSTILE_PAGES = [decided]


@pytest.mark.parametrize("make", HOSTILE_PAGES)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_hostile_texts_stay_texts(make: Any, language: str) -> None:
    made = make(HOSTILE_TEXT)
    page = Page(made, language=language)
    for present in (frozenset({"questions"}), frozenset[str]()):
        html = page.questions().html(present)
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "\u202e" not in html
    table = found(made, language)["table"]
    assert all("\u202e" not in text and "\x1b" not in text for text in table["texts"])
    assert set(table["anchors"].values()) == set(range(len(table["ids"])))


@pytest.mark.parametrize("make", HOSTILE_PAGES)
def test_the_same_measurement_gives_the_same_parts(make: Any, tmp_path: Any) -> None:
    made = make()
    made.save(tmp_path / "kept")
    assert json.dumps(found(made), sort_keys=True) == json.dumps(
        found(Measurement.load(tmp_path / "kept")), sort_keys=True
    )


@pytest.mark.parametrize("make", HOSTILE_PAGES)
def test_in_a_notebook_items_are_a_folded_list(make: Any) -> None:
    page = Page(make())
    number = len(found(make())["table"]["ids"])
    assert page.questions().html().count("<li id=") == number
    assert page.questions(limit=1).html().count("<li id=") == 1
    assert "more" in page.questions(limit=1).html()


def test_details_come_in_blocks() -> None:
    made = decided()
    table = made.extra["decisions"]
    many = pd.concat([table.assign(sample=table["sample"] + f"-{i}") for i in range(100)], ignore_index=True)
    names = found(replace(made, extra={"decisions": many}))
    assert len([name for name in names if name.startswith("details-")]) == -(-400 // BLOCK)
    assert all(len(names[f"details-{i}"]) == BLOCK for i in range(400 // BLOCK))
    assert np.size(names["table"]["values"]) == len(names["table"]["metrics"]) * 2 * 400
