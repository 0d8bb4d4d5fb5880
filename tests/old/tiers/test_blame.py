"""Which part failed first: by hand, by property, in shares and comparisons."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.measurement import RETRIEVED_COLUMNS, SCORE_COLUMNS
from ragbench.old.core.types import Chunk, Piece, Question
from ragbench.old.metrics.ranking_arrays.coverage import LabelledText
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.answers.blame import (
    ANSWERABLE,
    GOOD,
    PARTS,
    UNANSWERABLE,
    Known,
    Part,
    Seen,
    Standard,
    Workings,
    blame,
    compared,
    first_failure,
    indicators,
    shares,
)
from ragbench.old.tiers.basics.findings import Sureness
from tests.old.views.measurements import placed

SURE = Sureness(0.95, 1000, 0)
STANDARD = Standard()
FLAGS = st.sampled_from([True, False, None])
KNOWN = st.builds(
    Known, answerable=st.booleans(), in_base=FLAGS, retrieved=FLAGS, read=FLAGS, refused=FLAGS, right=FLAGS,
    faithful=FLAGS, shown=FLAGS,
)  # fmt: skip
HEALTHY: dict[str, Any] = dict.fromkeys(
    ("answerable", "in_base", "retrieved", "read", "right", "faithful", "shown"), True
) | {"refused": False}


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ({}, (Part.GOOD, "")),
        ({"in_base": False, "retrieved": False, "read": False, "right": False}, (Part.MISSING, "")),
        ({"retrieved": False, "read": False, "right": False}, (Part.NOT_RETRIEVED, "")),
        ({"read": False, "right": False, "refused": True}, (Part.TOO_LOW, "")),
        ({"right": False, "refused": True}, (Part.NOT_USED, "refused")),
        ({"right": False}, (Part.NOT_USED, "wrong")),
        ({"right": False, "faithful": False}, (Part.NOT_USED, "wrong_and_beyond")),
        ({"right": False, "faithful": None}, (Part.NOT_USED, "wrong")),
        ({"faithful": False}, (Part.BEYOND, "")),
        ({"faithful": False, "shown": False}, (Part.BEYOND, "")),
        ({"shown": False}, (Part.WITHHELD, "")),
        ({"in_base": False, "retrieved": False, "read": False}, (Part.GOOD, "although_missing")),
        ({"read": False}, (Part.GOOD, "although_too_low")),
        ({"retrieved": None, "read": None}, (Part.GOOD, "")),
        ({"retrieved": None, "read": None, "right": False}, (Part.UNMEASURED, "retrieved")),
        ({"retrieved": False, "read": False, "right": None, "faithful": False}, (Part.NOT_RETRIEVED, "")),
        ({"right": None}, (Part.UNMEASURED, "right")),
        ({"right": None, "shown": False}, (Part.UNMEASURED, "right")),
        ({"faithful": None}, (Part.UNMEASURED, "faithful")),
        ({"faithful": None, "shown": False}, (Part.UNMEASURED, "faithful")),
        ({"shown": None}, (Part.UNMEASURED, "shown")),
        ({"right": False, "shown": None}, (Part.NOT_USED, "wrong")),
        ({"answerable": False}, (Part.INVENTED, "")),
        ({"answerable": False, "refused": True}, (Part.RIGHT_REFUSAL, "refused")),
        ({"answerable": False, "shown": False}, (Part.RIGHT_REFUSAL, "withheld")),
        ({"answerable": False, "refused": None}, (Part.UNMEASURED, "right")),
        ({"answerable": False, "shown": None}, (Part.UNMEASURED, "shown")),
    ],
)
def test_the_first_part_that_failed(broken: Mapping[str, Any], expected: tuple[Part, str]) -> None:
    assert first_failure(Known(**{**HEALTHY, **broken})) == expected


@given(KNOWN)
def test_every_answer_has_one_part_of_its_group(known: Known) -> None:
    part, _ = first_failure(known)
    assert part is Part.UNMEASURED or part in PARTS[ANSWERABLE if known.answerable else UNANSWERABLE]


@given(KNOWN)
def test_the_order_of_the_first_failure_holds(known: Known) -> None:
    part, _ = first_failure(known)
    chain = [known.in_base, known.retrieved, known.read, known.right, known.faithful, known.shown]
    if not known.answerable or part is Part.UNMEASURED:
        return
    if part is Part.GOOD:
        assert chain[3:] == [True, True, True]
        return
    place = PARTS[ANSWERABLE].index(part)
    assert all(held is True for held in chain[:place]), "everything before the blamed part worked"
    assert chain[place] is False, "the blamed part failed"
    assert False in chain[3:], "what the user got failed"


@given(KNOWN)
def test_what_is_unknown_decides_nothing(known: Known) -> None:
    """Whatever the unknown facts are, a part that was blamed without them stays to blame."""
    part, _ = first_failure(known)
    if part is Part.UNMEASURED:
        return
    names = [name for name in Known.__slots__ if getattr(known, name) is None]
    known_facts = {name: getattr(known, name) for name in Known.__slots__}
    for filled in itertools.product((True, False), repeat=len(names)):
        again, _ = first_failure(Known(**{**known_facts, **dict(zip(names, filled, strict=True))}))
        assert again is part


def question(name: str, answerable: bool | None = True, **more: Any) -> Question:
    return Question(name, f"What of {name}?", "the reference", {f"c-{name}": 1.0}, answerable=answerable, **more)


def evidence(
    rows: Sequence[tuple[Question, Sequence[str], int, str, bool, float, float]],
    system: str = "one",
    shown: Mapping[str, bool | None] | None = None,
    base: Sequence[str] | None = None,
    pieces: Sequence[Piece] = (),
    passages: Sequence[Chunk] = (),
) -> Workings:
    """rows: question, ranking, how many were read, status, refused, correctness, faithfulness. base: of the passages
    that hold an answer those that there are; the others, whose names begin with x, are all there."""
    asked = [row[0] for row in rows]
    others = {chunk for _, ranking, *_ in rows for chunk in ranking if chunk.startswith("x")}
    retrieved = [
        (system, q.id, rank, chunk, None, None, 0.0, "text")
        for q, ranking, *_ in rows
        for rank, chunk in enumerate(ranking, 1)
    ]
    answers = [
        {
            "system": system, "sample": q.id, "repeat": repeat, "response": None if status != "ok" else "an answer",
            "status": status, "reason": "said", "refused": refused if repeat == 0 else not refused,
            "contexts": list(ranking[:read]),
        }
        for q, ranking, read, status, refused, *_ in rows
        for repeat in (0, 1)
    ]  # fmt: skip
    scores = [
        (system, label, row[0].id, value, "ok" if value == value else "judge_error", f"{label} {value}", "j")
        for row in rows
        for label, value in zip((STANDARD.correctness, STANDARD.faithfulness), row[5:], strict=True)
    ]
    return Workings(
        asked,
        {*others, *([f"c-{q.id}" for q in asked] if base is None else base)},
        Seen(
            pd.DataFrame(retrieved, columns=list(RETRIEVED_COLUMNS)),
            LabelledText(passages),
            {one.id: one for one in pieces},
        ),
        pd.DataFrame(answers),
        pd.DataFrame(scores, columns=list(SCORE_COLUMNS)),
        {} if shown is None else {(system, name): value for name, value in shown.items()},
    )


NAN = float("nan")


def test_a_passage_that_nobody_knows_is_no_proof_that_the_answer_was_not_retrieved() -> None:
    rows = [
        (question("known"), ["x1", "x2"], 2, "ok", False, 1.0, 5.0),
        (question("strange"), ["x1", "doc-7"], 2, "ok", False, 1.0, 5.0),
        (question("found"), ["doc-7", "c-found"], 2, "ok", False, 1.0, 5.0),
        (question("read"), ["doc-7", "x1", "c-read"], 1, "ok", False, 1.0, 5.0),
        (question("low"), ["x1", "doc-7", "c-low"], 1, "ok", False, 1.0, 5.0),
    ]
    table = blame(evidence(rows), STANDARD).set_index("sample")
    assert table["part"].to_dict() == {
        "known": "not_retrieved", "strange": "unmeasured", "found": "not_used", "read": "unmeasured", "low": "too_low",
    }  # fmt: skip
    assert set(table.loc[table["part"] == "unmeasured", "cause"]) == {"retrieved"}


def test_blame_from_tables() -> None:
    others = [f"x{place}" for place in range(10)]
    rows = [
        (question("gone"), others, 5, "ok", True, 1.0, 5.0),
        (question("lost"), others, 5, "ok", False, 2.0, 5.0),
        (question("low"), [*others[:7], "c-low"], 5, "ok", False, 3.0, 1.0),
        (question("unused"), ["c-unused"], 5, "ok", False, 3.75, 5.0),
        (question("timid"), ["x", "c-timid"], 5, "ok", True, NAN, NAN),
        (question("bold"), ["c-bold"], 5, "ok", False, 4.0, 3.0),
        (question("hidden"), ["c-hidden"], 5, "ok", False, 5.0, 4.0),
        (question("good"), ["c-good"], 5, "ok", False, 4.0, 4.0),
        (question("failed"), ["c-failed"], 5, "timeout", False, NAN, NAN),
        (question("unjudged"), ["c-unjudged"], 5, "ok", False, NAN, 5.0),
        (question("none", answerable=False), others, 5, "ok", True, NAN, NAN),
        (question("made up", answerable=False), others, 5, "ok", False, NAN, NAN),
    ]
    found = evidence(
        rows, shown={row[0].id: row[0].id != "hidden" for row in rows}, base=[f"c-{r[0].id}" for r in rows[1:]]
    )
    table = blame(found, STANDARD).set_index("sample")
    assert table["part"].to_dict() == {
        "gone": "missing", "lost": "not_retrieved", "low": "too_low", "unused": "not_used", "timid": "not_used",
        "bold": "beyond", "hidden": "withheld", "good": "good", "failed": "unmeasured", "unjudged": "unmeasured",
        "none": "right_refusal", "made up": "invented",
    }  # fmt: skip
    assert table.loc["low", "rank"] == 8
    assert table.loc["low", "read"] == 5
    assert table.loc["timid", "cause"] == "refused"
    assert table.loc["failed", "reason"] == "said"
    assert table.loc["bold", "reason"] == "faithfulness_rating 3.0"
    assert np.isnan(table.loc["lost", "rank"])


def test_a_chunk_that_a_limit_cut_off_was_not_read() -> None:
    found = evidence([(question("q"), ["x", "c-q"], 1, "ok", False, 1.0, 5.0)])
    assert blame(found, STANDARD)["part"].tolist() == ["too_low"]


def test_pieces_hold_the_answer_with_those_above_them_once_enough_is_shown() -> None:
    """40 labelled letters in four pieces; half of them has to be shown, which is so with the third hit."""
    passage = Chunk("c-q", " ".join(["ten-letter"] * 4))
    pieces = [
        Piece(f"p{n}", passage.text[11 * n : 11 * n + 10], document="c-q", start=11 * n, end=11 * n + 10)
        for n in range(4)
    ]
    more = {"pieces": pieces, "passages": [passage]}
    for read, part in ((3, "not_used"), (2, "too_low")):
        table = blame(
            evidence([(question("q"), ["p0", "x", "p3", "p1"], read, "ok", False, 1.0, 5.0)], **more), STANDARD
        )
        assert table["part"].tolist() == [part]
        assert table["rank"].tolist() == [3]
    table = blame(evidence([(question("q"), ["p0", "x"], 2, "ok", False, 1.0, 5.0)], **more), STANDARD)
    assert table["part"].tolist() == ["not_retrieved"]


def test_questions_that_nobody_labelled_are_unmeasured() -> None:
    unlabelled = Question("q", "?", "r")
    assert blame(evidence([(unlabelled, ["x"], 1, "ok", False, 1.0, 5.0)]), STANDARD)["cause"].tolist() == ["label"]
    known = Question("q", "?", "r", answerable=True)
    assert blame(evidence([(known, ["x"], 1, "ok", False, 1.0, 5.0)]), STANDARD)["part"].tolist() == ["missing"]


def test_a_page_that_holds_the_answer_counts_like_a_passage() -> None:
    asked = Question("q", "?", "r", relevant_urls={"u": 1.0})
    found = evidence([(asked, ["x"], 1, "ok", False, 1.0, 5.0)], base=["u"])
    assert blame(found, STANDARD)["part"].tolist() == ["not_retrieved"]
    found.seen.table["url"] = "u"
    assert blame(found, STANDARD)["part"].tolist() == ["not_used"]


def test_a_system_whose_search_nobody_saw() -> None:
    rows = [(question("a"), [], 0, "ok", False, 1.0, 5.0), (question("b"), [], 0, "ok", False, 5.0, 5.0)]
    assert blame(evidence(rows), STANDARD)["part"].tolist() == ["unmeasured", "good"]


def test_an_answer_without_claims_goes_beyond_nothing() -> None:
    found = evidence([(question("q"), ["c-q"], 1, "ok", False, 5.0, NAN)])
    found.scores.loc[1, "status"] = "empty_decomposition"
    assert blame(found, STANDARD)["part"].tolist() == ["good"]


@pytest.mark.parametrize(("value", "part"), [(4.0, "good"), (3.99, "not_used")])
def test_an_answer_that_reaches_the_limit_itself_is_right(value: float, part: str) -> None:
    found = evidence([(question("q"), ["c-q"], 1, "ok", False, value, 5.0)])
    assert blame(found, STANDARD)["part"].tolist() == [part]


def test_standards() -> None:
    assert Standard().limits == (4.0, 4.0)
    assert Standard("factual_correctness", "faithfulness").limits == (0.75, 1.0)
    assert Standard(right_from=5, faithful_from=2.5).limits == (5.0, 2.5)
    assert Standard().facts()["correctness_scale"] == [1.0, 5.0]
    for outside in (0.5, 1.0, 5.5):
        with pytest.raises(BenchError, match="goes from 1 to 5"):
            _ = Standard(right_from=outside).limits
    with pytest.raises(BenchError, match="metric of single answers"):
        _ = Standard("mrr").metrics
    with pytest.raises(BenchError, match="metric of single answers"):
        _ = Standard("noise_sensitivity").metrics


PART_NAMES = [part.value for part in PARTS[ANSWERABLE]]


def parts_table(parts: Sequence[str], system: str = "one", group: str = ANSWERABLE) -> pd.DataFrame:
    names = [f"q{place}" for place in range(len(parts))]
    return pd.DataFrame({"system": system, "sample": names, "group": group, "part": parts})


@settings(deadline=None, max_examples=10)
@given(st.lists(st.sampled_from([*PART_NAMES, "unmeasured"]), min_size=1, max_size=60), st.integers(1, 9))
def test_shares_add_up(parts: list[str], groups: int) -> None:
    table = parts_table(parts)
    clusters = {name: f"g{place % groups}" for place, name in enumerate(table["sample"])}
    for labels in (None, clusters):
        found = placed(shares(table, labels, Sureness(0.95, 200, 0))).set_index("part")
        counts = Counter(parts)
        measured = len(parts) - counts["unmeasured"]
        assert list(found.index) == PART_NAMES
        assert list(found["value"].fillna(0) * measured) == pytest.approx([counts[name] for name in PART_NAMES])
        assert set(found["n"]) == {measured}
        assert set(found["n_unmeasured"]) == {counts["unmeasured"]}
        if not measured:
            assert found["value"].isna().all()
            continue
        assert found["value"].sum() == pytest.approx(1)
        assert (found["low"] <= found["value"] + 1e-12).all()
        assert (found["value"] <= found["high"] + 1e-12).all()
        assert (found["low"] >= 0).all()
        assert (found["high"] <= 1).all()
        assert found.loc[found["value"] > 0, "floor"].sum() == pytest.approx(measured / len(parts))


def test_clusters_widen_the_interval() -> None:
    parts = ["not_retrieved"] * 60 + ["good"] * 140
    table = parts_table(parts)
    alone = placed(shares(table, None, SURE)).set_index("part").loc["good"]
    clusters = {name: f"g{place // 10}" for place, name in enumerate(table["sample"])}
    together = placed(shares(table, clusters, SURE)).set_index("part").loc["good"]
    assert together["high"] - together["low"] > 2 * (alone["high"] - alone["low"])
    assert together["clusters"] == 20


def test_indicators() -> None:
    found = indicators(["good", "unmeasured", "beyond"], PARTS[ANSWERABLE])
    np.testing.assert_array_equal(found["good"], [1, np.nan, 0])
    np.testing.assert_array_equal(found["missing"], [0, np.nan, 0])


def test_systems_are_compared_part_by_part_as_one_family() -> None:
    before = ["not_retrieved"] * 60 + ["good"] * 100 + ["unmeasured"] * 10
    after = ["not_retrieved"] * 10 + ["good"] * 140 + ["beyond"] * 10 + ["good"] * 10
    table = pd.concat([parts_table(before, "old"), parts_table(after, "new")], ignore_index=True)
    found = placed(compared(table, ["old", "new"], None, SURE)).set_index("part")
    assert set(found.index) == {"not_retrieved", "good", "beyond"}
    assert found.loc["not_retrieved", "verdict"] == "better"
    assert found.loc["not_retrieved", "difference"] == pytest.approx((10 - 60) / 160)
    assert found.loc["good", "verdict"] == "better"
    assert found.loc["beyond", "verdict"] == "cannot be told", "the 10 that are unmeasured may all have been beyond too"
    assert (found.loc["beyond", "withheld"], found.loc["beyond", "least"]) == ("10 of 170 pairs unmeasured", 0.0)
    assert set(found["n"]) == {160}
    assert set(found["n_dropped"]) == {10}
    assert (found["p_adjusted"] >= found["p"]).all()
    assert set(found["family"].str.split(",").str[0]) == {"3"}


def test_one_system_is_compared_with_nobody() -> None:
    assert compared(parts_table(["good", "beyond"]), ["one"], None, SURE) == ()


def test_the_good_end_is_of_both_groups() -> None:
    assert {part for parts in PARTS.values() for part in parts if part in GOOD} == set(GOOD)
    assert all(parts[-1] in GOOD for parts in PARTS.values())
