"""What a judge fails on is not left to a lenient partner in silence: command, page, gate, overview."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ragbench.old import views
from ragbench.old.__main__ import application
from ragbench.old.core import settings
from ragbench.old.core.settings import GateSettings, JudgeSettings, Settings, SystemSettings
from ragbench.old.core.types import Score, Status
from ragbench.old.judge import Rule, judge_coverage
from ragbench.old.tiers.run.gates import Outcome, decide
from ragbench.old.tiers.run.overview import over
from ragbench.old.tiers.scoring.judge_assignment import facts, of_facts
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.views.measurements import measurement

METRIC = "response_groundedness"
N, BAD = 60, 30


def verdict(body: dict[str, Any]) -> Any:
    """Both praise whatever they rate; the strict one refuses to rate an answer about bananas."""
    bad = "Bananas" in str(body["messages"])
    return "!refusal" if bad and body["model"] == "m-strict" else {"reason": "as it says", "rating": 2}


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=verdict).running() as running:
        yield running


@pytest.fixture
def answers(tmp_path: Path, server: ChatServer, database_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    judges = {name: JudgeSettings(base_url=server.url, model=f"m-{name}") for name in ("strict", "lenient")}
    known = Settings(database=database_settings.database, judges=judges)
    monkeypatch.setattr(settings, "load", lru_cache(lambda: known))
    rows = [
        {"id": f"s{n}", "user_input": f"Q{n}?", "response": f"{'Trams' if n % 2 else 'Bananas'} run at {n}.",
         "retrieved_contexts": [f"The timetable of line {n}."]}
        for n in range(N)
    ]  # fmt: skip
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def run(path: Path, *arguments: Any) -> Result:
    options = ("-m", METRIC, "--gate", f"{METRIC}>=0.5", "--resamples", "200")
    return CliRunner().invoke(application, ["score", str(path), *options, *map(str, arguments)])


def words(result: Result) -> str:
    return " ".join(result.output.split())


PANEL = ("--judge", "strict", "--judge", "lenient")


class TestTheCommand:
    @pytest.mark.fault("flattering", tried="a judge of a panel that fails where it would be strict", count=1)
    def test_a_lenient_partner_turns_no_gate_green(self, answers: Path, tmp_path: Path) -> None:
        alone = run(answers, "--judge", "strict")
        assert alone.exit_code == 1
        assert "30 of 60 could not be measured" in words(alone)
        together = run(answers, *PANEL, "--json", tmp_path / "scores.json")
        assert together.exit_code == 1
        assert "30 of 60 could not be measured" in words(together)
        found = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
        [estimate] = found["estimates"]
        assert (estimate["n"], estimate["n_unmeasured"]) == (N - BAD, BAD)
        [one] = found["judge_coverage"]
        assert (one["n"], one["incomplete"], one["common"]) == (30, 0, 30)
        assert [(each["judge"], each["n"]) for each in one["judges"]] == [("strict", 30), ("lenient", 60)]
        assert "strict 1.000 (n 30); lenient 1.000 (n 60)" in words(together)
        reasons = {line["reason"] for line in found["samples"] if line["id"] == "s0" and line["judge"] == "panel mean"}
        assert reasons == {
            "Only 1 of 2 judges measured, 2 are needed. By the judges that did: lenient 1.000. "
            "Not measured by strict (refused)."
        }

    def test_a_quorum_of_one_is_said_wherever_its_mean_stands(self, answers: Path, tmp_path: Path) -> None:
        done = run(answers, *PANEL, "--quorum", 1, "--out", tmp_path / "out")
        assert done.exit_code == 0
        assert "30 of 60 values are made of fewer judges than the panel has" in words(done)
        assert "30 of 60 values are of fewer judges than the panel has" in words(done).split("gate ")[-1]
        html = (tmp_path / "out" / "rag_metrics.html").read_text(encoding="utf-8")
        assert "30 of the judged values are made of fewer judges than the panel has" in html
        assert html.count("On the 30 answers that all of them measured: strict 1.000; lenient 1.000.") == 2
        assert "A score needs 1 judge of 2" in html
        lines = (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8")
        assert lines.count("panel mean, 1 of 2") == 30

    def test_a_quorum_that_cannot_be_made(self, answers: Path) -> None:
        done = run(answers, *PANEL, "--quorum", 3)
        assert done.exit_code == 3
        assert "there are only 2 judges" in words(done).replace("│ │", "")


def uneven(quorum: int | None) -> list[dict[str, Any]]:
    """Facts of a panel that one judge left alone on 2 of 4 answers of `new`."""
    rule = Rule(quorum=quorum)
    scores = [
        rule({"a": Score(1.0), "b": Score.unmeasured(Status.REFUSED, "no") if n < 2 else Score(0.5)}) for n in range(4)
    ]
    return facts({("new", "mrr"): judge_coverage(scores)})


class TestAReport:
    def test_facts_are_read_as_they_were_kept(self) -> None:
        nobody = [Rule(quorum=1)({"a": Score(1.0), "b": Score.unmeasured(Status.REFUSED, "no")})]
        for scores in (uneven(1), facts({("new", "mrr"): judge_coverage(nobody)})):
            kept = json.loads(json.dumps(scores).replace("NaN", "null"))
            assert str(facts(of_facts({"judge_coverage": kept}))) == str(scores)

    @pytest.mark.parametrize("bound", [{"at_least": 0.0}, {"not_worse_by": 2.0, "baseline": "old"}])
    def test_its_gate_says_how_many_values_are_of_fewer_judges(self, bound: dict[str, Any]) -> None:
        systems = {name: SystemSettings(embedder="hashing") for name in ("old", "new")}
        base = measurement(questions=40, systems=["old", "new"], metrics=("mrr",))
        held = Settings(systems=systems, gate={"g": GateSettings(metric="mrr", system="new", **bound)})
        for quorum, said in ((1, True), (None, False)):
            made = replace(base, facts={**base.facts, "baseline": "old", "judge_coverage": uneven(quorum)})
            [check] = decide({"tier": made}, held).checks
            assert check.outcome is Outcome.HOLDS
            assert ("2 of 4 values are of fewer judges than the panel has" in check.why) == said

    @pytest.mark.parametrize(
        ("language", "line"),
        [("en", "2 judged values are made of fewer judges"), ("ru", "2 оценки судей даны не всей коллегией")],
    )
    def test_its_overview_counts_them(self, language: str, line: str) -> None:
        base = measurement(questions=40, systems=["old", "new"], metrics=("mrr",))
        made = replace(base, facts={**base.facts, "judge_coverage": uneven(1)})
        assert line in views.about.standing(Page(over({"tier1": made}), language=language)).html()

    @pytest.mark.parametrize(("quorum", "said"), [(2, "not every judge gave"), (1, "A score needs 1 judge of 2")])
    def test_its_page_says_the_quorum(self, quorum: int, said: str) -> None:
        judges = [{"name": name, "stand_in": False} for name in "ab"]
        given = {"judges": judges, "aggregate": "mean", "quorum": quorum, "judge_coverage": uneven(quorum)}
        page = Page(measurement(facts=given))
        assert said in views.answers.judges(page).html()
        assert ("made of fewer judges" in views.comparison.answer(page).html()) == (quorum == 1)
        assert "a 1.000 (n 4); b 0.500 (n 2)" in views.answers.judges(page).html()
