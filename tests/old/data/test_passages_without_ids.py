"""Passages that came without ids: the same where their texts are, in metrics, tables, pages and data sets."""

from __future__ import annotations

import json
import math
import unicodedata
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragbench.old
from ragbench.old import data, tiers, views
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Chunk
from ragbench.old.data.brought import Chunks
from ragbench.old.data.payloads import Passage
from ragbench.old.data.samples import read_samples, samples_of
from ragbench.old.metrics.ranking import retrieval_consistency
from ragbench.old.views import Page
from ragbench.old.views.items.chosen import items_of
from ragbench.old.views.items.contents import Entry
from tests.old.small_project import write_lines

PRECISION, RECALL = "context_precision_by_label", "context_recall_by_label"
BOTH = [PRECISION, RECALL]
RIVER, STONE, ANN, TIDE = "The river is long.", "Stones are hard.", "Ann wrote it in 1901.", "The tide is low."


def row(identifier: str, contexts: Any, labelled: Any = None, **more: Any) -> dict[str, Any]:
    asked = {"id": identifier, "user_input": f"{identifier}?", "response": "Ann."}
    own = {} if labelled is None else {"reference_contexts": labelled}
    return {**asked, "retrieved_contexts": contexts, **own, **more}


def values(*rows: dict[str, Any]) -> list[tuple[float, float]]:
    """Precision and recall of each row."""
    found = ragbench.old.score(list(rows), BOTH, resamples=100)
    made = [one.score.value for one in found.rows]
    return list(zip(made[::2], made[1::2], strict=True))


class TestWhenTwoAreTheSame:
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            (Chunk("a", "x"), Chunk("a", "y"), True),
            (Chunk("a", "x"), Chunk("b", "x"), False),
            (Chunk.nameless("x y"), Chunk.nameless(" x\n y\t"), True),
            (Chunk.nameless("x y"), Chunk.nameless("x Y"), False),
            (Chunk.nameless("x"), Chunk("1", "x"), True),
            (Chunk.nameless("x"), Chunk("1", "y"), False),
            (Chunk.nameless("x"), Chunk("1", ""), None),
            (Chunk.nameless(""), Chunk.nameless(""), False),
            (Chunk.nameless(" "), Chunk("1", ""), False),
            (Chunk.nameless("x\u00a0y"), Chunk.nameless("x y"), True),
            (Chunk.nameless("x  y"), Chunk.nameless("x y"), True),
            (Chunk.nameless("xy"), Chunk.nameless("x y"), False),
        ],
    )
    def test_by_ids_of_both_else_by_texts(self, one: Chunk, other: Chunk, expected: bool | None) -> None:
        assert one.is_same(other) is expected
        assert other.is_same(one) is expected

    @given(st.text(), st.text())
    def test_nameless_ones_by_composed_texts_with_white_space_folded(self, one: str, other: str) -> None:
        def plain(text: str) -> str:
            return " ".join(unicodedata.normalize("NFC", text).split())

        assert Chunk.nameless(one).is_same(Chunk.nameless(other)) is (plain(one) == plain(other) != "")
        assert Chunk.nameless(one).id == Chunk.nameless(unicodedata.normalize("NFD", f" {one}\n")).id

    def test_among_several_one_is_enough_and_what_cannot_be_said_is_not_no(self) -> None:
        one = Chunk.nameless("x")
        assert one.is_among([Chunk("1", ""), Chunk("2", "x")]) is True
        assert one.is_among([Chunk("1", ""), Chunk("2", "y")]) is None
        assert one.is_among([Chunk("2", "y")]) is False
        assert one.is_among([]) is False


class TestMetrics:
    def test_labels_are_not_matched_by_their_place(self) -> None:
        """Of two retrieved texts none is the labelled one, though both lists begin with a first one."""
        assert values(row("q", [RIVER, STONE], [ANN])) == [(0.0, 0.0)]
        assert values(row("q", [RIVER, STONE, ANN], [ANN, TIDE])) == [(1 / 3, 0.5)]
        assert values(row("q", [RIVER, ANN, "Ann\n wrote  it in 1901."], [ANN])) == [(0.5, 1.0)]

    def test_with_ids_on_one_side_texts_decide(self) -> None:
        named = [{"id": "d1", "text": RIVER}, {"id": "d2", "text": ANN}]
        assert values(row("q", named, [ANN]), row("r", [RIVER, ANN], named[1:])) == [(0.5, 1.0)] * 2

    def test_ids_need_no_texts(self) -> None:
        ids = {"retrieved_context_ids": ["d1", "d2", "d3"], "reference_context_ids": ["d3", "d9"]}
        assert values({**row("q", None), **ids}) == [(1 / 3, 0.5)]

    def test_texts_against_ids_are_unmeasured_with_a_reason(self) -> None:
        found = ragbench.old.score([row("q", [RIVER], reference_context_ids=["d1"])], BOTH, resamples=100)
        for one in found.rows:
            assert math.isnan(one.score.value)
            assert one.score.status == "missing_field"
            assert "cannot be compared: the ones have no identifiers, the others no texts" in one.score.reason

    @pytest.mark.parametrize(("contexts", "labelled"), [([], [ANN]), ([ANN], [])])
    def test_nothing_is_unmeasured(self, contexts: list[str], labelled: list[str]) -> None:
        found = ragbench.old.score([row("q", contexts, labelled)], BOTH, resamples=100)
        assert {one.score.status for one in found.rows} == {"empty_input"}

    def test_repeats_that_retrieve_other_texts_are_not_consistent(self) -> None:
        turns = samples_of([row("1", [RIVER, STONE]), row("2", [STONE, ANN]), row("3", [RIVER, STONE])])
        assert retrieval_consistency(turns).value == 0.5

    def test_documents_of_langchain_keep_theirs(self) -> None:
        class Document:
            def __init__(self, text: str, identifier: str | None) -> None:
                self.page_content, self.id = text, identifier

        [sample] = samples_of([row("q", [Document(RIVER, "d7"), Document(STONE, None)])])
        assert sample.contexts == (Chunk("d7", RIVER), Chunk.nameless(STONE))


