"""The sentence on offline stand-ins goes wherever numbers go, names exactly who stands in, and is nowhere else."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import ragbench.old
from ragbench.old import tiers, views
from ragbench.old.cli.run import _conclude as conclude
from ragbench.old.core import settings, stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import parse
from ragbench.old.core.stand_ins import StandIn, caveat, unordered
from ragbench.old.core.types import Estimate
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics import catalogue, declaration
from ragbench.old.report import RunResult, exports
from ragbench.old.report.keeping import kept, results
from ragbench.old.tiers.basics import bands
from ragbench.old.tiers.run.overview import over
from ragbench.old.views import Page
from ragbench.old.views.basics import interpretation
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment
from tests.old.llm.chat_server import ChatServer
from tests.old.report import kept_runs
from tests.old.small_project import write_lines
from tests.old.tiers import answer_project

METRICS = "e2e_score,semantic_similarity"
OFFLINE = "retrieval of plain; embedder hashing; generator extractive; judge lexical"
SAID = {
    "offline": OFFLINE,
    "mixed": "retrieval of plain; generator extractive",  # beside a system, a judge and an embedder of models
    "real": "",
    "sampled": OFFLINE,  # two of the questions
}
SAMPLE = {
    "en": "Only a sample was measured: 2 of {} (questions), chosen by a hash of their ids, from every slice in "
    "proportion.",
    "ru": "Измерена только выборка: 2 из {} (вопросов), взятая по хешу идентификаторов, из каждого среза "
    "пропорционально.",
}
SENTENCE = {
    "en": "Measured with offline stand-ins: {}. They show that everything works, not how good a real model is.",
    "ru": "Измерено с автономными заменителями: {}. Они показывают, что всё работает, но не то, насколько хороша "
    "настоящая модель.",
}
RUSSIAN = {"retrieval of plain": "поиск (plain)", "embedder": "эмбеддер", "generator": "генератор", "judge": "судья"}
JUDGED = {
    "en": "Judged means and their intervals are of what the judge says (strict), not of what people would say: no "
    "labels by people correct them.",
    "ru": "Средние по оценкам судьи и их интервалы — о том, что говорит судья (strict), а не о том, что сказали бы "
    "люди: метки людей их не исправляют.",
}
GATE = '[gate.any]\nmetric = "e2e_score"\nat_least = 1\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, database_folder: Path) -> Mapping[str, Any]:
    """A project with three kept runs: all offline, a real system beside an offline one, and nothing but models."""
    folder = tmp_path_factory.mktemp("standing-in")
    patch = pytest.MonkeyPatch()
    with ChatServer().running() as server:
        path = answer_project.make(folder, database_folder, server.url)
        with path.open("a", encoding="utf-8") as file:
            file.write(
                f'[judges.strict]\nbase_url = "{server.url}"\nmodel = "judge"\n'
                f'[embedders.far]\nkind = "openai"\nbase_url = "{server.url}"\nmodel = "vectors"\n'
                '[systems.real]\nembedder = "far"\ngenerator = "model"\n' + GATE
            )
        patch.setenv("RAGBENCH_CONFIG", str(path))
        patch.chdir(folder)
        settings.load.cache_clear()
        models = {"judges": "strict", "embedder": "far"}
        pages = {
            "offline": page("plain", judges="lexical"),
            "mixed": page("plain,real", **models),
            "real": page("real", **models),
            "sampled": page("plain", judges="lexical", limit=2),
        }
        for number, (name, measured) in enumerate(pages.items()):
            started = kept_runs.STARTED + 3600 * number
            kept.record(kept_runs.make(folder / "reports", f"{folder.name}-{name}", measured, started=started))
    patch.undo()
    return {"folder": folder, "config": path, "pages": pages}


def page(systems: str, **how: Any) -> Measurement:
    return tiers.tier3_end_to_end(systems=systems, metrics=METRICS, k=3, contexts=3, resamples=200, **how)


@pytest.fixture
def here(made: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(made["config"]))
    monkeypatch.chdir(made["folder"])
    settings.load.cache_clear()
    return made


def text(html: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", str(html))).split())


def command(here: Mapping[str, Any], *words: str) -> str:
    """What the command says on both channels; {} stands for the beginning of the runs' names."""
    from ragbench.old.__main__ import application

    settings.load.cache_clear()
    done = CliRunner().invoke(application, [word.replace("{}", here["folder"].name) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return " ".join(done.output.split())


def drawn(here: Mapping[str, Any], name: str, language: str) -> Path:
    """The folder with what is written for people and pipelines outside."""
    folder: Path = here["folder"] / f"outside-{name}-{language}"
    if not folder.exists():
        folder.mkdir()
        measured = {"tier3_end_to_end": here["pages"][name]}
        run = kept_runs.read_json(here["folder"] / "reports" / f"{here['folder'].name}-{name}" / results.MANIFEST)
        estimates = {e.system for e in here["pages"][name].estimates}
        checks = [
            {"gate": "any", "condition": "e2e_score >= 1", "notebook": "tier3_end_to_end", "system": system,
             "outcome": "holds", "why": ""}
            for system in sorted(estimates)
        ]  # fmt: skip
        exports.write(folder, run, measured, {"outcome": "holds", "checks": checks}, translator(language))
        exports.write_tables(folder / "data", measured)
    return folder


def caveats(path: Path) -> str:
    return " ".join(kept_runs.read_json(path)["caveats"].values())


def concluded(folder: Path) -> str:
    """What `ragbench run` says at its end."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        conclude(RunResult(folder), gate=False, sent_to="")
    return " ".join(said.getvalue().split())


Output = Callable[[Mapping[str, Any], str], str]
ENGLISH: dict[str, Output] = {
    "page": lambda here, name: text(views.comparison.answer(Page(here["pages"][name])).html()),
    "index": lambda here, name: text(views.about.summary(Page(here["pages"][name])).html()),
    "overview": lambda here, name: text(
        views.about.overview(Page(over({"tier3_end_to_end": here["pages"][name]}))).html()
    ),
    "manifest.json": lambda here, name: caveats(
        here["folder"] / "reports" / f"{here['folder'].name}-{name}" / results.MANIFEST
    ),
    "summary.json": lambda here, name: caveats(
        here["folder"] / "reports" / f"{here['folder'].name}-{name}" / results.SUMMARY
    ),
    "beside the CSV": lambda here, name: caveats(drawn(here, name, "en") / "data" / results.SUMMARY),
    "LaTeX": lambda here, name: (drawn(here, name, "en") / "tables" / "tier3_end_to_end.tex").read_text("utf-8"),
    "summary.md": lambda here, name: (drawn(here, name, "en") / "summary.md").read_text("utf-8").replace("\\", ""),
    "junit.xml": lambda here, name: (drawn(here, name, "en") / "junit.xml").read_text("utf-8"),
    "ragbench run": lambda here, name: concluded(here["folder"] / "reports" / f"{here['folder'].name}-{name}"),
    "ragbench gate": lambda here, name: command(here, "gate", f"{{}}-{name}"),
    "gate.json": lambda here, name: (
        command(here, "gate", f"{{}}-{name}")
        and caveats(here["folder"] / "reports" / f"{here['folder'].name}-{name}" / "gate.json")
    ),
}


@pytest.mark.parametrize("name", SAID)
@pytest.mark.parametrize("output", ENGLISH)
def test_the_caveat_goes_with_the_numbers_and_names_exactly_who_stands_in(
    output: str, name: str, here: Mapping[str, Any]
) -> None:
    assert_said(ENGLISH[output](here, name), name, here)


def assert_said(found: str, name: str, here: Mapping[str, Any]) -> None:
    assert found.count(SENTENCE["en"].format(SAID[name])) >= bool(SAID[name]), found
    assert ("stand-in" in found.replace("stand_ins", "")) == bool(SAID[name])
    models = name in ("mixed", "real")
    assert found.count(JUDGED["en"]) >= models, "a judge that nobody's labels correct speaks for itself"
    assert ("what people would say" in found) == models, "an offline judge is said to be one, and once"
    whole = len(here["pages"]["offline"].questions)
    assert (SAMPLE["en"].format(whole) in found) == (name == "sampled"), found


@pytest.mark.parametrize("name", SAID)
def test_it_is_one_sentence_in_russian_too(name: str, here: Mapping[str, Any]) -> None:
    said = SAID[name]
    for english, russian in RUSSIAN.items():
        said = said.replace(english, russian)
    outputs = {
        "page": text(views.comparison.answer(Page(here["pages"][name], language="ru")).html()),
        "LaTeX": (drawn(here, name, "ru") / "tables" / "tier3_end_to_end.tex").read_text("utf-8"),
        "summary.md": (drawn(here, name, "ru") / "summary.md").read_text("utf-8").replace("\\", ""),
        "junit.xml": (drawn(here, name, "ru") / "junit.xml").read_text("utf-8"),
    }
    for output, found in outputs.items():
        assert (SENTENCE["ru"].format(said) in found) == bool(said), output
        whole = len(here["pages"]["offline"].questions)
        assert (SAMPLE["ru"].format(whole) in found) == (name == "sampled"), output
        assert (JUDGED["ru"] in found) == (name in ("mixed", "real")), output


def test_a_check_of_a_real_system_has_no_caveat_beside_an_offline_one(here: Mapping[str, Any]) -> None:
    root = ElementTree.fromstring((drawn(here, "mixed", "en") / "junit.xml").read_bytes())
    cases = {case.get("classname"): case.findtext("system-out") for case in root.iter("testcase")}
    assert cases["tier3_end_to_end.real"] == JUDGED["en"]
    assert cases["tier3_end_to_end.plain"] == f"{SENTENCE['en'].format(SAID['mixed'])} {JUDGED['en']}"


ROWS = [{"id": "q1", "user_input": "What?", "response": "A.", "reference": "A.", "retrieved_contexts": ["A."]}]


@pytest.mark.parametrize(
    ("metric", "judge", "embedder", "said"),
    [
        ("faithfulness", LexicalJudge(), "hashing", "judge lexical"),
        ("semantic_similarity", LexicalJudge(), "hashing", "embedder hashing"),
        ("semantic_similarity", LexicalJudge(), ScriptedEmbedder({"A.": (1, 0)}), ""),
        ("faithfulness", ScriptedJudge(claims=claims("A."), entailment=entailment(1)), "hashing", ""),
        ("rougeL_f", LexicalJudge(), "hashing", ""),
    ],
)
def test_scores_of_a_table_say_it_wherever_they_are_shown(metric: str, judge: Any, embedder: Any, said: str) -> None:
    catalogue()
    found = ragbench.old.score(ROWS, [parse(metric)], judge, embedder=embedder, resamples=200)
    russian = ragbench.old.score(ROWS, [parse(metric)], judge, embedder=embedder, resamples=200, language="ru")
    sentence = SENTENCE["en"].format(said)
    for shown in (repr(found), text(found._repr_html_()), " ".join(found.as_json()["caveats"].values())):
        assert (sentence in shown) == bool(said)
        assert ("stand-in" in shown) == bool(said)
        assert ("no labels by people correct them" in shown) == isinstance(judge, ScriptedJudge)
    assert ("автономными заменителями" in russian._repr_html_()) == bool(said)


def test_the_command_says_it_of_a_table(here: Mapping[str, Any]) -> None:
    file = here["folder"] / "table.jsonl"
    write_lines(file, ROWS)
    words = ("score", str(file), "-m", "faithfulness", "--resamples", "200", "--judge", "lexical")
    assert SENTENCE["en"].format("judge lexical") in command(here, *words)
    assert "stand-in" not in command(here, "score", str(file), "-m", "rougeL_f", "--resamples", "200")


MANY = [{**ROWS[0], "id": f"q{number}", "system": system} for number in range(12) for system in ("one", "two")]


def test_a_sample_of_a_table_says_so_with_what_all_would_take() -> None:
    found = ragbench.old.score(MANY, ["rougeL_f"], limit=3, resamples=200)
    asked = {row.sample.id for row in found.rows}
    assert len(asked) == 3
    assert len(found.rows) == 6, "the same questions of every system"
    again = ragbench.old.score(list(reversed(MANY)), ["rougeL_f"], limit=3, resamples=200)
    assert {row.sample.id for row in again.rows} == asked
    said = "Only a sample was measured: 3 of 12 (questions), chosen by a hash of their ids"
    for shown in (repr(found), text(found._repr_html_()), " ".join(found.as_json()["caveats"].values())):
        assert said in shown
    for wrong in (0, -1, True, 2.5, "3"):
        with pytest.raises(ValueError, match=r"limit = .*: a whole number from 1 or None is expected"):
            ragbench.old.score(MANY, ["rougeL_f"], limit=wrong)
    everything = ragbench.old.score(MANY, ["rougeL_f"], limit=12, resamples=200)
    assert "sample was measured" not in repr(everything)


def test_what_all_would_take_is_told_from_what_the_sample_took() -> None:
    taken = {"n": 3, "of": 12, "table": "questions"}
    for more, expected in (
        ({"calls": 48, "money": 1.234}, "All would take about 48 replies of models, for about 1.23."),
        ({"calls": 48}, "All would take about 48 replies of models."),
    ):
        said = caveat(stand_ins.of({"part_of_all": {**taken, **more}}), translator("en"))
        assert said.endswith(expected)
    assert "All would" not in caveat(stand_ins.of({"part_of_all": taken}), translator("en"))
    pages = [{"part_of_all": {**taken, "calls": calls, "money": 0.5}} for calls in (8, 40)] + [{"part_of_all": taken}]
    every = [one for facts in pages for one in stand_ins.of(facts)]
    told = caveat([*every, *stand_ins.of({"stand_ins": [one.fact for one in every]})], translator("en"))
    assert told.count("Only a sample was measured") == 1, "of the pages, and of the overview that names them"
    assert told.endswith("All would take about 48 replies of models, for about 1.00.")


def test_what_the_facts_tell_is_said_once_and_of_its_systems_alone() -> None:
    facts = {
        "stand_ins": [*stand_ins.facts("retrieval", ["a"], own=True), *stand_ins.facts("judge", ["lexical"], own=True)],
        "generators": {"a": {"name": "x", "stand_in": True}, "b": {"name": "x", "stand_in": True},
                       "c": {"name": "model", "stand_in": False}},
        "judges": [{"name": "lexical", "stand_in": True}, {"name": "gpt", "stand_in": False}],
    }  # fmt: skip
    assert stand_ins.of(facts) == (
        StandIn("retrieval", "a", ("a",)), StandIn("judge", "lexical", ("lexical",)),
        StandIn("generator", "x", ("a", "b")),
    )  # fmt: skip
    assert [one.part for one in stand_ins.of(facts, "b")] == ["generator"]
    assert stand_ins.of(facts, "c") == ()
    older = stand_ins.of({"stand_ins": ["ngrams"]})
    assert stand_ins.caveat(older, translator("en")) == SENTENCE["en"].format("ngrams")
    assert stand_ins.caveat((), translator("en")) == ""


def test_the_documented_orders_are_those_that_mark_the_pages() -> None:
    page = (Path(__file__).parents[3] / "docs/explanation/stand-ins.md").read_text("utf-8")
    for metric, one in stand_ins.LEXICAL.items():
        numbers = f"{one.tau:.2f} [{one.low:.2f}, {one.high:.2f}] | {one.pairs:.2f} [{one.least:.2f}, {one.most:.2f}]"
        assert f"| `{metric}` | {numbers} | {'yes' if stand_ins.holds(metric) else 'no'} |" in page
    assert page.count("| yes |") + page.count("| no |") == len(stand_ins.LEXICAL)


def test_a_number_that_orders_no_systems_is_marked_and_corrected_or_real_ones_are_not() -> None:
    assert stand_ins.holds("e2e_score")
    assert not stand_ins.holds("faithfulness")
    assert not stand_ins.holds("rubrics_score"), "what was not measured is not shown"
    judged = {"judges": [{"name": "lexical", "stand_in": True}], "judged": ["e2e_score", "faithfulness", "mine"]}
    assert stand_ins.marked(judged) == {"faithfulness", "mine"}
    assert stand_ins.marked({**judged, "corrected": ["faithfulness"]}) == {"mine"}
    assert stand_ins.marked({**judged, "judges": [{"name": "gpt"}]}) == frozenset()
    for language, words in {"en": "to order systems as people's labels do on faithfulness, mine:",
                            "ru": "как метки людей, по faithfulness, mine:"}.items():  # fmt: skip
        assert words in stand_ins.caveat(stand_ins.of(judged), translator(language))
    assert "orders" not in stand_ins.caveat(stand_ins.of({**judged, "judged": ["e2e_score"]}), translator("en"))


def test_the_mark_stands_beside_the_number(here: Mapping[str, Any]) -> None:
    facts = {**here["pages"]["offline"].facts, "judged": ["e2e_score"]}
    shown = Page(replace(here["pages"]["offline"], facts=facts))
    mark = "not shown to order systems as people do"
    assert mark not in text(views.comparison.table(shown).html())
    wrong = replace(
        here["pages"]["offline"], facts={**facts, "stand_ins": [StandIn("order", "lexical", (), ("e2e_score",)).fact]}
    )
    assert mark in text(views.comparison.table(Page(wrong)).html())
    said = "not shown to order systems as people's labels do on e2e_score"
    assert said in text(views.comparison.answer(Page(wrong)).html())


def test_an_order_that_is_the_other_way_round_is_said_to_be() -> None:
    """τ −.70 [−.89, −.53] of noise_sensitivity: it is shown to order systems backwards, not `not shown`."""
    catalogue()
    assert [name for name, one in stand_ins.LEXICAL.items() if one.high < 0] == ["noise_sensitivity"]
    said = caveat(unordered(["lexical"], ["noise_sensitivity", "faithfulness"]), translator("en"))
    assert "orders systems the other way round than people's labels do on noise_sensitivity: there, “better”" in said
    assert "is not shown to order systems as people's labels do on faithfulness:" in said
    told = interpretation.declared(parse("noise_sensitivity"), translator("en"))
    entry = " ".join(line for lines in told.values() for line in lines)
    assert "orders systems by it the other way round than people's labels do" in entry
    assert "not shown that it orders" not in entry


def test_a_number_that_only_a_stand_in_made_has_no_band() -> None:
    """A similarity of hashed letters is no `good`, nor is what an offline judge gives; a hit rate is what it is."""
    catalogue()
    hashing, offline = StandIn("embedder", "hashing"), StandIn("judge", "lexical")
    similarity, rated, hits = (parse(name) for name in ("semantic_similarity", "faithfulness", "hit_rate@5"))
    assert [bands.unearned(one, [hashing]) for one in (similarity, rated, hits)] == [True, False, False]
    assert [bands.unearned(one, [offline]) for one in (similarity, rated, hits)] == [False, True, False]
    assert bands.unearned(hits, [StandIn("embedder", "hashing", systems=("letters",))])
    tried, decided = (declaration(name) for name in ("avg_faithfulness", "balanced_accuracy"))
    on_trial = StandIn("judge", "lexical", systems=("lexical",))
    assert [bands.unearned(one, [on_trial]) for one in (tried, decided)] == [True, False]
    assert not bands.unearned(similarity, [StandIn("generator", "extractive"), StandIn("people", "model")])
    one = Estimate(0.9, 0.86, 0.94, 0.95, "bca", 100)
    known = settings.load()
    named = [("semantic_similarity", one), ("hit_rate@5", one)]
    plain, guarded = (bands.banded(named, known, translator("en"), made) for made in ((), (hashing,)))
    assert plain[0]
    assert guarded == ["", plain[1]]
