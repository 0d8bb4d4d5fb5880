"""What questions and repeats add to what is printed, where every question was asked several times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.parts import Number, Part, Phrase, Section, Table, Text
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

Row = Mapping[Any, Any]
DIGITS = 3


def rows(material: Material) -> list[Row]:
    """Those of the table `variance`; none where nothing was asked twice. A metric that people's labels correct has
    none: its errors are those of the labels."""
    return [row for row in rows_of(material.kept("variance")) if row["metric"] not in material.corrected]


def sentence(material: Material, system: str, metric: str) -> str:
    """The standard error of a system's difference to the baseline, or of its mean where it stands alone, in its parts,
    and what more repeats or more questions would make of it; empty where nothing was asked twice."""
    _ = material.text
    baseline = material.baseline or ""
    places = ((line["system"], line["baseline"], line["metric"]) for line in rows(material))
    row = dict(zip(places, rows(material), strict=True)).get((system, baseline, metric))
    if row is None:
        return ""
    times = float(row["repeats"])
    asked = (
        _.plural("Each question was asked {n} time.", "Each question was asked {n} times.", int(times))
        if times.is_integer()
        else _("Each question was asked {times} times on average.", times=_.number(times, 1))
    )
    if not row["error_of_repeats"]:
        return f"{asked} " + _("Every repeat gave the same score: asking again adds no spread.")
    digits = max(DIGITS, material.digits(metric))
    numbers = {key: _.number(row[key], digits) for key in row if str(key).startswith("error")}
    text = _(
        "The standard error {error} is made of {error_of_questions} of the questions and {error_of_repeats} of the "
        "repeats; twice the repeats would make it {error_twice_repeats}, twice the questions "
        "{error_twice_questions}.",
        **numbers,
    )
    return f"{asked} {text}"


def table(material: Material) -> list[Part]:
    """Every variance and standard error in its parts, folded; empty where nothing was asked twice."""
    _ = material.text
    variances = rows(material)
    if not variances:
        return []
    heads = [
        _("metric"), _("mean or difference"), _("variance of questions"), _("variance of repeats"), _("standard error"),
        _("of questions"), _("of repeats"), _("with twice the repeats"), _("with twice the questions"),
    ]  # fmt: skip
    keys = ("of_questions", "of_repeats", "error", "error_of_questions", "error_of_repeats", "error_twice_repeats",
            "error_twice_questions")  # fmt: skip
    body = [[shown(row["metric"]), _name(material, row), *(Number(row[key], 4) for key in keys)] for row in variances]
    note = _(
        "The score of a question is the mean over its repeats; questions are what is resampled and flipped, so "
        "both parts are in every interval. Variances are those of single repeats; the squares of the two parts of "
        "a standard error add up to its square. First failures, and the gain from a perfect part, are those of the "
        "first answers."
    )
    title = _("What questions and repeats add to the standard error")
    return [Section([Table.of(_, title, heads, body), Text(note, "rb-meta")], title)]


def _name(material: Material, row: Row) -> Phrase:
    name = named(material, row["system"])
    return (name, " − ", shown(row["baseline"])) if row["baseline"] else name
