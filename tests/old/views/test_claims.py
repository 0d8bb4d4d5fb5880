"""Judged claims in the answer and in the passage that decides them; what is unjudged, and where judges disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.measurement import Measurement
from ragbench.old.views import Page
from ragbench.old.views.items import parts
from ragbench.old.views.items.contents import SHARE, Claim, pieces, placed
from tests.old.views.measurements import measurement
from tests.old.views.test_show import HOSTILE

ANSWER = "🙂 The office opens at 9:00. Dogs may not enter it. Ask at the desk!"
COLUMNS = ["system", "metric", "sample", "judge", "value", "status", "reason", "seconds", "detail"]


def claim(statement: str, kind: str = "rb-better") -> Claim:
    return Claim(statement, "supported", kind, "faithfulness · judge")


def found_in(text: str, *statements: str) -> list[str]:
    places, _ = placed(text, [claim(one) for one in statements])
    return [text[one.start : one.end] for one in places]


def test_a_claim_stands_in_the_sentence_that_has_most_of_its_words() -> None:
    assert found_in(ANSWER, "The office opens at 9:00.") == ["🙂 The office opens at 9:00."]
    # "Dogs", "enter", "office": two of three words are in the second sentence, one is in the first
    assert found_in(ANSWER, "Dogs are not allowed to enter.") == ["Dogs may not enter it."]
    assert found_in("Дневной стационар открыт с девяти.", "С девяти в стационарах.") == [
        "Дневной стационар открыт с девяти."
    ]
    assert found_in("It is so. It was so long ago.", "It is so.") == ["It is so."], (
        "of equals the one with fewest others"
    )


def test_a_claim_below_the_share_stands_nowhere() -> None:
    """Of five content words three are enough, two are not."""
    assert SHARE == 0.6
    text = "Red green blue houses."
    assert found_in(text, "red green blue trees grow") == [text]
    assert found_in(text, "red green tall trees grow") == []
    assert placed("", [claim("red")]) == ([], [claim("red")])
    assert placed("Red.", [claim("")]) == ([], [claim("")]), "a verdict on the passage itself has no words"


def test_a_sentence_with_several_claims_has_the_sign_of_the_worst() -> None:
    both = [
        claim("The office opens."),
        claim("The office opens at 9:00.", "rb-worse"),
        claim("Office opens at 9:00", "x"),
    ]
    [place], left = placed(ANSWER, both)
    assert place.kind == "rb-worse"
    assert [one.sign for one in place.claims] == ["✓", "✕", "○"]
    assert left == []


@given(st.text(alphabet="ab .!?\n🙂é", max_size=60), st.lists(st.text(alphabet="ab ", max_size=8), max_size=4))
def test_pieces_make_the_text_and_no_claim_is_lost(text: str, statements: list[str]) -> None:
    claims = list(dict.fromkeys(map(claim, statements)))
    places, left = placed(text, claims)
    assert "".join(piece for piece, _ in pieces(text, places)) == text
    assert {*left, *(one for place in places for one in place.claims)} == set(claims)
    assert sum(len(place.claims) for place in places) + len(left) == len(claims)


def judged(*lines: tuple[str, str, str, str, float | None, dict[str, Any]], answer: str = ANSWER) -> Measurement:
    """Twelve questions that two systems answer alike; lines: system, metric, sample, judge, value, detail."""
    made = measurement(("a", "b"), ("faithfulness", "context_recall"), 12)
    rows = [(*line[:5], "ok" if line[4] is not None else "judge_error", "", 0.1, json.dumps(line[5])) for line in lines]
    judgements = pd.DataFrame(rows, columns=COLUMNS).astype({"value": float})
    answers = pd.DataFrame(
        [(s, f"q{q}", answer) for s in ("a", "b") for q in range(12)], columns=["system", "sample", "response"]
    )
    return replace(made, extra={"judgements": judgements, "answers": answers})


def statements(*given: tuple[str, str, list[str]]) -> dict[str, Any]:
    return {"statements": [{"statement": s, "verdict": v, "reason": "", "chunks": c} for s, v, c in given]}


def found(made: Measurement, language: str = "en") -> dict[str, Any]:
    return json.loads(json.dumps(dict(parts(Page(made, language=language).material)), allow_nan=False))


def test_claims_are_marked_in_the_answer_and_in_the_passage_that_decides() -> None:
    made = judged(("a", "faithfulness", "q0", "judge", 0.5, {}))
    hit = made.retrieved[(made.retrieved["system"] == "a") & (made.retrieved["sample"] == "q0")].iloc[1]
    chunk, words = str(hit["chunk"]), str(hit["text"])
    detail = statements((words, "supported", [chunk]), ("Dogs enter it.", "contradicted", [chunk]))
    side = dict(found(judged(("a", "faithfulness", "q0", "judge", 0.5, detail)))["details-0"][0]["sides"][0])
    [[start, end, kind, [[sign, sign_kind, said]]]] = side["Answer"]["marks"]
    assert ANSWER[start:end] == "Dogs may not enter it."
    assert (kind, sign, sign_kind) == ("rb-worse", "✕", "rb-worse")
    assert said == "faithfulness · judge: contradicted — Dogs enter it."
    decided = [one for one in side["Retrieved"] if len(one) > 5]
    [[_, meta, _, _, _, marks, left]] = decided
    assert meta.startswith(chunk)
    [[start, end, kind, [[sign, *_]]]] = marks
    assert (words[start:end], kind, sign) == (words, "rb-better", "✓")
    assert [one[2] for one in left] == ["faithfulness · judge: contradicted — Dogs enter it."]


def test_what_a_metric_of_references_judges_is_not_marked_in_the_answer() -> None:
    detail = statements(("Dogs enter it.", "supported", []))
    side = dict(found(judged(("a", "context_recall", "q0", "judge", 1.0, detail)))["details-0"][0]["sides"][0])
    assert side["Answer"] == ANSWER
    other = {"claims": {"reference": detail["statements"], "response": []}}
    side = dict(found(judged(("a", "faithfulness", "q0", "judge", 1.0, other)))["details-0"][0]["sides"][0])
    assert side["Answer"] == ANSWER


def test_a_verdict_on_a_passage_stands_below_it() -> None:
    made = judged()
    chunk = str(made.retrieved[made.retrieved["sample"] == "q0"].iloc[0]["chunk"])
    detail = {"chunks": [{"chunk": chunk, "verdict": "useless", "reason": "off topic"}]}
    side = dict(found(judged(("a", "context_precision", "q0", "judge", 0.0, detail)))["details-0"][0]["sides"][0])
    [[*_, marks, left]] = [one for one in side["Retrieved"] if len(one) > 5]
    assert (marks, left) == ([], [["✕", "rb-worse", "context_precision · judge: useless"]])


def test_hostile_claims_stay_texts() -> None:
    hostile = " ".join(HOSTILE)
    made = judged(("a", "faithfulness", "q0", "judge", 1.0, statements((hostile, hostile, []))), answer=hostile)
    html = Page(made).explain("q0")._repr_html_()
    assert 'class="rb-claim' in html
    for sign in ("<script", "<img", "<svg", "onerror=", "javascript:"):
        plain = Page(judged(answer="plain")).explain("q0")._repr_html_()
        assert html.count(sign) == plain.count(sign) or f"<{sign.strip('<')}" not in html


def test_judges_who_differ_by_more_than_a_quarter_of_the_scale_disagree() -> None:
    lines = [
        *(("a", "faithfulness", "q0", judge, value, {}) for judge, value in (("one", 0.2), ("two", 0.9))),
        *(("a", "faithfulness", "q1", judge, value, {}) for judge, value in (("one", 0.5), ("two", 0.75))),
        *(("a", "faithfulness", "q2", judge, value, {}) for judge, value in (("one", 0.0), ("two", None))),
        *(("b", "faithfulness", "q1", judge, value, {}) for judge, value in (("one", 0.0), ("two", 0.0), ("x", 1.0))),
    ]
    table = found(judged(*lines))["table"]
    place = next(i for i, one in enumerate(table["metrics"]) if one["name"] == "faithfulness")
    assert [one.get("judged", False) for one in table["metrics"]] == [i == place for i in range(2)]
    assert table["apart"] == {
        f"{place}/0": {"0": "one 0.200, two 0.900"}, f"{place}/1": {"1": "one 0.000, two 0.000, x 1.000"}
    }  # fmt: skip
    assert found(judged(*lines), "ru")["table"]["apart"][f"{place}/0"] == {"0": "one 0,200, two 0,900"}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_an_explanation_marks_the_same_claims(language: str) -> None:
    detail = statements(("Dogs enter it.", "contradicted", []), ("Cats are welcome.", "supported", []))
    page = Page(judged(("a", "faithfulness", "q0", "judge", 0.5, detail)), language=language)
    html = page.explain("q0")._repr_html_()
    assert html.count("<mark") == 1
    assert '<mark class="rb-claim rb-worse">Dogs may not enter it.<span class="rb-sign rb-worse" role="img"' in html
    assert ("60% of its words" if language == "en" else "60\N{NO-BREAK SPACE}%") in html
    assert "Dogs may not enter it." in str(page.explain("q0"))


def test_equal_verdicts_on_a_sentence_share_a_sign_that_counts_them() -> None:
    """Three claims of one sentence are supported, one is not: two signs, and every claim is told in one of them."""
    said = ["The office opens.", "The office opens at 9:00.", "Office opens at 9:00"]
    claims = [claim(said[0]), claim(said[1]), claim("The office opens at 9.", "rb-worse"), claim(said[2])]
    [place], _ = placed(ANSWER, claims)
    joined, single = place.signs
    assert (joined.sign, joined.kind) == ("✓\N{NO-BREAK SPACE}×3", "rb-better")
    assert joined.said.splitlines() == [f"faithfulness · judge: supported — {one}" for one in said]
    assert (single.sign, single.kind, single.said) == ("✕", "rb-worse", claims[2].said)
