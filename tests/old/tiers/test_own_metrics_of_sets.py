"""Functions of users' of all that a system answered: one value a system, everywhere where a metric has one."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ragbench.old as rb
from ragbench.old import llm, stats
from ragbench.old.core import metric as declarations
from ragbench.old.core.measurement import NamedComparison, NamedEstimate
from ragbench.old.core.types import Sample, Status, Verdict
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics.findings import bounds
from ragbench.old.tiers.scoring import measure
from tests.old.cli.command_line import invoke
from tests.old.report.published import Published, site_of
from tests.old.small_project import add, write_lines

QUESTIONS = 50


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """What a test declares is in no other's catalogue."""
    before = dict(catalogue())
    yield
    for name in set(declarations.registered()) - set(before):
        declarations.withdraw(name)


def empty_share(table: Sequence[Sample]) -> float:
    """Share of empty answers."""
    return sum(not one.response for one in table) / len(table)


def is_empty(response: str) -> bool:
    """Whether the answer is empty."""
    return not response


def answers(*empty: range, system: str = "", **more: Any) -> list[dict[str, Any]]:
    """An answer to each question, empty to those of the ranges."""
    silent = {number for own in empty for number in own}
    return [
        {"id": f"q{number:02}", "question": "When?", "answer": "" if number in silent else f"At {number}.",
         **({"system": system} if system else {}), **more}
        for number in range(QUESTIONS)
    ]  # fmt: skip


def limited(folder: Path, seconds: float) -> None:
    add(folder, f"[metrics]\ntimeout_seconds = {seconds}\n")


def test_the_share_of_empty_answers_is_the_mean_of_an_indicator(bare: Path) -> None:
    """15 of 50 and 5 of 50, the 5 among the 15: ten questions have moved, all one way."""
    table = [*answers(range(15), system="old"), *answers(range(5), system="new")]
    found = rb.score(table, [empty_share, is_empty], resamples=1500, primary="empty_share")
    for system, value in (("old", 0.3), ("new", 0.1)):
        one, same = (found.means[system, name] for name in ("empty_share", "is_empty"))
        assert (one.value, one.n, one.n_unmeasured) == (value, 50, 0)
        assert one.intervals["percentile"] == pytest.approx(same.intervals["percentile"], abs=0.021), "1 / 50 at most"
    whole, mean = (one.comparison for one in found.differences)
    assert [one.metric for one in found.differences] == ["empty_share", "is_empty"]
    assert whole.difference == pytest.approx(mean.difference) == pytest.approx(-0.2)
    assert (whole.n, whole.n_dropped, whole.verdict, mean.verdict) == (50, 0, Verdict.WORSE, Verdict.WORSE)
    assert whole.family.startswith("primary: 1")
    assert mean.p == pytest.approx(2**-10, rel=0.01), "mid-p of McNemar's ten of ten"
    assert whole.p < 0.005
    assert [row.metric.name for row in found.rows] == ["is_empty"] * 100, "a value of all answers is no row"
    assert [each.name for each in found.metrics] == ["empty_share", "is_empty"]


def test_it_is_all_that_there_is_to_measure(bare: Path) -> None:
    """Without a metric of single samples; samples that come again are in the set again, in the order of their ids."""
    seen: list[list[str]] = []

    def how_many(table: Sequence[Sample]) -> float:
        seen.append([one.id for one in table])
        return float(len(table))

    rows = [Sample(f"q{number:02}", response="Yes.", system="a") for number in (2, 1, 0, 0)]
    found = llm.run(measure.measure(rows, measure.applicable(rows, [how_many]), measure.Asked(resamples=200)))
    assert seen[0] == ["q00", "q00", "q01", "q02"]
    one = found.means["a", "how_many"]
    assert (one.value, one.n) == (4.0, 3), "three questions, one of them answered twice"
    assert all(len(own) in range(3, 7) for own in seen), "a question is drawn with all of its answers"
    assert found.differences == ()
    assert "4 answers, 1 metric\n" in repr(found)
    assert found.as_json()["sets"][0]["resamples"] == 200
    with pytest.raises(KeyError, match=r"one value a system"):
        found["how_many"]


