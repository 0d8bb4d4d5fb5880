"""Functions of one's own: as metrics, with the judge and the embedder that they ask for, and as judges."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core import metric as declarations
from ragbench.old.core import settings
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.tiers.scoring import functions
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.small_project import add
from tests.old.tiers import answer_project
from tests.old.tiers.polite_answers import ROWS, values


def words(response: str) -> float:
    """How many words the answer has."""
    return float(len(response.split()))


def raises(response: str, reference: str | None = None) -> float:
    """Raises where there is no comma."""
    return 1 / response.count(",")


async def hangs(sample: Sample) -> float:
    await asyncio.sleep(30)
    return 1.0


async def blocks(sample: Sample) -> float:
    if sample.id == "b":
        time.sleep(30)
    return 0.5


def given(value: Any) -> Callable[[str], Any]:
    def returned(response: str) -> Any:
        return value

    return returned


@pytest.fixture
def patience(bare: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets how many seconds a function may take; what will not end is left soon."""
    for place in ("ragbench.old.systems.callables", "ragbench.old.tiers.scoring.functions"):
        monkeypatch.setattr(f"{place}.GRACE_SECONDS", 0.05)
    return lambda seconds: add(bare, f"[metrics]\ntimeout_seconds = {seconds}\n")


def test_functions_are_metrics_and_what_they_do_is_a_row(patience: Callable[[float], None]) -> None:
    patience(0.5)
    found = rb.score(ROWS, [words, raises, hangs, blocks])
    got = {(row.metric.name, row.sample.id): row.score for row in found.rows}
    assert (got["words", "a"].value, got["words", "b"].value) == (3.0, 2.0)
    assert got["raises", "a"].value == 1.0
    assert (got["raises", "b"].status, got["raises", "b"].reason) == (
        Status.FUNCTION_ERROR, "ZeroDivisionError: division by zero",
    )  # fmt: skip
    assert {got["hangs", row].status for row in "ab"} == {Status.TIMEOUT}
    assert "raise metrics.timeout_seconds" in got["hangs", "a"].reason
    assert got["blocks", "a"].value == 0.5, "who waits behind one that blocks is called anew"
    assert got["blocks", "b"].status is Status.TIMEOUT
    assert found.means["answers", "raises"].n_unmeasured == 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "it returned None"),
        ("0.5", "it returned a text, '0.5'"),
        (float("nan"), "it returned nan"),
        (float("inf"), "it returned inf"),
        ([1], "it returned a list, [1]"),
        (Score(2.0), ""),
        (True, ""),
    ],
)
def test_what_is_no_number_is_unmeasured(value: Any, said: str, bare: Path) -> None:
    [row] = rb.score(ROWS[:1], given(value)).rows
    assert row.score.reason.startswith(said)
    assert (row.score.status is Status.OK) == (not said)


def test_a_value_outside_the_scale_is_unmeasured(bare: Path) -> None:
    @declarations.metric(source="us", bounds=(0.0, 1.0))
    def out_of_scale(sample: Sample) -> float:
        return 7.0

    [row] = rb.score(ROWS[:1], [out_of_scale]).rows
    assert "it returned 7, which is not on its scale 0.0 … 1.0" in row.score.reason


def test_a_function_that_always_runs_out_of_time_is_called_no_more(patience: Callable[[float], None]) -> None:
    patience(0.1)
    found = rb.score([{"id": str(n), "answer": "x"} for n in range(8)], [_sleeps])
    reasons = [row.score.reason for row in found.rows]
    assert sum("not called: 5 calls before it" in one for one in reasons) == 3


def _sleeps(response: str) -> float:
    time.sleep(30)
    return 1.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda response: 1.0, "a function without a name"),
        (lambda: None, "a function without a name"),
        (words.__class__(compile("def mrr(response): return 1.0", "x", "exec").co_consts[0], {}), "mrr is declared in"),
    ],
)
def test_a_function_that_cannot_be_one_is_refused(function: Any, said: str, bare: Path) -> None:
    with pytest.raises(ValueError, match=said):
        functions.declared(function)


def test_parameters_are_fields(bare: Path) -> None:
    def odd(answer: str) -> float:
        return 1.0

    def asks(response: str, judge: Any) -> float:
        return 1.0

    with pytest.raises(ValueError, match="there is no field 'answer'; a function takes a sample, or its fields"):
        rb.score(ROWS, [odd])
    with pytest.raises(ValueError, match="asks a judge, whose answer is awaited: write it as async def"):
        rb.score(ROWS, [asks])
    with pytest.raises(ValueError, match="reads needs reference, which no sample has"):
        rb.score(ROWS, [reads])


def reads(reference: str) -> float:
    return 1.0


def test_a_function_may_ask_the_judge(bare: Path) -> None:
    polite = rb.criterion("Is it polite?")

    async def twice(sample: Sample, judge: Any) -> bool:
        texts = {"user_input": sample.user_input or "", "response": sample.response or ""}
        answer = await judge.ask(polite.prompts[0], texts)
        return bool(answer.value.verdict == "yes")

    found = rb.score(ROWS, [twice], judge=rb.judge(_replies))
    assert tuple(values(found).values()) == (1.0, 0.0)
    assert {row.score.judge for row in found.rows} == {"_replies"}


def _replies(prompt: str) -> dict[str, Any]:
    return {"reason": "so", "verdict": "yes" if "please" in prompt else "no"}


