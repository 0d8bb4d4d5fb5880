"""Recall and NDCG by the depth of the ranking: one panel a metric, one line a system, a band for its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragbench.core.measurement import NamedEstimate
from ragbench.core.parts import Cell, Column, Content, Figure, Lines, Plot, Section, Table, Text, Value
from ragbench.views.basics import chart
from ragbench.views.basics.links import behind
from ragbench.views.basics.marks import named, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.view import view

HEIGHT = 230
NAMED = 3  # systems whose numbers fit a title
FEW_DEPTHS = 12
WIDE = 25  # depths up to which the axis is even; beyond, equal factors are equal steps


@view("curves")
def curves(material: Material, present: frozenset[str]) -> Content:
    """Recall and NDCG by depth, with an interval at each; empty for rankings of depth 1."""
    _, table = material.text, material.measurement.estimates_by("k")
    if not table:
        return ()
    lead = _(
        "Recall is the share of the relevant passages that are among the first k; NDCG also counts how far up they "
        "are. Where a curve has become flat, a longer list brings nothing more."
    )
    axis = _(
        "by depth k ({population}); the band is a {level} interval at each depth by itself, not around the whole curve",
        population=material.population(estimate.estimate.n for estimate in table),
        level=_.percent(table[0].estimate.level),
    )
    plots = [_plot(material, table, metric) for metric in _metrics(table)]
    return (
        Text(_("How deep one must look"), "h2"),
        Text(lead, "rb-lede"),
        Figure(finding(material), plots, shared_legend(material), axis, "rb-panels"),
        _numbers(material, table),
        behind(material, present),
    )


def finding(material: Material) -> str:
    """The figure's title: what the deepest ranking reaches, system by system."""
    _ = material.text
    if len(material.systems) > NAMED:
        return _("Recall and NDCG by depth")
    rows = [estimate for estimate in material.measurement.estimates_by("k") if estimate.metric == "recall"]
    last = {estimate.system: estimate.estimate for estimate in rows}
    said = [
        _("{system} {value}", system=clean(name), value=_.number(last[name].value))
        for name in material.systems
        if name in last
    ]
    deepest = max((int(estimate.where["k"]) for estimate in rows), default=0)
    return _("Recall at {k}: {values}", k=_.integer(deepest), values=", ".join(said))


def _plot(material: Material, table: Sequence[NamedEstimate], metric: str) -> Plot:
    layout = chart.layout(material.text, HEIGHT, xaxis=_depths(table), yaxis=chart.scale(one.estimate for one in table))
    label = material.text("{metric} by depth. The numbers stand in the table below.", metric=f"{metric}@k")
    return Plot({"data": _traces(material, table, metric), "layout": layout}, label, f"{metric}@k")


def _traces(material: Material, table: Sequence[NamedEstimate], metric: str) -> list[dict[str, Any]]:
    rows = {
        system: {int(o.where["k"]): o.estimate for o in table if (o.metric, o.system) == (metric, system)}
        for system in material.systems
    }
    return chart.lines(material, rows, lambda k: f"{metric}@{k}")


def _depths(table: Sequence[NamedEstimate]) -> dict[str, Any]:
    deepest = max(int(estimate.where["k"]) for estimate in table)
    axis = chart.axis(showgrid=False)
    if deepest > WIDE:
        ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= deepest / 1.3] + [deepest]
        return axis | {"type": "log", "tickvals": ticks, "ticktext": [str(tick) for tick in ticks]}
    step = 1 if deepest <= FEW_DEPTHS else 5
    return axis | {"tickvals": [1, *(tick for tick in range(2, deepest + 1) if tick % step == 0)]}


def _numbers(material: Material, table: Sequence[NamedEstimate]) -> Content:
    """The curves as a table: one row a depth, one column a system and metric."""
    _, estimates = (
        material.text,
        {(estimate.system, estimate.metric, int(estimate.where["k"])): estimate.estimate for estimate in table},
    )
    columns = [(system, metric) for metric in _metrics(table) for system in material.systems]
    heads = [Column("k", "count")]
    heads += [Column(Lines((f"{m}@k", named(material, s))), "interval", head="rb-name") for s, m in columns]
    rows = [
        (
            k,
            *(
                Cell(Value.of(estimates[s, m, k]) if (s, m, k) in estimates else "", label=f"{m}@{k}, {clean(s)}")
                for s, m in columns
            ),
        )
        for k in sorted({k for _system, _metric, k in estimates})
    ]
    made = Table(tuple(heads), tuple(rows), _("Recall and NDCG by depth"), language=_.language)
    return Section([made], _("The numbers of the curves"))


def _metrics(table: Sequence[NamedEstimate]) -> Sequence[str]:
    return list(dict.fromkeys(estimate.metric for estimate in table))
