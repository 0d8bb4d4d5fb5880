"""Metrics of one's own: criteria as sentences, functions, changed built-in ones, and judges that stand in no file."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench import metric as declarations
from ragbench import settings
from ragbench.bench.scoring import functions, own_metrics
from ragbench.metric import parse
from ragbench.metrics import catalogue, records
from ragbench.notation import parted
from ragbench.settings import ConfigurationError
from ragbench.types import Sample, Score, Status
from tests import answer_project
from tests.chat_server import ChatServer, asked_schema
from tests.command_line import one_line, ragbench
from tests.scripted_embedder import ScriptedEmbedder
from tests.small_project import add, write_lines

ROWS = [
    {"id": "a", "question": "When?", "answer": "At eight, please.", "contexts": ["It opens at eight."]},
    {"id": "b", "question": "Who?", "answer": "No idea.", "contexts": ["Anna."]},
]


def verdict(body: dict[str, Any]) -> dict[str, Any] | None:
    """The last of the legal words for an answer that says please, else the first; of numbers 4 and 2."""
    known = (asked_schema(body) or {}).get("properties", {}).get("verdict", {})
    text = body["messages"][-1]["content"]
    polite = "eight, please" in text.partition("<text")[2]
    if "enum" in known:
        words = known["enum"]
        return {"reason": "It says so.", "verdict": words[-1 if polite ^ (words == ["yes", "no"]) else 0]}
    return {"reason": "It says so.", "verdict": 4 if polite else 2} if known else None


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


def kept_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    import contextlib

    monkeypatch.setattr("ragbench.bench.scoring.replies.kept_replies", lambda *_: contextlib.nullcontext())


def values(found: Any) -> dict[tuple[str, str], float]:
    return {(row.metric.name, row.sample.id): row.score.value for row in found.rows}


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
    assert settings.thresholds.bands(settings.load())["politeness"].good == 0.4
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
            "mrr is declared in ragbench.metrics.ranking and in taken: choose",
        ),
    ],
)
def test_wrong_tables_are_refused_before_anything_is_asked(table: str, said: str, bare: Path) -> None:
    modules = {
        "broken": "1 / 0",
        "hollow": "",
        "taken": "from ragbench.metric import metric\n@metric(source='x')\ndef mrr(sample): return 1.0\n",
    }
    for name, text in modules.items():
        (bare / f"{name}.py").write_text(text, encoding="utf-8")
    add(bare, table)
    for asked in (own_metrics.check, lambda: rb.score(ROWS, ["exact_match"])):
        with pytest.raises(ConfigurationError) as raised:
            asked()
        assert said in str(raised.value)
    assert parse("mrr").function.__module__ == "ragbench.metrics.ranking"


def words(response: str) -> float:
    """How many words the answer has."""
    return float(len(response.split()))


def raises(response: str, reference: str | None = None) -> float:
    """Raises where there is no comma."""
    return 1 / response.count(",")


async def hangs(sample: Sample) -> float:
    await asyncio.sleep(30)
    return 1.0


async def blocks(sample: Sample) -> float:
    if sample.id == "b":
        time.sleep(0.4)
    return 0.5


def given(value: Any) -> Callable[[str], Any]:
    def returned(response: str) -> Any:
        return value

    return returned


@pytest.fixture
def patience(bare: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for place in ("ragbench.systems.hands", "ragbench.bench.scoring.functions"):
        monkeypatch.setattr(f"{place}.GRACE_SECONDS", 0.05)
    add(bare, "[metrics]\ntimeout_seconds = 0.1\n")
    return bare


def test_functions_are_metrics_and_what_they_do_is_a_row(patience: Path) -> None:
    found = rb.score(ROWS, [words, raises, hangs, blocks])
    got = {(row.metric.name, row.sample.id): row.score for row in found.rows}
    assert (got["words", "a"].value, got["words", "b"].value) == (3.0, 2.0)
    assert got["raises", "a"].value == 1.0
    assert (got["raises", "b"].status, got["raises", "b"].reason) == (
        Status.FUNCTION_ERROR, "ZeroDivisionError: division by zero",
    )  # fmt: skip
    assert {got["hangs", row].status for row in "ab"} == {Status.TIMEOUT}
    assert "raise metrics.timeout_seconds" in got["hangs", "a"].reason
    assert got["blocks", "a"].value == 0.5, "who waits behind one that blocks is called anew"
    assert got["blocks", "b"].status is Status.TIMEOUT
    assert found.estimates["answers", "raises"].n_unmeasured == 1


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "it returned None"),
        ("0.5", "it returned a text, '0.5'"),
        (float("nan"), "it returned nan"),
        (float("inf"), "it returned inf"),
        ([1], "it returned a list, [1]"),
        (Score(2.0), ""),
        (True, ""),
    ],
)
def test_what_is_no_number_is_unmeasured(value: Any, said: str, bare: Path) -> None:
    [row] = rb.score(ROWS[:1], given(value)).rows
    assert row.score.reason.startswith(said)
    assert (row.score.status is Status.OK) == (not said)


def test_a_value_outside_the_scale_is_unmeasured(bare: Path) -> None:
    @declarations.metric(source="us", bounds=(0.0, 1.0))
    def out_of_scale(sample: Sample) -> float:
        return 7.0

    [row] = rb.score(ROWS[:1], [out_of_scale]).rows
    assert "it returned 7, which is not on its scale 0.0 … 1.0" in row.score.reason


def test_a_function_that_always_runs_out_of_time_is_called_no_more(patience: Path) -> None:
    found = rb.score([{"id": str(n), "answer": "x"} for n in range(8)], [_sleeps])
    reasons = [row.score.reason for row in found.rows]
    assert sum("not called: 5 calls before it" in one for one in reasons) == 3


def _sleeps(response: str) -> float:
    time.sleep(0.3)
    return 1.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda response: 1.0, "a function without a name"),
        (lambda: None, "a function without a name"),
        (words.__class__(compile("def mrr(response): return 1.0", "x", "exec").co_consts[0], {}), "mrr is declared in"),
    ],
)
def test_a_function_that_cannot_be_one_is_refused(function: Any, said: str, bare: Path) -> None:
    with pytest.raises(ValueError, match=said):
        functions.declared(function)


def test_parameters_are_fields(bare: Path) -> None:
    def odd(answer: str) -> float:
        return 1.0

    def asks(response: str, judge: Any) -> float:
        return 1.0

    with pytest.raises(ValueError, match="there is no field 'answer'; a function takes a sample, or its fields"):
        rb.score(ROWS, [odd])
    with pytest.raises(ValueError, match="asks a judge, whose answer is awaited: write it as async def"):
        rb.score(ROWS, [asks])
    with pytest.raises(ValueError, match="reads needs reference, which no sample has"):
        rb.score(ROWS, [reads])


def reads(reference: str) -> float:
    return 1.0


def test_a_function_may_ask_the_judge(bare: Path) -> None:
    polite = rb.criterion("Is it polite?")

    async def twice(sample: Sample, judge: Any) -> bool:
        texts = {"user_input": sample.user_input or "", "response": sample.response or ""}
        answer = await judge.ask(polite.prompts[0], texts)
        return bool(answer.value.verdict == "yes")

    found = rb.score(ROWS, [twice], judge=rb.judge(_replies))
    assert tuple(values(found).values()) == (1.0, 0.0)
    assert {row.score.judge for row in found.rows} == {"_replies"}


def _replies(prompt: str) -> dict[str, Any]:
    return {"reason": "so", "verdict": "yes" if "please" in prompt else "no"}


async def _later(prompt: str) -> str:
    await asyncio.sleep(0)
    return json.dumps(_replies(prompt))


def _fails(prompt: str) -> str:
    raise ConnectionError("the line is dead")


@pytest.mark.parametrize(("function", "expected"), [(_replies, [1.0, 0.0]), (_later, [1.0, 0.0])])
def test_a_function_is_a_judge(function: Any, expected: list[float], bare: Path) -> None:
    polite = rb.criterion("Is it polite?")
    assert list(values(rb.score(ROWS, [polite], rb.judge(function, name="mine"))).values()) == expected
    panel = rb.score(ROWS, [polite], [rb.judge(function, name="one"), rb.judge(_replies, name="two")])
    assert list(values(panel).values()) == expected
    assert set(panel.rows[0].score.detail["judges"]) == {"one", "two"}


def test_a_judge_that_raises_leaves_rows_and_never_ends_the_run(bare: Path) -> None:
    rows = [{"id": str(n), "answer": f"x{n}"} for n in range(12)]
    found = rb.score(rows, [rb.criterion("Is it polite?")], rb.judge(_fails))
    assert {row.score.status for row in found.rows} == {Status.JUDGE_ERROR}
    assert {row.score.reason for row in found.rows} == {"ConnectionError: the line is dead"}
    wordy = rb.score(rows[:1], [rb.criterion("Is it polite?")], rb.judge(given(3), name="number"))
    assert "it returned int; a text, or an object for JSON, is expected" in wordy.rows[0].score.reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give model=… and base_url=…, or a function"),
        ({"model": "m"}, "give `base_url`, or the name of a shared `provider`"),
        ({"model": "m", "base_url": "ftp://x"}, "only http and https are spoken"),
        ({"model": "m", "base_url": "http://x", "temprature": 1}, "there is no key 'temprature'; did you mean"),
        ({"model": "m", "base_url": "http://x", "temperature": 9}, "temperature = 9"),
        ({"function": 3}, "3 is no function of a prompt's text"),
        ({"function": _replies, "base_url": "http://x"}, "base_url goes with a model at an address"),
        ({"function": _replies, "name": "lexical"}, "this name belongs to the offline judge"),
    ],
)
def test_a_wrong_judge_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        rb.judge(given.pop("function", None), **given)
    assert said in str(raised.value)


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
    from ragbench.bench.runs.gate import bound as gate

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
from ragbench.metric import metric


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
    with pytest.raises(settings.ConfigurationError, match="is not trusted with mine_untrusted"):
        rb.score(ROWS, ["answer_words"])
    refused = ragbench("metrics", "answer_words")
    assert refused.returncode == 2
    assert "metrics of the project, named by metrics.modules" in refused.stderr
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
        assert refused.returncode == 2
        assert said in one_line(refused.stderr)


@pytest.mark.slow
def test_rankings_by_a_function_of_ones_own(project: Path) -> None:
    from ragbench import bench

    (project / "mine_ranked.py").write_text(MODULE, encoding="utf-8")
    path = project / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8") + '[metrics]\nmodules = ["mine_ranked"]\n', encoding="utf-8")
    settings.load.cache_clear()
    made = bench.tier1_retrieval(
        systems="good", metrics="first_is_right, ranking_that_fails, mrr", k=3, timed_questions=0, resamples=100
    )
    scores = made.scores.set_index(["metric", "sample"])
    assert scores.loc["first_is_right"]["value"].tolist() == [1.0, 1.0, 0.0]
    assert set(scores.loc["ranking_that_fails"]["reason"]) == {"LookupError: no ranking today"}
    assert made.facts["own_metrics"]["first_is_right"]["own"]["module"] == "mine_ranked"


def test_a_function_asks_for_an_embedder_by_its_name(bare: Path) -> None:
    def width(response: str, embedder: Any = "wide") -> float:
        return float(embedder.embed([response]).shape[1])

    narrow, wide = (ScriptedEmbedder({"At 8.": [1.0] * size}, name=name) for name, size in (("narrow", 2), ("wide", 3)))
    row = {"question": "When?", "answer": "At 8."}
    for several in ([narrow, wide], [wide, narrow]):
        assert rb.score([row], metrics=[width], embedder=several).rows[0].score.value == 3.0
    [alone] = rb.score([row], metrics=[width], embedder=narrow).rows
    assert math.isnan(alone.score.value)
    assert alone.score.reason == (
        "it asks for the embedder 'wide', and narrow was named: --embedder narrow,wide, or -p embedder=narrow,wide"
    )


def test_a_function_of_repeats_is_a_number_of_a_page_as_any_other(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logged: the two answers to q1 are one and the same, those to q2 differ; at q3 the function fails, and q4 was not
    answered."""
    from ragbench import bench, show
    from ragbench.bench.runs import gate

    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine_repeats.py").write_text(
        "from ragbench.metric import metric\n\n\n"
        "@metric(source='ours')\n"
        "def variety(turns) -> float:\n"
        '    """Share of different answers among those to one question."""\n'
        "    if turns[0].id == 'q3':\n        raise LookupError('no answer')\n"
        "    return len({turn.response for turn in turns}) / len(turns)\n",
        encoding="utf-8",
    )
    add(tmp_path, '[metrics]\nmodules = ["mine_repeats"]\n')
    made = bench.tier3_end_to_end(
        systems="plain,logged", metrics="variety,rouge1_f", repeats=2, perfect_parts=False, timed_questions=0,
        resamples=200,
    )  # fmt: skip
    own = made.scores.query("metric == 'variety' and system == 'logged'").set_index("sample")
    assert own["value"].dropna().to_dict() == {"q1": 0.5, "q2": 1.0}
    assert own.loc["q4", "reason"] == "not in log.jsonl", "what was not answered is not given to the function"
    assert (own.loc["q3", "status"], own.loc["q3", "reason"]) == ("function_error", "LookupError: no answer")
    estimate = next(e.estimate for e in made.estimates if (e.system, e.metric) == ("logged", "variety"))
    assert (estimate.value, estimate.n) == (0.75, 2)
    [difference] = [c.comparison for c in made.comparisons if c.metric == "variety"]
    assert (difference.challenger, difference.n) == ("logged", 2)
    held = '[gate.varied]\nmetric = "variety"\nsystem = "logged"\nat_least = 0.0\nmost_unmeasured = 0.5\n'
    add(tmp_path, held)
    [checked] = gate.decide({"tier3_end_to_end": made}, settings.load()).checks
    assert (checked.metric, checked.system, checked.outcome) == ("variety", "logged", gate.Outcome.HOLDS)
    page = show.Page(made)
    assert "variety" in show.comparison.table(page).html()
    assert "Share of different answers among those to one question." in show.about.method(page).html()


def test_a_page_shows_a_criterion_that_the_project_has_no_more(bare: Path) -> None:
    made = rb.criterion("Is it polite?", name="was_polite", scale=[1, 5], higher_is_better=False)
    told = json.loads(json.dumps(records.told(made)))
    declarations.withdraw("was_polite")
    known = records.recalled(told)
    assert (known.label, known.bounds, known.better) == ("was_polite", (1.0, 5.0), "lower")
    assert known.meaning(str, "ru") == "Is it polite?"
    assert "was_polite" not in declarations.registered()


def test_what_is_wrong_is_a_fault_before_a_run_begins(bare: Path) -> None:
    add(bare, "[metrics.faithfulness]\noptions = {varint = 1}\n")
    from ragbench.bench.readiness import parts

    known = settings.load()
    [said] = parts.faults(parts.Parts(), known)
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
