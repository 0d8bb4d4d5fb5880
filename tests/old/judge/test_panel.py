"""Panels: aggregates, quorums, judge_coverage and influence by hand."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Judge, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.judge import LexicalJudge, Panel, Rule, judge_coverage, leave_one_out
from ragbench.old.llm import ProviderRefused
from tests.old.judge.judge_prompts import SUPPORT, TEXTS, judge_at
from tests.old.llm.chat_server import ChatServer


def scores(*values: float) -> dict[str, Score]:
    names = "abcdefg"
    return {
        names[n]: Score.unmeasured(Status.PARSE_ERROR, "bad") if math.isnan(value) else Score(value)
        for n, value in enumerate(values)
    }


def test_as_the_library_of_the_specification_joins_models() -> None:
    """Those that gave a score, one at least; by its own vote, 1 from more than half on, else 0."""
    assert Rule("mean", quorum=1)(scores(1.0, math.nan, 0.5)).value == 0.75
    assert Rule("binary_majority", quorum=1)(scores(1.0, math.nan, 0.4)).value == 0.0
    assert math.isnan(Rule()(scores(1.0, math.nan, 0.5)).value)
    assert math.isnan(Rule("majority", quorum=1)(scores(1.0, math.nan, 0.4)).value)


class TestPanel:
    @pytest.mark.parametrize(
        ("rule", "values", "expected"),
        [
            (Rule(), (0.2, 0.4, 0.9), 0.5),
            (Rule("median"), (0.2, 0.4, 0.9), 0.4),
            (Rule("median"), (0.2, 0.4), 0.3),
            (Rule("minimum"), (0.2, 0.4, 0.9), 0.2),
            (Rule("maximum"), (0.2, 0.4, 0.9), 0.9),
            (Rule("majority"), (1.0, 0.0, 1.0), 1.0),
            (Rule("majority"), (1.0, 0.0), math.nan),
            (Rule("majority"), (1.0, 0.0, 0.5), math.nan),
            (Rule("binary_majority"), (0.5, 0.2, 0.9), 1.0),  # MAJORITY_VOTING of Spring AI RAGAS: votes from 0.5 on
            (Rule("binary_majority"), (0.49, 0.2, 0.9), 0.0),
            (Rule("binary_majority"), (1.0, 0.0), 0.0),  # even is no majority
            (Rule("binary_majority", scale=(1.0, 5.0)), (3.0, 4.0, 1.0), 5.0),
            (Rule("binary_majority", scale=(1.0, 5.0)), (2.0, 4.0, 1.0), 1.0),
            (Rule("binary_majority", quorum=1), (0.6, math.nan, math.nan), 1.0),
            (Rule("binary_majority"), (0.6, math.nan, 1.0), math.nan),
            (Rule("consensus", 0.2), (0.4, 0.5, 0.6), 0.5),
            (Rule("consensus", 0.1), (0.4, 0.5, 0.6), math.nan),
            (Rule("consensus", 0.0), (0.4, 0.4), 0.4),
            (Rule("consensus", 0.2), (0.9, 0.7), 0.8),  # 0.9 − 0.7 is 0.20000000000000007
            (Rule("consensus", 0.1), (0.8, 0.9), 0.85),
            (Rule("consensus", 0.2), (0.9, 0.69999), math.nan),
            (Rule(), (0.2, math.nan, 0.4), math.nan),
            (Rule(quorum=2), (0.2, math.nan, 0.4), 0.3),
            (Rule("majority"), (1.0, math.nan, math.nan), math.nan),
            (Rule("majority", quorum=1), (1.0, math.nan, math.nan), 1.0),
            (Rule(quorum=2), (0.2, math.nan), math.nan),
            (Rule(quorum=1), (0.2, math.nan), 0.2),
            (Rule(), (math.nan, math.nan), math.nan),
        ],
    )
    def test_aggregates(self, rule: Rule, values: tuple[float, ...], expected: float) -> None:
        found = rule(scores(*values))
        assert found.value == pytest.approx(expected, nan_ok=True)
        assert (found.status is Status.OK) == (not math.isnan(expected))
        kept = found.detail["judges"]
        assert [kept[name]["value"] for name in kept] == pytest.approx(list(values), nan_ok=True)

    def test_what_is_not_asked_for_is_as_in_the_settings(self) -> None:
        known = Settings(aggregate="consensus", tolerance=0.25, quorum=2)
        assert Rule.of(known) == Rule("consensus", 0.25, 2)
        assert Rule.of(known, "median", quorum=1) == Rule("median", quorum=1)
        assert Rule.of(known, "consensus", 0.5) == Rule("consensus", 0.5, 2)
        with pytest.raises(ValueError, match=r"aggregate = 'mean', tolerance = 0.25: consensus, and nothing else"):
            Settings(tolerance=0.25)
        with pytest.raises(ValueError, match=r"aggregate = 'mean', tolerance = 0.25: consensus, and nothing else"):
            Rule.of(known, "mean", 0.25)

    def test_a_binary_majority_needs_a_scale_with_ends(self) -> None:
        assert Rule("binary_majority").on((1, 5)).scale == (1, 5)
        assert Rule("mean").on((0, None)) == Rule("mean")
        with pytest.raises(ValueError, match=r"two ends, for its middle; this one is 0 … None"):
            Rule("binary_majority").on((0, None))

    @pytest.mark.fault("flattering", tried="a judge of a panel that fails where it would be strict", count=1)
    def test_a_failed_judge_is_named(self) -> None:
        for rule in (Rule(), Rule(quorum=1)):
            assert "b (parse_error)" in rule(scores(0.2, math.nan)).reason
        assert Rule()(scores(math.nan, math.nan)).status is Status.PARSE_ERROR

    @pytest.mark.parametrize("wrong", [{"how": "mode"}, {"how": "consensus"}, {"tolerance": 0.1}, {"quorum": 0},
                                       {"how": "consensus", "tolerance": math.nan}])  # fmt: skip
    def test_a_rule_that_means_nothing_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"aggregate|tolerance|quorum"):
            Rule(**wrong)

    def test_a_value_of_fewer_judges_is_marked(self) -> None:
        assert Rule(quorum=1)(scores(0.2, math.nan)).judge == "panel mean, 1 of 2"
        assert Rule(quorum=1)(scores(0.2, 0.4)).judge == "panel mean"
        assert Rule()(scores(0.2, math.nan)).judge == "panel mean"

    def test_a_quorum_that_the_judges_cannot_make_is_refused(self) -> None:
        with pytest.raises(ValueError, match="quorum = 2: there are only 1 judges"):
            Panel([LexicalJudge()], Rule(quorum=2))

    def test_its_seconds_are_the_judges_sum(self) -> None:
        one, two = Score(0.2, seconds=1.5), Score.unmeasured(Status.TIMEOUT, "late", seconds=60.0)
        assert Rule()({"a": one, "b": two, "c": Score(0.1)}).seconds == 61.5
        assert Rule()(scores(0.2, 0.4)).seconds is None

    def test_which_items_each_judge_measured(self) -> None:
        """a: 0.2, 0.4, —; b: —, 0.8, —: together only the second; by a quorum of one also the first, of a alone."""
        answers = [(0.2, math.nan), (0.4, 0.8), (math.nan, math.nan)]
        found = judge_coverage([Rule(quorum=1)(scores(*each)) for each in answers])
        assert (found.n, found.incomplete, found.common, found.even) == (2, 1, 1, False)
        first, second = found.judges
        assert (first.judge, first.n, first.mean, first.common) == ("a", 2, pytest.approx(0.3), 0.4)
        assert (second.judge, second.n, second.mean, second.common) == ("b", 1, 0.8, 0.8)
        whole = judge_coverage([Rule()(scores(*each)) for each in answers])
        assert (whole.n, whole.incomplete, whole.common, whole.even) == (1, 0, 1, False)
        assert judge_coverage([Rule()(scores(0.1, 0.2))]).even
        assert math.isnan(judge_coverage([Rule()(scores(0.1, math.nan))]).judges[0].common)

    def test_leaving_one_out(self) -> None:
        rule = Rule(quorum=1)
        table = [rule(scores(0.0, 0.0, 0.6)), rule(scores(0.3, 0.3, 0.9)), rule(scores(0.5, math.nan, math.nan))]
        a, b, c = leave_one_out(table, rule)
        # whole: (0.2, 0.5); without c: (0.0, 0.3); the third sample has nothing without a
        assert (c.whole, c.without, c.shift) == pytest.approx((0.4, (0.0 + 0.3 + 0.5) / 3, -0.4 / 3))
        assert c.largest == pytest.approx(0.2)
        assert (a.n, b.n, c.n) == (2, 3, 3)
        assert a.shift == pytest.approx((0.3 + 0.6) / 2 - (0.2 + 0.5) / 2)
        whole = Rule(quorum=3)
        [first, *_] = leave_one_out([whole(scores(0.0, 0.0, 0.6))], whole)
        assert (first.n, first.without) == (1, pytest.approx(0.3)), "a quorum of all is one of all that are left"
        with pytest.raises(ValueError, match="two judges"):
            leave_one_out([rule(scores(0.1))], rule)

    def test_judges_work_at_once_and_a_dead_one_is_named(self) -> None:
        async def measure(judge: Judge) -> Score:
            answer = await judge.ask(SUPPORT, TEXTS)
            assert answer.value is not None
            return Score(answer.value.score / 5, judge=judge.name)

        async def work(good: ChatServer, bad: ChatServer) -> list[Score]:
            judges = [judge_at(good, "good"), judge_at(bad, "bad"), LexicalJudge()]
            panel = Panel(judges, Rule(quorum=2))
            found = await gather([panel.score(measure) for _ in range(4)])
            for judge in judges[:2]:
                await judge.close()  # type: ignore[union-attr]
            return found

        with ChatServer().running() as good, ChatServer(answer=lambda body: "!401").running() as bad:
            found = asyncio.run(work(good, bad))
        assert bad.calls <= 2
        assert {s.status for s in found} == {Status.OK}
        assert set(found[0].detail["judges"]) == {"good", "bad", "lexical"}
        assert "bad (judge_error)" in found[0].reason
        assert [one.n for one in judge_coverage(found).judges] == [4, 0, 4]

    @pytest.mark.fault("denied", tried="a panel whose providers all refuse", count=1)
    def test_when_no_judge_is_left_the_run_stops(self) -> None:
        async def work(server: ChatServer) -> None:
            judge = judge_at(server)
            try:
                await Panel([judge]).score(lambda j: j.ask(SUPPORT, TEXTS))  # type: ignore[arg-type,return-value]
            finally:
                await judge.close()

        with ChatServer(answer=lambda body: "!402").running() as server, pytest.raises(ProviderRefused):
            asyncio.run(work(server))

    def test_names_are_one_each(self) -> None:
        with pytest.raises(ValueError, match="under its own name"):
            Panel([LexicalJudge(), LexicalJudge()])
