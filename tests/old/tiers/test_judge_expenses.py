"""What a production judge's decision takes, counted by hand: tokens as the server reports them, money at set prices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.llm import Price, Usage
from ragbench.old.tiers.basics import session
from ragbench.old.tiers.judges.deciders import Expense, expense
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import write_lines

READ, WRITTEN = 300, 20
MALFORMED, SILENT = 4, 6
OWN = "def decide(question, answer, contexts):\n    return 'yes'\n"


class Counting(ChatServer):
    """Every reply takes the same tokens; one answer gets replies that decide nothing, one gets none."""

    def _completion(self, body: dict[str, Any], content: Any, fault: str) -> dict[str, Any]:
        found = super()._completion(body, content, fault)
        if self.usage:
            found["usage"] = {"prompt_tokens": READ, "completion_tokens": WRITTEN}
        return found


def reply(body: dict[str, Any]) -> Any:
    number = int(re.findall(r"answer (\d+)", str(body["messages"]))[-1])
    return {MALFORMED: "perhaps", SILENT: "!500"}.get(number, {"reason": "so", "show": "yes", "likelihood": 90})


@pytest.fixture
def labelled(project: Path) -> Path:
    """Ten answers, and the first of them once more."""
    rows: list[dict[str, object]] = [
        {"id": f"d{place}", "question": f"Question {place % 10}?", "answer": f"answer {place % 10}", "context": ["a1"],
         "show": place % 2 == 0}
        for place in range(11)
    ]  # fmt: skip
    write_lines(project / "data" / "small" / "decisions.en.jsonl", rows)
    (project / "plain_judge.py").write_text(OWN, encoding="utf-8")
    write_lines(project / "said.jsonl", [{"id": f"d{place}", "show": "yes"} for place in range(11)])
    return project


def configure(project: Path, server: ChatServer, prices: str) -> None:
    path = project / "ragbench.toml"
    judge = f'[judges.model]\nbase_url = "{server.url}"\nmodel = "tester"\nattempts = 1\n{prices}\n'
    path.write_text(path.read_text(encoding="utf-8").partition("[judges.model]")[0] + judge, encoding="utf-8")
    settings.load.cache_clear()


def taken(made: Measurement, judge: str = "model") -> dict[str, Any]:
    [found] = [one["expense"] for one in made.facts["judges"] if one["name"] == judge]
    return dict(found)


def rows_of(html: str) -> list[list[str]]:
    """The cells of each row of the body of the page's only table, without marks."""
    [body] = re.findall(r"<tbody>(.*?)</tbody>", html, re.DOTALL)
    lines = re.findall(r"<tr.*?>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[dh].*?>(.*?)</t[dh]>", line, re.DOTALL) for line in lines]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in cells]


def test_money_by_hand_and_as_it_was_paid_for_when_the_prices_change(labelled: Path) -> None:
    """Eleven cases, two of them equal, one without a reply: nine decisions of ten replies, as one was asked again.
    What was asked in vain is asked anew by the next run: two replies more, at the prices of then."""
    with Counting(answer=reply).running() as server:
        configure(labelled, server, "input_price = 2.0\noutput_price = 10.0")
        made = tiers.tier_judge_pipeline(judges="model", resamples=100)
        configure(labelled, server, "input_price = 200.0\noutput_price = 1000.0")
        again = tiers.tier_judge_pipeline(judges="model", resamples=100)
    found = taken(made)
    assert (found["decisions"], found["unanswered"], found["unknown"]) == (9, 1, "")
    assert found["replies"] == pytest.approx(10 / 9)
    assert found["input_tokens"] == pytest.approx(3000 / 9)
    assert found["output_tokens"] == pytest.approx(200 / 9)
    assert found["cost"] == pytest.approx((3000 * 2 + 200 * 10) / 1e6 / 9)
    paid = taken(again)
    assert (paid["decisions"], paid["unanswered"], paid["unknown"]) == (9, 1, "")
    assert paid["replies"] == pytest.approx(12 / 9)
    assert paid["input_tokens"] == pytest.approx(3600 / 9)
    assert paid["output_tokens"] == pytest.approx(240 / 9)
    old, new = 3000 * 2 + 200 * 10, 600 * 200 + 40 * 1000
    assert paid["cost"] == pytest.approx((old + new) / 1e6 / 9), "the journal's replies cost what they cost"
    rows = made.extra["decisions"].query("system == 'model'").set_index("sample")
    assert rows.loc[f"d{SILENT}", "status"] == "judge_error"
    assert list(rows.index[rows["ms"].isna()]) == [f"d{SILENT}"], "no reply is no reply in 0 ms"
    html = views.answers.judges(Page(made)).html()
    assert "What a decision takes" in html
    [one, many] = rows_of(html)
    assert one[:6] == ["model n = 9", "1", "1.11", "333.3", "22.2", "0.000889"]
    assert many[:6] == ["model n = 9", "1,000", "1,111", "333,333", "22,222", "0.889"]
    latency = next(e.estimate.value for e in made.estimates if (e.system, e.metric) == ("model", "avg_latency_ms"))
    assert one[6] == f"{latency / 1000:.4f}"
    assert "model</b>: cases without any reply: 1;" in html
    assert "show-all" not in html, "who does not look takes nothing"
    assert "Во что обходится одно решение" in views.answers.judges(Page(made, language="ru")).html()


