"""How much of what was retrieved nobody has judged, and what that could change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.metric import parse
from ragbench.core.parts import Content, Number, Section, Table, Text
from ragbench.tiers.retrieval.reading import DEPTH, TABLE, means
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.view import view

WITHOUT_IDEAL = ("mrr", "hit_rate", "precision")
"""Metrics that more relevant passages can only raise: the two values are bounds of them."""


@view("unjudged")
def unjudged(material: Material, present: frozenset[str]) -> Content:
    """What part of the first k was judged, and the values if what was not is irrelevant, relevant, or left out."""
    rows = means(material.kept(TABLE))
    if not rows:
        return ()
    _ = material.text
    sampled = any(not math.isnan(row["inferred"]) for row in rows)
    heads: list[Any] = [
        _("metric"), (_("system"), "rb-name"), (f"judged@{_depth(rows)}", "rb-number"),
        (_("as printed"), "rb-number"), (_("if relevant"), "rb-number"),
        (_("judged alone"), "rb-number"), *([("infAP", "rb-number")] if sampled else []),
    ]  # fmt: skip
    lines = [
        [
            shown(row["metric"]), shown(row["system"]), Number(row["judged"], percent=True),
            *(Number(row[name]) for name in _columns(sampled)),
        ]
        for row in rows
    ]  # fmt: skip
    title = _("What nobody has judged")
    return Section((list(map(Text, said(material, rows))), Table.of(_, title, heads, lines)), title)


def _depth(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far the metrics look; "k" where each looks as far as its own name says."""
    depths = {parse(row["metric"]).cutoff or DEPTH for row in rows}
    return str(depths.pop()) if len(depths) == 1 else "k"


def _columns(sampled: bool) -> tuple[str, ...]:
    return ("irrelevant", "relevant", "condensed", *(["inferred"] if sampled else []))


def said(material: Material, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How much was judged, how to read the columns, and whether the order of systems hangs on what was not."""
    _ = material.text
    shares = [row["judged"] for row in rows if not math.isnan(row["judged"])]
    low, high = (_.percent(end, 0) for end in (min(shares, default=0.0), max(shares, default=0.0)))
    first = _(
        "Of the first {k} that a system retrieved, {share} were judged; the others count as irrelevant, and nobody has "
        "looked at them.",
        k=_depth(rows), share=low if low == high else _("from {low} to {high}", low=low, high=high),
    )  # fmt: skip
    second = _(
        "The values if all of them were relevant, and of the judged ones alone (Sakai 2007), stand beside the "
        "printed ones; a metric that is divided by the best possible one can lie outside of both."
    )
    return list(filter(None, (first, second, _order(rows, _))))


def _order(rows: Sequence[Mapping[str, Any]], _: Translator) -> str:
    metric = rows[0]["metric"]
    own = [row for row in rows if row["metric"] == metric]
    if len(own) < 2 or parse(metric).name not in WITHOUT_IDEAL:
        return ""
    best, *others = sorted(own, key=lambda row: -row["irrelevant"])
    rivals = [row["system"] for row in others if row["relevant"] > best["irrelevant"]]
    if not rivals:
        return _("Whatever they are, {system} is first on {metric}.", system=best["system"], metric=metric)
    return _(
        "On {metric}, {rivals} could be before {system} if what it retrieved and nobody judged is relevant.",
        metric=metric, rivals=_.enumeration(rivals), system=best["system"],
    )  # fmt: skip
