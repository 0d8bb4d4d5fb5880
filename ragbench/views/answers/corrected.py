"""Judged means beside what people would give: how many labels there are, and how much the judge adds to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.language import DASH
from ragbench.core.measurement import CORRECTED
from ragbench.core.parts import Content, Number, P, Phrase, Styled, Table, Text, small
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.footnotes import without_judge
from ragbench.views.basics.marks import chip, measured, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.view import view


@view("corrected")
def corrected(material: Material, present: frozenset[str]) -> Content:
    """Judged means beside what people would give; see `ragbench.tiers.corrected`. Empty without labels."""
    rows = rows_of(material.kept("corrected"))
    if not rows:
        return ()
    return (_means(material, rows), _differences(material))


def _means(material: Material, rows: Sequence[Mapping[Any, Any]]) -> Content:
    _ = material.text
    heads = (_("mean"), _("judge alone"), _("corrected by people"), _("people alone"), _("labels"), _("correlation"),
             _("worth in labels"))  # fmt: skip
    body = []
    for row in rows:
        system, metric = str(row["system"]), str(row["metric"])
        seen = {by: material.estimate(system, metric, mean=by) for by in ("judge", "corrected", "people")}
        judge, both, people = (
            None if estimate is None else measured(material, estimate, metric) for estimate in seen.values()
        )
        combined = seen["corrected"]
        values: list[Any] = [
            (shown(metric), " ", Styled(_name(material, system), "small")),
            judge,
            (
                DASH if both is None else both,
                small(without_judge(combined.note, _) if combined and combined.method != "prediction_powered" else ""),
            ),
            people,
            _(
                "{labels} of {items}",
                labels=_.integer(combined.n if combined else 0),
                items=_.integer(int(row["items"])),
            ),
            Number(row["correlation"], 2),
            Number(combined.n_effective if combined else None, 0),
        ]
        body.append(values)
    return (Table.of(_, _("Means corrected by people's labels"), heads, body), _notes(material, rows))


def _name(material: Material, system: str) -> Phrase:
    return named(material, system) if system in material.systems else shown(system)


def _notes(material: Material, rows: Sequence[Mapping[Any, Any]]) -> Content:
    _ = material.text
    said = [
        _(
            "Corrected: labels on some answers and the judge's scores on all of them make one estimate of the mean "
            "that people would give (PPI++, cross-fitted). The labelled answers have to be drawn at random. “Worth in "
            "labels” is how many labels alone would give an interval as narrow."
        )
    ]
    partly = sorted({str(row["metric"]) for row in rows} - set(material.corrected))
    if partly:
        said.append(
            _(
                "Some systems have no labels on {metrics}: elsewhere on this page these means are the judge's, so that "
                "they can be compared.",
                metrics=clean(", ".join(partly)),
            )
        )
    agreed = [row for row in rows if row["alpha"] == row["alpha"]]
    if agreed:
        values = sorted(float(row["alpha"]) for row in agreed)
        said.append(
            _(
                "People agree with each other with a Krippendorff's α of {low} to {high} where several labelled the "
                "same answer; their mean counts.",
                low=_.number(values[0], 2),
                high=_.number(values[-1], 2),
            )
        )
    return Text(" ".join(said), "rb-meta")


def _differences(material: Material) -> Content:
    _ = material.text
    comparisons = [finding for finding in material.measurement.comparisons_by("mean") if finding.where == CORRECTED]
    if not comparisons:
        return ()
    heads = (_("difference"), _("judge alone"), _("as people would see it"), _("p (Holm)"), _("verdict"), _("labels"))
    body = []
    for each in comparisons:
        comparison, metric = each.comparison, each.metric
        where = {"mean": "judge"} if metric in material.corrected else {}
        judge = material.comparison(comparison.challenger, metric, **where)
        compared = (_name(material, comparison.challenger), " − ", shown(comparison.baseline))
        body.append(
            [
                (shown(metric), " ", Styled(compared, "small")),
                None if judge is None else measured(material, judge, metric),
                measured(material, comparison, metric),
                P(comparison.p_adjusted),
                chip(material, comparison),
                comparison.n,
            ]
        )
    return Table.of(_, _("Differences corrected by people's labels"), heads, body)
