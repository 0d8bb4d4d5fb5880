"""Questions without passages: what a service returns is the base as far as it is seen, and what can be measured is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers
from ragbench.old.core import settings
from tests.old.cli.command_line import one_line, ragbench
from tests.old.small_project import add
from tests.old.systems.service_server import Asked, ServiceServer

TEXTS = ["The library opens at 8:00.", "Parking is behind the hall.", "Loans last fourteen days."]
QUESTIONS = ["When does the library open?,At 8:00.", "Where is parking?,Behind the hall.", "How long do loans last?,"]
QUICK = {"resamples": 100}


def answer(asked: Asked) -> Any:
    """The text that shares most words with the question, and another; the first is the answer."""
    words = set(asked.body["question"].lower().strip("?").split())
    found = sorted(TEXTS, key=lambda text: -len(words & set(text.lower().strip(".").split())))[:2]
    return {"answer": found[0], "sources": [{"text": text} for text in found]}


@pytest.fixture
def service(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceServer]:
    monkeypatch.chdir(project)
    (project / "q.csv").write_text("\n".join(["question,expected_answer", *QUESTIONS]), encoding="utf-8")
    done = ragbench("load", "questions", "q.csv", "--name", "asked")
    assert "Next: ragbench run dataset --dataset asked" in one_line(done.stdout), done.stderr
    with ServiceServer(answer).running() as running:
        own = f'url = "{running.url}"\npassages = "sources[].text"\n'
        add(project, f'[systems.prod]\n{own}answer = "answer"\n[systems.search]\n{own}')
        settings.load.cache_clear()
        done = ragbench("load", "questions", "q.csv", "--name", "asked", "--replace")
        assert "Next: ragbench run tier3_end_to_end --dataset asked" in one_line(done.stdout), done.stderr
        yield running


def test_end_to_end_measures_what_the_service_returns(service: ServiceServer) -> None:
    made = tiers.tier3_end_to_end("asked", systems="prod", metrics="token_f1,faithfulness", repeats=1, **QUICK)
    assert len(service.asked) == 3
    texts = made.extra["answers"].set_index("sample")["response"].tolist()
    assert sorted(texts) == sorted(TEXTS)
    faithful = made.scores[made.scores["metric"] == "faithfulness"]["value"]
    assert faithful.tolist() == [1.0] * 3, "answers are held to the passages that were returned"
    [about] = made.facts["systems"]
    assert about["passages_seen"] == 3
    assert "unidentified" not in made.facts, "none of it is strange"


def test_the_metrics_of_answers_ask_the_service_that_is_named(service: ServiceServer) -> None:
    made = tiers.rag_metrics(dataset="asked", systems="prod", metrics="faithfulness,exact_match", **QUICK)
    assert len(service.asked) == 3
    values = made.scores.pivot(index="sample", columns="metric", values="value")
    assert values["faithfulness"].tolist() == [1.0] * 3
    assert values["exact_match"].isna().sum() == 1, "one question has no reference"
    assert set(made.scores["system"]) == {"prod"}


def test_answers_without_any_passage_are_measured_where_that_is_asked_for(service: ServiceServer) -> None:
    made = tiers.tier2_generation("asked", systems="search", context="none", metrics="token_f1", repeats=1, **QUICK)
    assert made.facts["n_questions"] == 3
    assert not len(made.retrieved)
    assert not service.asked, "nobody searches for what is answered by heart"


def test_retrieval_says_what_it_would_need(service: ServiceServer) -> None:
    pages, none = (
        "; where the labels are pages, as in a log: -p unit=url",
        ", or let generators answer without passages: -p context=none",
    )
    for page, more in (("tier1_retrieval", pages), ("tier2_generation", none)):
        done = ragbench("run", page, "-d", "asked", "-s", "prod", "--trust")
        said = one_line(done.stdout + done.stderr)
        assert f"{page} needs questions with relevant passages; asked:en has none" in said
        assert "ragbench load questions FILE --name NAME --chunks-from BASE), such as documents" in said
        assert f"(ragbench load documents FOLDER --name BASE){more}. What a service" in said
        assert "answers by itself is measured by tier3_end_to_end" in said
    assert not service.asked


def test_dialogues_without_passages_are_embedded_by_what_is_said_in_them(project: Path) -> None:
    asked = ["Когда открыта библиотека?", "А в субботу?", "Сколько стоит обед?", "Кто подписывает заявку?"]
    said = [{"role": role, "content": text} for text in asked for role in ("user", "assistant")]
    (project / "d.json").write_text(json.dumps([{"messages": said[:4]}, {"messages": said[4:]}]), encoding="utf-8")
    assert ragbench("load", "dialogues", "d.json", "--name", "talks").returncode == 0
    done = ragbench("run", "tier_ux", "-d", "talks", "--plan", "--trust")
    assert "Ask no model: tier_ux." in done.stdout, done.stderr
    settings.load.cache_clear()
    made = tiers.tier_ux("talks", **QUICK)
    assert made.scores["value"].notna().all()
