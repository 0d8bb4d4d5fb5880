"""What is published reproduces what is published: every interval and p of single scores, from the files alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from ragbench.old import stats, tiers
from ragbench.old.__main__ import application
from ragbench.old.core import settings
from ragbench.old.core.measurement import QUESTION_COLUMNS, SCORE_COLUMNS, Measurement
from ragbench.old.core.types import Sample
from ragbench.old.metrics import catalogue, overlap
from ragbench.old.tiers.answers import answer_scores, tier3_end_to_end
from ragbench.old.tiers.basics import findings
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.retrieval import timing
from ragbench.old.tiers.scoring.corrections import corrected
from tests.old.report.published import same, site_of
from tests.old.tiers import answer_project

SYSTEMS, METRICS, N = ("old", "new", "other"), ("mrr", "faithfulness", "answer_similarity"), 60
SURE = Sureness(0.95, 400, 11)


def judged(*, clustered: bool) -> Measurement:
    """Sixty questions in dialogues of three; the judge refuses some answers, above all bad ones of `other`."""
    rng = np.random.default_rng(4)
    metrics = [catalogue()[{"answer_similarity": "semantic_similarity"}.get(name, name)] for name in METRICS]
    names = [f"q{n:02}" for n in range(N)]
    rows: list[tuple[Any, ...]] = []
    shared = np.repeat(rng.normal(0, 0.15, N // 3), 3)
    for place, system in enumerate(SYSTEMS):
        for one in metrics:
            values = np.clip(0.45 + 0.2 * (place > 0) + shared + rng.normal(0, 0.2, N), 0, 1).round(3)
            gone = values < np.sort(values)[28] if (system, one.label) == ("other", "faithfulness") else values < 0.05
            rows += [
                (system, one.label, name, math.nan if out else value, "refused" if out else "ok", "", None)
                for name, value, out in zip(names, values, gone, strict=True)
            ]
    scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    clusters = {name: f"talk {n // 3}" for n, name in enumerate(names)} if clustered else None
    questions = pd.DataFrame(
        [(name, f"Question {name}?", "yes", "short" if n % 2 else "long", "en", (clusters or {}).get(name), True, "{}")
         for n, name in enumerate(names)],
        columns=list(QUESTION_COLUMNS),
    )  # fmt: skip
    estimates, comparisons = findings.find(scores, metrics, SYSTEMS, clusters, SURE, "mrr")
    facts = {
        "dataset": "talks", "baseline": "old", "primary": "mrr", "systems": [{"name": name} for name in SYSTEMS],
        "level": SURE.level, "resamples": SURE.resamples, "seed": SURE.seed, "n_questions": N,
    }  # fmt: skip
    return Measurement(
        "tier2_generation", facts, scores=scores, questions=questions, estimates=estimates, comparisons=comparisons
    )


def wide(scores: pd.DataFrame, column: str = "value") -> dict[str, dict[str, np.ndarray]]:
    ids = sorted(set(scores["sample"]))
    return {
        system: {
            metric: part.set_index("sample")[column].reindex(ids).to_numpy(dtype=float)
            for metric, part in own.groupby("metric", sort=False)
        }
        for system, own in scores.groupby("system", sort=False)
    }


FORMS = pytest.mark.parametrize(
    ("form", "clustered"),
    [
        ("csv", True),
        *(pytest.param(*each, marks=pytest.mark.slow)
          for each in (("csv", False), ("parquet", True), ("parquet", False))),
    ],
)  # fmt: skip


@FORMS
def test_every_interval_and_p_follows_from_the_published_files(bare: Path, form: str, clustered: bool) -> None:
    data = site_of(bare, judged(clustered=clustered))

    def table(name: str) -> pd.DataFrame:
        path = data / f"{name}.{form}"
        return pd.read_csv(path, keep_default_na=True) if form == "csv" else pd.read_parquet(path)

    about = json.loads((data / "manifest.json").read_text(encoding="utf-8"))["statistics"]["tier2_generation"]
    how = {key: about[key] for key in ("level", "resamples", "seed")}
    scores, estimates, comparisons = table("scores"), table("estimates"), table("comparisons")
    by_id = scores.drop_duplicates("sample").set_index("sample").sort_index()
    assert ("cluster" in by_id) == clustered
    assert by_id["kind"].tolist() == ["long", "short"] * (N // 2), "a slice's questions are told"
    labels = by_id["cluster"].tolist() if clustered else None
    values = wide(scores)
    bounds = {metric: catalogue()[metric].bounds for metric in values["old"]}
    made = stats.estimate_systems(values, clusters=labels, bounds=bounds, **how)
    assert len(estimates) == len(made) == len(SYSTEMS) * len(METRICS)
    for row in estimates.to_dict("records"):
        one = made[row["system"], row["metric"]]
        for key in ("value", "low", "high", "n", "n_unmeasured", "method", "floor", "ceiling", "note"):
            assert same(getattr(one, key), row[key]), (row, key)
    tested = {
        (metric, name): stats.hypotheses(
            {"": values["old"][metric]}, {"": values[name][metric]}, clusters=labels, bounds=bounds[metric],
            better=catalogue()[metric].better or "higher", names=("old", name), **how,
        )[""]
        for metric in bounds
        for name in SYSTEMS[1:]
    }  # fmt: skip
    families = [[key for key in tested if (key[0] == about["primary"]) == first] for first in (True, False)]
    done = {
        key: one
        for family in families
        for key, one in zip(
            family,
            stats.jointly([tested[key] for key in family], labels, resamples=how["resamples"], seed=how["seed"]),
            strict=True,
        )
    }
    assert len(comparisons) == len(done)
    for row in comparisons.to_dict("records"):
        one = done[row["metric"], row["challenger"]]
        keys = ("difference", "low", "high", "p", "p_adjusted", "least", "most", "p_worst", "verdict", "withheld", "n",
                "n_dropped", "minimum_detectable", "error", "method", "test")  # fmt: skip
        for key in keys:
            assert same(getattr(one, key), row[key]), (row, key)
    [refused] = [row for row in comparisons.to_dict("records") if (row["challenger"], row["metric"]) == (
        "other", "faithfulness")]  # fmt: skip
    assert (refused["verdict"], refused["withheld"]) == (
        "cannot be told",
        f"{refused['n_dropped']} of 60 pairs unmeasured",
    )


WORDS = ("the", "canteen", "opens", "at", "eleven", "and", "lunch", "costs", "two", "hundred", "roubles", "in", "room")


def written(*, clustered: bool) -> dict[str, list[Sample]]:
    """Answers of three systems to forty questions, of few words; some are missing, one has no reference."""
    rng = np.random.default_rng(8)
    made: dict[str, list[Sample]] = {}
    references = [" ".join(rng.choice(WORDS, 8)) for _ in range(40)]
    for place, name in enumerate(SYSTEMS):
        made[name] = []
        for number, reference in enumerate(references):
            kept = [word if rng.random() < 0.4 + 0.15 * place else str(rng.choice(WORDS)) for word in reference.split()]
            response = None if (number + 3 * place) % 17 == 5 else " ".join(kept[: int(rng.integers(4, 9))])
            known, cluster = "" if number == 11 else reference, f"talk {number // 2}" if clustered else None
            made[name].append(Sample(f"q{number:02}", "?", response, known, cluster=cluster, system=name))
    return made


@FORMS
def test_corpus_measures_follow_from_what_each_answer_adds(bare: Path, form: str, clustered: bool) -> None:
    """Corpus BLEU by sacrebleu's counts, and corpus ROUGE: value, interval, p, and bounds over missing answers."""
    answers = written(clustered=clustered)
    metrics = [overlap.corpus_bleu, overlap.corpus_rouge1_f]
    labels = [one.cluster for one in answers["old"]] if clustered else None
    found = answer_scores.find(answers, metrics, labels, SURE)
    ids = [one.id for one in answers["old"]]
    empty = pd.DataFrame(columns=list(SCORE_COLUMNS))
    _, comparisons = findings.find(
        empty, [], SYSTEMS, None if labels is None else dict(zip(ids, labels, strict=True)), SURE, "corpus_bleu",
        found.hypotheses, ids,
    )  # fmt: skip
    facts = {"tables": {answer_scores.TABLE: answer_scores.TABLE}, "systems": [{"name": name} for name in SYSTEMS]}
    facts |= {"level": SURE.level, "resamples": SURE.resamples, "seed": SURE.seed, "baseline": "old"}
    asked = [(one.id, "?", one.reference, None, "en", one.cluster, True, "{}") for one in answers["old"]]
    questions = pd.DataFrame(asked, columns=list(QUESTION_COLUMNS))
    made = Measurement(
        "tier2_generation", facts | {"primary": "corpus_bleu"}, scores=empty, questions=questions,
        estimates=found.estimates, comparisons=comparisons,
        extra={answer_scores.TABLE: answer_scores.counts(answers, metrics)},
    )  # fmt: skip
    data = site_of(bare, made)
    read = pd.read_csv if form == "csv" else pd.read_parquet
    estimates, compared, counts = (
        read(data / f"{one}.{form}") for one in ("estimates", "comparisons", answer_scores.TABLE)
    )
    how = json.loads((data / "manifest.json").read_text(encoding="utf-8"))["statistics"]["tier2_generation"]
    how = {key: how[key] for key in ("level", "resamples", "seed")}

    def rows(system: str, metric: str, best: bool | None = None) -> np.ndarray:
        """(questions, columns) as given; where `best` is told, the missing ones as the reference or as nothing."""
        own = counts[(counts["system"] == system) & (counts["metric"] == metric)].set_index("sample")
        table = own[own["answer"] == "given"]
        if best is not None:
            table = own[own["answer"] == ("reference" if best else "nothing")].combine_first(table)
        width = {"corpus_bleu": 10, "corpus_rouge1_f": 3}[metric]
        return table.loc[ids, [f"count_{place + 1}" for place in range(width)]].to_numpy(dtype=float)

    of = {each.label: overlap.statistic(each) for each in metrics}
    bounds = {each.label: each.bounds for each in metrics}
    assert len(estimates) == len(SYSTEMS) * len(metrics)
    for row in estimates.to_dict("records"):
        metric = row["metric"]
        one = stats.resample(of[metric], rows(row["system"], metric), clusters=labels, bounds=bounds[metric], **how)
        assert one.n_unmeasured > 0
        for key in ("value", "low", "high", "n", "n_unmeasured", "method", "note", "clusters"):
            assert same(getattr(one, key), row[key]), (row, key)
    assert len(compared) == 2 * len(metrics)
    void = [not one.reference for one in answers["old"]]
    for metric in of:
        tested = [
            stats.statistic_hypothesis(
                of[metric], rows("old", metric), rows(name, metric), clusters=labels, names=("old", name),
                bounds=bounds[metric], void=void,
                completed=((rows("old", metric, True), rows(name, metric, False)),
                           (rows("old", metric, False), rows(name, metric, True))), **how,
            )
            for name in SYSTEMS[1:]
        ]  # fmt: skip
        done = stats.jointly(tested, labels, resamples=how["resamples"], seed=how["seed"])
        for one, row in zip(done, compared[compared["metric"] == metric].to_dict("records"), strict=True):
            for key in ("difference", "low", "high", "p", "p_adjusted", "least", "most", "p_worst", "verdict", "n",
                        "withheld", "n_dropped", "minimum_detectable", "error", "method", "test"):  # fmt: skip
                assert same(getattr(one, key), row[key]), (row, key)
    assert compared["n_dropped"].max() > 0