def test_groups_are_drawn_whole_and_numbers_do_not_hang_on_the_order_of_rows(bare: Path) -> None:
    rows = answers(range(15), system="a")
    rows = [{**row, "cluster": f"page {number // 5}"} for number, row in enumerate(rows)]
    found, turned = (rb.score(table, empty_share, resamples=500) for table in (rows, rows[::-1]))
    one = found.means["a", "empty_share"]
    assert one.clusters == 10
    assert one == turned.means["a", "empty_share"]
    low, high = one.intervals["percentile"]
    assert high - low > 1.5 * 2 * 1.96 * math.sqrt(0.3 * 0.7 / 50), "wider than of 50 that stand alone"


def test_what_a_sample_lacks_leaves_it_out_and_is_counted(bare: Path) -> None:
    @rb.metric.metric(source="ours", over="set", fields=("reference",))
    def with_reference(table: Sequence[Sample]) -> float:
        """Share of references that are short."""
        return sum(len(one.reference or "") < 3 for one in table) / len(table)

    rows = answers(system="a", expected="ab") + answers(system="b", expected="abc")
    for number in (0, 1, 2):
        rows[number].pop("expected")
    rows[50].pop("expected")
    found = rb.score(rows, [with_reference], resamples=300)
    first, second = (found.means[name, "with_reference"] for name in "ab")
    assert (first.value, first.n, first.n_unmeasured) == (1.0, 47, 3)
    assert (second.value, second.n, second.n_unmeasured) == (0.0, 49, 1)
    [one] = found.differences
    assert (one.comparison.n, one.comparison.n_dropped) == (47, 3)
    assert [each["lacking"] for each in found.as_json()["sets"]] == [3, 1]


@pytest.mark.parametrize(
    ("gives", "status", "said"),
    [
        (lambda: 1 / 0, Status.FUNCTION_ERROR, "ZeroDivisionError: division by zero"),
        (lambda: math.nan, Status.FUNCTION_ERROR, "it returned nan"),
        (lambda: "much", Status.FUNCTION_ERROR, "it returned"),
        (lambda: 2.0, Status.FUNCTION_ERROR, "it returned 2, which is not on its scale 0.0 … 1.0"),
        (lambda: time.sleep(30), Status.TIMEOUT, "no value within 0.2 s"),
    ],
)
def test_a_function_that_gives_no_value_says_why(gives: Any, status: Status, said: str, bare: Path) -> None:
    limited(bare, 0.2)

    @rb.metric.metric(source="ours", over="set")
    def wayward(table: Sequence[Sample]) -> float:
        """A number."""
        return gives()

    found = rb.score([*answers(system="a")[:5]], [wayward, is_empty], resamples=100)
    one, (whole,) = found.means["a", "wayward"], found.sets.scores
    assert (whole.score.status, one.n, one.n_unmeasured, one.low) == (status, 0, 5, None)
    assert math.isnan(one.value)
    assert said in whole.score.reason
    assert said in repr(found)
    assert found.means["a", "is_empty"].value == 0.0, "the others are measured"


