"""Who decides: functions, logged decisions and models, with calls that fail, which stay in n."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.types import Status
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.judges.deciders import read, title
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import write_lines
from tests.old.tiers.decided_project import ROWS, cases, counts, estimate


def test_a_function_that_hangs_loses_that_decision_alone(labelled: Path) -> None:
    (labelled / "slow_judge.py").write_text(
        "import itertools, time\nturn = itertools.count()\n"
        "def decide(question, answer, contexts):\n    if next(turn) == 3: time.sleep(30)\n    return 'yes'\n",
        encoding="utf-8",
    )
    path = labelled / "ragbench.toml"
    path.write_text("decision_seconds = 0.8\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    settings.load.cache_clear()
    made = tiers.tier_judge_pipeline(judges="slow_judge:decide")
    shown = made.scores[(made.scores["system"] == "slow_judge:decide") & (made.scores["metric"] == "show_decision")]
    failed = shown[shown["value"].isna()]
    assert list(failed["reason"]) == ["no answer within 0.8 s; look what it waits for, or raise decision_seconds"]
    assert len(shown) == ROWS


@pytest.mark.parametrize(
    ("file", "called"),
    [("gpt-3.5-turbo.jsonl", "gpt-3.5-turbo"), ("logs/qwen2.5-7b.v1.csv.gz", "qwen2.5-7b.v1"), ("a.PARQUET", "a"),
     ("own_judge:exact", "own_judge:exact")],
)  # fmt: skip
def test_a_file_is_called_by_its_name_without_its_ending_only(file: str, called: str) -> None:
    assert title(file) == called


def test_logged_decisions_and_what_is_missing_in_them(labelled: Path) -> None:
    rows = [{"id": f"d{place:02d}", "show": "no, yesterday", "score": 0.1, "ms": 12.5} for place in range(30)]
    write_lines(labelled / "said.jsonl", [*rows, {"id": "stranger", "show": "yes"}])
    made = tiers.tier_judge_pipeline(judges="said.jsonl")
    assert counts(made, "said") == {
        "true_negative": 15, "false_negative": 15, "failed_positive": 5, "failed_negative": 5,
    }  # fmt: skip
    assert estimate(made, "said", "avg_latency_ms") == 12.5
    assert math.isnan(estimate(made, "said", "decision_precision"))
    assert made.facts["judges"][1]["unknown_cases"] == 1
    html = views.answers.confusion(Page(made), 40).html()
    assert "not in said.jsonl" in html


def test_a_judge_that_decides_nothing_at_all_is_said_first_and_gets_no_verdict(labelled: Path) -> None:
    """Forty unreadable replies were `worse than show-all`: they are no decisions, of which nothing can be said."""
    path = labelled / "silent.jsonl"
    write_lines(path, [{"id": row["id"], "show": "perhaps, perhaps not"} for row in cases()])
    made = tiers.tier_judge_pipeline(judges="silent.jsonl, own_judge:exact")
    assert {each.comparison.challenger for each in made.comparisons} == {"own_judge:exact"}
    assert not [each for each in made.comparisons_by("constant") if each.comparison.challenger == "silent"]
    silent = [each.estimate for each in made.estimates if each.system == "silent"]
    assert all(math.isnan(one.value) and one.low is None and one.n_unmeasured == ROWS for one in silent)
    for language, first in (
        ("en", "silent gave no usable decision on any of 40 cases: a reply of the wrong shape (40)."),
        ("ru", "silent не дал ни одного пригодного решения, всего случаев 40: ответ не той формы (40)."),
    ):
        text = re.sub(r"<[^>]+>", "", views.comparison.answer(Page(made, language=language)).html())
        assert " ".join(text.split()).startswith(first)
        assert "silent is worse" not in text
        drawn = re.sub(r"<[^>]+>", "", views.answers.confusion(Page(made, language=language)).html())
        assert first in " ".join(drawn.split())
        assert "no passage" not in drawn


def test_a_model_behind_an_endpoint_with_replies_that_decide_nothing(labelled: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        text = str(body["messages"])
        number = int(re.findall(r"answer (\d+)", text)[-1])
        if number in (4, 5):
            return "perhaps"
        return {"reason": "its first word", "show": "yes" if "good answer" in text else "no", "likelihood": 90}

    with ChatServer(answer=reply).running() as server:
        configured = labelled / "ragbench.toml"
        judge = f'[judges.model]\nbase_url = "{server.url}"\nmodel = "tester"\nattempts = 2\n'
        configured.write_text(configured.read_text(encoding="utf-8") + judge, encoding="utf-8")
        settings.load.cache_clear()
        made = tiers.tier_judge_pipeline()
        asked = len(server.requests)
        again = tiers.tier_judge_pipeline()
        asked_anew = server.requests[asked:]
    assert [one["name"] for one in made.facts["judges"]] == ["show-all", "model", "hide-all"]
    assert counts(made, "model") == {
        "true_positive": 19, "true_negative": 19, "failed_positive": 1, "failed_negative": 1,
    }  # fmt: skip
    assert estimate(made, "model", "accuracy") == 38 / 40
    assert set(made.extra["decisions"].query("system == 'model' and decision.isna()")["status"]) == {"parse_error"}
    assert estimate(made, "model", "avg_latency_ms") > 0
    anew = {int(re.findall(r"answer (\d+)", str(request.body["messages"]))[-1]) for request in asked_anew}
    assert anew == {4, 5}, "what decided nothing is asked anew by the next run"
    first, second = (one.extra["decisions"].query("system == 'model' and decision.notna()") for one in (made, again))
    assert first.equals(second), "replies and their times come out of the journal"
    timed = "avg_latency_ms"
    assert repr([one for one in again.estimates if one.metric != timed]) == repr(
        [one for one in made.estimates if one.metric != timed]
    )
    assert "model" in views.answers.judges(Page(made)).html()


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ("own_judge:nobody", r"there is no nobody; there are .*exact"),
        ("no_module:f", r"no_module cannot be imported"),
        ("own_judge:broken", r"own_judge:broken failed for all 40 cases: RuntimeError: nobody is there"),
        ("nobody.jsonl", r"judges = 'nobody.jsonl'"),
        ("gpt", r"no judge 'gpt'"),
        ("strange.csv", r"none of the 40 cases is in it; it has x1"),
        ("twice.csv", r"twice.csv, line 3: id = 'd00' stands there twice"),
        ("strange.csv, strange.jsonl", r"two of them are called 'strange'"),
    ],
)
def test_judges_that_cannot_be_used_are_named(judges: str, said: str, labelled: Path) -> None:
    (labelled / "strange.csv").write_text("id,show\nx1,yes\n", encoding="utf-8")
    (labelled / "twice.csv").write_text("id,show\nd00,yes\nd00,no\n", encoding="utf-8")
    with pytest.raises(BenchError, match=said):
        tiers.tier_judge_pipeline(judges=judges)


@pytest.mark.parametrize(
    ("reply", "show", "score", "status"),
    [
        ({"show": "yes", "score": "0.7"}, True, 0.7, Status.OK),
        ({"verdict": "нет", "confidence": 1}, False, 1.0, Status.OK),
        ({"show": True, "score": float("nan")}, True, None, Status.OK),
        ({"score": 0.7}, None, 0.7, Status.PARSE_ERROR),
        ("Perhaps yes", None, None, Status.PARSE_ERROR),
        (None, None, None, Status.PARSE_ERROR),
    ],
)
def test_replies_of_functions(reply: object, show: bool | None, score: float | None, status: Status) -> None:
    found = read(reply)
    assert (found.show, found.score, found.status) == (show, score, status)
