"""Tier 2 and what it stands on: answers from the ideal context, in the real database, at a real server."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from ragbench.old import tiers, views
from ragbench.old.core import settings, stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import registered
from ragbench.old.core.types import Status
from ragbench.old.report import exports
from ragbench.old.report.pages import drawing
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.answers.written_answers import answered, ideal_contexts
from ragbench.old.tiers.basics.session import Session
from tests.old.llm.chat_server import ChatServer, asked_schema
from tests.old.tiers import answer_project


@pytest.fixture
def project(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The project, configured; its module of functions is forgotten afterwards."""
    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    yield tmp_path
    sys.modules.pop("alone", None)


@pytest.fixture
def server(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """The same project with its model at a server that counts how often each question came."""
    asked: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> Any:
        text = body["messages"][0]["content"]
        asked[text] += 1
        if "library close" in text:
            return "!refusal"
        if "kindergarten" in text:
            return "I do not know."
        return f"Answer number {asked[text]}." if "canteen open" in text else "250 roubles."

    with ChatServer(answer=reply).running() as running:
        monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder, running.url)))
        monkeypatch.chdir(tmp_path)
        settings.load.cache_clear()
        yield running
    sys.modules.pop("alone", None)


def values(measurement: Measurement, system: str, metric: str) -> dict[str, float]:
    rows = measurement.scores.query("system == @system and metric == @metric")
    return dict(zip(rows["sample"], rows["value"], strict=True))


def estimate(measurement: Measurement, system: str, metric: str) -> Any:
    [found] = [e.estimate for e in measurement.estimates if (e.system, e.metric) == (system, metric)]
    return found


@pytest.mark.usefixtures("project")
def test_the_ideal_context_is_all_that_is_relevant_highest_grade_first() -> None:
    session = Session.begin("", "", "plain", "")
    ideal = ideal_contexts(session, session.dataset.questions)
    assert {name: [chunk.id for chunk in chunks] for name, chunks in ideal.items()} == {
        "q1": ["lunch"], "q2": ["hours", "lunch"], "q3": ["library"], "q4": ["card"], "q5": [],
    }  # fmt: skip


@pytest.mark.usefixtures("project")
def test_what_cannot_be_answered_is_counted_apart() -> None:
    found = tiers.tier2_generation(systems="plain", repeats=1)
    assert found.facts["n_questions"] == 4
    assert found.facts["n_unanswerable"] == 1
    assert set(found.scores["sample"]) == {"q1", "q2", "q3", "q4"}
    refusals = {one.where["group"]: one.estimate for one in found.estimates_by("group")}
    assert (refusals["unanswerable"].n, refusals["unanswerable"].value) == (1, 1.0)
    assert refusals["answerable"].n + refusals["answerable"].n_unmeasured == 4
    named = {(one.part, one.name, one.systems) for one in stand_ins.of(found.facts)}
    assert named == {
        ("order", "lexical", ()),
        ("generator", "extractive", ("plain",)),
        ("judge", "lexical", ()),
        ("embedder", "hashing", ()),
    }


@pytest.mark.usefixtures("project")
def test_one_run_says_nothing_of_repeatability() -> None:
    once = tiers.tier2_generation(systems="plain", repeats=1)
    for metric in ("response_exact_match_rate", "response_semantic_consistency"):
        found = estimate(once, "plain", metric)
        assert math.isnan(found.value)
        assert found.n_unmeasured == 4
    twice = tiers.tier2_generation(systems="plain", repeats=2)
    assert estimate(twice, "plain", "response_exact_match_rate").value == 1.0


@pytest.mark.usefixtures("project")
def test_a_limit_is_stated_and_what_it_cuts_is_counted() -> None:
    found = tiers.tier2_generation(systems="plain", metrics="rouge1_f", length_limit=30)
    assert found.facts["length_limit"] == 30
    texts = {name: [answer_project.CHUNKS[chunk] for chunk in relevant] for name, relevant in QRELS.items()}
    rows = found.extra["answers"]
    lost_by = dict(zip(rows["sample"], rows["characters_cut"].astype(int), strict=True))
    for name, chunks in texts.items():
        lost = lost_by[name]
        assert lost >= max(0, sum(map(len, chunks)) - 30)
        assert (lost > 0) == (sum(map(len, chunks)) > 30)
    cut = found.facts["cut"]["plain"]
    assert cut["answers"] == sum(sum(map(len, chunks)) > 30 for chunks in texts.values())
    assert cut["characters"] == sum(lost_by.values())
    page = views.Page(found)
    assert "At most 30 characters" in views.answers.writers(page).html()
    assert f"characters lost: {cut['characters']}" in views.answers.writers(page).html()
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(BenchError, match="length_limit"):
            tiers.tier2_generation(systems="plain", length_limit=wrong)  # type: ignore[arg-type]


