"""What pieces of passages count: shares of the labelled text by hand, and what holds whatever is cut and retrieved."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.types import Chunk, Hit, Piece, Question, Ranking
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.metrics.ranking_arrays.coverage import LabelledText
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.retrieval import reading

TEXT = "aaaa bbbb cccc dddd eeee ffff gggg hhhh"  # words of four letters, at 0, 5, 10, …
ONE, TWO, THREE = (Chunk(name, TEXT) for name in ("one", "two", "three"))
BASE = (ONE, TWO, THREE)
METRICS = (
    "recall@1", "recall@2", "recall@3", "recall", "hit_rate@1", "hit_rate@3", "mrr", "precision@2", "precision",
    "ndcg@3", "ndcg", "average_precision", "bpref", "rbp", "r_precision", "ndcg(gain=exponential)",
)  # fmt: skip


def piece(whole: Chunk, first: int, last: int) -> Piece:
    """Words of a passage, the last one not included."""
    start, end = 5 * first, 5 * last - 1
    return Piece(f"{whole.id}#{start}-{end}", whole.text[start:end], document=whole.id, start=start, end=end)


def ranked(question: Question, *chunks: Chunk, enough: float = 0.5) -> Ranking:
    hits = {question.id: [Hit(chunk) for chunk in chunks]}
    return ranking_arrays.from_questions([question], hits, labelled=LabelledText(BASE, enough))


def value(ranking: Ranking, label: str) -> float:
    return float(evaluate(ranking, [label])[label][0])


ASKED = Question("q", "?", relevant={"one": 1.0})


def test_a_piece_counts_by_its_share_and_overlaps_count_once() -> None:
    found = ranked(ASKED, piece(ONE, 0, 2), piece(TWO, 0, 8), piece(ONE, 1, 4), piece(ONE, 0, 2), piece(ONE, 4, 8))
    assert found.coverage is not None
    assert found.coverage.shares[0].tolist() == [0.25, 0.0, 0.25, 0.5]  # the copy is dropped, as copies are
    assert found.coverage.reached[0].tolist() == [False, False, True, False]
    assert found.gains[0].tolist() == [0.25, 0.0, 0.25, 0.5]
    assert [value(found, label) for label in ("recall@1", "recall@2", "recall@3", "recall")] == [0.25, 0.25, 0.5, 1.0]
    assert value(found, "mrr") == pytest.approx(1 / 3)
    assert value(found, "precision@2") == 0
    assert value(found, "precision") == 1 / 4
    assert value(found, "ndcg") == pytest.approx(0.25 + 0.25 / 2 + 0.5 / math.log2(5))


def test_spans_across_the_border_of_pieces() -> None:
    """Labelled are `bbbb cccc` and, overlapping, `cccc dd`: 10 letters, 6 of which stand in the first three words."""
    asked = replace(ASKED, spans={"one": [(5, 14), (10, 17)]})
    found = ranked(asked, piece(ONE, 4, 8), piece(ONE, 0, 3), piece(ONE, 3, 4))
    assert found.coverage is not None
    assert found.coverage.shares[0].tolist() == [0.0, 0.8, 0.2]
    assert value(found, "hit_rate@1") == 0
    assert value(found, "mrr") == 0.5
    assert value(ranked(asked, piece(ONE, 0, 3), enough=0.9), "hit_rate@1") == 0
    assert value(ranked(asked, piece(ONE, 3, 4), enough=0.0), "hit_rate@1") == 1, "any piece will do"
    assert value(ranked(asked, piece(ONE, 4, 8), enough=0.0), "hit_rate@1") == 0, "but one that shows some"


def test_two_labelled_passages_weigh_the_same_and_grades_weigh_gains() -> None:
    asked = Question("q", "?", relevant={"one": 3.0, "two": 1.0}, spans={"two": [(0, 4)]})
    found = ranked(asked, piece(ONE, 0, 4), piece(TWO, 0, 1), piece(THREE, 0, 8))
    assert value(found, "recall@1") == 0.25
    assert value(found, "recall") == 0.75
    assert value(found, "hit_rate@1") == 1
    assert value(found, "precision@2") == 1
    assert value(found, "ndcg") == pytest.approx((1.5 + 1 / math.log2(3)) / (3 + 1 / math.log2(3)))
    strong = evaluate(found, ["recall(level=2)", "r_precision(level=2)", "bpref(level=2)"])
    assert {label: column[0] for label, column in strong.items()} == {
        "recall(level=2)": 0.5, "r_precision(level=2)": 1.0, "bpref(level=2)": 1.0,
    }  # fmt: skip


def test_a_page_is_found_by_any_of_its_pieces() -> None:
    whole, other = replace(ONE, url="u"), replace(TWO, url="v")
    asked = Question("q", "?", relevant={"one": 2.0})
    row = [Hit(replace(piece(other, 0, 1), url="v")), Hit(replace(piece(whole, 0, 1), url="u"))]
    found = ranking_arrays.from_questions([asked], {"q": row}, unit="url", pages={"one": "u", "two": "v"})
    assert found.gains.tolist() == [[0.0, 2.0]]
    assert found.coverage is None


def test_pieces_without_a_labelled_text_are_refused() -> None:
    with pytest.raises(ValueError, match="`labelled` has to say"):
        ranking_arrays.from_questions([ASKED], {"q": [Hit(piece(ONE, 0, 2))]})


# --- by words read


def read(question: Question, *chunks: Chunk, at: tuple[int, ...] = (1, 2, 3, 4, 6, 100)) -> list[float]:
    return LabelledText(BASE).by_words(question, chunks, at)[0]


def test_the_reader_stops_at_so_many_words_in_the_midst_of_a_piece() -> None:
    assert read(ASKED, TWO, ONE, at=(8, 9, 12, 16, 99)) == [0, 1 / 8, 0.5, 1, 1]
    overlapping = (piece(ONE, 0, 3), piece(ONE, 2, 5))  # the third word is read twice
    assert read(ASKED, *overlapping) == pytest.approx([1 / 8, 2 / 8, 3 / 8, 3 / 8, 5 / 8, 5 / 8])
    assert read(replace(ASKED, spans={"one": [(10, 19)]}), piece(ONE, 1, 8)) == [0, 0.5, 1, 1, 1, 1]
    assert all(math.isnan(one) for one in read(Question("q", "?"), ONE))


def test_a_ranking_that_ends_before_the_words_do_is_unmeasured_where_there_may_be_more() -> None:
    hits = [[Hit(piece(ONE, 0, 4))]]
    more = reading.shown(LabelledText(BASE), [ASKED], hits, (2, 4, 5), most=1)
    np.testing.assert_array_equal(more, [[0.25, 0.5, np.nan]])
    ended = reading.shown(LabelledText(BASE), [ASKED], hits, (2, 4, 5), most=2)
    assert ended.tolist() == [[0.25, 0.5, 0.5]]
    assert np.isnan(reading.shown(LabelledText(BASE), [ASKED], hits, (2,), most=2, untold=["q"])).all()


def test_so_many_of_the_shortest_hold_the_words() -> None:
    searched = [piece(ONE, 0, 1), piece(ONE, 1, 4), piece(ONE, 4, 8)]  # 1, 3 and 4 words
    assert [reading.depth(searched, words) for words in (1, 2, 4, 5, 8, 9)] == [1, 2, 2, 3, 3, 3]


def test_systems_are_compared_at_the_same_words_as_one_family() -> None:
    rows = np.linspace(0, 0.5, 120).reshape(30, 4)
    shares = {limit: {"base": rows[:, n], "new": rows[:, n] + 0.4} for n, limit in enumerate((10, 20, 30, 40))}
    found = reading.findings(shares, (20, 40), None, Sureness(0.95, 500, 0))
    places = [(type(one).__name__, one.where["words"]) for one in found]
    assert places.count(("NamedEstimate", 10)) == 2
    compared: list[Any] = [one.comparison for one in found if hasattr(one, "comparison")]
    assert [(one.baseline, one.challenger, round(one.difference, 9)) for one in compared] == [("base", "new", 0.4)] * 2
    assert {one.family.split(",")[0] for one in compared} == {"2"}


# --- whatever is cut and retrieved


@st.composite
def cuts(draw: st.DrawFn) -> tuple[list[Chunk], list[Question], dict[str, list[Hit]]]:
    """Passages, questions with labels and spans, rankings of whole passages and pieces, overlapping as they come."""
    passages = [Chunk(f"p{n}", draw(st.text("ab \n", min_size=1, max_size=20).filter(str.strip))) for n in range(3)]

    def part(text: str) -> tuple[int, int]:
        start = draw(st.integers(0, len(text) - 1))
        return start, draw(st.integers(start + 1, len(text)))

    asked, hits = [], {}
    for number in range(draw(st.integers(1, 3))):
        names = draw(st.lists(st.sampled_from([0, 1, 2]), unique=True))
        spans = {f"p{n}": [part(passages[n].text) for _ in range(draw(st.integers(0, 2)))] for n in names}
        relevant = {f"p{n}": float(draw(st.integers(1, 3))) for n in names}
        asked.append(Question(f"q{number}", "?", relevant=relevant, spans=spans))
        row: list[Hit] = []
        for whole in draw(st.lists(st.sampled_from(passages), max_size=6)):
            start, end = part(whole.text)
            cut = Piece(f"{whole.id}#{start}-{end}", whole.text[start:end], document=whole.id, start=start, end=end)
            row.append(Hit(draw(st.sampled_from([whole, cut]))))
        hits[f"q{number}"] = row
    return passages, asked, hits


@given(cuts(), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_no_value_leaves_its_bounds(made: Any, enough: float) -> None:
    passages, asked, hits = made
    found = ranking_arrays.from_questions(asked, hits, labelled=LabelledText(passages, enough))
    for label, column in evaluate(found, METRICS).items():
        known = column[~np.isnan(column)]
        assert ((known >= 0) & (known <= 1 + 1e-12)).all(), label
        assert np.isnan(column).tolist() == [not question.relevant for question in asked]


@given(cuts())
def test_whole_passages_count_as_they_always_did(made: Any) -> None:
    """Bit by bit: with spans or without, whatever is enough, through pieces that are the whole or without any."""
    passages, asked, hits = made
    known = {one.id: one for one in passages}
    whole = {name: [Hit(known[hit.chunk.passage]) for hit in row] for name, row in hits.items()}
    as_pieces = {
        name: [
            Hit(Piece(f"{one.id}#", one.text, document=one.id, start=0, end=len(one.text)))
            for one in (hit.chunk for hit in row)
        ]
        for name, row in whole.items()
    }
    plain = evaluate(ranking_arrays.from_questions(asked, whole), METRICS)
    cut = evaluate(ranking_arrays.from_questions(asked, as_pieces, labelled=LabelledText(passages, 1.0)), METRICS)
    for label in METRICS:
        np.testing.assert_array_equal(plain[label], cut[label], label)


@given(cuts(), st.integers(0, 30), st.integers(1, 3))
def test_a_piece_in_two_shows_at_most_as_much_at_the_same_words(made: Any, at: int, every: int) -> None:
    """Cut between two words it shows just as much; with an overlap or a copy never more."""
    passages, asked, hits = made
    known = {one.id: one for one in passages}
    labelled = LabelledText(passages)
    for question in asked:
        row = [hit.chunk for hit in hits[question.id]]
        apart, again = list[Chunk](), list[Chunk]()
        for number, chunk in enumerate(row):
            text = known[chunk.passage].text
            start, end = (chunk.start, chunk.end) if isinstance(chunk, Piece) else (0, len(text))
            places = [place for place in range(start + 1, end) if text[place].isspace()]
            if number % every or not places:
                parts, more = [(start, end)], [(start, end)]
            else:
                middle = places[len(places) // 2]
                parts, more = [(start, middle), (middle, end)], [(start, end), (start, middle)]
            for chosen, into in ((parts, apart), (more, again)):
                into += [
                    Piece(f"{chunk.passage}#{a}-{b}", text[a:b], document=chunk.passage, start=a, end=b)
                    for a, b in chosen
                ]
        [whole], _ = labelled.by_words(question, row, [at])
        [cut], _ = labelled.by_words(question, apart, [at])
        [twice], _ = labelled.by_words(question, again, [at])
        assert math.isnan(whole) == math.isnan(cut) == (not question.relevant)
        assert not cut > whole + 1e-12
        assert cut == pytest.approx(whole, nan_ok=True)
        assert not twice > whole + 1e-12


def test_letters_read_one_by_one_are_never_less_for_being_rounded() -> None:
    whole = Chunk("long", "a aaaaaaaa")
    asked = Question("q", "?", relevant={"long": 1.0, "one": 1.0, "two": 1.0})
    row = [
        Piece("long#1-3", " a", document="long", start=1, end=3),
        Piece("long#0-3", "a a", document="long", start=0, end=3),
    ]
    shares, _ = LabelledText([whole, ONE, TWO]).by_words(asked, row, range(1, 5))
    assert shares == [1 / 27, 2 / 27, 2 / 27, 2 / 27]


@given(cuts())
def test_shares_read_grow_with_the_words_to_those_of_the_whole_ranking(made: Any) -> None:
    passages, asked, hits = made
    labelled = LabelledText(passages)
    for question in (one for one in asked if one.relevant):
        row = [hit.chunk for hit in hits[question.id]]
        shares, words = labelled.by_words(question, row, range(1, 140))
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(
            sum(one.share for one in labelled.added(question, row)) / len(question.relevant)
        )
        assert words == sum(labelled.words(chunk) for chunk in row)
