"""Gates: what a run must hold before it is released.

A gate holds when the whole interval keeps it, fails when the whole interval breaks it, and is
unclear in between. More than a small share of unmeasured values fails it: they may be missing
because they are bad.
"""

from __future__ import annotations

import math

import pandas as pd

from ragbench.core.bands import Thresholds, choose_set, find_thresholds
from ragbench.core.errors import BenchError, NotEnoughError, suggest
from ragbench.core.metric import parse_label
from ragbench.core.settings import Gate, Settings
from ragbench.report.finished import Finished

HELD, FAILED, UNCLEAR, NO_VALUE = "held", "failed", "not enough evidence", "nothing measured"
EXIT_CODES = {HELD: 0, FAILED: 1, UNCLEAR: 2, NO_VALUE: 4}


def hold_gates(run: Finished, settings: Settings) -> pd.DataFrame:
    """Hold a run to all gates of the settings.

    Returns a row a gate, page and system: gate, page, system, metric, condition, value, low, high,
    n_unmeasured, outcome. Raises BenchError for a gate that names what the run does not have.
    """
    if not settings.gate:
        raise BenchError("ragbench.toml has no [gate.NAME]; for example metric, at_least")
    rows: list[dict[str, object]] = []
    for name, gate in settings.gate.items():
        rows += hold_gate(name, gate, run, settings)
    return pd.DataFrame(rows)


def hold_gate(name: str, gate: Gate, run: Finished, settings: Settings) -> list[dict[str, object]]:
    """Hold a run to one gate, on every page and system that it is for."""
    check_condition(name, gate)
    if gate.not_worse_by is not None:
        chosen = choose_rows(name, gate, run.comparisons, "challenger")
        chosen["value"] = chosen["difference"]
        # A sign test has no ends of its own: those of the family take their place.
        is_equal = chosen["word"] == "equal on every question"
        for end in ("low", "high"):
            chosen[end] = chosen[f"single_{end}"].fillna(chosen[end]).mask(is_equal, 0.0)
    else:
        chosen = choose_rows(name, gate, run.estimates, "system")
    least, greatest = ends_of(gate, settings)
    rows = []
    for row in chosen.to_dict("records"):
        value, low, high = row["value"], row["low"], row["high"]
        total = row["n"] + row["n_unmeasured"]
        share_missing = row["n_unmeasured"] / total if total else 1.0
        rows.append(
            {
                "gate": name,
                "page": row["page"],
                "system": row.get("challenger") or row.get("system"),
                "metric": gate.metric,
                "condition": condition_text(gate, least, greatest),
                "value": value,
                "low": low,
                "high": high,
                "n_unmeasured": row["n_unmeasured"],
                "outcome": judge(value, low, high, least, greatest, share_missing, gate),
            }
        )
    return rows


def check_condition(name: str, gate: Gate) -> None:
    """Refuse a gate without a condition, or with several that exclude each other."""
    named = [
        field
        for field in ("at_least", "at_most", "not_worse_by", "band")
        if getattr(gate, field) not in (None, "")
    ]
    if not named or (len(named) > 1 and named != ["at_least", "at_most"]):
        raise BenchError(
            f"gate.{name}: name one of at_least, at_most, not_worse_by, band; it has "
            f"{', '.join(named) or 'none'}"
        )


def choose_rows(name: str, gate: Gate, frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the rows that a gate is for. Raises BenchError where there are none."""
    if frame.empty:
        raise NotEnoughError(f"gate.{name}: the run has nothing to hold to it")
    chosen = frame[frame["metric"] == gate.metric]
    if chosen.empty:
        metrics = list(frame["metric"].unique())
        cut = [label for label in metrics if label.startswith(f"{gate.metric}@")]
        hint = "" if cut else suggest(gate.metric, metrics)
        hint = hint or f"; there are {', '.join(cut or metrics[:20])}"
        raise BenchError(f"gate.{name}: no metric {gate.metric!r} in the run{hint}")
    for field, wanted in (("page", gate.page), (column, gate.system)):
        if wanted:
            present = list(chosen[field].unique())
            chosen = chosen[chosen[field] == wanted]
            if chosen.empty:
                raise BenchError(f"gate.{name}: no {field} {wanted!r}; there are {present}")
    return chosen


def ends_of(gate: Gate, settings: Settings) -> tuple[float, float]:
    """Return the least and the greatest value that a gate allows.

    Of not_worse_by those are of the difference; lower is better where the catalogue says so.
    """
    least = -math.inf if gate.at_least is None else gate.at_least
    greatest = math.inf if gate.at_most is None else gate.at_most
    is_lower_better = is_lower(gate.metric)
    if gate.not_worse_by is not None:
        return (-math.inf, gate.not_worse_by) if is_lower_better else (-gate.not_worse_by, math.inf)
    if gate.band:
        band = find_band(gate, settings)
        end = band.excellent if gate.band == "excellent" else band.good
        if end is None:
            raise BenchError(f"{gate.metric} has no band {gate.band!r}")
        return (-math.inf, end) if is_lower_better else (end, math.inf)
    return least, greatest


def is_lower(label: str) -> bool:
    """Tell whether lower is better; a metric that nobody knows is taken as named in the gate."""
    try:
        return parse_label(label).better == "lower"
    except BenchError:
        return False


def find_band(gate: Gate, settings: Settings) -> Thresholds:
    """Return the thresholds of a metric in the set of the settings, on the metric's scale."""
    found = find_thresholds(gate.metric, choose_set(settings))
    if found is None:
        raise BenchError(f"threshold set {settings.threshold_set!r} has no {gate.metric}")
    return found


def judge(
    value: float,
    low: float,
    high: float,
    least: float,
    greatest: float,
    share_missing: float,
    gate: Gate,
) -> str:
    """Return the outcome of one gate at one value."""
    if share_missing == 1:
        return NO_VALUE
    if share_missing > gate.most_unmeasured:
        return FAILED
    if math.isnan(low) or math.isnan(high):
        # Without an interval nobody knows how far the value may be off; there may be none.
        return FAILED if value < least or value > greatest else UNCLEAR
    if low >= least and high <= greatest:
        return HELD
    if high < least or low > greatest:
        return FAILED
    return UNCLEAR


def condition_text(gate: Gate, least: float, greatest: float) -> str:
    """Say a gate's condition: `>= 0.8`, `not worse by 0.02`."""
    if gate.not_worse_by is not None:
        return f"not worse by {gate.not_worse_by:g}"
    parts = []
    if math.isfinite(least):
        parts.append(f">= {least:g}")
    if math.isfinite(greatest):
        parts.append(f"<= {greatest:g}")
    return " and ".join(parts)


def exit_code(gates: pd.DataFrame) -> int:
    """Return the code of the worst outcome: failed before nothing measured before unclear."""
    outcomes = set(gates["outcome"])
    for outcome in (FAILED, NO_VALUE, UNCLEAR):
        if outcome in outcomes:
            return EXIT_CODES[outcome]
    return EXIT_CODES[HELD]
