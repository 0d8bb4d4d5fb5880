"""A page never dies of a row: every view, on every kind of page, whatever the status of what was measured."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old.core import settings
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.types import Estimate, Sample, Score, Status
from ragbench.old.judge import Rule
from ragbench.old.llm import run
from ragbench.old.metrics import declaration
from ragbench.old.tiers.answers.rag_metrics import Made, measurement_of
from ragbench.old.tiers.basics.findings import Sureness, find
from ragbench.old.tiers.basics.verdict_tables import statuses
from ragbench.old.tiers.scoring.measure import Asked, applicable, measure
from ragbench.old.tiers.scoring.table_sources import of_samples
from ragbench.old.views import Page
from ragbench.old.views.items import parts
from ragbench.old.views.sentences.conclusions import finding
from tests.old.views import every_ending, every_page

METRICS = (
    "faithfulness", "factual_correctness", "answer_correctness", "context_precision", "noise_sensitivity",
    "response_relevancy", "hallucination", "aspect_critique", "dot_similarity",
)  # fmt: skip
"""One of each kind of detail; all that there are: tests/old/metrics/test_detail.py."""
UNMEASURED = tuple(status for status in Status if status is not Status.OK)
SURE = Sureness(0.95, 100, 0)


def deaths(made: Measurement, count: int = 2) -> list[str]:
    """The views that die, in each language, by themselves and among all others; and the data behind the questions.

    count: of answers whose verdicts are shown.
    """
    found, every = [], frozenset(every_page.every_view())
    for language in LANGUAGES:
        page = Page(made, language=language)
        judged = made.extra.get("judgements", pd.DataFrame(columns=["metric"]))["metric"]
        calls: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in every]
        calls += [("verdicts", {"count": count, "metric": name}) for name in set(judged) if language == LANGUAGES[0]]
        for name, options in calls:
            try:
                view = page.view(name, **options)
                assert view.html(every) is not None
                json.dumps(view.figure, allow_nan=False)
            except Exception as error:  # each is named, not the first
                found.append(f"{name} {options}, {language}: {error!r}")
        try:
            json.dumps(list(parts(page.material)), allow_nan=False)
            str(finding(page.material))
        except Exception as error:
            found.append(f"parts, {language}: {error!r}")
    return found


def kept(made: Measurement, folder: Path) -> Measurement:
    """The same as the record of measurements gives it back."""
    made.save(folder)
    return Measurement.load(folder)


def unmeasured(table: pd.DataFrame, statuses: Sequence[Status], step: int) -> pd.DataFrame:
    """Every step-th row as what could not be measured is written, by the statuses in turn."""
    changed = table.reset_index(drop=True).astype(dict.fromkeys({"reason", "detail"} & set(table), object))
    for turn, place in enumerate(changed.index[::step]):
        status = statuses[turn % len(statuses)]
        score = Score.unmeasured(status, f"it ended so: {status}")
        row = {"value": score.value, "status": score.status.value, "reason": score.reason, "detail": "{}"}
        names = [name for name in row if name in changed]
        changed.loc[place, names] = [row[name] for name in names]
    return changed


def ended(made: Measurement, statuses: Sequence[Status], step: int) -> Measurement:
    """The measurement with every step-th score unmeasured; estimates and comparisons are made of the scores again."""
    scores = unmeasured(made.scores, statuses, step)
    systems = list(dict.fromkeys(scores["system"]))
    labels = [
        label for label, own in scores.groupby("metric", sort=False) if set(own["system"]) == set(systems)
    ]  # fmt: skip
    metrics = [one for label in labels if (one := declaration(str(label))) is not None]
    again, comparisons = find(scores, metrics, systems, None, SURE) if metrics else ((), ())
    by_place = {(one.system, one.metric): one for one in again}
    estimates = tuple(by_place.get((one.system, one.metric), one) for one in made.estimates)
    if step == 1:
        known = set(by_place)
        estimates = tuple(one if (one.system, one.metric) in known else _nothing(one) for one in estimates)
    extra = {
        name: unmeasured(table, statuses, step) if name == "judgements" else _emptied(table, step)
        for name, table in made.extra.items()
    }
    return replace(made, scores=scores, estimates=estimates, comparisons=comparisons, extra=extra)


def _nothing(one: NamedEstimate) -> NamedEstimate:
    whole = one.estimate.n + one.estimate.n_unmeasured
    return replace(one, estimate=Estimate(math.nan, None, None, 0.95, "none", 0, whole))


def _emptied(table: pd.DataFrame, step: int) -> pd.DataFrame:
    """A table with numbers and their intervals, every step-th of them unmeasured."""
    if not {"value", "low", "high", "n"} <= set(table.columns):
        return table
    changed = table.reset_index(drop=True).copy()
    changed.loc[::step, ["value", "low", "high"]] = math.nan
    changed.loc[::step, "n"] = 0
    return changed


def judged(samples: list[Sample], judges: int = 1, embedders: int = 1) -> Measurement:
    """A page of judged answers, really measured."""
    names = [f"judge{place}" for place in range(judges)]
    by = tuple(every_ending.Judge(name) for name in names)
    vectors = tuple(every_ending.Embedder(f"letters{place}") for place in range(embedders))
    with pytest.MonkeyPatch.context() as patch:
        from ragbench.old.tiers.scoring import judged_metrics as module

        patch.setattr(module, "listed", lambda *_: [{"name": name, "stand_in": False} for name in names])
        scores = run(measure(samples, applicable(samples, METRICS), Asked(by, vectors, resamples=100)))
        made = Made(tuple(names), Rule(), tuple(one.name for one in vectors))
        return measurement_of(scores, of_samples(samples, "answers.jsonl"), made)


def test_every_status_has_a_word() -> None:
    page = Page(judged(every_ending.samples(("ok",))))
    assert set(statuses(page.material.text)) == {status.value for status in UNMEASURED}


@pytest.mark.fault("garbage", tried="judged answers that end in every way, every view in two languages", count=15)
@pytest.mark.parametrize(
    ("systems", "judges"),
    [
        (("base", "new"), 2),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in [
            ((None,), 1), ((None,), 2), (("one",), 1), (("one",), 2), (("base", "new"), 1),
            (("a", "b", "c"), 1), (("a", "b", "c"), 2),
        ]),
    ],
)  # fmt: skip
def test_answers_that_end_in_every_way(systems: tuple[str | None, ...], judges: int, tmp_path: Path) -> None:
    made = judged(every_ending.samples(systems=systems), judges, judges)
    assert set(made.scores["status"]) == set(every_ending.ENDINGS)
    assert deaths(kept(made, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("way", every_ending.WAYS)
def test_answers_that_all_end_alike(way: str, tmp_path: Path) -> None:
    rows = [every_ending.sample(way, f"s{n}", system) for n in range(3) for system in ("base", "new")]
    if way == Status.MISSING_FIELD:  # of none of them: then it is refused before anything is asked
        rows.append(every_ending.sample("ok", "whole", "base"))
    assert deaths(kept(judged(rows), tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("status", UNMEASURED)
def test_rows_of_every_status_in_the_record(status: Status, step: int, tmp_path: Path) -> None:
    made = judged(every_ending.samples(("ok", "ok2", "ok3"), ("base", "new")))
    assert deaths(kept(ended(made, [status], step), tmp_path)) == []


@pytest.fixture(scope="module")
def paid_for() -> Measurement:
    """Answers that are measured, and answers of which something is left out."""
    return judged(every_ending.samples(("ok", "left_out")))


STRANGE = (
    None, "", "null", "[]", '"text"', '{"statements": ["a", "b"]}', '{"statements": {"a": 1}}', "{not json",
    '{"explanation": ["a"], "claims": []}', '{"explanation": [{"text": "{x}", "values": {}}], "parts": [1]}',
    '{"chunks": [{}, "c1", {"chunk": null}], "questions": [{}, 1], "verdicts": [null]}',
    '{"statements": [{"statement": 1, "verdict": ["x"], "reason": null, "chunks": "c1", "cosine": "NaN"}]}',
)  # fmt: skip
"""Details that nothing writes today."""


def with_details(made: Measurement, details: Sequence[str | None]) -> Measurement:
    """The same with these details, by the samples in turn."""
    rows = made.extra["judgements"]
    turn, _ = pd.factorize(rows["sample"])
    detail = pd.Series([details[place % len(details)] for place in turn], dtype=object)
    return replace(made, extra={**made.extra, "judgements": rows.assign(detail=detail.to_numpy())})


def test_a_page_does_not_die_of_details_that_nothing_writes_today(tmp_path: Path) -> None:
    """A page that is drawn again says what it can read, and does not die of the rest."""
    made = judged([every_ending.sample("ok", f"s{n}", None) for n in range(len(STRANGE))])
    assert made.extra["judgements"].groupby("metric")["sample"].nunique().max() == len(STRANGE)
    assert deaths(kept(with_details(made, STRANGE), tmp_path), len(STRANGE)) == []


@pytest.mark.slow
@pytest.mark.fault("garbage", tried="judgements that nothing here wrote", count=12)
@pytest.mark.parametrize("detail", STRANGE)
def test_nor_where_all_are_alike(detail: str | None, paid_for: Measurement, tmp_path: Path) -> None:
    assert deaths(kept(with_details(paid_for, [detail]), tmp_path)) == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, database_folder: Path) -> Iterator[dict[str, Measurement]]:
    """Every kind of page, measured with judges and an embedder that end measurements in every way."""
    folder = tmp_path_factory.mktemp("every")
    with every_page.Server(keep=False).running() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGBENCH_CONFIG", str(every_page.make(folder, database_folder, server.url)))
        patch.chdir(folder)
        # of what ends badly by lot, eight calls may stand in a row: that would be the end of the run
        patch.setattr("ragbench.old.llm.endpoint.UNREACHABLE_AFTER", 1000)
        settings.load.cache_clear()
        yield {name: measured() for name, measured in every_page.PAGES.items()}


@pytest.mark.slow
@pytest.mark.fault("garbage", tried="every kind of page with every status, all rows or every second one", count=220)
def test_every_kind_of_page(pages: dict[str, Measurement], tmp_path: Path) -> None:
    seen = {str(status) for made in pages.values() for status in made.scores["status"]}
    assert seen == set(every_ending.ENDINGS)
    notebooks = {path.stem for path in (Path(__file__).parents[3] / "notebooks").glob("*.ipynb")} - {"quickstart"}
    assert set(pages) == notebooks - {"overview"}, "it holds no scores"
    found: dict[str, list[str]] = {}
    for name, made in pages.items():
        found[name] = deaths(kept(made, tmp_path / name))
        for step in (1, 2):
            again = kept(ended(made, UNMEASURED, step), tmp_path / f"{name}-{step}")
            assert step > 1 or not len(made.scores) or set(UNMEASURED) == set(again.scores["status"])
            found[f"{name}, {step}"] = deaths(again)
    assert not {place: died for place, died in found.items() if died}
