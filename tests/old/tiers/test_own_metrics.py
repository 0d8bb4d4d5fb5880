"""Metrics of one's own: criteria as sentences, modules, and changed built-in ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core import metric as declarations
from ragbench.old.core import settings
from ragbench.old.core.metric import parse, parted
from ragbench.old.core.settings import ConfigurationError, metric_tables
from ragbench.old.core.types import Status
from ragbench.old.metrics import catalogue, criterion
from ragbench.old.tiers.scoring import own_metrics
from tests.old.cli.command_line import one_line, ragbench
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines
from tests.old.tiers.polite_answers import ROWS, kept_nowhere, values, verdict


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=verdict).running() as running:
        yield running


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """What a test declares is in no other's catalogue."""
    before = dict(catalogue())
    yield
    for name in set(declarations.registered()) - set(before):
        declarations.withdraw(name)


def model(server: ChatServer, name: str = "m") -> Any:
    return rb.judge(model="some", base_url=server.url, name=name)


@pytest.mark.parametrize(
    ("scale", "expected", "bounds", "levels"),
    [
        ("yes/no", (1.0, 0.0), (0.0, 1.0), (0.0, 1.0)),
        ([1, 5], (4.0, 2.0), (1.0, 5.0), ()),
        ([0.0, 10.0], (4.0, 2.0), (0.0, 10.0), ()),
        (["rude, cold", "so-so", "polite"], (1.0, 0.0), (0.0, 1.0), (0.0, 0.5, 1.0)),
    ],
)
def test_a_sentence_is_a_metric_on_its_scale(
    scale: Any, expected: tuple[float, float], bounds: Any, levels: Any, server: ChatServer,
    bare: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    kept_nowhere(monkeypatch)
    polite = rb.criterion("Is it polite, and short?", scale=scale)
    assert polite.name == "is_it_polite_and_short"
    assert (polite.bounds, polite.levels) == (bounds, pytest.approx(levels))
    found = rb.score(ROWS, [polite], model(server))
    assert tuple(values(found).values()) == expected
    assert "The judge says: It says so." in found.rows[0].score.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scale": "maybe"}, "scale = 'maybe': legal are \"yes/no\", two numbers"),
        ({"scale": [5, 1]}, "scale = [5, 1]: two numbers are expected, the lowest first"),
        ({"scale": ["good"]}, "2 to 100 names are expected"),
        ({"scale": ["good", "Good "]}, "each once"),
        ({"scale": [True, False]}, "legal are"),
        ({"needs": ["answer"]}, "'answer'"),
        ({"needs": ["response", "response"]}, "each field once"),
        ({"question": "  "}, "it is empty"),
        ({"question": {"de": "Ist es?"}}, "question.de: there is no such language; there are en, ru"),
        ({"question": {"en": 3}}, "question.en = 3: a text is expected"),
        ({"question": "?!"}, "there is no word in it"),
        ({"name": "a-b"}, "made of letters, digits and _"),
        ({"name": "faithfulness"}, "this name is a built-in metric's"),
        ({"examples": [{"response": "x", "verdict": "good"}]}, "example 1: verdict = 'good': the scale is yes/no"),
        ({"examples": [{"verdict": True}]}, "example 1 has no response"),
        ({"examples": [{"response": "x", "reference": "y", "verdict": True}]}, "the judge is not shown reference"),
        ({"examples": [{"response": "x"}]}, "examples.0.verdict: it is missing"),
        ({"examples": [{"response": "x", "verdict": 7}], "scale": [1, 5]}, "verdict = 7: the scale is [1, 5]"),
        ({"examples": [{"response": "x", "verdict": 1.5}], "scale": [1, 5]}, "a whole number is expected"),
        ({"judges": ["nobody"]}, "judges = 'nobody': there is no such judge; there are lexical"),
    ],
)
def test_a_wrong_criterion_is_refused_by_name(given: dict[str, Any], said: str, bare: Path) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        rb.criterion(**{"question": "Is it polite?", **given})
    assert said in str(raised.value).replace('"', '"')