@pytest.fixture
def made(project: Path) -> Measurement:
    """q1: only the second text is labelled. q2: one system has ids, the other none. q3: labelled by ids alone.
    q4: not labelled. q5: one system's row is labelled, the other's is not. q6: the one by text, the other by id.
    q7: the same, where one retrieves a passage under its id alone and the other with its text."""
    named = [{"id": "d7", "text": TIDE}, {"id": "d8", "text": ANN}]
    rows = [
        row("q1", [RIVER, ANN], [ANN], system="a"),
        row("q1", [STONE, RIVER], [ANN], system="b"),
        row("q2", named, [ANN, STONE], system="a"),
        row("q2", ["Ann wrote  it in 1901.", TIDE], [ANN, STONE], system="b"),
        row("q3", [RIVER], reference_context_ids=["1"], system="a"),
        row("q3", [], reference_context_ids=["1"], system="b"),
        row("q4", [RIVER], system="a"),
        row("q5", [RIVER, STONE], [STONE], system="a"),
        row("q5", [STONE], system="b"),
        row("q6", [RIVER, STONE], [STONE], system="a"),
        row("q6", [RIVER], reference_context_ids=["1"], system="b"),
        row("q7", [{"id": "d7", "text": TIDE}], [TIDE], system="a"),
        row("q7", None, retrieved_context_ids=["d9", "d7"], reference_context_ids=["d7"], system="b"),
    ]
    write_lines(project / "answers.jsonl", rows)
    return tiers.rag_metrics("answers.jsonl", metrics=", ".join(BOTH), resamples=100)


def gains(table: pd.DataFrame) -> dict[tuple[str, str], list[Any]]:
    found: dict[tuple[str, str], list[Any]] = {}
    for one in table.astype({"gain": object}).to_dict("records"):
        gain = float(one["gain"])
        found.setdefault((one["sample"], one["system"]), []).append(None if math.isnan(gain) else gain)
    return found