async def _later(prompt: str) -> str:
    await asyncio.sleep(0)
    return json.dumps(_replies(prompt))


def _fails(prompt: str) -> str:
    raise ConnectionError("the line is dead")


@pytest.mark.parametrize(("function", "expected"), [(_replies, [1.0, 0.0]), (_later, [1.0, 0.0])])
def test_a_function_is_a_judge(function: Any, expected: list[float], bare: Path) -> None:
    polite = rb.criterion("Is it polite?")
    assert list(values(rb.score(ROWS, [polite], rb.judge(function, name="mine"))).values()) == expected
    panel = rb.score(ROWS, [polite], [rb.judge(function, name="one"), rb.judge(_replies, name="two")])
    assert list(values(panel).values()) == expected
    assert set(panel.rows[0].score.detail["judges"]) == {"one", "two"}


def test_a_judge_that_raises_leaves_rows_and_never_ends_the_run(bare: Path) -> None:
    rows = [{"id": str(n), "answer": f"x{n}"} for n in range(12)]
    found = rb.score(rows, [rb.criterion("Is it polite?")], rb.judge(_fails))
    assert {row.score.status for row in found.rows} == {Status.JUDGE_ERROR}
    assert {row.score.reason for row in found.rows} == {"ConnectionError: the line is dead"}
    wordy = rb.score(rows[:1], [rb.criterion("Is it polite?")], rb.judge(given(3), name="number"))
    assert "it returned int; a text, or an object for JSON, is expected" in wordy.rows[0].score.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give model=… and base_url=… or client=…, or a function"),
        ({"model": "m"}, "give `base_url`, the name of a shared `provider`, or your `client`"),
        ({"model": "m", "base_url": "ftp://x"}, "only http and https are spoken"),
        ({"model": "m", "base_url": "http://x", "temprature": 1}, "there is no key 'temprature'; did you mean"),
        ({"model": "m", "base_url": "http://x", "temperature": 9}, "temperature = 9"),
        ({"function": 3}, "3 is no function of a prompt's text"),
        ({"function": _replies, "base_url": "http://x"}, "base_url goes with a model at an address"),
        ({"function": _replies, "name": "lexical"}, "this name belongs to the offline judge"),
    ],
)
def test_a_wrong_judge_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        rb.judge(given.pop("function", None), **given)
    assert said in str(raised.value)


def test_a_function_asks_for_an_embedder_by_its_name(bare: Path) -> None:
    def width(response: str, embedder: Any = "wide") -> float:
        return float(embedder.embed([response]).shape[1])

    narrow, wide = (ScriptedEmbedder({"At 8.": [1.0] * size}, name=name) for name, size in (("narrow", 2), ("wide", 3)))
    row = {"question": "When?", "answer": "At 8."}
    for several in ([narrow, wide], [wide, narrow]):
        assert rb.score([row], metrics=[width], embedder=several).rows[0].score.value == 3.0
    [alone] = rb.score([row], metrics=[width], embedder=narrow).rows
    assert math.isnan(alone.score.value)
    assert alone.score.reason == (
        "it asks for the embedder 'wide', and narrow was named: --embedder narrow,wide, or -p embedder=narrow,wide"
    )


def test_a_function_of_repeats_is_a_number_of_a_page_as_any_other(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logged: the two answers to q1 are one and the same, those to q2 differ; at q3 the function fails, and q4 was not
    answered."""
    from ragbench.old import tiers, views
    from ragbench.old.tiers.run import gates

    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_repeats.py").write_text(
        "from ragbench.old.core.metric import metric\n\n\n"
        "@metric(source='ours')\n"
        "def variety(turns) -> float:\n"
        '    """Share of different answers among those to one question."""\n'
        "    if turns[0].id == 'q3':\n        raise LookupError('no answer')\n"
        "    return len({turn.response for turn in turns}) / len(turns)\n",
        encoding="utf-8",
    )
    add(tmp_path, '[metrics]\nmodules = ["mine_repeats"]\n')
    made = tiers.tier3_end_to_end(
        systems="plain,logged", metrics="variety,rouge1_f", repeats=2, perfect_parts=False, timed_questions=0,
        resamples=200,
    )  # fmt: skip
    own = made.scores.query("metric == 'variety' and system == 'logged'").set_index("sample")
    assert own["value"].dropna().to_dict() == {"q1": 0.5, "q2": 1.0}
    assert own.loc["q4", "reason"] == "not in log.jsonl", "what was not answered is not given to the function"
    assert (own.loc["q3", "status"], own.loc["q3", "reason"]) == ("function_error", "LookupError: no answer")
    estimate = next(e.estimate for e in made.estimates if (e.system, e.metric) == ("logged", "variety"))
    assert (estimate.value, estimate.n) == (0.75, 2)
    [difference] = [c.comparison for c in made.comparisons if c.metric == "variety"]
    assert (difference.challenger, difference.n) == ("logged", 2)
    held = '[gate.varied]\nmetric = "variety"\nsystem = "logged"\nat_least = 0.0\nmost_unmeasured = 0.5\n'
    add(tmp_path, held)
    [checked] = gates.decide({"tier3_end_to_end": made}, settings.load()).checks
    assert (checked.metric, checked.system, checked.outcome) == ("variety", "logged", gates.Outcome.HOLDS)
    page = views.Page(made)
    assert "variety" in views.comparison.table(page).html()
    assert "Share of different answers among those to one question." in views.about.method(page).html()
