"""Which part fails first: of every question the first part that failed, and the shares of all.

A good answer is right and stays within what was read. Where it is not good, the parts are gone
through in the order in which they work, and the first that failed takes the blame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ragbench.core.frames import ESTIMATES, FAILURES, check, stack
from ragbench.core.language import mark
from ragbench.stats import Confidence, mean_intervals
from ragbench.tiers.common import relevant_labels

# In the order in which bars and tables show them.
GOOD = mark("good answer")
RIGHT_REFUSAL = mark("rightly refused")
MISSING = mark("not in the base")
NOT_RETRIEVED = mark("not retrieved")
TOO_LOW = mark("ranked too low to be read")
WRONG = mark("read, answer wrong")
BEYOND = mark("right, but claims what was not read")
INVENTED = mark("answered what nobody can know")
ERROR = mark("the system gave an error")
NOT_JUDGED = mark("not judged")
OUTCOMES = (
    GOOD,
    RIGHT_REFUSAL,
    MISSING,
    NOT_RETRIEVED,
    TOO_LOW,
    WRONG,
    BEYOND,
    INVENTED,
    ERROR,
    NOT_JUDGED,
)
SUCCESSES = (GOOD, RIGHT_REFUSAL)
# What would be if one part were perfect and the others stayed as they are.
PARTS = (
    mark("as it is"),
    mark("with perfect ranking"),
    mark("with perfect retrieval"),
    mark("with perfect generation"),
)


def find_failures(
    answers: pd.DataFrame,
    questions: pd.DataFrame,
    labels: pd.DataFrame,
    passage_ids: Sequence[str],
    retrieved: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    correctness: str,
    right_from: float,
    faithfulness: str,
    faithful_from: float,
    n_read: int,
) -> pd.DataFrame:
    """Return the outcome of every question and system, as `ragbench.core.frames.FAILURES`.

    correctness, faithfulness: metrics of `scores`, with the value from which on an answer is right
    and faithful. n_read: passages that the generator reads. A good answer is good wherever it came
    from: an unlabelled passage may hold it too. Columns behind: was_retrieved, was_read.
    """
    from ragbench.metrics.refusals import is_refusal

    key = ["system", "question_id"]
    table = answers[answers["repeat"] == 0][[*key, "answer", "error"]].copy()
    table["unit"] = table["question_id"].map(questions.set_index("question_id")["unit"])
    answerable = questions.set_index("question_id")["answerable"]
    is_answerable = table["question_id"].map(answerable).to_numpy(dtype=bool)
    is_refused = np.array([is_refusal(answer) for answer in table["answer"]], dtype=bool)
    best_rank = best_relevant_rank(table, retrieved)
    correct = metric_values(table, scores, correctness)
    faithful = metric_values(table, scores, faithfulness)
    relevant = relevant_labels(labels)
    in_base = relevant[relevant["passage_id"].isin(set(passage_ids))]["question_id"]
    is_labelled = table["question_id"].isin(relevant["question_id"]).to_numpy()
    # Without passages every id counts as one of the base.
    is_in_base = table["question_id"].isin(in_base).to_numpy() | (not passage_ids)

    is_right = correct >= right_from
    is_judged = ~np.isnan(correct) & (~np.isnan(faithful) | ~is_right)
    is_good = is_right & (faithful >= faithful_from)
    # Without a label nobody can tell where a wrong answer's passage got lost.
    conditions = [
        (table["error"] != "").to_numpy(),
        ~is_answerable & is_refused,
        ~is_answerable,
        ~is_judged,
        is_good,
        is_labelled & ~is_in_base,
        is_labelled & np.isnan(best_rank),
        is_labelled & (best_rank > n_read),
        ~is_right,
    ]
    outcomes = (
        ERROR,
        RIGHT_REFUSAL,
        INVENTED,
        NOT_JUDGED,
        GOOD,
        MISSING,
        NOT_RETRIEVED,
        TOO_LOW,
        WRONG,
    )
    # The first condition that holds decides; what is right and left over is beyond what was read.
    table["failure"] = np.select(conditions, outcomes, default=BEYOND)
    table["was_retrieved"] = ~np.isnan(best_rank)
    table["was_read"] = best_rank <= n_read
    table["failure"] = table["failure"].astype("str")
    return check(table[[*FAILURES.names, "was_retrieved", "was_read"]], FAILURES)


def best_relevant_rank(table: pd.DataFrame, retrieved: pd.DataFrame) -> np.ndarray:
    """Return the rank of the first relevant passage of every row; NaN where there is none."""
    key = ["system", "question_id"]
    relevant = retrieved[retrieved["gain"] > 0]
    best = relevant.groupby(key)["rank"].min().rename("best_rank")
    return table[key].join(best, on=key)["best_rank"].to_numpy(dtype=float)


def metric_values(table: pd.DataFrame, scores: pd.DataFrame, label: str) -> np.ndarray:
    """Return the value of a metric for every row; NaN where it was not measured."""
    key = ["system", "question_id"]
    values = scores[scores["metric"] == label].set_index(key)["value"]
    return table[key].join(values, on=key)["value"].to_numpy(dtype=float)


def state_shares(failures: pd.DataFrame, confidence: Confidence) -> pd.DataFrame:
    """Estimate how often each outcome comes, per system; shares of all questions that add up to 1.

    Columns as ESTIMATES, with the outcome as metric and n_questions behind.
    """
    parts = []
    for system, rows in failures.groupby("system", sort=False):
        present = [name for name in OUTCOMES if name in set(failures["failure"])]
        is_outcome = np.column_stack([rows["failure"] == name for name in present])
        values = is_outcome.astype(float)
        frame = mean_intervals(values, rows["unit"].to_numpy(), (0, 1), confidence)
        counts = is_outcome.sum(axis=0)
        parts.append(frame.assign(system=system, metric=present, n_questions=counts))
    return stack(parts, ESTIMATES)


def state_perfect_parts(perfect: pd.DataFrame, confidence: Confidence) -> pd.DataFrame:
    """Estimate the share of good answers if one part were perfect, as ESTIMATES.

    perfect: columns system, question_id, unit, part, is_good (NaN: not judged).
    """
    parts = []
    for system, rows in perfect.groupby("system", sort=False):
        wide = rows.pivot(index="question_id", columns="part", values="is_good")
        present = [part for part in PARTS if part in wide.columns]
        units = rows.drop_duplicates("question_id").set_index("question_id")["unit"]
        values = wide[present].to_numpy(dtype=float)
        frame = mean_intervals(values, units[wide.index].to_numpy(), (0, 1), confidence)
        parts.append(frame.assign(system=system, metric=present))
    return stack(parts, ESTIMATES)


def perfect_frame(rows: list[tuple]) -> pd.DataFrame:
    """Make the frame that `state_perfect_parts` takes."""
    columns = ["system", "question_id", "unit", "part", "is_good"]
    return pd.DataFrame(rows, columns=columns)
