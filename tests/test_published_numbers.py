"""What is published reproduces what is published: every interval and p of single scores, from the files alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench import stats
from ragbench.core.measurement import QUESTION_COLUMNS, SCORE_COLUMNS, Measurement
from ragbench.extras.publishing import publish
from ragbench.metrics import catalogue
from ragbench.tiers.basics import findings
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.scoring.corrections import corrected
from tests import kept_runs

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


def site_of(folder: Path, made: Measurement) -> Path:
    kept_runs.make(folder / "reports", "one", made)
    return publish.publish("one", folder / "site").parent / "data"


def wide(scores: pd.DataFrame, column: str = "value") -> dict[str, dict[str, np.ndarray]]:
    ids = sorted(set(scores["sample"]))
    return {
        system: {
            metric: part.set_index("sample")[column].reindex(ids).to_numpy(dtype=float)
            for metric, part in own.groupby("metric", sort=False)
        }
        for system, own in scores.groupby("system", sort=False)
    }


def same(found: object, published: object) -> bool:
    """Equal to the last digits that a file keeps; nothing is nothing."""
    lacking = [one is None or one == "" or one != one for one in (found, published)]
    if any(lacking):
        return all(lacking)
    return found == pytest.approx(published, rel=1e-12) if isinstance(found, float) else str(found) == str(published)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("clustered", [True, False])
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
