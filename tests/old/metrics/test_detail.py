"""What a score keeps of its making has one shape, however the measurement ended: pages read it without asking how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ragbench.old.core.types import Status
from ragbench.old.llm import run
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.claims import UNJUDGED
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.measure import Asked, measure
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment, score
from tests.old.views import every_ending

STATEMENT = {"statement": str, "verdict": str, "reason": str, "chunks": list}
TABLES = {
    "statements": STATEMENT,
    "claims": STATEMENT,
    "chunks": {"chunk": str, "rank": int, "verdict": str, "reason": str},
    "questions": {"question": str, "manner": str},
    "verdicts": {"verdict": str, "reason": str},
}


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    """Every metric of single answers, on answers that end in every way."""
    metrics = [one for one in catalogue().values() if one.grain == "sample"]
    asked = Asked((every_ending.Judge(),), (every_ending.Embedder(),), resamples=100)
    return tuple(run(measure(every_ending.samples(), metrics, asked)).rows)


def details(rows: tuple[Row, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each score keeps, and what each of its parts does."""
    for row in rows:
        place = f"{row.metric.label}, {row.sample.id}: {row.score.status}"
        yield place, row.score.detail
        for name, part in (row.score.detail.get("parts") or {}).items():
            yield f"{place}, {name}", part


def kind(value: Any) -> str:
    """What a value is, as a reader has to know it: lists by what is in them, mappings by themselves."""
    if isinstance(value, list | tuple):
        return f"list of {' or '.join(sorted({kind(each) for each in value}))}"
    return "mapping" if isinstance(value, Mapping) else type(value).__name__


@pytest.mark.fault("garbage", tried="every metric on answers whose measurement ends in every way", count=15)
def test_every_status_comes_from_measuring(rows: tuple[Row, ...]) -> None:
    ours = set(Status) - {Status.FUNCTION_ERROR, Status.INVALID_INPUT}  # of metrics and fields of the user's own
    assert {row.score.status for row in rows} == ours

    def of(name: str) -> set[Status]:
        return {row.score.status for row in rows if row.metric.name == name}

    assert of("faithfulness") == ours - {Status.EMBEDDING_ERROR}
    if "nugget_score" in catalogue():  # of an annex
        assert of("nugget_score") == of("faithfulness") - {Status.EMPTY_DECOMPOSITION}
        assert of("citation_support") == of("goal_reached") == of("relevance_grade") >= {Status.OK, Status.REFUSED}
    assert len({row.metric.name for row in rows}) == sum(one.grain == "sample" for one in catalogue().values())


def test_a_part_of_a_detail_is_the_same_kind_of_thing_whatever_the_status_is(rows: tuple[Row, ...]) -> None:
    kinds: dict[tuple[str, str], dict[str, str]] = {}
    for place, detail in details(rows):
        for name, value in detail.items():
            if value not in (None, [], {}):
                kinds.setdefault((place.split(",")[0], name), {}).setdefault(kind(value), place)
    assert not {key: found for key, found in kinds.items() if len(found) > 1}


def test_rows_have_their_fields_whatever_the_status_is(rows: tuple[Row, ...]) -> None:
    seen = set()
    for place, detail in details(rows):
        for name, fields in TABLES.items():
            value = detail.get(name) or ()
            for each in [one for side in value.values() for one in side] if isinstance(value, Mapping) else value:
                seen.add(name)
                assert {key: type(each.get(key)) for key in fields} == fields, place
                assert all(isinstance(chunk, str) for chunk in each.get("chunks", ())), place
    assert seen == set(TABLES)


@pytest.mark.parametrize("variant", ["specification", "ragas"])
@pytest.mark.parametrize("given", [0, 1, 2])
def test_verdicts_that_came_are_kept_beside_those_that_did_not(given: int, variant: str) -> None:
    """Claims a, b and c; the judge leaves out all but the first ones, twice."""
    judge = ScriptedJudge(
        claims=claims("a", "b", "c"),
        entailment=lambda texts: entailment(*[1] * given, passages=[2]) if len(texts["statements"]) == 3 else
        entailment(),
    )  # fmt: skip
    faithfulness = catalogue()["faithfulness"].function
    found = score(faithfulness(every_ending.sample("ok"), judge=judge, variant=variant))
    if variant == "ragas" and given:
        assert found.status is Status.OK, "it counts what came"
        return
    assert found.status is Status.VERDICT_MISMATCH
    assert [(one["statement"], one["verdict"], one["chunks"]) for one in found.detail["statements"]] == [
        *((name, "supported", ["c2"]) for name in "abc"[:given]),
        *((name, UNJUDGED, []) for name in "abc"[given:]),
    ]


def test_what_is_held_against_the_reference_cites_no_passage() -> None:
    """The reference is no retrieved passage: its number would lead to a passage that is called so."""
    factual = catalogue()["factual_correctness"].function
    found = score(factual(every_ending.sample("ok"), judge=every_ending.Judge()))
    assert [one["chunks"] for side in found.detail["claims"].values() for one in side] == [[]] * 4
