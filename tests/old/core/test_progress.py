"""Progress: a bar for people, a small file for the runner, no trace afterwards."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import ragbench.old
from ragbench.old.core import settings, trust
from ragbench.old.core.progress import FILE, Event, Listening, Progress
from ragbench.old.core.settings import Settings
from ragbench.old.core.settings.urls import MASK
from ragbench.old.tiers.scoring import parts
from ragbench.old.tiers.scoring.scored_answers import Scores
from tests.old.core.test_terminal import screen
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment
from tests.old.small_project import add
from tests.old.tiers.test_scoring import ROWS as TABLE


def test_a_headless_run_keeps_its_state_in_a_file_while_it_works(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    with Progress("embedding", 10, tmp_path / "part") as progress:
        progress(4)
        progress.say(lambda: "3 in flight")
        progress._write(force=True)
        state = json.loads((tmp_path / "part" / FILE).read_text(encoding="utf-8"))
        assert state == {"label": "embedding", "done": 4, "total": 10, "note": "3 in flight"}
    assert list((tmp_path / "part").iterdir()) == []
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_person_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stderr")
    with Progress("embedding", 10) as progress:
        progress(10)
        progress.say(lambda: "3 in flight")
        progress.say(lambda: "asked for again before anybody could have read it")
    drawn = shown.getvalue()
    assert "embedding" in drawn
    assert "3 in flight" in drawn
    assert "asked for again" not in drawn


def test_a_notebook_sees_a_bar_while_it_works_and_keeps_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A widget that was saved says "Loading widget..." for ever; an emptied piece of HTML says nothing."""
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.delenv("RAGBENCH_RUN_FOLDER", raising=False)
    code = (
        "from ragbench.old.core.progress import Progress\n"
        "with Progress('scoring <b>', 4) as progress:\n"
        "    progress(3)\n"
        "    progress.say(lambda: '3 & more in flight')"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    client = NotebookClient(notebook, kernel_name="python3")
    shown: list[str] = []
    heed = client.process_message

    def listening(message: dict[str, Any], cell: Any, index: int) -> Any:
        if message["msg_type"] in ("display_data", "update_display_data"):
            shown.append(message["content"]["data"]["text/html"])
        return heed(message, cell, index)

    monkeypatch.setattr(client, "process_message", listening)
    client.execute()
    assert '<progress value="0" max="4">' in shown[0]
    assert "scoring &lt;b&gt;" in shown[0]
    assert any("3 &amp; more in flight" in one for one in shown)
    assert shown[-1] == ""
    assert [output["data"]["text/html"] for output in notebook.cells[0].outputs] == [""]


ROWS: Any = TABLE
SECRET = "sk-tested-0123456789"


def judge(name: str = "kind", second: Any = None) -> ScriptedJudge:
    made = ScriptedJudge(claims=claims("A.", "B."), entailment=second or entailment(1, 0))
    made.name = name
    return made


def heard(*judges: ScriptedJudge, rows: Any = None, metrics: Any = ("faithfulness",)) -> tuple[list[Event], Scores]:
    events: list[Event] = []
    found = ragbench.old.score(rows or ROWS[0], list(metrics), list(judges) or judge(), listeners=[events.append])
    return events, found


def test_calls_then_their_score_then_the_sample() -> None:
    events, found = heard()
    assert [one.kind for one in events] == ["call", "call", "metric", "sample"]
    first, second, score, sample = events
    assert (first.detail["prompt"], second.detail["prompt"]) == ("claims", "entailment")
    assert first.detail["answer"] == {"claims": ["A.", "B."]}
    assert first.detail["texts"]["text"] == ROWS[0]["answer"]
    assert [first.parent, second.parent, score.parent, sample.parent] == [score.id, score.id, sample.id, ""]
    assert (first.judge, score.judge, score.metric, score.value) == ("kind", "kind", "faithfulness", 0.5)
    assert score.detail["statements"][1]["verdict"] == "neutral"
    assert sample.detail == {"values": {"faithfulness": 0.5}}
    assert len({one.run for one in events}) == 1
    assert len({one.id for one in events}) == 4
    assert sample.began <= first.began
    assert sum(one.seconds for one in (first, second)) <= score.seconds + 1e-3
    assert (found.listeners[0].told, found.listeners[0].failed) == (4, 0)


def test_each_judge_of_a_panel_is_heard() -> None:
    events, _found = heard(judge(), judge("other", entailment(0, 0)))
    calls = [one for one in events if one.kind == "call"]
    assert sorted((one.judge, one.detail["prompt"]) for one in calls) == [
        ("kind", "claims"), ("kind", "entailment"), ("other", "claims"), ("other", "entailment")
    ]  # fmt: skip
    [score] = [one for one in events if one.kind == "metric"]
    assert (score.judge, score.value) == ("panel mean", 0.25)


def test_a_sample_ends_after_its_last_score() -> None:
    events, _found = heard(
        rows=[ROWS[0], {**ROWS[0], "id": "next"}], metrics=("faithfulness", "faithfulness(variant=ragas)")
    )
    for name in ("good", "next"):
        kinds = [one.kind for one in events if one.sample == name]
        assert kinds.count("metric") == 2
        assert kinds[-1] == "sample"


def test_what_was_not_measured_has_no_value_and_says_why() -> None:
    events, _found = heard(rows={"id": "x", "response": "", "retrieved_contexts": ["A."], "user_input": "Who?"})
    [score] = [one for one in events if one.kind == "metric"]
    assert (score.value, score.status) == (None, "empty_input")
    assert score.reason


def test_no_secret_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    events, _found = heard(rows={**ROWS[0], "response": f"The key is {SECRET}."})
    assert SECRET not in repr(events)
    assert MASK in events[0].detail["texts"]["text"]


def test_a_listener_that_fails_is_counted_and_said_and_changes_nothing() -> None:
    def bad(event: Event) -> None:
        if event.kind == "call":
            raise SystemExit("no exporter")

    good: list[Event] = []
    found = ragbench.old.score(ROWS[0], ["faithfulness"], judge(), listeners=[bad, good.append])
    assert found["faithfulness"] == [0.5]
    assert (found.listeners[0].failed, found.listeners[0].told, found.listeners[1].failed) == (2, 4, 0)
    assert len(good) == 4
    said = "Listener bad failed on 2 of 4 events and missed 0; no score depends on it. SystemExit: no exporter"
    assert said in str(found)


def test_a_listener_that_hangs_is_left_behind() -> None:
    listening = Listening([("slow", lambda _: time.sleep(30))], seconds=0.05)
    event = Event("sample", "r", "1", "", 0.0, 0.0, "s", "q")
    listening.tell(event)
    time.sleep(0.1)
    listening.tell(event)
    [found] = listening.close()
    assert (found.told, found.failed, found.missed) == (0, 0, 2)
    assert "0.05 s" in found.why


async def _later(event: Event) -> None: ...


@pytest.mark.parametrize(("given", "message"), [("mine.tracing:told", "is no function"), (_later, "is a coroutine")])
def test_what_is_no_plain_function_is_refused_before_a_call(given: Any, message: str) -> None:
    asked = judge()
    with pytest.raises(ValueError, match=message):
        ragbench.old.score(ROWS[0], ["faithfulness"], asked, listeners=[given])
    assert not asked.calls


class TestOfTheSettings:
    def project(self, bare: Path, path: str = "mine.tracing:told") -> None:
        (bare / "mine").mkdir()
        text = "EVENTS = []\ndef told(event):\n    EVENTS.append((event.kind, event.value))\n"
        (bare / "mine" / "tracing.py").write_text(text, encoding="utf-8")
        add(bare, f'[metrics]\nlisteners = ["{path}"]\n')
        settings.load.cache_clear()

    def test_they_are_told_once_they_are_trusted(self, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project(bare)
        monkeypatch.delenv("RAGBENCH_TRUST")
        with pytest.raises(trust.UntrustedError):
            ragbench.old.score(ROWS[0], ["faithfulness"], judge())
        trust.grant()
        found = ragbench.old.score(ROWS[0], ["faithfulness"], judge())
        import mine.tracing  # type: ignore[import-not-found]

        assert mine.tracing.EVENTS == [("call", None), ("call", None), ("metric", 0.5), ("sample", None)]
        assert found.listeners[0].name == "mine.tracing:told"

    def test_one_that_is_not_there_is_named(self, bare: Path) -> None:
        self.project(bare, "mine.tracing:tell")
        trust.grant()
        with pytest.raises(ValueError, match=r"metrics\.listeners = 'mine\.tracing:tell': there is no tell"):
            parts.listening((), settings.load())

    def test_a_name_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"listeners = 'mine.tracing': module:function is expected"):
            Settings.model_validate({"metrics": {"listeners": ["mine.tracing"]}})
