"""Judges as ragbench.toml names them, opened for a run or tried dry for a plan."""

from __future__ import annotations

import asyncio
import json

import pytest

from ragbench.old.core.settings import ConfigurationError, JudgeSettings, ProviderSettings, Settings
from ragbench.old.core.types import Judge
from ragbench.old.core.waves import gather
from ragbench.old.judge import (
    OFFLINE_JUDGES,
    LexicalJudge,
    ModelJudge,
    OpenJudges,
    PlanningJudge,
    WordReader,
    asks_nobody,
    open_judges,
)
from ragbench.old.llm import Client, Experience, MemoryJournal, experience
from ragbench.old.store.reply_journal import JournalSize
from tests.old.judge.judge_prompts import CLAIMS, SUPPORT, TEXTS
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_shapes import settings


class TestPlans:
    @staticmethod
    async def row(judge: Judge, number: int) -> None:
        claims = await judge.ask(CLAIMS, {"text": f"One sentence {number}. Another sentence."})
        assert claims.value is not None
        for claim in claims.value.claims:
            await judge.ask(SUPPORT, {"claim": claim, "contexts": [f"context {number}"]})

    def test_it_counts_without_a_call(self) -> None:
        judge = PlanningJudge("a", settings("http://127.0.0.1:9/v1", input_price=1.0, output_price=2.0, concurrency=4))

        async def work() -> None:
            await asyncio.gather(*(self.row(judge, number) for number in range(10)))
            await self.row(judge, 0)
            await judge.close()

        asyncio.run(work())
        plan = judge.outlook(Experience(output_tokens=50.0)).plan()
        assert (plan.calls, plan.journaled, plan.unknown, plan.guessed) == (30, 0, 0, False)
        assert plan.output_tokens == 1500
        assert plan.money == pytest.approx((plan.input_tokens + 2 * 1500) / 1e6)
        assert plan.money_at_most == pytest.approx((plan.input_tokens + 2 * 30 * 1024) / 1e6)
        assert judge.outlook().plan().guessed

    def test_it_knows_what_the_journal_has(self) -> None:
        journal = MemoryJournal()

        async def paid(server: ChatServer) -> None:
            judge = ModelJudge(Client("a", settings(server), journal=journal))
            await asyncio.gather(*(self.row(judge, number) for number in range(5)))
            await judge.close()

        async def planned(server: ChatServer) -> PlanningJudge:
            judge = PlanningJudge("a", settings(server), journal)
            await asyncio.gather(*(self.row(judge, number) for number in range(8)))
            await judge.close()
            return judge

        with ChatServer().running() as server:
            asyncio.run(paid(server))
            calls = server.calls
            plan = asyncio.run(planned(server)).outlook().plan()
            assert server.calls == calls
        assert plan.journaled == calls
        assert plan.calls == 3 * 3

    def test_experience_is_the_journals_mean(self) -> None:
        sizes = [JournalSize("b", "m", 1, 1, 1, 0.0, 9.0), JournalSize("a", "m", 4, 10, 40, 0.0, 6.0)]
        assert experience(sizes, "a", "m") == Experience(output_tokens=10.0)
        assert experience(sizes, "a", "other") == Experience()


class TestOpening:
    def test_without_judges_the_lexical_one_answers(self) -> None:
        opened = open_judges(Settings())
        assert [judge.name for judge in opened.judges] == ["lexical"]
        assert isinstance(opened.judges[0], Judge)

    def test_names_share_provider_budget_and_count(self) -> None:
        async def work(server: ChatServer) -> OpenJudges:
            chosen = Settings(
                providers={"p": ProviderSettings(base_url=server.url, concurrency=3)},
                judges={
                    "one": JudgeSettings(provider="p", model="m1"),
                    "two": JudgeSettings(provider="p", model="m2"),
                    "other": JudgeSettings(base_url="http://127.0.0.1:9/v1", model="m"),
                },
            )
            async with open_judges(chosen, ["one", "two", "lexical"], language="ru") as opened:
                assert isinstance(opened.judges[0], Judge)
                await gather(
                    [judge.ask(SUPPORT, {**TEXTS, "claim": f"{n}"}) for judge in opened.judges for n in range(10)]
                )
            return opened

        with ChatServer(latency=0.02).running() as server:
            opened = asyncio.run(work(server))
        assert server.calls == opened.tally.calls == opened.budget.spent.calls == 20
        assert server.most_in_flight == 3
        assert "Подтверждают" in json.dumps(server.requests[0].body, ensure_ascii=False)

    def test_an_unknown_name_lists_the_legal_ones(self) -> None:
        with pytest.raises(ConfigurationError, match=r"no judge 'x'; judges are lexical, (\w+, )*a"):
            open_judges(Settings(judges={"a": JudgeSettings(base_url="http://h/v1", model="m")}), ["x"])

    def test_a_judge_names_an_address_or_a_provider_that_exists(self) -> None:
        with pytest.raises(ValueError, match="give `base_url`"):
            JudgeSettings(model="m")
        with pytest.raises(ValueError, match="providers are anthropic, deepseek"):
            Settings(judges={"a": JudgeSettings(provider="p", model="m")})


class Strict(LexicalJudge):
    name = "strict"

    def __init__(self) -> None:
        super().__init__(WordReader(0.95))


class TestOffline:
    @pytest.fixture(autouse=True)
    def _second(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(OFFLINE_JUDGES, Strict.name, Strict)

    def test_whom_the_table_names_is_opened_and_asks_nobody(self) -> None:
        chosen = Settings(judges={"model": JudgeSettings(base_url="http://h/v1", model="m")})
        for dry_run in (False, True):
            opened = open_judges(chosen, ["strict", "lexical"], dry_run=dry_run)
            assert [type(judge) for judge in opened.judges] == [Strict, LexicalJudge]
            assert opened.judges[0].identity != opened.judges[1].identity
            assert all(map(asks_nobody, opened.judges))
        assert [asks_nobody(name) for name in ("strict", "lexical", "model", "")] == [True, True, False, False]

    def test_it_is_named_among_the_legal_ones_and_its_name_is_its_own(self) -> None:
        taken = Settings(judges={"strict": JudgeSettings(base_url="http://h/v1", model="m")})
        with pytest.raises(ConfigurationError, match=r"judges\.strict: this name belongs to an offline judge"):
            open_judges(taken, ["lexical"])
        with pytest.raises(ConfigurationError, match=r"no judge 'x'; judges are lexical, (\w+, )*strict \(tables"):
            open_judges(Settings(), ["x"])

    def test_a_judge_of_your_own_says_that_it_asks_nobody(self) -> None:
        class Own:
            name = identity = "own"

        assert not asks_nobody(Own())  # type: ignore[arg-type]
        Own.is_stand_in = True  # type: ignore[attr-defined]
        assert asks_nobody(Own())  # type: ignore[arg-type]
