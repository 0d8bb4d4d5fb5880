"""What judges and people said, out of the table `said` that is kept of it: all that the findings are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.types import Array, Question, Sample
from ragbench.metrics.judging import Sitting
from ragbench.tiers.judges.asking import Heard
from ragbench.tiers.judges.biases import Tried
from ragbench.tiers.judges.items import Answers, Scale, Temptations

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


def heard(said: pd.DataFrame, judge: str) -> Heard | None:
    """A judge without its reasons; None where nothing is kept of it."""
    own = said[(said["who"] == judge) & (said["kind"] != "people")]
    by_kind = dict(iter(own.groupby("kind", sort=False)))
    if "score" not in by_kind:
        return None

    def columns(kind: str, column: str = "value", by: str = "repeat") -> Any:
        """(items, …) a column for each value of `by`, in their order; None without any."""
        if kind not in by_kind:
            return None
        return np.column_stack([part[column].to_numpy() for _, part in by_kind[kind].groupby(by, sort=False)])

    def single(kind: str) -> Array | None:
        return None if kind not in by_kind else by_kind[kind]["value"].to_numpy(dtype=float)

    made = by_kind["made"].groupby("variant", sort=False) if "made" in by_kind else ()
    families = own["family"].dropna()
    return Heard(
        judge,
        Sitting(columns("score"), columns("score", "asked").astype(bool), columns("score", "seconds")),
        columns("score", "status"),
        turned=single("turned"),
        twins=single("twin"),
        prompted=columns("prompt", by="variant"),
        variants={str(variant): part["value"].to_numpy(dtype=float) for variant, part in made},
        choices=columns("choice", by="variant"),
        family=str(families.iloc[0]) if len(families) else None,
        stand_in=bool(own["stand_in"].iloc[0]),
    )


def single_scores(said: pd.DataFrame, kind: str) -> dict[str, Array]:
    """Judge → (answers,) its scores of a kind that is asked once."""
    own = said[said["kind"] == kind]
    return {str(who): part["value"].to_numpy(dtype=float) for who, part in own.groupby("who", sort=False)}


def tried(said: pd.DataFrame, facts: Mapping[str, Any]) -> Tried:
    """The answers with people's ratings, and the answers that were made to try judges, all without their texts."""
    places = said[said["kind"].isin(("people", "score"))].drop_duplicates("sample")
    ratings = single_scores(said, "people")
    people = [ratings[rater] for rater in facts["raters"]]
    answers = Answers(
        tuple(
            Sample(str(name), system=str(system) if isinstance(system, str) else None)
            for name, system in zip(places["sample"], places["system"], strict=True)
        ),
        tuple(places["cluster"].astype(str)),
        tuple(facts["raters"]),
        np.column_stack(people) if people else np.empty((len(places), 0)),
    )
    made = said[said["kind"] == "made"]
    rows = made.drop_duplicates("sample")
    questions = tuple(
        Question(str(name), "", cluster=str(cluster))
        for name, cluster in zip(rows["sample"], rows["cluster"], strict=True)
    )
    variants = {str(name): tuple(Sample(each.id) for each in questions) for name in made["variant"].unique()}
    chosen = said[said["kind"] == "label"] if questions else rows
    pairs = tuple((Sample(str(name)), Sample(str(name))) for name in chosen["sample"])
    scale = Scale(*facts["judge_scale"])
    return Tried(answers, Temptations(questions, variants, pairs), scale, facts["good"], facts["rival"])