class TestATable:
    EXPECTED: ClassVar = {
        ("q1", "a"): [0.0, 1.0], ("q1", "b"): [0.0, 0.0], ("q2", "a"): [0.0, 1.0], ("q2", "b"): [1.0, 0.0],
        ("q3", "a"): [None], ("q4", "a"): [None], ("q5", "a"): [0.0, 1.0], ("q5", "b"): [1.0],
        ("q6", "a"): [0.0, 1.0], ("q6", "b"): [None],
        ("q7", "a"): [1.0], ("q7", "b"): [0.0, 1.0],
    }  # fmt: skip

    def test_gains_say_which_passages_are_labelled(self, made: Measurement, tmp_path: Path) -> None:
        assert gains(made.retrieved) == self.EXPECTED
        made.save(tmp_path)
        assert gains(Measurement.load(tmp_path).retrieved) == self.EXPECTED

    def test_every_labelled_passage_is_kept_once_with_its_text(self, made: Measurement) -> None:
        relevant = {one["sample"]: set(json.loads(one["relevant"])) for one in made.questions.to_dict("records")}
        ann, stone = Chunk.nameless(ANN).id, Chunk.nameless(STONE).id
        by_text = {"q1": {ann}, "q2": {ann, stone}, "q5": {stone}}
        assert relevant == {**by_text, "q3": {"1"}, "q4": set(), "q6": {stone, "1"}, "q7": {"d7"}}
        assert dict(made.extra["chunks"].itertuples(index=False)) == {ann: ANN, stone: STONE, "d7": TIDE}

    def test_an_id_of_several_texts_lends_none_of_them(self, project: Path) -> None:
        """Numbers that a table gives its passages in each row anew name nothing."""
        rows = [
            row("q1", [{"id": "1", "text": RIVER}], [{"id": "1", "text": ANN}]),
            row("q2", [{"id": "2", "text": STONE}], [{"id": "2", "text": STONE}]),
        ]
        write_lines(project / "own.jsonl", rows)
        found = tiers.rag_metrics("own.jsonl", metrics=RECALL, resamples=100)
        assert found.extra["chunks"].to_dict("records") == [{"chunk": "2", "text": STONE}]

    def test_the_page_marks_what_metrics_count(self, made: Measurement) -> None:
        """Marks, and where each system ranked what was needed; no mark where nothing is known."""
        items = items_of(Page(made).material)
        marks: dict[tuple[str, str], list[Any]] = {}
        words = {"relevant": 1.0, "not relevant": 0.0, "": None}
        for place, sample in enumerate(items.ids):
            for system, sections in items.read(place).sides.items():
                for entry in dict(sections).get("Retrieved", ()):
                    assert isinstance(entry, Entry)
                    assert entry.gain == words[entry.mark]
                    marks.setdefault((sample, system), []).append(words[entry.mark])
        assert marks == self.EXPECTED
        sections = {sample: items.read(place).sections for place, sample in enumerate(items.ids)}
        needed = {sample: dict(own).get("It needed", ()) for sample, own in sections.items()}
        places = {sample: [(one.text, one.meta.partition(" · ")[2]) for one in own] for sample, own in needed.items()}
        assert places == {
            "q1": [(ANN, "a: rank 2 · b: not retrieved")],
            "q2": [(STONE, "a: not retrieved · b: not retrieved"), (ANN, "a: rank 2 · b: rank 1")],
            "q3": [("", "a: not known · b: not retrieved")],
            "q4": [],
            "q5": [(STONE, "a: rank 2 · b: rank 1")],
            "q6": [("", "a: not retrieved · b: not known"), (STONE, "a: rank 2 · b: not known")],
            "q7": [(TIDE, "a: rank 1 · b: rank 2")],
        }  # fmt: skip
        untold = [sample for sample, own in sections.items() if any("have only ids" in lead for lead, _ in own)]
        assert untold == ["q3", "q6"]

    def test_the_worst_questions_are_marked_alike(self, project: Path) -> None:
        rows = [
            row("q1", [RIVER, ANN], [ANN], reference="Bob."),
            row("q2", [STONE], reference_context_ids=["1"], reference="Bob."),
            row("q3", [RIVER], reference="Bob."),
            row("q4", [ANN], [ANN], reference="Ann."),
        ]
        write_lines(project / "worst.jsonl", rows)
        found = tiers.rag_metrics("worst.jsonl", metrics="rougeL_f", resamples=100)
        html = str(views.comparison.worst(Page(found)).html())
        assert html.count(">relevant<") == html.count("rb-hit-good") == html.count("not relevant") == 1
        assert html.count("answers: rank 2") == html.count("answers: not known") == html.count("have only ids") == 1


def test_a_loaded_table_labels_by_text_and_ids_alike(tmp_path: Path) -> None:
    """Passages are one whether their rows name them or not, whichever comes first; every row's labels count."""
    first = row("q1", [RIVER, ANN], [ANN], system="a")
    second = row("q1", [{"id": "d2", "text": ANN}, {"id": "1", "text": TIDE}], system="b")
    third = row("q1", ["Stones are  hard."], [STONE], system="c")
    seen = []
    for rows in ([first, second, third], [third, second, first]):
        write_lines(tmp_path / "answers.jsonl", rows)
        found, logged = data.answer_tables.read(tmp_path / "answers.jsonl")
        river, stone = Chunk.nameless(RIVER).id, Chunk.nameless(STONE).id
        assert {one.id for one in found.chunks} == {river, stone, "d2", "1"}
        assert dict(found.questions[0].relevant) == {"d2": 1.0, stone: 1.0}
        assert {name: lines[0]["retrieved"] for name, lines in logged.items()} == {
            "a": [river, "d2"], "b": ["d2", "1"], "c": [stone],
        }  # fmt: skip
        seen.append(found.questions[0].answerable)
    assert seen == [True, True]


def test_rows_of_a_spreadsheet_have_texts_or_ids(tmp_path: Path) -> None:
    """An empty cell beside ids is no list of texts that lacks some, nor is one beside texts a list of ids."""
    (tmp_path / "a.csv").write_text(
        'id,answer,contexts,retrieved_context_ids\n1,x,"[""One."", ""Two.""]",\n2,x,,"[""d1"", ""d2""]"\n3,x,,\n',
        encoding="utf-8",
    )
    assert [one.contexts for one in read_samples(tmp_path / "a.csv")] == [
        (Chunk.nameless("One."), Chunk.nameless("Two.")), (Chunk("d1", ""), Chunk("d2", "")), (),
    ]  # fmt: skip


def test_a_text_without_an_id_has_that_of_the_same_text_before_it() -> None:
    chunks = Chunks()
    given, bare = Passage("The river is long.", "p1"), Passage("The  river is long. ")
    assert [chunks.known(one).name for one in (given, bare)] == ["p1", "p1"]
    assert [chunk.id for chunk in chunks.shelf] == ["p1"]