@pytest.mark.parametrize(("step", "kept"), [("step", "latencies"), ("stage", "readings")])
def test_quantiles_of_what_the_clock_said_follow_from_its_readings(bare: Path, step: str, kept: str) -> None:
    rng = np.random.default_rng(3)
    readings = pd.DataFrame(
        [(name, f"q{n:02}", part, float(rng.lognormal(3, 0.6))) for name in SYSTEMS for n in range(N)
         for part in ("embed", "search")],
        columns=list(timing.LATENCIES),
    )  # fmt: skip
    quantiles = timing.quantiles if step == "step" else tier3_end_to_end.quantiles
    facts = {"level": 0.9, "systems": [{"name": name} for name in SYSTEMS], "tables": {"latencies": kept}}
    notebook = "tier1_retrieval" if step == "step" else "tier3_end_to_end"
    made = Measurement(notebook, facts, extra={kept: readings}, placed=quantiles(readings, 0.9))
    data = site_of(bare, made)
    published = pd.read_csv(data / "placed_estimates.csv")
    read = pd.read_csv(data / "latencies.csv")
    assert pd.read_parquet(data / "latencies.parquet").equals(read)
    assert set(read["notebook"]) == {notebook}
    assert len(published) == len(made.placed) > 0
    for row in published.to_dict("records"):
        where = json.loads(row["where"])
        own = read[read["system"] == row["system"]].pivot(index="sample", columns="part", values="ms")
        own["both"] = own["embed"] + own["search"]
        one = stats.quantile(own[where[step]].dropna(), where["probability"], level=0.9)
        for key in ("value", "low", "high", "n", "method", "note"):
            assert same(getattr(one, key), row[key]), (row, key)


