"""The forest of paired differences, by key metric."""

from __future__ import annotations

from ragbench.core.parts import Part, Text, small
from ragbench.views.basics.forest import Panel, drawn
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.view import view


@view("forest")
def forest(material: Material, present: frozenset[str]) -> list[Part]:
    """The difference of every challenger from the baseline, by key metric, where metrics are compared."""
    panels = []
    for metric in material.key_metrics:
        rows = tuple(c for name in material.challengers if (c := material.comparison(name, metric)) is not None)
        lower = material.text("lower is better") if material.lower_is_better(metric) else ""
        panels.append(Panel((shown(metric), small(lower)), metric, material.digits(metric), rows))
    panels = [panel for panel in panels if panel.rows]
    if not panels:
        return []
    key = material.text(
        "mean difference per question from {baseline}, in the metric's unit ({population}); same bounds, same scale",
        baseline=clean(panels[0].rows[0].baseline),
        population=material.population(row.n for panel in panels for row in panel.rows),
    )
    return [*drawn(material, panels), Text(key, "rb-axis")]