def test_the_judge_is_shown_the_examples_and_no_place_of_them_is_filled(bare: Path) -> None:
    example = {"response": "Write {response} here", "verdict": "so-so", "reason": "a {place}"}
    made = rb.criterion({"en": "Is {it} good?", "ru": "Хорош ли?"}, name="good", scale=["bad", "so-so", "fine"],
                        examples=[example])  # fmt: skip
    [prompt] = made.prompts
    assert prompt.slots == {"user_input", "response"}
    assert "Хорош ли?" in prompt.texts["ru"]
    for text in ("Is { it } good?", "Write { response } here", "Verdict: so-so"):
        assert text in prompt.texts["en"]
    assert made.meaning(str, "ru") == "Хорош ли?"
    only = rb.criterion("Is it grounded?", needs=["contexts", "response"])
    assert only.prompts[0].slots == {"contexts", "response"} == set(only.fields)


TABLES = """
[metrics.politeness]
question = {{en = "Is it polite, and short?", ru = "Вежлив ли ответ?"}}
judges = ["second"]
band = {{good = 0.4}}

[metrics.faithfulness]
options = {{variant = "ragas"}}

[metrics.aspect_critique]
prompt = {{en = "aspect.txt"}}

[judges.first]
base_url = "{url}"
model = "m-first"

[judges.second]
base_url = "{url}"
model = "m-second"
"""
ASPECT = "Mine: {aspect} {question} {contexts} {reference} {response}"


def test_a_prompts_file_is_not_read_beyond_its_limit(bare: Path) -> None:
    with (bare / "aspect.txt").open("wb") as file:
        file.truncate(200 * 2**30)  # a hole, which takes no room on the disk and would take all of the memory
    add(bare, '[metrics.aspect_critique]\nprompt = {en = "aspect.txt"}\n')
    [fault] = own_metrics.faults()
    assert "aspect.txt: more than 1,048,576 bytes" in fault


def test_tables_are_in_the_catalogue_and_follow_the_settings(
    bare: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_nowhere(monkeypatch)
    (bare / "aspect.txt").write_text(ASPECT, encoding="utf-8")
    add(bare, TABLES.format(url=server.url))
    own_metrics.check()
    assert parse("faithfulness").label == "faithfulness(variant=ragas)"
    assert parse("faithfulness").names == ("faithfulness(variant=ragas)", "faithfulness")
    assert parse("faithfulness(variant=specification)").label == "faithfulness(variant=specification)"
    assert metric_tables.bands(settings.load())["politeness"].good == 0.4
    server.requests.clear()
    found = rb.score(ROWS, ["politeness", "aspect_critique"])
    assert {row.score.judge for row in found.rows if row.metric.name == "politeness"} == {"second"}
    assert {one.body["model"] for one in server.requests if "polite" in json.dumps(one.body)} == {"m-second"}
    assert sum("Mine: " in one.body["messages"][-1]["content"] for one in server.requests) == 4, "of each judge two"
    named = rb.score(ROWS, ["politeness"], "first")
    assert {row.score.judge for row in named.rows} == {"first"}, "who is named in a call judges"
    (bare / "ragbench.toml").write_text("", encoding="utf-8")
    settings.load.cache_clear()
    assert "politeness" not in declarations.registered()
    assert parse("faithfulness").label == "faithfulness"
    assert not parse("aspect_critique").reworded


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[metrics.politness]\njudges = []", "there is no metric 'politness'"),
        ('[metrics.mrr]\nquestion = "Is it?"', "[metrics.mrr] this name is a built-in metric's"),
        ('[metrics.mrr]\njudges = ["lexical"]', "judges: it asks no judge"),
        ("[metrics.faithfulness]\noptions = {varint = 1}", "faithfulness has no option 'varint'; it has variant"),
        ("[metrics.rubrics_score]\noptions = {rubric = {1 = 'bad'}}", "it needs 2 to 100"),
        ('[metrics.faithfulness]\nprompt = "x {a}"', "it has 2: name the one that you mean, claims, entailment"),
        ('[metrics.faithfulness]\nprompt = {claim = "x"}', "there is no such prompt; did you mean 'claims'?"),
        (
            '[metrics.faithfulness]\nprompt = {claims = "Only {text}"}',
            "prompt claims, en: the place {question} is",
        ),
        (
            '[metrics.faithfulness]\nprompt = {claims = "{text} {question} {x}"}',
            "there is no place {x}; there",
        ),
        ('[metrics.faithfulness]\nprompt = {claims = "none.txt"}', "there is no such file"),
        ('[metrics]\nmodules = ["nowhere.at_all"]', "'nowhere.at_all': nowhere.at_all cannot be imported: No module"),
        ('[metrics]\nmodules = ["broken"]', "broken cannot be imported: ZeroDivisionError: division by zero"),
        ('[metrics]\nmodules = ["hollow"]', "it declares no metric; put @metric(source=…)"),
        (
            '[metrics]\nmodules = ["taken"]',
            "mrr is declared in ragbench.old.metrics.ranking and in taken: choose",
        ),
    ],
)
def test_wrong_tables_are_refused_before_anything_is_asked(table: str, said: str, bare: Path) -> None:
    modules = {
        "broken": "1 / 0",
        "hollow": "",
        "taken": "from ragbench.old.core.metric import metric\n@metric(source='x')\ndef mrr(sample): return 1.0\n",
    }
    for name, text in modules.items():
        (bare / f"{name}.py").write_text(text, encoding="utf-8")
    add(bare, table)
    for asked in (own_metrics.check, lambda: rb.score(ROWS, ["exact_match"])):
        with pytest.raises(ConfigurationError) as raised:
            asked()
        assert said in str(raised.value)
    assert parse("mrr").function.__module__ == "ragbench.old.metrics.ranking"


