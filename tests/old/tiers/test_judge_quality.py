"""A whole page about judges: offline, with a real endpoint that fails in every way, and from logged judgements."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old import tiers, views
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import BY_CONSTRUCTION, Question, Sample, Verdict
from ragbench.old.judge import Rule
from ragbench.old.metrics.judging import Sitting
from ragbench.old.report.keeping import results
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import judge_findings, numbers
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.classes import classes_of
from ragbench.old.tiers.judges.items import Answers, Scale, Temptations
from ragbench.old.tiers.judges.judge_findings import Settled
from ragbench.old.tiers.judges.probes import Limits, Tried
from ragbench.old.views import Page
from tests.old.llm.chat_server import ChatServer
from tests.old.report.published import Published, same, site_of
from tests.old.small_project import write_lines
from tests.old.tiers import scripted_trial
from tests.old.tiers.heard_judges import findings
from tests.old.tiers.test_stating import states_itself_again

VIEWS = (
    "answer", "measures", "replies", "repeatability", "people", "classes", "reliability", "rivals", "panel",
    "disagreements", "probes", "ladder", "pairwise", "method", "provenance", "summary",
)  # fmt: skip
QUICK = {"resamples": 200}
N = 16


def made(folder: Path, rows: Callable[[str], dict[str, list[dict[str, Any]]]], *languages: str) -> None:
    """A data set whose files have these rows, by name, in each language."""
    folder.mkdir()
    told = f'title = "Made"\nlicence = "CC0"\nlanguages = {json.dumps(languages)}\n'
    (folder / "dataset.toml").write_text(told, encoding="utf-8")
    for language in languages:
        for name, lines in rows(language).items():
            write_lines(folder / f"{name}.{language}.jsonl", lines)


@pytest.fixture
def rated(project: Path) -> Path:
    """Questions with references in two languages, and answers to them that two people rated."""
    given = {n: {"ann": 5 if n % 2 else 1, "bob": None if n == 3 else 4 if n % 2 else 2} for n in range(N)}
    texts = {"en": "Hall {0} opens at {1}. Ask at desk {0}.", "ru": "Зал {0} открыт с {1}. Спросите у стойки {0}."}

    def rows(language: str) -> dict[str, list[dict[str, Any]]]:
        text, places = texts[language], range(N)
        return {
            "chunks": [{"id": f"c{n}", "text": text.format(n, n + 7), "url": f"/{n}"} for n in places],
            "questions": [
                {"id": f"q{n:02}", "text": f"{n}?", "reference": text.format(n, n + 7), "relevant": {f"c{n}": 1},
                 "answerable": True} for n in places
            ],
            "ratings": [
                {"id": f"r{n:02}", "question_id": f"q{n:02}", "answer": text.format(n, n + 7 if n % 2 else 5),
                 "context": [f"c{n}"], "ratings": given[n]} for n in places
            ],
        }  # fmt: skip

    made(project / "data" / "help", rows, "en", "ru")
    return project


def judge_at(project: Path, server: ChatServer, model: str, more: str = "") -> None:
    """A judge called model, whom the server answers."""
    path = project / "ragbench.toml"
    table = f'[judges.model]\nbase_url = "{server.url}"\nmodel = "{model}"\nattempts = 2\n{more}\n'
    path.write_text(path.read_text(encoding="utf-8") + table, encoding="utf-8")
    settings.load.cache_clear()


def logged(project: Path, rows: list[dict[str, Any]], **how: Any) -> Measurement:
    write_lines(project / "logged.jsonl", rows)
    return tiers.tier_judge("help", ratings="logged.jsonl", **how, **QUICK)


def tried(found: Measurement) -> pd.DataFrame:
    """The probes by judge and name, each with its effect."""
    effects = [one.estimate for one in found.estimates_by("probe")]
    table = found.extra["probes"].assign(value=[e.value for e in effects], n=[e.n for e in effects])
    return table.set_index(["judge", "probe"])


def drawn(measurement: Measurement, language: str = "en") -> str:
    page = Page(measurement, language=language)
    return "".join(str(page.view(name).html(frozenset(VIEWS))) for name in VIEWS)


def test_offline(rated: Path) -> None:
    found = tiers.tier_judge("help", **QUICK)
    values = {each.metric: each.estimate.value for each in found.estimates}
    assert list(values) == ["consistency_score", "error_rate", "avg_latency_ms", "avg_faithfulness"]
    assert (values["consistency_score"], values["error_rate"]) == (1.0, 0.0)
    assert 1 < values["avg_faithfulness"] <= 5, "a mean of ratings, on the scale that the name has everywhere"
    probes = tried(found).loc["lexical"]
    assert (probes["n"]["language"], probes["value"]["scale_order"]) == (N, 0.0)
    assert probes["why"]["disguise"] == "is_baseline"
    assert findings(found, trial="ladder")["value"]["lexical", "reference"] == 1.0
    coverage = found.extra["coverage"]
    assert coverage["count"].sum() == coverage["asked"].iloc[0] == 2 * N
    assert findings(found, against="person")["value"]["people", "accuracy"] == 1.0
    for language in ("en", "ru"):
        html = drawn(found, language)
        assert "0.000" in html or "0,000" in html
    english = drawn(found)
    assert "δ = 0.50 on a scale from 1 to 5" in english
    assert "it is the baseline" in english
    assert "Krippendorff&#39;s α, interval scale" in english.partition("Agreement with people&#39;s mean")[2]
    tested = int((probes["p"].notna()).sum())
    assert f"effect, {100 * (1 - 2 * 0.05 / tested):.2f}% interval" in english, "words and intervals are one family's"
    for place in ("first_place", "second_place"):
        [won] = [one.estimate for one in found.estimates_by("trial") if one.metric == place]
        assert (won.value, won.low, won.note) == (0.5, None, BY_CONSTRUCTION), "it never ties and never changes"


def test_a_page_made_twice_is_the_same_page(rated: Path, tmp_path: Path) -> None:
    """Latencies are clock readings, and still the same: those of the first time are kept."""
    first, second = (tiers.tier_judge("help", seed=3, **QUICK) for _ in range(2))
    assert drawn(first) == drawn(second)
    first.save(tmp_path / "kept")
    assert drawn(Measurement.load(tmp_path / "kept")) == drawn(first)


def test_one_repeat_and_no_ratings_are_unmeasured_and_said(rated: Path) -> None:
    for path in (rated / "data" / "help").glob("ratings.*"):
        path.unlink()
    found = tiers.tier_judge("help", repeats=1, **QUICK)
    assert found.facts["constructed"]
    assert not len(findings(found, trial="repeatability"))
    assert not len(findings(found, "against"))
    probes = tried(found)["why"]["lexical"]
    assert (probes["repeats"], probes["language"], probes["disguise"]) == ("one_repeat", "one_language", "is_baseline")
    html = drawn(found)
    assert "how far the judge agrees with itself is not measured" in html
    assert "Nobody rated these answers" in html


def test_a_model_that_fails_in_every_way_is_counted_by_every_way(rated: Path) -> None:
    broken = {3: "!refusal", 4: "!not_json", 5: "!length", 6: "!500"}

    def reply(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if "Answer B:" in text or "answer_b" in text:
            chosen = {"choice": "A"}
            return {"reasoning": "so", "answer": chosen} if "reasoning" in json.dumps(body) else chosen
        asked = re.search(r"^(\d+)\?$", text, re.MULTILINE)
        number = int(asked[1]) if asked and "Reference" in text else -1
        plain = {"reason": "so", "rating": 5}
        given = {"reasoning": "so", "answer": plain} if "reasoning" in json.dumps(body) else plain
        return broken.get(number, given) if "Hall" in text else given

    with ChatServer(answer=reply).running() as server:
        judge_at(rated, server, "gpt-tester")
        found = tiers.tier_judge("help", "model", modes="direct, reasoned", tempted=N, **QUICK)
    assert [one["name"] for one in found.facts["judges"]] == ["model, direct", "model, reasoned"]
    coverage = found.extra["coverage"]
    for _, own in coverage.groupby("judge"):
        assert own["count"].sum() == own["asked"].iloc[0] == 2 * N
        errors = own[own["outcome"] != "valid"]["count"].sum()
        assert errors > 0
        [rate] = [e.estimate for e in found.estimates if e.system == own["judge"].iloc[0] and e.metric == "error_rate"]
        assert rate.value == pytest.approx(errors / (2 * N))
    rivals = {one.comparison.verdict for one in found.comparisons_by("trial")}
    assert rivals == {Verdict.NOT_SHOWN}, "a judge that likes everything beats nobody"
    probes = tried(found)
    assert probes.loc[("model, direct", "key"), "verdict"] == "found"
    assert probes.loc[("model, direct", "place"), "verdict"] == "found"
    assert len(found.extra["panel"]) == 2
    html = drawn(found)
    assert "does not clearly beat lexical" in html
    lost = next(one.estimate for one in found.estimates_by("probe") if one.where["probe"] == "key")
    assert (lost.n, lost.n_unmeasured) == (13, 3)
    assert "n 13, 3 unmeasured: " in html, "an effect stands with what it lacks"


def test_logged_judgements(rated: Path) -> None:
    rows = [
        {"id": f"i{n:02}", "people": {"a": n % 5, "b": min(4, n % 5 + n % 2)}, "system": "gpt-4" if n % 2 else "llama",
         "cluster": f"q{n // 2}", "judges": {"good": n % 5 / 4, "words": n * n % 7 % 5 / 4},
         "choices": {"good": ["A", "B"], "first": ["A", "A"]}, "label": "A"}
        for n in range(40)
    ]  # fmt: skip
    found = logged(rated, rows, people_scale="0, 4", rival="words")
    pairwise = findings(found, trial="pairwise")["value"]
    assert pairwise["good", "consistent"] == 1.0
    assert pairwise["first", "first_place"] == 1.0
    assert pairwise["first", "better_wins"] == 0.5
    assert pairwise["good", "right_in_both_orders"] == 1.0
    probes = tried(found)["verdict"]
    assert probes["first", "place"] == "found"
    assert probes["good", "place"] == "open", "forty pairs of twenty questions rule nothing out"
    rivals = {one.comparison.challenger: one.comparison.verdict for one in found.comparisons_by("trial")}
    assert rivals["good"] == "better"
    said = {name: {each.metric for each in found.estimates if each.system == name} for name in ("good", "first")}
    assert said["good"] == {"consistency_score", "error_rate"}
    assert said["first"] == {"pairwise_accuracy", "position_consistency"}, "it was asked for no score"
    for language in ("en", "ru"):
        assert "good" in drawn(found, language)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [(7, 5, "not shown to be more often"), (40, 10, "That is more often"), (10, 40, "That is less often")],
)
def test_choices_beat_guessing_only_where_their_interval_does(rated: Path, right: int, wrong: int, said: str) -> None:
    kinds = [["A", "B"]] * right + [["B", "A"]] * wrong
    rows = [{"id": f"i{n:03}", "choices": {"some": kind}, "label": "A"} for n, kind in enumerate(kinds)]
    html = str(views.comparison.answer(Page(logged(rated, rows, rival="none"))).html())
    assert f"{said} than by guessing" in html


def test_the_headline_of_pairs_counts_changes_and_uses_their_labels(rated: Path) -> None:
    """110 of 350 choices change with the order (a published judge's share), to either side as often."""
    kinds = [["A", "A"]] * 55 + [["B", "B"]] * 55 + [["A", "B"]] * 160 + [["B", "A"]] * 80
    rows = [{"id": f"i{n:03}", "choices": {"swayed": kind}, "label": "A"} for n, kind in enumerate(kinds)]
    found = logged(rated, rows, rival="none")
    probes = tried(found).loc["swayed"]
    assert (probes["value"]["place"], probes["verdict"]["place"]) == (0.0, "open")
    assert probes["value"]["place_changes"] == pytest.approx(110 / 350)
    assert probes["verdict"]["place_changes"] == "found"
    said = str(views.comparison.answer(Page(found)).html())
    assert "1 of 2 probes found a fault: choices changed by the order." in said
    assert "No fault" not in said
    assert "Neither shown nor ruled out: order of A and B on average." in said
    assert "Nobody rated" not in said, "the labels are the truth"
    assert "Pairs whose better answer is labelled: 350." in said
    assert "0.614" in said, "(2 · 160 + 110) / 700"
    assert "0.457" in said, "160 / 350"
    assert "more often than by guessing" in said
    assert "25.0% may change" in drawn(found)
    probes = views.judges.probes(Page(found)).html(frozenset({"questions"}))
    assert "metric=place&" in probes, "what was tried leads to the pairs that it was tried on"


def test_a_judge_that_only_chooses_is_told_by_its_choices(rated: Path) -> None:
    """A published count: the better answer wins on 230 of 350 pairs net of both orders, 65.7 %; nothing is missing."""
    kinds = [["A", "B"]] * 200 + [["A", "Tie"]] * 15 + [[None, "B"]] * 15 + [["A", "A"]] * 50 + [["B", "A"]] * 70
    rows = [{"id": f"i{n:03}", "choices": {"mini": kind}, "label": "A"} for n, kind in enumerate(kinds)]
    found = logged(rated, rows, rival="none")
    told = {each.metric: each.estimate for each in found.estimates}
    assert told["pairwise_accuracy"].value == pytest.approx(230 / 350)
    assert (told["pairwise_accuracy"].n, told["pairwise_accuracy"].n_unmeasured) == (350, 0)
    assert told["position_consistency"].value == pytest.approx(270 / 335), "a pair with one choice is neither"
    assert found.facts["primary"] == "pairwise_accuracy"
    assert results.nothing(found) == ""
    measures = str(views.about.measures(Page(found)).html())
    assert "0.657" in measures
    assert "consistency_score" not in measures
    unlabelled = logged(rated, [{**row, "label": None} for row in rows], rival="none")
    assert [each.metric for each in unlabelled.estimates] == ["position_consistency"]
    assert results.nothing(unlabelled) == ""


def test_limits_are_the_reader_s_own(rated: Path) -> None:
    """What is a fault within one limit is none within another, and the page says which limits it used."""
    rows = [{"id": f"i{n:02}", "people": {"a": n % 5}, "judges": {"j": 0.5, "words": n % 4 / 4},
             "choices": {"j": ["A", "A" if n % 4 else "B"]}} for n in range(60)]  # fmt: skip

    def placed(**limits: float) -> tuple[dict[str, Any], str]:
        found = logged(rated, rows, people_scale="0, 4", rival="words", **limits)
        return {**tried(found).loc[("j", "place")], **found.facts["limits"]}, drawn(found)

    strict, html = placed()
    assert (strict["verdict"], strict["limit_high"], strict["bias"]) == ("found", 0.05, 0.05)
    assert "±0.05" in html
    assert "a score may move by 5.0% of the scale" in html
    loose, html = placed(bias_limit=0.925, ladder_limit=1)
    assert (loose["verdict"], loose["limit_low"], loose["ladder"]) == ("passed", -0.925, 1)
    assert loose["value"] == strict["value"] == 0.75
    assert "±0.925" in html
    assert "by 92.5% of the scale" in html
    assert "100.0% of the pairs" in html


@pytest.mark.parametrize(
    ("model", "more", "own", "why"),
    [
        ("gpt-tester", "", "gpt-4o", ""),
        pytest.param("tuned-0425", 'family = "acme"', "acme-7b", "", marks=pytest.mark.slow),
        ("tuned-0425", "", "acme-7b", "no_judge_family"),
        ("gpt-tester", "", "claude-3", "no_own_family"),
    ],
)
def test_a_live_judge_that_likes_its_own_family(project: Path, model: str, more: str, own: str, why: str) -> None:
    """People find both answers equally good; the judge prefers the words of one model."""
    text, places = "Hall {} opens at nine.", range(12)
    rows = {
        "chunks": [{"id": f"c{n}", "text": text.format(n)} for n in places],
        "questions": [
            {"id": f"q{n:02}", "text": f"When is {n} open?", "reference": text.format(n), "relevant": {f"c{n}": 1}}
            for n in places
        ],
        "ratings": [
            {"id": f"r{n:02}{system}", "question_id": f"q{n:02}", "answer": f"{word}, hall {n} opens at nine.",
             "ratings": {"ann": 3 + n % 2}, "system": system}
            for n in places for system, word in ((own, "Certainly"), ("mistral-7b", "Well"))
        ],
    }  # fmt: skip
    made(project / "data" / "kin", lambda _language: rows, "en")

    def reply(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        return {"reason": "so", "rating": 2 if "Certainly" in text else 1}

    with ChatServer(answer=reply).running() as server:
        judge_at(project, server, model, more)
        found = tiers.tier_judge("kin", "model", metric="answer_accuracy", tempted=0, repeats=1, **QUICK)
    row = tried(found).loc[("model", "own_family")]
    assert row["why"] == why
    html = drawn(found)
    if why:
        assert row["verdict"] == "unmeasured"
        said = {"no_judge_family": "name it as “family”", "no_own_family": "the judge&#39;s own model family"}
        assert said[why] in html
    else:
        assert (row["n"], row["verdict"], row["value"]) == (12, "found", 0.5)


def test_names_and_texts_from_files_are_shown_as_texts(rated: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>\u202e\x1b[31m"
    rows = [
        {"id": f"{hostile}{n}", "people": {hostile: n % 5}, "judges": {hostile: n % 3 / 2, "b": 0.5},
         "question": hostile, "answer": hostile, "system": hostile, "choices": {hostile: ["A", "A"]}}
        for n in range(20)
    ]  # fmt: skip
    found = logged(rated, rows, people_scale="0, 4", rival="b")
    for language in ("en", "ru"):
        html = drawn(found, language)
        assert "<img" not in html
        assert not set(html) & {"\u202e", "\x1b"}
        assert "&lt;img" in html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judges": "gpt"}, "no judge 'gpt'"),
        ({"metric": "mrr"}, "asks a judge"),
        ({"metric": "semantic_similarity"}, "asks a judge"),
        ({"metric": "answer_acuracy"}, "did you mean answer_accuracy"),
        ({"repeats": 0}, "repeats = 0"),
        ({"tempted": True}, "tempted = True"),
        ({"good": 1}, "good = 1"),
        ({"delta": -1}, "delta = -1"),
        ({"bias_limit": 1}, r"bias_limit = 1: a number from 0 to 0.99 is expected .* share of the scale"),
        ({"flips_limit": -0.1}, "flips_limit = -0.1: a number from 0 to 0.99"),
        ({"changes_limit": 1}, "changes_limit = 1: a number from 0 to 0.99 is expected .the share of choices"),
        ({"attacks_limit": float("nan")}, "attacks_limit = nan: a number from 0 to 0.99"),
        ({"ladder_limit": 0}, "ladder_limit = 0: a number from 0.01 to 1"),
        ({"alike_limit": True}, "alike_limit = True: a number from 0 to 0.99"),
        ({"alike_limit": "high"}, "alike_limit = 'high': a number"),
        ({"classes": "good"}, "classes = 'good': at least two names"),
        ({"classes": "no, perhaps, yes"}, "which is none of the 3 classes"),
        ({"modes": "loud"}, "direct, reasoned"),
        ({"people_scale": "1, 4"}, "5 is not on the scale"),
        (
            {"aggregate": "loudest"},
            "aggregate = 'loudest': mean, median, minimum, maximum, majority, binary_majority or consensus",
        ),
        ({"ratings": "../../etc/passwd"}, "leads out of the project"),
        ({"ratings": "none.jsonl"}, "no such file"),
    ],
)
def test_what_cannot_be_asked_is_named(rated: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BenchError, match=message):
        tiers.tier_judge("help", **{**QUICK, **options})


def test_nothing_to_judge_is_said(project: Path, tmp_path: Path) -> None:
    found = tiers.tier_judge("small", **QUICK)
    assert not found.estimates
    found.save(tmp_path / "kept")
    for measurement in (found, Measurement.load(tmp_path / "kept")):
        assert "there was nothing to judge" in drawn(measurement)


def told(name: str, seed: int) -> bool:
    """Whether the fault is found by its probe; of the honest judge, whether it passes all and beats the baseline."""
    found, beats = scripted_trial.tried(name, seed)
    if name == scripted_trial.HONEST:
        return "found" not in found.values() and bool(beats)
    return found[scripted_trial.FAULTS[name]] == "found"


FEW = (scripted_trial.HONEST, "likes length")
MORE = [pytest.param(name, marks=pytest.mark.slow) for name in scripted_trial.FAULTS if name not in FEW]


@pytest.mark.parametrize("name", [*FEW, *MORE])
def test_a_scripted_judge(name: str) -> None:
    assert told(name, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("name", [scripted_trial.HONEST, *scripted_trial.FAULTS])
def test_a_scripted_judge_twenty_times(name: str) -> None:
    """A hundred times of each, with the rates of every verdict: `python -m tests.old.tiers.scripted_trial`."""
    assert sum(told(name, seed) for seed in range(20)) >= 19


def heard_again(said: pd.DataFrame, name: str) -> Heard:
    """A judge out of its published numbers."""
    own = said[said["who"] == name]

    def wide(kind: str, column: str = "value", by: str = "repeat") -> Any:
        part = own[own["kind"] == kind]
        if not len(part):
            return None
        order, across = part["sample"].unique(), part[by].unique()
        return part.pivot(index="sample", columns=by, values=column).reindex(index=order, columns=across).to_numpy()

    def alone(kind: str) -> Any:
        table = wide(kind)
        return None if table is None else table[:, 0]

    made = own[own["kind"] == "made"]
    variants = {str(key): part["value"].to_numpy() for key, part in made.groupby("variant", sort=False)}
    family = own["family"].dropna()
    return Heard(
        name,
        Sitting(wide("score"), wide("score", "asked").astype(bool), wide("score", "seconds")),
        wide("score", "status"),
        turned=alone("turned"),
        twins=alone("twin"),
        prompted=wide("prompt", by="variant"),
        variants=variants,
        choices=wide("choice", by="variant"),
        family=family.iloc[0] if len(family) else None,
        stand_in=bool(own["stand_in"].iloc[0]),
    )


def tried_again(said: pd.DataFrame, how: dict[str, Any]) -> Tried:
    """The answers and their ratings, and questions of made ones, likewise."""
    rated = said[said["kind"] == "score"].drop_duplicates("sample")
    samples = tuple(
        Sample(name, system=None if system != system else system)
        for name, system in zip(rated["sample"], rated["system"], strict=True)
    )
    people = said[said["kind"] == "people"].pivot(index="sample", columns="who", values="value")
    people = people.reindex(rated["sample"])
    answers = Answers(samples, tuple(rated["cluster"]), tuple(people.columns), people.to_numpy(dtype=float))
    made = said[said["kind"] == "made"]
    asked = tuple(
        Question(row["sample"], "?", cluster=row["cluster"])
        for row in made.drop_duplicates("sample").to_dict("records")
    )
    variants = {name: tuple(Sample(each.id) for each in asked) for name in made["variant"].unique()}
    chosen = said[(said["kind"] == "choice") & (said["variant"] == "first")].drop_duplicates("sample")
    pairs = tuple((Sample(name), Sample(name)) for name in chosen["sample"]) if asked else ()
    return Tried(answers, Temptations(asked, variants, pairs), Scale(*how["judge_scale"]), how["good"], how["rival"])


@pytest.mark.parametrize("source", [pytest.param("asked", marks=pytest.mark.slow), "logged"])
def test_every_interval_and_p_follows_from_what_is_published_of_the_judges(rated: Path, source: str) -> None:
    if source == "asked":
        made = tiers.tier_judge("help", repeats=3, resamples=150)
    else:
        rows = [
            {"id": f"r{n:02}", "people": {"ann": 1 + n % 5, "bob": 1 + (n * 7 // 3) % 5}, "cluster": f"c{n // 2}",
             "judges": {"lexical": (n % 4) / 4, "gpt-4o": [(n % 5) / 5, None if n % 9 == 4 else (n % 6) / 6]},
             "choices": {"gpt-4o": ["A" if n % 3 else "B", "B" if n % 5 else "Tie"]}, "label": "A" if n % 2 else "B",
             "system": "gpt-4o" if n % 4 < 2 else "llama-3"}
            for n in range(40)
        ]  # fmt: skip
        made = logged(rated, rows)
    states_itself_again(made, rated / "kept")
    published = Published(site_of(rated, made))
    how, said = published.how, published["said"]
    sure = Sureness(**published.sure)
    heard, tried = [heard_again(said, one["name"]) for one in made.facts["judges"]], tried_again(said, how)
    labels = said[said["kind"] == "label"]["value"].to_numpy()
    people = classes_of(tried.answers, Scale(*how["people_scale"]), ())
    settled = Settled(how["delta"], Rule(), Limits(**how["limits"]), sure, people).on_grades(heard, tried)
    baseline = heard_again(said, how["rival"])
    placed, tables = judge_findings.found(heard, tried, baseline, labels, settled)
    four = [
        each for one in heard
        for each in numbers.placed(one.name, numbers.specified(one, tried.answers.clusters, how["delta"], sure))
    ]  # fmt: skip
    ratings = said[said["kind"] == "faithfulness"]
    assert len(ratings) == (len(tried.answers.samples) if source == "asked" else 0)
    faithful = [
        each for name, own in ratings.groupby("who")
        for each in numbers.placed(name, numbers.faithful(own["value"].to_numpy(), tried.answers.clusters, sure))
    ]  # fmt: skip
    assert published.holds([*four, *faithful, *placed], 1e-9) > 60
    for again, kept in zip(tables["probes"].to_dict("records"), published["probes"].to_dict("records"), strict=True):
        assert all(same(again[key], kept[key], 1e-9) for key in ("judge", "probe", "p", "p_adjusted", "verdict")), kept