QRELS = {name: relevant for name, (_, _, relevant) in answer_project.QUESTIONS.items() if relevant}


@pytest.mark.usefixtures("project")
def test_corpus_bleu_is_sacrebleus_and_not_the_mean_of_sentences() -> None:
    found = tiers.tier2_generation(systems="plain,function", metrics="bleu,corpus_bleu")
    for system in ("plain", "function"):
        rows = found.extra["answers"].query("system == @system and sample != 'q5'")
        references = [answer_project.QUESTIONS[name][1] for name in rows["sample"]]
        theirs = sacrebleu.corpus_bleu(list(rows["response"]), [references]).score
        assert estimate(found, system, "corpus_bleu").value == pytest.approx(theirs, abs=1e-9)
        mean = sum(values(found, system, "bleu").values()) / 4
        assert estimate(found, system, "bleu").value == pytest.approx(mean, abs=1e-9)
        assert abs(mean - theirs) > 0.1
    assert [c.metric for c in found.comparisons] == ["bleu", "corpus_bleu"]
    families = {c.metric: c.comparison.family for c in found.comparisons}
    assert families == {"bleu": "primary: 1, max-T", "corpus_bleu": "secondary: 1, max-T"}


@pytest.mark.usefixtures("project")
def test_every_page_with_bleu_has_its_signature() -> None:
    found = tiers.tier2_generation(systems="plain", metrics="bleu(tokenize=char),corpus_bleu,rouge1_f")
    assert set(found.facts["signatures"]) == {"bleu(tokenize=char)", "corpus_bleu"}
    html = views.comparison.table(views.Page(found)).html().replace("<wbr>", "")
    assert f"nrefs:1|case:mixed|eff:yes|tok:char|smooth:exp|version:{sacrebleu.__version__}" in html
    assert f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}" in html
    told = drawing.html(registered()["bleu"], {}, {}, "en", found.facts["signatures"], {}).replace("<wbr>", "")
    assert "tok:char|smooth:exp" in told


@pytest.mark.usefixtures("project")
def test_systems_that_share_a_generator_are_measured_once_and_one_that_answers_alone_is_left_out() -> None:
    found = tiers.tier2_generation(systems="plain,twin,function,alone", metrics="rougeL_f")
    assert list(dict.fromkeys(found.scores["system"])) == ["plain", "function"]
    assert found.facts["shared"] == {"plain": ["twin"]}
    assert list(found.facts["left_out_systems"]) == ["alone"]
    page = views.Page(found)
    assert "twin" in views.answers.writers(page).html()
    assert "alone" in views.answers.writers(page).html()
    with pytest.raises(BenchError, match="alone: what answers by itself cannot be given the ideal context"):
        tiers.tier2_generation(systems="alone")


@pytest.mark.usefixtures("project")
def test_logged_answers_are_taken_as_they_are_and_a_missing_one_is_unmeasured() -> None:
    found = tiers.tier2_generation(systems="logged", metrics="rouge1_f,response_exact_match_rate", repeats=2)
    scores = values(found, "logged", "rouge1_f")
    assert scores["q1"] == pytest.approx(2 * (2 / 2) * (2 / 4) / (2 / 2 + 2 / 4))
    assert math.isnan(scores["q4"])
    missing = found.scores.query("metric == 'rouge1_f' and sample == 'q4'").iloc[0]
    assert (missing["status"], missing["reason"]) == ("missing_field", "the system gave no answer to this question")
    same = values(found, "logged", "response_exact_match_rate")
    assert (same["q1"], same["q2"]) == (1.0, 0.0)
    assert math.isnan(same["q3"]), "an empty repeat compares with nothing"
    assert found.facts["failed"] == {"logged": {"missing_field": 1}}
    assert found.facts["empty"] == {"logged": 1}
    assert (
        "1 answer is empty: held against a reference it is worth nothing."
        in views.answers.writers(views.Page(found)).html()
    )


def repeated(found: Measurement, system: str, metric: str) -> dict[str, list[float]]:
    """Sample → the value of each of its answers, in their order."""
    table = found.extra["repeated"].query("system == @system and metric == @metric").sort_values("repeat")
    return {name: list(own["value"]) for name, own in table.groupby("sample")}


