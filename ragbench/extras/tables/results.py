"""A result of a table of scores: stated and shown as the tiers' are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import pandas as pd

from ragbench.core.frames import SCORES, check
from ragbench.core.language import load_language, mark
from ragbench.report.parts import Part, only_parts
from ragbench.stats import Scale, state
from ragbench.tiers.common import About, Options
from ragbench.views.results import Result

TITLES = {
    "trec": mark("Runs · Which one ranks better?"),
    "significance": mark("Scores · Is the challenger better?"),
}


class Request(Options):
    """What was compared."""

    language: Literal["", "en", "ru"] = "en"


@dataclass(frozen=True)
class Frames:
    """scores: as `ragbench.core.frames.SCORES`."""

    scores: pd.DataFrame


class TableResult(Result):
    """Systems of a table, beside a baseline."""

    NAME: ClassVar[str] = "table"

    @property
    def summary(self) -> list[Part]:
        """What is printed: the answer and all numbers."""
        from ragbench.views import comparison

        return [comparison.answer(self), comparison.all_numbers(self)]

    @property
    def parts(self) -> list[Part]:
        """Everything on the page."""
        from ragbench.views import comparison

        return only_parts(
            comparison.answer(self),
            comparison.facts(self),
            comparison.forests(self),
            comparison.all_numbers(self),
            comparison.method(self),
            comparison.limits(self),
            comparison.provenance(self),
        )


class Trec(TableResult):
    """Runs against judgements."""

    NAME = "trec"
    TITLE = TITLES["trec"]


class Significance(TableResult):
    """Two tables of scores and more."""

    NAME = "significance"
    TITLE = TITLES["significance"]


def make_scores(values: Mapping[tuple[str, str], pd.Series], units: pd.Series) -> pd.DataFrame:
    """Make a frame of scores. values: (system, metric) → a value a question; units: of these."""
    parts = []
    for (system, metric), column in values.items():
        frame = pd.DataFrame(
            {
                "system": system,
                "metric": metric,
                "question_id": column.index.astype("str"),
                "unit": units.reindex(column.index).astype("str").to_numpy(),
                "value": column.to_numpy(dtype=float),
            }
        )
        parts.append(frame)
    scores = pd.concat(parts, ignore_index=True)
    is_measured = scores["value"].notna()
    scores["status"] = is_measured.map({True: "ok", False: "missing_field"}).astype("str")
    scores["reason"] = is_measured.map({True: "", False: "no value in the table"}).astype("str")
    return check(scores.assign(explanation=""), SCORES)


def state_table(
    kind: type[TableResult],
    scores: pd.DataFrame,
    options: Mapping[str, object],
    *,
    about: About,
    scales: Mapping[str, Scale] | None = None,
) -> TableResult:
    """State a frame of scores. options: baseline, primary, level, draws, seed and language."""
    request = Request(**options)
    systems = tuple(scores["system"].unique())
    labels = tuple(scores["metric"].unique())
    request = request.model_copy(
        update={
            "systems": systems,
            "baseline": request.baseline or systems[0],
            "metrics": labels,
            "primary": request.primary or labels[0],
        }
    )
    statement = state(
        scores,
        systems=systems,
        baseline=request.baseline,
        primary=request.primary,
        metrics=labels,
        scales=scales,
        confidence=request.confidence,
    )
    return kind(request, Frames(scores), statement, about, load_language(request.language))