LABELS = [
    ("aspect_critique", {"aspect": "Is it polite, and short?"}),
    ("aspect_critique", {"aspect": 'Does it say "no" (or @5)?'}),
    ("aspect_critique", {"aspect": "3"}),
    ("rubrics_score", {"rubric": {"1": "rude, cold", "5": "polite (very)"}}),
]


@pytest.mark.parametrize(("name", "options"), LABELS)
def test_labels_with_commas_are_quoted_and_read_back(name: str, options: dict[str, Any]) -> None:
    bound = parse(name).with_options(**options)
    assert parse(bound.label).options == options
    assert parted(f"mrr, {bound.label},ndcg@10") == ["mrr", f" {bound.label}", "ndcg@10"]
    from ragbench.old.tiers.run.gates import bound as gate

    assert gate(f"{bound.label}>=0.5")[1].metric == bound.label


def test_a_rubric_is_an_argument_and_a_bad_one_of_a_row_is_that_rows(bare: Path) -> None:
    rows = [
        {**row, "rubric": rubric} for row, rubric in zip(ROWS, ['{"1": "bad", "2": "good"}', "be nice"], strict=True)
    ]
    own = rb.score(rows, ["rubrics_score"], "lexical")
    got = [row.score for row in own.rows]
    assert got[0].status is Status.OK
    assert (got[1].status, got[1].reason) == (
        Status.INVALID_INPUT, "rubrics_score: the level 'be nice' is no whole number",
    )  # fmt: skip
    argument = parse("rubrics_score").with_options(rubric={1: "rude, cold", 2: "polite"})
    assert [row.score.status for row in rb.score(ROWS, [argument], "lexical").rows] == [Status.OK] * 2
    with pytest.raises(ValueError, match="it needs 2 to 100"):
        parse('rubrics_score(rubric={"1": "bad"})')


MODULE = '''
from ragbench.old.core.metric import metric


@metric(source="our style guide", bounds=(0.0, None), better="lower", fields=("response",))
def answer_words(sample):
    """How many words the answer has."""
    return len(sample.response.split())


@metric(source="our style guide", fields=())
def first_is_right(ranking):
    """Whether the first document is relevant."""
    return ranking.gains[:, 0] > 0


@metric(source="our style guide")
def ranking_that_fails(ranking):
    """Never given."""
    raise LookupError("no ranking today")
'''


