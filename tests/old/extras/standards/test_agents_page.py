"""The page of agents: what is measured where nothing is named, first wrong steps, turns, calls and money in pairs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench.old.core.annexes import notebooks
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.parts import Table, every
from ragbench.old.core.types.reason import read
from ragbench.old.extras.standards.agents_page import AgentsRequest, agents
from ragbench.old.report.execution.preparation import checked, defaults, requests
from ragbench.old.tiers import BenchError
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add

WEATHER, BOOK = ("weather", '{"city": "Paris"}'), ("book", '{"table": 2}')
WANTED = [{"name": "weather", "args": {"city": "Paris"}}, {"name": "book", "args": {"table": 2}}]
MADE: dict[str, list[list[tuple[str, str]]]] = {
    "plan": [[WEATHER, BOOK], [WEATHER, BOOK], [WEATHER], [WEATHER, BOOK]],
    "guess": [[WEATHER, ("search", "{}"), BOOK], [("weather", '{"city": "Rome"}'), BOOK], [], [WEATHER, BOOK, BOOK]],
}
"""The calls of two agents to four questions; all of them should be WANTED."""


def row(system: str, number: int, calls: list[tuple[str, str]]) -> dict[str, Any]:
    said: list[dict[str, Any]] = [{"role": "user", "content": "Weather, and a table?"}]
    for name, arguments in calls:
        call = {"type": "function", "function": {"name": name, "arguments": arguments}}
        said += [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "<b>ok</b>"}]
    said.append({"role": "assistant", "content": "Done."})
    cost = {} if (system, number) == ("guess", 0) else {"cost": 0.001 * len(calls)}
    return {"id": f"t{number}", "system": system, "trajectory": said, "reference_tool_calls": WANTED, **cost}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Measurement:
    path = tmp_path_factory.mktemp("agents") / "runs.jsonl"
    rows = [row(system, number, calls) for system, own in MADE.items() for number, calls in enumerate(own)]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return agents(answers=str(path), judges="lexical", resamples=200)


def values(made: Measurement, system: str, metric: str) -> list[float]:
    own = made.scores[(made.scores["system"] == system) & (made.scores["metric"] == metric)]
    return list(own.sort_values("sample")["value"])


def test_what_the_fields_allow_is_measured_and_paired(made: Measurement) -> None:
    assert list(dict.fromkeys(made.scores["metric"])) == [
        "goal_reached", "tool_call_accuracy", "tool_call_accuracy(order=any)", "tool_call_f1", "right_steps",
        "agent_turns", "agent_calls", "agent_cost",
    ]  # fmt: skip
    assert values(made, "guess", "right_steps") == [0.5, 0.0, 0.0, 1.0]
    assert values(made, "plan", "right_steps") == [1.0, 1.0, 0.5, 1.0]
    assert values(made, "guess", "agent_turns") == [4, 3, 1, 4]
    assert values(made, "guess", "agent_calls") == [3, 2, 0, 3]
    cost = values(made, "guess", "agent_cost")
    assert math.isnan(cost[0])
    assert cost[1:] == pytest.approx([0.002, 0.0, 0.003])
    paired = {one.metric: one.comparison for one in made.comparisons}
    assert paired["agent_calls"].difference == pytest.approx(8 / 4 - 7 / 4)
    assert paired["agent_cost"].n == 3, "a run without a cost is no pair"
    assert paired["agent_cost"].better == "lower"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_first_wrong_steps_and_effort_are_shown(made: Measurement, language: str) -> None:
    page = Page(made, language=language)
    bars, instead = every(page.view("agent_steps").parts, Table)
    assert [list(row[2:4]) for row in bars.rows] == [[4, 3], [4, 0]]
    assert [row[4] and row[4].value for row in bars.rows] == [2.0, 1.5]
    wrong = made.extra["first_wrong"].set_index(["system", "sample"])
    assert list(wrong.loc["guess"]["step"]) == [2, 1, 1, 3]
    assert tuple(wrong.loc["guess", "t0"][["expected", "called"]]) == ("book", "search")
    assert tuple(wrong.loc["guess", "t3"][["expected", "called"]]) == ("", "book")
    assert len(instead.cells) == 1 + 4
    effort = page.view("agent_effort")
    assert all(total in effort.words.replace(",", ".") for total in ("0.007", "0.005")), "money of all runs"
    assert "<b>ok</b>" in str(page.explain("t0"))
    assert "&lt;b&gt;ok" in page.explain("t0")._repr_html_()


def test_of_a_part_findings_are_made_anew(made: Measurement) -> None:
    part = Page(made).subset(["t0", "t1"]).measurement
    assert {one.estimate.n for one in part.estimates if one.metric == "right_steps"} == {2}
    assert len(part.extra["first_wrong"]) == 4


def test_rows_without_messages_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.jsonl"
    path.write_text('{"id": "a", "question": "Where?", "answer": "Here."}\n', encoding="utf-8")
    with pytest.raises(BenchError, match="trajectory"):
        agents(answers=str(path), judges="lexical")


@pytest.mark.parametrize(("reply", "why"), [("!401", "401"), ("Certainly!", "none of its first 4 replies")])
def test_a_judge_without_usable_answers_takes_no_calls_turns_and_money_with_it(
    project: Path, reply: str, why: str
) -> None:
    rows = [row(system, number, calls) for system, own in MADE.items() for number, calls in enumerate(own)]
    (project / "runs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    with ChatServer(answer=lambda body: reply).running() as server:
        add(project, f'[judges.shut]\nbase_url = "{server.url}"\nmodel = "m"\nunusable_replies = 4\n')
        made = agents(answers="runs.jsonl", judges="shut", resamples=200)
    assert values(made, "guess", "agent_turns") == [4, 3, 1, 4]
    assert "goal_reached" not in set(made.scores["metric"])
    assert why in read(made.facts["unasked"]["reason"])
    begin = "Not measured, because no judge gave a usable answer: goal_reached. "
    for language, said in (("en", begin), ("ru", "Не измерено")):
        assert said in Page(made, language=language).view("agent_unasked").words


def test_the_notebook_has_the_parameters_of_what_it_asks_for() -> None:
    notebook = nbformat.read(notebooks()["agents"], as_version=4)
    assert defaults(notebook, "agents") == {
        name: field.default for name, field in AgentsRequest.parameters().items()
    }  # fmt: skip


def test_what_the_notebook_would_refuse_is_refused_before_a_kernel_starts() -> None:
    notebook = nbformat.read(notebooks()["agents"], as_version=4)
    given = defaults(notebook, "agents")
    (asked,) = requests(notebook, given)
    assert isinstance(asked, AgentsRequest)
    with pytest.raises(BenchError, match="level = 7"):
        checked(notebook, {**given, "level": 7.0})
