"""Whether intervals cover and tests hold their level: the table of simulations, the strays first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import clean, shown
from ragbench.show.page import view

if TYPE_CHECKING:
    import pandas as pd

COVERAGE = (0.93, 0.97)
ERROR = (0.04, 0.06)
POWER = (0.77, 0.83)
FEWEST_VALUES, FEWEST_CLUSTERS = 20, 15
FEWEST_TESTED = 7
"""Clusters from which on a test can come near its level: of six it is at most .031."""
TESTS = ("compare", "equivalence", "family-wise, max-T", "family-wise, page", "smallest difference", "sample size")
PARTS = (
    "interval", "clusters", "repeats", "difference", "test", "power", "prediction-powered", "agreement", "other",
)  # fmt: skip
Row = Mapping[Any, Any]


@view("promise")
def promise(material: Material, present: frozenset[str]) -> Markup:
    """Where intervals and tests kept what they promise in simulations, and every cell where they did not."""
    _ = material.text
    frame = material.kept("calibration", "nominal")
    if not len(frame):
        return html.p(_("Nothing was simulated."))
    promised = [row for row in frame.to_dict("records") if _is_promised(row)]
    intervals = [row for row in promised if row["nominal"] > 0.9]
    powers = [row for row in promised if 0.5 < row["nominal"] <= 0.9]
    tests = [row for row in promised if row["nominal"] <= 0.5]
    lines = [
        _(
            "Of {n} cells with {values} values and {clusters} clusters at least, the printed 95 % interval covers "
            "93–97 % in {kept}, more in {more}, less in {less}.",
            n=len(intervals), values=FEWEST_VALUES, clusters=FEWEST_CLUSTERS, **_counts(intervals, COVERAGE),
        ),
        _(
            "Of {n} cells of true hypotheses, the 5 % tests reject 4–6 % in {kept}, more in {more}, less in {less}.",
            n=len(tests), **_counts(tests, ERROR),
        ),
        _(
            "Of {n} cells of studies that should show a difference in 80 %, in {kept} 77–83 % show it, in {more} more, "
            "in {less} fewer.",
            n=len(powers), **_counts(powers, POWER),
        ),
    ]  # fmt: skip
    strays = sorted(
        (row for row in promised if _side(row)), key=lambda row: (PARTS.index(row["part"]), -_distance(row))
    )
    heads = (_("what"), _("population"), _("n"), _("clusters"), _("method"), _("observed"), _("printed interval"))
    rows = [_stray(material, row) for row in strays]
    title = _("Cells outside the promise")
    return html.all(
        html.div(html.all(*map(html.p, lines)), "rb-says"),
        html.heading(title, 2),
        html.grid(title, heads, rows, named=False) if rows else "",
    )


def _simulated(material: Material, part: str = "interval") -> None:
    if part not in PARTS:
        raise ValueError(f"simulations({part!r}): the part is one of {', '.join(PARTS)}")


@view("simulations", check=_simulated)
def simulations(material: Material, present: frozenset[str], part: str = "interval") -> Markup:
    """How often each method was right, by population and size; part: what was simulated, such as "clusters"."""
    _ = material.text
    frame = material.kept("calibration", "nominal")
    rows = frame[frame["part"] == part] if len(frame) else frame
    if not len(rows):
        return html.p(_("Nothing was simulated."))
    across = "clusters" if part == "clusters" else "n"
    sizes = sorted({int(size) for size in rows[across].dropna()})
    heads = [_("population"), _("method")]
    heads += [_("{n} clusters", n=size) if across == "clusters" else f"n = {size}" for size in sizes]
    made = []
    for (population, method, correlation), group in _groups(rows):
        by_size = {int(row[across]): row for row in group.to_dict("records") if not math.isnan(row[across])}
        name = shown(population)
        if not math.isnan(correlation):
            name = html.all(name, " ", html.small(_("correlation {value}", value=f"{correlation:g}")))
        made.append([name, shown(method), *(_observed(by_size.get(size)) for size in sizes)])
    return html.grid(_("Simulations: {part}", part=clean(part)), heads, made, named=False)


def _groups(rows: pd.DataFrame) -> list[tuple[tuple[str, str, float], pd.DataFrame]]:
    keyed = rows.assign(correlation=rows["correlation"].astype(float))
    return list(keyed.groupby(["population", "method", "correlation"], dropna=False, sort=False))  # type: ignore[arg-type]


def is_stray(row: Row) -> bool:
    """Whether a row of the table is of what is promised, and outside of it."""
    return _is_promised(row) and bool(_side(row))


def _is_promised(row: Row) -> bool:
    fewest = FEWEST_CLUSTERS if row["nominal"] > 0.9 else FEWEST_TESTED
    known = row["part"] == "power" or (row["n"] >= FEWEST_VALUES and not (row["clusters"] < fewest))
    printed = row["method"] == "default" or row["method"] in TESTS or row["part"] == "agreement"
    return bool(known and printed)


def _limits(row: Row) -> tuple[float, float]:
    nominal = row["nominal"]
    return COVERAGE if nominal > 0.9 else POWER if nominal > 0.5 else ERROR


def _side(row: Row) -> int:
    low, high = _limits(row)
    return (row["observed"] > high) - (row["observed"] < low)


def _distance(row: Row) -> float:
    low, high = _limits(row)
    return float(max(low - row["observed"], row["observed"] - high))


def _counts(rows: Sequence[Row], limits: tuple[float, float]) -> dict[str, int]:
    more = sum(row["observed"] > limits[1] for row in rows)
    less = sum(row["observed"] < limits[0] for row in rows)
    return {"kept": len(rows) - more - less, "more": more, "less": less}


def _observed(row: Row | None) -> Markup | str:
    if row is None:
        return DASH
    text = f"{row['observed']:.3f}"
    return html.strong(f"{text} {'▲' if _side(row) > 0 else '▼'}") if _side(row) else text


def _stray(material: Material, row: Row) -> list[Markup | str]:
    clusters = DASH if math.isnan(row["clusters"]) else f"{int(row['clusters'])}"
    if not math.isnan(row["correlation"]) and row["part"] != "prediction-powered":
        clusters += f" ({row['correlation']:g})"
    printed = shown(row["printed"] if isinstance(row["printed"], str) else "")
    what, population, method = (shown(row[name]) for name in ("part", "population", "method"))
    return [what, population, str(int(row["n"])), clusters, method, _observed(row), printed]
