"""Tier 3 from the question to the judged answer: own answers, contexts, failures, the clock."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings, stand_ins
from ragbench.old.core.measurement import Measurement
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.scoring.table_sources import find_answers
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import write_lines
from tests.old.tiers import answer_project
from tests.old.tiers.test_generation import estimate, values
from tests.old.views.measurements import placed

FEW = "e2e_score,rouge1_f,response_exact_match_rate"


@pytest.fixture
def project(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    yield tmp_path
    sys.modules.pop("alone", None)


def contexts(measurement: Measurement, system: str) -> dict[str, list[str]]:
    rows = measurement.extra["answers"].query("system == @system and repeat == 0")
    return {name: list(given) for name, given in zip(rows["sample"], rows["contexts"], strict=True)}


@pytest.mark.usefixtures("project")
def test_the_answer_is_written_from_the_first_of_what_was_retrieved() -> None:
    found = tiers.tier3_end_to_end(systems="function", metrics=FEW, k=4, contexts=2)
    ranked = found.retrieved.groupby("sample")["chunk"].agg(list)
    assert {len(ranks) for ranks in ranked} == {4}
    assert contexts(found, "function") == {name: ranks[:2] for name, ranks in ranked.items()}
    answers = found.extra["answers"].set_index("sample")["response"]
    assert {name: answer_project.CHUNKS[ranked[name][0]] for name in ranked.index} == answers.to_dict()
    gains = {(row["sample"], row["chunk"]): row["gain"] for row in found.retrieved.to_dict("records")}
    assert (gains["q2", "hours"], gains["q2", "lunch"], gains["q2", "card"]) == (3.0, 1.0, 0.0)
    html = views.answers.verdicts(views.Page(found)).html()
    assert "It had 2 passages" in html, "what was read, not all that was retrieved"
    assert "It had 4 passages" not in html
    assert set(found.questions["sample"]) == {"q1", "q2", "q3", "q4", "q5"}
    assert set(found.scores["sample"]) == {"q1", "q2", "q3", "q4"}


@pytest.mark.usefixtures("project")
def test_the_first_passage_alone_is_what_the_specification_reads_and_the_page_says_which_it_was() -> None:
    how: dict[str, Any] = {"metrics": "rouge1_f", "k": 4, "repeats": 1, "perfect_parts": False, "timed_questions": 0}
    one, two = (tiers.tier3_end_to_end(systems="function", contexts=number, **how) for number in (1, 2))
    ranked = one.retrieved.groupby("sample")["chunk"].agg(list)
    assert contexts(one, "function") == {name: ranks[:1] for name, ranks in ranked.items()}
    said = [views.answers.writers(views.Page(made)).html() for made in (one, two)]
    assert "from the first retrieved passage alone, as in the specification." in said[0]
    assert "from the first 2 retrieved passages. The specification takes the first alone (contexts = 1)" in said[1]


@pytest.mark.usefixtures("project")
def test_a_system_that_answers_by_itself_is_measured_on_its_own_answers() -> None:
    found = tiers.tier3_end_to_end(systems="alone", metrics=FEW, repeats=2)
    rows = found.extra["answers"].query("repeat == 0").set_index("sample")
    assert rows["response"].to_dict() | {"q3": None} == {
        "q1": "250 roubles.", "q2": "Ask in room 112.", "q3": None, "q4": "Ask in room 112.", "q5": "I do not know.",
    }  # fmt: skip
    assert found.facts["generators"]["alone"] == {"name": "alone", "stand_in": False, "own": True}
    assert contexts(found, "alone")["q1"] == ["lunch", "hours"]
    assert values(found, "alone", "response_exact_match_rate")["q1"] == 1.0
    refusals = {one.where["group"]: one.estimate for one in found.estimates_by("group")}
    assert (refusals["unanswerable"].n, refusals["unanswerable"].value) == (1, 1.0)


@pytest.mark.fault("flattering", tried="a system that fails on questions", count=1)
@pytest.mark.usefixtures("project")
def test_a_question_at_which_the_system_fails_is_unmeasured_with_the_reason() -> None:
    found = tiers.tier3_end_to_end(systems="alone", metrics=FEW)
    failed = found.scores.query("sample == 'q3' and metric == 'e2e_score'").iloc[0]
    assert failed["status"] == "missing_field"
    assert "the search is down" in failed["reason"]
    assert math.isnan(failed["value"])
    assert estimate(found, "alone", "e2e_score").n == 3
    assert estimate(found, "alone", "e2e_score").n_unmeasured == 1
    assert (
        "are unmeasured, not 0" in views.answers.writers(views.Page(found)).html()
        or "is unmeasured, not 0" in views.answers.writers(views.Page(found)).html()
    )


@pytest.mark.usefixtures("project")
def test_logged_answers_with_their_latency() -> None:
    found = tiers.tier3_end_to_end(systems="logged,plain", metrics=FEW, repeats=2)
    times = found.extra["readings"].query("system == 'logged' and part == 'call'").set_index("sample")["ms"]
    assert times.to_dict() == {"q1": 100.0, "q2": 200.0}
    exact = values(found, "logged", "response_exact_match_rate")
    assert (exact["q1"], exact["q2"]) == (1.0, 0.0)
    failed = found.scores.query("system == 'logged' and sample == 'q4' and metric == 'e2e_score'").iloc[0]
    assert failed["reason"] == "not in log.jsonl"
    refusals = {(one.system, one.where["group"]): one.estimate for one in found.estimates_by("group")}
    assert refusals["logged", "unanswerable"].value == 0
    assert "It is in room 5." in views.answers.refusals(views.Page(found)).html()
    assert {c.comparison.challenger for c in found.comparisons} == {"plain"}


@pytest.mark.slow
def test_what_a_log_says_was_shown_is_the_production_judge_s_decision(project: Path) -> None:
    """A good answer that was held back is withheld; one of which the log is silent is unmeasured, not shown."""
    marks: dict[str, Any] = {"q1": "нет", "q2": "да", "q3": None, "q4": "0", "q5": 1}
    rows = [
        {"id": name, "retrieved": list(relevant), "answer": " ".join(answer_project.CHUNKS[each] for each in relevant)
         if name != "q4" else "Nobody knows anything about horses.", "shown": marks[name]}
        for name, (_, _, relevant) in answer_project.QUESTIONS.items() if relevant
    ] + [{"id": "q5", "retrieved": ["card"], "answer": "It is in room 112.", "shown": 1}]  # fmt: skip
    write_lines(project / "log.jsonl", rows)
    options: dict[str, Any] = {"metrics": FEW, "right_from": 2, "faithful_from": 2, "resamples": 100}
    found = tiers.tier3_end_to_end(systems="logged,plain", **options)
    blame = found.extra["blame"].set_index(["system", "sample"])
    parts = {name: blame.loc[("logged", name), "part"] for name in marks}
    assert parts == {"q1": "withheld", "q2": "good", "q3": "unmeasured", "q4": "not_used", "q5": "invented"}
    assert blame.loc[("logged", "q3"), "cause"] == "shown"
    assert set(blame.loc["plain", "shown"]) == {1.0}, "a system without such a log shows all of its own"
    assert found.facts["blame"]["shown_logged"] == ["logged"]
    assert found.facts["blame"]["production_judge"] is None
    perfect = found.extra["blame_counterfactuals"].set_index(["system", "part", "measure"])
    assert perfect.loc[("logged", "judge", "good"), "changed"] == 1
    assert (
        "Which answers were shown is taken from the log of logged." in views.blame.waterfall(views.Page(found)).html()
    )
    assert "из журнала систем" in views.blame.waterfall(views.Page(found, language="ru")).html()
    named = tiers.tier3_end_to_end(systems="logged,plain", production_judge="show-all", **options)
    assert "withheld" not in set(named.extra["blame"]["part"]), "who is named decides, whatever was logged"
    assert "shown_logged" not in named.facts["blame"]
    plain = tiers.tier3_end_to_end(systems="plain", **options)
    assert "shown" not in plain.extra["answers"]


@pytest.mark.fault("flattering", tried="answers left empty where they would be bad", count=1)
def test_silence_raises_no_mean(project: Path) -> None:
    """Two systems give one bad answer of four; where one of them says nothing instead, it is no better for it."""
    good = {name: {"id": name, "retrieved": ["lunch"], "answer": answer_project.QUESTIONS[name][1]} for name in
            ("q1", "q2", "q3")}  # fmt: skip
    for name, said in (("talks", "!!!"), ("silent", " ")):
        last = [{"id": "q4", "retrieved": ["card"], "answer": said}, {"id": "q5", "retrieved": [], "answer": said}]
        write_lines(project / f"{name}.jsonl", [*good.values(), *last])
    path = project / "ragbench.toml"
    tables = "".join(f'[systems.{name}]\nresults = "{name}.jsonl"\n' for name in ("talks", "silent"))
    path.write_text(path.read_text(encoding="utf-8") + tables, encoding="utf-8")
    settings.load.cache_clear()
    metrics = "e2e_score,rouge1_f,bleu,corpus_rouge1_f,corpus_bleu,semantic_similarity,factual_correctness,faithfulness"
    found = tiers.tier3_end_to_end(systems="talks,silent", metrics=metrics, perfect_parts=False)
    means = {(e.system, e.metric): e.estimate for e in found.estimates}
    for label in ("rouge1_f", "bleu", "e2e_score", "corpus_rouge1_f"):
        one, other = means["talks", label], means["silent", label]
        assert (one.value, one.n) == (pytest.approx(other.value), other.n), label
    assert means["silent", "corpus_bleu"].value <= means["talks", "corpus_bleu"].value
    own = found.scores.query("system == 'silent' and sample == 'q4'").set_index("metric")
    expected = {"e2e_score": 1.0, "rouge1_f": 0.0, "bleu": 0.0, "semantic_similarity": 0.0, "factual_correctness": 0.0}
    assert own.loc[list(expected), "value"].to_dict() == expected
    assert set(own.loc[list(expected), "status"]) == {"ok"}
    assert set(own.loc[list(expected), "reason"]) == {"empty answer"}
    assert own.loc["faithfulness", "status"] == "empty_input", "there is nothing to be faithful"
    blame = found.extra["blame"].query("system == 'silent'").set_index("sample")
    assert blame.loc["q5", "part"] == "unmeasured", "who says nothing has invented nothing, and has not refused"


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_the_clock_is_read_once_for_the_same_inputs_and_stage_by_stage() -> None:
    first = tiers.tier3_end_to_end(systems="plain,function,alone", metrics=FEW, repeats=1)
    again = tiers.tier3_end_to_end(systems="plain,function,alone", metrics=FEW, repeats=1)
    assert again.placed == first.placed
    stages = placed(first.estimates_by("stage", "probability"))
    parts = {system: list(dict.fromkeys(own["stage"])) for system, own in stages.groupby("system")}
    assert parts["plain"] == ["embed", "search", "generate", "answer", "judge"]
    assert parts["alone"] == ["call", "judge"]
    wide = first.extra["readings"].query("system == 'plain' and sample == 'q1'").set_index("part")["ms"]
    assert wide["answer"] == pytest.approx(wide[["embed", "search", "generate"]].sum(), abs=1e-6)
    html = views.answers.stages(views.Page(first)).html()
    assert "writing the answer" in html
    assert views.answers.stages(views.Page(again)).html() == html


@pytest.mark.slow
def test_a_model_writes_and_a_model_judges(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(latency=0.02).running() as server:
        path = answer_project.make(tmp_path, database_folder, server.url)
        with path.open("a", encoding="utf-8") as file:
            file.write(f'[judges.strict]\nbase_url = "{server.url}"\nmodel = "judge"\n')
        monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
        monkeypatch.chdir(tmp_path)
        settings.load.cache_clear()
        found = tiers.tier3_end_to_end(
            systems="modelled", metrics="e2e_score,semantic_similarity", repeats=2, k=3, contexts=3
        )
        calls = server.calls
        again = tiers.tier3_end_to_end(
            systems="modelled", metrics="e2e_score,semantic_similarity", repeats=2, k=3, contexts=3
        )
    assert calls >= 5 * 2 + 4
    assert server.calls == calls, "nothing is paid for twice"
    assert again.scores.equals(found.scores)
    assert again.placed == found.placed
    assert [(one.part, one.name, one.systems) for one in stand_ins.of(found.facts)] == [
        ("retrieval", "modelled", ("modelled",)), ("embedder", "hashing", ()), ("people", "strict", ()),
    ]  # fmt: skip
    assert [judge["name"] for judge in found.facts["judges"]] == ["strict"]
    assert 1 <= estimate(found, "modelled", "e2e_score").value <= 5
    stages = placed(found.estimates_by("stage", "probability"))
    medians = stages.query("probability == 0.5").set_index("stage")["value"]
    assert medians["generate"] >= 20
    assert medians["judge"] >= 20
    assert medians["answer"] >= medians["generate"]


@pytest.mark.slow
@pytest.mark.usefixtures("project")
def test_the_page_of_every_kind_of_system_is_the_same_again(tmp_path: Path) -> None:
    found = tiers.tier3_end_to_end(systems="plain,function,logged,alone", repeats=2)
    found.save(tmp_path / "kept")
    again = Measurement.load(tmp_path / "kept")
    for language in ("en", "ru"):
        first, second = (views.Page(one, language=language) for one in (found, again))
        for name in ("answer", "table", "writers", "refusals", "lengths", "stages", "verdicts", "slices", "provenance"):
            assert first.view(name).html() == second.view(name).html(), name


@pytest.mark.usefixtures("project")
def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(BenchError, match="contexts = 5 is more than the k = 3"):
        tiers.tier3_end_to_end(k=3)
    with pytest.raises(BenchError, match="k = 0"):
        tiers.tier3_end_to_end(k=0)


@pytest.mark.usefixtures("project")
def test_answers_of_a_run_are_scored_on_what_they_were_written_from(tmp_path: Path) -> None:
    found = tiers.tier3_end_to_end(systems="function", metrics=FEW, k=4, contexts=2, repeats=2)
    found.save(tmp_path / "reports" / "one" / "parts" / "tier3_end_to_end")
    table = find_answers("run:one", "", settings.load())
    assert {one.id: [chunk.id for chunk in one.contexts or ()] for one in table.samples} == contexts(found, "function")
