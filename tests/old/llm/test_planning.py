"""`--plan`: what a run would ask, said without one call, and held to what the run then asks."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as ragbench_package
from ragbench.old import report, tiers
from ragbench.old.cli.console import outputs
from ragbench.old.core.settings import (
    EmbedderSettings,
    GeneratorSettings,
    JudgeSettings,
    RerankerSettings,
    RewriterSettings,
    Settings,
    SystemSettings,
    load,
)
from ragbench.old.core.trust import UntrustedError
from ragbench.old.llm import Experience, Outlook, planning
from ragbench.old.report.execution import orchestration
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import Choice, DatabaseJournal, Pruning
from ragbench.old.systems import make
from ragbench.old.systems.work import Demand, Estimate, Task, Work
from tests.old.cli.command_line import ragbench
from tests.old.embed.servers import embeddings_server
from tests.old.judge import judged_project
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request, settings
from tests.old.small_project import add
from tests.old.systems.test_systems import DATASET, QUESTIONS

ROOT = Path(__file__).parents[3]


def numbers(text: str, judge: str) -> list[float]:
    """The numbers of a judge's line: calls, journaled, repairs if known, tokens read, written, cost, most."""
    [line] = [line for line in text.splitlines() if line.split()[:1] == [judge]]
    return [float(word.replace(",", "")) for word in line.split() if re.fullmatch(r"[\d,]+(\.\d+)?", word)]


def outlook(name: str, keys: str, *, journaled: str = "", unknown: int = 0, **settings: object) -> Outlook:
    chosen = JudgeSettings.model_validate({"base_url": "http://h/v1", "model": "m", "concurrency": 2, **settings})
    return Outlook(name, chosen, dict.fromkeys(keys, (100, 40)), frozenset(journaled), unknown, Experience(10.0))


class TestOutlooks:
    def test_equal_questions_of_two_notebooks_count_once(self) -> None:
        [sum_] = planning.together([outlook("a", "xyz", journaled="p"), outlook("a", "zw", journaled="pq", unknown=2)])
        plan = sum_.plan()
        assert (plan.calls, plan.journaled, plan.unknown) == (4, 2, 2)
        assert (plan.input_tokens, plan.output_tokens) == (400, 40)

    def test_repairs_are_foreseen_by_the_journals_share_and_paid_for(self) -> None:
        plain = outlook("a", "wxyz", input_price=1.0, output_price=2.0)
        often = replace(plain, experience=Experience(10.0, again=0.5))
        before, plan = plain.plan(), often.plan()
        assert (before.calls, before.repairs, plan.calls, plan.repairs) == (4, None, 4, 2)
        assert plan.output_tokens == 6 * 10
        assert plan.input_tokens == 6 * 100 + 2 * 10, "a repair reads the question and the reply that was no use"
        assert plan.money == pytest.approx((620 + 2 * 60) / 1e6)
        assert plan.money_at_most == pytest.approx((620 + 2 * 6 * 40) / 1e6)
        assert replace(plain, experience=Experience(10.0, again=0.0)).plan() == replace(before, repairs=0)

    def test_they_travel_through_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert planning.folder() is None
        monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path / "plan"))
        repaired = replace(outlook("b", "x", input_price=2.0), experience=Experience(10.0, 0.25))
        given = [outlook("a", "xy", journaled="z"), repaired]
        planning.keep(given)
        assert planning.kept(tmp_path / "plan") == given
        planning.keep([outlook("a", "w")])
        assert [one.plan().calls for one in planning.kept(tmp_path / "plan")] == [3, 1]


