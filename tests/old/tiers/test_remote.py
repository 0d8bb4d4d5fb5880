"""A system over HTTP on the pages: its answers, its clock, what is found before a run, and what a plan says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import report, tiers, views
from ragbench.old.core import settings, trust
from ragbench.old.llm import planning
from ragbench.old.tiers import BenchError, readiness
from tests.old.cli.command_line import ragbench
from tests.old.small_project import add
from tests.old.systems.service_server import Asked, Reply, ServiceServer
from tests.old.tiers import answer_project
from tests.old.tiers.test_generation import values
from tests.old.tiers.test_readiness import requests_of

FEW = "e2e_score,rouge1_f,response_exact_match_rate"
SERVICE = """
[systems.prod]
url = "{url}"
answer = "answer"
ids = "hits[].id"
{more}
"""


def answer(asked: Asked) -> Any:
    """The first chunks, and an answer; nothing of the library's hours."""
    question = asked.body["question"]
    if "close" in question:
        return {"detail": "the search is down"}
    said = "250 roubles." if "lunch" in question else "Ask in room 112."
    return Reply({"answer": said, "hits": [{"id": "lunch"}, {"id": "hours"}][: asked.body["k"]]}, after=0.02)


@pytest.fixture
def project(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    return tmp_path


@pytest.fixture
def server(project: Path) -> Iterator[ServiceServer]:
    with ServiceServer(answer).running() as running:
        add(project, SERVICE.format(url=running.url, more=""))
        yield running


def test_its_own_answers_are_measured_and_its_calls_timed(server: ServiceServer) -> None:
    found = tiers.tier3_end_to_end(systems="prod", metrics=FEW, repeats=2)
    assert len(server.asked) == 10
    rows = found.extra["answers"].query("repeat == 0").set_index("sample")
    assert rows["response"].to_dict() | {"q3": None} == {
        "q1": "250 roubles.", "q2": "250 roubles.", "q3": None, "q4": "Ask in room 112.", "q5": "Ask in room 112.",
    }  # fmt: skip
    assert 'the service says that it failed: {"detail": "the search is down"}' in rows.loc["q3", "reason"]
    assert values(found, "prod", "response_exact_match_rate")["q1"] == 1.0
    readings = found.extra["readings"].query("part == 'call'")
    assert list(readings["sample"]) == ["q1", "q2", "q4", "q5"]
    assert readings["ms"].between(20, 1000).all()
    before = len(server.asked)
    again = tiers.tier3_end_to_end(systems="prod", metrics=FEW, repeats=2)
    assert len(server.asked) == before + 2, "only the question without a reply is asked again"
    assert again.extra["readings"].query("part == 'call'").equals(readings)
    html = views.answers.stages(views.Page(found)).html()
    assert "the whole call of the system" in html


def test_the_page_of_retrieval_reads_the_same_clock(server: ServiceServer) -> None:
    found = tiers.tier1_retrieval(systems="prod, plain", k=2, metrics="recall,mrr", timed_questions=4, repeats=2)
    assert len(server.asked) == 4 + 4
    latencies = found.extra["latencies"].query("system == 'prod'")
    assert set(latencies["part"]) == {"call"}
    assert list(latencies["sample"]) == ["q1", "q2", "q4"], "of four that are timed one has no reply"
    assert found.facts["systems"][0]["in_flight"] == 1
    html = views.retrieval.speed(views.Page(found)).html()
    assert "the whole call" in html
    assert "A system over HTTP was timed while it was asked" in html


def test_who_answers_by_itself_is_left_out_without_being_asked(server: ServiceServer) -> None:
    found = tiers.tier2_generation(systems="prod, plain", metrics="rouge1_f")
    assert found.facts["left_out_systems"] == {"prod": "answers by itself"}
    assert server.asked == []
    said = views.answers.writers(views.Page(found)).html()
    assert "A service can where its body names the slot {contexts}" in said


def test_a_service_that_takes_contexts_is_asked_with_the_ideal_ones(server: ServiceServer, project: Path) -> None:
    body = """body = '{"question": "{question}", "k": {k}, "contexts": {contexts}}'"""
    add(project, SERVICE.format(url=server.url, more=body).replace("prod", "given"))
    server.answer = lambda asked: {"answer": (asked.body["contexts"] or ["I do not know."])[0]}
    found = tiers.tier2_generation(systems="given, plain", metrics="rouge1_f, response_exact_match_rate")
    sent = {asked.body["question"]: asked.body for asked in server.asked}
    assert len(server.asked) == 2 * 5, "a repeat asks anew"
    whole = [answer_project.CHUNKS[name] for name in ("hours", "lunch")]
    assert sent["When does the canteen open and what is lunch?"]["contexts"] == whole
    assert sent["Is there a kindergarten?"]["contexts"] == []
    assert found.facts["left_out_systems"] == {}
    assert found.facts["generators"]["given"]["url"] == server.url
    rows = found.extra["answers"].query("system == 'given' and repeat == 0").set_index("sample")
    assert rows["response"]["q2"] == whole[0]
    assert rows["contexts"]["q2"] == ["hours", "lunch"]
    assert set(values(found, "given", "response_exact_match_rate").values()) == {1.0}
    # "Lunch costs 250 roubles." against "Lunch in the canteen costs 250 roubles.": 4 words of 4, and 4 of 7
    assert values(found, "given", "rouge1_f")["q1"] == pytest.approx(2 * 1 * (4 / 7) / (1 + 4 / 7))
    said = views.answers.writers(views.Page(found)).html()
    assert f"the service {server.url}, which was given the passages" in said
    assert tiers.tier2_generation(systems="given", metrics="rouge1_f").facts["left_out_systems"] == {}
    assert len(server.asked) == 10, "all of it is kept"


def test_one_perfect_part_is_tried_on_a_service_that_takes_contexts(project: Path) -> None:
    def answer(asked: Asked) -> Any:
        given = asked.body["contexts"]
        return {"answer": (given or [answer_project.CHUNKS["lunch"]])[0], "hits": [{"id": "lunch"}]}

    body = """body = '{"question": "{question}", "k": {k}, "contexts": {contexts}}'"""
    with ServiceServer(answer).running() as server:
        add(project, SERVICE.format(url=server.url, more=body))
        found = tiers.tier3_end_to_end(systems="prod, alone", metrics=FEW, repeats=1)
    perfect = found.extra["blame_counterfactuals"].query("system == 'prod' and part == 'retrieval'")
    # of q1 and q5 lunch is all there is to show; q2, q3 and q4 are answered anew
    assert perfect["changed"].tolist() == [3, 3]
    gained = {one.metric: one.comparison.difference for one in found.comparisons_by("perfect")
              if one.where["perfect"] == "retrieval" and one.comparison.challenger == "prod"}  # fmt: skip
    assert all(gain > 0 for gain in gained.values())
    assert [asked.body["contexts"] for asked in server.asked].count(None) == 5
    alone = found.extra["blame_counterfactuals"].query("system == 'alone' and part == 'retrieval'")
    assert set(alone["reason"]) == {"answers by itself"}


def test_a_function_that_takes_contexts_is_asked_with_the_ideal_ones(project: Path) -> None:
    (project / "with_contexts.py").write_text(
        "def ask(question, k=10, contexts=None):\n"
        "    return {'answer': (contexts or ['I do not know.'])[0], 'retrieved': ['lunch']}\n",
        encoding="utf-8",
    )
    add(project, '[systems.given]\ncallable = "with_contexts:ask"\n')
    found = tiers.tier2_generation(systems="given, alone", metrics="rouge1_f")
    assert found.facts["left_out_systems"] == {"alone": "answers by itself"}
    rows = found.extra["answers"].query("repeat == 0").set_index("sample")
    assert rows["response"].to_dict() == {
        "q1": answer_project.CHUNKS["lunch"], "q2": answer_project.CHUNKS["hours"],
        "q3": answer_project.CHUNKS["library"], "q4": answer_project.CHUNKS["card"], "q5": "I do not know.",
    }  # fmt: skip
    whole = tiers.tier3_end_to_end(systems="given", metrics="rouge1_f", repeats=1)
    assert set(whole.extra["answers"]["response"]) == {"I do not know."}, "there it searches by itself"


@pytest.mark.slow
def test_the_first_piece_of_a_stream_is_a_stage(project: Path) -> None:
    pieces = ((0.05, b'data: {"answer": "In room "}\n\n'), (0.1, b'data: {"answer": "112."}\n\n'),
              (0.0, b'data: {"hits": [{"id": "card"}]}\n\n'))  # fmt: skip
    with ServiceServer(lambda _: Reply(pieces=pieces)).running() as server:
        add(project, SERVICE.format(url=server.url, more="stream = true"))
        found = tiers.tier3_end_to_end(systems="prod", metrics=FEW)
    quantiles = {
        one.where["stage"]: one.estimate.value
        for one in found.estimates_by("stage", "probability")
        if one.where["probability"] == 0.5
    }
    assert quantiles["first_token"] >= 50
    assert quantiles["call"] >= quantiles["first_token"] + 90
    assert "answer" not in quantiles, "it is the call"
    assert "part of it, up to the first piece of the answer" in views.answers.stages(views.Page(found)).html()


def test_a_service_without_answers_has_a_generator_and_both_are_waited_for(project: Path) -> None:
    with ServiceServer(lambda _: {"hits": [{"id": "card"}, {"id": "lunch"}]}).running() as server:
        add(project, f'[systems.prod]\nurl = "{server.url}"\nids = "hits[].id"\ngenerator = "steady"\n')
        found = tiers.tier3_end_to_end(systems="prod", metrics=FEW)
    assert set(found.extra["answers"]["response"]) == {answer_project.CHUNKS["card"]}
    assert {"call", "generate", "answer"} <= set(found.extra["readings"]["part"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Reply({}, 401), "the service refuses all calls: HTTP 401"),
        ({"text": "yes"}, "ids = 'hits[].id': a list is expected; got nothing; the reply begins"),
        (Reply({}, 503), ""),
    ],
)
def test_what_cannot_work_is_found_before_a_run(project: Path, given: Any, said: str) -> None:
    with ServiceServer(lambda _: given).running() as server:
        add(project, SERVICE.format(url=server.url, more=""))
        requests = requests_of("tier3_end_to_end", systems="prod")["tier3_end_to_end"]
        if not said:
            readiness.check(requests, settings.load())
            return
        with pytest.raises(BenchError) as refused:
            readiness.check(requests, settings.load())
    assert said in str(refused.value)