@pytest.mark.parametrize(
    ("seconds", "drawn", "left", "method", "note"),
    [(700, 1000, 0, "bca", ""), (50, 0, 10, "jackknife", "few_draws"), (2, 0, 0, "none", "slow")],
)
def test_a_slow_function_is_called_less_often(
    seconds: float, drawn: int, left: int, method: str, note: str, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its clock a call takes 0.4 s: in 700 s fit 1,000, in 50 s one for each question, in 2 s not even that."""
    limited(bare, seconds)
    calls: list[int] = []
    monkeypatch.setattr("ragbench.old.tiers.scoring.sets.time", SimpleNamespace(monotonic=lambda: 0.4 * len(calls)))

    def slow_share(table: Sequence[Sample]) -> float:
        """Share of empty answers, slowly."""
        calls.append(len(table))
        return empty_share(table)

    found = rb.score(answers(range(3), system="a")[:10], [slow_share])
    [one] = found.sets.scores
    assert (one.resamples, one.left_out, one.estimate.method, one.estimate.note) == (drawn, left, method, note)
    assert one.estimate.value == 0.3
    assert len(calls) <= 6 + drawn + left
    assert ("its function is too slow" in repr(found)) == (note == "slow")


def test_what_cannot_be_called_so_often_is_refused(bare: Path) -> None:
    def judged(table: Sequence[Sample], judge: Any) -> float:
        return 0.0

    async def awaited(table: Sequence[Sample]) -> float:
        return 0.0

    for given, said in ((judged, "it may ask no judge"), (awaited, "write it as a plain def")):
        with pytest.raises(ValueError, match=rf"{given.__name__} works on all answers of a system.*{said}"):
            rb.score(answers()[:2], [given])
    with pytest.raises(ValueError, match=r"corpus_bleu works on the grain 'table'.*first parameter is `table`"):
        rb.score(answers()[:2], ["corpus_bleu"])


MODULE = '''
from collections.abc import Sequence

from ragbench.old.core.metric import metric
from ragbench.old.core.types import Sample


@metric(source="our report", over="set", bounds=(0, 1), fields=("response",))
def distinct_words(table: Sequence[Sample]) -> float:
    """Share of different words in all answers of a system."""
    words = [word for one in table for word in one.response.split()]
    return len(set(words)) / len(words)


@metric(source="our report", over="set", bounds=(0, 1))
def breaks(table: Sequence[Sample]) -> float:
    """Breaks."""
    raise LookupError("no such thing")
'''


def test_the_command_its_page_and_its_gate_have_it(bare: Path) -> None:
    """The words of `At 0.` … `At 49.`, of which the first two are said alike: 50 of 100 are different."""
    (bare / "mine_sets.py").write_text(MODULE, encoding="utf-8")
    add(bare, '[metrics]\nmodules = ["mine_sets"]\n')
    rows = [*answers(system="old"), *answers(system="new")]
    rows[1]["answer"] = "At 0."
    rows[60:85] = [{**row, "answer": "At 1."} for row in rows[60:85]]
    rows[99]["answer"] = None
    write_lines(bare / "answers.jsonl", rows)
    words = ("score", "answers.jsonl", "-m", "distinct_words", "-m", "rouge1_f", "-m", "breaks", "--trust", "--json",
             "found.json", "--out", "out", "--resamples", "300")  # fmt: skip
    for row in rows:
        row["expected"] = "At 1."
    write_lines(bare / "answers.jsonl", rows)
    done = invoke(*words, "--gate", "distinct_words>=0.3")
    assert done.exit_code == 4, "of breaks nothing was measured, whatever the gate on distinct_words says"
    found = json.loads((bare / "found.json").read_text(encoding="utf-8"))
    own = {one["system"]: one for one in found["estimates"] if one["metric"] == "distinct_words"}
    assert (own["old"]["value"], own["old"]["n"]) == (0.5, 50)
    different = len({word for row in rows[50:99] for word in row["answer"].split()})
    assert own["new"]["value"] == pytest.approx(different / 98)
    assert own["old"]["low"] < 0.5 < own["old"]["high"]
    [one] = [each for each in found["comparisons"] if each["metric"] == "distinct_words"]
    assert (one["challenger"], one["n"], one["verdict"]) == ("new", 49, "cannot be told")
    told = {(each["system"], each["metric"]): each for each in found["sets"]}
    assert told["new", "distinct_words"] | {"value": 0} == {
        "system": "new", "metric": "distinct_words", "value": 0, "status": "ok", "reason": "", "resamples": 300,
        "left_out": 50 - 1, "lacking": 1,
    }  # fmt: skip
    assert told["old", "breaks"]["reason"] == "LookupError: no such thing"
    page = (bare / "out" / "rag_metrics.html").read_text(encoding="utf-8")
    for text in ("Share of different words in all answers of a system.", "On 300 sets of questions drawn anew",
                 "Also without each question, or group of questions: distinct_words", "LookupError: no such thing",
                 "in no set: a field that the metric needs is missing", "function of the module mine_sets",
                 "a resample holds some questions several times"):  # fmt: skip
        assert text in page, text
    assert "holds: distinct_words >= 0.3, rag_metrics old" in done.output


def test_a_measurement_keeps_it_and_a_part_says_that_it_has_it_not(bare: Path) -> None:
    """What is stored of single questions does not tell the value of some of them."""
    from ragbench.old import tiers
    from ragbench.old.core.measurement import Measurement
    from ragbench.old.tiers.run.record import restated

    (bare / "mine_stored.py").write_text(MODULE, encoding="utf-8")
    add(bare, '[metrics]\nmodules = ["mine_stored"]\n')
    rows = [*answers(system="old", expected="At 1."), *answers(range(9), system="new", expected="At 1.")]
    rows[0]["answer"] = rows[60]["answer"] = "At 11."
    write_lines(bare / "answers.jsonl", rows)
    made = tiers.rag_metrics(answers="answers.jsonl", metrics="rouge1_f, distinct_words", resamples=200)
    made.save(bare / "kept")
    kept = Measurement.load(bare / "kept")
    assert [(one.system, one.metric) for one in kept.estimates] == [
        (system, metric) for system in ("old", "new") for metric in ("rouge1_f", "distinct_words")
    ]
    assert [one.estimate for one in kept.estimates] == [one.estimate for one in made.estimates]
    part = restated(kept, samples=[f"q{number:02}" for number in range(20)])
    assert {one.metric for one in part.estimates} == {"rouge1_f"}
    assert "distinct_words" in part.facts["part"]["left_out"]
    assertions = pytest.importorskip("ragbench.old.extras.testing.assertions")
    assertions.assert_gate(kept, "distinct_words>=0.4")
    with pytest.raises(ValueError, match=r"distinct_words is a value of all answers.*assert_gate"):
        assertions.assert_score(rows[0], "distinct_words>=0.4")


@pytest.mark.parametrize("clustered", [pytest.param(False, marks=pytest.mark.slow), True])
def test_every_interval_and_p_follows_from_the_published_values_of_the_sets(bare: Path, clustered: bool) -> None:
    def words(table: Sequence[Sample]) -> float:
        """How many different words there are: repeats move it, so that units are left out one by one."""
        return float(len({word for one in table for word in (one.response or "").split()}))

    rows = [*answers(range(15), system="old"), *answers(range(5), system="new"), *answers(range(9), system="third")]
    rows = [row for row in rows if (row["system"], row["id"]) not in {("new", "q17"), ("new", "q40"), ("old", "q31")}]
    rows = [{**row, **({"cluster": f"page {int(row['id'][1:]) // 3}"} if clustered else {})} for row in rows]
    scores = rb.score(rows, [words, empty_share], resamples=200, seed=2)
    made = scores.page().measurement
    published = Published(site_of(bare, made))
    values, units, sure = published["set_values"], published["set_units"], published.sure
    questions = sorted(set(units["sample"]))
    again: list[Any] = []

    def of(system: str, metric: str, ids: Sequence[str], beside: str = "") -> stats.SetValues:
        own = values[(values["system"] == system) & (values["metric"] == metric)]
        part = own[own["beside"].fillna("") == beside]
        part = part if len(part) else own[own["beside"].isna()]
        told = {kind: rows["value"].to_numpy() for kind, rows in part.groupby("set")}
        at = units[(units["system"] == system) & (units["metric"] == metric) & units["sample"].isin(ids)]
        sizes = at.groupby("unit", sort=False).size().to_numpy()
        nothing = np.full(0, np.nan)
        return stats.SetValues(float(told["whole"][0]), sizes, told.get("draw", nothing), told.get("left", nothing),
                               bool(at["clustered"].all()), sure["seed"])  # fmt: skip

    tested: dict[str, list[stats.Hypothesis]] = {}
    for declared in scores.metrics:
        metric, scale, better = declared.label, bounds(declared), declared.better or "higher"
        of_metric = units[units["metric"] == metric].groupby("system", sort=False)
        given = {str(name): own["sample"].tolist() for name, own in of_metric}
        first, *others = given
        for name, ids in given.items():
            one = stats.set_estimate(of(name, metric, ids), level=sure["level"], bounds=scale)
            again.append(NamedEstimate(name, metric, one))
        for name in others:
            common = [one for one in given[first] if one in set(given[name])]
            both = of(first, metric, common, name), of(name, metric, common, first)
            at = units[(units["system"] == first) & (units["metric"] == metric) & units["sample"].isin(common)]
            order = {unit: place for place, unit in enumerate(dict.fromkeys(at["unit"]))}
            by_id = {row["sample"]: order[row["unit"]] for row in at.to_dict("records")}
            places = np.array([by_id.get(one, -1) for one in questions])
            tested.setdefault(metric, []).append(
                stats.set_hypothesis(*both, places, better=better, level=sure["level"], resamples=sure["resamples"],
                                     names=(first, name), bounds=scale))  # fmt: skip
    labels = [f"page {int(one[1:]) // 3}" for one in questions] if clustered else None
    for metric, own in tested.items():
        again += [NamedComparison(metric, one) for one in stats.jointly(own, labels, resamples=200, seed=2)]
    assert published.holds(again) == 10