class TestWork:
    """What systems would ask of endpoints, on the sample of `tests.old.systems.test_systems`."""

    def test_what_is_computed_here_is_no_part_of_it(self, store: Store) -> None:
        known = Settings(embedders={"e": EmbedderSettings()}, systems={"mine": SystemSettings(embedder="e")})
        demand = Demand(tuple(QUESTIONS), repeats=3, timed=tuple(QUESTIONS), compared=True)
        assert Estimate(known, store, DATASET).of_system("mine", [demand]) == Work("mine", ())

    def test_calls_of_parts_are_counted_and_nobody_is_called(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        with ChatServer(answer=lambda body: "стипендия по итогам").running() as chat, embeddings_server() as server:
            known = Settings(
                generators={"m": GeneratorSettings(kind="openai", model="plan", base_url=chat.url)},
                rewriters={"it": RewriterSettings(kind="rewrite", generator="m")},
                rerankers={"it": RerankerSettings(kind="endpoint", model="plan", base_url=server.url)},
                embedders={"far": EmbedderSettings(kind="openai", model="plan", base_url=server.url)},
                systems={"mine": SystemSettings(embedder="far", rewriter="it", reranker="it")},
            )
            demand = Demand(QUESTIONS, timed=QUESTIONS)
            work = Estimate(known, store, DATASET).of_system("mine", [demand])
            assert {task.what: (task.left, task.calls) for task in work.tasks} == {
                "passages": (4, 1), "questions": (3, 1), "reranker": (3, 3),
            }  # fmt: skip
            assert Estimate(known, store, DATASET).of_system("mine", [demand]) == work, "a plan writes nothing"
            assert work.outlook is not None
            assert len(work.outlook.missing) == 3
            monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path))
            found = make("mine", known, store, DATASET).retrieve(QUESTIONS, 2)
            assert [row[0].chunk.id for row in found.hits] == [min(one.relevant) for one in QUESTIONS]
            assert (chat.calls, server.requests) == (0, [])
            monkeypatch.delenv(planning.PLAN_FOLDER)
            true = make("mine", known, store, DATASET).retrieve(QUESTIONS, 2)
            paid = chat.calls, len(server.requests)
            after = Estimate(known, store, DATASET).of_system("mine", [Demand(QUESTIONS, repeats=2)])
            assert {(task.left, task.calls) for task in after.tasks} == {(0, 0)}
            assert [(task.left, task.calls) for task in after.anew] == [(3, 1)]
            monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path))
            assert make("mine", known, store, DATASET).retrieve(QUESTIONS, 2).hits == true.hits, "all of it is kept"
            assert (chat.calls, len(server.requests)) == paid

    def test_what_systems_share_is_counted_once(self, capsys: pytest.CaptureFixture[str]) -> None:
        same = Task(("passages", "e", "d"), "passages", "e", 4, 2)
        own = [Task(("reranker", n), "reranker", f"r-{n}", 3, 3) for n in "ab"]
        outputs.show_work([Work(name, (same, task)) for name, task in zip("ab", own, strict=True)])
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert lines[1] == "a e, r-a 4 — — 3 — 5"
        assert lines[3] == "all, what is shared once e, r-a, r-b 4 — — 6 — 8"
        [whole] = outputs.shared((replace(same, left=3, calls=1), same))
        assert (whole.left, whole.calls) == (4, 2)
        outputs.show_work([Work("a", (replace(same, left=0, calls=0),))])
        assert capsys.readouterr().out == ""


class TestAskedAgain:
    @staticmethod
    def row(prompt: str, *, limit: int = 100, finish: str = "stop", repair: bool = False) -> dict[str, Any]:
        roles = ("user", "assistant", "user") if repair else ("user",)
        messages = [{"role": role, "content": "x"} for role in roles]
        request = {"messages": messages, "decoding": {"max_tokens": limit}}
        return {"prompt": prompt, "version": 1, "finish": finish, "request": request}

    def test_repairs_and_longer_replies_are_second_calls(self) -> None:
        plain = [self.row("p") for _ in range(7)]
        cut = [self.row("p", finish="length"), self.row("p", limit=200), self.row("p", limit=200, repair=True)]
        assert planning.asked_again(plain) == 0.0
        assert planning.asked_again([*plain, *cut]) == pytest.approx(2 / 8)
        assert planning.asked_again([]) is None

    def test_another_limit_by_choice_is_no_second_call(self) -> None:
        assert planning.asked_again([self.row("p"), self.row("p", limit=200), self.row("q", finish="length")]) == 0.0

    def test_the_journal_tells_how_often_a_model_was_asked_again(self, store: Store) -> None:
        """Against what the server counted, and the plan of other questions against what they then take."""
        journal, name, n = DatabaseJournal(store.engine), "spoilt", 120

        async def ask(url: str, part: str, n: int) -> None:
            async with open_client(url, name, journal=journal) as client:
                await asyncio.gather(*(client.complete(request(f"{part} {number}")) for number in range(n)))

        with ChatServer(faults={"nan": 0.2, "length": 0.1}, seed=3).running() as server:
            asyncio.run(ask(server.url, "before", n))
            known = planning.experience(journal, name, settings(server.url).model)
            assert known.again is not None
            assert known.again == pytest.approx((server.calls - n) / n)
            assert 0.15 < known.again < 0.45
            plan = Outlook(name, settings(server.url), dict.fromkeys(map(str, range(n)), (10, 10)), experience=known)
            before = server.calls
            asyncio.run(ask(server.url, "after", n))
            repairs = server.calls - before - n
        assert plan.plan().repairs == pytest.approx(repairs, abs=4 * (n * 0.3 * 0.7) ** 0.5)
        assert planning.experience(journal, "never asked", "m").again is None


