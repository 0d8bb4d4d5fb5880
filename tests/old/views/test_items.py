"""Decisions, answers on trial, turns and passages as rows of the table: every number followed to what it is made of."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    Measurement,
    NamedEstimate,
    columns,
)
from ragbench.old.core.types import Estimate
from ragbench.old.tiers.answers.caching import CacheRow, NearestRow
from ragbench.old.tiers.answers.tier_ux import SimilarityRow
from ragbench.old.tiers.judges.judge_findings import JudgedRow
from ragbench.old.tiers.judges.probes import EffectRow, TrialRow
from ragbench.old.tiers.judges.tier_judge_pipeline import DecisionRow
from ragbench.old.views import Page
from ragbench.old.views.basics.marks import page_id
from ragbench.old.views.basics.text import anchor
from ragbench.old.views.items import BLOCK, parts
from tests.old.views.test_show import HOSTILE


def page_anchor(url: str) -> str:
    return anchor("q", page_id(url))


HOSTILE_TEXT = " ".join(HOSTILE)
MADE_OF_SOURCES = ("utilization_rate", "total_chunks", "used_chunks", "unused_chunks", "n_topics")


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
    table = pd.DataFrame(rows, columns=columns(DecisionRow)).astype(
        {"label": bool, "decision": "boolean", "score": float}
    )
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
    assert made["texts-0"][shared] == "Passage."
    assert lines(detail["sides"][1]) == {
        "decision": "held back wrongly · score 0.250", "What the judge says": "careful says so."
    }  # fmt: skip


def tried(text: str = "") -> Measurement:
    """Two judges, of whom the second gives no score for one answer; answers, one made answer, one pair."""
    rows = [
        (judge, f"r{place}{text}", f"Question {place}? {text}", f"Answer {place}. {text}", "Reference.", people,
         json.dumps({"ann": people}), score, "ok" if score is not None else "timeout",
         f"{judge} thinks so. {text}", "bot", [])
        for judge, scores in (("strict", (0.0, 0.5)), ("lost", (1.0, None)))
        for place, (people, score) in enumerate(zip((0.75, 0.5), scores, strict=True))
    ]  # fmt: skip
    made = [
        ("strict", "made", f"q1.padded{text}", "padded", "Made?", f"Padded. {text}", None, "Ref.", 0.9, None, None,
         "M."),
        ("strict", "pair", f"q1.pair{text}", "pair", "Made?", "One.", "Two.", "Ref.", None, 1.0, -1.0, ""),
    ]  # fmt: skip
    effects = [
        ("strict", "padding", "made", f"q1.padded{text}", 0.5, 0.9, 0.4, True),
        ("strict", "repeats", "answer", f"r0{text}", 0.0, 0.0, 0.0, False),
        ("strict", "repeats", "answer", f"r1{text}", 0.5, 0.75, 1.0, True),
        ("strict", "scale_order", "answer", f"r1{text}", 0.5, 0.75, 0.25, True),
        ("strict", "place", "pair", f"q1.pair{text}", 1.0, 1.0, 1.0, True),
    ]
    probes = pd.DataFrame([("strict", "padding", -0.05, 0.05, 0.001, 0.002, "found", "")], columns=[
        "judge", "probe", "limit_low", "limit_high", "p", "p_adjusted", "verdict", "why",
    ])  # fmt: skip
    effect = NamedEstimate("strict", "effect", Estimate(0.4, 0.3, 0.5, 0.95, "bca", 1), {"probe": "padding"})
    coverage = pd.DataFrame({"judge": ["strict", "lost"], "outcome": "valid", "count": 2, "asked": 2})
    page = bare(
        "tier_judge", {"strict": ("consistency_score",), "lost": ("consistency_score",)}, {"describes": "judges"},
        answers=pd.DataFrame(rows, columns=columns(JudgedRow)).astype({"people": float, "score": float}),
        trials=pd.DataFrame(made, columns=columns(TrialRow)).astype(dict.fromkeys(("score", "first", "second"), float)),
        effects=pd.DataFrame(effects, columns=columns(EffectRow)), probes=probes, coverage=coverage,
    )  # fmt: skip
    return replace(page, placed=(effect,))


def test_every_judged_answer_stands_with_people_the_judge_and_the_probes() -> None:
    made = found(tried())
    table = made["table"]
    assert table["ids"] == ["answer.r0", "answer.r1", "made.q1.padded", "pair.q1.pair"]
    assert table["metrics"][0]["of"] == ["apart"]
    assert table["metrics"][0]["lower"] is True
    assert column(table, "apart", "strict") == [0.75, 0.0, None, None]
    assert column(table, "apart", "lost") == [0.25, None, None, None]
    assert column(table, "people", "lost") == [0.75, 0.5, None, None]
    assert column(table, "error_rate", "strict") == [0.0, 0.5, 0.9, None]
    assert column(table, "failed", "strict") == [0, 2, 1, 1]
    assert column(table, "failed", "lost") == [None] * 4
    assert column(table, "padding", "strict") == [None, None, "failed it", None]
    assert column(table, "consistency_score", "strict") == ["passed it", "failed it", None, None]
    score = next(place for place, one in enumerate(table["metrics"]) if "score" in one["of"])
    assert table["missing"] == {f"{score}/1": {"timeout": [1]}}
    [what] = table["slices"]
    kinds = ["rated answer", "rated answer", "padded", "pair of answers"]
    assert [what["values"][code] for code in what["codes"]] == kinds
    first, second, padded, pair = made["details-0"]
    assert lines(first["sections"])["people"] == "0.75 of the scale · ann 0.75"
    assert lines(first["sides"][0])["the judge's reason"] == "strict thinks so."
    assert lines(second["sides"][0])["Probes"] == [
        ["asked again: 0.50 → 0.75 · failed it"], ["order of the scale: 0.50 → 0.75 · failed it"]
    ]  # fmt: skip
    assert lines(second["sides"][1])["score, share of the scale"] == "not measured: out of time"
    assert lines(padded["sides"][0])["the judge's reason"] == "M."
    assert lines(pair["sides"][0])["Which is better"] == (
        "in this order: the first answer; in the opposite order: the second answer"
    )


@pytest.mark.parametrize("step", [1, -1])
def test_where_judge_and_people_part_most_comes_first_in_whatever_order_rows_are_kept(step: int) -> None:
    made = tried()
    kept = replace(made, extra={**made.extra, "answers": made.extra["answers"].iloc[::step]})
    html = str(views.judges.disagreements(Page(kept)).html())
    assert html.index("Question 0?") < html.index("Question 1?"), "0.75 apart, and 0.00"
    assert "Question 1?" not in str(views.judges.disagreements(Page(kept), count=1).html())


def talked(text: str = "") -> Measurement:
    """A dialogue of three turns, one question of the data set; a cache that serves two of the four."""
    asked = [
        ("near", kind, f"{name}{text}", f"Asked {name}? {text}", f"Known. {text}", None, ["/a"], "h1",
         f"Cached? {text}", f"Out. {text}", "/b", similarity, serving)
        for kind, name, similarity, serving in (
            ("dialogues", "t.1", 0.9, "wrong"), ("dialogues", "t.2", 0.4, "right"), ("dialogues", "t.3", 0.85, "wrong"),
            ("questions", "q1", 0.95, "doubtful"),
        )
    ]  # fmt: skip
    near = [("near", "t", "question", *pair, value) for pair, value in (((1, 2), 0.3), ((2, 3), 0.1), ((1, 3), 0.7))]
    near.append(("near", "t", "answer", 1, 2, 0.6))
    hits = ("near", "dialogues", 3, 1, 3, 0, 0, 1, 0)
    turns = [("t", turn, f"Turn {turn}? {text}", f"Said {turn}. {text}") for turn in (1, 2, 3)]
    made = bare(
        "tier_ux", {"near": ("cache_hit_rate", "context_preservation")},
        {"describes": "dialogues", "threshold": 0.85, "sessions": "dialogues"},
        nearest=pd.DataFrame(asked, columns=columns(NearestRow)),
        similarities=pd.DataFrame(near, columns=columns(SimilarityRow)),
        turns=pd.DataFrame(turns, columns=["sample", "turn", "question", "answer"]),
        caches=pd.DataFrame([hits], columns=columns(CacheRow)),
    )  # fmt: skip
    rows = [("near", "context_preservation", "t", 0.2, "ok", "", None),
            ("near", "answer_consistency", "t", np.nan, "missing_field", "", None)]  # fmt: skip
    return replace(made, scores=pd.DataFrame(rows, columns=list(SCORE_COLUMNS)))


def test_every_question_stands_with_what_the_cache_would_serve() -> None:
    made = found(talked())
    table = made["table"]
    assert table["ids"] == ["dialogues.t.1", "dialogues.t.2", "dialogues.t.3", "questions.q1", "session.t"]
    served = ["served wrongly", "not served", "not served", "served, doubtful", None]
    assert column(table, "cache_hit_rate", "near") == served, "a cosine at the threshold does not serve"
    assert column(table, "similarity", "near") == [0.9, 0.4, 0.85, 0.95, None]
    assert column(table, "before", "near") == [None, 0.3, 0.1, None, 0.1], "of the dialogue its weakest place"
    assert column(table, "context_preservation", "near") == [None] * 4 + [0.2]
    place = next(i for i, one in enumerate(table["metrics"]) if "answer_consistency" in one["of"])
    assert table["missing"] == {f"{place}/0": {"missing_field": [4]}}
    second = made["details-0"][1]
    assert lines(second["sections"])["Its dialogue"] == [["Turn 1?", "turn 2 of 3", "q-session.t"]]
    assert lines(second["sides"][0])["out of the cache"] == (
        "not served · 0.400 ≤ 0.850 · it would have been: served rightly"
    )
    assert lines(second["sides"][0])["The nearest cached question, and its answer"] == [["Cached?"], ["Out.", "/b"]]


def test_every_dialogue_stands_with_its_turns_and_its_weakest_place() -> None:
    dialogue = found(talked())["details-0"][4]
    turns = lines(dialogue["sections"])["Its turns"]
    assert turns[2] == ["Turn 3?\nSaid 3.", "turn 3 of 3", "q-dialogues.t.3"]
    side = lines(dialogue["sides"][0])
    assert side["context_preservation"] == "0.200"
    assert side["answer_consistency"] == "not measured: a field is missing"
    assert side["Neighbours, the farthest apart first"] == [
        ["turns 2 and 3: questions 0.100, answers —"], ["turns 1 and 2: questions 0.300, answers 0.600"]
    ]  # fmt: skip


def used(text: str = "", *, labelled: bool = True) -> Measurement:
    """Five passages on two pages and on none; q1 needs a1 and b1, q2 needs a1; a1 and a2 say the same."""
    texts = {"a1": "The same  text", "a2": "the SAME text", "b1": "Of b.", "b2": "Idle.", "c1": "Homeless."}
    urls = {"a1": "/a", "a2": "/a", "b1": "/b", "b2": "/b", "c1": None}
    chunks = [(f"{name}{text}", f"{said} {text}", urls[name] and urls[name] + text, "Title", None, 0)
              for name, said in texts.items()]  # fmt: skip
    needed = {"q1": ["a1", "b1"] if labelled else [], "q2": ["a1"] if labelled else [], "q3": []}
    questions = [(name, f"What of {name}? {text}", None, None, "en", None, None,
                  [f"{one}{text}" for one in chunks_]) for name, chunks_ in needed.items()]  # fmt: skip
    hits = {"q1": ["a1", "a2"], "q2": ["c1", "a2"], "q3": ["a2"]}
    retrieved = [("one", name, rank, f"{chunk}{text}", None, 0.5, 0.0, "") for name, chunks_ in hits.items()
                 for rank, chunk in enumerate(chunks_, 1)]  # fmt: skip
    pages = [("one", f"/a{text}", "Title", 2, 3, 1.5, 2)]
    return bare(
        "sources", {"one": MADE_OF_SOURCES}, {"describes": "sources", "n_questions": 3, "k": 2},
        questions=pd.DataFrame(questions, columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(retrieved, columns=list(RETRIEVED_COLUMNS)),
        chunks=pd.DataFrame(chunks, columns=["chunk", "text", "url", "title", "section", "needed"]),
        pages=pd.DataFrame(pages, columns=["system", "page", "title", "chunks", "questions", "excess", "needed"]),
        uses=pd.DataFrame({"system": "one", "chunk": list(texts), "questions": [1, 3, 0, 0, 1]}),
    )  # fmt: skip


def test_every_source_stands_with_who_needs_and_who_finds_it() -> None:
    made = found(used())
    table = made["table"]
    assert table["ids"] == ["passage.a1", "passage.a2", "passage.b1", "passage.b2", "passage.c1", "page./a", "page./b"]
    assert column(table, "utilization_rate", "one") == [
        "needed, missed by some", "retrieved, never needed", "needed, never retrieved", "never retrieved",
        "retrieved, never needed", "found by all who need it", "needed, never retrieved",
    ]  # fmt: skip
    assert column(table, "missed", "one") == [1, None, 1, None, None, 0, 1]
    assert column(table, "retrieved", "one") == [1, 3, 0, 0, 1, 3, 0]
    assert column(table, "needed", "one") == [2, 0, 1, 0, 0, 2, 1]
    assert column(table, "excess", "one") == [None] * 5 + [1.5, None]
    copies = table["slices"][1]
    assert [copies["keys"][code] if code >= 0 else None for code in copies["codes"]][:3] == ["yes", "yes", "no"]
    first = made["details-0"][0]
    assert lines(first["sections"])["The same text stands in"] == [["/a", "a2", "q-passage.a2"]]
    assert lines(first["sections"])["Its page"][0][2] in table["anchors"], "an address is no simple name"
    side = lines(first["sides"][0])
    texts = made["texts-0"]
    [[missing, meta]] = side["1 question needs it and misses it"]
    assert (texts[missing], meta) == ("What of q2?", "q2 · needs it")
    [[finding, meta]] = side["1 question retrieves it"]
    assert (texts[finding], meta) == ("What of q1?", "q1 · rank 1 · needs it")
    page = made["details-0"][5]
    assert [one[1:] for one in lines(page["sections"])["Its 2 passages"]] == [
        ["a1", "q-passage.a1"], ["a2", "q-passage.a2"]
    ]  # fmt: skip


def test_without_labels_a_source_is_only_retrieved_or_not() -> None:
    finding = column(found(used(labelled=False))["table"], "finding", "one")
    assert finding == ["retrieved", "retrieved", "never retrieved", "never retrieved", "retrieved", "retrieved",
                       "never retrieved"]  # fmt: skip


CELL = "#questions?metric=outcome&amp;system=careful&amp;outcome=%3D"
HITS = "#questions?system=near&amp;slice=what%3Adialogues&amp;metric=serving&amp;outcome=%3D"
DIALOGUES, SOURCES = "Every question and dialogue", "Every passage and page"


@pytest.mark.parametrize(
    ("make", "view", "there", "nowhere"),
    [
        (decided, "confusion", (f"{CELL}1", f"{CELL}4", f"{CELL}5"), f"{CELL}0"),
        (tried, "probes", ('href="#questions?metric=padding&amp;system=strict&amp;sort=worst"',), ""),
        (tried, "disagreements", ("Every judged answer with its values",), ""),
        (tried, "measures", ("#questions?metric=consistency_score&amp;system=lost",), ""),
        (talked, "cache", (f"{HITS}0",), f"{HITS}1"),
        (talked, "hits", (f"{DIALOGUES} with its values",), ""),
        (talked, "dialogues", (f"{DIALOGUES} with its values",), ""),
        (used, "pages", (f'href="#{page_anchor("/a")}"',), ""),
        (used, "unused", (f"{SOURCES} with its values",), ""),
        (used, "measures", ("#questions?metric=utilization_rate&amp;system=one",), "metric=n_topics"),
    ],
)
def test_numbers_lead_to_the_items_they_are_made_of(make: Any, view: str, there: tuple[str, ...], nowhere: str) -> None:
    """nowhere: a count of 0, or a number that is of no single item."""
    page = Page(make())
    html = page.view(view).html(frozenset({"questions"}))
    assert all(link in html for link in there)
    assert not nowhere or nowhere not in html
    assert "#questions" not in page.view(view).html()


def test_places_in_the_links_are_those_of_the_words() -> None:
    assert found(decided())["table"]["metrics"][1]["words"] == [
        "shown wrongly", "held back wrongly", "not decided, should be shown", "not decided, should not be shown",
        "held back rightly", "shown rightly",
    ]  # fmt: skip
    assert page_anchor("/a") in found(used())["table"]["anchors"], "an address is no simple name"


def test_a_page_without_items_has_no_table() -> None:
    made = decided()
    empty = replace(made, extra={"decisions": made.extra["decisions"].iloc[:0]}, estimates=())
    assert not views.items.questions(Page(empty)).html(frozenset({"questions"})).striptags().strip()


HOSTILE_PAGES = [decided, tried, talked, used]


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=8)
@pytest.mark.parametrize("make", HOSTILE_PAGES)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_hostile_texts_stay_texts(make: Any, language: str) -> None:
    made = make(HOSTILE_TEXT)
    page = Page(made, language=language)
    drawn = [page.explain(name)._repr_html_() for name in found(made)["table"]["ids"]]
    for html in (views.items.questions(page).html(), page.questions().markup, *drawn):
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "\u202e" not in html
    table = found(made, language)["table"]
    assert all("\u202e" not in text and "\x1b" not in text for text in table["texts"])
    hostile = {place for place, name in enumerate(table["ids"]) if "script" in name}
    assert hostile
    assert set(table["anchors"].values()) == hostile


@pytest.mark.parametrize("make", HOSTILE_PAGES)
def test_the_same_measurement_gives_the_same_parts(make: Any, tmp_path: Any) -> None:
    made = make()
    made.save(tmp_path / "kept")
    assert json.dumps(found(made), sort_keys=True) == json.dumps(
        found(Measurement.load(tmp_path / "kept")), sort_keys=True
    )


def test_details_come_in_blocks() -> None:
    made = decided()
    table = made.extra["decisions"]
    many = pd.concat([table.assign(sample=table["sample"] + f"-{i}") for i in range(100)], ignore_index=True)
    names = found(replace(made, extra={"decisions": many}))
    assert len([name for name in names if name.startswith("details-")]) == -(-400 // BLOCK)
    assert all(len(names[f"details-{i}"]) == BLOCK for i in range(400 // BLOCK))
    assert np.size(names["table"]["values"]) == len(names["table"]["metrics"]) * 2 * 400
