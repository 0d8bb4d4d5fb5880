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

from ragbench.old.data.samples import samples_of
from ragbench.old.judge import Rule
from ragbench.old.llm import run
from ragbench.old.report.pages import drawing
from ragbench.old.tiers.answers.rag_metrics import Made, measurement_of
from ragbench.old.tiers.scoring import measure
from ragbench.old.tiers.scoring.table_sources import of_samples
from ragbench.old.views import Page
from ragbench.old.views.items import BLOCK, CHARACTERS, LONGEST, SHORTEST, Parts, parts
from ragbench.old.views.items.contents import Detail, Entry, Items
from tests.old.report.test_pages_browser_questions import judged
from tests.old.views.measurements import measurement


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
    ranked = dict(detail["sides"][1])["Retrieved"]
    texts = dict(zip(made.retrieved["chunk"], made.retrieved["text"], strict=True))
    names = ["c13", "c14", "c15", "c16", "c17"]
    assert [all_parts["texts-0"][place] for place, *_ in ranked] == [texts[name] for name in names]
    assert [meta.split(" · ")[0] for _, meta, *_ in ranked] == names
    assert [mark == ["", "relevant", "rb-good"] for _, _, *mark in ranked] == [False, False, True, False, False]
    [[place, where]] = dict(detail["sections"])["It needed"]
    assert all_parts["texts-0"][place] == texts["c15"]
    assert where == "c15 · a: rank 3 · b: rank 3"
    assert len(all_parts["texts-0"]) == len(set(texts.values()))


def test_what_an_entry_leads_to_is_no_text_that_is_searched() -> None:
    """[text, meta, anchor]: a question beside whose similar question lies must not be found by that one's address."""
    near = Detail(sections=[("Near", [Entry("Like it", "0.9", 1)])])
    items = Items("Questions", ("one", "two"), ("First?", "Second?"), (), (), lambda _place: near)
    searched = Parts(items, ("a",)).search()["own"]
    assert searched[0] == "Near\nLike it\n0.9"


@pytest.mark.parametrize(("language", "title"), [("en", "Statements and verdicts"), ("ru", "Утверждения и вердикты")])
def test_judgements_come_with_statement_verdict_reason_and_passages(language: str, title: str) -> None:
    first = found(judged(measurement(("a", "b"), ("mrr",), 3)), language)["details-0"][0]
    name, judgement = first["sides"][0][1]
    assert name == "mrr · judge"
    assert judgement["value"] == {"en": "0.500", "ru": "0,500"}[language]
    [[named, rows]] = judgement["verdicts"]
    assert named == title
    verdict = {"en": "supported", "ru": "подтверждено"}[language]
    assert rows[0] == ["The office opens at nine.", "It says so. · c1", "", verdict, "rb-better"]
    said = f"mrr · judge: {verdict} — The office opens at nine."
    assert first["sides"][1][0][1] == {
        "text": "b answers: The office opens at nine.",
        "marks": [[0, 36, "rb-better", [["✓", "rb-better", said]]]],
    }  # fmt: skip


def test_slices_are_what_parts_the_questions() -> None:
    made = measurement(questions=6)
    made = replace(made, questions=made.questions.assign(kind=["one", "two", None] * 2, language="en"))
    [kind] = found(made)["table"]["slices"]
    assert (kind["key"], kind["values"], kind["codes"]) == ("kind", ["one", "two"], [0, 1, -1, 0, 1, -1])


def test_each_question_shows_its_own_passages_where_every_row_numbers_them_anew() -> None:
    rows = [
        {"id": f"q{n}", "question": "Q?", "answer": "A.", "reference": "A.", "contexts": [f"of {n}", f"also of {n}"]}
        for n in range(3)
    ]
    samples = samples_of(rows)
    scores = run(measure.measure(samples, measure.applicable(samples, ["exact_match"]), measure.Asked(resamples=100)))
    made = found(measurement_of(scores, of_samples(samples, "rows"), Made((), Rule(), ())))
    for place, item in enumerate(made["details-0"]):
        (entries,) = [body for lead, body in item["sides"][0] if lead == "Retrieved"]
        assert [made["texts-0"][entry[0]] for entry in entries] == [f"of {place}", f"also of {place}"]


def test_files_hold_letters_only_and_are_the_same_each_time(tmp_path: Path) -> None:
    made = measurement(questions=5, question="</script><script>alert(1)</script>\u202e {i}", notebook="n")
    for name in ("one", "two"):
        drawing.write_scripts(tmp_path / name, Page(made))
    one, two = (sorted((tmp_path / name).rglob("*.js")) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    table = next(path for path in one if path.name == "table.js").read_text(encoding="ascii")
    assert table.startswith('ragbenchData("of-n/table","')
    assert "<" not in table
    texts = unpacked(table.split('"')[3])["texts"]
    assert texts[2] == "</script><script>alert(1)</script> 2"


@pytest.mark.parametrize(("judgements", "most"), [(3, LONGEST), (4000, CHARACTERS // 4000), (30_000, SHORTEST)])
def test_texts_are_shorter_where_there_are_very_many(judgements: int, most: int) -> None:
    made = judged(measurement(("a", "b"), ("mrr",), 3))
    answers = made.extra["answers"].assign(response="word " * LONGEST)
    many = made.extra["judgements"].sample(judgements, replace=True, random_state=0).assign(system="nobody")
    first = found(replace(made, extra={**made.extra, "answers": answers, "judgements": many}))["details-0"][0]
    assert most - 10 < len(first["sides"][0][0][1]) <= most