def test_what_an_endpoint_does_not_tell_is_unmeasured_and_says_why(labelled: Path) -> None:
    with Counting(answer=reply, usage=False).running() as server:
        configure(labelled, server, "input_price = 2.0\noutput_price = 10.0")
        made = tiers.tier_judge_pipeline(judges="model", resamples=100)
    found = taken(made)
    assert found["replies"] == pytest.approx(10 / 9)
    assert (found["input_tokens"], found["output_tokens"], found["cost"]) == (None, None, None)
    html = views.answers.judges(Page(made)).html()
    assert "the endpoint reported no tokens (replies: 10)" in html
    assert [row[2:6] for row in rows_of(html)] == [["1.11", "—", "—", "—"], ["1,111", "—", "—", "—"]]


def test_without_a_price_there_is_no_cost_and_a_price_of_nothing_is_one(labelled: Path) -> None:
    with Counting(answer=reply).running() as server:
        configure(labelled, server, "")
        unset = tiers.tier_judge_pipeline(judges="model", resamples=100)
        configure(labelled, server, "input_price = 2.0")
        later = tiers.tier_judge_pipeline(judges="model", resamples=100)
        configure(labelled, server, "input_price = 0.0\noutput_price = 0.0")
        free = tiers.tier_judge_pipeline(judges="model", resamples=100)
    assert (taken(unset)["cost"], taken(unset)["unknown"]) == (None, "no price")
    assert taken(unset)["input_tokens"] == pytest.approx(3000 / 9)
    assert (taken(later)["cost"], taken(later)["unknown"], taken(later)["doubtful"]) == (None, "no price then", 10)
    assert taken(free)["replies"] == pytest.approx(14 / 9), "two were asked anew by each later run"
    paid_by_the_second = 600 * 2.0 / 1e6
    assert (taken(free)["cost"], taken(free)["unknown"]) == (pytest.approx(paid_by_the_second / 9), "")
    assert "no price is set" in views.answers.judges(Page(unset)).html()
    assert "no price was set when" in views.answers.judges(Page(later)).html()


def test_who_asks_no_model_or_tells_nothing(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="lexical, plain_judge:decide, said.jsonl", resamples=100)
    assert [taken(made, name) for name in ("lexical", "plain_judge:decide", "said")] == [
        {**Expense().__dict__, "unknown": why} for why in ("offline", "function", "log")
    ]
    assert all("expense" not in one for one in made.facts["judges"] if one["name"] in ("show-all", "hide-all"))
    html = views.answers.judges(Page(made)).html()
    for said in ("lexical</b>: no model is asked", "plain_judge:decide</b> is a function", "said</b> is a file"):
        assert said in html
    assert [row[:2] for row in rows_of(html)][-1] == ["said", "1"], "of what nothing is known a thousand is no news"
    assert "no model is asked" not in views.answers.judges(Page(made, language="ru")).html()


def test_decisions_are_those_with_a_reply_or_without_need_of_one() -> None:
    asked = [("a", "ok", True), ("a", "ok", True), ("b", "parse_error", True), ("c", "timeout", False),
             ("empty answer", "ok", False), ("d", "empty_input", False)]  # fmt: skip
    found = expense(Usage(4, 400, 40, 0.3), asked, Price(1, 1))
    assert found == Expense(3, 1, 4 / 3, 400 / 3, 40 / 3, 0.3 / 3)
    assert expense(Usage(), [("c", "timeout", False)], Price(1, 1)) == Expense(0, 1, unknown="nothing asked")
    assert expense(Usage(), [], None).unknown == "nothing asked"


def test_what_a_sample_took_tells_what_all_would_take() -> None:
    """50 of 200 questions: four times the calls and the money; no money where a reply has no price."""
    taken = {"n": 50, "of": 200, "table": "questions"}
    assert session.scaled(taken, 30, 0.12, 0) == {**taken, "calls": 120, "money": 0.48}
    assert session.scaled(taken, 30, 0.12, 1) == {**taken, "calls": 120}
    assert session.scaled(taken, 0, 0.0, 0) == taken
