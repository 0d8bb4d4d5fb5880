"""Recall and NDCG by the depth of the ranking: one panel a metric, one line a system, a band for its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ragbench.core.measurement import NamedEstimate
from ragbench.views.basics import chart, lines
from ragbench.views.basics.links import behind
from ragbench.views.basics.marks import legend, named, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import clean, shown
from ragbench.views.view import charted, view

HEIGHT = 230
NAMED = 3  # systems whose numbers fit a title
FEW_DEPTHS = 12
WIDE = 25  # depths up to which the axis is even; beyond, equal factors are equal steps


@view("curves")
def curves(material: Material, present: frozenset[str]) -> Markup:
    """Recall and NDCG by depth, with an interval at each; empty for rankings of depth 1."""
    _, table = material.text, material.measurement.estimates_by("k")
    if not table:
        return Markup("")
    lead = _(
        "Recall is the share of the relevant passages that are among the first k; NDCG also counts how far up they "
        "are. Where a curve has become flat, a longer list brings nothing more."
    )
    axis = _(
        "by depth k ({population}); the band is a {level} interval at each depth by itself, not around the whole curve",
        population=material.population(estimate.estimate.n for estimate in table),
        level=_.percent(table[0].estimate.level),
    )
    systems = legend(material) if len(material.systems) > 1 else ""
    panels = html.panels([_panel(material, table, metric) for metric in _metrics(table)])
    return html.all(
        html.heading(_("How deep one must look"), 2),
        html.lede(lead),
        html.figure(finding(material), systems, panels, axis),
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


@charted("curves")
def notebook_figure(material: Material) -> dict[str, Any] | None:
    """Both panels in one figure, for JupyterLab; None where no curve was measured."""
    table = material.measurement.estimates_by("k")
    if not table:
        return None
    metrics = _metrics(table)
    layout = chart.layout(material.text, HEIGHT + 60, title={"text": chart.plain(finding(material)), "x": 0})
    layout |= {"showlegend": len(material.systems) > 1, "legend": {"orientation": "h", "y": -0.2}}
    layout["margin"] = {"l": 8, "r": 16, "t": 60, "b": 40}
    data: list[dict[str, Any]] = []
    for place, metric in enumerate(metrics):
        suffix = "" if place == 0 else str(place + 1)
        left = place / len(metrics)
        layout[f"xaxis{suffix}"] = _depths(table) | {
            "domain": [left + (0.05 if place else 0), left + 0.94 / len(metrics)],
            "anchor": f"y{suffix}",
            "title": {"text": chart.plain(f"{metric}@k")},
        }
        layout[f"yaxis{suffix}"] = lines.scale(estimate.estimate for estimate in table) | {"anchor": f"x{suffix}"}
        data += _traces(material, table, metric, suffix)
    return {"data": data, "layout": layout}


def _panel(material: Material, table: Sequence[NamedEstimate], metric: str) -> Markup:
    layout = chart.layout(
        material.text, HEIGHT, xaxis=_depths(table), yaxis=lines.scale(estimate.estimate for estimate in table)
    )
    label = material.text("{metric} by depth. The numbers stand in the table below.", metric=f"{metric}@k")
    return html.panel(f"{metric}@k", chart.plot({"data": _traces(material, table, metric), "layout": layout}, label))


def _traces(material: Material, table: Sequence[NamedEstimate], metric: str, suffix: str = "") -> list[dict[str, Any]]:
    rows = {
        system: {int(o.where["k"]): o.estimate for o in table if (o.metric, o.system) == (metric, system)}
        for system in material.systems
    }
    return lines.lines(material, rows, lambda k: f"{metric}@{k}", suffix)


def _depths(table: Sequence[NamedEstimate]) -> dict[str, Any]:
    deepest = max(int(estimate.where["k"]) for estimate in table)
    axis = chart.axis(showgrid=False)
    if deepest > WIDE:
        ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= deepest / 1.3] + [deepest]
        return axis | {"type": "log", "tickvals": ticks, "ticktext": [str(tick) for tick in ticks]}
    step = 1 if deepest <= FEW_DEPTHS else 5
    return axis | {"tickvals": [1, *(tick for tick in range(2, deepest + 1) if tick % step == 0)]}


def _numbers(material: Material, table: Sequence[NamedEstimate]) -> Markup:
    """The curves as a table: one row a depth, one column a system and metric."""
    _, estimates = (
        material.text,
        {(estimate.system, estimate.metric, int(estimate.where["k"])): estimate.estimate for estimate in table},
    )
    columns = [(system, metric) for metric in _metrics(table) for system in material.systems]
    heads = [html.head("k")]
    heads += [html.head(html.below(f"{m}@k", named(material, s)), "rb-name") for s, m in columns]
    rows = []
    for k in sorted({k for _system, _metric, k in estimates}):
        row = [html.row_head(_.integer(k))]
        for s, m in columns:
            value = spread(lines.number_of(material, estimates[s, m, k])) if (s, m, k) in estimates else ""
            row.append(html.cell(html.all(f"{m}@{k}", ", ", shown(s)), value))
        rows.append(html.row(row))
    return html.fold(_("The numbers of the curves"), html.table(_("Recall and NDCG by depth"), heads, rows))


def _metrics(table: Sequence[NamedEstimate]) -> Sequence[str]:
    return list(dict.fromkeys(estimate.metric for estimate in table))
