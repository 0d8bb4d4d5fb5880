"""Drafted questions beside real ones: do they order systems alike, pair by pair?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError
from ragbench.stats.comparisons import family_frame
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import Array, as_table, unit_codes, unit_influence

ORDERS = ("same order", "opposite order", "not shown")


def compare_drafts(
    drafts: ArrayLike,
    questions: ArrayLike,
    systems: Sequence[str],
    draft_units: Any = None,
    question_units: Any = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Compare every pair of systems on drafts and on questions, and both differences.

    drafts, questions: (rows, systems) scores, NaN where unmeasured. draft_units, question_units:
    what was drawn independently; a label that both have is one unit, such as a source page.

    Returns a row a pair: first, second; of second minus first: on_drafts, drafts_low, drafts_high,
    on_questions, questions_low, questions_high; gap, gap_low, gap_high: drafts minus questions. The
    intervals of all pairs are a family, each of the three kinds. word: "same order" or "opposite
    order" where both intervals leave 0, else "not shown". Raises BenchError for fewer than two
    systems.
    """
    of_drafts, of_questions = as_table(drafts), as_table(questions)
    pairs = list(combinations(range(len(systems)), 2))
    if not pairs:
        raise BenchError("one system alone is in no order: give at least two")
    first, second = np.array(pairs).T
    draft_differences = of_drafts[:, second] - of_drafts[:, first]
    question_differences = of_questions[:, second] - of_questions[:, first]
    on_drafts = family_frame(draft_differences, draft_units, confidence)
    on_questions = family_frame(question_differences, question_units, confidence)

    codes, n_units = joint_codes(len(of_drafts), draft_units, len(of_questions), question_units)
    influence = unit_influence(draft_differences, codes[: len(of_drafts)], n_units)
    influence -= unit_influence(question_differences, codes[len(of_drafts) :], n_units)
    # Around 0, as influences are; what is used is how far it reaches.
    reach = family_frame(influence * n_units, None, confidence)["high"]
    gap = on_drafts["difference"] - on_questions["difference"]
    frame = pd.DataFrame(
        {
            "first": [systems[place] for place in first],
            "second": [systems[place] for place in second],
            "on_drafts": on_drafts["difference"],
            "drafts_low": on_drafts["low"],
            "drafts_high": on_drafts["high"],
            "on_questions": on_questions["difference"],
            "questions_low": on_questions["low"],
            "questions_high": on_questions["high"],
            "gap": gap,
            "gap_low": gap - reach,
            "gap_high": gap + reach,
        }
    )
    side_of_drafts = shown_side(on_drafts)
    side_of_questions = shown_side(on_questions)
    agreement = side_of_drafts * side_of_questions
    frame["word"] = np.select([agreement > 0, agreement < 0], ORDERS[:2], ORDERS[2])
    return frame


def joint_codes(
    n_drafts: int, draft_units: Any, n_questions: int, question_units: Any
) -> tuple[NDArray[np.intp], int]:
    """Number the units of drafts and questions together; equal labels are one unit."""
    labels = []
    for name, n_rows, units in (
        ("draft", n_drafts, draft_units),
        ("question", n_questions, question_units),
    ):
        given = [(name, row) for row in range(n_rows)] if units is None else list(units)
        labels += [str(label) for label in given]
    return unit_codes(np.array(labels, dtype=object), n_drafts + n_questions)


def shown_side(frame: pd.DataFrame) -> Array:
    """Return 1 or -1 where the interval lies above or below 0, else 0."""
    return (frame["low"] > 0).to_numpy(dtype=float) - (frame["high"] < 0).to_numpy(dtype=float)