def test_who_has_answered_before_is_not_asked_first(server: ServiceServer) -> None:
    tiers.tier1_retrieval(systems="prod", k=1, metrics="mrr", timed_questions=1)
    before = len(server.asked)
    readiness.check(requests_of("tier1_retrieval", systems="prod")["tier1_retrieval"], settings.load())
    assert len(server.asked) == before


def test_a_variable_that_is_not_set_and_what_is_sent_where(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = 'headers = { Authorization = "Bearer {PROD_KEY}", X-Other = "{OTHER_KEY}" }'
    add(project, SERVICE.format(url="https://prod.example/ask", more=headers))
    known = settings.load()
    monkeypatch.setenv("OTHER_KEY", "another-secret")
    [said] = readiness.faults(readiness.Parts(systems=("prod",)), known)
    assert said == "systems.prod.headers needs its key in the variable PROD_KEY, which is not set: export PROD_KEY=…"
    items = {item.name: item.says for item in trust.named()}
    assert items["systems.prod"] == "sends texts and the value of PROD_KEY, OTHER_KEY to https://prod.example/ask"
    add(project, SERVICE.format(url="http://127.0.0.1:9/ask", more="").replace("prod", "open"))
    items = {item.name: item.says for item in trust.named()}
    assert items["systems.open"] == "sends texts to http://127.0.0.1:9/ask"


@pytest.mark.slow
def test_doctor_asks_it(server: ServiceServer) -> None:
    found = ragbench("doctor", "--online")
    assert f"system prod: {server.url} answers" in found.stdout.replace("\n", " "), found.stdout
    assert len(server.asked) == 1


@pytest.mark.slow
def test_a_plan_asks_nobody_and_counts_what_would_be_asked(server: ServiceServer) -> None:
    planned = report.plan(["tier1_retrieval"], {"systems": "prod", "k": 2, "repeats": 1})
    assert server.asked == []
    (outlook,) = planned.outlooks
    assert (outlook.name, outlook.plan().calls) == ("prod", 4)
    assert report.plan(["tier1_retrieval"], {"systems": "plain"}).silent == ("tier1_retrieval",)
    assert planning.folder() is None
