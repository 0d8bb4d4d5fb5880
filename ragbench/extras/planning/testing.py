"""Assertions for pytest: a test fails with the numbers and the questions behind them.

from ragbench.extras.planning.testing import assert_at_least

def test_answers():
    assert_at_least(rb.score("answers.csv", ["faithfulness"]), "faithfulness", 0.8)
"""

from __future__ import annotations

from typing import Any

import pandas as pd

WORST_SHOWN = 3  # questions that a failure names


def assert_at_least(result: Any, metric: str, least: float, system: str = "") -> None:
    """Assert that the whole interval of a mean lies at or above a value.

    result: of `rb.score` or a tier. Raises AssertionError with the interval and worst questions.
    """
    row = find_row(result, metric, system)
    if not row["low"] >= least:
        raise AssertionError(explain(result, row, f"at least {least:g}", ascending=True))


def assert_at_most(result: Any, metric: str, most: float, system: str = "") -> None:
    """Assert that the whole interval of a mean lies at or below a value."""
    row = find_row(result, metric, system)
    if not row["high"] <= most:
        raise AssertionError(explain(result, row, f"at most {most:g}", ascending=False))


def assert_not_worse(result: Any, metric: str, by: float, challenger: str = "") -> None:
    """Assert that a challenger is not worse than the baseline by more than `by`.

    The interval that holds for the whole family decides. Lower is better where the catalogue says.
    """
    from ragbench.core.metric import parse_label

    rows = result.comparisons[result.comparisons["metric"] == metric]
    rows = rows[rows["challenger"] == challenger] if challenger else rows
    if rows.empty:
        raise AssertionError(f"nothing is compared on {metric}")
    is_lower_better = parse_label(metric).better == "lower"
    for row in rows.to_dict("records"):
        worst = -row["high"] if is_lower_better else row["low"]
        if not worst >= -by:
            numbers = f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
            raise AssertionError(
                f"{metric} of {row['challenger']} against {row['baseline']}: {numbers}, "
                f"not worse than {by:g} was asked"
            )


def find_row(result: Any, metric: str, system: str) -> pd.Series:
    """Return the estimate of a metric; of several systems the named one, else the first."""
    rows = result.estimates[result.estimates["metric"] == metric]
    rows = rows[rows["system"] == system] if system else rows
    if rows.empty:
        raise AssertionError(f"nothing was measured of {metric} {system}".rstrip())
    return rows.iloc[0]


def explain(result: Any, row: pd.Series, asked: str, *, ascending: bool) -> str:
    """Return the mean with its interval, and the questions that pull it there."""
    scores = result.scores
    own = scores[(scores["metric"] == row["metric"]) & (scores["system"] == row["system"])]
    worst = own.sort_values("value", ascending=ascending, kind="stable").head(WORST_SHOWN)
    lines = [
        f"{row['metric']} of {row['system']}: {row['value']:.3f} [{row['low']:.3f}, "
        f"{row['high']:.3f}] of {row['n']} questions, {asked} was asked"
    ]
    for score in worst.to_dict("records"):
        why = score["explanation"] or score["reason"]
        lines.append(f"  {score['question_id']}: {score['value']:.3f} {why}".rstrip())
    return "\n".join(lines)