@pytest.mark.usefixtures("project")
def test_a_question_is_worth_the_mean_of_its_answers() -> None:
    """ "At eleven." and "At 11." of "It opens at eleven.": 2/3 and 1/3 of ROUGE-1; the second answer to q3 is empty."""
    found = tiers.tier2_generation(systems="plain,logged", metrics="rouge1_f,rougeL_f", repeats=2)
    singles = repeated(found, "logged", "rouge1_f")
    assert singles["q2"] == pytest.approx([2 / 3, 1 / 3])
    assert singles["q3"][1] == 0
    scores = values(found, "logged", "rouge1_f")
    assert scores["q2"] == pytest.approx(1 / 2)
    assert scores["q3"] == pytest.approx(singles["q3"][0] / 2)
    assert math.isnan(scores["q4"])
    row = found.scores.query("system == 'logged' and metric == 'rouge1_f' and sample == 'q2'").iloc[0]
    assert row["reason"].startswith("Mean of 2 repeats: 0.667; 0.333. The first: ")

    plain, steady = values(found, "plain", "rouge1_f"), repeated(found, "plain", "rouge1_f")
    assert all(one == [plain[name]] * 2 for name, one in steady.items())
    [compared] = [c.comparison for c in found.comparisons if c.metric == "rouge1_f"]
    differences = [scores[name] - plain[name] for name in ("q1", "q2", "q3")]
    assert compared.difference == pytest.approx(sum(differences) / 3)
    table = found.extra["variance"].set_index(["system", "baseline", "metric"])
    split = table.loc[("logged", "plain", "rouge1_f")]
    within = sum(float(np.var(singles[name], ddof=1)) for name in ("q1", "q2", "q3")) / 3
    assert split["of_repeats"] == pytest.approx(within)
    assert split["error"] == pytest.approx(compared.error)
    assert split["error_of_repeats"] ** 2 == pytest.approx(within / 2 / 3)
    assert split["error_twice_repeats"] ** 2 == pytest.approx(compared.error**2 - within / 2 / 3 / 2)
    assert split["error_twice_questions"] ** 2 == pytest.approx(compared.error**2 / 2)

    page, digits = views.Page(found), f"{split['error_of_repeats']:.3f}"
    said = f"Each question was asked 2 times. The standard error {compared.error:.3f} is made of"
    tex = exports.latex_table(found, translator("en"))
    markdown = exports.summary({"notebooks": [{"name": found.notebook}]}, {found.notebook: found}, None,
                                translator("en")).replace("\\", "")  # fmt: skip
    for text in (views.comparison.answer(page).html(), tex, markdown):
        assert said in text
        assert f"{digits} of the repeats" in text
    assert "with twice the repeats" in views.comparison.table(page).html()
    alone = tiers.tier2_generation(systems="plain", metrics="rouge1_f", repeats=2)
    assert "asking again adds no spread" in views.comparison.answer(views.Page(alone)).html()
    assert "показывают" in views.comparison.answer(views.Page(alone, language="ru")).html()
    once = tiers.tier2_generation(systems="plain,logged", metrics="rouge1_f", repeats=1)
    assert not {"repeated", "variance"} & set(once.extra)
    assert "Each question was asked" not in views.comparison.answer(views.Page(once)).html()