@pytest.fixture
def unasked(project: Path) -> None:
    """The project's judges are asked by nobody before: what the journal knows of a name is the experience of all."""
    with Store.open(load()) as store:
        for name in ("one", "two"):
            Pruning(store.engine, Choice(judge=name)).delete()


@pytest.mark.usefixtures("unasked")
@pytest.mark.slow
def test_a_plan_counts_what_the_run_then_asks_and_the_next_plan_finds_it_kept(project: Path) -> None:
    with ChatServer(answer=judged_project.reply).running() as server:
        notebook = str(judged_project.make(project, server.url))
        plan = ragbench("run", notebook, "tier1_retrieval", "--plan")
        assert plan.returncode == 0, plan.stderr
        assert server.calls == 0
        assert not (project / "reports").exists()
        assert "Ask no model: tier1_retrieval." in plan.stdout
        assert "The journal knows no call of one, two" in plan.stdout
        calls, journaled, read, written, cost, most = numbers(plan.stdout, "one")
        # per answer: its claims and one verdict on all of them; the questions that it would answer
        assert (calls, journaled) == (3 * 8, 0)
        assert cost == pytest.approx((read + 2 * written) / 1e6, abs=5e-5)
        assert cost < most
        assert numbers(plan.stdout, "all")[0] == 2 * calls

        run = ragbench("run", notebook)
        assert run.returncode == 0, run.stderr
        paid = server.calls
        assert paid == 2 * calls
        page = (project / "reports" / "latest" / f"{judged_project.NAME}.html").read_text(encoding="utf-8")
        assert "Judged by" in page

        again = ragbench("run", notebook, "--plan")
        assert numbers(again.stdout, "one")[:3] == [0, calls, 0]
        assert "The journal knows no call" not in again.stdout

        assert "from the journal" not in run.stdout, "all of it was asked now"
        rerun = ragbench("run", notebook)
        assert rerun.returncode == 0
        assert server.calls == paid
        expected = "from the journal: 24 of 24 replies of one, 24 of 24 replies of two"
        assert expected in rerun.stdout.splitlines()
        later = (project / "reports" / "latest" / f"{judged_project.NAME}.html").read_text(encoding="utf-8")
        assert later.splitlines() == page.splitlines()


@pytest.mark.usefixtures("unasked")
@pytest.mark.slow
def test_a_budget_that_will_not_do_is_said_and_a_notebook_that_fails_too(project: Path) -> None:
    notebook = str(judged_project.make(project, "http://127.0.0.1:9/v1"))
    add(project, "[budget]\ncalls = 5\n")
    plan = ragbench("run", notebook, "--plan", "-p", "judges=one")
    assert plan.returncode == 0, plan.stderr
    assert "calls = 5 in [budget], 24 expected" in plan.stdout
    failed = ragbench("run", notebook, "--plan", "-p", "judges=nobody")
    assert failed.returncode == 4
    assert "there is no judge 'nobody'" in failed.stderr
    offline = ragbench("run", notebook, "--plan", "-p", "judges=lexical")
    assert offline.returncode == 0
    assert "no model would be asked" in offline.stdout


def test_a_table_of_answers_has_a_plan_too(project: Path) -> None:
    rows = [
        {"user_input": f"What {n}?", "response": f"It is {n}.", "retrieved_contexts": [f"It is {n}."]} for n in range(4)
    ]
    (project / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    with ChatServer(answer=judged_project.reply).running() as server:
        judged_project.make(project, server.url)
        words = ("score", "answers.json", "-m", "faithfulness", "--judge", "one")
        plan = ragbench(*words, "--plan")
        assert plan.returncode == 0, plan.stderr
        assert numbers(plan.stdout, "one")[:2] == [8, 0]
        assert server.calls == 0
        sampled = ragbench(*words, "--plan", "--limit", "2")
        assert numbers(sampled.stdout, "one")[:2] == [4, 0]
        assert "Of a sample of questions: all of them would ask one about 8 times" in sampled.stdout
        assert server.calls == 0
        assert ragbench(*words).returncode == 0
        assert server.calls == 8


def test_a_call_has_a_plan_that_asks_nobody_and_needs_nobodys_trust(
    project: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": f"q{n}", "user_input": f"What {n}?", "response": f"It is {n}.", "retrieved_contexts": [f"{n}."]}
            for n in range(6)]  # fmt: skip
    with ChatServer(answer=judged_project.reply).running() as server:
        table = f'[judges.one]\nbase_url = "{server.url}"\nmodel = "m"\ninput_price = 1.0\noutput_price = 2.0\n'
        add(project, table)
        monkeypatch.delenv("RAGBENCH_TRUST")
        monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))  # the project's own is not opened then
        load.cache_clear()
        with pytest.raises(UntrustedError):
            ragbench_package.score(rows, ["faithfulness"])
        [plan] = ragbench_package.score(rows, ["faithfulness"], plan=True)
        assert (plan.judge, plan.calls, plan.journaled) == ("one", 12, 0)
        assert plan.money > 0
        [sampled] = ragbench_package.score(rows, ["faithfulness"], plan=True, limit=2)
        assert (sampled.calls, sampled.scale) == (4, 3.0)
        assert ragbench_package.score(rows, ["faithfulness"], judge="lexical", plan=True) == ()
        assert server.calls == 0


