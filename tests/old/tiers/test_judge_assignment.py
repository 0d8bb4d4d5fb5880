"""Judges of single metrics, from a file of settings, the command line and Python; wrong ones are refused at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core import metric as declarations
from tests.old.cli.command_line import ragbench
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines
from tests.old.tiers.polite_answers import ROWS, kept_nowhere, verdict


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=verdict).running() as running:
        yield running


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    for name in {"polite", "brief", "answer_length"} & set(declarations.registered()):
        declarations.withdraw(name)


TWO_JUDGES = """
[judges.first]
base_url = "{url}"
model = "m-first"

[judges.second]
base_url = "{url}"
model = "m-second"
"""


class TestJudgesOfSingleMetrics:
    """Seed: `models`, the IDs of the models that judge one metric."""

    @pytest.fixture(autouse=True)
    def _two(self, bare: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
        kept_nowhere(monkeypatch)
        add(bare, TWO_JUDGES.format(url=server.url))

    def judged(self, judge: Any) -> dict[str, str | None]:
        criteria = [rb.criterion("Is it polite?", name="polite"), rb.criterion("Is it short?", name="brief")]
        return {row.metric.name: row.score.judge for row in rb.score(ROWS[:1], criteria, judge)}

    @pytest.mark.parametrize(
        ("judge", "polite", "brief"),
        [
            (["polite=first", "second"], "first", "second"),
            ({"polite": "first", "brief": ["second"]}, "first", "second"),
            ("polite=second", "second", "panel mean"),
            ({"polite": ["lexical", "first"], "brief": "first"}, "panel mean", "first"),
        ],
    )
    def test_a_metric_has_the_judges_that_are_named_for_it(self, judge: Any, polite: str, brief: str) -> None:
        criteria = {"polite": polite, "brief": brief}
        found = self.judged(judge)
        assert {name: str(one).partition(",")[0] for name, one in found.items()} == criteria

    @pytest.mark.parametrize(
        ("judge", "message"),
        [
            (["politeness=first"], "judges of 'politeness': it is not measured.*measured are polite, brief"),
            ({"polite": "frist"}, "judges of 'polite': there is no judge 'frist'; did you mean 'first'?.*lexical"),
        ],
    )
    def test_others_are_refused_before_a_call(self, judge: Any, message: str, server: ChatServer) -> None:
        server.requests.clear()
        with pytest.raises(ValueError, match=message):
            self.judged(judge)
        assert not server.requests

    def test_a_metric_that_asks_nobody_has_no_judge(self) -> None:
        def answer_length(response: str) -> int:
            return len(response)

        with pytest.raises(ValueError, match="judges of 'answer_length': it asks no judge"):
            rb.score(ROWS, answer_length, {"answer_length": "first"})

    def test_on_the_command_line(self, bare: Path) -> None:
        write_lines(bare / "answers.jsonl", ROWS)
        asked = ("--criterion", "polite=Is it polite?", "--criterion", "brief=Is it short?", "--trust")
        done = ragbench(
            "score", str(bare / "answers.jsonl"), *asked, "--judge", "polite=first", "--judge", "second",
            "--json", str(bare / "out.json"),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        lines = json.loads((bare / "out.json").read_text(encoding="utf-8"))["samples"]
        assert {(line["metric"], line["judge"]) for line in lines} == {("polite", "first"), ("brief", "second")}