@pytest.mark.parametrize("tier", [tiers.tier2_generation, tiers.tier3_end_to_end])
def test_every_answer_of_a_model_is_judged_and_the_same_one_once(
    tier: Any, tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that writes q1 anew each time, q2 always alike, and fails at q3 the first time."""
    written: Counter[str] = Counter()
    judged: Counter[str] = Counter()

    def reply(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if asked_schema(body) is not None:
            for name in ("Answer 1", "Answer 2", "Answer 3", "Always"):
                judged[name] += name in text
            return {
                "reason": "so it is",
                "rating": next(
                    (score for name, score in (("Answer 1", 2), ("Answer 2", 3), ("Answer 3", 5)) if name in text), 4
                ),
            }
        question = next(name for name, (asked, _, _) in answer_project.QUESTIONS.items() if asked in text)
        written[question] += 1
        if question == "q3" and written[question] == 1:
            return "!refusal"
        return f"Answer {written[question]}." if question == "q1" else "Always."

    metric = "answer_correctness_rating" if tier is tiers.tier2_generation else "e2e_score"
    with ChatServer(answer=reply).running() as running:
        path = answer_project.make(tmp_path, database_folder, running.url)
        with path.open("a", encoding="utf-8") as file:
            file.write(f'[judges.strict]\nbase_url = "{running.url}"\nmodel = "judge"\n')
        monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
        monkeypatch.chdir(tmp_path)
        settings.load.cache_clear()
        found = tier(systems="function,modelled", metrics=metric, judges="strict", repeats=3, resamples=200)
    singles = repeated(found, "modelled", metric)
    assert sorted(singles["q1"]) == [2, 3, 5]
    assert values(found, "modelled", metric)["q1"] == pytest.approx(10 / 3)
    assert singles["q2"] == [4, 4, 4]
    assert sorted(singles["q3"], key=str) == [4, 4, pytest.approx(math.nan, nan_ok=True)]
    assert values(found, "modelled", metric)["q3"] == 4, "the answers that came"
    asked = [judged[f"Answer {n}"] for n in (1, 2, 3)]
    assert sorted(asked) == ([1, 1, 1] if tier is tiers.tier2_generation else [1, 1, 2]), "blame reads the first answer"
    [compared] = [c.comparison for c in found.comparisons if c.metric == metric]
    table = found.extra["variance"].set_index(["system", "baseline", "metric"])
    split = table.loc[("modelled", "function", metric)]
    assert split["error"] == pytest.approx(compared.error)
    assert split["of_repeats"] == pytest.approx(np.var([2, 3, 5], ddof=1) * 2 / (4 * 3 - 1 - 4)), "the rest is steady"
    assert table.loc[("function", "", metric)]["error_of_repeats"] == 0
    assert len(found.extra["judgements"].query("system == 'modelled' and sample == 'q1'")) == 1, "of the first answer"


@pytest.mark.fault("flattering", tried="a model that fails to answer", count=1)
def test_a_model_answers_through_the_journal_and_a_failure_is_no_zero(server: ChatServer) -> None:
    found = tiers.tier2_generation(systems="modelled", metrics="rouge1_f,response_exact_match_rate", repeats=2)
    calls = server.calls
    assert calls >= 10
    again = tiers.tier2_generation(systems="modelled", metrics="rouge1_f,response_exact_match_rate", repeats=2)
    assert again.extra["answers"].equals(found.extra["answers"]), "answers, seconds and tokens out of the journal"
    assert math.isnan(values(found, "modelled", "rouge1_f")["q3"])
    refused = found.extra["answers"].query("sample == 'q3'")
    assert set(refused["status"]) == {Status.REFUSED.value}
    assert refused["response"].isna().all()
    assert not refused["refused"].any(), "what a provider refuses is a failure, not the answer of the system"
    mean = [value for value in values(found, "modelled", "rouge1_f").values() if value == value]
    assert estimate(found, "modelled", "rouge1_f").value == pytest.approx(sum(mean) / 3)
    assert estimate(found, "modelled", "rouge1_f").n_unmeasured == 1
    same = values(found, "modelled", "response_exact_match_rate")
    assert (same["q1"], same["q2"]) == (1.0, 0.0)
    lengths = {one.where["of"] for one in found.estimates_by("of", "probability")}
    assert {"input_tokens", "output_tokens"} <= lengths
    prompts = [request.body["messages"][0]["content"] for request in server.requests]
    hours, lunch = (answer_project.CHUNKS[name] for name in ("hours", "lunch"))
    assert any(f"[1] {hours}\n\n[2] {lunch}" in prompt for prompt in prompts)


@pytest.mark.usefixtures("project")
def test_contexts_can_be_swapped() -> None:
    session = Session.begin("", "", "function", "")
    asked = session.dataset.questions[:2]
    chunks = {chunk.id: chunk for chunk in session.dataset.chunks}
    first = answered(session, asked, {"function": {q.id: [chunks["card"]] for q in asked}})
    ideal = answered(session, asked, {"function": ideal_contexts(session, asked)})
    assert set(first.table["response"]) == {answer_project.CHUNKS["card"]}
    assert list(ideal.table["response"]) == [answer_project.CHUNKS["lunch"], answer_project.CHUNKS["hours"]]
    assert [sample.contexts for sample in first.samples(asked)] == [(chunks["card"],)] * 2
    assert ideal.generators["function"]["own"] is False


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_the_page_says_who_wrote_and_is_the_same_again(tmp_path: Path) -> None:
    found = tiers.tier2_generation(systems="plain,function", repeats=2)
    found.save(tmp_path / "kept")
    again = Measurement.load(tmp_path / "kept")
    for language in ("en", "ru"):
        first, second = (views.Page(one, language=language) for one in (found, again))
        for name in ("answer", "table", "writers", "refusals", "lengths", "verdicts", "method", "provenance"):
            assert first.view(name).html() == second.view(name).html(), name
    assert "extractive" in views.answers.writers(views.Page(found)).html()
    assert "avg_faithfulness" in views.comparison.table(views.Page(found)).html()


@pytest.mark.usefixtures("project")
def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(BenchError, match="reads a ranking, not answers"):
        tiers.tier2_generation(metrics="mrr")
    with pytest.raises(BenchError, match="repeats = 0"):
        tiers.tier2_generation(repeats=0)
    with pytest.raises(BenchError, match="context = 'some'"):
        tiers.tier2_generation(context="some")  # type: ignore[arg-type]


@pytest.mark.usefixtures("project")
def test_judgements_keep_what_each_rating_was_made_from() -> None:
    found = tiers.tier2_generation(systems="plain", metrics="faithfulness_rating")
    details = [json.loads(detail) for detail in found.extra["judgements"]["detail"]]
    assert all(1 <= detail["rating"] <= 5 for detail in details)
    assert len(details) == 4