def test_a_module_of_metrics_waits_for_trust(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (bare / "mine_untrusted.py").write_text(MODULE, encoding="utf-8")
    add(bare, '[metrics]\nmodules = ["mine_untrusted"]\n')
    monkeypatch.delenv("RAGBENCH_TRUST")
    assert "answer_words" not in declarations.registered()
    assert own_metrics.untrusted() == ("mine_untrusted",)
    with pytest.raises(settings.ConfigurationError, match=r"metrics\.modules: runs mine_untrusted"):
        rb.score(ROWS, ["answer_words"])
    refused = ragbench("metrics", "answer_words")
    assert refused.returncode == 5
    assert "metrics.modules: runs mine_untrusted" in refused.stderr
    shown = ragbench("metrics", "answer_words", "--trust")
    assert "function of the module mine_untrusted" in shown.stdout
    assert values(rb.score(ROWS, ["answer_words"])) == {("answer_words", "a"): 3.0, ("answer_words", "b"): 2.0}


def test_the_command_line(bare: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_nowhere(monkeypatch)
    add(bare, TABLES.format(url=server.url).replace('prompt = {en = "aspect.txt"}', ""))
    file = str(write_lines(bare / "answers.jsonl", ROWS))
    shown = ragbench("metrics", "politeness", "--language", "ru")
    assert "scale: yes or no" in shown.stdout
    assert "Вежлив ли ответ?" in shown.stdout
    scored = ragbench("score", file, "--criterion", "kind=Is it kind, and warm?", "--scale", '"rude, cold",polite',
                      "-m", "politeness", "--judge", "first", "--gate", "kind<=1", "--json", "out.json")  # fmt: skip
    assert scored.returncode == 0, scored.stderr
    assert "holds: kind <= 1, rag_metrics answers" in scored.stderr
    for line, said in (
        (("--criterion", "Is it?", "--scale", "5,1"), "scale = [5, 1]: two numbers are expected"),
        (("--scale", "1,5"), "is of criteria: give one"),
        (("--criterion", "mrr=Is it?"), "this name is a built-in metric's"),
    ):
        refused = ragbench("score", file, *line)
        assert refused.returncode == 3
        assert said in one_line(refused.stderr)


@pytest.mark.slow
def test_rankings_by_a_function_of_ones_own(project: Path) -> None:
    from ragbench.old import tiers

    (project / "mine_ranked.py").write_text(MODULE, encoding="utf-8")
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8") + '[metrics]\nmodules = ["mine_ranked"]\n', encoding="utf-8")
    settings.load.cache_clear()
    made = tiers.tier1_retrieval(
        systems="good", metrics="first_is_right, ranking_that_fails, mrr", k=3, timed_questions=0, resamples=100
    )
    scores = made.scores.set_index(["metric", "sample"])
    assert scores.loc["first_is_right"]["value"].tolist() == [1.0, 1.0, 0.0]
    assert set(scores.loc["ranking_that_fails"]["reason"]) == {"LookupError: no ranking today"}
    assert made.facts["own_metrics"]["first_is_right"]["own"]["module"] == "mine_ranked"


def test_a_page_shows_a_criterion_that_the_project_has_no_more(bare: Path) -> None:
    made = rb.criterion("Is it polite?", name="was_polite", scale=[1, 5], higher_is_better=False)
    told = json.loads(json.dumps(criterion.told(made)))
    declarations.withdraw("was_polite")
    known = criterion.recalled(told)
    assert (known.label, known.bounds, known.better) == ("was_polite", (1.0, 5.0), "lower")
    assert known.meaning(str, "ru") == "Is it polite?"
    assert "was_polite" not in declarations.registered()


def test_what_is_wrong_is_a_fault_before_a_run_begins(bare: Path) -> None:
    add(bare, "[metrics.faithfulness]\noptions = {varint = 1}\n")
    from ragbench.old.tiers import readiness

    known = settings.load()
    [said] = readiness.faults(readiness.Parts(), known)
    assert "faithfulness has no option 'varint'" in said


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_run_with_a_criterion_and_a_module(project: Path, server: ChatServer, language: str) -> None:
    (project / "mine_run.py").write_text(MODULE, encoding="utf-8")
    path = project / "ragbench.toml"
    tables = TABLES.format(url=server.url).replace('[metrics.aspect_critique]\nprompt = {en = "aspect.txt"}', "")
    path.write_text(path.read_text(encoding="utf-8") + '[metrics]\nmodules = ["mine_run"]\n' + tables, encoding="utf-8")
    write_lines(project / "answers.jsonl", ROWS)
    done = ragbench("run", "rag_metrics", "-p", "answers=answers.jsonl", "-p", "metrics=politeness, answer_words",
                    "--out", "out", "--language", language)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = (project / "out").glob("2*")
    page = (run / "rag_metrics.html").read_text(encoding="utf-8")
    expected = {"en": ("Is it polite, and short?", "scale: yes or no"), "ru": ("Вежлив ли ответ?", "шкала: да или нет")}
    assert all(text in page for text in (*expected[language], "mine_run"))
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["own_metrics"]["politeness"]["own"]["question"]["en"] == "Is it polite, and short?"
    assert (run / "metrics" / "politeness.html").is_file()