class TestOfASample:
    def test_a_sum_stands_for_as_much_as_its_parts(self) -> None:
        one, other = outlook("a", "xyz"), outlook("a", "w")
        whole = planning.together([replace(one, scale=2.0), replace(other, scale=6.0)])
        assert [each.plan().scale for each in whole] == [(3 * 2 + 1 * 6) / 4]

    def test_what_a_process_keeps_stands_for_what_its_sample_stands_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path))
        planning.stand_for({"n": 20, "of": 50, "table": "questions"})
        try:
            planning.keep([outlook("a", "xy")])
        finally:
            planning.stand_for(None)
        [kept] = planning.kept(tmp_path)
        assert kept.scale == 2.5


@pytest.mark.slow
def test_a_headless_run_tells_its_calls_while_it_judges(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    steps: list[report.Step] = []
    with ChatServer(latency=0.5, answer=judged_project.reply).running() as server:
        notebook = judged_project.make(project, server.url, "one", 6, concurrency=2)
        assert report.run([notebook], progress=steps.append).exit_code == 0
    notes = [step.note for step in steps if step.label == "judging" and step.note]
    assert notes, steps
    said = re.compile(r"\d+ of \d+ answered \(0 from the journal\), 2 in flight, 0 failed, cost 0\.\d+$")
    assert any(said.search(note) for note in notes), notes
    assert all(step.work_total == 12 for step in steps if step.label == "judging")


@pytest.mark.parametrize(
    ("page", "given", "tables", "is_executed"),
    [
        ("tier2_generation", {}, "", False),
        ("tier3_end_to_end", {}, "", False),
        ("tier2_generation", {"judges": "lexical"}, "J", False),
        ("tier2_generation", {"metrics": "rouge1_f"}, "J", False),
        ("tier2_generation", {}, "J", True),
        ("tier2_generation", {"judges": "lexical", "refusals": "model"}, "J", True),
        ("tier3_end_to_end", {"judges": "lexical", "production_judge": "model"}, "J", True),
        ("tier2_generation", {}, "G", True),
        ("tier2_generation", {"systems": "bm25"}, "G", False),
        ("tier1_retrieval", {}, "S", True),
        ("tier1_retrieval", {"systems": "bm25"}, "S", False),
        ("tier3_end_to_end", {}, "S", True),
    ],
)
def test_a_plan_executes_what_may_ask_somebody_and_stand_ins_are_nobody(
    page: str, given: dict[str, Any], tables: str, is_executed: bool, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = 'base_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    known = {
        "": "",
        "J": f"[judges.model]\n{address}",
        "G": f'[generators.model]\nkind = "openai"\n{address}[systems.written]\nretriever = "bm25"\n'
        'generator = "model"\n',
        "S": '[systems.prod]\nurl = "http://127.0.0.1:9/ask"\nids = "ids"\n',
    }
    add(project, f'{known[tables]}[systems.bm25]\nretriever = "bm25"\n')
    executed = list[str]()
    monkeypatch.setattr(orchestration.Work, "all", lambda _, notebooks, __: executed.extend(notebooks) or {})
    planned = report.plan([page], given)
    assert (tuple(executed), planned.silent) == (((page,), ()) if is_executed else ((), (page,)))


@pytest.mark.parametrize(
    "kind", ["model,lexical", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("model", "lexical"))]
)
@pytest.mark.parametrize(
    "page",
    [
        tiers.tier_judge_pipeline,
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (tiers.tier2_generation, tiers.tier3_end_to_end, tiers.rag_metrics, tiers.tier_judge)
        ),
    ],
)
def test_every_page_can_be_planned_with_every_kind_of_judge(
    page: Any, kind: str, tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a judge alone has the sample's data and systems, so that all pages have what they need."""
    judges = '[judges.model]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n' if "model" in kind else ""
    text = f'[database]\nfolder = "{database_folder}"\n{judges}'
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    (tmp_path / "ragbench.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path / "plan"))
    page(judges=kind)
    kept = planning.kept(tmp_path / "plan")
    assert [one.name for one in kept] == (["model"] if "model" in kind else [])
    assert all(one.plan().calls > 0 for one in kept)