def test_a_page_of_a_real_run_publishes_its_counts_and_readings(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corpus BLEU's values and all latencies of an end-to-end page, from the files alone."""
    monkeypatch.setenv("RAGBENCH_CONFIG", str(answer_project.make(tmp_path, database_folder)))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    made = tiers.tier3_end_to_end(
        systems="function, logged",
        metrics="rouge1_f, corpus_bleu",
        repeats=1,
        resamples=200,
    )
    data = site_of(tmp_path, made)
    counts, estimates = pd.read_csv(data / "corpus_counts.csv"), pd.read_csv(data / "estimates.csv")
    for system in ("function", "logged"):
        own = counts[(counts["system"] == system) & (counts["answer"] == "given")].filter(like="count_").dropna()
        [value] = estimates.loc[(estimates["system"] == system) & (estimates["metric"] == "corpus_bleu"), "value"]
        assert overlap.bleu_of(own.to_numpy(dtype=float).sum(axis=0)[None])[0] == pytest.approx(value)
    readings, placed = pd.read_csv(data / "latencies.csv"), pd.read_csv(data / "placed_estimates.csv")
    latencies = placed[placed["metric"] == "latency"]
    assert len(latencies) > 0
    for row in latencies.to_dict("records"):
        where = json.loads(row["where"])
        own = readings[(readings["system"] == row["system"]) & (readings["part"] == where["stage"])]["ms"]
        one = stats.quantile(own, where["probability"], level=0.95)
        assert (same(one.value, row["value"]), same(one.low, row["low"]), same(one.high, row["high"])) == (True,) * 3


@pytest.mark.parametrize("clustered", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_differences_that_people_corrected_follow_from_their_labels(bare: Path, clustered: bool) -> None:
    rng = np.random.default_rng(6)
    measured = judged(clustered=clustered)
    labelled = [f"q{n:02}" for n in range(0, N, 2)] + [f"q{n:02}" for n in range(1, 20, 2)]
    known = measured.scores.set_index(["system", "metric", "sample"])["value"]
    rows = [
        (one, system, "faithfulness", "anna", float(np.clip(np.nan_to_num(known[system, "faithfulness", one], nan=0.3)
                                                            + rng.normal(0, 0.05), 0, 1)))
        for system in SYSTEMS for one in labelled
    ]  # fmt: skip
    labels = pd.DataFrame(rows, columns=["id", "system", "metric", "annotator", "value"])
    made = corrected(measured, labels)
    data = site_of(bare, made)
    scores, comparisons = pd.read_csv(data / "scores.csv"), pd.read_csv(data / "comparisons.csv")
    own = scores[scores["metric"] == "faithfulness"]
    value, label = (own.pivot(index="sample", columns="system", values=one) for one in ("value", "label"))
    groups = own.drop_duplicates("sample").set_index("sample")["cluster"] if clustered else None
    tested = []
    for name in SYSTEMS[1:]:
        both = value[["old", name]].notna().all(axis=1)
        told = both & label[["old", name]].notna().all(axis=1)
        rest = both & ~told
        tested.append(
            stats.prediction_powered_comparison(
                *((table.loc[which, "old"], table.loc[which, name])
                  for table, which in ((label, told), (value, told), (value, rest))),
                level=SURE.level, seed=SURE.seed, names=("old", name), bounds=(0.0, 1.0), lacking=int((~both).sum()),
                clusters=None if groups is None else (groups[told].tolist(), groups[rest].tolist()),
            )
        )  # fmt: skip
    published = comparisons[comparisons["metric"] == "faithfulness"].to_dict("records")
    assert len(published) == 2
    for one, row in zip(stats.adjust(tested), published, strict=True):
        for key in ("difference", "low", "high", "p", "p_adjusted", "verdict", "withheld", "n", "method", "test",
                    "least", "most", "error", "family"):  # fmt: skip
            assert same(getattr(one, key), row[key]), (row, key)
    alone = pd.read_csv(data / "placed_comparisons.csv")
    assert {json.loads(one)["mean"] for one in alone["where"]} == {"judge", "corrected"}


def test_the_folder_of_scored_answers_reproduces_its_numbers(bare: Path) -> None:
    answers = {name: own for name, own in written(clustered=True).items() if name != "other"}
    rows = [
        {"id": one.id, "system": name, "user_input": "When?", "response": one.response, "reference": one.reference,
         "cluster": one.cluster}
        for name, own in answers.items() for one in own if one.reference
    ]  # fmt: skip
    path = bare / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["score", str(path), "-m", "rouge1_f", "-m", "rougeL_f", "--primary", "rougeL_f", "--seed", "5",
             "--resamples", "300", "--confidence", "0.9", "--baseline", "new", "--out", str(bare / "out")]  # fmt: skip
    done = CliRunner().invoke(application, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    summary = json.loads((bare / "out" / "summary.json").read_text(encoding="utf-8"))
    about = summary["statistics"]
    assert (about["baseline"], about["primary"], about["seed"]) == ("new", "rougeL_f", 5)
    how = {key: about[key] for key in ("level", "resamples", "seed")}
    scores = pd.read_csv(bare / "out" / "scores.csv").rename(columns={"id": "sample"})
    labels = scores.drop_duplicates("sample").set_index("sample")["cluster"].sort_index().tolist()
    values, bounds = wide(scores), dict.fromkeys(("rouge1_f", "rougeL_f"), (0.0, 1.0))
    made = stats.estimate_systems(values, clusters=labels, bounds=bounds, **how)
    estimates, comparisons = (pd.read_csv(bare / "out" / f"{one}.csv") for one in ("estimates", "comparisons"))
    assert len(estimates) == 4
    for row in estimates.to_dict("records"):
        for key in ("value", "low", "high", "n", "n_unmeasured", "method", "floor", "ceiling", "note", "clusters"):
            assert same(getattr(made[row["system"], row["metric"]], key), row[key]), (row, key)
    assert len(comparisons) == 2
    for row in comparisons.to_dict("records"):
        metric = row["metric"]
        one = stats.hypotheses({"": values["new"][metric]}, {"": values["old"][metric]}, clusters=labels,
                               bounds=(0.0, 1.0), names=("new", "old"), **how)[""]  # fmt: skip
        [one] = stats.jointly([one], labels, resamples=how["resamples"], seed=how["seed"])
        keys = ("difference", "low", "high", "p", "p_adjusted", "verdict", "least", "most", "withheld", "n_dropped")
        for key in keys:
            assert same(getattr(one, key), row[key]), (row, key)
    assert pd.read_parquet(bare / "out" / "estimates.parquet")["value"].tolist() == estimates["value"].tolist()


def test_what_people_said_of_each_answer_is_published_with_it(bare: Path) -> None:
    labels = pd.DataFrame(
        [(f"q{n:02}", system, "faithfulness", "anna", 0.5 + n % 2 / 2) for system in SYSTEMS for n in range(30)],
        columns=["id", "system", "metric", "annotator", "value"],
    )
    made = corrected(judged(clustered=False), labels)
    scores = pd.read_csv(site_of(bare, made) / "scores.csv")
    own = scores[(scores["metric"] == "faithfulness") & (scores["system"] == "new")].sort_values("sample")
    assert own["label"].tolist()[:30] == [0.5, 1.0] * 15
    assert own["label"].isna().sum() == 30
    assert scores.loc[scores["metric"] == "mrr", "label"].isna().all()
    labelled, rest = own[own["label"].notna()], own[own["label"].isna() & own["value"].notna()]
    found = stats.prediction_powered(
        labelled["label"], labelled["value"], rest["value"], bounds=(0.0, 1.0), level=SURE.level, seed=SURE.seed
    )
    [one] = [e.estimate for e in made.estimates if (e.system, e.metric) == ("new", "faithfulness")]
    assert (found.value, found.low, found.high) == pytest.approx((one.value, one.low, one.high))
